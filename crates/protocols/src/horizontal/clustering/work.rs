//! A clustering under way: what all sites know of the clusters, and which of this site's rows are in
//! each.

use hedgerow_data::Cell;
use hedgerow_privacy::TableView;
use hedgerow_smc::{Generator, Party, What};

use super::super::cover::{Question, smallest};
use super::super::requirement::{Counted, Table, Trials};
use super::super::rows::{OwnRows, Owner, Share};
use super::Plan;
use crate::Error;
use crate::clustering::clusters::Clusters;
use crate::clustering::search::Search;
use crate::clustering::shapes::Shapes;

/// A site whose rows are here.
pub(super) struct Speaker {
    pub(super) site: u32,
    pub(super) generator: Generator,
    /// Its rows in the order in which it looks at them.
    pub(super) order: Vec<u32>,
    /// Where it goes on, if it looks at a share of them at a time.
    pub(super) next: usize,
}

pub(super) struct Work<'a> {
    pub(super) rows: &'a OwnRows<'a>,
    pub(super) shapes: &'a Shapes<'a>,
    pub(super) table: &'a Table<'a>,
    pub(super) view: TableView<'a>,
    pub(super) plan: &'a Plan<'a>,
    /// The least size that clusters must have now.
    pub(super) least: u64,
    pub(super) clusters: Clusters,
    pub(super) search: Search,
    pub(super) speakers: Vec<Speaker>,
    pub(super) checks: u64,
    /// SMC calls that the published form would have made for what was asked.
    pub(super) published: u64,
    /// Codes of the quasi-identifiers, row by row.
    records: &'a [u32],
    /// For each row, the places of its sensitive values among the counts.
    values: Vec<u32>,
    cluster_of: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// The place of each row among the members of its cluster.
    places: Vec<u32>,
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
        let clusters = Clusters::new(shapes.width(), counters);
        let search = Search::new(shapes, &clusters);
        let sites: Vec<u32> = match rows.owner {
            Owner::Site(site) => vec![site],
            Owner::Column(_) => (0..rows.sites as u32).collect(),
        };
        let speaker = |site: u32| {
            let mut generator = Generator::new(&(plan.seeds)(site, start));
            let own = (0..rows.count as u32).filter(|row| rows.owner_of(*row) == site);
            let mut order: Vec<u32> = own.collect();
            generator.shuffle(&mut order);
            Speaker {
                site,
                generator,
                order,
                next: 0,
            }
        };
        Self {
            rows,
            shapes,
            table,
            view: table.view(),
            plan,
            least: 0,
            clusters,
            search,
            speakers: sites.into_iter().map(speaker).collect(),
            checks: 0,
            published: 0,
            records,
            values,
            cluster_of: vec![0; rows.count],
            members: Vec::new(),
            places: vec![0; rows.count],
        }
    }

    pub(super) fn k(&self) -> u64 {
        self.plan.demands.requirement.k()
    }

    pub(super) fn record(&self, row: u32) -> &[u32] {
        let width = self.shapes.attributes();
        &self.records[row as usize * width..(row as usize + 1) * width]
    }

    /// The places of a row's sensitive values among the counts.
    pub(super) fn values(&self, row: u32) -> &[u32] {
        let width = self.values.len() / self.rows.count.max(1);
        &self.values[row as usize * width..(row as usize + 1) * width]
    }

    pub(super) fn cluster_of(&self, row: u32) -> usize {
        self.cluster_of[row as usize] as usize
    }

    /// This site's rows in a cluster.
    pub(super) fn members(&self, cluster: usize) -> &[u32] {
        &self.members[cluster]
    }

    /// A cluster without records, with a closure for what comes.
    pub(super) fn open(&mut self) -> usize {
        self.members.push(Vec::new());
        self.clusters.push()
    }

    /// Forgets the clusters from a number on; they must be empty.
    pub(super) fn close(&mut self, from: usize) {
        self.members.truncate(from);
        self.clusters.truncate(from);
    }

    /// Puts a row into its first cluster.
    pub(super) fn put(&mut self, row: u32, cluster: usize) {
        self.cluster_of[row as usize] = cluster as u32;
        self.places[row as usize] = self.members[cluster].len() as u32;
        self.members[cluster].push(row);
    }

    /// Moves a row; what is known of the clusters is left as it is.
    pub(super) fn relabel(&mut self, row: u32, to: usize) {
        let (from, place) = (self.cluster_of(row), self.places[row as usize]);
        self.members[from].swap_remove(place as usize);
        if let Some(moved) = self.members[from].get(place as usize) {
            self.places[*moved as usize] = place;
        }
        self.put(row, to);
    }

    /// Moves all rows of a cluster.
    pub(super) fn relabel_all(&mut self, from: usize, to: usize) {
        for row in std::mem::take(&mut self.members[from]) {
            self.put(row, to);
        }
    }

    /// The closure of some of this site's rows.
    pub(super) fn closure_of(&self, rows: impl IntoIterator<Item = u32>) -> Option<Vec<u64>> {
        let records = rows.into_iter().map(|row| self.record(row));
        self.shapes.of_records(records)
    }

    /// Whether a cluster of these sensitive counts satisfies all that follows from them but its size.
    pub(super) fn is_diverse(&self, size: u64, counts: &[u64]) -> bool {
        counts.is_empty() || self.table.holds_beyond_size(&self.view, size, counts)
    }

    /// Whether a cluster is large and diverse enough for now.
    pub(super) fn is_enough(&self, cluster: usize) -> bool {
        let size = self.clusters.sizes[cluster];
        size == 0 || (size >= self.least && self.is_diverse(size, self.clusters.counts(cluster)))
    }

    /// This site's records and sensitive values in some clusters.
    fn own_counts(&self, clusters: &[usize]) -> Counted {
        let counters = self.clusters.counters();
        let mut sensitive = vec![0; clusters.len() * counters];
        for (place, cluster) in clusters.iter().enumerate() {
            for row in &self.members[*cluster] {
                for value in self.values(*row) {
                    sensitive[place * counters + *value as usize] += 1;
                }
            }
        }
        let sizes = clusters.iter();
        let sizes = sizes.map(|cluster| self.members[*cluster].len() as u64);
        Counted {
            sizes: sizes.collect(),
            sensitive,
        }
    }

    /// What is known of some clusters.
    pub(super) fn known_counts(&self, clusters: &[usize]) -> Counted {
        let counts = clusters.iter();
        let counts = counts.flat_map(|cluster| self.clusters.counts(*cluster));
        Counted {
            sizes: clusters
                .iter()
                .map(|cluster| self.clusters.sizes[*cluster])
                .collect(),
            sensitive: counts.copied().collect(),
        }
    }

    /// Ends the run where what was said of some clusters cannot be: clusters that do not have, all
    /// together, the records and values that all clusters have, or not what this site has in them.
    pub(super) fn see(
        &self,
        party: &Party,
        what: What,
        clusters: &[usize],
        told: &Counted,
        whole: &Counted,
    ) -> Result<(), Error> {
        let (Some(told_sum), Some(whole)) = (total(told), total(whole)) else {
            return Err(party.misfit(what, OTHERS).into());
        };
        party.fit(what, told_sum == whole, OTHERS)?;
        self.table
            .see(party, what, told, &self.own_counts(clusters))
    }

    /// Asks for sizes and sensitive counts of clusters, which have together what `whole` has, and
    /// takes them as known.
    pub(super) async fn ask_sizes(
        &mut self,
        party: &mut Party,
        what: What,
        clusters: &[usize],
        whole: &Counted,
    ) -> Result<(), Error> {
        if clusters.is_empty() {
            return Ok(());
        }
        let counters = self.clusters.counters();
        let own = self.own_counts(clusters);
        let mut sums = Vec::with_capacity(clusters.len() * (counters + 1));
        for (place, size) in own.sizes.iter().enumerate() {
            sums.push(*size);
            sums.extend_from_slice(own.of_part(place));
        }
        party.sum(what, &mut sums).await?;
        self.published += clusters.len() as u64;
        let of_clusters = || sums.chunks(counters + 1);
        let told = Counted {
            sizes: of_clusters().map(|sums| sums[0]).collect(),
            sensitive: of_clusters().flat_map(|sums| &sums[1..]).copied().collect(),
        };
        self.see(party, what, clusters, &told, whole)?;
        self.take(clusters, &told);
        Ok(())
    }

    /// Takes what was said of clusters as known.
    pub(super) fn take(&mut self, clusters: &[usize], told: &Counted) {
        for (place, cluster) in clusters.iter().enumerate() {
            self.clusters.sizes[*cluster] = told.sizes[place];
            let counts = self.clusters.counts_mut(*cluster);
            counts.copy_from_slice(told.of_part(place));
        }
    }

    /// Whether a closure has all of this site's records of a cluster in it.
    pub(super) fn is_closure_of(&self, closure: &[u64], cluster: usize) -> bool {
        let mut rows = self.members[cluster].iter();
        self.shapes.is_closure(closure)
            && rows.all(|row| self.shapes.covers(closure, self.record(*row)))
    }

    /// Asks for the closures of clusters, each of which lies within a known one, and takes them as
    /// known.
    pub(super) async fn ask_closures(
        &mut self,
        party: &mut Party,
        what: What,
        clusters: &[(usize, Vec<u64>)],
    ) -> Result<(), Error> {
        let mut questions = Vec::with_capacity(clusters.len() * self.shapes.attributes());
        for (cluster, within) in clusters {
            let rows = self.members[*cluster].iter().copied();
            questions.extend(
                (0..self.shapes.attributes())
                    .map(|attribute| self.question(attribute, within, rows.clone())),
            );
        }
        let cells = smallest(party, what, &self.plan.writings, questions).await?;
        let of_clusters = cells.chunks(self.shapes.attributes().max(1));
        for ((cluster, within), cells) in clusters.iter().zip(of_clusters) {
            let mut closure = within.clone();
            for (attribute, cell) in cells.iter().enumerate() {
                self.shapes.put(attribute, cell, &mut closure);
                self.published += self.shapes.looks(attribute, within, cell);
            }
            self.clusters.set_closure(self.shapes, *cluster, &closure);
            self.search.put(self.shapes, &self.clusters, *cluster);
        }
        Ok(())
    }

    /// What is asked of an attribute about some of this site's rows within a closure.
    pub(super) fn question(
        &self,
        attribute: usize,
        within: &[u64],
        rows: impl Iterator<Item = u32>,
    ) -> Question {
        let part = self.shapes.part(attribute, within);
        Question {
            own: rows
                .flat_map(|row| {
                    self.shapes
                        .shape(attribute)
                        .values(self.record(row)[attribute])
                })
                .collect(),
            bounds: self.shapes.shape(attribute).bounds(part),
            attribute,
        }
    }

    /// One closure over everything.
    pub(super) fn everything(&self) -> Vec<u64> {
        let mut closure = vec![0; self.shapes.width()];
        for (attribute, writing) in self.plan.writings.iter().enumerate() {
            let greatest = writing.domain.size().saturating_sub(1);
            let cell = Cell::Interval(0, greatest);
            self.shapes.put(attribute, &cell, &mut closure);
        }
        closure
    }

    /// Makes two clusters one: nothing is asked.
    pub(super) fn unite(&mut self, gone: usize, into: usize) {
        let mut closure = self.clusters.closure(into).to_vec();
        self.shapes.join(&mut closure, self.clusters.closure(gone));
        self.relabel_all(gone, into);
        self.clusters.sizes[into] += std::mem::take(&mut self.clusters.sizes[gone]);
        let counts = self.clusters.counts(gone).to_vec();
        self.clusters.counts_mut(gone).fill(0);
        let sums = self.clusters.counts_mut(into).iter_mut().zip(counts);
        sums.for_each(|(sum, count)| *sum += count);
        self.clusters.set_closure(self.shapes, into, &closure);
        self.search.put(self.shapes, &self.clusters, gone);
        self.search.put(self.shapes, &self.clusters, into);
    }

    /// Who is where, and what is known of it.
    pub(super) fn state(&self) -> State {
        State {
            clusters: self.clusters.clone(),
            cluster_of: self.cluster_of.clone(),
            members: self.members.clone(),
            places: self.places.clone(),
        }
    }

    pub(super) fn restore(&mut self, state: State) {
        self.clusters = state.clusters;
        self.cluster_of = state.cluster_of;
        self.members = state.members;
        self.places = state.places;
        self.search = Search::new(self.shapes, &self.clusters);
    }

    /// Gives the clusters with records the numbers from 0 on, in their order.
    pub(super) fn tidy(&mut self) {
        let living: Vec<usize> = self.clusters.living().collect();
        let mut clusters = Clusters::new(self.shapes.width(), self.clusters.counters());
        let mut members = Vec::with_capacity(living.len());
        for old in living {
            let cluster = clusters.push();
            clusters.sizes[cluster] = self.clusters.sizes[old];
            clusters.set_closure(self.shapes, cluster, self.clusters.closure(old));
            clusters
                .counts_mut(cluster)
                .copy_from_slice(self.clusters.counts(old));
            let rows = std::mem::take(&mut self.members[old]);
            rows.iter()
                .for_each(|row| self.cluster_of[*row as usize] = cluster as u32);
            members.push(rows);
        }
        self.clusters = clusters;
        self.members = members;
        self.search = Search::new(self.shapes, &self.clusters);
    }

    /// Everything, as one part.
    pub(super) fn whole(&self) -> Counted {
        Counted {
            sizes: vec![self.table.records()],
            sensitive: self.table.whole(),
        }
    }

    /// Refuses what not even the whole table satisfies.
    pub(super) async fn refuse_unmeetable(&mut self, party: &mut Party) -> Result<u64, Error> {
        let everything: Vec<u32> = (0..self.rows.count as u32).collect();
        let whole = Parts {
            work: self,
            parts: vec![vec![everything]],
            counted: vec![self.whole()],
        };
        self.table.refuse_unmeetable(party, &whole).await
    }

    /// Of clusters that hold by their counts, which satisfy what speaks of sites too.
    pub(super) async fn check_sites(
        &mut self,
        party: &mut Party,
        trials: &[Vec<usize>],
        allowed: &mut [bool],
    ) -> Result<(), Error> {
        if !self.table.speaks_of_sites() {
            return Ok(());
        }
        let rows = |trial: &Vec<usize>| {
            let clusters = trial.iter();
            clusters
                .map(|cluster| self.members[*cluster].clone())
                .collect()
        };
        let counted = trials.iter().map(|trial| self.known_counts(trial));
        let parts = Parts {
            work: self,
            parts: trials.iter().map(rows).collect(),
            counted: counted.collect(),
        };
        let checks = self.table.check_sites(party, &parts, allowed).await?;
        self.checks += checks;
        Ok(())
    }

    /// The clusters by what is written for them, with this site's rows, and their cells.
    pub(super) fn classes(&self) -> (Vec<SizeAndRows>, Vec<Vec<Cell>>) {
        let mut living: Vec<usize> = self.clusters.living().collect();
        living.sort_by(|a, b| self.clusters.closure(*a).cmp(self.clusters.closure(*b)));
        let class = |cluster: &usize| {
            let mut rows = self.members[*cluster].clone();
            rows.sort_unstable();
            (self.clusters.sizes[*cluster], rows)
        };
        let cells = living.iter();
        let cells = cells.map(|cluster| self.shapes.cells(self.clusters.closure(*cluster)));
        (living.iter().map(class).collect(), cells.collect())
    }
}

