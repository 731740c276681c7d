//! A requirement on what is left of a part, as thresholds on weighted sums of counts: what can be
//! asked of sites that keep their counts to themselves.
//!
//! k, distinct l, frequency l, alpha, recursive (c,2), beta and site diversity are thresholds by
//! themselves. Closeness becomes a threshold once it is known on which side of the table's share each
//! flow lies. For some models the thresholds are stronger than the model, so that the release always
//! satisfies it: entropy l is held by frequency l (the greatest share bounds the entropy) or by a
//! weighted sum that bounds the entropy from below, recursive (c,l) with l above 2 counts every one of
//! the l-1 most frequent values as often as the first, and logarithms and exponentials are rounded to
//! the safe side.
//!
//! What a comparison costs follows its bound, so every threshold is bounded by what all sites know of the
//! part: no site has more of a value than the part has; where no record counts against a threshold, a site
//! need not say more than the threshold; and a share of the table is held against a fraction of which no
//! number is greater than the part. An answer that follows from the counts of the part is not asked, nor is
//! the same question twice.

use std::collections::HashMap;
use std::ops::Range;

use hedgerow_privacy::{Model, Ratio, Reference, TableView};

use super::Demands;
use crate::error::Error;
use crate::horizontal::rows::Share;

/// Shares of a whole as whole numbers, for coefficients that are no fractions.
const UNIT: f64 = (1u64 << 32) as f64;
/// The greatest sum that a comparison takes.
const MOST: i128 = 1 << 62;

/// A weighted sum of the counts of some sites, at least a number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Threshold {
    /// The weight of each record.
    size: i128,
    /// The weight of each record with a value of a range of the sensitive counts.
    values: Vec<(Range<usize>, i128)>,
    /// The weight of each site with records.
    sites: i128,
    least: i128,
}

impl Threshold {
    /// A threshold on the number of records: at least `least`.
    fn records(least: u64) -> Self {
        Self {
            size: 1,
            values: Vec::new(),
            sites: 0,
            least: i128::from(least),
        }
    }

    /// The threshold that a value occurs at least once.
    fn has(value: usize) -> Self {
        Self {
            size: 0,
            values: vec![(value..value + 1, 1)],
            ..Self::records(1)
        }
    }

    /// The threshold that `size` times the records, less `times` times the records with a value, is at
    /// least `least`.
    fn at_most(value: usize, size: i128, times: i128, least: i128) -> Self {
        Self {
            size,
            values: vec![(value..value + 1, -times)],
            sites: 0,
            least,
        }
    }

    /// Whether a flow is positive, in smaller numbers: c of the n records left lie under it, of a part of at
    /// most so many records. c / n is at least the table's share exactly if it is at least the next greater
    /// fraction whose denominator is no greater than the part, and with a denominator as great as the part
    /// and a numerator of 1, if c is at least 1.
    fn sign(&self, records: u64, total: i128) -> Self {
        let (above, below) = next_fraction(-self.size, total, i128::from(records));
        let range = self.values.iter().map(|(range, _)| range.clone());
        if above == 1 && below == i128::from(records) {
            return Self {
                size: 0,
                values: range.map(|range| (range, 1)).collect(),
                ..Self::records(1)
            };
        }
        Self {
            size: -above,
            values: range.map(|range| (range, below)).collect(),
            sites: 0,
            least: 0,
        }
    }

    /// The summand of one site's share.
    fn of(&self, share: &Share) -> i128 {
        let values = self.values.iter().map(|(range, weight)| {
            weight * i128::from(share.sensitive[range.clone()].iter().sum::<u64>())
        });
        self.size * i128::from(share.size) + values.sum::<i128>() + self.sites
    }

    /// The least and the greatest that records of the part can add up to, whoever has them.
    fn span(&self, part: &Known<'_>) -> (i128, i128) {
        let mut span = (0, 0);
        let mut add = |weight: i128, records: u64| {
            let sum = weight * i128::from(records);
            span = (span.0 + sum.min(0), span.1 + sum.max(0));
        };
        let starts = self.values.iter().map(|(range, _)| range.start);
        let ends = self.values.iter().map(|(range, _)| range.end);
        let (start, end) = (starts.min().unwrap_or(0), ends.max().unwrap_or(0));
        // Ranges may lie within each other: where a weight begins and where it ends.
        let mut steps = vec![0; end - start + 1];
        for (range, weight) in &self.values {
            steps[range.start - start] += weight;
            steps[range.end - start] -= weight;
        }
        let mut weight = self.size;
        let mut others = part.records;
        for (count, step) in part.sensitive[start..end].iter().zip(steps) {
            weight += step;
            add(weight, *count);
            others = others.saturating_sub(*count);
        }
        // Records with other values of the attribute, or all.
        add(self.size, others);
        span
    }

