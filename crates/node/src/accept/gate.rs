//! `[accept.gate]`: how much a site lets fall to the known attacks. A study whose own `[gate]` lets more fall,
//! or does not try an attack, is refused. What is not written here demands nothing: the rules above all close
//! by default, and these add to them.

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_data::study::Gate;

use super::{Mend, Refusal, Value};

/// Each attack with the rule that limits it.
const RULES: [(&str, &str); 11] = [
    ("printed", "gate.printed"),
    ("order", "gate.order"),
    ("certain", "gate.certain"),
    ("skew", "gate.skew"),
    ("product", "gate.product"),
    ("other", "gate.other"),
    ("ends", "gate.ends"),
    ("below_k_without_one_site", "gate.below_k_without_one_site"),
    (
        "below_k_without_two_sites",
        "gate.below_k_without_two_sites",
    ),
    ("two_releases", "gate.two_releases"),
    ("newcomers", "gate.newcomers"),
];

/// The attack that a rule of `[accept.gate]` limits.
pub fn attack_of(rule: &str) -> Option<&'static str> {
    let mut rules = RULES.iter();
    rules.find(|(_, known)| *known == rule).map(|one| one.0)
}

/// The rule that limits an attack.
fn rule(attack: &str) -> &'static str {
    let mut rules = RULES.iter();
    let found = rules.find(|(known, _)| *known == attack);
    found.map_or("gate", |(_, rule)| rule)
}

/// Reads the limits.
pub(super) fn read(section: &Section<'_>) -> Result<Gate, DocumentError> {
    let (gate, errors) = Gate::read(section);
    match errors.into_iter().next() {
        Some(error) => Err(error),
        None => Ok(gate),
    }
}

/// The limits that a study does not keep.
pub(super) fn refusals(own: &Gate, study: Option<&Gate>) -> Vec<Refusal> {
    let refusal = |(attack, limit): (&'static str, _)| {
        let (limit, said): (hedgerow_data::study::Share, _) =
            (limit, study.and_then(|gate| gate.limit(attack)));
        let (why, mend) = match said {
            Some(said) if said <= limit => return None,
            Some(said) => (
                format!(
                    "is {}; the study's [gate] lets {} fall",
                    limit.number(),
                    said.number()
                ),
                Mend::Set(Value::Bound(said.number().to_string())),
            ),
            None => (
                format!(
                    "is {}; the study's [gate] has no limit for this attack, so no run tries it",
                    limit.number()
                ),
                Mend::Remove,
            ),
        };
        let rule = rule(attack);
        Some(Refusal { rule, why, mend })
    };
    own.limits().filter_map(refusal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attack_that_can_be_limited_has_a_rule() {
        let names: Vec<&str> = Gate::names().collect();
        assert_eq!(RULES.map(|(attack, _)| attack).to_vec(), names);
        for (attack, rule) in RULES {
            assert_eq!(rule, format!("gate.{attack}"));
            assert_eq!(attack_of(rule), Some(attack));
        }
    }
}
