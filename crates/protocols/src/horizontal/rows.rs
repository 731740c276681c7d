//! A site's own rows in the form in which a protocol works on them: columns of codes, and the rows in
//! class order.
//!
//! # Discloses
//! Nothing: no other site sees the rows.

use std::borrow::Cow;

use hedgerow_data::Codes;
use rayon::prelude::*;

/// Whose the rows are.
#[derive(Debug, Clone, Copy)]
pub enum Owner<'a> {
    /// All rows belong to this site.
    Site(u32),
    /// A table of several sites' rows, with the site of each row. For a party of one.
    Column(&'a [u32]),
}

/// A sensitive attribute: its codes and the number of its values.
#[derive(Debug, Clone, Copy)]
pub struct SensitiveCodes<'a> {
    /// Code of each row.
    pub codes: &'a Codes,
    /// Size of the domain.
    pub size: u32,
}

/// What a site brings to a run.
#[derive(Debug, Clone)]
pub struct OwnRows<'a> {
    /// Number of rows.
    pub count: usize,
    /// How many records each row stands for; one each where there are no counts.
    pub counts: Option<&'a [u64]>,
    /// Quasi-identifiers.
    pub quasi: Vec<&'a Codes>,
    /// Sensitive attributes.
    pub sensitive: Vec<SensitiveCodes<'a>>,
    /// Other columns that the release has as they are: rows that differ in them alone are told apart where
    /// only some of them stay on one side of a cut.
    pub other: Vec<&'a Codes>,
    /// Whose the rows are.
    pub owner: Owner<'a>,
    /// Number of sites of the run.
    pub sites: usize,
}

impl OwnRows<'_> {
    /// Number of records.
    pub fn records(&self) -> u64 {
        match self.counts {
            None => self.count as u64,
            // More records than there can be are refused by whoever is told their number.
            Some(counts) => counts
                .iter()
                .fold(0, |sum, count| sum.saturating_add(*count)),
        }
    }

    /// How many records a row stands for.
    pub(super) fn records_of(&self, row: usize) -> u64 {
        self.counts.map_or(1, |counts| counts[row])
    }

    /// The site that a row belongs to.
    pub(super) fn owner_of(&self, row: u32) -> u32 {
        match self.owner {
            Owner::Site(site) => site,
            Owner::Column(owners) => owners[row as usize],
        }
    }

    /// The shares of sites in some rows, each with so many of its records, by site; sites without such rows
    /// are left out.
    pub(super) fn shares(
        &self,
        sensitive: &[usize],
        rows: impl Iterator<Item = (u32, u64)>,
    ) -> Vec<Share> {
        let columns: Vec<SensitiveCodes<'_>> = sensitive
            .iter()
            .map(|index| self.sensitive[*index])
            .collect();
        let width: usize = columns.iter().map(|column| column.size as usize).sum();
        let mut shares: Vec<Share> = Vec::new();
        for (row, records) in rows {
            let site = self.owner_of(row);
            let place = shares.partition_point(|share| share.site < site);
            if shares.get(place).is_none_or(|share| share.site != site) {
                let share = Share {
                    site,
                    size: 0,
                    sensitive: vec![0; width],
                };
                shares.insert(place, share);
            }
            let share = &mut shares[place];
            share.size += records;
            let mut from = 0;
            for column in &columns {
                share.sensitive[from + column.codes.get(row as usize) as usize] += records;
                from += column.size as usize;
            }
        }
        shares
    }
}

/// Where a class's rows stand in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Stretch {
    pub(super) const fn len(self) -> usize {
        self.end - self.start
    }

    /// Where the rows stand once the rows at these places of the order, ascending, have become two.
    pub(super) fn behind(self, split: &[usize]) -> Self {
        let before = |place: usize| split.partition_point(|at| *at < place);
        Self {
            start: self.start + before(self.start),
            end: self.end + before(self.end),
        }
    }
}

/// A cut of a class: an attribute and where its parts end, ascending, the last at the bound.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) attribute: usize,
    pub(super) ends: Vec<u32>,
    /// For a relaxed median: this site's rows at the first end that stay left; its other rows at that end
    /// go right.
    pub(super) left_at_end: Option<Left>,
}

/// What stays left of a relaxed median.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// Places of rows, ascending.
    places: Vec<u32>,
    /// Rows of which only so many records stay left, by their places, ascending: of each site at most one.
    split: Vec<(u32, u32)>,
}

impl Left {
    /// How many records stay left of a row of which some go right.
    fn of_split(&self, place: u32) -> Option<u32> {
        let found = self.split.binary_search_by_key(&place, |(split, _)| *split);
        found.ok().map(|found| self.split[found].1)
    }
}

