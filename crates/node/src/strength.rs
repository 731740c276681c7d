//! How strong the models must be that a site demands: a bound for each, beside `minimum_k`.
//!
//! A requirement is a conjunction, so where a study states a model twice the stronger statement counts.
//! A plain `minimum_l` speaks of distinct values, and every kind of l has at least l distinct values;
//! with `{ at_least = 3, kind = "entropy" }` the study's l must be of that kind or of a kind that
//! implies it: where no value is more frequent than one in l, the entropy is that of l values or more.
//! `minimum_site_diversity` counts sites, which every kind of site diversity bounds from below.

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_privacy::{Model, Ratio, Requirement, measure};

/// Whether a bound is a least or a greatest value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    AtLeast,
    AtMost,
}

/// The model by its key in `[require]`, and the rule that bounds it.
const BOUNDS: [(&str, &str, Way); 6] = [
    ("alpha", "maximum_alpha", Way::AtMost),
    ("l", "minimum_l", Way::AtLeast),
    ("t", "maximum_t", Way::AtMost),
    ("beta", "maximum_beta", Way::AtMost),
    ("delta", "maximum_delta", Way::AtMost),
    ("site_diversity", "minimum_site_diversity", Way::AtLeast),
];

/// The kinds of l that a site may demand, the weakest first: each kind implies the kinds before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    #[default]
    Distinct,
    Entropy,
    Frequency,
}

const KINDS: [(&str, Kind); 3] = [
    ("distinct", Kind::Distinct),
    ("entropy", Kind::Entropy),
    ("frequency", Kind::Frequency),
];

impl Kind {
    fn name(self) -> &'static str {
        KINDS[self as usize].0
    }
}

/// The bounds that a site has set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Strengths {
    /// The bounds, each with its rule.
    bounds: Vec<(&'static str, Ratio)>,
    /// The kind of l that `minimum_l` speaks of.
    kind: Kind,
}

/// The models by their keys in `[require]`, each with the rule that bounds it.
pub fn bounds() -> impl Iterator<Item = (&'static str, &'static str)> {
    BOUNDS.iter().map(|(model, rule, _)| (*model, *rule))
}

/// Reads the bounds. A bound for a model that is not demanded is refused: it would look like a rule and
/// have no effect.
pub(crate) fn read(
    section: &Section<'_>,
    demanded: Option<&[String]>,
) -> Result<Strengths, DocumentError> {
    let mut strengths = Strengths::default();
    for (model, rule, _) in BOUNDS {
        let long = match model {
            "l" => section.section_if_table(rule)?,
            _ => None,
        };
        let number = match long {
            None => section.number(rule)?,
            Some(table) => {
                strengths.kind = table.word("kind", &KINDS)?.unwrap_or_default();
                let least = table.number("at_least")?;
                table.finish()?;
                Some(least.ok_or_else(|| table.missing("at_least"))?)
            }
        };
        let Some(number) = number else {
            continue;
        };
        let bound = Ratio::from_decimal(number).ok_or_else(|| {
            let message = format!("`accept.{rule}` is {number}, expected 0 or more");
            section.wrong(rule, message)
        })?;
        if demanded.is_some_and(|demanded| !demanded.iter().any(|name| name == model)) {
            let message = format!(
                "`accept.{rule}` is set, but `accept.models` does not demand `{model}`\nhint: add it there"
            );
            return Err(section.wrong(rule, message));
        }
        strengths.bounds.push((rule, bound));
    }
    Ok(strengths)
}

