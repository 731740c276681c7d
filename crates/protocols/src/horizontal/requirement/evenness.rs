//! Which of a class's allowed cuts is the best by JX09 equation 3: width, with a weight, and how evenly
//! the records of the parts are spread over sites (equation 2), with the rest of the weight; each
//! relative to the best.
//!
//! The paper has the entropies summed and opened. With the sums, a site that knows its own counts can
//! try every split of a class over the others, and nearly always finds the true split. So at the
//! hardened level no entropy is opened: cuts meet in pairs, the better goes on, and a pair opens one
//! bit. First they meet for the greatest entropy, whose sum stays hidden; then for the best score, which
//! is linear in what each site adds once it is known whose entropy is the greatest. At the published
//! level the sums are opened, and all sites go through the same pairs alone: as printed, over all
//! candidate cuts of a class, since the maxima of equation 3 are over all quasi-identifiers, also over
//! those whose cuts are not allowed and cannot win.
//!
//! A cut that wins by a hair tells about single records: in small classes of unequal sites even the cut
//! that is made would tell. So, unlike the paper, at the hardened level a cut beats a wider one only if
//! it is clearly more even, by a quarter of the most that entropies can differ: cuts that would take the
//! sites apart are avoided as before, and among others width decides.
//!
//! Entropies, weights and widths are whole numbers, so that one party with everybody's rows decides
//! as many do.
//!
//! # Discloses
//! To all sites, hardened: of n cuts of a class 2 (n - 1) bits at most, who wins which pair
//! ([`EVENER`]); of which the last says which cut is made. Published: the entropy of sites over the
//! parts of each candidate cut of a class that has a choice ([`ENTROPIES`], Theorem 2, 2).

use hedgerow_smc::{Party, Security};

use super::{ENTROPIES, EVENER, Table, Trials};
use crate::error::Error;

/// Entropies are summed as whole numbers of this share.
const UNIT: f64 = (1u64 << 20) as f64;
/// Weights and widths as whole numbers of this share.
const ONE: i128 = 1 << 12;
/// A cut is clearly more even if its entropy is greater by the greatest possible difference over this
/// number.
const CLEAR: f64 = 4.0;
/// The greatest bound of a comparison.
const MOST: i128 = 1 << 62;

/// The cuts of a class.
pub(in crate::horizontal) struct Contest {
    /// Tries by width, the widest first; of equals the first.
    places: Vec<usize>,
    /// Whether a try may win: others are there to be compared with.
    may_win: Vec<bool>,
    /// Widths relative to the widest.
    widths: Vec<i128>,
}

impl Contest {
    /// Tries, whether each may win, and how wide its attribute is in the class, relative to the whole
    /// table.
    pub(in crate::horizontal) fn new(
        places: Vec<usize>,
        may_win: Vec<bool>,
        widths: Vec<f64>,
    ) -> Self {
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by(|a, b| widths[*b].total_cmp(&widths[*a]));
        let widest = order.first().map_or(1.0, |first| widths[*first]);
        let relative = |at: &usize| (widths[*at] / widest * ONE as f64).round() as i128;
        Self {
            widths: order.iter().map(relative).collect(),
            may_win: order.iter().map(|at| may_win[*at]).collect(),
            places: order.into_iter().map(|at| places[at]).collect(),
        }
    }

    /// The tries that may win, the widest first.
    fn candidates(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.places.len()).filter(|at| self.may_win[*at])
    }

    /// Whether there is a choice.
    fn is_open(&self) -> bool {
        self.candidates().nth(1).is_some()
    }
}

/// A weighted sum of entropies: for each term, the try and its weight; and the clear difference of
/// entropies by which the sum must be greater, with its weight.
struct Weighted {
    terms: Vec<(usize, i128)>,
    clear: i128,
}

/// For each class the try that is made, if any is allowed. `alpha` is the weight of width.
pub(in crate::horizontal) async fn best(
    party: &mut Party,
    table: &Table<'_>,
    tries: &impl Trials,
    alpha: f64,
    contests: Vec<Contest>,
) -> Result<Vec<Option<usize>>, Error> {
    let alpha = (alpha.clamp(0.0, 1.0) * ONE as f64).round() as i128;
    let first = |contest: &Contest| contest.candidates().next().map(|at| contest.places[at]);
    if alpha == ONE || !contests.iter().any(Contest::is_open) {
        // The widest, which all sites know; and a class with one way to be cut needs no choice.
        return Ok(contests.iter().map(first).collect());
    }
    let mut judge = Judge::new(party, table, tries, &contests).await?;
    let evener = |_: usize, one: usize, other: usize, contest: &Contest| -> Weighted {
        Weighted {
            terms: vec![(contest.places[other], 1), (contest.places[one], -1)],
            clear: 1,
        }
    };
    let winners = if alpha == 0 {
        // Relative to the same greatest entropy, the evenest cut has the best score.
        judge
            .winners(party, table, &contests, false, evener)
            .await?
    } else {
        let evenest = judge.winners(party, table, &contests, true, evener).await?;
        let better = |class: usize, one: usize, other: usize, contest: &Contest| -> Weighted {
            let wider = alpha * (contest.widths[other] - contest.widths[one]);
            let weight = (ONE - alpha) * ONE;
            let greatest = evenest[class].map(|at| (contest.places[at], wider));
            let terms = [
                (contest.places[other], weight),
                (contest.places[one], -weight),
            ];
            Weighted {
                terms: greatest.into_iter().chain(terms).collect(),
                clear: weight,
            }
        };
        judge
            .winners(party, table, &contests, false, better)
            .await?
    };
    let pairs = contests.iter().zip(winners);
    Ok(pairs
        .map(|(contest, winner)| contest.places.get(winner?).copied())
        .collect())
}