    /// The answer, where it is the same whatever records of the part are left.
    fn known(&self, part: &Known<'_>) -> Option<bool> {
        let (low, high) = self.span(part);
        match self.sites {
            0 if self.least <= low => Some(true),
            0 if self.least > high => Some(false),
            _ => None,
        }
    }

    /// Without the values at either end of a range that the part does not have, and in the smallest
    /// numbers: parts that know the same ask the same.
    fn trimmed(mut self, part: &Known<'_>) -> Self {
        for (range, _) in &mut self.values {
            let has = |place: &usize| part.sensitive[*place] > 0;
            let first = range.clone().find(has).unwrap_or(range.end);
            let last = range.clone().rev().find(has).unwrap_or(first);
            *range = first..(last + 1).min(range.end);
        }
        self.values.retain(|(range, _)| !range.is_empty());
        let weights = self.values.iter().map(|(_, weight)| *weight);
        let common = weights.chain([self.sites]).fold(self.size, common_divisor);
        if common > 1 {
            self.size /= common;
            self.sites /= common;
            self.values
                .iter_mut()
                .for_each(|(_, weight)| *weight /= common);
            // The sum is a multiple of the divisor.
            self.least = -(-self.least).div_euclid(common);
        }
        self
    }

    /// The same question in smaller numbers, where these are too large to be compared: weights rounded
    /// down and the threshold up, so that the rounded threshold is never easier to reach.
    fn fitted(mut self, part: &Known<'_>, sites: usize) -> Self {
        loop {
            let (low, high) = self.span(part);
            let reach = (high - low + self.sites).max(self.least.abs());
            if reach.saturating_mul(sites.max(1) as i128) < MOST / 2 {
                return self;
            }
            self.size = self.size.div_euclid(2);
            self.values
                .iter_mut()
                .for_each(|(_, weight)| *weight = weight.div_euclid(2));
            self.sites = self.sites.div_euclid(2);
            self.least = -(-self.least).div_euclid(2);
        }
    }
}

/// What all sites know of a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'p> {
    pub(super) records: u64,
    /// How often each sensitive value occurs, one attribute after the other.
    pub(super) sensitive: &'p [u64],
}

/// A threshold made ready for a comparison of numbers that are never negative: every site adds an
/// offset, known to all.
pub(super) struct Posed {
    pub(super) own: u64,
    pub(super) threshold: u64,
    pub(super) bound: u64,
}

impl Threshold {
    /// Poses the threshold to the sites outside a coalition: `shares` are the shares of the sites among
    /// them whose records are here, `speaks_for` is how many of them this party speaks for, and
    /// `outside` how many there are.
    pub(super) fn pose<'s>(
        &self,
        part: &Known<'_>,
        shares: impl Iterator<Item = &'s Share>,
        speaks_for: usize,
        outside: usize,
    ) -> Result<Posed, Error> {
        let (low, high) = self.span(part);
        let outside = outside as i128;
        let high = high + self.sites * outside;
        // Fitted numbers stay far below 2^62, so all of these sums fit.
        let word = |number: i128| u64::try_from(number).map_err(|_| Error::Threshold);
        let summands = shares.map(|share| self.of(share));
        if low == 0 && self.least > 0 {
            // Nothing counts against it: who has enough alone need not say how much more.
            let bound = high.min(self.least * outside);
            return Ok(Posed {
                own: word(summands.map(|summand| summand.min(self.least)).sum())?,
                threshold: word(self.least.min(bound + 1))?,
                bound: word(bound)?,
            });
        }
        let bound = high - low * outside;
        // A threshold that is always reached becomes 0; a threshold that is never reached lies above the
        // bound.
        let threshold = (self.least - low * outside).clamp(0, bound + 1);
        Ok(Posed {
            own: word(summands.sum::<i128>() - low * speaks_for as i128)?,
            threshold: word(threshold)?,
            bound: word(bound)?,
        })
    }
}

