//! MPRIV's binary algorithm (algorithm 1): between a coalition of n_G - 1 sites that breaches and
//! one of m sites within it that does not, halve until the two are parent and child; then prune
//! what is within the lower and what contains the upper.
//!
//! Line 6 has lost its negation in print: a super-coalition that does **not** breach is pruned with all
//! within it, and the loop continues. Line 5 returns to the same super-coalition until all within it is
//! settled. The super-coalition that leaves out site j then owes only the coalitions that have all sites
//! before j and not j: the others were within an earlier super-coalition. So each coalition of m sites
//! comes up once, and after m + 1 super-coalitions none is left.

use super::coalition::OfSize;
use super::safe::Safe;
use super::search::Course;
use super::{Coalition, Step};

#[derive(Debug)]
pub(super) struct Binary {
    sites: usize,
    m: usize,
    /// The site, in descending order of fitness, that the super-coalition leaves out.
    left_out: usize,
    stage: Stage,
    safe: Safe,
    /// Coalitions that breach: every coalition that contains one of them breaches too.
    breaching: Vec<Coalition>,
}

#[derive(Debug)]
enum Stage {
    /// Does the super-coalition breach? (lines 5 to 7)
    Super,
    /// The super-coalition breaches. Does a coalition of m sites within it? Coalitions not yet looked at
    /// are kept here. (lines 8 to 10)
    Sub(OfSize),
    /// The upper breaches, the lower does not. (lines 11 to 16)
    Between {
        lower: Coalition,
        upper: Coalition,
        rest: OfSize,
    },
    /// Line 10.
    Breached(Coalition),
}

impl Binary {
    /// Sites in descending order of fitness, at least one; `m` is less than their number.
    pub(super) fn new(sites: usize, m: usize) -> Self {
        Self {
            sites,
            m,
            left_out: 0,
            stage: Stage::Super,
            safe: Safe::default(),
            breaching: Vec::new(),
        }
    }

    fn super_coalition(&self) -> Coalition {
        Coalition::first(self.sites).without(Coalition::NOBODY.with(self.left_out))
    }

    /// The coalitions of m sites that the super-coalition owes, the fittest first.
    fn owed(&self) -> OfSize {
        OfSize::new(self.sites - self.left_out - 1, self.m - self.left_out)
    }

    /// One of the coalitions that are owed, by its sites behind the site left out.
    fn sub_coalition(&self, behind: &[usize]) -> Coalition {
        let behind = behind.iter().map(|site| self.left_out + 1 + site);
        Coalition::first(self.left_out).union(behind.collect())
    }

    fn is_known_to_breach(&self, coalition: Coalition) -> bool {
        let mut latest_first = self.breaching.iter().rev();
        latest_first.any(|breaching| breaching.is_within(coalition))
    }

    /// Takes in that the super-coalition breaches.
    fn enter(&mut self) -> Stage {
        if self.sites - 1 == self.m {
            Stage::Breached(self.super_coalition())
        } else {
            Stage::Sub(self.owed())
        }
    }

    /// Goes on as far as what is known allows: the stage whose question is open, and the question;
    /// `None` when all is settled.
    fn advance(&mut self) -> Option<(Stage, Coalition)> {
        let mut stage = std::mem::replace(&mut self.stage, Stage::Super);
        loop {
            stage = match stage {
                Stage::Super if self.left_out > self.m => return None,
                Stage::Super if self.is_known_to_breach(self.super_coalition()) => self.enter(),
                Stage::Super => return Some((Stage::Super, self.super_coalition())),
                Stage::Sub(mut rest) => match rest.next() {
                    None => {
                        self.left_out += 1;
                        Stage::Super
                    }
                    Some(behind) => {
                        let sub = self.sub_coalition(&behind);
                        if !self.safe.covers(sub) {
                            return Some((Stage::Sub(rest), sub));
                        }
                        Stage::Sub(rest)
                    }
                },
                Stage::Between { lower, upper, rest } if upper.size() - lower.size() > 1 => {
                    let middle = middle(lower, upper);
                    if !self.is_known_to_breach(middle) {
                        return Some((Stage::Between { lower, upper, rest }, middle));
                    }
                    Stage::Between {
                        lower,
                        upper: middle,
                        rest,
                    }
                }
                Stage::Between { lower, upper, rest } => {
                    // Lines 17 and 18. A coalition of m sites comes up once, and covers no other.
                    if lower.size() > self.m {
                        self.safe.insert(lower);
                    }
                    if !self.is_known_to_breach(upper) {
                        self.breaching.push(upper);
                    }
                    Stage::Sub(rest)
                }
                Stage::Breached(coalition) => return Some((Stage::Breached(coalition), coalition)),
            };
        }
    }
}

/// Halfway up: the lower coalition and the least fit sites that the upper has more.
fn middle(lower: Coalition, upper: Coalition) -> Coalition {
    let between: Vec<usize> = upper.without(lower).sites().collect();
    let weakest = &between[between.len() - between.len() / 2..];
    lower.union(weakest.iter().copied().collect())
}

impl Course for Binary {
    fn ask(&mut self, _batch: usize) -> Step {
        let Some((stage, coalition)) = self.advance() else {
            return Step::Private;
        };
        self.stage = stage;
        match self.stage {
            Stage::Breached(_) => Step::Breached(coalition),
            _ => Step::Check(vec![coalition]),
        }
    }

    fn learn(&mut self, coalitions: &[Coalition], breaches: &[bool]) {
        let (asked, breaches) = (coalitions[0], breaches[0]);
        let stage = std::mem::replace(&mut self.stage, Stage::Super);
        self.stage = match (stage, breaches) {
            (Stage::Super, true) => self.enter(),
            (Stage::Super, false) => {
                self.safe.insert(asked);
                self.left_out += 1;
                Stage::Super
            }
            (Stage::Sub(_) | Stage::Breached(_), true) => Stage::Breached(asked),
            (Stage::Sub(rest), false) => Stage::Between {
                lower: asked,
                upper: self.super_coalition(),
                rest,
            },
            (Stage::Between { lower, rest, .. }, true) => Stage::Between {
                lower,
                upper: asked,
                rest,
            },
            (Stage::Between { upper, rest, .. }, false) => Stage::Between {
                lower: asked,
                upper,
                rest,
            },
            (Stage::Breached(coalition), false) => Stage::Breached(coalition),
        };
    }
}
