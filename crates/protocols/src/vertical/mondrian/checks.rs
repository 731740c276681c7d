//! Whether a part of a class satisfies what the requirement demands beyond its size, on this site's own
//! sensitive attributes. Each attribute is asked about alone, so that it makes no difference which of
//! them stand at one site.
//!
//! # Discloses
//! Nothing by itself.

use std::slice::from_ref;

use hedgerow_privacy::{ClassView, Counts, Model, Reference, Requirement};

use super::super::own::{Demand, OwnColumn};

/// The demands on this site's sensitive attributes.
pub(super) struct Checks<'a> {
    beyond_size: Vec<Model>,
    attributes: Vec<Attribute<'a>>,
}

struct Attribute<'a> {
    demand: Demand<'a>,
    column: &'a OwnColumn<'a>,
    /// All values of the attribute.
    values: Vec<u32>,
}

/// Whether a model speaks of sensitive values.
pub(super) const fn is_beyond_size(model: &Model) -> bool {
    !matches!(model, Model::KAnonymity { .. })
}

impl<'a> Checks<'a> {
    pub(super) fn new(
        requirement: &'a Requirement,
        sensitive: &'a [OwnColumn<'a>],
        references: &'a [Reference],
    ) -> Self {
        let models = requirement.models.iter();
        let attributes = sensitive.iter().zip(references);
        Self {
            beyond_size: models
                .filter(|model| is_beyond_size(model))
                .cloned()
                .collect(),
            attributes: attributes
                .map(|(column, reference)| Attribute {
                    demand: Demand::new(requirement, from_ref(column), from_ref(reference)),
                    column,
                    values: (0..column.domain.size()).collect(),
                })
                .collect(),
        }
    }

    /// Whether both parts hold: the people of a class who go left, and the others.
    pub(super) fn hold(&self, people: &[u32], goes_left: impl Fn(usize) -> bool) -> bool {
        if self.beyond_size.is_empty() {
            return true;
        }
        self.attributes.iter().all(|attribute| {
            let size = attribute.values.len();
            let mut counts = [vec![0; size], vec![0; size]];
            for (place, person) in people.iter().enumerate() {
                let value = attribute.column.codes[*person as usize];
                counts[usize::from(!goes_left(place))][value as usize] += 1;
            }
            counts
                .iter()
                .all(|counts| self.part_holds(attribute, counts))
        })
    }

    fn part_holds(&self, attribute: &Attribute<'_>, counts: &[u64]) -> bool {
        let part = ClassView {
            size: counts.iter().sum(),
            sensitive: &[Counts::new(&attribute.values, counts)],
            sites: None,
        };
        let table = &attribute.demand.table;
        let mut models = self.beyond_size.iter();
        models.all(|model| model.holds(&part, table))
    }
}
