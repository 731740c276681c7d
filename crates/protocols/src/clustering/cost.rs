//! The cost of closures as whole numbers: the spread of an interval of values, the number of values of a
//! set, or the entropy of either.

/// A loss of 1 in a cell.
pub(crate) const UNIT: f64 = (1u64 << 20) as f64;

/// The costs of one quasi-identifier's closures.
pub(super) enum Cost {
    /// The difference of the places of an interval's ends: of the last value present up to the end, and
    /// the first value present from the beginning on.
    Spread { below: Vec<u64>, above: Vec<u64> },
    /// A share for each value beyond the first.
    Count { share: f64 },
    /// Running sums of counts, and of counts times their logarithms.
    Entropy {
        counts: Vec<u64>,
        running: Vec<(f64, f64)>,
    },
}

impl Cost {
    pub(super) fn spread(counts: &[u64], places: Vec<f64>) -> Self {
        let below: Vec<u64> = places
            .into_iter()
            .map(|place| (place * UNIT).round() as u64)
            .collect();
        let mut above = below.clone();
        let mut next = UNIT as u64;
        for (place, count) in above.iter_mut().zip(counts).rev() {
            if *count > 0 {
                next = *place;
            }
            *place = next;
        }
        Self::Spread { below, above }
    }

    pub(super) fn entropy(counts: &[u64]) -> Self {
        let mut running = vec![(0.0, 0.0)];
        let mut sums = (0.0, 0.0);
        for count in counts {
            sums = (sums.0 + *count as f64, sums.1 + weighted(*count));
            running.push(sums);
        }
        Self::Entropy {
            counts: counts.to_vec(),
            running,
        }
    }

    pub(super) fn of_interval(&self, least: u32, greatest: u32) -> u64 {
        match self {
            Self::Spread { below, above } => {
                below[greatest as usize].saturating_sub(above[least as usize])
            }
            Self::Count { share } => (f64::from(greatest - least) * share).round() as u64,
            Self::Entropy { running, .. } => {
                let (from, to) = (running[least as usize], running[greatest as usize + 1]);
                entropy(to.0 - from.0, to.1 - from.1)
            }
        }
    }

    pub(super) fn of_set(&self, set: &[u64]) -> u64 {
        match self {
            Self::Count { share } => {
                let values: u32 = set.iter().map(|bits| bits.count_ones()).sum();
                (f64::from(values.saturating_sub(1)) * share).round() as u64
            }
            Self::Spread { below, above } => {
                let last = codes_of(set).last();
                let ends = codes_of(set).next().zip(last);
                ends.map_or(0, |(first, last)| {
                    below[last as usize].saturating_sub(above[first as usize])
                })
            }
            Self::Entropy { counts, .. } => {
                let counts = codes_of(set).map(|code| counts[code as usize]);
                let (total, sum) = counts.fold((0.0, 0.0), |(total, sum), count| {
                    (total + count as f64, sum + weighted(count))
                });
                entropy(total, sum)
            }
        }
    }
}

fn weighted(count: u64) -> f64 {
    match count {
        0 => 0.0,
        _ => count as f64 * (count as f64).log2(),
    }
}

fn entropy(total: f64, weighted: f64) -> u64 {
    if total < 1.0 {
        return 0;
    }
    ((total.log2() - weighted / total).max(0.0) * UNIT).round() as u64
}

/// The values of a set.
pub(super) fn codes_of(set: &[u64]) -> impl Iterator<Item = u32> + '_ {
    (0u32..).step_by(64).zip(set).flat_map(|(from, bits)| {
        let mut bits = *bits;
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let code = from + bits.trailing_zeros();
                bits &= bits - 1;
                code
            })
        })
    })
}
