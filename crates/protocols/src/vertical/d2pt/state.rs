//! The state of a run of D2Pt: what all sites know of everybody's classes, and what a site knows of its
//! own.
//!
//! Everything shared rests on the first classes, which were counted once. Later classes are unions of
//! first classes, so it is enough to tell which classes were joined.
//!
//! # Discloses
//! [`JOINED_CLASSES`]: which classes a site joined.

use std::collections::HashMap;

use hedgerow_data::Cell;
use hedgerow_smc::align::Overlaps;
use hedgerow_smc::{Party, Site, What};

use super::super::own::OwnColumn;
use super::JOINED_CLASSES;
use super::anonymizer::Anonymizer;
use super::lattice::{Lattice, Levels};
use super::synchronizer;
use crate::error::Error;

/// The part of the state that is the same at all sites.
#[derive(Debug, Clone)]
pub(super) struct Common {
    /// The sites that have classes.
    sites: Vec<usize>,
    /// How many sites there are.
    all_sites: usize,
    /// The combinations of first classes, and how many records lie in them.
    cells: Vec<synchronizer::Cell>,
    /// For each site with classes, the class that each of its first classes belongs to by now: the least
    /// of the first classes that were joined.
    label: Vec<Vec<u32>>,
    /// The group of each cell, if the cell has one.
    group: Vec<Option<u32>>,
    /// Records of each group.
    pub(super) sizes: Vec<u64>,
}

impl Common {
    pub(super) fn new(overlaps: Overlaps) -> Self {
        let counts = overlaps.classes.iter().enumerate();
        let sites: Vec<usize> = counts
            .filter(|(_, count)| **count > 0)
            .map(|(site, _)| site)
            .collect();
        let of_sites = |(classes, records): (Vec<u32>, u64)| {
            let classes = sites.iter().map(|site| classes[*site]).collect();
            (classes, records)
        };
        let cells: Vec<synchronizer::Cell> = overlaps.cells.into_iter().map(of_sites).collect();
        let label = sites
            .iter()
            .map(|site| (0..overlaps.classes[*site]).collect());
        Self {
            label: label.collect(),
            group: vec![None; cells.len()],
            sizes: Vec::new(),
            all_sites: overlaps.classes.len(),
            sites,
            cells,
        }
    }

    /// The cells without a group, in the classes of now.
    pub(super) fn open_cells(&self) -> Vec<synchronizer::Cell> {
        let cells = self.cells.iter().zip(&self.group);
        let open = cells.filter(|(_, group)| group.is_none());
        open.map(|((classes, records), _)| (self.labels_of(classes), *records))
            .collect()
    }

    fn labels_of(&self, classes: &[u32]) -> Vec<u32> {
        let both = classes.iter().zip(&self.label);
        both.map(|(class, label)| label[*class as usize]).collect()
    }

    /// The state with a group for each open cell.
    pub(super) fn with(&self, found: &[u32]) -> Self {
        let mut tried = self.clone();
        tried.set_aside(&found.iter().map(|group| Some(*group)).collect::<Vec<_>>());
        tried
    }

    /// Makes groups of open cells: new groups, in the order of their numbers.
    pub(super) fn set_aside(&mut self, aside: &[Option<u32>]) {
        let mut number: Vec<u32> = aside.iter().flatten().copied().collect();
        number.sort_unstable();
        number.dedup();
        let from = self.sizes.len();
        self.sizes.resize(from + number.len(), 0);
        let open = self.group.iter_mut().zip(&self.cells);
        let open = open.filter(|(group, _)| group.is_none());
        for ((group, (_, records)), aside) in open.zip(aside) {
            if let Some(found) = aside {
                let place = from + number.partition_point(|one| one < found);
                *group = Some(place as u32);
                self.sizes[place] += records;
            }
        }
    }

    /// Tells which classes this site joined and hears which classes the others joined; returns whether
    /// any site could go on.
    pub(super) async fn join(
        &mut self,
        party: &mut Party,
        own: &[u32],
        went_on: bool,
    ) -> Result<bool, Error> {
        let mut words = vec![u64::from(went_on)];
        for (site, label) in self.sites.iter().zip(&self.label) {
            if *site == party.me().index() {
                words.extend(own.iter().map(|label| u64::from(*label)));
            } else {
                words.extend(label.iter().map(|_| 0));
            }
        }
        party.sum(JOINED_CLASSES, &mut words).await?;
        let mut words = words.into_iter();
        let went_on = words.next().unwrap_or(0);
        let is_count = went_on <= self.all_sites as u64;
        party.fit(
            JOINED_CLASSES,
            is_count,
            "more sites could go on than there are",
        )?;
        for (site, label) in self.sites.iter().zip(&mut self.label) {
            let count = label.len() as u64;
            let told: Vec<u64> = words.by_ref().take(label.len()).collect();
            let mut both = told.iter().zip(own);
            let is_own =
                *site != party.me().index() || both.all(|(told, own)| *told == u64::from(*own));
            party.fit(
                JOINED_CLASSES,
                is_own,
                "classes of this site are joined that it did not join",
            )?;
            for (label, word) in label.iter_mut().zip(told) {
                party.fit(
                    JOINED_CLASSES,
                    word < count,
                    "classes are joined that there are not",
                )?;
                *label = word as u32;
            }
        }
        Ok(went_on > 0)
    }

