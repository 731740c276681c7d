//! Distributed Mondrian: top-down cuts, in waves (JX09 section 4, JX08 sections 4.1 to 4.3; LeFevre
//! et al. 2006).
//!
//! Everything open is asked together. In each wave every open class tries its best attribute that
//! is left: one step finds all medians, one opens the sizes (and, where the requirement speaks of
//! them, the sensitive counts) of all parts; a class is cut if every part satisfies the whole
//! requirement, otherwise it tries its next attribute in the next wave. All sites compute the same
//! decisions from the same disclosed numbers; no leader is needed. Ranges follow from the cuts and
//! cost nothing. A class below 2k closes without a question.
//!
//! Models that are not monotone (entropy l, t) may fail in a part though a part of that part would
//! hold; the class stays whole then, as in Mondrian.
//!
//! # Discloses
//! To all sites, and implied by the release where the cut was made (JX09 Theorem 1): records and
//! ranges of the whole table, its sensitive counts, medians of classes, sizes and sensitive counts
//! of parts. For refused cuts, medians and sizes or counts of the parts that were refused. With
//! site diversity, whether a part has records of at least l sites (less than JX09 Theorem 2 allows).

mod check;
mod wave;

use hedgerow_data::Taxonomy;
use hedgerow_privacy::Requirement;
use hedgerow_privacy::closeness::Distance;
use hedgerow_smc::{Party, What};

use crate::Error;
use crate::horizontal::rows::{Arranged, OwnRows, Stretch};
use wave::Open;

/// How many records there are.
pub const RECORDS: What = What::new("records of the whole table", "the release");
/// The first and last value of each quasi-identifier that occurs.
pub const RANGES: What = What::new("ranges of the whole table", "JX09 Theorem 1");
/// How often each sensitive value occurs.
pub const SENSITIVE: What = What::new("sensitive counts of the whole table", "the release");
/// Where classes are cut.
pub const MEDIANS: What = What::new("medians of classes", "JX09 Theorem 1");
/// How large the parts of a cut are, and what sensitive values they hold.
pub const PARTS: What = What::new("sizes and sensitive counts of parts", "JX09 Theorem 1");
/// Whether parts have records of enough sites.
pub const SITES: What = What::new("parts with records of enough sites", "JX09 Theorem 2");

/// How a quasi-identifier is cut.
#[derive(Debug, Clone)]
pub enum Cutting<'a> {
    /// In two at the median of declared or leaf order.
    Median,
    /// Into the children of a node.
    Children(&'a Taxonomy),
}

/// One quasi-identifier of a run.
#[derive(Debug, Clone)]
pub struct Quasi<'a> {
    /// Number of values.
    pub size: u32,
    /// How it is cut.
    pub cutting: Cutting<'a>,
}

/// One sensitive attribute of a run.
#[derive(Debug, Clone, Copy)]
pub struct SensitiveAttribute<'a> {
    /// Its ground distance, for closeness.
    pub distance: Distance,
    /// Its taxonomy, for the hierarchical distance.
    pub tree: Option<&'a Taxonomy>,
}

/// What all sites agree on before a run.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// The quasi-identifiers.
    pub quasi: Vec<Quasi<'a>>,
    /// The sensitive attributes.
    pub sensitive: Vec<SensitiveAttribute<'a>>,
    /// What every class must satisfy.
    pub requirement: &'a Requirement,
}

/// A finished class: what all sites know of it, and this site's rows in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// For each quasi-identifier, the least and greatest code that the cuts leave it.
    pub bounds: Vec<(u32, u32)>,
    /// Records of all sites.
    pub size: u64,
    /// This site's rows, ascending.
    pub rows: Vec<u32>,
}

/// A partition of the joint table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The classes, in an order that follows from the cuts alone.
    pub classes: Vec<Class>,
    /// Waves of questions.
    pub waves: u32,
    /// Cuts that were refused.
    pub refused: u64,
}

/// Cuts the joint table into classes that satisfy the requirement. `each_wave` is told the number
/// of open classes, for people who wait.
pub async fn partition(
    party: &mut Party,
    rows: &OwnRows<'_>,
    plan: &Plan<'_>,
    mut each_wave: impl FnMut(u32, usize),
) -> Result<Partition, Error> {
    check::refuse_undecidable(plan.requirement)?;
    let mut arranged = Arranged::new(rows);
    let whole = Stretch {
        start: 0,
        end: rows.count,
    };
    let mut records = [rows.count as u64];
    party.sum(RECORDS, &mut records).await?;
    let [records] = records;

    let table = check::Table::ask(party, rows, plan, records).await?;
    let bounds = whole_ranges(party, &arranged, plan, &whole).await?;
    let root = Open::new(whole, records, table.whole(), bounds.clone());
    table.refuse_unmeetable(party, &arranged, &root).await?;

    let spread: Vec<u32> = bounds
        .iter()
        .map(|(least, greatest)| greatest - least)
        .collect();
    let mut open = vec![root];
    let mut closed: Vec<Open> = Vec::new();
    let mut partition = Partition {
        classes: Vec::new(),
        waves: 0,
        refused: 0,
    };
    loop {
        let smallest = 2 * plan.requirement.k();
        let (going, done) = open
            .into_iter()
            .partition(|class| class.size >= smallest && class.has_candidate(&plan.quasi, &spread));
        closed.extend::<Vec<Open>>(done);
        open = going;
        if open.is_empty() {
            break;
        }
        partition.waves += 1;
        each_wave(partition.waves, open.len());
        let next = wave::wave(party, &mut arranged, plan, &table, &spread, open).await?;
        partition.refused += next.refused;
        open = next.open;
    }
    // By bounds: the same at every site, whatever the order of closing.
    closed.sort_by(|a, b| a.bounds.cmp(&b.bounds));
    partition.classes = closed
        .into_iter()
        .map(|class| {
            let mut rows = arranged.places(&class.stretch).to_vec();
            rows.sort_unstable();
            Class {
                bounds: class.bounds,
                size: class.size,
                rows,
            }
        })
        .collect();
    Ok(partition)
}

/// The first and last value of each quasi-identifier that occurs anywhere; the whole domain where
/// there are no records.
async fn whole_ranges(
    party: &mut Party,
    arranged: &Arranged<'_>,
    plan: &Plan<'_>,
    whole: &Stretch,
) -> Result<Vec<(u32, u32)>, Error> {
    let last = |attribute: usize| u64::from(plan.quasi[attribute].size - 1);
    let mut ranges: Vec<Option<(u64, u64)>> = (0..plan.quasi.len())
        .map(|attribute| arranged.range(attribute, whole))
        .collect();
    party
        .ranges(RANGES, |attribute| 0..=last(attribute), &mut ranges)
        .await?;
    let bounds = ranges.into_iter().enumerate().map(|(attribute, range)| {
        let (least, greatest) = range.unwrap_or((0, last(attribute)));
        // Codes are below the size of the domain, which is a u32.
        (least as u32, greatest as u32)
    });
    Ok(bounds
        .zip(&plan.quasi)
        .map(|((least, greatest), quasi)| match &quasi.cutting {
            Cutting::Median => (least, greatest),
            // Cuts along the tree need a node: the lowest that covers what occurs.
            Cutting::Children(tree) => tree.interval(tree.lowest_common_ancestor(least, greatest)),
        })
        .collect())
}
