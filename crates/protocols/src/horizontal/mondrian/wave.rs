//! One wave: every open class tries to be cut on its best attribute that is left.
//!
//! # Discloses
//! As the module says: medians, then sizes and sensitive counts of the parts.

use hedgerow_smc::{Party, Rank};

use super::check::Table;
use super::{Cutting, MEDIANS, PARTS, Plan, Quasi};
use crate::Error;
use crate::horizontal::rows::{Arranged, Stretch};

/// A class that may still be cut. All but its stretch is the same at every site.
pub(super) struct Open {
    /// This site's rows.
    pub(super) stretch: Stretch,
    /// Records of all sites.
    pub(super) size: u64,
    /// Counts of each sensitive attribute, one after the other, where the requirement needs them.
    pub(super) sensitive: Vec<u64>,
    /// What the cuts leave of each quasi-identifier.
    pub(super) bounds: Vec<(u32, u32)>,
    /// Cuts tried and refused since the class was made.
    tried: Vec<Tried>,
}

/// A refused cut.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Tried {
    attribute: usize,
    /// For a median that was refused with its own records left: it may be tried with them right.
    median: Option<u32>,
}

/// A cut to try: an attribute and where its parts end, ascending, the last at the bound.
struct Try {
    attribute: usize,
    ends: Vec<u32>,
    /// The median, where its records may be tried on the other side if this cut is refused.
    median: Option<u32>,
}

/// What came of a wave.
pub(super) struct Next {
    pub(super) open: Vec<Open>,
    pub(super) refused: u64,
}

impl Open {
    pub(super) fn new(
        stretch: Stretch,
        size: u64,
        sensitive: Vec<u64>,
        bounds: Vec<(u32, u32)>,
    ) -> Self {
        Self {
            stretch,
            size,
            sensitive,
            bounds,
            tried: Vec::new(),
        }
    }

