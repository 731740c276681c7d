//! TG12 Algorithm 3 as one who sees everybody's records would run it: plain loops over all clusters, no
//! tree, no table of joins, nothing of the crate but taxonomies and the sites' own draws. Loss LM, k alone.
//! It tells what the paper says that the players learn (`Learned`), and counts SMC calls as section 7.1
//! does.

use hedgerow_data::Taxonomy;
use hedgerow_protocols::clustering::CIRCLES;
use hedgerow_smc::{Generator, Seed};

use super::simulator::{Known, Learned};

/// A loss of 1 in a cell, in whole numbers: domains have a power of two of values beyond the first.
const UNIT: i64 = 1 << 20;

/// A record: its site, and its place there.
type Place = (usize, usize);

pub(crate) struct Algorithm<'a> {
    trees: &'a [&'a Taxonomy],
    k: u64,
    /// For each site and record, the values.
    records: &'a [Vec<Vec<u32>>],
    /// For each site and record, the cluster.
    labels: Vec<Vec<usize>>,
    generators: Vec<Generator>,
    /// For each site, the order in which it looks at its records.
    orders: Vec<Vec<usize>>,
    clusters: usize,
    pub(crate) learned: Vec<Learned>,
    /// Invocations of the sum and AND protocols.
    pub(crate) calls: u64,
    pub(crate) iterations: usize,
    pub(crate) is_circling: bool,
}

