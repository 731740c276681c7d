//! Minimum, maximum and kth element: a search of public domains by comparisons alone.
//!
//! `published`: JX08 Algorithm 3 (probabilistic laps on a ring) for extremes, and Algorithm 4 (halving
//! with revealed counts) for the kth element. The paper's search may not end with ties; here the kth
//! element is the smallest value with at least k records at or below it, and the search ends at a single
//! value. The search goes over the public domain; the paper narrows the domain first by a minimum and a
//! maximum, which a caller may do by asking for [`ranges`](Party::ranges). `hardened`: JX09 section 3
//! after Aggarwal, Mishra and Pinkas (EUROCRYPT 2004): in each step what is left of the domain is cut
//! into `fan_out` parts and one bit per cut is opened. The bits are monotone, so they say where the
//! answer lies and nothing more. Steps are log M to the base of the fan-out, of two rounds for the kth
//! element and three for extremes, for any number of questions at once. Where few values are left, over
//! all questions, one step asks about every one of them.
//!
//! # Discloses
//! For each question its answer, to all sites; at the published level also running values to the
//! successor on the ring and counts at each candidate to all. [`crate::bits`] (extremes) and
//! [`crate::compare`] (kth) say what colluding sites learn.

mod probabilistic;
mod search;

use std::ops::RangeInclusive;

use crate::bits::Junction;
use crate::compare::{Bounds, Question};
use crate::error::{Error, OwnConfig, OwnData};
use crate::ledger::{Sealed, To, What};
use crate::party::{Engine, Party};
use crate::settings::Security;
use crate::wire::Primitive;
pub use probabilistic::RUNNING;
use search::Search;
pub(crate) use search::size_of;

/// In the ledger of every extreme between two sites.
const TWO_SITES: &str = "with two sites an extreme that is not one's own is the other's";
/// In the ledger of every hardened extreme between three sites or more.
const ROLES: &str = "two of the three sites with roles can learn together how many sites lie on \
                     either side of each cut";
/// The counts that JX08 Algorithm 4 shows on its way.
pub const CANDIDATES: What = What::new(
    "records at or below each candidate of the search",
    "JX08 Algorithm 4",
);

/// A question for the kth element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rank {
    /// The rank k: the answer is the smallest value with at least k records at or below it.
    pub rank: u64,
    /// The public domain of the values.
    pub domain: RangeInclusive<u64>,
}

/// The end of a domain that is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Low,
    High,
}

impl Party {
    /// Replaces each value by the smallest of all sites' values for that question. `None` stands for a
    /// site without a value, and for the answer where no site has a value.
    pub async fn minimum(
        &mut self,
        what: What,
        domain_of: impl Fn(usize) -> RangeInclusive<u64>,
        values: &mut [Option<u64>],
    ) -> Result<(), Error> {
        self.extremes(what, |index| (End::Low, domain_of(index)), values)
            .await
    }

    /// As [`Party::minimum`], with the largest value.
    pub async fn maximum(
        &mut self,
        what: What,
        domain_of: impl Fn(usize) -> RangeInclusive<u64>,
        values: &mut [Option<u64>],
    ) -> Result<(), Error> {
        self.extremes(what, |index| (End::High, domain_of(index)), values)
            .await
    }

    /// Replaces each pair by the smallest and the largest of all sites' values, in the rounds of
    /// one search.
    pub async fn ranges(
        &mut self,
        what: What,
        domain_of: impl Fn(usize) -> RangeInclusive<u64>,
        ranges: &mut [Option<(u64, u64)>],
    ) -> Result<(), Error> {
        let checked = self.check_fan_out();
        let checked = checked.and_then(|()| check_ranges(ranges, &domain_of));
        if self.sites == 1 || checked.is_err() {
            self.calls += 1;
            return checked;
        }
        let mut ends: Vec<Option<u64>> = ranges
            .iter()
            .flat_map(|range| [range.map(|(low, _)| low), range.map(|(_, high)| high)])
            .collect();
        let end = |index: usize| {
            if index.is_multiple_of(2) {
                End::Low
            } else {
                End::High
            }
        };
        self.extremes(what, |index| (end(index), domain_of(index / 2)), &mut ends)
            .await?;
        for (range, ends) in ranges.iter_mut().zip(ends.chunks_exact(2)) {
            *range = ends[0].zip(ends[1]);
        }
        Ok(())
    }

