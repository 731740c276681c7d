//! Changes that are tried before they are made. Each site moves only its own records, by a rule that all
//! know, among a few clusters that no other trial touches; then sizes and closures are asked again, and
//! everyone sees whether the loss falls and the requirement holds. A trial that fails is taken back.
//!
//! # Discloses
//! Sizes, sensitive counts and closures of the clusters that were tried, whether they were kept or
//! not.

use hedgerow_smc::Party;

use super::super::requirement::Counted;
use super::TRIED_CLUSTERS;
use super::work::Work;
use crate::clustering::clusters::growth;
use crate::clustering::numbers::{Cluster, Row};
use crate::error::Error;
use crate::fit::holds_own;

/// A change to try.
pub(super) struct Trial {
    /// The clusters that the trial may touch.
    pub(super) region: Vec<Cluster>,
    pub(super) change: Change,
}

pub(super) enum Change {
    /// Opens a cluster for all records that its closure covers and that cost more in the first `donors`
    /// clusters of the region. Donors that would become too small are dissolved, unless enough can be
    /// saved without touching them.
    Open { closure: Vec<u64>, donors: usize },
    /// Dissolves the first cluster of the region into the others.
    Dissolve,
    /// Removes the first cluster of the region, which may not stay: dissolves the cluster, or unites it
    /// with the cluster `into` if that loses less.
    Remove { into: Cluster },
}

/// The known facts about a cluster, to be restored.
struct Known {
    cluster: Cluster,
    size: u64,
    closure: Vec<u64>,
    counts: Vec<u64>,
}

/// A trial under way.
struct Tried {
    trial: Trial,
    opened: Option<Cluster>,
    /// How many records the opened cluster is to have.
    expected: u64,
    /// Clusters whose records all go.
    dissolved: Vec<Cluster>,
    /// Clusters that give what the opened one covers.
    giving: Vec<Cluster>,
    is_off: bool,
    loss: u64,
    known: Vec<Known>,
    /// Rows of this site that moved, and from where.
    moved: Vec<(Row, Cluster)>,
}

/// Tries changes of which no two touch the same cluster. Gives which were made.
pub(super) async fn attempt(
    party: &mut Party,
    work: &mut Work<'_>,
    trials: Vec<Trial>,
) -> Result<Vec<bool>, Error> {
    if trials.is_empty() {
        return Ok(Vec::new());
    }
    let first_opened = work.clusters.len();
    let mut tried = begin(party, work, trials).await?;
    for tried in tried.iter_mut().filter(|tried| !tried.is_off) {
        tried.move_rows(work);
    }
    let touched: Vec<Cluster> = tried
        .iter()
        .filter(|tried| !tried.is_off)
        .flat_map(Tried::touched)
        .collect();
    let known = tried.iter().filter(|tried| !tried.is_off);
    let known: Vec<&Known> = known.flat_map(|tried| &tried.known).collect();
    let whole = Counted {
        sizes: known.iter().map(|known| known.size).collect(),
        sensitive: known
            .iter()
            .flat_map(|known| known.counts.clone())
            .collect(),
    };
    let told = work
        .ask_sizes(party, TRIED_CLUSTERS, &touched, &whole)
        .await?;
    let mut sizes = told.sizes.iter().copied();
    let asked: Vec<(Cluster, Vec<u64>)> = tried
        .iter()
        .filter(|tried| !tried.is_off)
        .flat_map(|tried| tried.changed(work, &mut sizes))
        .collect();
    let closures = work.ask_closures(party, TRIED_CLUSTERS, &asked).await?;
    work.clusters.change(|change| {
        for (place, cluster) in touched.iter().enumerate() {
            change.set_counts(*cluster, told.sizes[place], told.of_part(place));
        }
        for ((cluster, _), closure) in asked.iter().zip(&closures) {
            change.set_closure(*cluster, closure);
            change.place(*cluster);
        }
        touched.iter().for_each(|cluster| change.place(*cluster));
    });
    let mut allowed: Vec<bool> = tried.iter().map(|tried| tried.is_better(work)).collect();
    let parts: Vec<Vec<Cluster>> = tried
        .iter()
        .map(|tried| tried.touched().collect())
        .collect();
    work.check_sites(party, &parts, &mut allowed).await?;
    for (tried, allowed) in tried.into_iter().zip(&allowed) {
        if !*allowed {
            tried.take_back(work);
        }
    }
    if !allowed.contains(&true) {
        work.close(first_opened);
    }
    Ok(allowed)
}

