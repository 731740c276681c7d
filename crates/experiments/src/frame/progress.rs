//! Who watches figures being measured.

/// Hears how far the figures are. Every method has a default; `()` ignores everything.
pub trait Progress: Sync {
    /// The measurement of these figures begins; `done` of `all` figures are finished.
    fn begin(&self, _figures: &str, _done: usize, _all: usize) {}

    /// The measurement takes so many steps.
    fn steps(&self, _steps: u64) {}

    /// A step begins.
    fn step(&self, _words: &str) {}
}

impl Progress for () {}
