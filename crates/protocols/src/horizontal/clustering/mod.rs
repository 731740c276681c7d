//! Sequential clustering of horizontally partitioned tables (TG12 section 4, Algorithm 3; Goldberger
//! and Tassa 2010).
//!
//! Records start in random clusters of about k/2 and move, one at a time, to the cluster where they cost
//! least, while the loss falls; clusters above 1.5 k are split at random. Sizes and closures of clusters
//! are known to all; which records are in them, only to their sites. A site in its turn asks the others
//! only where a record's leaving might narrow a closure, and asks all that it can ask together (`turn`).
//! The number of sites makes no difference: a party of one that takes the same turns gets the same
//! clusters.
//!
//! The published algorithm ends by merging the many small clusters (`merge`). The hardened form goes on
//! from there (`finish`): small clusters are dissolved as k is approached step by step, and narrower
//! clusters are opened where enough records would cost less, each tried first and kept only if the loss
//! falls and the requirement holds. One site that has all records asks nobody and searches freely
//! (`alone`).
//!
//! # Discloses
//! To all sites, sizes and closures of clusters at each turn (TG12 Proposition 8.9), and, where the
//! requirement speaks of them, their sensitive counts (8.2.2); from which clusters a site in its turn
//! may take a record (8.2.3), and the closures without that record. With the loss over the values that
//! occur, which values occur; with entropy, how often. With site diversity by support, which values and
//! combinations at least l sites have (`support`). In the finishing phase, whether enough records would
//! cost less in a narrower cluster, and how much less, and sizes, closures and sensitive counts of
//! clusters that were tried. With hidden counts, no sensitive counts, but which clusters satisfy the demands
//! on them (`hidden`).

mod acting;
mod alone;
mod asked;
mod boxes;
mod checks;
mod finish;
mod flatten;
mod hidden;
mod members;
mod merge;
mod plan;
mod proposing;
mod regions;
mod start;
mod stays;
mod support;
mod trial;
mod turn;
mod values;
mod visits;
mod work;

use hedgerow_data::Cell;
use hedgerow_privacy::{Model, Requirement, SiteSupport};
use hedgerow_smc::{Party, What};

use super::mondrian::{Partition, RECORDS};
use super::requirement::{Demands, Table};
use super::rows::OwnRows;
use crate::clustering::cost::UNIT;
use crate::clustering::shape::Shape;
use crate::clustering::shapes::Shapes;
pub use crate::clustering::{CountsChoice, Ended, Loss};
use crate::error::Error;
use crate::fit::{self, adds_up, holds_own};
use support::Lifted;
use work::Work;

pub(crate) use hidden::undecided;
pub use hidden::{DIVERSE_CLUSTERS, SIZES_ALONE, TOUCHED_CLUSTERS};
pub use plan::{Plan, Support};

/// The values of the quasi-identifiers that occur.
pub const OCCURRING_VALUES: What = What::new(
    "values of quasi-identifiers that occur",
    "the study: loss over the values that occur",
);
/// How often each does.
pub const VALUE_COUNTS: What = What::new(
    "counts of the values of quasi-identifiers",
    "TG12 section 4: the entropy measure",
);
/// Sizes of clusters; their sensitive counts, where the requirement needs them.
pub const CLUSTER_SIZES: What = What::new(
    "sizes and sensitive counts of clusters",
    "TG12 Proposition 8.9 and section 8.2.2",
);
/// Closures of clusters.
pub const CLUSTER_CLOSURES: What = What::new("closures of clusters", "TG12 Proposition 8.9");
/// The clusters in which a site in its turn looks at a record.
pub const ASKED_CLUSTERS: What = What::new(
    "clusters that a site asks about in its turn",
    "TG12 section 8.2.3",
);
/// How many records all sites together looked at.
pub const LOOKED_AT: What = What::new(
    "records that all sites together looked at in an iteration",
    "TG12 section 8.2.3: when iterations end",
);
/// The closures of clusters as they would be without a record.
pub const CLOSURES_WITHOUT_RECORD: What =
    What::new("closures of clusters without a record", "TG12 section 4.2");
