//! The top-down partitioner: cuts in waves (JX09 section 4, JX08 sections 4.1 to 4.3, MPRIV
//! algorithm 2; LeFevre et al. 2006).
//!
//! Everything open is asked together. In each wave every open class tries one cut, or all that it has,
//! as the [`Choice`] says: one step finds all medians, another opens the sizes (and, where the
//! requirement speaks of them, the sensitive counts) of all parts, and demands about sites are asked as
//! thresholds. A class is cut if every part satisfies the whole requirement. All sites compute the same
//! decisions from the same disclosed numbers; no leader is needed. Ranges follow from the cuts and cost
//! nothing. A class below 2k closes without a question; as JX08 prints it, a class of 2k too.
//!
//! JX08, JX09 and MPRIV are three settings of this one code: the widest attribute first; all
//! attributes weighed by width and by how evenly sites are spread; all attributes and the site
//! itself, weighed by fitness.
//!
//! A study may name the attributes that betray a site (JX09 section 3: the quasi-identifiers with respect
//! to providers). Site diversity is then asked of the records that are written alike in those. Where
//! classes are written as the cuts leave them (`covers = "box"`), a class that can be cut no more
//! without taking sites apart is cut on by the other attributes alone, and nobody is asked about sites:
//! its parts stay one group to who looks at what betrays a site.
//!
//! Models that are not monotone (entropy l, t) may fail in a part though a part of that part would
//! hold; the class stays whole then, as in Mondrian.
//!
//! Classes that the release writes alike are one class to its readers. All models hold for a union if
//! they hold for its classes.
//!
//! # Discloses
//! To all sites, and implied by the release where the cut was made (JX09 Theorem 1): records and
//! ranges of the whole table, its sensitive counts, medians of classes, sizes and sensitive counts
//! of parts. Sizes and counts of refused cuts are not implied; they are named again in the ledger
//! under [`REFUSED`]. Where classes are cut at medians and written as nodes, medians and ranges are
//! finer than what the release prints. With site diversity, whether a part has records of at least l sites; where all attributes
//! are weighed, medians and part sizes of each, and how evenly its parts are spread over sites (JX09
//! Theorem 2). With m, which coalitions could not be taken out of a part. Where cuts between sites
//! are tried, how many records of a class the first sites of an order have ([`BETWEEN_SITES`]).

mod choose;
mod open;
mod plan;
pub(crate) mod settings;
mod wave;

use hedgerow_smc::{Party, What};

pub use super::partition::{Class, Partition};
use crate::error::Error;
use crate::fit;
use crate::horizontal::requirement::{Counted, Table};
use crate::horizontal::rows::{Arranged, Cut, OwnRows};
use open::{Open, Tries, Try};

pub use crate::horizontal::requirement::{
    COALITIONS, CONTRIBUTORS, ENTROPIES, EVENER, SENSITIVE, SITES, SPREAD, WITHSTOOD,
};
pub use plan::{Choice, Cutting, Plan, Quasi};
pub use settings::{Choose, Cuts, Medians, TopDown, Widths};

/// The number of records.
pub const RECORDS: What = What::new("records of the whole table", "the release");
/// The first and last value of each quasi-identifier that occurs.
pub const RANGES: What = What::new("ranges of the whole table", "JX09 Theorem 1");
/// The same where classes will be written as nodes, but cut at medians.
pub const RANGES_IN_NODES: What = What::new(
    "ranges of the whole table, finer than the nodes classes are written as",
    "the study: cuts at medians, written as nodes",
);
/// The medians at which classes are cut.
pub const MEDIANS: What = What::new("medians of classes", "JX09 Theorem 1");
/// The medians at which classes that will be written as nodes are cut.
pub const MEDIANS_IN_NODES: What = What::new(
    "medians of classes, finer than the nodes they are written as",
    "the study: cuts at medians, written as nodes",
);
/// The medians at which classes could be cut.
pub const ALL_MEDIANS: What =
    What::new("medians of every attribute of classes", "JX09 Theorem 2, 1");
/// The sizes of the parts of a cut, and their sensitive counts.
pub const PARTS: What = What::new("sizes and sensitive counts of parts", "JX09 Theorem 1");
/// The sizes and sensitive counts of the parts of all cuts among which one is chosen.
pub const CANDIDATES: What = What::new(
    "sizes and sensitive counts of parts of possible cuts",
    "JX09 Theorem 2, 2; MPRIV algorithm 2",
);
/// What was opened about cuts between sites: the ledger names it a second time, because it speaks of
/// sites, which the release does not.
pub const BETWEEN_SITES: What = What::new(
    "cuts between sites, with sizes and sensitive counts of their parts",
    "MPRIV section IV: the site as an attribute",
);
/// What was opened about cuts that were then refused: the ledger names it a second time, because no
/// class of the release implies it.
pub const REFUSED: What = What::new(
    "cuts that were refused, with sizes and sensitive counts of their parts",
    "JX09 Theorem 1, for all but the first attribute tried",
);
/// How many records lie at and below a relaxed median.
pub const AT_MEDIANS: What = What::new("records at and below medians", "JX09 algorithm 1, line 8");
/// The ranges of values in classes, for a study that asks for them instead of taking what the cuts
/// leave.
pub const DATA_RANGES: What = What::new("ranges of classes", "JX08 section 4.2");

