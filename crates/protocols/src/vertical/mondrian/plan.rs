//! What the sites agree on before they cut the same people together, as a study sets it, and what such a
//! run discloses.

use std::sync::Arc;

use hedgerow_data::study::Split;
use hedgerow_data::{Cell, Role, Schema, Study};
use hedgerow_privacy::Requirement;
use hedgerow_smc::{Party, Site, What};
use rayon::prelude::*;

use super::checks::is_beyond_size;
use super::{
    CELLS, CUTTING_SITES, HOLDING_PARTS, LEFT_PEOPLE, MET_REQUIREMENT, REFUSED_CUTS, VALUES, WIDTHS,
};
use crate::clustering::Loss;
use crate::clustering::shape::Shape;
use crate::clustering::shapes::Shapes;
use crate::horizontal::writing::{Writing, writings};
use crate::settings::RunSettings;
use crate::vertical::own::{self, Held, OwnColumn};

/// What all sites agree on before a run.
pub struct Plan<'a> {
    /// The study's columns.
    pub schema: &'a Arc<Schema>,
    /// Which site holds which columns.
    pub split: &'a Split,
    /// What every class must satisfy.
    pub requirement: &'a Requirement,
    /// How each quasi-identifier of the schema is written, in its order.
    pub writings: Vec<Writing<'a>>,
}

impl<'p> Plan<'p> {
    /// The plan of a study whose sites hold these columns.
    pub fn of(
        study: &'p Study,
        requirement: &'p Requirement,
        settings: &RunSettings,
        split: &'p Split,
    ) -> Self {
        Self {
            schema: &study.schema,
            split,
            requirement,
            writings: writings(&study.schema, settings.recode),
        }
    }

    /// Everything that [`partition`](super::partition), and [`assemble`](super::assemble) or
    /// [`fragment`](super::fragment), may disclose to a site.
    pub fn discloses(&self) -> Vec<What> {
        let mut all = Vec::new();
        if own::is_asked(&self.requirement.models) {
            all.push(MET_REQUIREMENT);
        }
        all.extend([WIDTHS, CUTTING_SITES, LEFT_PEOPLE]);
        if self.speaks_of_values() {
            all.extend([HOLDING_PARTS, REFUSED_CUTS]);
        }
        all.extend([CELLS, VALUES]);
        all
    }

    pub(super) fn held(&self) -> Held<'p> {
        Held {
            schema: self.schema,
            split: self.split,
            requirement: self.requirement,
        }
    }

    fn speaks_of_values(&self) -> bool {
        self.requirement.models.iter().any(is_beyond_size)
    }

    fn sites_with(&self, party: &Party, role: Role) -> Vec<Site> {
        let held = self.held();
        let has = |site: &Site| !held.columns_at(party, site.index(), role).is_empty();
        Site::all(party.sites()).filter(has).collect()
    }

    /// How many quasi-identifiers a site has.
    pub(super) fn quasi_at(&self, party: &Party, site: Site) -> usize {
        let held = self.held();
        held.columns_at(party, site.index(), Role::Quasi).len()
    }

    /// The sites that have quasi-identifiers.
    pub(super) fn sites_that_cut(&self, party: &Party) -> Vec<Site> {
        self.sites_with(party, Role::Quasi)
    }

    /// The sites that have sensitive attributes, where the requirement speaks of them.
    pub(super) fn sites_that_answer(&self, party: &Party) -> Vec<Site> {
        match self.speaks_of_values() {
            true => self.sites_with(party, Role::Sensitive),
            false => Vec::new(),
        }
    }

    /// The places of a site's quasi-identifiers among all.
    pub(super) fn places(&self, quasi: &[OwnColumn<'_>]) -> Vec<usize> {
        let all = self.schema.with_role(Role::Quasi);
        let place = |column: &OwnColumn<'_>| all.iter().position(|one| *one == column.position);
        quasi.iter().filter_map(place).collect()
    }

    /// The form of closures of some quasi-identifiers, by their places among all.
    pub(super) fn shapes(&self, places: &[usize]) -> Shapes<'p> {
        // The form of closures depends on neither loss nor counts.
        let shape = |place: &usize| Shape::new(self.writings[*place], Loss::Lm, &[]);
        Shapes::new(places.iter().map(shape).collect())
    }

    /// How a site writes classes of these people in its own quasi-identifiers.
    pub(super) fn cells(&self, quasi: &[OwnColumn<'_>], classes: &[Vec<u32>]) -> Vec<Vec<Cell>> {
        let shapes = self.shapes(&self.places(quasi));
        let of_class = |people: &Vec<u32>| {
            let mut closure = vec![0; shapes.width()];
            for (place, column) in quasi.iter().enumerate() {
                let codes = people.iter().map(|person| column.codes[*person as usize]);
                shapes.put_values(place, codes, &mut closure);
            }
            shapes.cells(&closure)
        };
        classes.par_iter().map(of_class).collect()
    }
}
