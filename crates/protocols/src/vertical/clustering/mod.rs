//! Sequential clustering of vertically partitioned tables (TG12 section 5, Algorithm 4).
//!
//! All sites hold the same records, so the members of each cluster are known to all, and each site knows
//! the closures of clusters in its own columns. What a change costs is the sum of what it costs each
//! site, and only the pivot, the first site, learns the sum: the pivot picks the changes and announces
//! them. Costs are whole numbers, so that the sums are the same however the columns are split, and so is
//! all that follows from them: a party of one that has every column gets the same clusters.
//!
//! The changes of a block of records are asked together (`pass`): as published against all clusters, else
//! against clusters that a lower bound does not rule out (`asked`), with the same moves. Of a block, moves
//! that touch different clusters are made together; the other records wait for a later block. A record
//! that stayed is asked again only about clusters that have changed since, which all sites know. Small
//! clusters are united in the end, all pairs asked together and mutual nearest united (`unite`). The
//! published algorithm ends there; then records move on out of clusters larger than k while the loss
//! falls.
//!
//! Demands on sensitive values are checked by the site that has these values, on the moves, splits and
//! clusters that are proposed (6.1), and the sites learn together whether all agree. The site with the
//! first sensitive attribute deals its values evenly at the start and when clusters are split (6.1.1,
//! 6.1.2). Of several starts, the start with the least loss is kept.
//!
//! # Discloses
//! To the pivot, by how much the loss of all sites together changes when a record leaves, when it joins a
//! cluster that can win (as published, when it moves to any), when two clusters are united, and from step
//! to step ([`LOSS_CHANGES`], TG12 Proposition 8.1 and section 8.3), and, except as published, what a record
//! costs in each cluster at least ([`CLUSTER_COSTS`]). To all sites, which clusters can win, except as
//! published ([`CANDIDATES`]), random words ([`RANDOM_WORDS`]), how records are dealt ([`DEALT_RECORDS`]), where records move or that they
//! wait ([`RECORD_MOVES`]), which clusters are united ([`UNITED_CLUSTERS`]), when iterations end ([`LAST_ITERATION`]), which start
//! is kept ([`BEST_START`]), and whether proposals satisfy the requirement at every site ([`HOLDING_PROPOSALS`],
//! [`MET_REQUIREMENT`]); then the release ([`CELLS`], [`VALUES`]). Closures, costs and sensitive values of a site
//! stay there until the release. With two sites the pivot learns the other site's changes; noise on them
//! is an option (8.3).

mod asked;
pub(super) mod assembly;
mod changes;
mod kept;
mod pass;
mod plan;
mod start;
mod steps;
mod unite;
mod work;

use hedgerow_data::{Cell, Codes, Role};
use hedgerow_privacy::Reference;
use hedgerow_smc::{Party, What};

use super::own::{Demand, OwnColumn};
pub use crate::clustering::{Ended, Loss};
use crate::error::Error;
pub use assembly::{CELLS, VALUES, assemble};
use start::Draws;
use steps::{Steps, mean};
use work::Work;

pub use plan::Plan;

/// Whether all records together satisfy the requirement.
pub const MET_REQUIREMENT: What = What::new(
    "whether the whole table satisfies the requirement at every site",
    "the release",
);
/// The random words from which the start, the visiting orders and the splits are drawn.
pub const RANDOM_WORDS: What = What::new(
    "random words that the pivot draws for start, order and splits",
    "TG12 section 5: clusters are public",
);
/// How the site with the first sensitive attribute deals records to clusters.
pub const DEALT_RECORDS: What = What::new(
    "clusters that records are dealt to at the start, and halves of split clusters",
    "TG12 sections 6.1.1 and 6.1.2",
);
/// Changes of the loss.
pub const LOSS_CHANGES: What = What::new(
    "changes of the loss when records leave or join clusters, and when clusters are united",
    "TG12 Proposition 8.1 and section 8.3",
);
/// What a record costs in a cluster at least, from which the pivot sees which clusters can win.
pub const CLUSTER_COSTS: What = What::new(
    "what a record adds to the loss of each cluster at least",
    "TG12 section 8.3: the change for a record that the cluster covers",
);
/// The clusters that are asked about.
pub const CANDIDATES: What = What::new(
    "clusters that records may move to with a saving, by what the pivot knows",
    "not in TG12, where the pivot asks about all clusters",
);
/// The moves of records, and which records wait.
pub const RECORD_MOVES: What = What::new(
    "clusters that records move to, and records that wait",
    "TG12 section 5: clusters are public",
);
/// The clusters that are united.
pub const UNITED_CLUSTERS: What = What::new(
    "clusters that are united",
    "TG12 section 5: clusters are public",
);
/// Whether what was proposed satisfies the requirement.
pub const HOLDING_PROPOSALS: What = What::new(
    "whether moves, splits and clusters satisfy the requirement at every site",
    "TG12 section 6.1",
);

/// Whether iterations end.
pub const LAST_ITERATION: What = What::new(
    "whether an iteration brought so little that it is the last",
    "TG12 section 5: the pivot says when to stop",
);

/// The start that is kept.
pub const BEST_START: What = What::new(
    "whether a start ended better than those before it",
    "TG12 section 5: clusters are public",
);

/// A step of a run, for people who wait and for a later look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// The phase of the run.
    pub phase: Phase,
    /// The number of clusters.
    pub clusters: usize,
    /// Records that moved, or clusters that were united.
    pub moved: u64,
    /// By how much the mean loss of a cell differs from that at the first start; only the pivot
    /// knows.
    pub change: Option<f64>,
}