    /// Whether there is a cut left to try.
    pub(super) fn has_candidate(&self, quasi: &[Quasi<'_>], spread: &[u32]) -> bool {
        self.candidate(quasi, spread).is_some()
    }

    /// The attribute to try: the widest relative to the whole table's range, of equals the first,
    /// among those not refused. A refused median gets its second side first.
    fn candidate(&self, quasi: &[Quasi<'_>], spread: &[u32]) -> Option<Candidate> {
        if let Some(Tried {
            attribute,
            median: Some(median),
        }) = self.tried.last()
            && self.bounds[*attribute].0 < *median
        {
            return Some(Candidate::BelowMedian {
                attribute: *attribute,
                median: *median,
            });
        }
        let mut best: Option<usize> = None;
        for attribute in 0..quasi.len() {
            let width = self.width(attribute);
            if width == 0 || self.tried.iter().any(|tried| tried.attribute == attribute) {
                continue;
            }
            let is_wider = best.is_none_or(|best| {
                // width / spread, compared without dividing.
                u64::from(width) * u64::from(spread[best])
                    > u64::from(self.width(best)) * u64::from(spread[attribute])
            });
            if is_wider {
                best = Some(attribute);
            }
        }
        best.map(|attribute| Candidate::Fresh { attribute })
    }

    fn width(&self, attribute: usize) -> u32 {
        let (least, greatest) = self.bounds[attribute];
        greatest - least
    }
}

enum Candidate {
    /// An attribute not tried yet.
    Fresh { attribute: usize },
    /// The median was refused with its records on the left; now on the right.
    BelowMedian { attribute: usize, median: u32 },
}

pub(super) async fn wave(
    party: &mut Party,
    arranged: &mut Arranged<'_>,
    plan: &Plan<'_>,
    table: &Table<'_>,
    spread: &[u32],
    open: Vec<Open>,
) -> Result<Next, Error> {
    let candidates: Vec<Candidate> = open
        .iter()
        // `partition` lets only classes with a candidate in.
        .filter_map(|class| class.candidate(&plan.quasi, spread))
        .collect();
    let histograms: Vec<Vec<u64>> = open
        .iter()
        .zip(&candidates)
        .map(|(class, candidate)| {
            let attribute = candidate.attribute();
            let (least, greatest) = class.bounds[attribute];
            cumulative(arranged.histogram(attribute, &class.stretch, least, greatest))
        })
        .collect();
    let medians = medians(party, plan, table, &open, &candidates, &histograms).await?;
    let tries: Vec<Try> = open
        .iter()
        .zip(&candidates)
        .zip(&medians)
        .map(|((class, candidate), median)| class.try_of(candidate, *median, plan))
        .collect();

    let counts = parts(party, arranged, table, &open, &tries, &histograms).await?;
    let cuts: Vec<(usize, &[u32])> = tries
        .iter()
        .map(|cut| (cut.attribute, cut.ends.as_slice()))
        .collect();
    let allowed = table
        .allowed(party, arranged, &open, &cuts, &counts)
        .await?;
    let mut next = Next {
        open: Vec::with_capacity(open.len() * 2),
        refused: 0,
    };
    let mut made = Vec::new();
    for (((class, cut), counts), is_allowed) in open.into_iter().zip(tries).zip(counts).zip(allowed)
    {
        if is_allowed {
            next.open
                .extend(class.parts(arranged, table, &cut, &counts));
            made.push((class.stretch, cut.attribute, cut.ends));
        } else {
            next.refused += 1;
            next.open.push(class.refused(&cut));
        }
    }
    arranged.cut(&made);
    Ok(next)
}

impl Candidate {
    fn attribute(&self) -> usize {
        match self {
            Self::Fresh { attribute } | Self::BelowMedian { attribute, .. } => *attribute,
        }
    }
}

impl Open {
    fn try_of(&self, candidate: &Candidate, median: Option<u32>, plan: &Plan<'_>) -> Try {
        let attribute = candidate.attribute();
        let (least, greatest) = self.bounds[attribute];
        let mut other_side = None;
        let ends = match (candidate, &plan.quasi[attribute].cutting) {
            (Candidate::BelowMedian { median, .. }, _) => vec![median - 1, greatest],
            (Candidate::Fresh { .. }, Cutting::Children(tree)) => {
                let mut node = tree.lowest_common_ancestor(least, greatest);
                // A chain of single children is one step.
                while let (Some(only), None) = {
                    let mut children = tree.children(node);
                    (children.next(), children.next())
                } {
                    node = only;
                }
                tree.children(node)
                    .map(|child| tree.interval(child).1)
                    .collect()
            }
            (Candidate::Fresh { .. }, Cutting::Median) => {
                let median = median.unwrap_or(least);
                // A median at the upper bound has nothing above it: its records go right.
                let is_last = median == greatest;
                other_side = (!is_last).then_some(median);
                let end = if is_last { median - 1 } else { median };
                vec![end, greatest]
            }
        };
        Try {
            attribute,
            ends,
            median: other_side,
        }
    }
}

impl Open {
    /// The class after a cut was refused.
    fn refused(mut self, cut: &Try) -> Self {
        self.tried.retain(|tried| tried.attribute != cut.attribute);
        self.tried.push(Tried {
            attribute: cut.attribute,
            median: cut.median,
        });
        self
    }

    /// The non-empty parts of a cut, where they will stand once the rows are arranged.
    fn parts(
        &self,
        arranged: &Arranged<'_>,
        table: &Table<'_>,
        cut: &Try,
        counts: &[u64],
    ) -> Vec<Self> {
        let (first, last) = self.bounds[cut.attribute];
        let own = arranged.histogram(cut.attribute, &self.stretch, first, last);
        let mut start = self.stretch.start;
        let mut low = first;
        let mut parts = Vec::with_capacity(cut.ends.len());
        for (part, high) in cut.ends.iter().enumerate() {
            let rows: u64 = own[(low - first) as usize..=(high - first) as usize]
                .iter()
                .sum();
            let end = start + rows as usize;
            if counts[part] > 0 {
                let mut bounds = self.bounds.clone();
                bounds[cut.attribute] = (low, *high);
                let sensitive = table.sensitive_of_part(counts, part, cut.ends.len());
                parts.push(Self::new(
                    Stretch { start, end },
                    counts[part],
                    sensitive,
                    bounds,
                ));
            }
            start = end;
            low = high + 1;
        }
        parts
    }
}

/// The medians of all classes that try an attribute for the first time.
async fn medians(
    party: &mut Party,
    plan: &Plan<'_>,
    table: &Table<'_>,
    open: &[Open],
    candidates: &[Candidate],
    histograms: &[Vec<u64>],
) -> Result<Vec<Option<u32>>, Error> {
    let asked: Vec<usize> = (0..open.len())
        .filter(|class| {
            let is_median =
                |attribute: usize| matches!(plan.quasi[attribute].cutting, Cutting::Median);
            matches!(candidates[*class], Candidate::Fresh { attribute } if is_median(attribute))
        })
        .collect();
    let questions: Vec<Rank> = asked
        .iter()
        .map(|class| {
            let (least, greatest) = open[*class].bounds[candidates[*class].attribute()];
            Rank {
                rank: open[*class].size.div_ceil(2),
                domain: u64::from(least)..=u64::from(greatest),
            }
        })
        .collect();
    let at_most = |question: usize, value: u64| {
        let least = *questions[question].domain.start();
        histograms[asked[question]][(value - least) as usize]
    };
    let mut answers = vec![None; questions.len()];
    party
        .kth(MEDIANS, table.records(), &questions, at_most, &mut answers)
        .await?;
    let mut medians = vec![None; open.len()];
    for (class, answer) in asked.into_iter().zip(answers) {
        // An answer lies in its question's domain, which is a range of codes.
        medians[class] = answer.map(|code| code as u32);
    }
    Ok(medians)
}

/// The sizes and sensitive counts of all parts but the last of each cut, summed over all sites; the
/// last follows from the class.
async fn parts(
    party: &mut Party,
    arranged: &Arranged<'_>,
    table: &Table<'_>,
    open: &[Open],
    tries: &[Try],
    histograms: &[Vec<u64>],
) -> Result<Vec<Vec<u64>>, Error> {
    let mut asked: Vec<u64> = Vec::new();
    for ((class, cut), histogram) in open.iter().zip(tries).zip(histograms) {
        let least = class.bounds[cut.attribute].0;
        let up_to = |end: u32| histogram[(end - least) as usize];
        let mut before = 0;
        for end in &cut.ends[..cut.ends.len() - 1] {
            asked.push(up_to(*end) - before);
            before = up_to(*end);
        }
        for sensitive in table.sensitive() {
            let counts =
                arranged.sensitive_in_parts(*sensitive, cut.attribute, &class.stretch, &cut.ends);
            let all_but_last = counts.len() / cut.ends.len() * (cut.ends.len() - 1);
            asked.extend_from_slice(&counts[..all_but_last]);
        }
    }
    party.sum(PARTS, &mut asked).await?;

    // Taken apart again: for each class, sizes of all parts, then counts of all parts.
    let mut answers = asked.into_iter();
    let mut counts = Vec::with_capacity(open.len());
    for (class, cut) in open.iter().zip(tries) {
        let mut of_class = Vec::new();
        complete(&mut answers, cut.ends.len(), &[class.size], &mut of_class);
        let mut from = 0;
        for size in table.sensitive_sizes() {
            let whole = &class.sensitive[from..from + size];
            complete(&mut answers, cut.ends.len(), whole, &mut of_class);
            from += size;
        }
        counts.push(of_class);
    }
    Ok(counts)
}

/// Takes the counts of all parts but the last, and adds the last: what is left of the whole.
fn complete(
    answers: &mut impl Iterator<Item = u64>,
    parts: usize,
    whole: &[u64],
    counts: &mut Vec<u64>,
) {
    let mut left = whole.to_vec();
    for _ in 1..parts {
        for left in &mut left {
            let count = answers.next().unwrap_or(0);
            *left -= count.min(*left);
            counts.push(count);
        }
    }
    counts.extend(left);
}

fn cumulative(mut counts: Vec<u64>) -> Vec<u64> {
    let mut running = 0;
    for count in &mut counts {
        running += *count;
        *count = running;
    }
    counts
}