/// Clusters that do not have together what they had.
const OTHERS: &str = "clusters do not have together the records and values that they had";

/// Records and sensitive values of all parts together; `None` where they cannot be counted.
fn total(counted: &Counted) -> Option<(u64, Vec<u64>)> {
    let mut values = vec![0u64; counted.sensitive.len() / counted.parts().max(1)];
    for part in 0..counted.parts() {
        for (sum, count) in values.iter_mut().zip(counted.of_part(part)) {
            *sum = sum.checked_add(*count)?;
        }
    }
    let mut sizes = counted.sizes.iter();
    let size = sizes.try_fold(0u64, |sum, size| sum.checked_add(*size))?;
    Some((size, values))
}

/// How many records a class has, and which of them are this site's.
type SizeAndRows = (u64, Vec<u32>);

/// A clustering to come back to.
pub(super) struct State {
    clusters: Clusters,
    cluster_of: Vec<u32>,
    members: Vec<Vec<u32>>,
    places: Vec<u32>,
}

impl State {
    pub(super) fn loss(&self) -> u64 {
        self.clusters.loss()
    }
}

/// Parts that are tried, as lists of rows.
struct Parts<'w, 'a> {
    work: &'w Work<'a>,
    parts: Vec<Vec<Vec<u32>>>,
    counted: Vec<Counted>,
}

impl Trials for Parts<'_, '_> {
    fn counted(&self, place: usize) -> &Counted {
        &self.counted[place]
    }

    fn owners(&self, place: usize) -> Vec<u64> {
        let sites = self.work.rows.sites;
        let mut counts = vec![0; self.parts[place].len() * sites];
        for (part, rows) in self.parts[place].iter().enumerate() {
            for row in rows {
                counts[part * sites + self.work.rows.owner_of(*row) as usize] += 1;
            }
        }
        counts
    }

    fn shares(&self, sensitive: &[usize], place: usize) -> Vec<Vec<Share>> {
        let parts = self.parts[place].iter();
        parts
            .map(|rows| self.work.rows.shares(sensitive, rows.iter().copied()))
            .collect()
    }
}
