//! A class that may still be cut: what all sites know of the class, and which cuts are left to try.

use super::choose::WholeWidths;
use super::{Choice, Cutting, Medians, Plan};
use crate::horizontal::requirement::{Counted, Trials};
use crate::horizontal::rows::{Arranged, Cut, Share, Stretch};

/// An open class. Every field but its stretch is the same at every site.
pub(super) struct Open {
    /// This site's rows.
    pub(super) stretch: Stretch,
    /// Records of all sites.
    pub(super) size: u64,
    /// Counts of each sensitive attribute, one after the other, where the requirement needs them.
    pub(super) sensitive: Vec<u64>,
    /// The range that the cuts leave of each attribute.
    pub(super) bounds: Vec<(u32, u32)>,
    /// The number of the class in the run.
    pub(super) born: u64,
    /// Cuts tried and refused since the class was made.
    tried: Vec<Tried>,
    /// The attributes that may betray a site are cut no more, so that the class and those it was cut from
    /// stay one group in them.
    is_fixed: bool,
}

/// A refused cut.
#[derive(Clone, Copy)]
struct Tried {
    attribute: usize,
    /// A median that was refused with its own records on the left: it may be tried with them on the
    /// right.
    other_side: Option<u32>,
}

/// A cut to ask about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Candidate {
    /// An attribute not tried yet.
    Fresh { attribute: usize },
    /// The median was refused with its records on the left; now on the right.
    BelowMedian { attribute: usize, median: u32 },
}

impl Candidate {
    pub(super) const fn attribute(self) -> usize {
        match self {
            Self::Fresh { attribute } | Self::BelowMedian { attribute, .. } => attribute,
        }
    }
}

/// A cut that is tried.
pub(super) struct Try {
    /// The place of the class among the open classes.
    pub(super) class: usize,
    pub(super) cut: Cut,
    /// The median, where its records may be tried on the other side if this cut is refused.
    pub(super) other_side: Option<u32>,
}

/// All cuts that are tried in a wave, and what all sites know of their parts.
#[derive(Clone, Copy)]
pub(super) struct Tries<'w> {
    pub(super) arranged: &'w Arranged<'w>,
    pub(super) open: &'w [Open],
    pub(super) tries: &'w [Try],
    pub(super) counted: &'w [Counted],
}

impl Tries<'_> {
    /// This site's rows of the class that a try would cut.
    pub(super) fn stretch(&self, place: usize) -> Stretch {
        self.open[self.tries[place].class].stretch
    }
}

impl Trials for Tries<'_> {
    fn counted(&self, place: usize) -> &Counted {
        &self.counted[place]
    }

    fn owners(&self, place: usize) -> Vec<u64> {
        let cut = &self.tries[place].cut;
        self.arranged.owners_in_parts(self.stretch(place), cut)
    }

    fn shares(&self, sensitive: &[usize], place: usize) -> Vec<Vec<Share>> {
        let cut = &self.tries[place].cut;
        self.arranged.shares(sensitive, self.stretch(place), cut)
    }
}

impl Open {
    pub(super) fn new(
        stretch: Stretch,
        size: u64,
        sensitive: Vec<u64>,
        bounds: Vec<(u32, u32)>,
        born: u64,
    ) -> Self {
        Self {
            stretch,
            size,
            sensitive,
            bounds,
            born,
            tried: Vec::new(),
            is_fixed: false,
        }
    }

    /// Goes on with a class that has no cut left to try, by the attributes that betray no site alone.
    pub(super) fn fix(&mut self, plan: &Plan<'_>) {
        if plan.betraying.is_some() && !self.is_fixed {
            self.is_fixed = true;
            self.tried.clear();
        }
    }

    /// Whether a cut of the class may not take sites apart.
    pub(super) fn minds_sites(&self) -> bool {
        !self.is_fixed
    }

    /// How many values the cuts leave of an attribute.
    pub(super) fn width(&self, attribute: usize) -> u64 {
        let (least, greatest) = self.bounds[attribute];
        u64::from(greatest - least) + 1
    }

    /// Whether no cut of the class was tried yet.
    pub(super) fn is_new(&self) -> bool {
        self.tried.is_empty()
    }

    /// Whether the class has a cut left to try.
    pub(super) fn has_candidate(&self, plan: &Plan<'_>) -> bool {
        match self.goes_by_width(plan) {
            true => self.second_side().is_some() || self.untried(plan).next().is_some(),
            false => self.untried(plan).next().is_some() || self.second_sides().next().is_some(),
        }
    }

    /// Whether one cut is tried after the other. How sites are spread over the parts does not matter once
    /// only attributes are cut that betray none.
    fn goes_by_width(&self, plan: &Plan<'_>) -> bool {
        plan.choice == Choice::Width || self.is_fixed
    }

