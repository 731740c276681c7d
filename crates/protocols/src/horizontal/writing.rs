//! How quasi-identifiers are written in a release: as nodes, ranges or sets.

use hedgerow_data::{Cell, Domain, Recode, Role, Schema};

/// How one quasi-identifier is written.
#[derive(Debug, Clone, Copy)]
pub struct Writing<'a> {
    /// The attribute's values.
    pub domain: &'a Domain,
    /// Node, range or set.
    pub recode: Recode,
}

impl Writing<'_> {
    /// Whether classes are written as ranges, which may be wider than what cuts leave: where values
    /// may be missing.
    pub fn widens_ranges(&self) -> bool {
        let is_range = match self.recode {
            Recode::Node => self.domain.taxonomy().is_none(),
            Recode::Range => true,
            Recode::Set => false,
        };
        is_range && self.domain.missing_code().is_some()
    }

    /// The cell that is written for an interval of values.
    pub(super) fn of_box(&self, (least, greatest): (u32, u32)) -> Cell {
        let (least, greatest) = match (self.recode, self.domain.taxonomy()) {
            (Recode::Node, Some(tree)) => {
                tree.interval(tree.lowest_common_ancestor(least, greatest))
            }
            _ => self.domain.range(least, greatest),
        };
        Cell::Interval(least, greatest)
    }
}

/// How each quasi-identifier of a schema is written; `recode` is for attributes that do not name a
/// recoding of their own.
pub fn writings(schema: &Schema, recode: Recode) -> Vec<Writing<'_>> {
    let quasi = schema.with_role(Role::Quasi).into_iter();
    let quasi = quasi.map(|position| &schema.attributes()[position]);
    quasi
        .map(|attribute| Writing {
            domain: &attribute.domain,
            recode: attribute.recode_or(recode),
        })
        .collect()
}
