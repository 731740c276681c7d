//! A clustering under way: what all sites know of the clusters, and which of this site's rows are in
//! each.

use hedgerow_data::Cell;
use hedgerow_privacy::TableView;
use hedgerow_smc::{Generator, What};

use super::super::requirement::Table;
use super::super::rows::{OwnRows, Owner};
use super::hidden::{Hidden, SIZES_ALONE};
use super::members::Members;
use super::regions::Regions;
use super::stays::Stays;
use super::visits::Shares;
use super::{CLUSTER_SIZES, CountsChoice, Plan};
use crate::clustering::clusters::Clusters;
use crate::clustering::measure::Measure;
use crate::clustering::numbers::{Cluster, Row};
use crate::clustering::searched::Searched;
use crate::clustering::shapes::Shapes;

/// A site whose rows are here.
pub(super) struct Speaker {
    pub(super) site: u32,
    pub(super) generator: Generator,
    /// The site's rows in the order in which the site looks at them.
    pub(super) order: Vec<Row>,
    /// The place where the site goes on, if it looks at a share of its rows at a time.
    pub(super) next: usize,
    /// The least and the greatest share of its rows that the site looks at in a turn: the site's own
    /// choice, where sites choose (TG12 section 8.2.3).
    pub(super) shares: Option<Shares>,
    /// How many rows the site looked at in its last turn.
    pub(super) looked_at: u64,
}

