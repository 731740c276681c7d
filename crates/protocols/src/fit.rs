//! Checks of opened numbers before they are used to count, allocate or cut.
//!
//! A sum does not show which site added what, so an impossible number cannot be traced to a site; but it
//! can be seen. A table is no larger than all sites together can hold; parts make up their whole; the
//! counts of a sensitive attribute make up the records; and no sum is less than a site's own summand. A
//! site that invents records from beginning to end is not found by these checks: its numbers fit.
//!
//! # Discloses
//! Nothing.

use hedgerow_smc::{Party, What};

use crate::error::Error;

/// The most records of a joint table, of however many sites.
const MOST_RECORDS: u64 = hedgerow_data::Table::MOST_RECORDS;

/// How many records all sites have together.
pub(crate) async fn records(party: &mut Party, what: What, own: u64) -> Result<u64, Error> {
    let mut records = [own];
    party.sum(what, &mut records).await?;
    let [records] = records;
    let fits = own <= records && records <= MOST_RECORDS;
    party.fit(
        what,
        fits,
        "more records than the sites can bring, or fewer than this site has",
    )?;
    party.accept_records(what, records)?;
    Ok(records)
}

/// Whether parts make up a whole.
pub(crate) fn adds_up(parts: &[u64], whole: u64) -> bool {
    let sum = parts
        .iter()
        .try_fold(0u64, |sum, part| sum.checked_add(*part));
    sum == Some(whole)
}

/// Whether no sum is less than this site's own summand.
pub(crate) fn holds_own(sums: &[u64], own: &[u64]) -> bool {
    sums.len() == own.len() && sums.iter().zip(own).all(|(sum, own)| sum >= own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_overflow_make_up_nothing() {
        assert!(adds_up(&[2, 3], 5) && adds_up(&[], 0));
        assert!(!adds_up(&[2, 3], 6));
        assert!(!adds_up(&[1 << 63, 1 << 63, 5], 5));
        assert!(holds_own(&[2, 3], &[2, 0]) && !holds_own(&[2, 3], &[3, 0]));
        assert!(!holds_own(&[2], &[]));
    }
}
