//! MPRIV's top-down algorithm (section III.B): from coalitions of n_G - 1 sites down, a coalition that
//! does not breach prunes all coalitions within it. Within a level, coalitions of the least fit sites
//! come first. At most the sum of C(n_G, i) from m to n_G - 1 checks.
//!
//! A coalition is passed over when all coalitions of m sites within it are pruned already, which
//! is the paper's "until all m-adversaries are pruned", applied below the top too.

use std::collections::HashSet;

use super::coalition::OfSize;
use super::safe::Safe;
use super::search::{Course, first_breach};
use super::{Coalition, Step};

#[derive(Debug)]
pub(super) struct TopDown {
    everybody: Coalition,
    m: usize,
    /// Size of the coalitions of this level.
    level: usize,
    /// Coalitions still to be looked at, the next one last.
    waiting: Vec<Coalition>,
    /// Coalitions of the present level that breach.
    breaching: HashSet<Coalition>,
    safe: Safe,
    breach: Option<Coalition>,
}

impl TopDown {
    /// Sites in descending order of fitness, at least one; `m` is less than their number.
    pub(super) fn new(sites: usize, m: usize) -> Self {
        let everybody = Coalition::first(sites);
        let mut waiting: Vec<Coalition> = OfSize::new(sites, 1)
            .map(|left_out| everybody.without(left_out.into_iter().collect()))
            .collect();
        waiting.reverse();
        Self {
            everybody,
            m,
            level: sites - 1,
            waiting,
            breaching: HashSet::new(),
            safe: Safe::default(),
            breach: None,
        }
    }

    /// The next of this level that is not pruned.
    fn next(&mut self) -> Option<Coalition> {
        while let Some(coalition) = self.waiting.pop() {
            // At the last level, all that is pruned was left out when the level was made.
            if self.level == self.m || !self.safe.settles(coalition, self.m) {
                return Some(coalition);
            }
        }
        None
    }

    /// One level down: the coalitions whose super-coalitions all breach. Any other coalition lies within
    /// a coalition that does not breach, or within one that was passed over.
    fn descend(&mut self) {
        self.level -= 1;
        let mut below = Vec::new();
        for above in &self.breaching {
            // Each coalition is made once, from the super-coalition that has its first absent site.
            for site in (0..).take_while(|site| above.contains(*site)) {
                let coalition = above.without(Coalition::NOBODY.with(site));
                let absent = self.everybody.without(coalition);
                let mut above = absent.sites().map(|site| coalition.with(site));
                if above.all(|above| self.breaching.contains(&above)) {
                    below.push(absent);
                }
            }
        }
        // Absent sites ascending are fitness descending; the last is taken first.
        below.sort_unstable_by(|a, b| b.cmp(a));
        self.waiting = below
            .into_iter()
            .map(|absent| self.everybody.without(absent))
            .collect();
        self.breaching.clear();
    }
}

impl Course for TopDown {
    fn ask(&mut self, batch: usize) -> Step {
        if let Some(coalition) = self.breach {
            return Step::Breached(coalition);
        }
        loop {
            let next: Vec<Coalition> = std::iter::from_fn(|| self.next()).take(batch).collect();
            if !next.is_empty() {
                return Step::Check(next);
            }
            if self.level == self.m || self.breaching.is_empty() {
                return Step::Private;
            }
            self.descend();
        }
    }

    fn learn(&mut self, coalitions: &[Coalition], breaches: &[bool]) {
        if self.level == self.m {
            self.breach = first_breach(coalitions, breaches);
            return;
        }
        for (coalition, breaches) in coalitions.iter().zip(breaches) {
            if *breaches {
                self.breaching.insert(*coalition);
            } else {
                self.safe.insert(*coalition);
            }
        }
    }
}
