//! Coalitions by size, smallest first, until one breaches: MPRIV's direct algorithm over the size
//! m alone, its bottom-up algorithm from size 0, and the only valid course for constraints that
//! are not monotone. C(n_G, m) and the sum of C(n_G, i) up to m checks for a private class.

use super::coalition::OfSize;
use super::search::{Course, first_breach};
use super::{Coalition, Step};

/// The coalitions in turn, each as its sites.
#[derive(Debug)]
pub(super) struct Sweep {
    sites: usize,
    size: usize,
    last: usize,
    coalitions: OfSize,
    breach: Option<Coalition>,
}

impl Sweep {
    /// Coalitions of `first` to `last` of so many sites.
    pub(super) fn new(sites: usize, first: usize, last: usize) -> Self {
        Self {
            sites,
            size: first,
            last,
            coalitions: OfSize::new(sites, first),
            breach: None,
        }
    }

    /// A class without records has nobody to protect.
    pub(super) fn over_nothing() -> Self {
        Self::new(0, 1, 1)
    }
}

impl Iterator for Sweep {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        loop {
            if let Some(coalition) = self.coalitions.next() {
                return Some(coalition);
            }
            if self.size >= self.last {
                return None;
            }
            self.size += 1;
            self.coalitions = OfSize::new(self.sites, self.size);
        }
    }
}

impl Course for Sweep {
    fn ask(&mut self, batch: usize) -> Step {
        if let Some(coalition) = self.breach {
            return Step::Breached(coalition);
        }
        let next = self.take(batch).map(Coalition::from_iter);
        let next: Vec<Coalition> = next.collect();
        if next.is_empty() {
            Step::Private
        } else {
            Step::Check(next)
        }
    }

    fn learn(&mut self, coalitions: &[Coalition], breaches: &[bool]) {
        self.breach = first_breach(coalitions, breaches);
    }
}
