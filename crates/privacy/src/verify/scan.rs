//! One pass over all classes for one measure: its worst value, and how many classes fail.

use rayon::prelude::*;

use crate::classes::Classes;

/// Which direction is bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worse {
    /// Small values are bad (k, l).
    Less,
    /// Large values are bad (t, beta).
    Greater,
}

/// What a pass found.
pub(super) struct Scan<V> {
    /// The worst value and the first class that has it.
    pub(super) worst: Option<(V, usize)>,
    pub(super) failing_classes: u64,
    pub(super) failing_records: u64,
}

impl<V: PartialOrd> Scan<V> {
    /// Passes over two different parts of the classes.
    fn merge(self, next: Self, worse: Worse) -> Self {
        Self {
            worst: pick(self.worst, next.worst, worse),
            failing_classes: self.failing_classes + next.failing_classes,
            failing_records: self.failing_records + next.failing_records,
        }
    }

    /// The worse of two passes over the same classes (two attributes).
    pub(super) fn worse_of(self, next: Self, worse: Worse) -> Self {
        Self {
            worst: pick(self.worst, next.worst, worse),
            failing_classes: self.failing_classes.max(next.failing_classes),
            failing_records: self.failing_records.max(next.failing_records),
        }
    }
}

fn pick<V: PartialOrd>(
    a: Option<(V, usize)>,
    b: Option<(V, usize)>,
    worse: Worse,
) -> Option<(V, usize)> {
    match (a, b) {
        (Some(a), Some(b)) => {
            let is_b = match worse {
                Worse::Less => b.0 < a.0,
                Worse::Greater => b.0 > a.0,
            };
            // Of equals the first class, whatever the order of merging.
            let is_b = is_b || (b.0 == a.0 && b.1 < a.1);
            Some(if is_b { b } else { a })
        }
        (a, b) => a.or(b),
    }
}

/// Measures every class.
pub(super) fn scan<V: Copy + PartialOrd + Send + Sync>(
    classes: &Classes,
    worse: Worse,
    measure: impl Fn(usize) -> V + Sync,
    holds: impl Fn(&V) -> bool + Sync,
) -> Scan<V> {
    let nothing = || Scan {
        worst: None,
        failing_classes: 0,
        failing_records: 0,
    };
    (0..classes.count())
        .into_par_iter()
        .with_min_len(512)
        .map(|class| {
            let value = measure(class);
            let fails = !holds(&value);
            Scan {
                worst: Some((value, class)),
                failing_classes: u64::from(fails),
                failing_records: if fails { classes.size(class) } else { 0 },
            }
        })
        .reduce(nothing, |a, b| a.merge(b, worse))
}