/// Compares two tries: which is better.
struct Judge {
    /// For each try, this party's summand of the entropy or, once opened, the sum.
    entropies: Vec<u64>,
    is_open: bool,
    /// No site adds more.
    most: i128,
    /// A difference that is clear.
    clear: i128,
}

impl Judge {
    async fn new(
        party: &mut Party,
        table: &Table<'_>,
        tries: &impl Trials,
        contests: &[Contest],
    ) -> Result<Self, Error> {
        let weighed = contests.iter().filter(|contest| contest.is_open());
        let mut places: Vec<usize> = weighed
            .flat_map(|contest| contest.places.iter().copied())
            .collect();
        places.sort_unstable();
        let own = |place: &usize| {
            let owners = tries.owners(*place);
            let sizes = &tries.counted(*place).sizes;
            let parts = owners.chunks(table.sites().max(1)).zip(sizes);
            let terms = parts.flat_map(|(owners, size)| {
                let shares = owners.iter().filter(|count| **count > 0);
                shares.map(|count| *count as f64 / *size as f64)
            });
            // Every site's share of every part is rounded on its own, also at a party of one.
            terms
                .map(|share| (-share * share.ln() * UNIT).round() as u64)
                .sum()
        };
        let mut sums: Vec<u64> = places.iter().map(own).collect();
        let parts = places.iter().map(|place| tries.counted(*place).parts());
        let parts = parts.max().unwrap_or(0) as i128;
        // -x ln x is at most 1/e, and the entropy of a part is at most that of equal shares.
        let most = parts * (UNIT / std::f64::consts::E).ceil() as i128;
        let clear = parts * ((table.sites() as f64).ln() / CLEAR * UNIT).ceil() as i128;
        let is_open = party.settings().security == Security::Published;
        if is_open {
            let own = sums.clone();
            party.sum(ENTROPIES, &mut sums).await?;
            let bound = most.saturating_mul(table.sites() as i128);
            let fits = sums.iter().zip(own);
            let fits = fits.fold(true, |fits, (sum, own)| {
                fits && own <= *sum && i128::from(*sum) <= bound
            });
            party.fit(ENTROPIES, fits, "entropies beyond what sites can add")?;
        }
        let last = places.last().map_or(0, |last| last + 1);
        let mut entropies = vec![0; last];
        for (place, sum) in places.into_iter().zip(sums) {
            entropies[place] = sum;
        }
        Ok(Self {
            entropies,
            is_open,
            most,
            clear,
        })
    }

    /// The place of the winner of each contest, among all or among those that may win; `None` where there
    /// is nobody. Two meet, the second wins if the weighted sum is enough, and winners meet again; all
    /// contests in step. A contest without a choice has no meetings.
    async fn winners(
        &mut self,
        party: &mut Party,
        table: &Table<'_>,
        contests: &[Contest],
        is_among_all: bool,
        weighted: impl Fn(usize, usize, usize, &Contest) -> Weighted,
    ) -> Result<Vec<Option<usize>>, Error> {
        let starting = |contest: &Contest| -> Vec<usize> {
            match is_among_all && contest.is_open() {
                true => (0..contest.places.len()).collect(),
                false => contest.candidates().collect(),
            }
        };
        let mut left: Vec<Vec<usize>> = contests.iter().map(starting).collect();
        while left.iter().any(|left| left.len() > 1) {
            let mut sums = Vec::new();
            for (class, left) in left.iter().enumerate() {
                for pair in left.chunks_exact(2) {
                    sums.push(weighted(class, pair[0], pair[1], &contests[class]));
                }
            }
            let mut second = self.are_enough(party, table, &sums).await?.into_iter();
            for left in &mut left {
                // An odd one goes on without a question.
                let winner = |pair: &[usize]| match pair {
                    [_, other] if second.next().unwrap_or(false) => *other,
                    pair => pair[0],
                };
                *left = left.chunks(2).map(winner).collect();
            }
        }
        let winner = |left: Vec<usize>| left.first().copied();
        Ok(left.into_iter().map(winner).collect())
    }

    /// Which of some weighted sums of all sites' entropies are positive, where entropies are opened;
    /// which are clearly positive, where they are not.
    async fn are_enough(
        &self,
        party: &mut Party,
        table: &Table<'_>,
        sums: &[Weighted],
    ) -> Result<Vec<bool>, Error> {
        let value = |sum: &Weighted| -> i128 {
            let terms = sum.terms.iter();
            terms
                .map(|(place, weight)| i128::from(self.entropies[*place]) * weight)
                .sum()
        };
        if self.is_open {
            return Ok(sums.iter().map(|sum| value(sum) > 0).collect());
        }
        // Every site adds an offset, so that no number is negative.
        let weight = |sum: &Weighted| -> i128 {
            let terms = sum.terms.iter();
            terms.map(|(_, weight)| weight.abs()).sum()
        };
        let offset = sums.iter().map(weight).max().unwrap_or(0) * self.most;
        let bound = 2 * offset * table.sites() as i128 + 1;
        let word = |number: i128| {
            let fits = u64::try_from(number).ok();
            fits.filter(|_| number < MOST).ok_or(Error::Threshold)
        };
        let own: Vec<u64> = sums
            .iter()
            .map(|sum| word(value(sum) + offset * table.voices() as i128))
            .collect::<Result<_, Error>>()?;
        let thresholds: Vec<u64> = sums
            .iter()
            .map(|sum| word(offset * table.sites() as i128 + sum.clear * self.clear + 1))
            .collect::<Result<_, Error>>()?;
        let mut answers = vec![false; own.len()];
        party
            .at_least(EVENER, word(bound)?, &own, &thresholds, &mut answers)
            .await?;
        Ok(answers)
    }
}