impl Cut {
    pub(super) fn parts(&self) -> usize {
        self.ends.len()
    }

    /// The rows that are cut themselves.
    fn split(&self) -> Option<&Left> {
        let left = self.left_at_end.as_ref();
        left.filter(|left| !left.split.is_empty())
    }

    /// A code lies in the first part whose end it does not exceed.
    fn part_of(&self, place: u32, code: u32) -> usize {
        match (self.ends.as_slice(), &self.left_at_end) {
            ([first, _], None) => usize::from(code > *first),
            ([first, _], Some(left)) if code == *first => {
                usize::from(left.places.binary_search(&place).is_err())
            }
            (ends, _) => ends.partition_point(|end| *end < code),
        }
    }
}

/// How many of a site's records lie at or below each value of an attribute in a class.
pub(super) enum Prefix {
    /// Where values are few: a running count for each, from the least on.
    Counted { least: u32, running: Vec<u32> },
    /// Where rows are few: their codes, ascending.
    Sorted(Vec<u32>),
    /// The same for counted rows: each code with the records up to it.
    Weighed(Vec<(u32, u32)>),
}

impl Prefix {
    pub(super) fn at_most(&self, code: u32) -> u64 {
        match self {
            Self::Counted { least, running } => {
                let place = code.checked_sub(*least).map(|place| place as usize);
                let last = running.len().saturating_sub(1);
                place.map_or(0, |place| u64::from(running[place.min(last)]))
            }
            Self::Sorted(codes) => codes.partition_point(|own| *own <= code) as u64,
            Self::Weighed(codes) => {
                let rows = codes.partition_point(|(own, _)| *own <= code);
                rows.checked_sub(1)
                    .map_or(0, |last| u64::from(codes[last].1))
            }
        }
    }
}

/// Some rows of one site in a part: how many, and how often each value of each sensitive
/// attribute occurs, one attribute after the other.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) site: u32,
    pub(super) size: u64,
    pub(super) sensitive: Vec<u64>,
}

/// Rows in class order: each class a stretch. Counted rows are weighed by their records; a row of which only
/// a part stays left of a relaxed median becomes two, of which the second stands at a new place.
pub(super) struct Arranged<'a> {
    /// The quasi-identifiers; where sites are cut apart too, the site of each row.
    columns: Vec<Cow<'a, Codes>>,
    /// Places in the columns, class by class.
    order: Vec<u32>,
    /// The row at each place of the columns; `None` while columns stand in their original order.
    origin: Option<Vec<u32>>,
    /// The records at each place; one each where rows are not counted.
    weights: Option<Vec<u32>>,
    /// Whether columns stand in class order.
    is_settled: bool,
    rows: &'a OwnRows<'a>,
}

/// Classes of about so many rows fit into a core's cache: from that size on columns stand in class
/// order.
const ROWS_AT_HAND: usize = 1 << 16;

impl<'a> Arranged<'a> {
    /// The rows in their original order, in one stretch. With `provider`, the site is one more
    /// attribute, behind the quasi-identifiers.
    pub(super) fn new(rows: &'a OwnRows<'a>, provider: bool) -> Self {
        let mut columns: Vec<Cow<'a, Codes>> = rows
            .quasi
            .iter()
            .map(|codes| Cow::Borrowed(*codes))
            .collect();
        if provider {
            let mut owners = Codes::for_size(rows.sites as u32);
            (0..rows.count as u32).for_each(|row| owners.push(rows.owner_of(row)));
            columns.push(Cow::Owned(owners));
        }
        Self {
            columns,
            order: (0..rows.count as u32).collect(),
            origin: None,
            // All records together are no more than a row number can be: whoever is told their number sees
            // to it before any cut.
            weights: rows
                .counts
                .map(|counts| counts.iter().map(|count| *count as u32).collect()),
            is_settled: false,
            rows,
        }
    }

    /// Brings the columns themselves into class order once classes are small, so that a class's
    /// codes lie together.
    pub(super) fn settle(&mut self, classes: usize) {
        let rows = self.order.len();
        if self.is_settled || rows / classes.max(1) > ROWS_AT_HAND || rows <= ROWS_AT_HAND {
            return;
        }
        self.is_settled = true;
        let order = &self.order;
        self.columns.par_iter_mut().for_each(|column| {
            *column = Cow::Owned(match &**column {
                Codes::U8(codes) => Codes::U8(gathered(codes, order)),
                Codes::U16(codes) => Codes::U16(gathered(codes, order)),
                Codes::U32(codes) => Codes::U32(gathered(codes, order)),
            });
        });
        if let Some(weights) = &mut self.weights {
            *weights = gathered(weights, &self.order);
        }
        let identity = (0..rows as u32).collect();
        let order = std::mem::replace(&mut self.order, identity);
        self.origin = Some(match &self.origin {
            Some(origin) => gathered(origin, &order),
            None => order,
        });
    }

