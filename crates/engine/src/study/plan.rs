//! A study as its protocols take it: what every class must satisfy, how classes are found and written,
//! and what is drawn on the way.

use hedgerow_data::study::{self, Algorithm, Cuts, Roles, Security};
use hedgerow_data::{Attribute, Recode, Role};
use hedgerow_privacy::Model;
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::m_privacy::{Strategy, WEIGHT_OF_DIVERSITY};
use hedgerow_protocols::horizontal::clustering::{self, Loss, Support};
use hedgerow_protocols::horizontal::cover::Writing;
use hedgerow_protocols::horizontal::mondrian::{Choice, Cutting, Medians, Plan, Quasi, Widths};
use hedgerow_protocols::horizontal::requirement::{Demands, SensitiveAttribute};
use hedgerow_protocols::vertical;
use hedgerow_protocols::vertical::d2pt::{self, Datafly, Optimal, Synchronizer};
use hedgerow_smc::{RoleChoice, Seed, Settings};

use super::ready::Ready;

/// What the seeds of labels and orders are derived for.
pub(crate) const LABELS: &str = "hedgerow 2026 labels and orders of clusters v1";

/// The most iterations of a clustering.
const MOST_ITERATIONS: u32 = 20;

/// What a run draws apart from what its parties send: labels of clusters, orders of records. Each
/// site's follow from its own seed, so that one party with everybody's rows can draw the same.
pub(crate) enum Draws {
    /// All sites', of a run with a number as seed.
    Simulated(u64),
    /// This site's own: derived for [`LABELS`] from the secret seed of the run.
    Own(Seed),
}

impl Draws {
    /// What a site draws from at a start.
    pub(crate) fn seed(&self, site: u32, start: u32) -> Seed {
        let of_site = match self {
            Self::Simulated(seed) => Seed::for_site(*seed, site as usize).derive(LABELS, 0),
            Self::Own(seed) => seed.clone(),
        };
        of_site.derive(
            "hedgerow 2026 one start of a clustering v1",
            u64::from(start),
        )
    }
}

/// Parts into which a search by comparisons cuts a domain: small domains are searched in one step.
const FAN_OUT: usize = 128;

impl Ready {
    /// What the parties of a run agree on.
    pub(crate) fn settings(&self) -> Settings {
        let roles = match self.study.roles {
            Roles::Drawn => RoleChoice::Drawn,
            Roles::Spread => RoleChoice::Spread,
        };
        match self.study.security {
            Security::Hardened => Settings {
                fan_out: FAN_OUT,
                roles,
                ..Settings::hardened()
            },
            Security::Published => Settings::published(),
        }
    }

