//! What a release achieves, as a release shows it and, where everybody's rows are at hand, of sites.

use hedgerow_privacy::verify::{Measure, Verdict};
use hedgerow_privacy::{Model, Requirement};
use serde_json::{Map, Value, json};

/// What is achieved that speaks of sites, where one has everybody's rows.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OfSites {
    /// Sites behind the class with the fewest.
    pub(crate) diversity: Option<u64>,
    /// Colluding sites that every class withstands, up to the number demanded.
    pub(crate) withstood: Option<u64>,
}

/// What a release achieves, as the summary of a run and its manifest have it.
pub(crate) fn achieved(verdict: &Verdict, of_sites: OfSites) -> Map<String, Value> {
    let mut achieved = Map::new();
    let models = [
        ("k", &verdict.models.k),
        ("l_distinct", &verdict.models.l_distinct),
        ("l_entropy", &verdict.models.l_entropy),
    ];
    for (name, model) in models {
        if let Some(model) = model {
            achieved.insert(name.into(), json!(model.achieved));
        }
    }
    if let Some(t) = &verdict.models.t {
        let each = t
            .attributes
            .iter()
            .map(|attribute| (attribute.name.clone(), json!(attribute.achieved)));
        achieved.insert("t".into(), Value::Object(each.collect()));
    }
    let of_sites = [
        ("site_diversity", of_sites.diversity),
        ("m", of_sites.withstood),
    ];
    for (name, value) in of_sites {
        if let Some(value) = value {
            achieved.insert(name.into(), json!(Measure::Whole(value)));
        }
    }
    achieved
}

impl OfSites {
    /// Whether what is known of sites is what is required.
    pub(crate) fn hold(&self, requirement: &Requirement) -> bool {
        let l = requirement.models.iter().filter_map(|model| match model {
            Model::SiteDiversity { l, .. } => Some(*l),
            _ => None,
        });
        self.diversity
            .is_none_or(|sites| l.max().is_none_or(|l| sites >= l))
            && self
                .withstood
                .is_none_or(|m| requirement.m.is_none_or(|demanded| m >= demanded))
    }
}
