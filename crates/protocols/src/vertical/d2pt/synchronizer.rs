//! Synchronizers: from how the sites' classes cut each other to groups that are the same at every site
//! (D2PT section 3.5, for any number of sites). Every site decides alone, from the same numbers, which
//! contain no records.
//!
//! # Discloses
//! Nothing beyond [`Overlaps`](hedgerow_smc::align::Overlaps), from which everything here is computed.

use std::collections::{BTreeMap, BTreeSet};

/// The condition under which classes of all sites make groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronizer {
    /// When all classes are the same at every site.
    Identity,
    /// As identity, but classes that are the same at every site are set aside, and the sites go on
    /// with the other records.
    Fork,
    /// At once: classes that share a record are joined, until no two groups do (the join of the
    /// sites' partitions).
    Merge,
    /// When every cut of classes that is not empty has k records (Jiang and Clifton 2005). The cuts are
    /// the groups, smaller than the sites' classes: whether they satisfy demands beyond k is asked
    /// afterwards.
    Dpp2ga,
}

/// How many records lie in a combination of classes, one of each site that has classes.
pub(super) type Cell = (Vec<u32>, u64);

/// The answer of a synchronizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Decision {
    /// The group of each cell, numbered from 0.
    Groups(Vec<u32>),
    /// No groups yet; for each cell, the group that it is set aside as.
    NotYet(Vec<Option<u32>>),
}

impl Synchronizer {
    /// All four synchronizers, by their names in studies.
    pub const NAMES: [(&'static str, Self); 4] = [
        (Self::Merge.name(), Self::Merge),
        (Self::Fork.name(), Self::Fork),
        (Self::Identity.name(), Self::Identity),
        (Self::Dpp2ga.name(), Self::Dpp2ga),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Fork => "fork",
            Self::Merge => "merge",
            Self::Dpp2ga => "dpp2ga",
        }
    }

    /// Whether a group may be less than a site's class.
    pub(super) fn cuts(self) -> bool {
        self == Self::Dpp2ga
    }

    pub(super) fn decide(self, cells: &[Cell], k: u64) -> Decision {
        let combined = Combined::of(cells);
        match self {
            Self::Merge => Decision::Groups(merged(cells)),
            Self::Dpp2ga if combined.records.iter().all(|records| *records >= k) => {
                Decision::Groups(combined.of_cell)
            }
            Self::Dpp2ga => Decision::NotYet(vec![None; cells.len()]),
            Self::Identity | Self::Fork => {
                let same = combined.same_everywhere(cells);
                if same.iter().all(|same| *same) {
                    return Decision::Groups(combined.of_cell);
                }
                let aside = |group: &u32| {
                    let is_aside = self == Self::Fork && same[*group as usize];
                    is_aside.then_some(*group)
                };
                Decision::NotYet(combined.of_cell.iter().map(aside).collect())
            }
        }
    }
}

/// Cells of equal classes taken together, in the order of their classes.
struct Combined {
    of_cell: Vec<u32>,
    records: Vec<u64>,
}

impl Combined {
    fn of(cells: &[Cell]) -> Self {
        let mut number: BTreeMap<&[u32], u32> = BTreeMap::new();
        for (classes, _) in cells {
            number.insert(classes, 0);
        }
        number
            .values_mut()
            .zip(0..)
            .for_each(|(at, next)| *at = next);
        let of_cell: Vec<u32> = cells
            .iter()
            .map(|(classes, _)| number[classes.as_slice()])
            .collect();
        let mut records = vec![0; number.len()];
        for (group, (_, more)) in of_cell.iter().zip(cells) {
            records[*group as usize] += more;
        }
        Self { of_cell, records }
    }

    /// For each combination, whether its classes have no records elsewhere.
    fn same_everywhere(&self, cells: &[Cell]) -> Vec<bool> {
        let mut groups_of: BTreeMap<(usize, u32), BTreeSet<u32>> = BTreeMap::new();
        for ((classes, _), group) in cells.iter().zip(&self.of_cell) {
            for (site, class) in classes.iter().enumerate() {
                groups_of.entry((site, *class)).or_default().insert(*group);
            }
        }
        let mut same = vec![true; self.records.len()];
        for groups in groups_of.values().filter(|groups| groups.len() > 1) {
            groups
                .iter()
                .for_each(|group| same[*group as usize] = false);
        }
        same
    }
}

/// Connected components of cells that share a class, numbered by their first cell.
fn merged(cells: &[Cell]) -> Vec<u32> {
    let mut parent: Vec<usize> = (0..cells.len()).collect();
    let mut first_of: BTreeMap<(usize, u32), usize> = BTreeMap::new();
    for (cell, (classes, _)) in cells.iter().enumerate() {
        for (site, class) in classes.iter().enumerate() {
            let first = *first_of.entry((site, *class)).or_insert(cell);
            let (a, b) = (root(&mut parent, first), root(&mut parent, cell));
            // The lesser cell leads, so that a component is named by its first cell.
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut number: BTreeMap<usize, u32> = BTreeMap::new();
    let cells = 0..cells.len();
    cells
        .map(|cell| {
            let next = number.len() as u32;
            *number.entry(root(&mut parent, cell)).or_insert(next)
        })
        .collect()
}

fn root(parent: &mut [usize], mut cell: usize) -> usize {
    while parent[cell] != cell {
        parent[cell] = parent[parent[cell]];
        cell = parent[cell];
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first anonymizations of D2PT's example: {1,2}, {3,4,5}, {6,7} and {1,2}, {3,4}, {5,6,7}.
    const EXAMPLE: [([u32; 2], u64); 4] = [([0, 0], 2), ([1, 1], 2), ([1, 2], 1), ([2, 2], 2)];

    fn cells(cells: &[([u32; 2], u64)]) -> Vec<Cell> {
        let cell = |(classes, records): &([u32; 2], u64)| (classes.to_vec(), *records);
        cells.iter().map(cell).collect()
    }

    #[test]
    fn the_example_of_the_paper() {
        let cells = cells(&EXAMPLE);
        let none = Decision::NotYet(vec![None; 4]);
        assert_eq!(Synchronizer::Identity.decide(&cells, 2), none);
        let aside = Decision::NotYet(vec![Some(0), None, None, None]);
        assert_eq!(Synchronizer::Fork.decide(&cells, 2), aside);
        let groups = Decision::Groups(vec![0, 1, 1, 1]);
        assert_eq!(Synchronizer::Merge.decide(&cells, 2), groups);
        // Person 5 alone is in the cut of {3,4,5} and {5,6,7}.
        assert_eq!(Synchronizer::Dpp2ga.decide(&cells, 2), none);
        let cuts = Decision::Groups(vec![0, 1, 2, 3]);
        assert_eq!(Synchronizer::Dpp2ga.decide(&cells, 1), cuts);
    }

    #[test]
    fn the_same_classes_need_no_synchronizer() {
        let cells = cells(&[([0, 1], 2), ([1, 0], 3), ([1, 0], 4)]);
        for synchronizer in [
            Synchronizer::Identity,
            Synchronizer::Fork,
            Synchronizer::Dpp2ga,
        ] {
            // Cells of the same classes are one group; groups are numbered by their classes.
            let said = synchronizer.decide(&cells, 2);
            assert_eq!(
                said,
                Decision::Groups(vec![0, 1, 1]),
                "{}",
                synchronizer.name()
            );
        }
        assert_eq!(
            Synchronizer::Merge.decide(&cells, 2),
            Decision::Groups(vec![0, 1, 1])
        );
    }
}