    /// The group of each record, if the groups have the sizes that all sites know.
    pub(super) fn see(
        &self,
        party: &Party,
        what: What,
        groups: Option<Vec<u32>>,
    ) -> Result<Vec<u32>, Error> {
        const PROBLEM: &str = "records are in groups that there are not, or of other sizes";
        let groups = groups.ok_or_else(|| party.misfit(what, PROBLEM))?;
        let mut sizes = vec![0; self.sizes.len()];
        for group in &groups {
            sizes[*group as usize] += 1;
        }
        party.fit(what, sizes == self.sizes, PROBLEM)?;
        Ok(groups)
    }

    /// For each record and each site with classes, the record's present class; only this site's own
    /// classes are filled in.
    pub(super) fn labels_by_record(&self, party: &Party, classes: &OwnClasses<'_>) -> Vec<u64> {
        let own = self.place(party.me());
        let mut words = vec![0; self.records() * self.sites.len()];
        if let Some(own) = own {
            let records = words.chunks_exact_mut(self.sites.len());
            for (words, listed) in records.zip(classes.listed()) {
                words[own] = u64::from(self.label[own][*listed as usize]);
            }
        }
        words
    }

    /// The group of each record by its classes at all sites, as `before` the groups were found.
    pub(super) fn groups_of_labels(&self, before: &Self, words: &[u64]) -> Option<Vec<u32>> {
        let mut group_of: HashMap<Vec<u64>, u32> = HashMap::new();
        for ((classes, _), group) in self.cells.iter().zip(&self.group) {
            let labels = before.labels_of(classes).into_iter().map(u64::from);
            group_of.insert(labels.collect(), (*group)?);
        }
        let records = words.chunks_exact(self.sites.len().max(1));
        records
            .map(|labels| group_of.get(labels).copied())
            .collect()
    }

    /// The group of each record, at a site with classes.
    pub(super) fn groups_of_classes(
        &self,
        party: &Party,
        classes: &OwnClasses<'_>,
    ) -> Option<Vec<u32>> {
        let own = self.place(party.me())?;
        let mut group_of = vec![0; self.label[own].len()];
        for ((classes, _), group) in self.cells.iter().zip(&self.group) {
            group_of[classes[own] as usize] = (*group)?;
        }
        let listed = classes.listed().iter();
        Some(listed.map(|class| group_of[*class as usize]).collect())
    }

    /// For each first class of a site, whether its records have no group yet; `None` for a site
    /// without classes.
    fn open_classes(&self, site: Site) -> Option<Vec<bool>> {
        let own = self.place(site)?;
        let mut open = vec![true; self.label[own].len()];
        for ((classes, _), group) in self.cells.iter().zip(&self.group) {
            if group.is_some() {
                open[classes[own] as usize] = false;
            }
        }
        Some(open)
    }

    /// The place of a site among the sites with classes.
    fn place(&self, site: Site) -> Option<usize> {
        self.sites.iter().position(|own| *own == site.index())
    }

    /// How many records there are.
    pub(super) fn records(&self) -> usize {
        self.cells
            .iter()
            .map(|(_, records)| *records as usize)
            .sum()
    }

    /// The sites that have no classes.
    pub(super) fn without_classes(&self) -> Vec<Site> {
        let all = Site::all(self.all_sites);
        all.filter(|site| !self.sites.contains(&site.index()))
            .collect()
    }

    /// Whether this site tells groups to the sites without classes: the first site with classes does.
    pub(super) fn tells(&self, party: &Party) -> bool {
        self.sites.first() == Some(&party.me().index())
    }

    /// Groups that another site told.
    pub(super) fn read_groups(&self, told: &[u64]) -> Option<Vec<u32>> {
        let groups = told.iter().map(|word| {
            let is_group = *word < self.sizes.len() as u64;
            is_group.then_some(*word as u32)
        });
        groups.collect()
    }
}

/// A site's own classes, at first and by now.
pub(super) struct OwnClasses<'a> {
    lattice: Lattice<'a>,
    levels: Levels,
    /// For each record, the number of its first class in the list that all sites know.
    listed: Vec<u32>,
    /// For each first class, its present class, named by the least of the first classes joined.
    label: Vec<u32>,
    /// For each first class, its present cells, and whether it is suppressed.
    written: Vec<(Vec<Cell>, bool)>,
}

impl<'a> OwnClasses<'a> {
    /// The first anonymization.
    pub(super) fn new(lattice: Lattice<'a>, anonymizer: &dyn Anonymizer) -> Self {
        let mut own = Self {
            levels: Vec::new(),
            listed: Vec::new(),
            label: Vec::new(),
            written: Vec::new(),
            lattice,
        };
        if own.lattice.attributes() > 0 {
            own.levels = anonymizer.generalize(&own.lattice, None);
            own.listed = vec![0; own.lattice.records().len()];
            let local = own.lattice.partition_or_whole(&own.levels);
            let everything = vec![true; own.listed.len()];
            own.lattice.keep(&everything, &local.suppressed);
            own.written = local
                .cells
                .into_iter()
                .map(|cells| (cells, false))
                .collect();
            for (class, hides) in local.class_of.iter().zip(&local.suppressed) {
                own.written[*class as usize].1 |= hides;
            }
            own.label = (0..own.written.len() as u32).collect();
            own.listed = local.class_of;
        }
        own
    }

