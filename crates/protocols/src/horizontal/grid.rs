//! The public grid of an attribute, on which the boxes of clusters end (`covers = "box"`).
//!
//! The values are cut in two, and each part again, down to single values, or to 1,024 cells of about
//! the same width: numbers and days at the roundest value near the middle, values of a taxonomy between the
//! children of a node, other values in the middle. A box is such a part, or two neighbours on both sides of
//! one cut that come from it by as many further cuts on either side, always the one nearest to it. Two boxes
//! that overlap have a box in common, so that there is one smallest box around any values, and the box around
//! two boxes does not depend on what lies within. A missing value has no neighbour: the box around the missing
//! value and others is everything.
//!
//! # Discloses
//! Nothing: the grid follows from the study's declarations alone.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use hedgerow_data::{Domain, Taxonomy};

/// The most cells of a grid. Where there are more values, a cell has several.
const MOST_CELLS: usize = 1 << 10;

/// A public grid over the codes of a domain.
pub struct Grid {
    /// The first code of each cell, and the number of codes behind the last.
    starts: Vec<u32>,
    /// All boxes, from the first code to the last: each behind those around it.
    boxes: Vec<(u32, u32)>,
    /// For each box, the widest boxes within it.
    parts: Vec<Vec<u32>>,
    /// For each pair of cells, the smallest box around both.
    around: Vec<u32>,
}

impl Grid {
    /// The grid of a domain.
    pub fn of(domain: &Domain) -> Self {
        let parts = parts(domain);
        let cells = parts.iter().filter(|part| part.within.is_empty());
        let mut starts: Vec<u32> = cells.map(|part| part.least).collect();
        starts.sort_unstable();
        let cells = starts.len();
        starts.push(domain.size());
        let grid = Self {
            starts,
            boxes: Vec::new(),
            parts: Vec::new(),
            around: vec![0; cells * cells],
        };
        let mut making = Making {
            grid,
            missing: domain.missing_code(),
            numbers: vec![0; parts.len()],
            parts,
            halves: Vec::new(),
        };
        making.put(0);
        making.grid.parts = making
            .halves
            .into_iter()
            .map(|(sides, next)| {
                let sides = sides.into_iter().map(|side| making.numbers[side]);
                sides.chain(next).collect()
            })
            .collect();
        making.grid
    }

    /// The smallest box around two codes, from its first code to its last.
    pub fn around(&self, least: u32, greatest: u32) -> (u32, u32) {
        self.boxes[self.number(least, greatest) as usize]
    }

    /// How many boxes there are.
    pub(crate) fn len(&self) -> usize {
        self.boxes.len()
    }

    /// The boxes that lie within a box and are not the box itself.
    pub(crate) fn within(&self, outer: (u32, u32)) -> impl Iterator<Item = (u32, u32)> + '_ {
        let first = self.number(outer.0, outer.1) as usize;
        let boxes = self.boxes[first..].iter().copied();
        boxes.filter(move |one| *one != outer && outer.0 <= one.0 && one.1 <= outer.1)
    }

    /// The widest boxes within a box.
    pub(crate) fn parts(&self, outer: (u32, u32)) -> impl Iterator<Item = (u32, u32)> + '_ {
        let parts = &self.parts[self.number(outer.0, outer.1) as usize];
        parts.iter().map(|part| self.boxes[*part as usize])
    }

    const fn cells(&self) -> usize {
        self.starts.len() - 1
    }

    fn cell(&self, code: u32) -> usize {
        match self.starts[self.cells()] as usize == self.cells() {
            // A cell for each value.
            true => code as usize,
            false => self.starts.partition_point(|start| *start <= code) - 1,
        }
    }

    fn number(&self, least: u32, greatest: u32) -> u32 {
        self.around[self.cell(least) * self.cells() + self.cell(greatest)]
    }
}

/// A part of the values, and the parts into which it is cut.
struct Part {
    least: u32,
    greatest: u32,
    within: Vec<usize>,
}

/// The parts of all values, the whole first; the widest is cut first.
fn parts(domain: &Domain) -> Vec<Part> {
    let whole = Part {
        least: 0,
        greatest: domain.size().saturating_sub(1),
        within: Vec::new(),
    };
    let mut open = BTreeSet::from([(Reverse(whole.greatest), 0, 0)]);
    let mut parts = vec![whole];
    let mut cells = 1;
    while cells < MOST_CELLS
        && let Some((_, least, place)) = open.pop_first()
    {
        let greatest = parts[place].greatest;
        let cuts = cuts(domain, least, greatest);
        cells += cuts.len();
        let firsts = std::iter::once(least).chain(cuts.iter().copied());
        let behind = cuts.iter().copied().chain([greatest + 1]);
        let within = firsts.zip(behind).filter(|_| !cuts.is_empty());
        for (least, behind) in within {
            open.insert((Reverse(behind - 1 - least), least, parts.len()));
            let at = parts.len();
            parts[place].within.push(at);
            parts.push(Part {
                least,
                greatest: behind - 1,
                within: Vec::new(),
            });
        }
    }
    parts
}