/// Whether enough records would save in a narrower cluster, and how much.
pub const SAVINGS_IN_NARROWER_CLUSTERS: What = What::new(
    "narrower clusters that enough records would save in, and how much",
    "the study: clusters refined after merging",
);
/// Sizes, sensitive counts and closures of clusters that were tried.
pub const TRIED_CLUSTERS: What = What::new(
    "sizes, sensitive counts and closures of clusters that were tried",
    "the study: clusters refined after merging",
);

/// The nodes, and the combinations of nodes, under which at least so many sites have records.
pub const SUPPORTED_VALUES: What = What::new(
    "values and combinations of values that at least l sites support",
    "TG12 section 6.2",
);

/// A requirement without the site diversity that holds by support.
fn without_support(requirement: &Requirement) -> Requirement {
    let is_other = |model: &&Model| {
        !matches!(
            model,
            Model::SiteDiversity {
                support: SiteSupport::Taxonomy,
                ..
            }
        )
    };
    Requirement {
        models: requirement
            .models
            .iter()
            .filter(is_other)
            .cloned()
            .collect(),
        ..requirement.clone()
    }
}

/// A step of a run, for people who wait and for a later look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The phase of the run.
    pub phase: Phase,
    /// The number of clusters.
    pub clusters: usize,
    /// Mean loss of a cell.
    pub loss: f64,
}

/// A phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// An iteration over all records of all sites.
    Iteration,
    /// Small clusters merged, or dissolved as the demanded size was approached.
    Grown,
    /// Clusters opened, dissolved and improved record by record.
    Refined,
    /// Groups of clusters taken apart and built anew, where one site has all records.
    Rebuilt,
}

/// The result of a clustering.
#[derive(Debug)]
pub struct Clustering {
    /// The clusters as classes.
    pub partition: Partition,
    /// The cells that the release writes for each class.
    pub cells: Vec<Vec<Cell>>,
    /// Mean loss of a cell at the start and after each step of the start that was kept.
    pub trace: Vec<Progress>,
    /// What no clusters of k records can go below, as the mean loss of a cell; where one site has all records,
    /// and cells are not too many. Not for others: no release shows it.
    pub least_loss: Option<f64>,
    /// Why the iterations of the start that was kept ended.
    pub ended: Ended,
    /// SMC calls until the published end, as the paper counts them (TG12 sections 7.1 and 9.2.2): a sum for
    /// each size and for the sensitive values of each class, and for each closure as many conjunctions as
    /// its longest search of a taxonomy looks at nodes.
    pub published_calls: u64,
}