pub(super) struct Work<'a> {
    pub(super) rows: &'a OwnRows<'a>,
    pub(super) shapes: &'a Shapes<'a>,
    pub(super) table: &'a Table<'a>,
    pub(super) view: TableView<'a>,
    pub(super) plan: &'a Plan<'a>,
    /// The least size that clusters must have now.
    pub(super) least: u64,
    /// While clusters that are too small are filled: by how much the loss may rise for a record that comes.
    pub(super) filling: Option<u64>,
    pub(super) clusters: Searched<'a>,
    /// While groups of clusters keep their records to themselves.
    pub(super) regions: Option<Regions>,
    pub(super) speakers: Vec<Speaker>,
    pub(super) checks: u64,
    /// SMC calls as the paper counts them (TG12 sections 7.1 and 9.2.2): a sum for each size of a cluster,
    /// and for each closure as many conjunctions as its longest search of a taxonomy has nodes, since one
    /// conjunction asks about all attributes.
    pub(super) calls: u64,
    /// Codes of the quasi-identifiers, row by row.
    records: &'a [u32],
    /// For each row, the places of its sensitive values among the counts.
    values: Vec<u32>,
    members: Members,
    pub(super) stays: Stays,
    /// Where sensitive counts stay hidden.
    pub(super) hidden: Option<Hidden>,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        rows: &'a OwnRows<'a>,
        records: &'a [u32],
        (shapes, table): (&'a Shapes<'a>, &'a Table<'a>),
        plan: &'a Plan<'a>,
        start: u32,
    ) -> Self {
        let mut values = Vec::new();
        for row in 0..rows.count {
            let mut from = 0;
            for (index, size) in table.sensitive() {
                values.push(from + rows.sensitive[index].codes.get(row));
                from += size as u32;
            }
        }
        let counters = table.sensitive().map(|(_, size)| size).sum();
        let sites: Vec<u32> = match rows.owner {
            Owner::Site(site) => vec![site],
            Owner::Column(_) => (0..rows.sites as u32).collect(),
        };
        let speaker = |site: u32| {
            let mut generator = Generator::new(&(plan.seeds)(site, start));
            let own = Row::first(rows.count).filter(|row| rows.owner_of(row.number()) == site);
            let mut order: Vec<Row> = own.collect();
            generator.shuffle(&mut order);
            Speaker {
                site,
                generator,
                order,
                next: 0,
                shares: None,
                looked_at: 0,
            }
        };
        Self {
            rows,
            shapes,
            table,
            view: table.view(),
            plan,
            least: 0,
            filling: None,
            clusters: Searched::new(shapes, counters),
            regions: None,
            speakers: sites.into_iter().map(speaker).collect(),
            checks: 0,
            calls: 0,
            records,
            values,
            members: Members::new(rows.count),
            stays: Stays::new(rows.count),
            hidden: Hidden::of(rows, &plan.demands.requirement.models, plan.counts),
        }
    }

    pub(super) fn k(&self) -> u64 {
        self.plan.demands.requirement.k()
    }

    pub(super) fn record(&self, row: Row) -> &[u32] {
        let width = self.shapes.attributes();
        &self.records[row.index() * width..(row.index() + 1) * width]
    }

    /// The places of a row's sensitive values among the counts.
    pub(super) fn values(&self, row: Row) -> &[u32] {
        let width = self.values.len() / self.rows.count.max(1);
        &self.values[row.index() * width..(row.index() + 1) * width]
    }

    /// A row's sensitive values, by which a site deals its rows evenly.
    pub(super) fn dealt_by(&self, row: Row) -> &[u32] {
        let hidden = self.hidden.as_ref();
        hidden.map_or_else(|| self.values(row), |hidden| hidden.values(row))
    }

    /// What the sizes of clusters are called in the ledger.
    pub(super) fn sizes(&self) -> What {
        match self.plan.counts {
            CountsChoice::Opened => CLUSTER_SIZES,
            CountsChoice::Hidden => SIZES_ALONE,
        }
    }

    /// The site that a row belongs to.
    pub(super) fn owner_of(&self, row: Row) -> u32 {
        self.rows.owner_of(row.number())
    }

    pub(super) fn cluster_of(&self, row: Row) -> Cluster {
        self.members.cluster_of(row)
    }

    /// This site's rows in a cluster.
    pub(super) fn members(&self, cluster: Cluster) -> &[Row] {
        self.members.of(cluster)
    }

    /// A cluster without records, with a closure for what comes, beside others of a region.
    pub(super) fn open_in(&mut self, region: Option<u32>) -> Cluster {
        if let (Some(regions), Some(region)) = (&mut self.regions, region) {
            regions.open(region);
        }
        self.open()
    }

    /// A cluster without records, with a closure for what comes.
    pub(super) fn open(&mut self) -> Cluster {
        self.members.open();
        if let Some(hidden) = &mut self.hidden {
            hidden.open();
        }
        self.clusters.push()
    }

    /// Forgets all clusters but the first so many; the others must have no records.
    pub(super) fn close(&mut self, clusters: usize) {
        if let Some(regions) = &mut self.regions {
            regions.close(clusters);
        }
        self.members.truncate(clusters);
        self.clusters.truncate(clusters);
    }

    /// Puts a row into its first cluster.
    pub(super) fn put(&mut self, row: Row, cluster: Cluster) {
        self.members.put(row, cluster);
    }

    /// Moves a row, without a change of what is known of the clusters.
    pub(super) fn relabel(&mut self, row: Row, to: Cluster) {
        self.members.shift(row, to);
    }

    /// Moves all rows of a cluster, without a change of what is known of the clusters.
    pub(super) fn relabel_all(&mut self, from: Cluster, to: Cluster) {
        self.members.shift_all(from, to);
    }

    /// The closure of some of this site's rows.
    pub(super) fn closure_of(&self, rows: impl IntoIterator<Item = Row>) -> Option<Vec<u64>> {
        let records = rows.into_iter().map(|row| self.record(row));
        self.shapes.of_records(records)
    }

    /// Whether a cluster with these sensitive counts satisfies every demand on them, apart from its
    /// size.
    pub(super) fn is_diverse(&self, size: u64, counts: &[u64]) -> bool {
        counts.is_empty() || self.table.holds_beyond_size(&self.view, size, counts)
    }

    /// Whether a cluster is large and diverse enough for now.
    pub(super) fn is_enough(&self, cluster: Cluster) -> bool {
        let size = self.clusters.size(cluster);
        let holds = self
            .hidden
            .as_ref()
            .is_none_or(|hidden| hidden.holds(cluster));
        let is_diverse = || self.is_diverse(size, self.clusters.counts(cluster));
        size == 0 || (size >= self.least && holds && is_diverse())
    }

    /// The closure that covers everything.
    pub(super) fn everything(&self) -> Vec<u64> {
        let mut closure = vec![0; self.shapes.width()];
        for (attribute, writing) in self.plan.writings.iter().enumerate() {
            let greatest = writing.domain.size().saturating_sub(1);
            let cell = Cell::Interval(0, greatest);
            self.shapes.put(attribute, &cell, &mut closure);
        }
        closure
    }

    /// Whether one site has all records, and no demand speaks of sites.
    pub(super) fn is_alone(&self) -> bool {
        self.rows.sites == 1 && self.rows.count > 0 && !self.table.speaks_of_sites()
    }

    /// Puts all rows into clusters, of which there are none yet.
    pub(super) fn put_all(&mut self, clusters: Vec<Vec<Row>>) {
        for rows in clusters {
            let cluster = self.open();
            let mut counts = vec![0; self.clusters.counters()];
            for row in &rows {
                self.members.put(*row, cluster);
                let values = self.values(*row).iter();
                values.for_each(|value| counts[*value as usize] += 1);
            }
            let closure = self.closure_of(rows.iter().copied());
            self.clusters.change(|change| {
                change.set_counts(cluster, rows.len() as u64, &counts);
                if let Some(closure) = &closure {
                    change.set_closure(cluster, closure);
                }
            });
        }
    }

    /// Makes two clusters one: nothing is asked.
    pub(super) fn unite(&mut self, gone: Cluster, into: Cluster) {
        let mut closure = self.clusters.closure(into).to_vec();
        self.shapes.join(&mut closure, self.clusters.closure(gone));
        self.members.shift_all(gone, into);
        self.clusters.change(|change| {
            let (size, counts) = (change.size(gone), change.counts(gone).to_vec());
            change.empty(gone);
            *change.size_mut(into) += size;
            let sums = change.counts_mut(into).iter_mut().zip(counts);
            sums.for_each(|(sum, count)| *sum += count);
            change.set_closure(into, &closure);
        });
    }

    /// The members of all clusters, and what is known of the clusters.
    pub(super) fn state(&self) -> State {
        State {
            clusters: Clusters::clone(&self.clusters),
            members: self.members.clone(),
        }
    }

    pub(super) fn restore(&mut self, state: State) {
        self.members = state.members;
        self.clusters = Searched::of(self.shapes, state.clusters);
        self.stays.clear();
    }

    /// Gives the clusters with records the numbers from 0 on, in their order.
    pub(super) fn tidy(&mut self) {
        let kept = self.clusters.renumber();
        self.stays.clear();
        self.members.renumber(&kept);
        if let Some(regions) = &mut self.regions {
            regions.renumber(&kept);
        }
    }

    /// The region of a cluster, while regions keep to themselves.
    pub(super) fn region_of(&self, cluster: Cluster) -> Option<u32> {
        let regions = self.regions.as_ref();
        regions.map(|regions| regions.of(cluster))
    }

    /// The clusters of a region, if there is one to keep to.
    fn clusters_of(&self, region: Option<u32>) -> Option<&[Cluster]> {
        Some(self.regions.as_ref()?.clusters(region?))
    }

    /// The nearest clusters in a region, or anywhere; as [`Searched::nearest`].
    pub(super) fn nearest<M: Measure>(
        &self,
        measure: &M,
        bounds: (usize, u64),
        region: Option<u32>,
        may_be: impl Fn(Cluster) -> bool,
    ) -> Vec<(u64, Cluster)> {
        match self.clusters_of(region) {
            Some(among) => self.clusters.nearest_among(measure, bounds, among, may_be),
            None => self.clusters.nearest(measure, bounds, may_be),
        }
    }

    /// Calls `each` with every cluster in a region, or anywhere, whose closure may share records with this one.
    pub(super) fn meeting(
        &self,
        closure: &[u64],
        region: Option<u32>,
        each: &mut impl FnMut(Cluster),
    ) {
        match self.clusters_of(region) {
            Some(among) => {
                let meets = |cluster: &&Cluster| {
                    self.clusters.size(**cluster) > 0
                        && self.shapes.meet(closure, self.clusters.closure(**cluster))
                };
                among
                    .iter()
                    .filter(meets)
                    .for_each(|cluster| each(*cluster));
            }
            None => self.clusters.meeting(closure, each),
        }
    }

    /// The clusters grouped by their written cells, with this site's rows, and the cells.
    pub(super) fn classes(&self) -> (Vec<SizeAndRows>, Vec<Vec<Cell>>) {
        let mut living: Vec<Cluster> = self.clusters.living().collect();
        living.sort_by(|a, b| self.clusters.closure(*a).cmp(self.clusters.closure(*b)));
        let class = |cluster: &Cluster| {
            let mut rows: Vec<u32> = Row::numbers(self.members(*cluster)).collect();
            rows.sort_unstable();
            (self.clusters.size(*cluster), rows)
        };
        let cells = living.iter();
        let cells = cells.map(|cluster| self.shapes.cells(self.clusters.closure(*cluster)));
        (living.iter().map(class).collect(), cells.collect())
    }
}

/// How many records a class has, and which of this site's rows are in it.
type SizeAndRows = (u64, Vec<u32>);

/// A clustering to come back to.
pub(super) struct State {
    pub(super) clusters: Clusters,
    pub(super) members: Members,
}

impl State {
    pub(super) fn loss(&self) -> u64 {
        self.clusters.loss()
    }
}