/// The first codes of the parts into which some values are cut, but for the first part; none where there is
/// one value.
fn cuts(domain: &Domain, least: u32, greatest: u32) -> Vec<u32> {
    if least == greatest {
        return Vec::new();
    }
    if let Some(missing) = domain.missing_code()
        && domain.mixes_missing(least, greatest)
    {
        let both = [missing, missing + 1].into_iter();
        return both
            .filter(|cut| least < *cut && *cut <= greatest)
            .collect();
    }
    let middle = least + (greatest - least).div_ceil(2);
    // Each side has a fourth of the values at least.
    let fourth = (greatest - least + 1) / 4;
    let window = (least + fourth.max(1), greatest + 1 - fourth.max(1));
    let cut = match (domain, domain.taxonomy()) {
        (_, Some(tree)) => between_children(tree, least, greatest).unwrap_or(middle),
        (Domain::Integer(numbers), _) => roundest(window, |code| numbers.value(code)),
        (Domain::Decimal(numbers), _) => roundest(window, |code| numbers.units(code)),
        (Domain::Date(days), _) => {
            let rank = |code: &u32| {
                let day = days.day(*code);
                let is_first = day.day() == 1;
                let is_of = |months: &[i8]| is_first && months.contains(&day.month());
                let rank = [is_of(&[1]), is_of(&[1, 7]), is_of(&[1, 4, 7, 10]), is_first];
                let rank = rank.iter().filter(|is_so| **is_so).count();
                (rank, Reverse(code.abs_diff(middle)), Reverse(*code))
            };
            (window.0..=window.1).max_by_key(rank).unwrap_or(middle)
        }
        _ => middle,
    };
    vec![cut]
}

/// The first value of the child of a node that stands in the middle of those that begin within some values.
fn between_children(tree: &Taxonomy, least: u32, greatest: u32) -> Option<u32> {
    let node = tree.lowest_common_ancestor(least, greatest);
    let firsts = tree.children(node).map(|child| tree.interval(child).0);
    let firsts: Vec<u32> = firsts
        .filter(|first| least < *first && *first <= greatest)
        .collect();
    firsts.get(firsts.len() / 2).copied()
}

/// The code of a window whose value is a multiple of the greatest number of 1, 5, 10, 50, 100 and so on, or the
/// first behind such a multiple; of several the nearest to the middle.
fn roundest((first, last): (u32, u32), value: impl Fn(u32) -> i64) -> u32 {
    let (from, to) = (i128::from(value(first)), i128::from(value(last)));
    let middle = first + (last - first) / 2;
    let mut unit = 1i128;
    while unit * 10 <= to - from {
        unit *= 10;
    }
    // From the greatest that may have a multiple here.
    let units = std::iter::successors(Some(unit * 10), |unit| Some(unit / 10));
    let units = units
        .take_while(|unit| *unit > 0)
        .flat_map(|unit| [unit, unit / 2]);
    for unit in units.filter(|unit| *unit > 0) {
        // At most 20 multiples lie in the window.
        let multiples = (from.div_euclid(unit)..=to.div_euclid(unit)).map(|times| times * unit);
        let codes = multiples
            .filter(|number| (from..=to).contains(number))
            .map(|number| {
                let (mut low, mut high) = (first, last);
                while low < high {
                    let between = low + (high - low) / 2;
                    match i128::from(value(between)) < number {
                        true => low = between + 1,
                        false => high = between,
                    }
                }
                low
            });
        if let Some(code) = codes.min_by_key(|code| (code.abs_diff(middle), *code)) {
            return code;
        }
    }
    middle
}

/// A grid while it is made.
struct Making {
    grid: Grid,
    parts: Vec<Part>,
    missing: Option<u32>,
    /// The number of the box of each part.
    numbers: Vec<u32>,
    /// For each box, the parts that it consists of, and the next smaller box beside the same cut.
    halves: Vec<(Vec<usize>, Option<u32>)>,
}

impl Making {
    /// Adds the boxes of a part: the part, neighbours beside its cut, and those of the parts within. What is
    /// added later lies within what was added before, or beside it.
    fn put(&mut self, place: usize) {
        let (least, greatest) = (self.parts[place].least, self.parts[place].greatest);
        self.numbers[place] = self.add(least, greatest, self.parts[place].within.clone());
        let is_whole = |code: u32| !(least..=greatest).contains(&code);
        if let [left, right] = self.parts[place].within[..]
            && self.missing.is_none_or(is_whole)
        {
            let (mut left, mut right) = (left, right);
            loop {
                let nearer = self.parts[left].within.last().copied();
                let beyond = self.parts[right].within.first().copied();
                if nearer.is_none() && beyond.is_none() {
                    break;
                }
                (left, right) = (nearer.unwrap_or(left), beyond.unwrap_or(right));
                let next = self.grid.boxes.len() as u32;
                if let Some((_, behind)) = self.halves.last_mut() {
                    *behind = Some(next);
                }
                let (least, greatest) = (self.parts[left].least, self.parts[right].greatest);
                self.add(least, greatest, vec![left, right]);
            }
        }
        for within in self.parts[place].within.clone() {
            self.put(within);
        }
    }

    /// Adds a box of some parts, which is for now around all pairs of cells within. Gives its number.
    fn add(&mut self, least: u32, greatest: u32, parts: Vec<usize>) -> u32 {
        let number = self.grid.boxes.len() as u32;
        self.grid.boxes.push((least, greatest));
        self.halves.push((parts, None));
        let (first, last) = (self.grid.cell(least), self.grid.cell(greatest));
        for one in first..=last {
            let row = one * self.grid.cells();
            self.grid.around[row + first..=row + last].fill(number);
        }
        number
    }
}

#[cfg(test)]
mod tests;