/// Notes what is, and finds out who would give how much to an opened cluster.
async fn begin(
    party: &mut Party,
    work: &mut Work<'_>,
    trials: Vec<Trial>,
) -> Result<Vec<Tried>, Error> {
    let mut tried = Vec::with_capacity(trials.len());
    let mut leaving: Vec<u64> = Vec::new();
    for trial in trials {
        let known = |cluster: &Cluster| Known {
            cluster: *cluster,
            size: work.clusters.size(*cluster),
            closure: work.clusters.closure(*cluster).to_vec(),
            counts: work.clusters.counts(*cluster).to_vec(),
        };
        let known: Vec<Known> = trial.region.iter().map(known).collect();
        let losses = trial.region.iter();
        let loss = losses.map(|cluster| work.clusters.loss_of(*cluster)).sum();
        let mut opened = None;
        if let Change::Open { closure, donors } = &trial.change {
            let cluster = work.open_in(work.region_of(trial.region[0]));
            work.clusters
                .change(|change| change.set_closure(cluster, closure));
            opened = Some(cluster);
            let fitting = |donor: &Cluster| {
                let rows = work.members(*donor).iter();
                rows.filter(|row| work.shapes.covers(closure, work.record(**row)))
                    .count() as u64
            };
            leaving.extend(trial.region[..*donors].iter().map(fitting));
        }
        tried.push(Tried {
            dissolved: match trial.change {
                Change::Open { .. } => Vec::new(),
                Change::Dissolve | Change::Remove { .. } => vec![trial.region[0]],
            },
            trial,
            opened,
            expected: 0,
            giving: Vec::new(),
            is_off: false,
            loss,
            known,
            moved: Vec::new(),
        });
    }
    if !leaving.is_empty() {
        let own = leaving.clone();
        party.sum(TRIED_CLUSTERS, &mut leaving).await?;
        party.fit(
            TRIED_CLUSTERS,
            holds_own(&leaving, &own),
            "fewer records than this site alone has",
        )?;
    }
    let mut leaving = leaving.as_slice();
    for tried in &mut tried {
        if let Change::Open { donors, .. } = tried.trial.change {
            let (own, behind) = leaving.split_at(donors);
            leaving = behind;
            let mut given = own.iter().zip(&tried.trial.region);
            let fits = given.all(|(count, donor)| *count <= work.clusters.size(*donor));
            party.fit(
                TRIED_CLUSTERS,
                fits,
                "more records leave a cluster than it has",
            )?;
            tried.decide(work, own);
        }
    }
    Ok(tried)
}

impl Tried {
    /// Decides which clusters give records to the opened cluster, and which are dissolved for it.
    fn decide(&mut self, work: &Work<'_>, leaving: &[u64]) {
        let Some(opened) = self.opened else { return };
        let cost = work.clusters.cost(opened);
        let (mut all, mut strong) = ((0, 0), (0, 0));
        let mut weak = Vec::new();
        for (donor, count) in self.trial.region.iter().zip(leaving) {
            let left = work.clusters.size(*donor).saturating_sub(*count);
            let saved = count * work.clusters.cost(*donor).saturating_sub(cost);
            all = (all.0 + count, all.1 + saved);
            if *count == 0 {
                continue;
            }
            self.giving.push(*donor);
            if left == 0 || left >= work.least {
                strong = (strong.0 + count, strong.1 + saved);
            } else {
                weak.push(*donor);
            }
        }
        let count = if strong.0 >= work.least && 2 * strong.1 >= all.1 {
            self.giving.retain(|donor| !weak.contains(donor));
            strong.0
        } else {
            self.dissolved = weak;
            all.0
        };
        self.is_off = count < work.least || all.1 == 0;
        self.expected = count;
    }

