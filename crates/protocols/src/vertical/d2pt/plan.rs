//! What the sites agreed on before a run of D2Pt, as a study sets it, and what such a run discloses.

use hedgerow_data::study::Split;
use hedgerow_data::{Role, Schema, Study};
use hedgerow_privacy::Requirement;
use hedgerow_smc::What;

use super::anonymizer::Anonymizer;
use super::settings::Suppression;
use super::synchronizer::Synchronizer;
use super::{
    CELLS, CLASS_CUTS, CLASSES, GROUPS, HOLDING_GROUPS, JOINED_CLASSES, MET_REQUIREMENT,
    OWN_GROUPS, REFUSED_GROUPS, RESTORED, VALUES,
};
use crate::settings::RunSettings;
use crate::vertical::own::{self, Held};

/// What the sites agreed on before a run.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The study's columns.
    pub schema: &'a Schema,
    /// Which site holds which columns.
    pub split: &'a Split,
    /// What every group must satisfy.
    pub requirement: &'a Requirement,
    /// How a site generalizes.
    pub anonymizer: &'a dyn Anonymizer,
    /// How the sites find groups.
    pub synchronizer: Synchronizer,
    /// Which of its records a site may write as `*` in every cell, in a class of their own.
    pub suppression: Suppression,
    /// Whether the release has original quasi-identifiers inside groups.
    pub restore: bool,
}

impl<'p> Plan<'p> {
    pub(super) fn held(&self) -> Held<'p> {
        Held {
            schema: self.schema,
            split: self.split,
            requirement: self.requirement,
        }
    }

    /// The plan of a study whose sites hold these columns.
    pub fn of(
        study: &'p Study,
        requirement: &'p Requirement,
        settings: &RunSettings,
        split: &'p Split,
    ) -> Self {
        let d2pt = &settings.d2pt;
        Self {
            schema: &study.schema,
            split,
            requirement,
            anonymizer: d2pt.anonymizer.anonymizer(),
            synchronizer: d2pt.synchronizer,
            suppression: d2pt.suppression,
            restore: d2pt.restore,
        }
    }

    /// Everything that [`anonymize`](super::anonymize) may disclose to a site.
    pub fn discloses(&self) -> Vec<What> {
        let mut all = Vec::new();
        if own::is_asked(&self.requirement.models) {
            all.push(MET_REQUIREMENT);
        }
        all.push(CLASSES);
        if self.synchronizer.cuts() {
            all.push(CLASS_CUTS);
        } else if self.has_site_without_quasi() {
            all.push(GROUPS);
        }
        all.extend([OWN_GROUPS, HOLDING_GROUPS, REFUSED_GROUPS, JOINED_CLASSES]);
        all.push(match self.restore {
            true => RESTORED,
            false => CELLS,
        });
        all.push(VALUES);
        all
    }

    /// Whether a site has no quasi-identifiers of its own.
    fn has_site_without_quasi(&self) -> bool {
        let is_without = |site| {
            let quasi = self.split.with_role(self.schema, site, Role::Quasi);
            quasi.is_empty()
        };
        (0..self.split.sites()).any(is_without)
    }
}
