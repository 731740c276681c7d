//! What all sites know of the parts of a try: sizes and sensitive counts, and whether these are
//! possible.

use hedgerow_smc::{Party, What};

use super::{FEWER, Table, UNEQUAL, take};
use crate::error::Error;
use crate::fit::{adds_up, holds_own};

/// Parts that are more than what was cut.
const MORE: &str = "parts have more records than what they are parts of";

/// The parts of a cut, with what all sites know of them.
#[derive(Debug)]
pub(in crate::horizontal) struct Counted {
    pub(in crate::horizontal) sizes: Vec<u64>,
    /// Part by part, the counts of each sensitive attribute, one after the other.
    pub(in crate::horizontal) sensitive: Vec<u64>,
}

impl Counted {
    pub(in crate::horizontal) fn parts(&self) -> usize {
        self.sizes.len()
    }

    /// The sensitive counts of a part.
    pub(in crate::horizontal) fn of_part(&self, part: usize) -> &[u64] {
        let width = self.sensitive.len() / self.sizes.len();
        &self.sensitive[part * width..(part + 1) * width]
    }
}

impl Table<'_> {
    /// Takes the next counts of all parts but the last from the answers, and adds the last: what is
    /// left of the whole. `own` are this site's in all parts.
    pub(in crate::horizontal) fn counted(
        &self,
        (party, what): (&Party, What),
        (size, whole): (u64, &[u64]),
        own: &Counted,
        answers: &mut &[u64],
    ) -> Result<Counted, Error> {
        let parts = own.parts();
        let more = || party.misfit(what, MORE);
        let mut sizes = Vec::with_capacity(parts);
        complete(answers, parts, &[size], |_, counts| {
            sizes.extend_from_slice(counts);
        })
        .ok_or_else(more)?;
        let width = whole.len();
        let mut sensitive = vec![0; parts * width];
        let mut from = 0;
        for (_, size) in self.sensitive() {
            let part = &whole[from..from + size];
            complete(answers, parts, part, |part, counts| {
                let at = part * width + from;
                sensitive[at..at + size].copy_from_slice(counts);
            })
            .ok_or_else(more)?;
            from += size;
        }
        let counted = Counted { sizes, sensitive };
        self.see(party, what, &counted, own)?;
        Ok(counted)
    }

    /// Ends the run where the counts of parts cannot be: values that are not as many as records, or
    /// fewer records than this site's own.
    pub(in crate::horizontal) fn see(
        &self,
        party: &Party,
        what: What,
        counted: &Counted,
        own: &Counted,
    ) -> Result<(), Error> {
        let has_own =
            holds_own(&counted.sizes, &own.sizes) && holds_own(&counted.sensitive, &own.sensitive);
        party.fit(what, has_own, FEWER)?;
        for (part, size) in counted.sizes.iter().enumerate() {
            let mut rest = counted.of_part(part);
            let fits = self
                .sensitive()
                .all(|(_, values)| adds_up(take(&mut rest, values), *size));
            party.fit(what, fits, UNEQUAL)?;
        }
        Ok(())
    }
}

/// Hands out the counts of all parts but the last as they come, and then the counts of the last part,
/// which are the rest of the whole; `None` where the other parts have more than the whole.
fn complete(
    answers: &mut &[u64],
    parts: usize,
    whole: &[u64],
    mut found: impl FnMut(usize, &[u64]),
) -> Option<()> {
    let mut left = whole.to_vec();
    for part in 0..parts - 1 {
        let counts = take(answers, whole.len());
        for (left, count) in left.iter_mut().zip(counts) {
            *left = left.checked_sub(*count)?;
        }
        found(part, counts);
    }
    found(parts - 1, &left);
    Some(())
}
