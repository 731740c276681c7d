//! What a measurement is given: data, seed, size, and who watches.

use super::progress::Progress;
use crate::data::DataFolder;

/// What a measurement is given.
pub(crate) struct Bench<'a> {
    /// The tables.
    pub(crate) data: &'a DataFolder,
    /// The same seed gives the same counts.
    pub(crate) seed: u64,
    /// Whether the small version is wanted, which CI measures in the dev profile.
    pub(crate) is_quick: bool,
    pub(crate) progress: &'a dyn Progress,
}

impl Bench<'_> {
    /// The first for the small version, the second for the full one.
    pub(crate) fn pick<T>(&self, quick: T, full: T) -> T {
        match self.is_quick {
            true => quick,
            false => full,
        }
    }

    /// Says how many steps the measurement takes.
    pub(crate) fn steps(&self, steps: usize) {
        self.progress.steps(steps as u64);
    }

    /// Says that a step begins, in a few words: `"k = 10, central"`.
    pub(crate) fn step(&self, words: impl AsRef<str>) {
        self.progress.step(words.as_ref());
    }
}