    /// The first class of each record; empty without quasi-identifiers.
    pub(super) fn class_of(&self) -> &[u32] {
        &self.listed
    }

    /// Numbers the first classes as in the list that all sites know.
    pub(super) fn list(&mut self, place: &[u32]) {
        let mut written = self.written.clone();
        for (class, place) in place.iter().enumerate() {
            written[*place as usize] = self.written[class].clone();
        }
        self.written = written;
        for class in &mut self.listed {
            *class = place[*class as usize];
        }
    }

    /// For each record, the number of its first class in the list that all sites know.
    pub(super) fn listed(&self) -> &[u32] {
        &self.listed
    }

    /// How many classes this site has at present.
    pub(super) fn count(&self) -> usize {
        let labels = self.label.iter().enumerate();
        labels
            .filter(|(class, label)| *class == **label as usize)
            .count()
    }

    /// For each first class, its present class.
    pub(super) fn joined(&self) -> &[u32] {
        &self.label
    }

    pub(super) fn levels(&self) -> &Levels {
        &self.levels
    }

    /// For each record, whether it is suppressed; empty without quasi-identifiers.
    pub(super) fn suppressed(&self) -> Vec<bool> {
        let listed = self.listed.iter();
        listed
            .map(|class| self.written[*class as usize].1)
            .collect()
    }

    /// Generalizes the records without a group; returns whether this was possible. Records that are one
    /// class already are left unchanged.
    pub(super) fn generalize(
        &mut self,
        anonymizer: &dyn Anonymizer,
        common: &Common,
        me: Site,
    ) -> bool {
        let Some(open) = common.open_classes(me) else {
            return false;
        };
        let mut classes = (0..self.label.len()).filter(|class| open[*class]);
        let least = classes.next().map(|class| self.label[class]);
        let is_one = classes.all(|class| Some(self.label[class]) == least);
        if is_one || self.levels == self.lattice.top() {
            return false;
        }
        let first = |record: &u32| self.listed[*record as usize] as usize;
        let left = self.lattice.records().iter();
        let (stays, suppressed): (Vec<bool>, Vec<bool>) = left
            .map(|record| (open[first(record)], self.written[first(record)].1))
            .unzip();
        self.lattice.keep(&stays, &suppressed);
        self.levels = anonymizer.generalize(&self.lattice, Some(&self.levels));
        let local = self.lattice.partition_or_whole(&self.levels);
        // The least first class of each class of now.
        let mut least = vec![u32::MAX; local.cells.len()];
        for (record, class) in self.lattice.records().iter().zip(&local.class_of) {
            let least = &mut least[*class as usize];
            *least = (*least).min(self.listed[*record as usize]);
        }
        let rows = self.lattice.records().iter().zip(&local.class_of);
        for ((record, class), hides) in rows.zip(&local.suppressed) {
            let first = self.listed[*record as usize] as usize;
            self.label[first] = least[*class as usize];
            let written = &mut self.written[first];
            if written.0 != local.cells[*class as usize] {
                written.0.clone_from(&local.cells[*class as usize]);
            }
            written.1 = *hides;
        }
        let everything = vec![true; local.class_of.len()];
        self.lattice.keep(&everything, &local.suppressed);
        true
    }

    /// The cells of each group in each quasi-identifier: each cell covers all classes of the group.
    pub(super) fn group_cells(
        &self,
        group_of: &[u32],
        groups: usize,
        quasi: &[OwnColumn<'_>],
    ) -> Vec<Vec<Cell>> {
        let mut bounds: Vec<Vec<Option<(u32, u32)>>> = vec![vec![None; quasi.len()]; groups];
        for (class, group) in self.listed.iter().zip(group_of) {
            let cells = self.written[*class as usize].0.iter();
            for (bounds, cell) in bounds[*group as usize].iter_mut().zip(cells) {
                let (least, greatest) = cell.bounds();
                *bounds = Some(bounds.map_or((least, greatest), |(from, to)| {
                    (from.min(least), to.max(greatest))
                }));
            }
        }
        let cover = |(bounds, column): (&Option<(u32, u32)>, &OwnColumn<'_>)| {
            let everything = (0, column.domain.size().saturating_sub(1));
            let (least, greatest) = bounds.unwrap_or(everything);
            let (least, greatest) = match column.domain.taxonomy() {
                Some(tree) => tree.interval(tree.lowest_common_ancestor(least, greatest)),
                None if least == greatest => (least, greatest),
                None => everything,
            };
            Cell::Interval(least, greatest)
        };
        let group = |bounds: Vec<Option<(u32, u32)>>| bounds.iter().zip(quasi).map(cover).collect();
        bounds.into_iter().map(group).collect()
    }
}