    /// The cuts to ask about next. Where widths choose: the widest attribute, then its second side,
    /// then the next attribute. Otherwise all attributes, then all second sides.
    pub(super) fn candidates(
        &self,
        plan: &Plan<'_>,
        widths: &WholeWidths,
        add: &mut impl FnMut(Candidate),
    ) {
        if self.goes_by_width(plan) {
            let widest = || {
                let is_quasi = |attribute: &usize| *attribute < plan.quasi.len();
                let quasi = self.untried(plan).filter(is_quasi);
                // The sites come last, as one attribute.
                let attribute = widths
                    .widest(self, quasi)
                    .or_else(|| self.untried(plan).next())?;
                Some(Candidate::Fresh { attribute })
            };
            if let Some(candidate) = self.second_side().or_else(widest) {
                add(candidate);
            }
            return;
        }
        let mut fresh = self.untried(plan).peekable();
        if fresh.peek().is_some() {
            fresh.for_each(|attribute| add(Candidate::Fresh { attribute }));
        } else {
            self.second_sides().for_each(add);
        }
    }

    fn untried<'o>(&'o self, plan: &'o Plan<'_>) -> impl Iterator<Item = usize> + 'o {
        let betraying = plan.betraying.as_ref().filter(|_| self.is_fixed);
        (0..self.bounds.len()).filter(move |attribute| {
            let is_tried = |tried: &Tried| tried.attribute == *attribute;
            let betrays = |betraying: &Vec<bool>| betraying.get(*attribute) != Some(&false);
            self.width(*attribute) > 1
                && !self.tried.iter().any(is_tried)
                && !betraying.is_some_and(betrays)
        })
    }

    /// The second side of the cut refused last.
    fn second_side(&self) -> Option<Candidate> {
        self.tried.last().and_then(|tried| self.side(tried))
    }

    fn second_sides(&self) -> impl Iterator<Item = Candidate> + '_ {
        self.tried.iter().filter_map(|tried| self.side(tried))
    }

    fn side(&self, tried: &Tried) -> Option<Candidate> {
        let (attribute, median) = (tried.attribute, tried.other_side?);
        let has_any_below = self.bounds[attribute].0 < median;
        has_any_below.then_some(Candidate::BelowMedian { attribute, median })
    }

    /// The cut that a candidate stands for, once its median is known.
    pub(super) fn cut_of(
        &self,
        candidate: Candidate,
        median: Option<u32>,
        plan: &Plan<'_>,
    ) -> (Cut, Option<u32>) {
        let attribute = candidate.attribute();
        let (least, greatest) = self.bounds[attribute];
        let cut = |ends| Cut {
            attribute,
            ends,
            left_at_end: None,
        };
        if let Candidate::BelowMedian { median, .. } = candidate {
            return (cut(vec![median - 1, greatest]), None);
        }
        if let Some(Cutting::Children(tree)) = plan.quasi.get(attribute).map(|quasi| &quasi.cutting)
        {
            let mut node = tree.lowest_common_ancestor(least, greatest);
            // A chain of single children is one step.
            while let (Some(only), None) = {
                let mut children = tree.children(node);
                (children.next(), children.next())
            } {
                node = only;
            }
            let ends = tree.children(node).map(|child| tree.interval(child).1);
            return (cut(ends.collect()), None);
        }
        let median = median.unwrap_or(least);
        // A median at the upper bound has nothing above it: its records go right.
        // Records of one site stay together.
        let is_strict = plan.medians == Medians::Strict || attribute >= plan.quasi.len();
        let is_last = median == greatest && is_strict;
        let other_side = (!is_last && is_strict).then_some(median);
        let end = if is_last { median - 1 } else { median };
        (cut(vec![end, greatest]), other_side)
    }

    /// The class after a cut was refused.
    pub(super) fn refuse(&mut self, attempt: &Try) {
        let attribute = attempt.cut.attribute;
        self.tried.retain(|tried| tried.attribute != attribute);
        self.tried.push(Tried {
            attribute,
            other_side: attempt.other_side,
        });
    }

    /// The parts of a cut that have records, after this site's rows were arranged by the cut.
    pub(super) fn into_parts(
        self,
        cut: &Cut,
        counted: &Counted,
        own_rows: &[usize],
        born: &mut u64,
        parts: &mut Vec<Self>,
    ) {
        let mut start = self.stretch.start;
        let (mut low, _) = self.bounds[cut.attribute];
        for (part, high) in cut.ends.iter().enumerate() {
            let end = start + own_rows[part];
            if counted.sizes[part] > 0 {
                let mut bounds = self.bounds.clone();
                bounds[cut.attribute] = (low, *high);
                let sensitive = counted.of_part(part).to_vec();
                *born += 1;
                let stretch = Stretch { start, end };
                let size = counted.sizes[part];
                parts.push(Self {
                    is_fixed: self.is_fixed,
                    ..Self::new(stretch, size, sensitive, bounds, *born)
                });
            }
            start = end;
            // Records at a relaxed median lie on both sides.
            low = high + u32::from(cut.left_at_end.is_none());
        }
    }
}
