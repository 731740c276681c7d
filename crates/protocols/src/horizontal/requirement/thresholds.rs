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
#[derive(Debug, Clone, PartialEq, Eq)]
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

    /// The threshold of at least one record.
    pub(super) fn somebody() -> Self {
        Self::records(1)
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

    /// The summand of one site's share.
    fn of(&self, share: &Share) -> i128 {
        let values = self.values.iter().map(|(range, weight)| {
            weight * i128::from(share.sensitive[range.clone()].iter().sum::<u64>())
        });
        self.size * i128::from(share.size) + values.sum::<i128>() + self.sites
    }

    /// The least and the greatest summand of a site with at most so many records.
    fn span(&self, records: u64) -> (i128, i128) {
        let weights = self.values.iter().map(|(_, weight)| *weight);
        let weights = weights
            .chain([self.size])
            .map(|weight| weight * i128::from(records));
        weights
            .chain([self.sites])
            .fold((0, 0), |(low, high), weight| {
                (low + weight.min(0), high + weight.max(0))
            })
    }

    /// The same question in smaller numbers, where these are too large to be compared: weights rounded
    /// down and the threshold up, so that the rounded threshold is never easier to reach.
    fn fitted(mut self, records: u64, sites: usize) -> Self {
        loop {
            let (low, high) = self.span(records);
            let reach = (high - low).max(self.least.abs());
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
        records: u64,
        shares: impl Iterator<Item = &'s Share>,
        speaks_for: usize,
        outside: usize,
    ) -> Result<Posed, Error> {
        let (low, high) = self.span(records);
        let own: i128 = shares.map(|share| self.of(share)).sum();
        // Fitted numbers stay far below 2^62, so all of these sums fit.
        let word = |number: i128| u64::try_from(number).map_err(|_| Error::Threshold);
        let bound = (high - low) * outside as i128;
        // A threshold that is always reached becomes 0; a threshold that is never reached lies above the
        // bound.
        let threshold = (self.least - low * outside as i128).clamp(0, bound + 1);
        Ok(Posed {
            own: word(own - low * speaks_for as i128)?,
            threshold: word(threshold)?,
            bound: word(bound + 1)?,
        })
    }
}

/// Something a remainder must satisfy, and the questions that tell.
#[derive(Debug)]
pub(super) struct Demand {
    pub(super) questions: Vec<Threshold>,
    pub(super) rule: Rule,
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
    /// The flows, in full: what is asked of their signs may be rounded to fit.
    flows: Vec<Threshold>,
    weights: Vec<i128>,
    /// t times scale, as a fraction.
    most: (i128, i128),
    /// Records of the table.
    total: i128,
}

impl Close {
    /// The question that is left once it is known which flows are positive.
    pub(super) fn question(&self, is_positive: &[bool], records: u64, sites: usize) -> Threshold {
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
        sum.fitted(records, sites)
    }
}

/// The thresholds that the models demand of the rest of a part, whose counts over all sites are these.
pub(super) fn demands(
    wanted: &Demands<'_>,
    table: &TableView<'_>,
    (records, sensitive): (u64, &[u64]),
    sites: usize,
) -> Vec<Demand> {
    let mut found = Vec::new();
    for model in &wanted.requirement.models {
        let mut from = 0;
        match model {
            Model::KAnonymity { k } => found.push(Demand {
                questions: vec![Threshold::records(*k)],
                rule: Rule::All,
            }),
            Model::SiteDiversity { l, .. } if *l > 1 => found.push(Demand {
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
                    let counts = &sensitive[from..from + reference.counts().len()];
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
    for demand in &mut found {
        let fitted = demand
            .questions
            .drain(..)
            .map(|one| one.fitted(records, sites));
        demand.questions = fitted.collect();
    }
    found
}

/// A sensitive attribute of a part.
struct Attribute<'a> {
    /// The place where the attribute's counts begin.
    from: usize,
    counts: &'a [u64],
    reference: &'a Reference,
}

impl Attribute<'_> {
    fn demand(&self, model: &Model, table: &TableView<'_>, index: usize) -> Option<Demand> {
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
                let signs = flows.into_iter().map(|flow| sign(flow.values));
                let signs: Vec<Threshold> = signs.collect();
                let close = Close {
                    flows: signs.clone(),
                    weights,
                    most: (wide(numerator) * i128::from(scale), wide(denominator)),
                    total,
                };
                (signs, Rule::Close(close))
            }
            _ => return None,
        };
        Some(Demand { questions, rule })
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
        let reaches = |threshold: &Threshold| {
            let posed = threshold.pose(records, [&share].into_iter(), 1, 1).unwrap();
            posed.own >= posed.threshold
        };
        let demands = demands(&wanted, &view, (records, table), SITES);
        let [demand] = demands.as_slice() else {
            panic!("{demands:?}");
        };
        let Rule::Close(close) = &demand.rule else {
            panic!("{demand:?}");
        };
        let signs: Vec<bool> = demand.questions.iter().map(reaches).collect();
        let values: Vec<u32> = (0..left.len() as u32).collect();
        let class = ClassView {
            size: share.size,
            sensitive: &[Counts::new(&values, left)],
            sites: None,
        };
        (
            reaches(&close.question(&signs, records, SITES)),
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
        let posed = threshold.pose(10, [share].iter(), 1, 3).ok()?;
        Some((posed.own, posed.threshold, posed.bound))
    }

    #[test]
    fn thresholds_are_posed_in_numbers_that_are_never_negative() {
        assert_eq!(posed(&Threshold::records(4), 7), Some((7, 4, 31)));
        // Never reached, and always.
        assert_eq!(posed(&Threshold::records(99), 7), Some((7, 31, 31)));
        let always = Threshold::at_most(0, 1, 1, -99);
        assert_eq!(posed(&always, 7), Some((10, 0, 61)));
        // At most half of the records may have the value: 7 - 14, and an offset of 20.
        let half = Threshold::at_most(0, 1, 2, 0);
        assert_eq!(posed(&half, 7), Some((13, 60, 91)));
    }

    /// Numbers that do not fit end the run; counted as 0 they would give an answer.
    #[test]
    fn a_share_beyond_the_part_is_an_error() {
        let fewer = Threshold::at_most(0, 0, 1, -5);
        assert_eq!(posed(&fewer, 10), Some((0, 25, 31)));
        assert_eq!(posed(&fewer, 11), None);
        let vast = Threshold {
            size: i128::from(u64::MAX),
            ..Threshold::records(1)
        };
        assert_eq!(posed(&vast, 1), None);
    }
}
