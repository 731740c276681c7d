//! A clustering under way: the members of clusters, which all sites know, and what this site knows of
//! the clusters in its own columns.

use std::collections::BTreeMap;
use std::slice::from_ref;

use hedgerow_data::{Cell, Role};
use hedgerow_privacy::{ClassView, Counts, Model};
use hedgerow_smc::{Party, Site};

use super::super::own::{Demand, OwnColumn};
use super::start::Draws;
use super::{HOLDING_PROPOSALS, LOSS_CHANGES, Loss, Plan};
use crate::clustering::clusters::Clusters;
use crate::clustering::cost::UNIT;
use crate::clustering::numbers::{Cluster, Row};
use crate::clustering::shapes::Shapes;
use crate::error::Error;

/// The entropy of 2^32 records, in bits.
const MOST_ENTROPY: f64 = 32.0;

/// The site that learns the changes of the loss and picks the moves.
pub(super) const PIVOT: Site = Site::new(0);

/// A number that no change of the loss can be.
pub(super) const TOO_MUCH: &str = "the loss changes by more than there is to lose";

/// A sensitive attribute.
struct Attribute<'a> {
    demand: Demand<'a>,
    /// All values of the attribute.
    values: Vec<u32>,
    /// The place where the attribute's counts begin.
    from: usize,
}

impl Attribute<'_> {
    fn of<'c>(&self, counts: &'c [u64]) -> &'c [u64] {
        &counts[self.from..self.from + self.values.len()]
    }
}

