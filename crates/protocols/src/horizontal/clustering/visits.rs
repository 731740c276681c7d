//! How many of its records a site looks at in a turn (TG12 section 8.2.3).
//!
//! Who is asked about in a turn tells a lower bound on how many records a site has. With blurred sizes a
//! site i looks at alpha_i n_i of its n_i records, in a cycle that goes on from turn to turn; a record that
//! the cycle comes to twice is looked at twice. As printed, alpha_i is drawn anew in every turn from a
//! distribution that the site itself has chosen and nobody else knows: between two shares that are drawn
//! once from the site's own seed. With a common distribution the mean over many turns would tell n_i.
//!
//! As printed, iterations end when no record moved in the last p iterations, in which at least as many
//! records were looked at as there are.
//!
//! # Discloses
//! With blurred sizes as printed, how many records all sites together looked at in an iteration (h_r of the
//! paper, which takes the number for known).

use hedgerow_smc::{Generator, Party};

use super::LOOKED_AT;
use super::work::Work;
use crate::error::Error;

/// Shares are numbers of this many parts.
const PARTS: u64 = 1 << 16;
/// No site looks at more than so many times its records in a turn.
pub(super) const MOST: u64 = 2;

/// The shares of its records between which a site draws how many it looks at, in parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shares {
    least: u64,
    greatest: u64,
}

impl Shares {
    /// A quarter of the records to all, up to all of them to twice as many.
    fn choose(generator: &mut Generator) -> Self {
        let least = PARTS / 4 + generator.below(PARTS * 3 / 4 + 1);
        let greatest = PARTS + generator.below((MOST - 1) * PARTS + 1);
        Self { least, greatest }
    }

    /// How many of so many records are looked at in a turn; at least one of any.
    fn draw(self, generator: &mut Generator, rows: usize) -> usize {
        let share = self.least + generator.below(self.greatest - self.least + 1);
        // Fewer than 2^32 rows.
        (rows as u64 * share).div_ceil(PARTS) as usize
    }
}

/// How many of its records a site looks at in its turn now.
pub(super) fn of_turn(work: &mut Work<'_>, speaker: usize) -> usize {
    let (is_blurred, is_printed) = (work.plan.is_blurred, work.plan.is_printed);
    let speaker = &mut work.speakers[speaker];
    let rows = speaker.order.len();
    let looked_at = match (is_blurred, is_printed) {
        (false, _) => rows,
        (true, _) if rows == 0 => 0,
        // Between a half and one and a half of the records, so that nobody can tell how many there are.
        (true, false) => rows / 2 + speaker.generator.below(rows as u64 + 1) as usize,
        (true, true) => {
            let generator = &mut speaker.generator;
            let shares = speaker
                .shares
                .get_or_insert_with(|| Shares::choose(generator));
            shares.draw(generator, rows)
        }
    };
    speaker.looked_at = looked_at as u64;
    looked_at
}

/// How many records all sites looked at in the iteration that has come to its end.
pub(super) async fn looked_at(party: &mut Party, work: &Work<'_>) -> Result<u64, Error> {
    if !(work.plan.is_printed && work.plan.is_blurred) {
        return Ok(work.table.records());
    }
    let own: u64 = work.speakers.iter().map(|speaker| speaker.looked_at).sum();
    let mut all = [own];
    party.sum(LOOKED_AT, &mut all).await?;
    let most = work.table.records().saturating_mul(MOST);
    party.fit(
        LOOKED_AT,
        (own..=most).contains(&all[0]),
        "more records than sites can have looked at, or fewer than this site did",
    )?;
    Ok(all[0])
}

#[cfg(test)]
mod tests {
    use hedgerow_smc::Seed;

    use super::*;

    /// Whatever a site chooses, it looks at one record or more and at no more than twice all of them; and
    /// two sites choose differently, so that the mean of what a site looks at does not tell its records.
    #[test]
    fn shares_are_a_sites_own() {
        let mut means = Vec::new();
        for site in 0..50 {
            let mut generator = Generator::new(&Seed::for_site(5, site));
            let shares = Shares::choose(&mut generator);
            for rows in [1, 2, 7] {
                let drawn = shares.draw(&mut generator, rows);
                assert!((1..=2 * rows).contains(&drawn));
            }
            let sum: usize = (0..200).map(|_| shares.draw(&mut generator, 1000)).sum();
            means.push(sum as f64 / 200.0 / 1000.0);
        }
        let least = means.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = means.iter().copied().fold(0.0, f64::max);
        assert!(least < 0.8 && greatest > 1.3, "{least} to {greatest}");
    }
}
