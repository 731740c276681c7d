//! Anonymizers: to which levels a site generalizes its records (D2PT section 3.4). Any full-domain
//! algorithm will do; [`Datafly`] is the paper's, [`Optimal`](super::Optimal) loses less.
//!
//! # Discloses
//! Nothing: no other site sees it.

use super::lattice::{Lattice, Levels};

/// A full-domain algorithm.
pub trait Anonymizer: Sync {
    /// Levels at which the records that are left satisfy the requirement: the lowest that it finds,
    /// or, where the sites could not agree at the levels `above`, higher ones. The highest levels of
    /// all will always do.
    fn generalize(&self, lattice: &Lattice<'_>, above: Option<&Levels>) -> Levels;
}

/// Sweeney's Datafly (1997): as long as the requirement does not hold, one level up with the
/// quasi-identifier that has the most different values; the first of those that have as many.
#[derive(Debug, Clone, Copy, Default)]
pub struct Datafly;

impl Anonymizer for Datafly {
    fn generalize(&self, lattice: &Lattice<'_>, above: Option<&Levels>) -> Levels {
        Self::path(lattice, above)
            .pop()
            .unwrap_or_else(|| lattice.top())
    }
}

impl Datafly {
    /// The levels that Datafly goes through, the last of which are its answer.
    pub fn path(lattice: &Lattice<'_>, above: Option<&Levels>) -> Vec<Levels> {
        let mut levels = above.cloned().unwrap_or(vec![0; lattice.attributes()]);
        let mut path = Vec::new();
        if above.is_none() {
            path.push(levels.clone());
            if lattice.holds(&levels) {
                return path;
            }
        }
        while let Some(attribute) = most_distinct(lattice, &levels) {
            levels[attribute] += 1;
            path.push(levels.clone());
            if lattice.holds(&levels) {
                break;
            }
        }
        path
    }
}

/// The attribute with the most different values among those that can go up.
fn most_distinct(lattice: &Lattice<'_>, levels: &[u16]) -> Option<usize> {
    let open = (0..lattice.attributes()).filter(|at| levels[*at] < lattice.height(*at));
    let counted = open.map(|at| (lattice.distinct(at, levels[at]), at));
    // The first of the greatest.
    let best = counted.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map(|(_, attribute)| attribute)
}
