//! JX09 Theorem 1 (section 4.3) as a program: from the release and the public plan alone, every
//! value that a run discloses. It is the specification of what a site may learn, so it works on the
//! release's text and knows nothing of the partitioner. No site's rows are needed.
//!
//! Cuts that were refused leave no trace in the release. What was opened about them is named again
//! in the ledger; the simulator is given those notes, and nothing else of it.

use std::collections::BTreeMap;

use hedgerow_data::{Cell, Recode, Release, Role, Taxonomy};
use hedgerow_privacy::Model;
use hedgerow_protocols::horizontal::assembly::VALUES;
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::horizontal::cover::{COVERS, Writing};
use hedgerow_protocols::horizontal::mondrian::{
    Cutting, DATA_RANGES, MEDIANS, PARTS, Plan, RANGES, RECORDS, REFUSED, SENSITIVE, Widths,
};
use hedgerow_smc::What;
use hedgerow_smc::ledger::Values;

/// One entry of a ledger: what was disclosed, and all its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) what: What,
    pub(crate) values: Vec<u64>,
}

/// What the ledger noted about refused cuts, by wave.
pub(crate) type Notes = BTreeMap<usize, Vec<u64>>;

/// What all sites agreed on before the run.
pub(crate) struct Public<'a> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) writings: &'a [Writing<'a>],
    pub(crate) covers: Covers,
}

/// More counters for a record than this, and values are mixed rather than counted.
const MOST_COUNTERS: usize = 200;

/// A class of the release.
struct Class {
    /// The ends of its cells.
    cells: Vec<(u32, u32)>,
    /// Each record's sensitive values.
    records: Vec<Vec<u32>>,
}

/// What the cuts so far leave together: a union of classes of the release.
#[derive(Clone)]
struct Region {
    bounds: Vec<(u32, u32)>,
    /// Places of its classes.
    classes: Vec<usize>,
    /// Attributes whose cut was refused; a median whose records may still go to the other side.
    refused: Vec<(usize, Option<u32>)>,
}

/// Records and sensitive counts.
#[derive(Clone)]
struct Counts(Vec<u64>);

/// What a region tries next: public.
#[derive(Clone, Copy)]
enum Attempt {
    Fresh(usize),
    SecondSide { attribute: usize, median: u32 },
}

/// What became of an attempt.
struct Tried {
    attribute: usize,
    /// Where a median was asked for.
    median: Option<u32>,
    /// The last value of each part.
    ends: Vec<u32>,
    parts: Vec<Counts>,
    is_refused: bool,
    other_side: Option<u32>,
}

/// Why no run that keeps to the plan leaves such a release and such notes.
pub(crate) type Astray = &'static str;

/// The whole ledger that a run with this release must have left, the same at every site.
pub(crate) fn ledger(
    release: &Release,
    public: &Public<'_>,
    notes: &Notes,
) -> Result<Vec<Line>, Astray> {
    let mut simulator = Simulator::new(release, public);
    let root = simulator.root();
    let closed = simulator.waves(root, notes)?;
    simulator.write(closed)?;
    Ok(simulator.lines)
}

struct Simulator<'a> {
    public: &'a Public<'a>,
    trees: Vec<Option<&'a Taxonomy>>,
    classes: Vec<Class>,
    /// Values of each sensitive attribute.
    sensitive: Vec<usize>,
    /// Whether the requirement speaks of sensitive values.
    is_counted: bool,
    /// Values of each attribute in the whole table.
    whole: Vec<u64>,
    lines: Vec<Line>,
}