/// A phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// An iteration over all records.
    Iteration,
    /// Small clusters united.
    United,
    /// An iteration over the records of clusters larger than k.
    Refined,
}

/// The result of a clustering at one site.
#[derive(Debug)]
pub struct Clustering {
    /// The records of each cluster by their place in the common order, ascending.
    pub clusters: Vec<Vec<u32>>,
    /// How each cluster is written in this site's quasi-identifiers.
    pub cells: Vec<Vec<Cell>>,
    /// The steps of the start that was kept.
    pub trace: Vec<Progress>,
    /// The mean loss of a cell over this site's cells; no other site knows it.
    pub own_loss: f64,
    /// Why the iterations of the start that was kept ended.
    pub ended: Ended,
    /// Why the iterations after clusters were united ended, where there were such iterations.
    pub refinement_ended: Option<Ended>,
    /// Secure sums that the published form needs for the same starts: one for each record in each
    /// iteration, one for each union.
    pub published_calls: u64,
}

/// Clusters the joint table so that every cluster satisfies the requirement. `columns` are this site's
/// columns by their position in the study's schema, `rows` the places in them of the records that all
/// sites hold, in their common order.
pub async fn cluster(
    party: &mut Party,
    plan: &Plan<'_>,
    columns: &[(usize, &Codes)],
    rows: &[u32],
    mut each_step: impl FnMut(Progress),
) -> Result<Clustering, Error> {
    let held = plan.held();
    held.refuse(rows.len())?;
    let own = |role| held.own_columns(party, role, columns, rows);
    let (quasi, sensitive) = (own(Role::Quasi)?, own(Role::Sensitive)?);
    let references: Vec<Reference> = sensitive.iter().map(OwnColumn::reference).collect();
    let demand = Demand::new(plan.requirement, &sensitive, &references);
    demand
        .refuse_unmeetable(party, MET_REQUIREMENT, rows.len())
        .await?;

    let shapes = plan.shapes(&quasi);
    let mut draws = Draws::agree(party, plan).await?;
    let mut steps = Steps::new(rows.len(), plan.writings.len());
    // The first start is always better than no start.
    let mut best = Clustering {
        clusters: Vec::new(),
        cells: Vec::new(),
        trace: Vec::new(),
        own_loss: 0.0,
        ended: Ended::Bound,
        refinement_ended: None,
        published_calls: 0,
    };
    let mut published_calls = 0;
    for start in 0..plan.starts.max(1) {
        let mut work = Work::new(plan, &shapes, &demand, &quasi, rows.len(), draws);
        start::start(party, &mut work).await?;
        steps.begin(party, &work, start).await?;
        let run = run(party, &mut work, &mut steps, &mut each_step).await?;
        published_calls += run.published_calls;
        if steps.is_best(party, start).await? {
            let (clusters, cells) = work.written();
            let own_loss = mean(work.clusters.loss() as f64, rows.len(), quasi.len());
            best = Clustering {
                clusters,
                cells,
                trace: std::mem::take(&mut steps.trace),
                own_loss,
                ended: run.ended,
                refinement_ended: run.refinement_ended,
                published_calls,
            };
        }
        draws = work.draws;
    }
    best.published_calls = published_calls;
    Ok(best)
}

/// What is known of a start at its end.
struct Run {
    ended: Ended,
    refinement_ended: Option<Ended>,
    published_calls: u64,
}

/// Runs one start to its end.
async fn run(
    party: &mut Party,
    work: &mut Work<'_>,
    steps: &mut Steps,
    each_step: &mut impl FnMut(Progress),
) -> Result<Run, Error> {
    let plan = work.plan;
    let mut ended = Ended::Bound;
    let mut published_calls = 0;
    for iteration in 0.. {
        if plan.stop.is_bound(iteration) {
            break;
        }
        let moved = pass::pass(party, work, 0).await?;
        let splits = start::split(party, work).await?;
        published_calls += work.rows() as u64;
        let is_last = steps.step(party, work, Phase::Iteration, moved).await?;
        steps.tell(each_step);
        // As printed, only moves of records count.
        let changes = if plan.is_printed {
            moved
        } else {
            moved + splits
        };
        if is_last || changes == 0 {
            ended = why(plan, changes);
            break;
        }
    }
    let united = unite::unite(party, work).await?;
    published_calls += united;
    steps.step(party, work, Phase::United, united).await?;
    steps.tell(each_step);
    let mut refinement_ended = None;
    if plan.is_refined {
        let mut ended = Ended::Bound;
        for iteration in 0.. {
            if plan.stop.is_bound(iteration) {
                break;
            }
            let moved = pass::pass(party, work, plan.requirement.k()).await?;
            let is_last = steps.step(party, work, Phase::Refined, moved).await?;
            steps.tell(each_step);
            if is_last || moved == 0 {
                ended = why(plan, moved);
                break;
            }
        }
        refinement_ended = Some(ended);
    }
    Ok(Run {
        ended,
        refinement_ended,
        published_calls,
    })
}

/// Why an iteration with so many changes is the last worthwhile one.
fn why(plan: &Plan<'_>, changes: u64) -> Ended {
    match changes {
        0 => Ended::NothingMoved,
        _ if plan.stop.has_least_gain() => Ended::SmallGain,
        _ => Ended::Circling,
    }
}