    /// The row at a place of the columns.
    fn row_at(&self, place: u32) -> u32 {
        let origin = self.origin.as_ref();
        origin.map_or(place, |origin| origin[place as usize])
    }

    /// All rows.
    pub(super) fn whole(&self) -> Stretch {
        Stretch {
            start: 0,
            end: self.order.len(),
        }
    }

    /// The rows in class order, once all cuts are made, and where rows are counted the records of each.
    pub(super) fn into_order(mut self) -> (Vec<u32>, Option<Vec<u32>>) {
        let weights = self.weights.map(|weights| gathered(&weights, &self.order));
        if let Some(origin) = self.origin {
            self.order
                .par_iter_mut()
                .for_each(|place| *place = origin[*place as usize]);
        }
        (self.order, weights)
    }

    /// Visits the places of a class's rows with their codes of an attribute.
    fn each(&self, attribute: usize, stretch: Stretch, mut visit: impl FnMut(u32, u32)) {
        let rows = &self.order[stretch.start..stretch.end];
        match &*self.columns[attribute] {
            Codes::U8(codes) => rows
                .iter()
                .for_each(|row| visit(*row, u32::from(codes[*row as usize]))),
            Codes::U16(codes) => rows
                .iter()
                .for_each(|row| visit(*row, u32::from(codes[*row as usize]))),
            Codes::U32(codes) => rows
                .iter()
                .for_each(|row| visit(*row, codes[*row as usize])),
        }
    }

    /// Visits the places of a class's rows with their codes of an attribute and their records.
    fn each_weighed(
        &self,
        attribute: usize,
        stretch: Stretch,
        mut visit: impl FnMut(u32, u32, u32),
    ) {
        match &self.weights {
            None => self.each(attribute, stretch, |place, code| visit(place, code, 1)),
            Some(weights) => self.each(attribute, stretch, |place, code| {
                visit(place, code, weights[place as usize]);
            }),
        }
    }

    /// Visits the parts of a cut with the places of a class's rows and how many of their records are in
    /// the part.
    fn each_in_parts(&self, stretch: Stretch, cut: &Cut, mut visit: impl FnMut(usize, u32, u64)) {
        let Some(left) = cut.split() else {
            self.each_weighed(cut.attribute, stretch, |place, code, weight| {
                visit(cut.part_of(place, code), place, u64::from(weight));
            });
            return;
        };
        self.each_weighed(cut.attribute, stretch, |place, code, weight| {
            let stays = left.of_split(place).unwrap_or(0);
            if stays > 0 {
                visit(0, place, u64::from(stays));
            }
            visit(cut.part_of(place, code), place, u64::from(weight - stays));
        });
    }

    /// Counts a class's records at or below each code of an attribute, all of which lie in `bounds`.
    pub(super) fn prefix(&self, attribute: usize, stretch: Stretch, bounds: (u32, u32)) -> Prefix {
        let (least, greatest) = bounds;
        let width = (greatest - least) as usize + 1;
        if width > 16 + 8 * stretch.len() {
            return self.sorted(attribute, stretch);
        }
        let mut running = vec![0; width];
        self.each_weighed(attribute, stretch, |_, code, weight| {
            running[(code - least) as usize] += weight;
        });
        let mut sum = 0;
        for count in &mut running {
            sum += *count;
            *count = sum;
        }
        Prefix::Counted { least, running }
    }

    /// Counts the records of a class of few rows at or below each code.
    fn sorted(&self, attribute: usize, stretch: Stretch) -> Prefix {
        if self.weights.is_none() {
            let mut codes = Vec::with_capacity(stretch.len());
            self.each(attribute, stretch, |_, code| codes.push(code));
            codes.sort_unstable();
            return Prefix::Sorted(codes);
        }
        let mut codes = Vec::with_capacity(stretch.len());
        self.each_weighed(attribute, stretch, |_, code, weight| {
            codes.push((code, weight))
        });
        codes.sort_unstable();
        let mut sum = 0;
        for (_, weight) in &mut codes {
            sum += *weight;
            *weight = sum;
        }
        Prefix::Weighed(codes)
    }

