//! What every class must satisfy and how sites ask about it, as a study sets both, and what the
//! questions disclose.

use hedgerow_data::{Role, Study, Taxonomy};
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::m_privacy::Strategy;
use hedgerow_privacy::{Model, Requirement};
use hedgerow_smc::{Security, What};

use super::{COALITIONS, CONTRIBUTORS, Colluders, SENSITIVE, SITES, SPREAD, WITHSTOOD, coalitions};
use crate::error::Error;

/// One sensitive attribute of a run.
#[derive(Debug, Clone, Copy)]
pub struct SensitiveAttribute<'a> {
    /// The attribute's ground distance, for closeness.
    pub distance: Distance,
    /// The attribute's taxonomy, for the hierarchical distance.
    pub tree: Option<&'a Taxonomy>,
}

/// What every class must satisfy, and how sites ask about it.
#[derive(Debug, Clone)]
pub struct Demands<'a> {
    /// What every class must satisfy.
    pub requirement: &'a Requirement,
    /// The sensitive attributes.
    pub sensitive: Vec<SensitiveAttribute<'a>>,
    /// How coalitions are searched, where the requirement names m.
    pub strategy: Strategy,
    /// Whether only coalitions of sites with records in a class are searched, which sites then say.
    pub contributors: bool,
}

impl<'a> Demands<'a> {
    /// Refuses demands that cannot be asked about among so many sites, or not without showing counts.
    pub(crate) fn refuse(&self, sites: usize) -> Result<(), Error> {
        let is_of_spread = |model: &&Model| matches!(model, Model::SiteSpread { .. });
        let colludes = self.requirement.m.is_some_and(|m| m > 0);
        if let Some(model) = self.requirement.models.iter().find(is_of_spread)
            && colludes
        {
            let model = model.to_string();
            return Err(Error::SpreadWithColluders { model });
        }
        coalitions::refuse_too_many(self, sites)
    }

    /// What a study demands, asked at a level.
    pub fn of(
        study: &'a Study,
        requirement: &'a Requirement,
        security: Security,
        colluders: Colluders,
    ) -> Self {
        let schema = &study.schema;
        let demanded = requirement.models.iter().find_map(|model| match model {
            Model::Closeness { distance, .. } => *distance,
            _ => None,
        });
        let sensitive = schema.with_role(Role::Sensitive).into_iter();
        let sensitive = sensitive.map(|position| {
            let domain = &schema.attributes()[position].domain;
            SensitiveAttribute {
                distance: demanded.unwrap_or_else(|| Distance::natural(domain)),
                tree: domain.taxonomy(),
            }
        });
        let counted = requirement.sensitive_of(schema);
        let product = SensitiveAttribute {
            distance: Distance::Equal,
            tree: None,
        };
        let each = sensitive.filter(|_| counted.has_each());
        Self {
            requirement,
            sensitive: each
                .chain(counted.has_product().then_some(product))
                .collect(),
            strategy: colluders.strategy(security),
            contributors: colluders.contributors,
        }
    }

    /// What the demands disclose of the whole table.
    pub(crate) fn discloses_of_all(&self) -> Option<What> {
        let is_of_values =
            |model: &Model| !matches!(model, Model::KAnonymity { .. }) && !model.speaks_of_sites();
        let models = &self.requirement.models;
        models.iter().any(is_of_values).then_some(SENSITIVE)
    }

    /// What demands about sites disclose of classes.
    pub(crate) fn discloses_of_sites(&self) -> Vec<What> {
        let is_of_sites = |model: &Model| matches!(model, Model::SiteDiversity { .. });
        let sites = self.requirement.models.iter().any(is_of_sites);
        let is_of_spread = |model: &Model| matches!(model, Model::SiteSpread { .. });
        let spread = self.requirement.models.iter().any(is_of_spread);
        let coalitions = self.requirement.m.is_some_and(|m| m > 0);
        let is_monotone = self.requirement.models.iter().all(Model::is_monotone);
        let by_sums = coalitions && is_monotone && self.strategy == Strategy::Exact;
        let sites = sites.then_some(SITES).into_iter();
        sites
            .chain(spread.then_some(SPREAD))
            .chain(by_sums.then_some(WITHSTOOD))
            .chain(coalitions.then_some(COALITIONS))
            .chain((coalitions && self.contributors).then_some(CONTRIBUTORS))
            .collect()
    }
}