/// The questions about what is left of a part, each once.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) questions: Vec<Threshold>,
    places: HashMap<Threshold, usize>,
}

/// An answer about what is left of a part.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    /// It follows from the counts of the part.
    Known(bool),
    /// The place of the question.
    Asked(usize),
}

impl Answer {
    /// The answer, once the questions are answered.
    pub(super) fn of(self, answers: &[bool]) -> bool {
        match self {
            Self::Known(answer) => answer,
            Self::Asked(place) => answers.get(place) == Some(&true),
        }
    }
}

impl Asked {
    fn ask(&mut self, threshold: Threshold, part: &Known<'_>, sites: usize) -> Answer {
        let threshold = threshold.trimmed(part).fitted(part, sites);
        if let Some(answer) = threshold.known(part) {
            return Answer::Known(answer);
        }
        let next = self.questions.len();
        let place = *self.places.entry(threshold.clone()).or_insert(next);
        if place == next {
            self.questions.push(threshold);
        }
        Answer::Asked(place)
    }
}

/// Something a remainder must satisfy, and the answers that tell.
#[derive(Debug)]
pub(super) struct Demand {
    pub(super) answers: Vec<Answer>,
    pub(super) rule: Rule,
}

/// A demand as thresholds.
struct Thresholds {
    questions: Vec<Threshold>,
    rule: Rule,
}

/// How the answers tell.
#[derive(Debug)]
pub(super) enum Rule {
    /// All thresholds hold.
    All,
    /// At least so many of the thresholds hold.
    Some(u64),
    /// All thresholds but the last few hold, or one of the last few does.
    AllOrOne {
        /// How many the last are.
        other_ways: usize,
    },
    /// One more question follows from the answers: whether the flows together are small enough.
    Close(Close),
}

/// Closeness: the distance is a sum of flows, each positive or negative as a first answer tells.
#[derive(Debug)]
pub(super) struct Close {
    /// The flows, in full: what is asked of their signs is the same in smaller numbers.
    flows: Vec<Threshold>,
    weights: Vec<i128>,
    /// t times scale, as a fraction.
    most: (i128, i128),
    /// Records of the table.
    total: i128,
}

impl Close {
    /// The question that is left once it is known which flows are positive.
    pub(super) fn question(
        &self,
        is_positive: &[bool],
        part: &Known<'_>,
        sites: usize,
    ) -> Threshold {
        let (numerator, denominator) = self.most;
        // numerator * size * total - denominator * sum of weight * |flow| >= 0
        let mut sum = Threshold {
            size: numerator * self.total,
            values: Vec::with_capacity(self.flows.len()),
            sites: 0,
            least: 0,
        };
        for ((flow, weight), is_positive) in self.flows.iter().zip(&self.weights).zip(is_positive) {
            let factor = if *is_positive { -1 } else { 1 } * denominator * weight;
            sum.size += factor * flow.size;
            let values = flow.values.iter();
            sum.values
                .extend(values.map(|(range, each)| (range.clone(), factor * each)));
        }
        sum.trimmed(part).fitted(part, sites)
    }
}

/// What the models demand of the rest of a part, and the questions that tell; the first answer is
/// whether anything is left.
pub(super) fn demands(
    wanted: &Demands<'_>,
    table: &TableView<'_>,
    part: &Known<'_>,
    sites: usize,
) -> (Asked, Vec<Demand>) {
    let mut found = vec![Thresholds {
        questions: vec![Threshold::records(1)],
        rule: Rule::All,
    }];
    for model in &wanted.requirement.models {
        let mut from = 0;
        match model {
            Model::KAnonymity { k } => found.push(Thresholds {
                questions: vec![Threshold::records(*k)],
                rule: Rule::All,
            }),
            Model::SiteDiversity { l, .. } if *l > 1 => found.push(Thresholds {
                questions: vec![Threshold {
                    size: 0,
                    sites: 1,
                    ..Threshold::records(*l)
                }],
                rule: Rule::All,
            }),
            // Refused with colluders before a run begins.
            Model::SiteDiversity { .. } | Model::SiteSpread { .. } => {}
            _ => {
                for (index, reference) in table.references.iter().enumerate() {
                    let counts = &part.sensitive[from..from + reference.counts().len()];
                    let attribute = Attribute {
                        from,
                        counts,
                        reference,
                    };
                    found.extend(attribute.demand(model, table, index));
                    from += counts.len();
                }
            }
        }
    }
    let mut asked = Asked::default();
    let demands = found.into_iter().map(|demand| {
        let questions = demand.questions.into_iter();
        let answers = questions.map(|threshold| asked.ask(threshold, part, sites));
        Demand {
            answers: answers.collect(),
            rule: demand.rule,
        }
    });
    let demands = demands.collect();
    (asked, demands)
}