impl<'a> Algorithm<'a> {
    pub(crate) fn new(
        trees: &'a [&'a Taxonomy],
        k: u64,
        records: &'a [Vec<Vec<u32>>],
        seeds: impl Fn(u32) -> Seed,
    ) -> Self {
        let sites = 0..records.len();
        let mut generators: Vec<Generator> = sites
            .map(|site| Generator::new(&seeds(site as u32)))
            .collect();
        let mut orders = Vec::new();
        for (own, generator) in records.iter().zip(&mut generators) {
            let mut order: Vec<usize> = (0..own.len()).collect();
            generator.shuffle(&mut order);
            orders.push(order);
        }
        Self {
            trees,
            k,
            records,
            labels: records.iter().map(|own| vec![0; own.len()]).collect(),
            generators,
            orders,
            clusters: 0,
            learned: Vec::new(),
            calls: 0,
            iterations: 0,
            is_circling: false,
        }
    }

    /// Steps 1 to 25. Ends too when the loss has not fallen for ten iterations: as printed it need not end.
    pub(crate) fn run(&mut self) {
        self.start();
        let (mut least, mut since) = (i64::MAX, 0);
        while since < CIRCLES {
            let mut has_moved = false;
            for site in 0..self.records.len() {
                has_moved |= self.turn(site);
            }
            self.split();
            self.iterations += 1;
            if !has_moved {
                return;
            }
            let loss = (0..self.clusters)
                .map(|cluster| self.loss(&self.members(cluster)))
                .sum();
            since = if loss < least { 0 } else { since + 1 };
            least = least.min(loss);
        }
        self.is_circling = true;
    }

    fn values(&self, (site, record): Place) -> &[u32] {
        &self.records[site][record]
    }

    fn members(&self, cluster: usize) -> Vec<Place> {
        let sites = self.labels.iter().enumerate();
        let all = sites.flat_map(|(site, labels)| (0..labels.len()).map(move |at| (site, at)));
        all.filter(|(site, at)| self.labels[*site][*at] == cluster)
            .collect()
    }

    fn size(&self, cluster: usize) -> i64 {
        self.members(cluster).len() as i64
    }

    /// The lowest node above some records in an attribute.
    fn node(&self, attribute: usize, places: &[Place]) -> Option<u32> {
        let codes = places.iter().map(|place| self.values(*place)[attribute]);
        let least = codes.clone().min()?;
        Some(self.trees[attribute].lowest_common_ancestor(least, codes.max()?))
    }

    fn closure(&self, places: &[Place]) -> Option<Vec<u32>> {
        (0..self.trees.len())
            .map(|attribute| self.node(attribute, places))
            .collect()
    }

    /// What each of some records costs in their closure (equation 1).
    fn cost(&self, places: &[Place]) -> i64 {
        let closure = self.closure(places).unwrap_or_default();
        let nodes = closure.iter().zip(self.trees);
        nodes
            .map(|(node, tree)| {
                let (least, greatest) = tree.interval(*node);
                let (_, last) = tree.interval(0);
                i64::from(greatest - least) * UNIT / i64::from(last)
            })
            .sum()
    }

    fn loss(&self, places: &[Place]) -> i64 {
        places.len() as i64 * self.cost(places)
    }

    /// The nodes at which a search for a closure looks in each attribute, from known nodes on; the
    /// attributes are searched at the same time.
    fn search(&mut self, attributes: &[usize], from: &[u32], places: &[Place]) {
        let looks = attributes.iter().map(|attribute| {
            let tree = self.trees[*attribute];
            let codes: Vec<u32> = places
                .iter()
                .map(|place| self.values(*place)[*attribute])
                .collect();
            let holds = |node: u32| {
                let (least, greatest) = tree.interval(node);
                codes.iter().all(|code| (least..=greatest).contains(code))
            };
            let (mut node, mut looks) = (from[*attribute], 0);
            if places.is_empty() {
                // Only the site that asks has records there: no node is found to be lower.
                return tree.children(node).count() as u64;
            }
            loop {
                let mut children = tree.children(node);
                let next = children
                    .by_ref()
                    .inspect(|_| looks += 1)
                    .find(|child| holds(*child));
                match next {
                    Some(child) => node = child,
                    None => return looks,
                }
            }
        });
        self.calls += looks.max().unwrap_or(0);
    }

    fn known(&self, cluster: usize) -> Known {
        let members = self.members(cluster);
        Known {
            size: members.len() as u64,
            closure: self.closure(&members).unwrap_or_default(),
        }
    }

    /// Steps 1 to 3.
    fn start(&mut self) {
        let records: usize = self.records.iter().map(Vec::len).sum();
        self.clusters = ((records as f64 / (self.k as f64 / 2.0)) as usize).clamp(1, records);
        for site in 0..self.records.len() {
            let mut labels: Vec<usize> = (0..self.clusters).collect();
            self.generators[site].shuffle(&mut labels);
            for (place, record) in self.orders[site].iter().enumerate() {
                self.labels[site][*record] = labels[place % self.clusters];
            }
        }
        self.calls += 1 + self.clusters as u64;
        let attributes: Vec<usize> = (0..self.trees.len()).collect();
        for cluster in 0..self.clusters {
            let members = self.members(cluster);
            if !members.is_empty() {
                self.search(&attributes, &vec![0; attributes.len()], &members);
            }
        }
        let known = (0..self.clusters).map(|cluster| self.known(cluster));
        self.learned.push(Learned::Start(known.collect()));
    }

    /// The attributes in which a site's own closure of a cluster changes without one of its records.
    fn narrowed(&self, (site, record): Place) -> Vec<usize> {
        let cluster = self.labels[site][record];
        if self.size(cluster) == 1 {
            return Vec::new();
        }
        let mut own = self.members(cluster);
        own.retain(|(owner, _)| *owner == site);
        let mut others = own.clone();
        others.retain(|place| *place != (site, record));
        let attributes = 0..self.trees.len();
        attributes
            .filter(|attribute| self.node(*attribute, &own) != self.node(*attribute, &others))
            .collect()
    }

    /// Steps 7 to 17 for one record. Gives where it went.
    fn visit(&mut self, place: Place) -> Option<usize> {
        let from = self.labels[place.0][place.1];
        let members = self.members(from);
        let others: Vec<Place> = members
            .iter()
            .copied()
            .filter(|other| *other != place)
            .collect();
        let saved = self.loss(&members) - self.loss(&others);
        let mut best: Option<(i64, usize)> = None;
        for cluster in 0..self.clusters {
            let there = self.members(cluster);
            if cluster == from || there.is_empty() {
                continue;
            }
            let mut with = there.clone();
            with.push(place);
            let grown = self.loss(&with) - self.loss(&there);
            if best.is_none_or(|best| (grown, cluster) < best) {
                best = Some((grown, cluster));
            }
        }
        let (grown, to) = best?;
        (others.is_empty() || grown < saved).then(|| {
            self.labels[place.0][place.1] = to;
            to
        })
    }

    /// Steps 5 to 19 for a site: records that need no question first; then one record of each cluster.
    fn turn(&mut self, site: usize) -> bool {
        let before: Vec<Known> = (0..self.clusters)
            .map(|cluster| self.known(cluster))
            .collect();
        let first = self.labels[site].clone();
        let mut has_come = vec![false; first.len()];
        let mut touched = vec![false; self.clusters];
        let mut waiting = Vec::new();
        let look = |this: &mut Self, record: usize, has_come: &mut [bool], touched: &mut [bool]| {
            let from = this.labels[site][record];
            if let Some(to) = this.visit((site, record)) {
                has_come[record] = true;
                (touched[from], touched[to]) = (true, true);
            }
        };
        for record in self.orders[site].clone() {
            if self.narrowed((site, record)).is_empty() {
                look(self, record, &mut has_come, &mut touched);
            } else {
                waiting.push(record);
            }
        }
        while !waiting.is_empty() {
            let mut candidates = vec![None; self.clusters];
            let mut left = Vec::new();
            for record in waiting {
                let place = &mut candidates[self.labels[site][record]];
                match place {
                    None => *place = Some(record),
                    Some(_) => left.push(record),
                }
            }
            waiting = left;
            let mut asked = Vec::new();
            for (cluster, record) in candidates.iter().enumerate() {
                let Some(record) = record else { continue };
                let attributes = self.narrowed((site, *record));
                let mut others = self.members(cluster);
                others.retain(|place| *place != (site, *record));
                // Who came in this turn is not asked about: the site itself joins them to the answer.
                let stayed: Vec<Place> = others
                    .iter()
                    .copied()
                    .filter(|(owner, at)| *owner != site || !has_come[*at])
                    .collect();
                self.search(&attributes, &before[cluster].closure, &stayed);
                let nodes = attributes.iter().map(|at| (*at, self.node(*at, &stayed)));
                asked.push((cluster, nodes.collect()));
            }
            asked.retain(|(_, nodes): &(usize, Vec<_>)| !nodes.is_empty());
            if !asked.is_empty() {
                self.learned.push(Learned::Asked(asked));
            }
            let mut records: Vec<usize> = candidates.into_iter().flatten().collect();
            records.sort_unstable();
            for record in records {
                look(self, record, &mut has_come, &mut touched);
            }
        }
        let changed = (0..self.clusters).filter(|cluster| touched[*cluster]);
        let changed: Vec<(usize, Known)> = changed
            .map(|cluster| (cluster, self.known(cluster)))
            .collect();
        let has_moved = !changed.is_empty();
        self.learned.push(Learned::Turn(changed));
        has_moved
    }

    /// Steps 21 to 24.
    fn split(&mut self) {
        let clusters = 0..self.clusters;
        let large: Vec<usize> = clusters
            .filter(|cluster| self.size(*cluster) as f64 > self.k as f64 * 1.5)
            .collect();
        if large.is_empty() {
            return;
        }
        let before: Vec<Known> = large.iter().map(|cluster| self.known(*cluster)).collect();
        let mut pairs = Vec::new();
        for cluster in &large {
            let half = self.clusters;
            self.clusters += 1;
            for site in 0..self.records.len() {
                let labels = self.labels[site].iter().enumerate();
                let own = labels.filter(|(_, label)| **label == *cluster);
                let mut own: Vec<usize> = own.map(|(record, _)| record).collect();
                self.generators[site].shuffle(&mut own);
                let first = self.generators[site].below(2) as usize;
                for record in own.into_iter().skip(first).step_by(2) {
                    self.labels[site][record] = half;
                }
            }
            pairs.push((*cluster, half));
        }
        let attributes: Vec<usize> = (0..self.trees.len()).collect();
        let mut parts = Vec::new();
        for ((cluster, half), before) in pairs.into_iter().zip(before) {
            self.calls += 2;
            let known = [self.known(cluster), self.known(half)];
            let is_split = known.iter().all(|known| known.size > 0);
            parts.push(((cluster, half), known));
            if is_split {
                for part in [cluster, half] {
                    let members = self.members(part);
                    self.search(&attributes, &before.closure, &members);
                }
            } else {
                for labels in &mut self.labels {
                    labels
                        .iter_mut()
                        .filter(|label| **label == half)
                        .for_each(|label| *label = cluster);
                }
            }
        }
        self.learned.push(Learned::Split(parts));
    }

    /// Steps 26 to 30, and the classes that are written: sizes and closures.
    pub(crate) fn classes(&mut self) -> Vec<Known> {
        let distance = |this: &Self, one: usize, other: usize| {
            let (first, second) = (this.members(one), this.members(other));
            let both = [first.clone(), second.clone()].concat();
            this.loss(&both) - this.loss(&first) - this.loss(&second)
        };
        let unite = |this: &mut Self, gone: usize, into: usize| {
            for labels in &mut this.labels {
                labels
                    .iter_mut()
                    .filter(|label| **label == gone)
                    .for_each(|label| *label = into);
            }
        };
        loop {
            let living = (0..self.clusters).filter(|cluster| self.size(*cluster) > 0);
            let living: Vec<usize> = living.collect();
            let is_small = |cluster: &usize| (self.size(*cluster) as u64) < self.k;
            let small: Vec<usize> = living.iter().copied().filter(is_small).collect();
            let others = if small.len() > 1 { &small } else { &living };
            let pairs = small
                .iter()
                .flat_map(|one| others.iter().map(move |other| (*one, *other)));
            let pairs = pairs.filter(|(one, other)| one != other);
            let nearest = pairs
                .map(|(one, other)| (distance(self, one, other), one, other))
                .min();
            let Some((_, one, other)) = nearest else {
                break;
            };
            match small.len() {
                1 => unite(self, one, other),
                _ => unite(self, other, one),
            }
        }
        let living = (0..self.clusters).filter(|cluster| self.size(*cluster) > 0);
        let mut classes: Vec<Known> = living.map(|cluster| self.known(cluster)).collect();
        self.calls += classes.len() as u64;
        classes.sort();
        classes
    }
}
