//! What the sites agree on before a clustering of the same people, as a study sets it, and what such a
//! run discloses.

use std::sync::Arc;

use hedgerow_data::study::Split;
use hedgerow_data::{Role, Schema, Study};
use hedgerow_privacy::{Model, Requirement};
use hedgerow_smc::{Security, Seed, What};

use super::{
    BEST_START, CANDIDATES, CELLS, CLUSTER_COSTS, DEALT_RECORDS, HOLDING_PROPOSALS, LAST_ITERATION,
    LOSS_CHANGES, MET_REQUIREMENT, RANDOM_WORDS, RECORD_MOVES, UNITED_CLUSTERS, VALUES,
};
use crate::clustering::shape::Shape;
use crate::clustering::shapes::Shapes;
use crate::clustering::{Loss, Stop};
use crate::horizontal::writing::{Writing, writings};
use crate::settings::RunSettings;
use crate::vertical::own::{self, Held, OwnColumn};

/// What all sites agree on before a run.
pub struct Plan<'a> {
    /// The study's columns.
    pub schema: &'a Arc<Schema>,
    /// Which site holds which columns.
    pub split: &'a Split,
    /// What every cluster must satisfy in the end.
    pub requirement: &'a Requirement,
    /// How each quasi-identifier of the schema is written, in its order.
    pub writings: Vec<Writing<'a>>,
    /// The loss that clustering keeps small.
    pub loss: Loss,
    /// Records of a cluster at the start, as a share of k.
    pub start: f64,
    /// Records above which a cluster is split, as a share of k.
    pub split_above: f64,
    /// Random starts, of which the best is kept.
    pub starts: u32,
    /// When iterations over all records end, before clusters are united and again afterwards.
    pub stop: Stop,
    /// Whether records move on beyond the published end.
    pub is_refined: bool,
    /// Whether an iteration goes on until no record waits, and iterations until no record moves, as the
    /// paper prints it.
    pub is_printed: bool,
    /// The most that a site adds to or takes off each of its changes, as a share of the loss of a cell;
    /// 0 for no noise (TG12 section 8.3).
    pub noise: f64,
    /// Whether the pivot learns the changes of all moves, as published, and not only of moves to clusters
    /// that can win.
    pub asks_all: bool,
    /// The seed of a site: of the pivot, and of the site with the first sensitive attribute, where that
    /// site deals records. A site asks for its own seed only; a party of one, which stands for all
    /// sites, for both.
    pub seeds: &'a (dyn Fn(u32) -> Seed + Sync),
}

impl<'p> Plan<'p> {
    pub(super) fn held(&self) -> Held<'p> {
        Held {
            schema: self.schema,
            split: self.split,
            requirement: self.requirement,
        }
    }

    /// The site with the first sensitive attribute, if the study has one.
    pub(super) fn dealer(&self) -> Option<usize> {
        let first = *self.schema.with_role(Role::Sensitive).first()?;
        let holds = |site: &usize| {
            let own = self.split.with_role(self.schema, *site, Role::Sensitive);
            own.contains(&first)
        };
        (0..self.split.sites()).find(holds)
    }

    /// Whether the pivot keeps the changes of records that wait: where all are asked about, and noise does
    /// not make each answer another.
    pub(super) fn keeps_changes(&self, sites: usize) -> bool {
        sites > 1 && self.asks_all && self.noise == 0.0
    }

    /// The form and cost of closures of this site's quasi-identifiers. The site has in full what these
    /// depend on: every record's value.
    pub(super) fn shapes(&self, quasi: &[OwnColumn<'_>]) -> Shapes<'p> {
        let all = self.schema.with_role(Role::Quasi);
        let own = quasi.iter().filter_map(|column| {
            let place = all.iter().position(|one| *one == column.position)?;
            let writing = *self.writings.get(place)?;
            let reference = column.reference();
            Some(Shape::new(writing, self.loss, reference.counts()))
        });
        Shapes::new(own.collect())
    }

    /// The plan of a study whose sites hold these columns.
    pub fn of(
        study: &'p Study,
        requirement: &'p Requirement,
        settings: &RunSettings,
        split: &'p Split,
        seeds: &'p (dyn Fn(u32) -> Seed + Sync),
    ) -> Self {
        let clustering = &settings.clustering;
        Self {
            schema: &study.schema,
            split,
            requirement,
            writings: writings(&study.schema, settings.recode),
            loss: clustering.loss,
            start: clustering.start,
            split_above: clustering.split,
            starts: clustering.starts,
            stop: clustering.stop(match clustering.noise > 0.0 {
                // With noise on what moves save, records may move for ever.
                true => Security::Hardened,
                false => settings.security,
            }),
            is_refined: settings.is_refined(),
            is_printed: settings.security == Security::Published,
            noise: clustering.noise,
            asks_all: settings.security == Security::Published,
            seeds,
        }
    }

    /// Everything that [`cluster`](super::cluster) and [`assemble`](super::assemble) may disclose to a
    /// site.
    pub fn discloses(&self) -> Vec<What> {
        let mut all = Vec::new();
        if own::is_asked(&self.requirement.models) {
            all.push(MET_REQUIREMENT);
        }
        // Sensitive values are dealt evenly where the requirement speaks of them.
        let is_sensitive = |model: &Model| !matches!(model, Model::KAnonymity { .. });
        if self.requirement.models.iter().any(is_sensitive) {
            all.push(DEALT_RECORDS);
        }
        if self.starts > 1 {
            all.push(BEST_START);
        }
        if !self.asks_all {
            all.extend([CANDIDATES, CLUSTER_COSTS]);
        }
        all.extend([
            RANDOM_WORDS,
            LOSS_CHANGES,
            RECORD_MOVES,
            UNITED_CLUSTERS,
            HOLDING_PROPOSALS,
            LAST_ITERATION,
            CELLS,
            VALUES,
        ]);
        all
    }
}