    /// The least and greatest code of an attribute in a class, if the class has rows here.
    pub(super) fn range(&self, attribute: usize, stretch: Stretch) -> Option<(u64, u64)> {
        let mut range = (u32::MAX, 0);
        self.each(attribute, stretch, |_, code| {
            range = (range.0.min(code), range.1.max(code));
        });
        (stretch.len() > 0).then_some((u64::from(range.0), u64::from(range.1)))
    }

    /// This site's records in each part of a cut.
    pub(super) fn sizes(&self, stretch: Stretch, cut: &Cut) -> Vec<u64> {
        let mut sizes = vec![0; cut.parts()];
        self.each_in_parts(stretch, cut, |part, _, records| sizes[part] += records);
        sizes
    }

    /// For each part of a cut, how often each value of a sensitive attribute occurs in it.
    pub(super) fn sensitive_in_parts(
        &self,
        sensitive: usize,
        stretch: Stretch,
        cut: &Cut,
    ) -> Vec<u64> {
        let column = self.rows.sensitive[sensitive];
        let size = column.size as usize;
        let mut counts = vec![0; cut.parts() * size];
        self.each_in_parts(stretch, cut, |part, place, records| {
            let value = column.codes.get(self.row_at(place) as usize) as usize;
            counts[part * size + value] += records;
        });
        counts
    }

    /// For each part of a cut, the records of each site in it.
    pub(super) fn owners_in_parts(&self, stretch: Stretch, cut: &Cut) -> Vec<u64> {
        let sites = self.rows.sites;
        let mut counts = vec![0; cut.parts() * sites];
        self.each_in_parts(stretch, cut, |part, place, records| {
            let site = self.rows.owner_of(self.row_at(place)) as usize;
            counts[part * sites + site] += records;
        });
        counts
    }

    /// For each part of a cut, the shares of the sites whose rows are here, by site. Sites without rows
    /// in a part are left out.
    pub(super) fn shares(
        &self,
        sensitive: &[usize],
        stretch: Stretch,
        cut: &Cut,
    ) -> Vec<Vec<Share>> {
        let mut parts: Vec<Vec<(u32, u64)>> = vec![Vec::new(); cut.parts()];
        self.each_in_parts(stretch, cut, |part, place, records| {
            parts[part].push((self.row_at(place), records));
        });
        let parts = parts.into_iter();
        parts
            .map(|rows| self.rows.shares(sensitive, rows.into_iter()))
            .collect()
    }

    /// Which of the rows at a value stay left of a relaxed median: of each site the share `wanted` /
    /// `all` of its own records, rounded down, chosen by the contents of the rows and not by their places.
    /// Of counted rows the last may have to be split.
    pub(super) fn left_of_median(
        &self,
        attribute: usize,
        stretch: Stretch,
        median: u32,
        (wanted, all): (u64, u64),
    ) -> Left {
        let mut at_median = Vec::new();
        self.each(attribute, stretch, |place, code| {
            if code == median {
                at_median.push(place);
            }
        });
        let content = |place: u32| {
            let row = self.row_at(place) as usize;
            let quasi = self.rows.quasi.iter().map(move |codes| codes.get(row));
            let sensitive = self.rows.sensitive.iter();
            let other = self.rows.other.iter().map(move |codes| codes.get(row));
            quasi
                .chain(sensitive.map(move |column| column.codes.get(row)))
                .chain(other)
        };
        let owner = |place: u32| self.rows.owner_of(self.row_at(place));
        at_median.sort_by(|a, b| {
            let owners = owner(*a).cmp(&owner(*b));
            owners.then_with(|| content(*a).cmp(content(*b)))
        });
        let records = |place: u32| {
            let weights = self.weights.as_ref();
            weights.map_or(1, |weights| u64::from(weights[place as usize]))
        };
        let mut left = Left::default();
        for rows in at_median.chunk_by(|a, b| owner(*a) == owner(*b)) {
            let own: u64 = rows.iter().map(|place| records(*place)).sum();
            let mut stay = u128::from(wanted) * u128::from(own) / u128::from(all.max(1));
            for place in rows {
                let of_row = u128::from(records(*place));
                if stay < of_row {
                    // Fewer than the row's records, which a weight holds.
                    let some = (stay > 0).then_some((*place, stay as u32));
                    left.split.extend(some);
                    break;
                }
                stay -= of_row;
                left.places.push(*place);
            }
        }
        left.places.sort_unstable();
        left.split.sort_unstable();
        left
    }