    fn move_rows(&mut self, work: &mut Work<'_>) {
        let mut moves: Vec<(Row, Cluster)> = Vec::new();
        if let (Change::Open { closure, .. }, Some(opened)) = (&self.trial.change, self.opened) {
            for donor in &self.giving {
                let rows = work.members(*donor).iter();
                let covered = rows.filter(|row| work.shapes.covers(closure, work.record(**row)));
                moves.extend(covered.map(|row| (*row, opened)));
            }
        }
        for (row, to) in moves.drain(..) {
            self.moved.push((row, work.cluster_of(row)));
            work.relabel(row, to);
        }
        let targets: Vec<Cluster> = self.receivers().collect();
        for cluster in &self.dissolved {
            for row in work.members(*cluster) {
                let record = work.record(*row);
                let growths = targets.iter().filter_map(|target| {
                    let (size, cost) = (self.size(work, *target), work.clusters.cost(*target));
                    let closure = work.clusters.closure(*target);
                    let joined = work.shapes.joined_cost(closure, record);
                    (size > 0).then(|| (growth(size, cost, joined), *target))
                });
                if let Some((_, target)) = growths.min() {
                    moves.push((*row, target));
                }
            }
        }
        for (row, to) in moves {
            self.moved.push((row, work.cluster_of(row)));
            work.relabel(row, to);
        }
    }

    /// How many records a cluster has before the trial; for the opened cluster, how many it is to have.
    fn size(&self, work: &Work<'_>, cluster: Cluster) -> u64 {
        if self.opened == Some(cluster) {
            self.expected
        } else {
            work.clusters.size(cluster)
        }
    }

    /// Where records of dissolved clusters may go.
    fn receivers(&self) -> impl Iterator<Item = Cluster> + '_ {
        let clusters = self.trial.region.iter().chain(&self.opened);
        clusters
            .copied()
            .filter(|cluster| !self.dissolved.contains(cluster))
    }

    fn touched(&self) -> impl Iterator<Item = Cluster> + '_ {
        self.trial.region.iter().chain(&self.opened).copied()
    }

    /// The clusters whose closures may have changed, and the closures within which the new ones lie.
    /// `sizes` are the present sizes of the touched clusters.
    fn changed(
        &self,
        work: &Work<'_>,
        sizes: &mut impl Iterator<Item = u64>,
    ) -> Vec<(Cluster, Vec<u64>)> {
        let mut changed = Vec::new();
        for (cluster, size) in self.touched().zip(sizes) {
            if size == 0 {
                continue;
            }
            let known = self.known.iter().find(|known| known.cluster == cluster);
            let has_given = self.giving.contains(&cluster);
            if known.is_some_and(|known| known.size == size) && !has_given {
                continue;
            }
            let mut within = work.clusters.closure(cluster).to_vec();
            if !self.dissolved.contains(&cluster) {
                for source in &self.dissolved {
                    work.shapes
                        .join(&mut within, work.clusters.closure(*source));
                }
            }
            changed.push((cluster, within));
        }
        changed
    }

    /// Whether the loss has fallen, or by less than uniting would, and all clusters are enough.
    fn is_better(&self, work: &Work<'_>) -> bool {
        if self.is_off
            || !self
                .touched()
                .all(|cluster| work.is_enough(cluster) || self.stays(work, cluster))
        {
            return false;
        }
        if self
            .dissolved
            .iter()
            .any(|cluster| work.clusters.size(*cluster) > 0)
        {
            return false;
        }
        let now: u64 = self
            .touched()
            .map(|cluster| work.clusters.loss_of(cluster))
            .sum();
        match self.trial.change {
            Change::Remove { into } => {
                let known =
                    |wanted: Cluster| self.known.iter().find(|known| known.cluster == wanted);
                let (Some(gone), Some(into)) = (known(self.trial.region[0]), known(into)) else {
                    return false;
                };
                let united = work.shapes.common_cost(&gone.closure, &into.closure);
                let apart = gone.size * work.shapes.cost(&gone.closure)
                    + into.size * work.shapes.cost(&into.closure);
                now <= self.loss + (gone.size + into.size) * united - apart
            }
            _ => now < self.loss,
        }
    }

    /// Whether a cluster was too small before and has not become worse.
    fn stays(&self, work: &Work<'_>, cluster: Cluster) -> bool {
        let known = self.known.iter().find(|known| known.cluster == cluster);
        known.is_some_and(|known| {
            let was_enough = known.size >= work.least && work.is_diverse(known.size, &known.counts);
            let size = work.clusters.size(cluster);
            !was_enough && size >= known.size.min(work.least)
        })
    }

    fn take_back(self, work: &mut Work<'_>) {
        for (row, from) in self.moved.into_iter().rev() {
            work.relabel(row, from);
        }
        for known in self.known {
            work.clusters.change(|change| {
                change.set_counts(known.cluster, known.size, &known.counts);
                change.set_closure(known.cluster, &known.closure);
            });
        }
        if let Some(opened) = self.opened {
            work.clusters.change(|change| change.empty(opened));
        }
    }
}