/// Clusters the joint table so that every cluster satisfies the requirement.
pub async fn cluster(
    party: &mut Party,
    rows: &OwnRows<'_>,
    plan: &Plan<'_>,
    mut each_step: impl FnMut(Progress),
) -> Result<Clustering, Error> {
    plan.demands.refuse(rows.sites)?;
    if plan.counts == CountsChoice::Hidden {
        hidden::refuse(plan.demands.requirement, rows.sites)?;
    }
    let records = fit::records(party, RECORDS, rows.records()).await?;
    let held = without_support(plan.demands.requirement);
    let demands = Demands {
        requirement: plan
            .support
            .as_ref()
            .map_or(plan.demands.requirement, |_| &held),
        ..plan.demands.clone()
    };
    let table = match plan.counts {
        CountsChoice::Opened => Table::ask(party, rows, &demands, records).await?,
        CountsChoice::Hidden => Table::without_counts(rows, &demands, records),
    };
    let lifted = match &plan.support {
        Some(support) => support::lift(party, rows, plan, support, records).await?,
        None => Lifted::none(rows),
    };
    let shapes = shapes(party, rows, plan, records, lifted.spans).await?;
    let mut best: Option<(Work<'_>, Vec<Progress>, Ended)> = None;
    // The number of records, and what the loss is relative to.
    let mut published_calls = match plan.loss {
        Loss::Lm => 1,
        Loss::Ncp => 2,
        Loss::Em => 1 + shapes.attributes() as u64,
    };
    let mut checks = 0;
    let cells = records.max(1) as f64 * shapes.attributes().max(1) as f64;
    let mean = |loss: u64| loss as f64 / UNIT / cells;
    for start in 0..plan.starts.max(1) {
        let mut work = Work::new(rows, &lifted.records, (&shapes, &table), plan, start);
        if start == 0 {
            checks += work.refuse_unmeetable(party).await?;
            work.refuse_hidden(party).await?;
        }
        let mut trace = Vec::new();
        let mut tell = |phase: Phase, clusters: usize, loss: u64| {
            let progress = Progress {
                phase,
                clusters,
                loss: mean(loss),
            };
            each_step(progress);
            trace.push(progress);
        };
        let is_refined = plan.is_refined && plan.counts == CountsChoice::Opened;
        let ended = if is_refined && work.is_alone() {
            alone::cluster(&mut work, &mut tell)
        } else {
            let mut step = |phase: Phase, work: &Work<'_>| {
                tell(phase, work.clusters.living().count(), work.clusters.loss());
            };
            start::start(party, &mut work).await?;
            let ended = turn::iterate(party, &mut work, &mut step).await?;
            published_calls += work.calls;
            if is_refined {
                finish::finish(party, &mut work, &mut step).await?;
            } else {
                merge::merge(party, &mut work).await?;
                step(Phase::Grown, &work);
            }
            ended
        };
        checks += work.checks;
        let is_over = work.is_alone() && (plan.used)() >= 1.0;
        let least = best.as_ref().map(|(kept, ..)| kept.clusters.loss());
        if least.is_none_or(|least| work.clusters.loss() < least) {
            best = Some((work, trace, ended));
        }
        if is_over {
            break;
        }
    }
    let least_loss = match &best {
        Some((work, ..)) if plan.finds_least && work.is_alone() => alone::least_loss(work),
        _ => None,
    };
    let (classes, cells, trace, ended) = match best {
        Some((work, trace, ended)) => {
            let (classes, cells) = work.classes();
            (classes, cells, trace, ended)
        }
        // The first start always exists.
        None => (Vec::new(), Vec::new(), Vec::new(), Ended::NothingMoved),
    };
    let iterations = trace
        .iter()
        .filter(|step| step.phase == Phase::Iteration)
        .count();
    Ok(Clustering {
        partition: Partition::of_classes(classes, iterations as u32, checks, &table),
        published_calls: published_calls + cells.len() as u64,
        cells,
        trace,
        least_loss: least_loss.map(mean),
        ended,
    })
}

/// Closures and their costs, once the values that these depend on are known.
async fn shapes<'a>(
    party: &mut Party,
    rows: &OwnRows<'_>,
    plan: &Plan<'a>,
    records: u64,
    lifted: Vec<Vec<(u32, u32)>>,
) -> Result<Shapes<'a>, Error> {
    let sizes = plan
        .writings
        .iter()
        .map(|writing| writing.domain.size() as usize);
    let mut counts: Vec<Vec<u64>> = sizes.map(|size| vec![0; size]).collect();
    for (counts, column) in counts.iter_mut().zip(&rows.quasi) {
        column.iter().for_each(|code| counts[code as usize] += 1);
    }
    let mut together: Vec<u64> = counts.concat();
    match plan.loss {
        Loss::Lm => {}
        Loss::Em => {
            let own = together.clone();
            party.sum(VALUE_COUNTS, &mut together).await?;
            let mut rest = together.as_slice();
            let mut fits = holds_own(&together, &own);
            for counts in &counts {
                let (of_attribute, behind) = rest.split_at(counts.len());
                fits &= adds_up(of_attribute, records);
                rest = behind;
            }
            party.fit(VALUE_COUNTS, fits, "values are not as many as records")?;
        }
        Loss::Ncp => {
            let own: Vec<bool> = together.iter().map(|count| *count > 0).collect();
            let mut bits = own.clone();
            party.any(OCCURRING_VALUES, &mut bits).await?;
            let fits = own.iter().zip(&bits).all(|(own, any)| *any || !own);
            party.fit(
                OCCURRING_VALUES,
                fits,
                "a value of this site is said not to occur",
            )?;
            together = bits.into_iter().map(u64::from).collect();
        }
    }
    let mut rest = together.as_slice();
    let writings = plan.writings.iter().zip(lifted);
    let shapes = writings.map(|(writing, lifted)| {
        let (counts, behind) = rest.split_at(writing.domain.size() as usize);
        rest = behind;
        Shape::covering(*writing, plan.covers, plan.loss, counts).lifted(lifted)
    });
    Ok(Shapes::new(shapes.collect()))
}
