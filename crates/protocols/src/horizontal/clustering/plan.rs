//! What the sites agree on before a clustering of different people, as a study sets it, and what such a
//! run discloses.

use hedgerow_data::{Role, Study};
use hedgerow_privacy::{Model, Requirement, SiteSupport};
use hedgerow_smc::{Security, Seed, What};

use super::{
    ASKED_CLUSTERS, CLOSURES_WITHOUT_RECORD, CLUSTER_CLOSURES, CLUSTER_SIZES, DIVERSE_CLUSTERS,
    LOOKED_AT, OCCURRING_VALUES, SAVINGS_IN_NARROWER_CLUSTERS, SIZES_ALONE, SUPPORTED_VALUES,
    TOUCHED_CLUSTERS, TRIED_CLUSTERS, VALUE_COUNTS, without_support,
};
use crate::clustering::{CountsChoice, Loss, Stop};
use crate::horizontal::cover::Covers;
use crate::horizontal::mondrian::RECORDS;
use crate::horizontal::requirement::Demands;
use crate::horizontal::writing::{Writing, writings};
use crate::settings::RunSettings;

/// What all sites agree on before a run.
pub struct Plan<'a> {
    /// How each quasi-identifier is written.
    pub writings: Vec<Writing<'a>>,
    /// Whether a cluster is written as what occurs in it, or as the smallest box of the public grid around that.
    pub covers: Covers,
    /// The loss that clustering keeps small.
    pub loss: Loss,
    /// What every cluster must satisfy in the end.
    pub demands: Demands<'a>,
    /// The requirement's site diversity by support, where the written cells alone must satisfy it,
    /// whichever sites have records in a cluster.
    pub support: Option<Support>,
    /// Records of a cluster at the start, as a share of k.
    pub start: f64,
    /// Records above which a cluster is split, as a share of k.
    pub split: f64,
    /// Random starts, of which the best is kept.
    pub starts: u32,
    /// When iterations over all records end.
    pub stop: Stop,
    /// How long clusters are refined.
    pub effort: u32,
    /// The share of the time that has been used, 1 when the search is to end; asked only where one site
    /// has all records, since sites that ask one another take the same steps.
    pub used: &'a (dyn Fn() -> f64 + Sync),
    /// Whether to find what no clusters lose less than, where one site has all records.
    pub finds_least: bool,
    /// Whether clusters are refined beyond the published end.
    pub is_refined: bool,
    /// Whether clusters are found as the paper prints it, however many rounds that takes: a site looks at
    /// every record of its turn, one after the other, each weighed against the clusters as they then are;
    /// sensitive values are spread evenly over the halves of a split too (TG12 section 6.1.2).
    pub is_printed: bool,
    /// Whether the sensitive counts of clusters are opened on the way; hidden counts go with the published end.
    pub counts: CountsChoice,
    /// Whether a site looks at a random share of its records in each turn (TG12 section 8.2.3).
    pub is_blurred: bool,
    /// The seed of each site that this party speaks for, at each start, for its labels and orders.
    pub seeds: &'a (dyn Fn(u32, u32) -> Seed + Sync),
}

impl<'a> Plan<'a> {
    /// The plan of a study.
    pub fn of(
        study: &'a Study,
        requirement: &'a Requirement,
        settings: &RunSettings,
        seeds: &'a (dyn Fn(u32, u32) -> Seed + Sync),
    ) -> Self {
        let clustering = &settings.clustering;
        Self {
            writings: writings(&study.schema, settings.recode),
            covers: settings.top_down.covers,
            loss: clustering.loss,
            demands: Demands::of(study, requirement, settings.security, settings.colluders),
            support: Support::of_study(study, requirement),
            start: clustering.start,
            split: clustering.split,
            starts: clustering.starts,
            stop: clustering.stop(settings.security),
            effort: clustering.effort,
            used: &|| 0.0,
            finds_least: false,
            is_refined: settings.is_refined(),
            is_printed: settings.security == Security::Published,
            counts: clustering.counts,
            is_blurred: clustering.blur,
            seeds,
        }
    }

    /// Everything that [`cluster`](super::cluster) may disclose to a site, but for what extremes and unions
    /// [show on their way](hedgerow_smc::Security::discloses). The generalized records of the release
    /// are the last closures.
    pub fn discloses(&self) -> Vec<What> {
        let mut all = vec![RECORDS];
        let of_values = self.demands.discloses_of_all();
        let hides = self.counts == CountsChoice::Hidden;
        match (hides, of_values) {
            (false, of_values) => all.extend(of_values),
            (true, Some(_)) => all.extend([DIVERSE_CLUSTERS, TOUCHED_CLUSTERS]),
            (true, None) => {}
        }
        match self.loss {
            Loss::Ncp => all.push(OCCURRING_VALUES),
            Loss::Lm => {}
            Loss::Em => all.push(VALUE_COUNTS),
        }
        all.extend([
            if hides { SIZES_ALONE } else { CLUSTER_SIZES },
            CLUSTER_CLOSURES,
            ASKED_CLUSTERS,
            CLOSURES_WITHOUT_RECORD,
        ]);
        if self.is_printed && self.is_blurred {
            all.push(LOOKED_AT);
        }
        if self.is_refined {
            all.extend([SAVINGS_IN_NARROWER_CLUSTERS, TRIED_CLUSTERS]);
        }
        match &self.support {
            Some(_) => {
                all.push(SUPPORTED_VALUES);
                let held = without_support(self.demands.requirement);
                let demands = Demands {
                    requirement: &held,
                    ..self.demands.clone()
                };
                all.extend(demands.discloses_of_sites());
            }
            None => all.extend(self.demands.discloses_of_sites()),
        }
        all
    }
}

/// l-site diversity by support (TG12 section 6.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    /// l: how many sites must support what is written.
    pub sites: u64,
    /// The quasi-identifiers that may betray a site, by place, the most important first.
    pub attributes: Vec<usize>,
}

impl Support {
    /// The support that a study demands, where clusters satisfy site diversity by support.
    pub fn of_study(study: &Study, requirement: &Requirement) -> Option<Self> {
        let quasi = study.schema.with_role(Role::Quasi).into_iter();
        let names = quasi.map(|position| study.schema.attributes()[position].name.as_str());
        Self::of(requirement, &names.collect::<Vec<_>>())
    }

    /// The support that a requirement on these quasi-identifiers demands. With colluders every cluster
    /// must have enough sites instead, since colluders recognize their own records.
    pub fn of(requirement: &Requirement, quasi: &[&str]) -> Option<Self> {
        if requirement.m.is_some_and(|m| m > 0) {
            return None;
        }
        requirement.models.iter().find_map(|model| match model {
            Model::SiteDiversity {
                l,
                support: SiteSupport::Taxonomy,
                attributes,
            } if *l > 1 => {
                let place = |name: &String| quasi.iter().position(|other| other == name);
                let all = || (0..quasi.len()).collect();
                let named = attributes.as_ref();
                Some(Self {
                    sites: *l,
                    attributes: named
                        .map_or_else(all, |names| names.iter().filter_map(place).collect()),
                })
            }
            _ => None,
        })
    }
}