    /// Sets each answer to the kth element of all sites' records for that question, or to `None`
    /// where there are fewer than k.
    ///
    /// `at_most(question, value)` counts this site's records at or below a value; over all sites
    /// no count of a question is above its public number of `records`.
    pub async fn kth(
        &mut self,
        what: What,
        records: impl Into<Bounds<'_>>,
        questions: &[Rank],
        mut at_most: impl FnMut(usize, u64) -> u64,
        answers: &mut [Option<u64>],
    ) -> Result<(), Error> {
        self.calls += 1;
        if questions.len() != answers.len() {
            let (left, right) = (questions.len(), answers.len());
            return Err(Error::OwnConfig(OwnConfig::Lengths { left, right }));
        }
        self.check_fan_out()?;
        let records = records.into();
        records.check(questions.len())?;
        for (index, question) in questions.iter().enumerate() {
            size_of(index, &question.domain)?;
        }
        let mut count = |index: usize, value: u64| {
            let count = at_most(index, value);
            let fits = (count <= records.at(index)).then_some(count);
            fits.ok_or(Error::OwnData(OwnData::AboveBound { index }))
        };
        if self.sites == 1 {
            return kth_alone(questions, count, answers);
        }
        let (fan_out, at_once) = match self.is_published() {
            true => (2, 0),
            false => (self.settings.fan_out, self.settings.at_once),
        };
        let mut search = Search::new((fan_out, at_once), answers.len(), |index| {
            questions[index].domain.clone()
        })?;
        let on_the_way: &[What] = if self.is_published() {
            &[CANDIDATES]
        } else {
            &[]
        };
        let asked = questions
            .iter()
            .fold(
                self.asking(what, on_the_way)?
                    .words(records.words())
                    .word(questions.len() as u64),
                |asking, question| asking.word(question.rank).domain(&question.domain),
            )
            .finish();
        let caveat = self.compare_caveat();
        let begun = self.begin(what, Primitive::Kth, caveat, answers.len());
        search.ask();
        // A call without questions is made too, so that every site begins the same calls.
        loop {
            let counts: Vec<u64> = search
                .asked()
                .map(|(index, value)| count(index, value))
                .collect::<Result<_, Error>>()?;
            let thresholds: Vec<u64> = search
                .asked()
                .map(|(index, _)| questions[index].rank)
                .collect();
            let bounds: Vec<u64> = search.asked().map(|(index, _)| records.at(index)).collect();
            let bits = self.reach(asked, &bounds, counts, &thresholds).await?;
            search.answer(&bits);
            if !search.ask() {
                break;
            }
        }
        search.write(answers);
        self.ledger.finish(begun, Sealed::new(answers));
        Ok(())
    }

    /// One step of the kth element: whether the counts reach the ranks.
    async fn reach(
        &mut self,
        asked: u64,
        records: &[u64],
        mut counts: Vec<u64>,
        thresholds: &[u64],
    ) -> Result<Vec<bool>, Error> {
        if self.is_published() {
            let caveat = self.sum_caveat();
            let sealed = self
                .sealed_sum(Primitive::Kth, asked, None, &mut counts)
                .await?;
            let sums = self.open(CANDIDATES, Primitive::Kth, To::All, caveat, sealed);
            let reached = sums.iter().zip(thresholds);
            let reached = reached.map(|(sum, least)| sum >= least).collect();
            let mut pairs = sums.iter().zip(records);
            let fits = pairs.all(|(sum, records)| sum <= records);
            self.fit(CANDIDATES, fits, "more records than there are")?;
            return Ok(reached);
        }
        let mut bits = vec![false; counts.len()];
        let question = Question {
            bounds: records.into(),
            counts: &counts,
            thresholds,
        };
        // Monotone bits: they follow from the kth element.
        self.sealed_at_least(Primitive::Kth, asked, &question, &mut bits)
            .await?
            .implied();
        Ok(bits)
    }

