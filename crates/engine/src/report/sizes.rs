//! How large classes are: bars of classes whose sizes lie near each other.
//!
//! Sizes of classes often spread over powers of ten, most of them near k. Where there are few different sizes
//! each has a bar; otherwise bars grow wider in proportion to the sizes in them, so that small classes, on which
//! the risk depends, stay apart.

use serde::Serialize;

/// The most bars.
const MOST_BARS: u64 = 24;

/// How large classes are.
#[derive(Debug, Serialize)]
pub(super) struct Sizes {
    pub(super) smallest: u64,
    pub(super) median: u64,
    pub(super) largest: u64,
    pub(super) bars: Vec<Bar>,
}

/// How many classes have a size in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Bar {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) classes: u64,
    pub(super) records: u64,
}

impl Sizes {
    pub(super) fn of(sizes: &[u64]) -> Self {
        let mut sorted = sizes.to_vec();
        sorted.sort_unstable();
        let smallest = sorted.first().copied().unwrap_or(0);
        let largest = sorted.last().copied().unwrap_or(0);
        let mut bars = ranges(smallest, largest);
        for size in &sorted {
            let place = bars.partition_point(|bar| bar.to < *size);
            // The last bar ends with the largest size.
            bars[place].classes += 1;
            bars[place].records += size;
        }
        Self {
            smallest,
            median: sorted.get(sorted.len() / 2).copied().unwrap_or(0),
            largest,
            bars,
        }
    }
}

/// Ranges from the smallest to the largest size, without gaps.
fn ranges(smallest: u64, largest: u64) -> Vec<Bar> {
    let bar = |from: u64, to: u64| Bar {
        from,
        to,
        classes: 0,
        records: 0,
    };
    if largest - smallest < MOST_BARS {
        return (smallest..=largest).map(|size| bar(size, size)).collect();
    }
    // Each range ends so many times above where the one before ended.
    let growth = (largest as f64 / smallest.max(1) as f64).powf(1.0 / MOST_BARS as f64);
    let mut ranges = Vec::new();
    let mut from = smallest;
    while from <= largest {
        let left = MOST_BARS - ranges.len() as u64;
        let to = match left {
            1 => largest,
            _ => ((from as f64 * growth) as u64 - 1).clamp(from, largest),
        };
        ranges.push(bar(from, to));
        from = to + 1;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_class_is_in_one_bar(sizes in prop::collection::vec((1u64..1000, 0u32..3), 1..200)) {
            let sizes: Vec<u64> = sizes.into_iter().map(|(size, power)| size * 30u64.pow(power)).collect();
            let found = Sizes::of(&sizes);
            prop_assert!(found.bars.len() as u64 <= MOST_BARS);
            for pair in found.bars.windows(2) {
                prop_assert_eq!(pair[0].to + 1, pair[1].from);
            }
            for bar in &found.bars {
                let own = sizes.iter().filter(|size| (bar.from..=bar.to).contains(*size));
                prop_assert_eq!(bar.classes, own.clone().count() as u64);
                prop_assert_eq!(bar.records, own.sum::<u64>());
            }
            let classes: u64 = found.bars.iter().map(|bar| bar.classes).sum();
            prop_assert_eq!(classes, sizes.len() as u64);
            prop_assert!(sizes.contains(&found.median));
        }
    }

    #[test]
    fn small_classes_stay_apart() {
        let mut sizes = vec![10; 500];
        sizes.extend([11, 12, 40, 9000]);
        let bars = Sizes::of(&sizes).bars;
        let filled: Vec<(u64, u64)> = bars
            .iter()
            .filter(|bar| bar.classes > 0)
            .map(|bar| (bar.from, bar.classes))
            .collect();
        assert_eq!(filled[0], (10, 502));
        assert_eq!(filled.len(), 3, "{filled:?}");
        assert_eq!(Sizes::of(&[]).bars.len(), 1);
    }
}
