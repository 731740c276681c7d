//! What a site writes into `[accept]` to accept a study, and no weaker one: the other side of
//! [`Accept::refusals`]. A site that has written all of it does not refuse the study.

use hedgerow_data::study::Partition;
use hedgerow_smc::{Security, What};

use super::{Accept, models};
use crate::agreement::Agreement;
use crate::strength;

/// A rule of `[accept]`, as a study needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needed {
    /// The rule's key.
    pub rule: &'static str,
    /// The rule's value.
    pub value: Value,
}

/// The value of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A bound, as TOML writes it.
    Bound(String),
    /// A list of words, each of which is accepted by itself.
    Words(Vec<String>),
}

/// Everything that a site writes into `[accept]` for a study whose run has this level of security and may
/// disclose these things, from the view of the site at this place. Rules whose default suffices for every
/// study are not among these.
pub fn needed(
    agreement: &Agreement,
    site: usize,
    security: Security,
    disclosures: &[What],
) -> Vec<Needed> {
    let (study, requirement) = (&agreement.study, &agreement.requirement);
    let mut all = Vec::new();
    let mut bound = |rule, value: String| {
        let value = Value::Bound(value);
        all.push(Needed { rule, value });
    };
    bound("minimum_k", requirement.k().to_string());
    let bounds = strength::needed(requirement);
    bounds
        .into_iter()
        .for_each(|(rule, value)| bound(rule, value));
    if has_coalitions(agreement) {
        bound("minimum_m", requirement.m.unwrap_or(0).to_string());
    }
    let mut words = |rule, words: Vec<&str>| {
        let value = Value::Words(words.into_iter().map(str::to_owned).collect());
        all.push(Needed { rule, value });
    };
    let mut required = models(requirement);
    // A study may state several kinds of one model.
    let mut seen = Vec::new();
    required.retain(|model| {
        let is_new = !seen.contains(model);
        seen.push(*model);
        is_new && super::MODELS.contains(model)
    });
    words("models", required);
    words("algorithms", vec![study.algorithm.name()]);
    words("security", vec![security.name()]);
    let own = study.schema_at(site);
    let columns = own.attributes().iter();
    words(
        "columns",
        columns.map(|column| column.name.as_str()).collect(),
    );
    words("disclosures", disclosures.iter().map(What::name).collect());
    all
}

/// Whether some sites could collude against the others: two sites have no coalitions, and a site that
/// holds the same people as all others hides nobody.
pub(super) fn has_coalitions(agreement: &Agreement) -> bool {
    let study = &agreement.study;
    study.partition == Partition::Horizontal && study.sites.len() > 2
}

impl Accept {
    /// What this site has not written yet of what a study needs: of a list, the words that are missing.
    pub(super) fn lacks(&self, needed: &Needed) -> Value {
        let written = match needed.rule {
            "algorithms" => &self.algorithms,
            "security" => &self.security,
            "disclosures" => &self.disclosures,
            "columns" => &self.columns,
            _ => &None,
        };
        match (&needed.value, written) {
            // A list that demands too much demands what is left of it.
            (Value::Words(words), _) if needed.rule == "models" => {
                let is_kept = |word: &&String| match &self.models {
                    Some(demanded) => demanded.contains(word),
                    None => true,
                };
                Value::Words(words.iter().filter(is_kept).cloned().collect())
            }
            (Value::Words(words), Some(written)) => {
                let missing = words.iter().filter(|word| !written.contains(word));
                Value::Words(missing.cloned().collect())
            }
            (value, _) => value.clone(),
        }
    }
}