    async fn extremes(
        &mut self,
        what: What,
        question: impl Fn(usize) -> (End, RangeInclusive<u64>),
        values: &mut [Option<u64>],
    ) -> Result<(), Error> {
        self.calls += 1;
        self.check_fan_out()?;
        for (index, value) in values.iter().enumerate() {
            let (_, domain) = question(index);
            size_of(index, &domain)?;
            if value.is_some_and(|value| !domain.contains(&value)) {
                return Err(Error::OwnData(OwnData::OutsideDomain { index }));
            }
        }
        if self.sites == 1 {
            return Ok(());
        }
        let on_the_way: &[What] = if self.is_published() { &[RUNNING] } else { &[] };
        let asked = (0..values.len())
            .map(&question)
            .fold(
                self.asking(what, on_the_way)?.word(values.len() as u64),
                |asking, (end, domain)| asking.word(end as u64).domain(&domain),
            )
            .finish();
        let caveat = self.extremes_caveat();
        let begun = self.begin(what, Primitive::Extremum, caveat, values.len());
        if let Engine::Ideal(chair) = &self.engine {
            let ends: Vec<End> = (0..values.len()).map(|index| question(index).0).collect();
            let answer = chair
                .ask(Primitive::Extremum, asked, values.to_vec(), |inputs| {
                    ideal_extremes(&ends, inputs)
                })
                .await?;
            values.copy_from_slice(&answer);
        } else if self.is_published() {
            self.extremes_on_a_ring(asked, question, values).await?;
        } else {
            self.searched_extremes(asked, question, values).await?;
        }
        self.ledger.finish(begun, Sealed::new(values));
        Ok(())
    }

    pub(crate) fn extremes_caveat(&self) -> Option<&'static str> {
        match self.settings.security {
            _ if self.sites == 2 => Some(TWO_SITES),
            Security::Published => None,
            Security::Hardened => Some(ROLES),
        }
    }

    /// A fan-out that no search can use is refused by every party, also by one alone.
    pub(crate) fn check_fan_out(&self) -> Result<(), Error> {
        if !self.is_published() && self.settings.fan_out < 2 {
            return Err(Error::OwnConfig(OwnConfig::FanOut));
        }
        Ok(())
    }

    /// Places are counted from the end that is asked for, so that every question is a minimum.
    async fn searched_extremes(
        &mut self,
        asked: u64,
        question: impl Fn(usize) -> (End, RangeInclusive<u64>),
        values: &mut [Option<u64>],
    ) -> Result<(), Error> {
        let domain = |index: usize| question(index).1;
        let steps = (self.settings.fan_out, self.settings.at_once);
        let mut search = Search::new(steps, values.len(), domain)?;
        let from_end = |index: usize, value: u64| {
            let (end, domain) = question(index);
            match end {
                End::Low => value,
                End::High => domain.start() + (domain.end() - value),
            }
        };
        search.ask();
        // A call without questions is made too, so that every site begins the same calls.
        loop {
            let mut bits: Vec<bool> = search
                .asked()
                .map(|(index, cut)| {
                    values[index].is_some_and(|value| from_end(index, value) <= cut)
                })
                .collect();
            // Monotone bits: they follow from the extreme.
            self.sealed_junction(Primitive::Extremum, asked, Junction::Any, &mut bits)
                .await?
                .implied();
            search.answer(&bits);
            if !search.ask() {
                break;
            }
        }
        search.write(values);
        for (index, value) in values.iter_mut().enumerate() {
            *value = value.map(|value| from_end(index, value));
        }
        Ok(())
    }
}

/// The ideal answer: the wanted end of all sites' values.
fn ideal_extremes(ends: &[End], inputs: &[Vec<Option<u64>>]) -> Vec<Option<u64>> {
    let extreme = |(index, end): (usize, &End)| {
        let held = inputs.iter().filter_map(|input| input[index]);
        match end {
            End::Low => held.min(),
            End::High => held.max(),
        }
    };
    ends.iter().enumerate().map(extreme).collect()
}

pub(crate) fn check_ranges(
    ranges: &[Option<(u64, u64)>],
    domain_of: &impl Fn(usize) -> RangeInclusive<u64>,
) -> Result<(), Error> {
    for (index, range) in ranges.iter().enumerate() {
        let domain = domain_of(index);
        size_of(index, &domain)?;
        if let Some((low, high)) = range {
            if !domain.contains(low) || !domain.contains(high) {
                return Err(Error::OwnData(OwnData::OutsideDomain { index }));
            }
            if low > high {
                return Err(Error::OwnData(OwnData::Reversed { index }));
            }
        }
    }
    Ok(())
}

/// A party of one halves its own domain; nothing is allocated.
fn kth_alone(
    questions: &[Rank],
    mut count: impl FnMut(usize, u64) -> Result<u64, Error>,
    answers: &mut [Option<u64>],
) -> Result<(), Error> {
    for (index, (question, answer)) in questions.iter().zip(answers).enumerate() {
        let (mut low, mut high) = (*question.domain.start(), *question.domain.end());
        if count(index, high)? < question.rank {
            *answer = None;
            continue;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if count(index, middle)? >= question.rank {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        *answer = Some(low);
    }
    Ok(())
}