/// A sensitive attribute of a part.
struct Attribute<'a> {
    /// The place where the attribute's counts begin.
    from: usize,
    counts: &'a [u64],
    reference: &'a Reference,
}

impl Attribute<'_> {
    fn demand(&self, model: &Model, table: &TableView<'_>, index: usize) -> Option<Thresholds> {
        let (questions, rule) = match model {
            Model::DistinctDiversity { l } => {
                let values = self.present();
                (
                    values
                        .map(|value| Threshold::has(self.from + value))
                        .collect(),
                    Rule::Some(*l),
                )
            }
            // count/size <= alpha
            Model::Alpha { alpha } => (self.shares(*alpha, false), Rule::All),
            Model::FrequencyDiversity { l } => (self.shares(inverse(*l), false), Rule::All),
            Model::EntropyDiversity { l } => {
                let mut questions = self.shares(inverse(*l), false);
                let bounds = self.entropy_bounds(*l);
                let other_ways = bounds.len();
                questions.extend(bounds);
                (questions, Rule::AllOrOne { other_ways })
            }
            Model::RecursiveDiversity { c, l } => {
                // r_1 < c (size - (l-1) r_1)
                let (c, scale) = c.parts();
                let times = scale.saturating_add(c.saturating_mul(u128::from(l.saturating_sub(1))));
                (self.shares(Ratio::new(c, times), true), Rule::All)
            }
            Model::Likeness { beta, enhanced } => (self.gains(*beta, *enhanced), Rule::All),
            Model::DeltaDisclosure { delta } => (self.within(*delta), Rule::All),
            Model::Closeness { t, .. } => {
                let (flows, scale) = table.movers[index].flows();
                let (numerator, denominator) = t.parts();
                let total = i128::from(self.reference.total());
                // total * (class under the flow) - (table under the flow) * size >= 0
                let sign = |range: Range<usize>| {
                    let under: u64 = self.reference.counts()[range.clone()].iter().sum();
                    Threshold {
                        size: -i128::from(under),
                        values: vec![(self.from + range.start..self.from + range.end, total)],
                        sites: 0,
                        least: 0,
                    }
                };
                let weights = flows.iter().map(|flow| i128::from(flow.weight)).collect();
                let flows = flows.into_iter().map(|flow| sign(flow.values));
                let flows: Vec<Threshold> = flows.collect();
                let records: u64 = self.counts.iter().sum();
                let signs = flows.iter().map(|flow| flow.sign(records, total)).collect();
                let close = Close {
                    flows,
                    weights,
                    most: (wide(numerator) * i128::from(scale), wide(denominator)),
                    total,
                };
                (signs, Rule::Close(close))
            }
            _ => return None,
        };
        Some(Thresholds { questions, rule })
    }

    /// The values that occur in the part: others occur in no remainder.
    fn present(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.counts.len()).filter(|value| self.counts[*value] > 0)
    }

    /// No value is more frequent than a share, or than just below it.
    fn shares(&self, share: Ratio, is_strict: bool) -> Vec<Threshold> {
        let (numerator, denominator) = share.parts();
        let least = i128::from(is_strict);
        let values = self.present();
        values
            .map(|value| {
                Threshold::at_most(self.from + value, wide(numerator), wide(denominator), least)
            })
            .collect()
    }

    /// Entropy at least log l, from below. With n records and c_v of each value left, n H = n log n -
    /// sum of c_v log c_v. Counts only fall, so log c_v is at most its value in the whole part; and n
    /// log n lies above each of its tangents. Both make the sum linear: one question for each tangent.
    fn entropy_bounds(&self, l: Ratio) -> Vec<Threshold> {
        let records: u64 = self.counts.iter().sum();
        let at_tangent = |touched: f64| {
            let size = touched.log2() + std::f64::consts::LOG2_E - l.to_f64().log2();
            let values = self.present().map(|value| {
                let weight = (self.counts[value] as f64).log2() * UNIT + 1.0;
                (
                    self.from + value..self.from + value + 1,
                    -(weight.ceil() as i128),
                )
            });
            Threshold {
                size: (size * UNIT - 1.0).floor() as i128,
                values: values.collect(),
                sites: 0,
                least: (touched * std::f64::consts::LOG2_E * UNIT + 1.0).ceil() as i128,
            }
        };
        [1.0, 0.75, 0.5]
            .map(|share| at_tangent(share * records as f64))
            .into()
    }

    /// count/size <= p (1 + beta), and <= p (1 - ln p) where the enhanced form caps the share too.
    fn gains(&self, beta: Ratio, enhanced: bool) -> Vec<Threshold> {
        let (beta, scale) = beta.parts();
        let total = self.reference.total();
        let mut questions = Vec::new();
        for value in self.present() {
            let in_table = self.reference.count(value as u32);
            let size = wide(scale.saturating_add(beta)).saturating_mul(i128::from(in_table));
            let times = wide(scale).saturating_mul(i128::from(total));
            questions.push(Threshold::at_most(self.from + value, size, times, 0));
            if enhanced {
                let share = in_table as f64 / total as f64;
                let cap = (share * (1.0 - share.ln()) * UNIT - 1.0).floor() as i128;
                questions.push(Threshold::at_most(self.from + value, cap, UNIT as i128, 0));
            }
        }
        questions
    }

    /// p e^-delta < count/size < p e^delta for each value of the table; a value that is not left lies
    /// below the lower bound.
    fn within(&self, delta: f64) -> Vec<Threshold> {
        let in_table = self.reference.counts().iter().enumerate();
        let in_table = in_table.filter(|(_, count)| **count > 0);
        let mut questions = Vec::new();
        for (value, count) in in_table {
            let share = *count as f64 / self.reference.total() as f64;
            let at = self.from + value;
            // Far beyond 1 a share is no bound at all.
            let most = (share * delta.exp()).min(2.0);
            let high = (most * UNIT - 1.0).floor() as i128;
            // The lower bound is at least 1, so that a value that is not left fails, however large delta is.
            let low = (share * (-delta).exp() * UNIT + 1.0).ceil() as i128;
            questions.push(Threshold::at_most(at, high, UNIT as i128, 1));
            questions.push(Threshold::at_most(at, -low, -(UNIT as i128), 1));
        }
        questions
    }
}

