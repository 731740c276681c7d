//! Passes over all classes: the worst value of a measure, and the classes that fail a model.

use rayon::prelude::*;

use crate::classes::Classes;

/// Whether a smaller or a greater value is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Worse {
    /// Small values are bad (k, l).
    Less,
    /// Large values are bad (t, beta).
    Greater,
}

impl Worse {
    /// The worse of two values; of equals the first class, whatever the order of asking.
    pub(super) fn pick<V: PartialOrd>(self, a: (V, usize), b: (V, usize)) -> (V, usize) {
        let is_b = match self {
            Self::Less => b.0 < a.0,
            Self::Greater => b.0 > a.0,
        };
        if is_b || (b.0 == a.0 && b.1 < a.1) {
            b
        } else {
            a
        }
    }
}

/// The worst value of all classes and the first class that has it; `None` without classes.
pub(super) fn worst<V: Copy + PartialOrd + Send + Sync>(
    classes: &Classes,
    worse: Worse,
    measure: impl Fn(usize) -> V + Sync,
) -> Option<(V, usize)> {
    (0..classes.count())
        .into_par_iter()
        .with_min_len(512)
        .map(|class| (measure(class), class))
        .reduce_with(|a, b| worse.pick(a, b))
}

/// How many classes fail, and how many records are in these classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Failing {
    pub(super) classes: u64,
    pub(super) records: u64,
}

impl Failing {
    /// Counts the classes that do not hold.
    pub(super) fn count(classes: &Classes, holds: impl Fn(usize) -> bool + Sync) -> Self {
        (0..classes.count())
            .into_par_iter()
            .with_min_len(512)
            .filter(|class| !holds(*class))
            .map(|class| Self {
                classes: 1,
                records: classes.size(class),
            })
            .reduce(Self::default, |a, b| Self {
                classes: a.classes + b.classes,
                records: a.records + b.records,
            })
    }
}