impl<'a> Simulator<'a> {
    fn new(release: &Release, public: &'a Public<'a>) -> Self {
        let schema = release.schema();
        let sensitive = schema.with_role(Role::Sensitive);
        let mut classes: BTreeMap<Vec<(u32, u32)>, Vec<Vec<u32>>> = BTreeMap::new();
        for row in 0..release.rows() {
            let cells = schema.with_role(Role::Quasi).into_iter().map(|attribute| {
                let column = release.generalized(attribute).unwrap();
                match &column.cells[column.codes[row] as usize] {
                    Cell::Interval(least, greatest) => (*least, *greatest),
                    Cell::Set(_) => panic!("sets are not what Theorem 1 speaks of"),
                }
            });
            let values = sensitive.iter();
            let values = values.map(|attribute| release.verbatim(*attribute).unwrap().get(row));
            classes
                .entry(cells.collect())
                .or_default()
                .push(values.collect());
        }
        let of_tree = |cutting: &Cutting<'a>| match cutting {
            Cutting::Median => None,
            Cutting::Children(tree) => Some(*tree),
        };
        let quasi = public.plan.quasi.iter();
        let mut models = public.plan.demands.requirement.models.iter();
        Self {
            public,
            trees: quasi.map(|quasi| of_tree(&quasi.cutting)).collect(),
            classes: classes
                .into_iter()
                .map(|(cells, records)| Class { cells, records })
                .collect(),
            sensitive: sensitive
                .iter()
                .map(|attribute| schema.attributes()[*attribute].domain.size() as usize)
                .collect(),
            is_counted: models.any(|model| !matches!(model, Model::KAnonymity { .. })),
            whole: Vec::new(),
            lines: Vec::new(),
        }
    }

    fn line(&mut self, what: What, values: Vec<u64>) {
        self.lines.push(Line { what, values });
    }

    /// What is disclosed about the whole table: rows of the release, totals of its sensitive
    /// values, ends of its cells.
    fn root(&mut self) -> Region {
        let mut root = Region {
            bounds: {
                let sizes = self.public.plan.quasi.iter();
                sizes.map(|quasi| (0, quasi.size - 1)).collect()
            },
            classes: (0..self.classes.len()).collect(),
            refused: Vec::new(),
        };
        let Counts(counts) = self.count(&root.classes);
        self.line(RECORDS, counts[..1].to_vec());
        if self.is_counted {
            self.line(SENSITIVE, counts[1..].to_vec());
        }
        self.ranges(RANGES, [&mut root].into_iter());
        let width = |(least, greatest): &(u32, u32)| u64::from(greatest - least) + 1;
        self.whole = root.bounds.iter().map(width).collect();
        root
    }

    /// Ranges are the least and greatest ends of cells; along a tree, the node above them.
    fn ranges<'r>(&mut self, what: What, regions: impl Iterator<Item = &'r mut Region>) {
        let (mut ends, mut nodes) = (Vec::new(), Vec::new());
        for region in regions {
            for (attribute, tree) in self.trees.iter().enumerate() {
                let classes = region.classes.iter();
                let cells = classes.map(|class| self.classes[*class].cells[attribute]);
                let (least, greatest) = cells.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap();
                region.bounds[attribute] = match tree {
                    None => {
                        ends.extend([u64::from(least), u64::from(greatest)]);
                        (least, greatest)
                    }
                    Some(tree) => {
                        // Numbered from the node above what the cuts left.
                        let left = region.bounds[attribute];
                        let top = tree.lowest_common_ancestor(left.0, left.1);
                        let node = tree.lowest_common_ancestor(least, greatest);
                        nodes.push(u64::from(node - top));
                        tree.interval(node)
                    }
                };
            }
        }
        for values in [ends, nodes] {
            if !values.is_empty() {
                self.line(what, values);
            }
        }
    }

    /// Runs the waves; gives the regions that were cut no further.
    fn waves(&mut self, root: Region, notes: &Notes) -> Result<Vec<Region>, Astray> {
        let (mut open, mut closed) = (vec![root], Vec::new());
        for wave in 0.. {
            let mut tries: Vec<(Region, Attempt)> = Vec::new();
            for region in open {
                let size = self.count(&region.classes).size();
                match self.attempt(&region) {
                    Some(attempt) if size >= 2 * self.public.plan.demands.requirement.k() => {
                        tries.push((region, attempt));
                    }
                    _ => closed.push(region),
                }
            }
            if tries.is_empty() {
                break;
            }
            let mut note = notes.get(&wave).map_or(&[][..], Vec::as_slice);
            let mut tried = Vec::new();
            for (place, (region, attempt)) in tries.iter().enumerate() {
                let is_refused = note.first() == Some(&(place as u64));
                tried.push(if is_refused {
                    self.refused(region, *attempt, &mut note)?
                } else {
                    self.made(region, *attempt)?
                });
            }
            self.disclose(&tried);
            open = Vec::new();
            for ((region, _), tried) in tries.into_iter().zip(tried) {
                self.next(region, &tried, &mut open)?;
            }
            if self.public.plan.widths == Widths::Data {
                let new = open.iter_mut().filter(|region| region.refused.is_empty());
                self.ranges(DATA_RANGES, new);
            }
        }
        Ok(closed)
    }

    /// The second side of the median refused last; otherwise the attribute of which most is left,
    /// of equals the first.
    fn attempt(&self, region: &Region) -> Option<Attempt> {
        if let Some((attribute, Some(median))) = region.refused.last().copied()
            && region.bounds[attribute].0 < median
        {
            return Some(Attempt::SecondSide { attribute, median });
        }
        let left = |attribute: usize| {
            let (least, greatest) = region.bounds[attribute];
            u64::from(greatest - least) + 1
        };
        let mut widest = None;
        for attribute in 0..self.trees.len() {
            let is_refused = region.refused.iter().any(|(other, _)| *other == attribute);
            if left(attribute) == 1 || is_refused {
                continue;
            }
            let is_wider = |best: usize| {
                left(attribute) * self.whole[best] > left(best) * self.whole[attribute]
            };
            if widest.is_none_or(is_wider) {
                widest = Some(attribute);
            }
        }
        widest.map(Attempt::Fresh)
    }

    /// A cut that was made: no class of the release lies on both sides of it.
    fn made(&self, region: &Region, attempt: Attempt) -> Result<Tried, Astray> {
        let (attribute, median, ends) = match (attempt, attempt.tree(self)) {
            (Attempt::Fresh(attribute), Some(tree)) => {
                (attribute, None, children(tree, region.bounds[attribute]))
            }
            (Attempt::Fresh(attribute), None) => {
                let median = self.median(region, attribute)?;
                let greatest = region.bounds[attribute].1;
                // Nothing is above the last value: its records are the right part.
                let end = median.min(greatest - 1);
                (attribute, Some(median), vec![end, greatest])
            }
            (Attempt::SecondSide { attribute, median }, _) => {
                let greatest = region.bounds[attribute].1;
                (attribute, None, vec![median - 1, greatest])
            }
        };
        let parts = self.split(region, attribute, &ends)?;
        Ok(Tried {
            attribute,
            median,
            parts: parts.iter().map(|classes| self.count(classes)).collect(),
            ends,
            is_refused: false,
            other_side: None,
        })
    }

    /// The median from the release alone: of the ends of cells that no class straddles, the first
    /// with at least half of the records at or below it.
    fn median(&self, region: &Region, attribute: usize) -> Result<u32, Astray> {
        let half = self.count(&region.classes).size().div_ceil(2);
        let cells = || {
            let classes = region.classes.iter().map(|class| &self.classes[*class]);
            classes.map(|class| (class.cells[attribute], class.records.len() as u64))
        };
        let mut ends: Vec<u32> = cells().map(|((_, greatest), _)| greatest).collect();
        ends.sort_unstable();
        ends.dedup();
        let is_median = |end: &u32| {
            let is_between = cells().all(|((least, greatest), _)| greatest <= *end || *end < least);
            let below = cells().filter(|((_, greatest), _)| greatest <= end);
            is_between && below.map(|(_, size)| size).sum::<u64>() >= half
        };
        ends.into_iter()
            .find(is_median)
            .ok_or("no end of a cell is a median")
    }

    /// A cut that was refused, as the note says. The note has the place of the try, its first end,
    /// and sizes and sensitive counts of all parts, of which the last follow from the region.
    fn refused(
        &self,
        region: &Region,
        attempt: Attempt,
        note: &mut &[u64],
    ) -> Result<Tried, Astray> {
        let mut take = |count: usize| {
            let (taken, rest) = note.split_at_checked(count).ok_or("a note is cut off")?;
            *note = rest;
            Ok::<_, Astray>(taken)
        };
        let (attribute, tree) = (attempt.attribute(), attempt.tree(self));
        let greatest = region.bounds[attribute].1;
        let whole = self.count(&region.classes);
        let end = take(2)?[1] as u32;
        let ends = match (attempt, tree) {
            (Attempt::SecondSide { median, .. }, _) => vec![median - 1, greatest],
            (_, Some(tree)) => children(tree, region.bounds[attribute]),
            _ => vec![end, greatest],
        };
        let width = if self.is_counted {
            whole.0.len() - 1
        } else {
            0
        };
        let sizes = take(ends.len())?;
        let sensitive = take(ends.len() * width)?;
        let mut parts: Vec<Counts> = (0..ends.len() - 1)
            .map(|part| {
                let counts = &sensitive[part * width..(part + 1) * width];
                Counts([&sizes[part..=part], counts].concat())
            })
            .collect();
        // A median below the last value has half of the records at or below it.
        let is_last = end == greatest - 1 && 2 * sizes[0] < whole.size();
        let last = parts.iter().try_fold(whole, Counts::without);
        parts.push(last.ok_or("a part is larger than the whole")?);
        let median = match (attempt, tree) {
            (Attempt::Fresh(_), None) => Some(end + u32::from(is_last)),
            _ => None,
        };
        Ok(Tried {
            attribute,
            median,
            ends,
            parts,
            is_refused: true,
            other_side: median.filter(|_| !is_last),
        })
    }

    /// What a wave discloses: medians, all parts but the last, and which of it was in vain.
    fn disclose(&mut self, tried: &[Tried]) {
        let medians: Vec<u64> = tried
            .iter()
            .filter_map(|tried| tried.median.map(u64::from))
            .collect();
        if !medians.is_empty() {
            self.line(MEDIANS, medians);
        }
        let (mut opened, mut in_vain) = (Vec::new(), Vec::new());
        for (place, tried) in tried.iter().enumerate() {
            let asked = &tried.parts[..tried.parts.len() - 1];
            opened.extend(asked.iter().map(Counts::size));
            if self.is_counted {
                let mut from = 1;
                for size in &self.sensitive {
                    for Counts(counts) in asked {
                        opened.extend_from_slice(&counts[from..from + size]);
                    }
                    from += size;
                }
            }
            if tried.is_refused {
                in_vain.extend([place as u64, u64::from(tried.ends[0])]);
                in_vain.extend(tried.parts.iter().map(Counts::size));
                if self.is_counted {
                    in_vain.extend(tried.parts.iter().flat_map(|part| part.0[1..].to_vec()));
                }
            }
        }
        self.line(PARTS, opened);
        if !in_vain.is_empty() {
            self.line(REFUSED, in_vain);
        }
    }

    /// What is open after a try.
    fn next(
        &self,
        mut region: Region,
        tried: &Tried,
        open: &mut Vec<Region>,
    ) -> Result<(), Astray> {
        let attribute = tried.attribute;
        if tried.is_refused {
            region.refused.retain(|(other, _)| *other != attribute);
            region.refused.push((attribute, tried.other_side));
            open.push(region);
            return Ok(());
        }
        let mut least = region.bounds[attribute].0;
        let parts = self.split(&region, attribute, &tried.ends)?;
        for (classes, end) in parts.into_iter().zip(&tried.ends) {
            let mut bounds = region.bounds.clone();
            bounds[attribute] = (least, *end);
            least = end + 1;
            if !classes.is_empty() {
                open.push(Region {
                    bounds,
                    classes,
                    refused: Vec::new(),
                });
            }
        }
        Ok(())
    }

    /// The classes of a region in each part of a cut.
    fn split(
        &self,
        region: &Region,
        attribute: usize,
        ends: &[u32],
    ) -> Result<Vec<Vec<usize>>, Astray> {
        let mut parts = vec![Vec::new(); ends.len()];
        for class in &region.classes {
            let (least, greatest) = self.classes[*class].cells[attribute];
            let part = |value: u32| ends.partition_point(|end| *end < value);
            if part(least) != part(greatest) {
                return Err("a class lies on both sides of a cut");
            }
            parts[part(least)].push(*class);
        }
        Ok(parts)
    }

    fn count(&self, classes: &[usize]) -> Counts {
        let mut counts = vec![0; 1 + self.sensitive.iter().sum::<usize>()];
        for record in classes
            .iter()
            .flat_map(|class| &self.classes[*class].records)
        {
            counts[0] += 1;
            let mut from = 1;
            for (value, size) in record.iter().zip(&self.sensitive) {
                counts[from + *value as usize] += 1;
                from += size;
            }
        }
        Counts(counts)
    }

    /// The release itself: its cells, then its values, class by class in the order of bounds.
    fn write(&mut self, mut closed: Vec<Region>) -> Result<(), Astray> {
        closed.sort_by(|a, b| a.bounds.cmp(&b.bounds));
        let mut order = Vec::new();
        for region in &closed {
            let [class] = region.classes[..] else {
                return Err("classes that no cut tells apart");
            };
            order.push(class);
        }
        if self.public.covers == Covers::Tight {
            let (mut nodes, mut ends) = (Vec::new(), Vec::new());
            for (class, region) in order.iter().zip(&closed) {
                let cells = self.classes[*class].cells.iter().zip(&region.bounds);
                for (((least, greatest), bounds), writing) in cells.zip(self.public.writings) {
                    match (writing.recode, writing.domain.taxonomy()) {
                        (Recode::Node, Some(tree)) => {
                            // Numbered from the node above what the cuts left.
                            let top = tree.lowest_common_ancestor(bounds.0, bounds.1);
                            let node = tree.lowest_common_ancestor(*least, *greatest);
                            nodes.push(u64::from(node - top));
                        }
                        _ => ends.extend([u64::from(*least), u64::from(*greatest)]),
                    }
                }
            }
            for values in [nodes, ends] {
                if !values.is_empty() {
                    self.line(COVERS, values);
                }
            }
        }
        let of_class = self.sensitive.iter().product::<usize>();
        let records: usize = self.classes.iter().map(|class| class.records.len()).sum();
        let rows = order.iter().enumerate().flat_map(|(place, class)| {
            let records = self.classes[*class].records.iter();
            records.map(move |record| (place, record))
        });
        let values = if order.len() * of_class <= MOST_COUNTERS * records {
            let mut counters = vec![0u64; order.len() * of_class];
            for (class, record) in rows {
                let codes = record.iter().zip(&self.sensitive);
                let counter = codes.fold(class, |at, (code, size)| at * size + *code as usize);
                counters[counter] += 1;
            }
            counters
        } else {
            let mut items: Vec<Vec<u8>> = rows
                .map(|(class, record)| {
                    let codes = std::iter::once(class as u32).chain(record.iter().copied());
                    codes.flat_map(u32::to_be_bytes).collect()
                })
                .collect();
            items.sort_unstable();
            items.words()
        };
        self.line(VALUES, values);
        Ok(())
    }
}

impl Attempt {
    fn attribute(self) -> usize {
        match self {
            Self::Fresh(attribute) | Self::SecondSide { attribute, .. } => attribute,
        }
    }

    fn tree<'a>(self, simulator: &Simulator<'a>) -> Option<&'a Taxonomy> {
        simulator.trees[self.attribute()]
    }
}

impl Counts {
    fn size(&self) -> u64 {
        self.0[0]
    }

    fn without(self, part: &Self) -> Option<Self> {
        // A part of a plain k has no sensitive counts.
        let pairs = self.0.iter().zip(&part.0);
        let left: Option<_> = pairs
            .map(|(whole, part)| whole.checked_sub(*part))
            .collect();
        left.map(Self)
    }
}

/// The last values of a node's children; single children in a chain are one step.
fn children(tree: &Taxonomy, (least, greatest): (u32, u32)) -> Vec<u32> {
    let mut node = tree.lowest_common_ancestor(least, greatest);
    loop {
        let children: Vec<u32> = tree.children(node).collect();
        match children[..] {
            [only] => node = only,
            _ => {
                return children
                    .into_iter()
                    .map(|child| tree.interval(child).1)
                    .collect();
            }
        }
    }
}
