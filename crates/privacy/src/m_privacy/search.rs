//! The search through the adversary space (MPRIV section III.B) as questions and answers, whatever
//! the strategy.

use std::fmt::Debug;
use std::sync::Arc;

use super::binary::Binary;
use super::exact::Exact;
use super::sweep::Sweep;
use super::top_down::TopDown;
use super::{Coalition, LIKELY_BREACHED, Sites, Strategy};

/// What a search wants next, or what it found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Does the removal of each of these coalitions' records break the requirement?
    Check(Vec<Coalition>),
    /// No coalition breaches.
    Private,
    /// This coalition breaches, so the class is not private.
    Breached(Coalition),
}

/// One class's verification under way.
#[derive(Debug)]
pub struct Search {
    course: Box<dyn Course>,
    /// For each place in the course's order, the site there.
    order: Vec<usize>,
    batch: usize,
    /// The question that waits for its answer, in the course's order.
    open: Option<Vec<Coalition>>,
    checks: u64,
}

/// How one strategy proceeds. Sites are named by their places in the given order.
pub(super) trait Course: Debug + Send {
    /// The next question, of at most `batch` coalitions.
    fn ask(&mut self, batch: usize) -> Step;

    /// The answers to the last question.
    fn learn(&mut self, coalitions: &[Coalition], breaches: &[bool]);

    /// Bounds evaluated so far.
    fn bounds(&self) -> u64 {
        0
    }
}

impl Search {
    /// A search for a coalition of at most `m` sites that breaches. Questions hold at most `batch`
    /// coalitions: 1 makes the fewest checks, since a breach among the first spares the others;
    /// more make fewer rounds. The binary and the exact strategy always ask one by one.
    pub fn new(strategy: Strategy, sites: &Sites, m: u64, batch: usize) -> Self {
        let number = sites.number();
        let m = usize::try_from(m)
            .unwrap_or(usize::MAX)
            .min(number.saturating_sub(1));
        let in_order = || (0..number).collect();
        let likely_breached = sites.average_fitness() < LIKELY_BREACHED;
        let (course, order): (Box<dyn Course>, Vec<usize>) = match (strategy, &sites.bounds) {
            _ if number == 0 => (Box::new(Sweep::over_nothing()), in_order()),
            _ if !sites.is_monotone => (Box::new(Sweep::new(number, 0, m)), in_order()),
            (Strategy::Exact, Some(bounds)) => {
                (Box::new(Exact::new(Arc::clone(bounds), m)), in_order())
            }
            (Strategy::Direct | Strategy::Exact, _) => {
                (Box::new(Sweep::new(number, m, m)), in_order())
            }
            (Strategy::BottomUp, _) => {
                (Box::new(Sweep::new(number, 0, m)), sites.strongest_first())
            }
            (Strategy::Binary, _) => (Box::new(Binary::new(number, m)), sites.strongest_first()),
            (Strategy::Adaptive, _) if likely_breached => {
                (Box::new(Binary::new(number, m)), sites.strongest_first())
            }
            (Strategy::TopDown | Strategy::Adaptive, _) => {
                (Box::new(TopDown::new(number, m)), sites.strongest_first())
            }
        };
        Self {
            course,
            order,
            batch: batch.max(1),
            open: None,
            checks: 0,
        }
    }

    /// The next coalitions to check, or the verdict. The same question again while it has no answer.
    pub fn ask(&mut self) -> Step {
        if self.open.is_none() {
            match self.course.ask(self.batch) {
                Step::Check(coalitions) => self.open = Some(coalitions),
                Step::Private => return Step::Private,
                Step::Breached(coalition) => return Step::Breached(self.named(coalition)),
            }
        }
        let open = self.open.iter().flatten();
        Step::Check(open.map(|coalition| self.named(*coalition)).collect())
    }

    /// For each coalition asked about, whether it breaches.
    ///
    /// Where it is hidden which sites have records in the class, a coalition may leave nobody. A
    /// coalition of at most m sites that does so breaches nothing: answer false. A larger coalition says
    /// nothing about the coalitions within it: answer true, so that nothing is pruned.
    ///
    /// # Panics
    /// If there is no open question or it has another length: that is a mistake in the calling
    /// code.
    pub fn answer(&mut self, breaches: &[bool]) {
        let coalitions = self.open.take().unwrap_or_default();
        assert!(!coalitions.is_empty() && coalitions.len() == breaches.len());
        self.checks += coalitions.len() as u64;
        self.course.learn(&coalitions, breaches);
    }

    /// Coalitions checked so far.
    pub fn checks(&self) -> u64 {
        self.checks
    }

    /// Bounds evaluated so far instead of checks.
    pub fn bounds(&self) -> u64 {
        self.course.bounds()
    }

    /// A coalition of places as one of sites.
    fn named(&self, coalition: Coalition) -> Coalition {
        coalition.sites().map(|place| self.order[place]).collect()
    }
}

/// The first coalition that breaches.
pub(super) fn first_breach(coalitions: &[Coalition], breaches: &[bool]) -> Option<Coalition> {
    let place = breaches.iter().position(|breaches| *breaches)?;
    Some(coalitions[place])
}