/// Cuts the joint table into classes that satisfy the requirement. `each_wave` is told the number
/// of open classes, for people who wait.
pub async fn partition(
    party: &mut Party,
    rows: &OwnRows<'_>,
    plan: &Plan<'_>,
    mut each_wave: impl FnMut(u32, usize),
) -> Result<Partition, Error> {
    let provider = plan.cuts_sites;
    plan.demands.refuse(rows.sites)?;
    let mut arranged = Arranged::new(rows, provider);
    let records = fit::records(party, RECORDS, rows.records()).await?;
    plan.refuse(records, party.sites())?;
    let table = Table::ask(party, rows, &plan.demands, records).await?;
    let mut bounds = whole_ranges(party, &arranged, plan).await?;
    if provider {
        bounds.push((0, rows.sites.saturating_sub(1) as u32));
    }
    let root = Open::new(arranged.whole(), records, table.whole(), bounds, 0);
    let mut made = Partition {
        classes: Vec::new(),
        waves: 0,
        refused: 0,
        checks: refuse_unmeetable(party, &table, &arranged, &root).await?,
        records,
        sensitive: table.totals(),
        order: Vec::new(),
        counts: None,
    };

    let widths = choose::WholeWidths::of(&root, party.settings().security);
    let smallest = 2 * plan.demands.requirement.k() + u64::from(plan.keeps_twice_k);
    let mut born = 0;
    let mut open = vec![root];
    let mut closed: Vec<Open> = Vec::new();
    loop {
        let mut going = Vec::with_capacity(open.len());
        for mut class in open {
            if !class.has_candidate(plan) {
                class.fix(plan);
            }
            match class.size >= smallest && class.has_candidate(plan) {
                true => going.push(class),
                false => closed.push(class),
            }
        }
        open = going;
        if open.is_empty() {
            break;
        }
        made.waves += 1;
        each_wave(made.waves, open.len());
        let next = wave::wave(party, &mut arranged, plan, &table, &widths, open, &mut born).await?;
        made.refused += next.refused;
        made.checks += next.checks;
        if !next.split.is_empty() {
            closed
                .iter_mut()
                .for_each(|class| class.stretch = class.stretch.behind(&next.split));
        }
        open = next.open;
        let classes = (open.len() + closed.len()) as u64;
        plan.refuse_classes(classes, records, party.sites())?;
        arranged.settle(open.len() + closed.len());
    }
    Ok(made.finished(closed, arranged.into_order(), rows.quasi.len()))
}

/// Refuses what not even the whole table satisfies: tried as one part, without a cut.
async fn refuse_unmeetable(
    party: &mut Party,
    table: &Table<'_>,
    arranged: &Arranged<'_>,
    root: &Open,
) -> Result<u64, Error> {
    let everything = Try {
        class: 0,
        cut: Cut {
            attribute: 0,
            ends: vec![u32::MAX],
            left_at_end: None,
        },
        other_side: None,
    };
    let counted = Counted {
        sizes: vec![root.size],
        sensitive: root.sensitive.clone(),
    };
    let tries = Tries {
        arranged,
        open: std::slice::from_ref(root),
        tries: &[everything],
        counted: &[counted],
    };
    table.refuse_unmeetable(party, &tries).await
}

/// The first and last value of each quasi-identifier that occurs anywhere, or the lowest node above
/// these values; the whole domain where there are no records.
async fn whole_ranges(
    party: &mut Party,
    arranged: &Arranged<'_>,
    plan: &Plan<'_>,
) -> Result<Vec<(u32, u32)>, Error> {
    let domains: Vec<(u32, u32)> = plan.quasi.iter().map(|quasi| (0, quasi.size - 1)).collect();
    let stretches = [(arranged.whole(), domains.as_slice())];
    let what = if plan.is_coarsened() {
        RANGES_IN_NODES
    } else {
        RANGES
    };
    let found = wave::ranges(party, what, arranged, plan, &stretches).await?;
    Ok(found.into_iter().flatten().collect())
}

impl Partition {
    /// By bounds: the same at every site, whatever the order of closing.
    fn finished(
        mut self,
        mut closed: Vec<Open>,
        (mut order, mut counts): (Vec<u32>, Option<Vec<u32>>),
        quasi: usize,
    ) -> Self {
        // A table without records has no class.
        closed.retain(|class| class.size > 0);
        closed.sort_unstable_by(|a, b| (&a.bounds, a.born).cmp(&(&b.bounds, b.born)));
        self.classes = closed
            .into_iter()
            .map(|class| {
                let stretch = class.stretch.start..class.stretch.end;
                match &mut counts {
                    None => order[stretch].sort_unstable(),
                    Some(counts) => sort_both(&mut order[stretch.clone()], &mut counts[stretch]),
                }
                let mut bounds = class.bounds;
                bounds.truncate(quasi);
                Class {
                    bounds,
                    size: class.size,
                    start: class.stretch.start,
                    end: class.stretch.end,
                }
            })
            .collect();
        self.order = order;
        self.counts = counts;
        self
    }
}

/// Sorts the rows of a class, and their records with them.
fn sort_both(rows: &mut [u32], records: &mut [u32]) {
    let pairs = rows.iter().copied().zip(records.iter().copied());
    let mut pairs: Vec<(u32, u32)> = pairs.collect();
    pairs.sort_unstable();
    for ((row, records), pair) in rows.iter_mut().zip(records).zip(pairs) {
        (*row, *records) = pair;
    }
}