pub(super) struct Work<'a> {
    pub(super) plan: &'a Plan<'a>,
    pub(super) shapes: &'a Shapes<'a>,
    /// What the requirement demands beyond the size of clusters.
    beyond_size: Vec<Model>,
    /// This site's sensitive attributes. Each is asked about alone, so that it makes no difference which
    /// of them stand at one site.
    attributes: Vec<Attribute<'a>>,
    /// Whether this site holds the study's first sensitive attribute; `None` if the study has no
    /// sensitive attribute.
    first_sensitive: Option<bool>,
    /// Closures and costs in this site's columns, and the counts of its sensitive values.
    pub(super) clusters: Clusters,
    pub(super) draws: Draws,
    /// Counts blocks: what is asked at one moment is settled before the next.
    pub(super) clock: u64,
    /// When each cluster changed last.
    pub(super) changed: Vec<u64>,
    /// When each record was last found to be in its best cluster.
    pub(super) settled: Vec<u64>,
    /// When the pivot was last told what a record costs in clusters at least.
    pub(super) least_told: u64,
    /// Known to the pivot: the least that a record costs the other sites together, by cluster.
    pub(super) others_least: Vec<u64>,
    /// Codes of this site's quasi-identifiers, row by row.
    records: Vec<u32>,
    /// For each row, the places of its sensitive values among the counts.
    sensitive: Vec<u32>,
    cluster_of: Vec<Cluster>,
    members: Vec<Vec<Row>>,
    /// For each cluster and quasi-identifier, how often each value occurs.
    occurring: Vec<Vec<BTreeMap<u32, u32>>>,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        plan: &'a Plan<'a>,
        shapes: &'a Shapes<'a>,
        demand: &'a Demand<'a>,
        quasi: &[OwnColumn<'_>],
        rows: usize,
        draws: Draws,
    ) -> Self {
        let is_beyond_size = |model: &&Model| !matches!(model, Model::KAnonymity { .. });
        let beyond_size: Vec<Model> = demand
            .models
            .iter()
            .filter(is_beyond_size)
            .cloned()
            .collect();
        let mut attributes: Vec<Attribute<'a>> = Vec::new();
        let mut counters = 0;
        let columns = demand.sensitive.iter().zip(demand.table.references);
        for ((column, reference), values) in columns.zip(demand.all_values()) {
            let (column, reference) = (from_ref(column), from_ref(reference));
            counters += values.len();
            attributes.push(Attribute {
                demand: Demand::new(plan.requirement, column, reference),
                from: counters - values.len(),
                values,
            });
        }
        let first = plan.schema.with_role(Role::Sensitive).first().copied();
        let own_first = demand.sensitive.first().map(|column| column.position);
        let mut records = Vec::with_capacity(rows * quasi.len());
        let mut sensitive = Vec::new();
        for row in 0..rows {
            records.extend(quasi.iter().map(|column| column.codes[row]));
            let columns = demand.sensitive.iter().zip(&attributes);
            sensitive.extend(
                columns.map(|(column, attribute)| attribute.from as u32 + column.codes[row]),
            );
        }
        Self {
            plan,
            shapes,
            beyond_size,
            attributes,
            first_sensitive: first.map(|first| own_first == Some(first)),
            clusters: Clusters::new(shapes.width(), counters),
            draws,
            clock: 1,
            changed: Vec::new(),
            settled: vec![0; rows],
            least_told: 0,
            others_least: Vec::new(),
            records,
            sensitive,
            cluster_of: vec![Cluster::at(0); rows],
            members: Vec::new(),
            occurring: Vec::new(),
        }
    }

    pub(super) fn k(&self) -> u64 {
        self.plan.requirement.k()
    }

    pub(super) fn rows(&self) -> usize {
        self.cluster_of.len()
    }

    pub(super) fn cluster_of(&self, row: Row) -> Cluster {
        self.cluster_of[row.index()]
    }

    pub(super) fn members(&self, cluster: Cluster) -> &[Row] {
        &self.members[cluster.index()]
    }

    pub(super) fn record(&self, row: Row) -> &[u32] {
        let width = self.shapes.attributes();
        &self.records[row.index() * width..(row.index() + 1) * width]
    }

    fn sensitive(&self, row: Row) -> &[u32] {
        let width = self.attributes.len();
        &self.sensitive[row.index() * width..(row.index() + 1) * width]
    }

    /// Opens a cluster of some records that are in no other.
    pub(super) fn open(&mut self, rows: Vec<Row>) -> Cluster {
        let cluster = self.clusters.push();
        self.members.push(Vec::new());
        self.occurring
            .push(vec![BTreeMap::new(); self.shapes.attributes()]);
        self.changed.push(0);
        rows.into_iter().for_each(|row| self.enter(row, cluster));
        self.close_over(cluster);
        cluster
    }

    /// Moves a record.
    pub(super) fn shift(&mut self, row: Row, to: Cluster) {
        let from = self.cluster_of(row);
        self.leave(row);
        self.enter(row, to);
        self.close_over(from);
        self.close_over(to);
    }

    /// Moves some records of one cluster to a new one.
    pub(super) fn part(&mut self, rows: &[Row], from: Cluster) {
        rows.iter().for_each(|row| self.leave(*row));
        self.open(rows.to_vec());
        self.close_over(from);
    }

    /// Moves all records of a cluster to another.
    pub(super) fn unite(&mut self, gone: Cluster, into: Cluster) {
        for row in self.members[gone.index()].clone() {
            self.leave(row);
            self.enter(row, into);
        }
        self.close_over(gone);
        self.close_over(into);
    }

    fn enter(&mut self, row: Row, cluster: Cluster) {
        self.cluster_of[row.index()] = cluster;
        self.members[cluster.index()].push(row);
        *self.clusters.size_mut(cluster) += 1;
        for attribute in 0..self.shapes.attributes() {
            let code = self.record(row)[attribute];
            *self.occurring[cluster.index()][attribute]
                .entry(code)
                .or_default() += 1;
        }
        for place in 0..self.attributes.len() {
            let value = self.sensitive(row)[place];
            self.clusters.counts_mut(cluster)[value as usize] += 1;
        }
    }

    fn leave(&mut self, row: Row) {
        let cluster = self.cluster_of(row);
        let members = &mut self.members[cluster.index()];
        if let Some(place) = members.iter().position(|member| *member == row) {
            members.swap_remove(place);
        }
        *self.clusters.size_mut(cluster) -= 1;
        for attribute in 0..self.shapes.attributes() {
            let code = self.record(row)[attribute];
            let occurring = &mut self.occurring[cluster.index()][attribute];
            if let Some(count) = occurring.get_mut(&code) {
                *count -= 1;
                if *count == 0 {
                    occurring.remove(&code);
                }
            }
        }
        for place in 0..self.attributes.len() {
            let value = self.sensitive(row)[place];
            self.clusters.counts_mut(cluster)[value as usize] -= 1;
        }
    }

    /// Finds the closure of a cluster anew.
    fn close_over(&mut self, cluster: Cluster) {
        let mut closure = self.clusters.closure(cluster).to_vec();
        for (attribute, values) in self.occurring[cluster.index()].iter().enumerate() {
            let values = values.keys().copied();
            self.shapes.put_values(attribute, values, &mut closure);
        }
        self.clusters.set_closure(self.shapes, cluster, &closure);
        self.changed[cluster.index()] = self.clock;
    }

    /// By how much this site's loss changes, modulo 2^64, when a record leaves its cluster.
    pub(super) fn leaving(&self, row: Row) -> u64 {
        let cluster = self.cluster_of(row);
        let before = self.clusters.loss_of(cluster);
        let left = self.clusters.size(cluster) - 1;
        if left == 0 {
            return before.wrapping_neg();
        }
        let mut without: Option<Vec<u64>> = None;
        for (attribute, code) in self.record(row).iter().enumerate() {
            let occurring = &self.occurring[cluster.index()][attribute];
            if occurring.get(code) != Some(&1) {
                continue;
            }
            let closure = without.get_or_insert_with(|| self.clusters.closure(cluster).to_vec());
            let others = occurring.keys().copied().filter(|other| other != code);
            self.shapes.put_values(attribute, others, closure);
        }
        let cost = without.map_or(self.clusters.cost(cluster), |closure| {
            self.shapes.cost(&closure)
        });
        (left * cost).wrapping_sub(before)
    }

    /// By how much this site's loss changes, modulo 2^64, when the record joins a cluster.
    pub(super) fn joining(&self, row: Row, cluster: Cluster) -> u64 {
        let closure = self.clusters.closure(cluster);
        let joined = self.shapes.joined_cost(closure, self.record(row));
        self.joining_at(cluster, joined)
    }

    /// As [`Self::joining`], where the cost of the cluster's closure together with the record is known.
    pub(super) fn joining_at(&self, cluster: Cluster, joined: u64) -> u64 {
        let size = self.clusters.size(cluster);
        ((size + 1) * joined).wrapping_sub(self.clusters.loss_of(cluster))
    }

    /// The least that a record adds to this site's loss in a cluster, modulo 2^64. Widths only grow; the
    /// entropy of a closure may fall with a frequent value.
    pub(super) fn least(&self, cluster: Cluster) -> u64 {
        if self.plan.loss != Loss::Em {
            return self.clusters.cost(cluster);
        }
        let closure = self.clusters.closure(cluster);
        let parts = (0..self.shapes.attributes()).map(|attribute| {
            let part = self.shapes.part(attribute, closure);
            self.shapes.least_joined_part(attribute, part)
        });
        self.joining_at(cluster, parts.sum())
    }

    /// The most that joining a cluster of at most so many records saves all sites together.
    pub(super) fn most_saved(&self, records: u64) -> u64 {
        match self.plan.loss {
            Loss::Lm | Loss::Ncp => 0,
            Loss::Em => self.most_of(records),
        }
    }

    /// The most that so many records lose at all sites together.
    pub(super) fn most_of(&self, records: u64) -> u64 {
        let cells = records.saturating_mul(self.cells());
        cells.saturating_mul(self.most_of_cell())
    }

    /// The least that a record adds to the other sites' loss in a cluster, which the pivot was told.
    pub(super) fn least_of_others(&self, cluster: Cluster) -> u64 {
        let told = self.others_least.get(cluster.index());
        told.copied().unwrap_or(0)
    }

    /// The quasi-identifiers of all sites.
    pub(super) fn cells(&self) -> u64 {
        self.plan.writings.len() as u64
    }

    /// The most that a cell loses; of entropy, that of 2^32 records.
    fn most_of_cell(&self) -> u64 {
        match self.plan.loss {
            Loss::Lm | Loss::Ncp => UNIT as u64,
            Loss::Em => (MOST_ENTROPY * UNIT) as u64,
        }
    }

    /// The most that this site adds to or takes off a change.
    pub(super) fn most_noise(&self) -> u64 {
        (self.plan.noise.clamp(0.0, 1.0) * UNIT) as u64
    }

    /// By how much this site's loss grows when two clusters become one; entropy may fall.
    pub(super) fn uniting(&self, one: Cluster, other: Cluster) -> u64 {
        let apart = self.clusters.loss_of(one) + self.clusters.loss_of(other);
        let united = self.clusters.loss_united(self.shapes, one, other);
        united.wrapping_sub(apart)
    }

    /// Adds this site's noise to its changes.
    pub(super) fn blur(&self, party: &mut Party, changes: &mut [u64]) {
        let most = self.most_noise();
        if most > 0 {
            for change in changes {
                let offset = party.generator().below(2 * most + 1);
                *change = change.wrapping_add(offset).wrapping_sub(most);
            }
        }
    }

    /// Tells the pivot by how much the loss of all sites changes, modulo 2^64, with each site's noise.
    pub(super) async fn tell_costs(
        &self,
        party: &mut Party,
        changes: &mut [u64],
    ) -> Result<(), Error> {
        party.sum_to(LOSS_CHANGES, PIVOT, changes).await?;
        // A cell loses at most the entropy of 2^32 records, which bounds the noise too.
        let cells = self.rows() as u64 * self.cells() + party.sites() as u64;
        let most = (MOST_ENTROPY * UNIT) as u64 * cells;
        let fits = changes
            .iter()
            .all(|change| (*change as i64).unsigned_abs() <= most);
        party.fit(LOSS_CHANGES, fits, TOO_MUCH)?;
        Ok(())
    }

    /// Whether the requirement speaks of more than sizes.
    pub(super) fn needs_agreement(&self) -> bool {
        !self.beyond_size.is_empty()
    }

    /// Whether records are dealt by the site with the first sensitive attribute.
    pub(super) fn is_dealt_by_value(&self) -> bool {
        self.needs_agreement() && self.first_sensitive.is_some()
    }

    /// Whether that is this site.
    pub(super) fn is_dealer(&self) -> bool {
        self.first_sensitive == Some(true)
    }

    /// A record's value of this site's first sensitive attribute.
    pub(super) fn first_value(&self, row: Row) -> Option<u32> {
        self.sensitive(row).first().copied()
    }

    /// Replaces this site's answers to some proposals by whether all sites agree to them.
    pub(super) async fn agree(&self, party: &mut Party, says: &mut [bool]) -> Result<(), Error> {
        if self.needs_agreement() && !says.is_empty() {
            party.all(HOLDING_PROPOSALS, says).await?;
        }
        Ok(())
    }

    /// Whether a cluster satisfies what the requirement demands beyond its size.
    pub(super) fn is_diverse(&self, cluster: Cluster) -> bool {
        let (size, counts) = (self.clusters.size(cluster), self.clusters.counts(cluster));
        let mut attributes = self.attributes.iter();
        attributes.all(|attribute| self.satisfies(attribute, size, counts))
    }

    /// Whether a move keeps what the two clusters satisfy.
    pub(super) fn may_shift(&self, row: Row, to: Cluster) -> bool {
        let from = self.cluster_of(row);
        let mut without = self.clusters.counts(from).to_vec();
        let mut with = self.clusters.counts(to).to_vec();
        for value in self.sensitive(row) {
            without[*value as usize] -= 1;
            with[*value as usize] += 1;
        }
        self.keeps(from, self.clusters.size(from) - 1, &without)
            && self.keeps(to, self.clusters.size(to) + 1, &with)
    }

    /// Whether both parts still satisfy the requirement when some records of a cluster leave together.
    pub(super) fn may_part(&self, rows: &[Row], from: Cluster) -> bool {
        let whole = self.clusters.counts(from);
        let mut part = vec![0; whole.len()];
        for value in rows.iter().flat_map(|row| self.sensitive(*row)) {
            part[*value as usize] += 1;
        }
        let rest: Vec<u64> = whole
            .iter()
            .zip(&part)
            .map(|(all, part)| all - part)
            .collect();
        let left = self.clusters.size(from) - rows.len() as u64;
        self.keeps(from, rows.len() as u64, &part) && self.keeps(from, left, &rest)
    }

    /// Whether records of these counts satisfy what the cluster does, attribute by attribute.
    fn keeps(&self, cluster: Cluster, size: u64, counts: &[u64]) -> bool {
        let (before, counted) = (self.clusters.size(cluster), self.clusters.counts(cluster));
        self.attributes.iter().all(|attribute| {
            self.satisfies(attribute, size, counts) || !self.satisfies(attribute, before, counted)
        })
    }

    fn satisfies(&self, attribute: &Attribute<'_>, size: u64, counts: &[u64]) -> bool {
        if size == 0 || self.beyond_size.is_empty() {
            return true;
        }
        let counts = attribute.of(counts);
        let class = ClassView {
            size,
            sensitive: &[Counts::new(&attribute.values, counts)],
            sites: None,
        };
        let table = &attribute.demand.table;
        let mut models = self.beyond_size.iter();
        models.all(|model| model.holds(&class, table))
    }

    /// The records of each cluster, and the cells that this site writes for it.
    pub(super) fn written(&self) -> (Vec<Vec<u32>>, Vec<Vec<Cell>>) {
        let living = self.clusters.living();
        living
            .map(|cluster| {
                let mut rows: Vec<u32> = Row::numbers(self.members(cluster)).collect();
                rows.sort_unstable();
                (rows, self.shapes.cells(self.clusters.closure(cluster)))
            })
            .unzip()
    }
}
