//! What every class must satisfy and how that is asked, as it follows from a study, and what is
//! disclosed by asking.

use hedgerow_data::{Role, Study, Taxonomy};
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::m_privacy::Strategy;
use hedgerow_privacy::{Model, Requirement};
use hedgerow_smc::{Security, What};

use super::{COALITIONS, SENSITIVE, SITES, coalitions};
use crate::Error;

/// One sensitive attribute of a run.
#[derive(Debug, Clone, Copy)]
pub struct SensitiveAttribute<'a> {
    /// Its ground distance, for closeness.
    pub distance: Distance,
    /// Its taxonomy, for the hierarchical distance.
    pub tree: Option<&'a Taxonomy>,
}

/// What every class must satisfy, and how that is asked.
#[derive(Debug, Clone)]
pub struct Demands<'a> {
    /// What every class must satisfy.
    pub requirement: &'a Requirement,
    /// The sensitive attributes.
    pub sensitive: Vec<SensitiveAttribute<'a>>,
    /// How coalitions are searched, where the requirement names m.
    pub strategy: Strategy,
}

impl<'a> Demands<'a> {
    /// Refuses what cannot be asked among so many sites.
    pub(crate) fn refuse_too_many(&self, sites: usize) -> Result<(), Error> {
        coalitions::refuse_too_many(self.requirement, sites)
    }

    /// What a study demands, asked at a level.
    pub fn of(study: &'a Study, requirement: &'a Requirement, security: Security) -> Self {
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
        Self {
            requirement,
            sensitive: if requirement.is_product(schema) {
                vec![SensitiveAttribute {
                    distance: Distance::Equal,
                    tree: None,
                }]
            } else {
                sensitive.collect()
            },
            strategy: match security {
                // All coalitions at once: the fewest rounds.
                Security::Hardened => Strategy::Direct,
                Security::Published => Strategy::Adaptive,
            },
        }
    }

    /// What is disclosed of the whole table because of what is demanded.
    pub(crate) fn discloses_of_all(&self) -> Option<What> {
        let is_of_values = |model: &Model| {
            !matches!(
                model,
                Model::KAnonymity { .. } | Model::SiteDiversity { .. }
            )
        };
        let models = &self.requirement.models;
        models.iter().any(is_of_values).then_some(SENSITIVE)
    }

    /// What is disclosed of classes because what is demanded speaks of sites.
    pub(crate) fn discloses_of_sites(&self) -> Vec<What> {
        let is_of_sites = |model: &Model| matches!(model, Model::SiteDiversity { .. });
        let sites = self.requirement.models.iter().any(is_of_sites);
        let coalitions = self.requirement.m.is_some_and(|m| m > 0);
        let sites = sites.then_some(SITES).into_iter();
        sites.chain(coalitions.then_some(COALITIONS)).collect()
    }
}
