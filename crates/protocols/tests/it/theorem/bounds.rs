//! What a provider-aware run (MPRIV section IV) may disclose: bounds on kinds and numbers. Which
//! coalitions are asked about depends on the answers, so the ledger is bounded and not foretold.

use hedgerow_protocols::horizontal::assembly::{ALIKE, VALUES};
use hedgerow_protocols::horizontal::cover::COVERS;
use hedgerow_protocols::horizontal::mondrian::{
    ALL_MEDIANS, BETWEEN_SITES, CANDIDATES, COALITIONS, RANGES, RECORDS, REFUSED,
};

use super::simulator::Line;

/// What bounds the ledger of a provider-aware run with k as the requirement.
pub(crate) struct Bounds {
    pub(crate) attributes: usize,
    pub(crate) k: usize,
    /// Coalitions of sites that are asked about.
    pub(crate) coalitions: usize,
}

impl Bounds {
    /// Whether everything is of a kind that MPRIV needs, and no more of it than it needs.
    pub(crate) fn keep(&self, ledger: &[Line]) -> Result<(), String> {
        let (mut records, mut classes, mut medians) = (0, 0, 0);
        // Of the wave; before the first, the whole table is a part.
        let (mut fresh, mut tries, mut parts) = (0, 0, 1);
        let (mut second_sides, mut refused) = (0, 0);
        for Line { what, values } in ledger {
            let count = values.len();
            let is_within = match *what {
                RECORDS => {
                    records = values[0] as usize;
                    count == 1
                }
                RANGES | VALUES | ALIKE => true,
                ALL_MEDIANS => {
                    (fresh, medians) = (count, medians + count);
                    true
                }
                CANDIDATES => {
                    (tries, parts) = (count, 2 * count);
                    second_sides += tries - std::mem::take(&mut fresh);
                    // Only a refused median has a second side.
                    second_sides <= refused
                }
                // The cut and two sizes.
                BETWEEN_SITES => count % 3 == 0 && count / 3 <= tries,
                // Whether anything is left, and whether k of it.
                COALITIONS => {
                    let are_bits = values.iter().all(|value| *value < 2);
                    are_bits && count <= 2 * parts * self.coalitions
                }
                // Place, end and two sizes.
                REFUSED => {
                    refused += count / 4;
                    count % 4 == 0 && count / 4 <= tries
                }
                COVERS => {
                    classes = count / 6;
                    true
                }
                _ => return Err(format!("{} is not listed", what.name())),
            };
            if !is_within {
                return Err(format!("{values:?} is too much of {}", what.name()));
            }
        }
        // Classes that were cut in two, and finished ones that could have been.
        let large = (classes - 1) + classes.min(records / (2 * self.k));
        if medians > self.attributes * large {
            return Err(format!("{medians} medians of {large} classes"));
        }
        Ok(())
    }
}