/// The rules that refuse a study with all demanded models, each with its reason.
pub(crate) fn refusals(
    strengths: &Strengths,
    demanded: &[String],
    requirement: &Requirement,
) -> Vec<(&'static str, String)> {
    let mut refusals = Vec::new();
    for (model, rule, way) in BOUNDS {
        let strongest = strongest(requirement, model, way, strengths.kind);
        if !demanded.iter().any(|name| name == model) {
            continue;
        }
        let Some(has) = strongest else {
            // A missing model has been refused already.
            let is_other = |model: &Model| strength(model, Kind::Distinct).is_some_and(is_l);
            if model == "l" && requirement.models.iter().any(is_other) {
                let kind = strengths.kind.name();
                let why = format!("demands l of kind `{kind}`, which the study's l does not imply");
                refusals.push((rule, why));
            }
            continue;
        };
        let bound = strengths.bounds.iter().find(|(set, _)| *set == rule);
        match bound {
            None => refusals.push((rule, format!("is not set; the study has {model} = {has}"))),
            Some((_, bound)) if way == Way::AtLeast && has < *bound => refusals.push((
                rule,
                format!("is {bound}; the study has only {model} = {has}"),
            )),
            Some((_, bound)) if way == Way::AtMost && has > *bound => {
                refusals.push((rule, format!("is {bound}; the study has {model} = {has}")));
            }
            Some(_) => {}
        }
    }
    refusals
}

/// The bounds that a requirement satisfies just so, each rule with its value as TOML writes it.
pub(crate) fn needed(requirement: &Requirement) -> Vec<(&'static str, String)> {
    let is_of = |kind: Kind, model: &Model| strength(model, kind).is_some_and(is_l);
    let states = |kind: &Kind| requirement.models.iter().any(|model| is_of(*kind, model));
    let kinds = KINDS.iter().rev().map(|(_, kind)| *kind);
    let kind = kinds.into_iter().find(states).unwrap_or_default();
    let bounds = BOUNDS.iter().filter_map(|(model, rule, way)| {
        let has = strongest(requirement, model, *way, kind)?.to_f64();
        let value = match (*model, kind) {
            ("l", Kind::Entropy | Kind::Frequency) => {
                format!("{{ at_least = {has}, kind = \"{}\" }}", kind.name())
            }
            _ => has.to_string(),
        };
        Some((*rule, value))
    });
    bounds.collect()
}

/// The strongest statement of a model by its key; of l, where it speaks of this kind.
fn strongest(requirement: &Requirement, model: &str, way: Way, kind: Kind) -> Option<Ratio> {
    let stated = requirement
        .models
        .iter()
        .filter_map(|stated| strength(stated, kind))
        .filter(|(key, _)| *key == model)
        .map(|(_, strength)| strength);
    match way {
        Way::AtLeast => stated.max(),
        Way::AtMost => stated.min(),
    }
}

fn is_l((model, _): (&'static str, Ratio)) -> bool {
    model == "l"
}

/// A model's key in `[require]` and its number there; for l, the number that it implies for this kind.
fn strength(model: &Model, kind: Kind) -> Option<(&'static str, Ratio)> {
    let of_kind = |own: Kind, l: Ratio| (kind <= own).then_some(("l", l));
    Some(match model {
        Model::Alpha { alpha } => ("alpha", *alpha),
        Model::DistinctDiversity { l } | Model::RecursiveDiversity { l, .. } => {
            of_kind(Kind::Distinct, Ratio::whole(*l))?
        }
        Model::EntropyDiversity { l } => of_kind(Kind::Entropy, *l)?,
        Model::FrequencyDiversity { l } => of_kind(Kind::Frequency, *l)?,
        Model::Closeness { t, .. } => ("t", *t),
        Model::Likeness { beta, .. } => ("beta", *beta),
        Model::DeltaDisclosure { delta } => ("delta", Ratio::from_decimal(*delta)?),
        Model::SiteDiversity { l, .. } => ("site_diversity", Ratio::whole(*l)),
        // Sites are counted in whole numbers; records spread as over 2.5 equal sites are of three at least.
        Model::SiteSpread { spread, .. } => {
            let least = spread.l().to_f64() * (1.0 - measure::EPSILON);
            ("site_diversity", Ratio::whole(least.ceil() as u64))
        }
        // k and m have rules of their own.
        _ => return None,
    })
}