/// The least fraction that is at least `numerator / denominator`, with a denominator of at most `most`:
/// down the tree of Stern and Brocot. The fraction lies above 0 and is at most 1.
fn next_fraction(numerator: i128, denominator: i128, most: i128) -> (i128, i128) {
    // Neighbours, the first below the fraction, the second at least as great.
    let (mut below, mut above) = ((0, 1), (1, 1));
    loop {
        let under = numerator * below.1 - below.0 * denominator;
        let over = above.0 * denominator - numerator * above.1;
        if over == 0 || under <= 0 {
            return above;
        }
        let down = (over / under).min((most - above.1) / below.1).max(0);
        above = (above.0 + down * below.0, above.1 + down * below.1);
        let over = above.0 * denominator - numerator * above.1;
        if over == 0 {
            return above;
        }
        let up = ((under - 1) / over).min((most - below.1) / above.1).max(0);
        below = (below.0 + up * above.0, below.1 + up * above.1);
        if down == 0 && up == 0 {
            return above;
        }
    }
}

fn common_divisor(one: i128, other: i128) -> i128 {
    let (mut one, mut other) = (one.abs(), other.abs());
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

fn inverse(ratio: Ratio) -> Ratio {
    let (numerator, denominator) = ratio.parts();
    Ratio::new(denominator, numerator)
}

/// Numerators and denominators come from decimals that people write: 36 digits at most, in
/// practice a few.
fn wide(number: u128) -> i128 {
    i128::try_from(number).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use hedgerow_privacy::closeness::{Distance, EarthMover};
    use hedgerow_privacy::m_privacy;
    use hedgerow_privacy::{ClassView, Counts, Requirement, Sensitive};
    use proptest::prelude::*;

    use super::*;

    /// Whether thresholds and the model itself find what is left of a table close to the table.
    fn is_close(table: &[u64], left: &[u64], t: Ratio, distance: Distance) -> (bool, bool) {
        const SITES: usize = 3;
        let closeness = Model::Closeness {
            t,
            distance: Some(distance),
        };
        let references = [Reference::new(table.to_vec())];
        let view = TableView {
            references: &references,
            movers: vec![EarthMover::new(&references[0], distance, None)],
        };
        let requirement = Requirement {
            models: vec![closeness.clone()],
            m: Some(1),
            k_printed: None,
            sensitive: Sensitive::Each,
        };
        let wanted = Demands {
            requirement: &requirement,
            sensitive: Vec::new(),
            strategy: m_privacy::Strategy::Direct,
            contributors: false,
        };
        let records = table.iter().sum();
        let share = Share {
            site: 0,
            size: left.iter().sum(),
            sensitive: left.to_vec(),
        };
        let part = Known {
            records,
            sensitive: table,
        };
        let reaches = |threshold: &Threshold| {
            let posed = threshold.pose(&part, [&share].into_iter(), 1, 1).unwrap();
            assert!(posed.own <= posed.bound, "{} of {}", posed.own, posed.bound);
            posed.own >= posed.threshold
        };
        let (asked, demands) = demands(&wanted, &view, &part, SITES);
        let answers: Vec<bool> = asked.questions.iter().map(reaches).collect();
        let [_, demand] = demands.as_slice() else {
            panic!("{demands:?}");
        };
        let Rule::Close(close) = &demand.rule else {
            panic!("{demand:?}");
        };
        let signs = demand.answers.iter();
        let signs: Vec<bool> = signs.map(|answer| answer.of(&answers)).collect();
        let values: Vec<u32> = (0..left.len() as u32).collect();
        let class = ClassView {
            size: share.size,
            sensitive: &[Counts::new(&values, left)],
            sites: None,
        };
        (
            reaches(&close.question(&signs, &part, SITES)),
            closeness.holds(&class, &view),
        )
    }

    /// Where flows are rounded to fit and the table's size is not, half of a table that is nothing
    /// like the whole counts as close to it.
    #[test]
    fn closeness_of_large_tables_is_not_rounded_away() {
        for records in [
            6_000,
            600_000_000,
            700_000_000,
            2_000_000_000,
            4_000_000_000,
        ] {
            let table = [records / 2, records / 4, records / 4];
            for distance in [Distance::Equal, Distance::Ordered] {
                let close = |left: [u64; 3]| is_close(&table, &left, Ratio::new(1, 10), distance);
                let alike = table.map(|count| count / 2);
                assert_eq!(close(alike), (true, true), "{records}");
                let one_sided = [records / 2, 0, 0];
                assert_eq!(close(one_sided), (false, false), "{records}");
            }
        }
    }

    proptest! {
        /// What thresholds find close is close, however large the table; and what is close by more than
        /// rounding can take away, thresholds find close.
        #[test]
        fn thresholds_find_nothing_close_that_is_not(
            counts in prop::collection::vec(
                (1u64..800_000_000).prop_flat_map(|most| (Just(most), 0..=most)),
                2..6,
            ),
            percent in 1u128..60,
            is_ordered in any::<bool>(),
        ) {
            let (table, left): (Vec<u64>, Vec<u64>) = counts.into_iter().unzip();
            prop_assume!(left.iter().any(|count| *count > 0));
            let distance = if is_ordered { Distance::Ordered } else { Distance::Equal };
            let (is_found, is_so) = is_close(&table, &left, Ratio::new(percent, 100), distance);
            prop_assert!(!is_found || is_so);
            let (_, is_so_by_more) = is_close(&table, &left, Ratio::new(percent * 99, 10_000), distance);
            prop_assert!(is_found || !is_so_by_more);
        }
    }

    fn posed(threshold: &Threshold, size: u64) -> Option<(u64, u64, u64)> {
        let share = Share {
            site: 0,
            size,
            sensitive: vec![size, 0],
        };
        let part = Known {
            records: 10,
            sensitive: &[8, 2],
        };
        let posed = threshold.pose(&part, [share].iter(), 1, 3).ok()?;
        Some((posed.own, posed.threshold, posed.bound))
    }

    #[test]
    fn thresholds_are_posed_in_numbers_that_are_never_negative() {
        // No site need say more than 4, and three sites say no more than the part has.
        assert_eq!(posed(&Threshold::records(4), 7), Some((4, 4, 10)));
        assert_eq!(posed(&Threshold::records(1), 7), Some((1, 1, 3)));
        // Never reached, and always.
        assert_eq!(posed(&Threshold::records(99), 7), Some((7, 11, 10)));
        let always = Threshold::at_most(0, 1, 2, -99);
        assert_eq!(posed(&always, 7), Some((1, 0, 26)));
        // At most half of the records may have the value: 7 - 14, and an offset of 8 for each of three.
        let half = Threshold::at_most(0, 1, 2, 0);
        assert_eq!(posed(&half, 7), Some((1, 24, 26)));
    }

    /// Numbers that do not fit end the run; counted as 0 they would give an answer.
    #[test]
    fn a_share_beyond_the_part_is_an_error() {
        let fewer = Threshold::at_most(0, 0, 1, -5);
        assert_eq!(posed(&fewer, 8), Some((0, 19, 24)));
        assert_eq!(posed(&fewer, 9), None);
        let vast = Threshold::at_most(0, i128::from(u64::MAX), 1, 0);
        assert_eq!(posed(&vast, 1), None);
    }

    #[test]
    fn what_follows_from_the_part_is_not_asked_and_nothing_is_asked_twice() {
        let part = Known {
            records: 10,
            sensitive: &[0, 8, 0, 2],
        };
        let mut asked = Asked::default();
        let mut ask = |values: Range<usize>, size, weight, least| {
            let threshold = Threshold {
                size,
                values: vec![(values, weight)],
                sites: 0,
                least,
            };
            asked.ask(threshold, &part, 3)
        };
        assert!(matches!(ask(0..1, 0, 1, 1), Answer::Known(false)));
        assert!(matches!(ask(0..4, -1, 2, 0), Answer::Known(true)));
        assert!(matches!(ask(0..2, 0, 1, 1), Answer::Asked(0)));
        assert!(matches!(ask(1..3, 0, 3, 2), Answer::Asked(0)));
        assert!(matches!(ask(1..4, 0, 1, 1), Answer::Asked(1)));
        assert!(matches!(ask(0..3, -1, 2, 0), Answer::Asked(2)));
        assert_eq!(asked.questions.len(), 3);
    }

    proptest! {
        /// Smaller numbers give the same signs: of every number of records of a part, and of those of them
        /// that lie under a flow.
        #[test]
        fn small_fractions_find_the_sign_of_every_flow(
            total in 1u64..5_000,
            share in 0u64..5_000,
            part in 1u64..60,
            under in 0u64..60,
        ) {
            let (in_table, under) = (share % total + 1, under % (part + 1));
            let counts = [under, part - under];
            let known = Known { records: part, sensitive: &counts };
            let flow = Threshold {
                size: -i128::from(in_table),
                values: vec![(0..1, i128::from(total))],
                sites: 0,
                least: 0,
            };
            let sign = flow.sign(part, i128::from(total));
            prop_assert!(sign.size.abs() <= i128::from(part));
            for left in 1..=part {
                for has in 0..=under.min(left) {
                    if left - has > part - under {
                        continue;
                    }
                    let share = Share { site: 0, size: left, sensitive: vec![has, left - has] };
                    let mut asked = Asked::default();
                    let answer = asked.ask(sign.clone(), &known, 3);
                    let answers: Vec<bool> = asked.questions.iter().map(|question| {
                        let posed = question.pose(&known, [&share].into_iter(), 1, 3).unwrap();
                        let others = question.pose(&known, [].into_iter(), 2, 3).unwrap();
                        assert!(posed.own + others.own <= posed.bound);
                        posed.own + others.own >= posed.threshold
                    }).collect();
                    let is_positive = has * total >= in_table * left;
                    prop_assert_eq!(answer.of(&answers), is_positive, "{} of {}", has, left);
                }
            }
        }
    }
}