    /// The study as top-down cuts take it.
    pub(crate) fn plan(&self) -> Plan<'_> {
        let top_down = &self.study.top_down;
        let quasi = self.named(Role::Quasi).map(|attribute| {
            let tree = attribute.domain.taxonomy();
            let cutting = match tree {
                Some(tree) if top_down.cuts == Cuts::Children => Cutting::Children(tree),
                _ => Cutting::Median,
            };
            let writing = Writing {
                domain: &attribute.domain,
                recode: attribute.recode_or(self.study.recode),
            };
            let is_inside_nodes = writing.recode == Recode::Node
                && tree.is_some()
                && matches!(cutting, Cutting::Median);
            Quasi {
                size: attribute.domain.size(),
                is_coarsened: is_inside_nodes || writing.widens_ranges(),
                cutting,
            }
        });
        Plan {
            quasi: quasi.collect(),
            demands: self.demands(),
            choice: self.choice(),
            cuts_sites: self.cuts_sites(),
            medians: match top_down.medians {
                study::Medians::Strict => Medians::Strict,
                study::Medians::Relaxed => Medians::Relaxed,
            },
            widths: match top_down.widths {
                study::Widths::Box => Widths::Box,
                study::Widths::Data => Widths::Data,
            },
        }
    }

    /// The study as sequential clustering takes it.
    pub(crate) fn clustering_plan<'a>(
        &'a self,
        seeds: &'a (dyn Fn(u32, u32) -> Seed + Sync),
    ) -> clustering::Plan<'a> {
        let settings = &self.study.clustering;
        clustering::Plan {
            writings: self.writings(),
            loss: self.loss(),
            demands: self.demands(),
            support: self.support(),
            start: settings.start,
            split: settings.split,
            starts: settings.starts,
            iterations: MOST_ITERATIONS,
            is_refined: self.is_refined(),
            is_blurred: settings.blur,
            seeds,
        }
    }

    /// The study as clustering among sites that hold the same people takes it.
    pub(crate) fn shared_clustering_plan<'a>(
        &'a self,
        seeds: &'a (dyn Fn(u32) -> Seed + Sync),
    ) -> vertical::clustering::Plan<'a> {
        let settings = &self.study.clustering;
        vertical::clustering::Plan {
            schema: &self.study.schema,
            split: &self.split,
            requirement: &self.requirement,
            writings: self.writings(),
            loss: self.loss(),
            start: settings.start,
            split_above: settings.split,
            starts: settings.starts,
            iterations: MOST_ITERATIONS,
            is_refined: self.is_refined(),
            noise: settings.noise,
            seeds,
        }
    }

    /// How a site of D2Pt generalizes.
    pub(crate) fn anonymizer(&self) -> Box<dyn d2pt::Anonymizer + Send> {
        match self.study.d2pt.anonymizer {
            study::Anonymizer::Datafly => Box::new(Datafly),
            study::Anonymizer::Optimal => Box::new(Optimal::default()),
        }
    }

    /// The study as D2Pt takes it.
    pub(crate) fn d2pt_plan<'a>(&'a self, anonymizer: &'a dyn d2pt::Anonymizer) -> d2pt::Plan<'a> {
        let settings = &self.study.d2pt;
        d2pt::Plan {
            schema: &self.study.schema,
            split: &self.split,
            requirement: &self.requirement,
            anonymizer,
            synchronizer: match settings.synchronizer {
                study::Synchronizer::Merge => Synchronizer::Merge,
                study::Synchronizer::Fork => Synchronizer::Fork,
                study::Synchronizer::Identity => Synchronizer::Identity,
                study::Synchronizer::Dpp2ga => Synchronizer::Dpp2ga,
            },
            suppression: settings.suppression,
            restore: settings.restore,
        }
    }

    /// What is kept small.
    fn loss(&self) -> Loss {
        match self.study.clustering.loss {
            study::Loss::Ncp => Loss::Ncp,
            study::Loss::Lm => Loss::Lm,
            study::Loss::Em => Loss::Em,
        }
    }

    /// Site diversity that clusters hold by what is written for them.
    pub(crate) fn support(&self) -> Option<Support> {
        if self.study.algorithm != Algorithm::Clustering {
            return None;
        }
        let quasi = self.named(Role::Quasi);
        let names: Vec<&str> = quasi.map(|attribute| attribute.name.as_str()).collect();
        Support::of(&self.requirement, &names)
    }

    /// Whether clusters are refined beyond the published end.
    pub(crate) fn is_refined(&self) -> bool {
        self.study.security == Security::Hardened && self.study.clustering.finish
    }

    /// How each quasi-identifier is written.
    pub(crate) fn writings(&self) -> Vec<Writing<'_>> {
        let quasi = self.named(Role::Quasi);
        let writing = |attribute: &'_ Attribute| attribute.recode_or(self.study.recode);
        quasi
            .map(|attribute| Writing {
                domain: &attribute.domain,
                recode: writing(attribute),
            })
            .collect()
    }

    /// What every class must satisfy, and how that is asked.
    fn demands(&self) -> Demands<'_> {
        let mut models = self.requirement.models.iter();
        let demanded = models.find_map(|model| match model {
            Model::Closeness { distance, .. } => *distance,
            _ => None,
        });
        let sensitive = self
            .named(Role::Sensitive)
            .map(|attribute| SensitiveAttribute {
                distance: demanded.unwrap_or_else(|| Distance::natural(&attribute.domain)),
                tree: attribute.domain.taxonomy(),
            });
        Demands {
            requirement: &self.requirement,
            sensitive: if self.is_product() {
                vec![SensitiveAttribute {
                    distance: Distance::Equal,
                    tree: None,
                }]
            } else {
                sensitive.collect()
            },
            strategy: match self.study.security {
                // All coalitions at once: the fewest rounds.
                Security::Hardened => Strategy::Direct,
                Security::Published => Strategy::Adaptive,
            },
        }
    }

    /// The attributes with a role.
    fn named(&self, role: Role) -> impl Iterator<Item = &Attribute> {
        let schema = &self.study.schema;
        let positions = schema.with_role(role).into_iter();
        positions.map(|position| &schema.attributes()[position])
    }

    /// Whether a class may be cut between sites.
    fn cuts_sites(&self) -> bool {
        self.study.algorithm == Algorithm::ProviderAware
    }

    /// JX08, JX09 or MPRIV: which of a class's cuts is made. Between sites, width loses less than
    /// the fitness of the paper, which is kept in its published form.
    fn choice(&self) -> Choice {
        let is_diverse = |model: &Model| matches!(model, Model::SiteDiversity { l, .. } if *l > 1);
        let alpha = self.study.top_down.alpha;
        if self.cuts_sites() && self.study.security == Security::Published {
            Choice::Fitness {
                weight: WEIGHT_OF_DIVERSITY,
            }
        } else if alpha < 1.0 && self.requirement.models.iter().any(is_diverse) {
            Choice::Diversity { alpha }
        } else {
            Choice::Width
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_draws_what_a_simulation_with_its_seed_does_and_every_start_another() {
        let simulated = Draws::Simulated(7);
        let own = Draws::Own(Seed::for_site(7, 2).derive(LABELS, 0));
        let mut seen = vec![*Seed::for_site(7, 2).as_bytes()];
        for start in 0..3 {
            let seed = own.seed(2, start);
            assert_eq!(seed.as_bytes(), simulated.seed(2, start).as_bytes());
            assert_ne!(seed.as_bytes(), simulated.seed(1, start).as_bytes());
            assert!(!seen.contains(seed.as_bytes()));
            seen.push(*seed.as_bytes());
        }
    }
}