    /// Makes two of each row that a cut splits: what goes right stands at a new place, behind the other in
    /// the order. Returns where in the order the rows stood that were split, ascending.
    pub(super) fn split(&mut self, cuts: &mut [(Stretch, &mut Cut)]) -> Vec<usize> {
        let mut found: Vec<(usize, u32)> = Vec::new();
        for (stretch, cut) in cuts {
            let Some(left) = cut.split() else {
                continue;
            };
            let places = self.order[stretch.start..stretch.end].iter().enumerate();
            found.extend(
                places.filter_map(|(at, place)| Some((stretch.start + at, left.of_split(*place)?))),
            );
            if let Some(left) = &mut cut.left_at_end {
                left.places
                    .extend(left.split.drain(..).map(|(place, _)| place));
                left.places.sort_unstable();
            }
        }
        let Some(weights) = self.weights.as_mut().filter(|_| !found.is_empty()) else {
            return Vec::new();
        };
        found.sort_unstable();
        let origin = self
            .origin
            .get_or_insert_with(|| (0..weights.len() as u32).collect());
        let mut order = Vec::with_capacity(self.order.len() + found.len());
        let mut from = 0;
        for (at, stays) in &found {
            order.extend_from_slice(&self.order[from..=*at]);
            let place = self.order[*at] as usize;
            order.push(weights.len() as u32);
            weights.push(weights[place] - stays);
            weights[place] = *stays;
            origin.push(origin[place]);
            for column in &mut self.columns {
                let code = column.get(place);
                column.to_mut().push(code);
            }
            from = at + 1;
        }
        order.extend_from_slice(&self.order[from..]);
        self.order = order;
        found.into_iter().map(|(at, _)| at).collect()
    }

    /// Brings the rows of each cut class into the order of its parts, and counts the rows of each part. Rows
    /// keep their order inside a part, so a run is the same for any number of threads.
    pub(super) fn cut(&mut self, cuts: &[(Stretch, &Cut)]) -> Vec<Vec<usize>> {
        let mut by_start: Vec<usize> = (0..cuts.len()).collect();
        by_start.sort_unstable_by_key(|cut| cuts[*cut].0.start);
        let mut rest = self.order.as_mut_slice();
        let mut at = 0;
        let mut tasks: Vec<(&mut [u32], &Cut)> = Vec::with_capacity(cuts.len());
        for (stretch, cut) in by_start.iter().map(|cut| &cuts[*cut]) {
            let (_, from) = std::mem::take(&mut rest).split_at_mut(stretch.start - at);
            let (own, behind) = from.split_at_mut(stretch.len());
            tasks.push((own, cut));
            (rest, at) = (behind, stretch.end);
        }
        let columns = &self.columns;
        let rows: Vec<Vec<usize>> = tasks
            .into_par_iter()
            .map_init(Vec::new, |spare, (places, cut)| {
                match &*columns[cut.attribute] {
                    Codes::U8(codes) => {
                        arrange(places, cut, spare, |place| u32::from(codes[place]))
                    }
                    Codes::U16(codes) => {
                        arrange(places, cut, spare, |place| u32::from(codes[place]))
                    }
                    Codes::U32(codes) => arrange(places, cut, spare, |place| codes[place]),
                }
            })
            .collect();
        let mut of_cuts = vec![Vec::new(); cuts.len()];
        for (cut, rows) in by_start.into_iter().zip(rows) {
            of_cuts[cut] = rows;
        }
        of_cuts
    }
}

/// The codes of some rows, in their order.
fn gathered<T: Copy>(codes: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|row| codes[*row as usize]).collect()
}

/// Moves the places of one class's rows into the order of its parts; how many rows each has.
fn arrange(
    places: &mut [u32],
    cut: &Cut,
    spare: &mut Vec<u32>,
    code: impl Fn(usize) -> u32,
) -> Vec<usize> {
    if cut.parts() == 2 {
        // Written to both sides and kept on one: which one cannot be foretold.
        spare.resize(spare.len().max(places.len()), 0);
        let (mut left, mut right) = (0, 0);
        for at in 0..places.len() {
            let place = places[at];
            let part = cut.part_of(place, code(place as usize));
            places[left] = place;
            spare[right] = place;
            left += 1 - part;
            right += part;
        }
        places[left..].copy_from_slice(&spare[..right]);
        return vec![left, right];
    }
    let part = |place: &u32| cut.part_of(*place, code(*place as usize));
    places.sort_by_cached_key(|place| part(place) as u32);
    let mut from = 0;
    let parts = (0..cut.parts()).map(|one| {
        let rows = places[from..].partition_point(|place| part(place) <= one);
        from += rows;
        rows
    });
    parts.collect()
}
