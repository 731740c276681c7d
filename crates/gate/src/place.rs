//! Into which box a person falls: among all boxes whose cells cover the person, the cheapest, by the share of
//! the domains that its cells cover. Anonymizers put records where they cost least, so this is the attacker's
//! best guess.
//!
//! Cost: a set of bits for each stretch of values of each attribute says which boxes cover it, a stretch being
//! what no cell tells apart; a person's boxes are what these sets have in common. Boxes are looked at in
//! portions, so that memory is bounded by [`MOST_BITS`].

use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow_data::Cell;
use hedgerow_privacy::classes::Classes;
use rayon::prelude::*;

use crate::known::Rows;
use crate::subject::{Counted, Subject};

/// Bits of all sets of a portion.
const MOST_BITS: usize = 1 << 30;

/// Where people fall.
pub(crate) struct Placed {
    /// For each row, the cheapest box that covers the person.
    pub(crate) boxes: Vec<Option<u32>>,
    /// For each row, how many boxes cover the person.
    pub(crate) covers: Vec<u32>,
    /// For each box, whether it covers somebody whom another box covers too: who is in it is then a guess.
    pub(crate) shared: Vec<bool>,
}

/// Places people by their quasi-identifiers alone.
pub(crate) fn by_quasi(subject: &Subject<'_>, people: &Rows) -> Placed {
    place(subject, people, &people.quasi, &|_, _| true)
}

/// Places people by their quasi-identifiers among the classes that have a record with their sensitive values.
pub(crate) fn by_all(subject: &Subject<'_>, people: &Rows) -> Placed {
    let sensitive = subject.sensitive();
    let counted: Vec<Counted> = sensitive
        .iter()
        .map(|(_, codes)| subject.counted(codes))
        .collect();
    let columns: Vec<Vec<u32>> = people
        .quasi
        .iter()
        .chain(&people.sensitive)
        .cloned()
        .collect();
    let has_values = |row: usize, one: usize| {
        let class = subject.class_of_box(one);
        let mut each = counted.iter().zip(&people.sensitive);
        each.all(|(counted, values)| counted.records(class, values[row]) > 0)
    };
    place(subject, people, &columns, &has_values)
}

/// Places people; those who are alike in these columns fall into the same box.
fn place(
    subject: &Subject<'_>,
    people: &Rows,
    alike: &[Vec<u32>],
    may: &(dyn Fn(usize, usize) -> bool + Sync),
) -> Placed {
    let columns: Vec<&[u32]> = alike.iter().map(Vec::as_slice).collect();
    let kinds = Classes::group(&columns, people.len());
    let costs = costs(subject);
    let mut best: Vec<Best> = vec![Best::default(); kinds.count()];
    let portion = portion(subject);
    let count = subject.boxes().count();
    let shared: Vec<AtomicBool> = (0..count).map(|_| AtomicBool::new(false)).collect();
    for from in (0..count).step_by(portion) {
        let to = (from + portion).min(count);
        let bits = Bits::of(subject, from..to);
        best.par_iter_mut().enumerate().for_each(|(kind, best)| {
            let row = kinds.rows(kind)[0] as usize;
            bits.each(
                |place| people.quasi[place][row],
                |one| {
                    let one = from + one;
                    if may(row, one) {
                        best.see(one as u32, costs[one], &shared);
                    }
                },
            );
        });
    }
    let of_row = (0..people.len()).map(|row| &best[kinds.of_row(row)]);
    let (boxes, covers) = of_row.map(|best| (best.cheapest, best.covers)).unzip();
    Placed {
        boxes,
        covers,
        shared: shared.into_iter().map(AtomicBool::into_inner).collect(),
    }
}

/// The boxes that cover a person.
#[derive(Clone, Default)]
struct Best {
    cheapest: Option<u32>,
    cost: f64,
    covers: u32,
    first: u32,
}

impl Best {
    fn see(&mut self, one: u32, cost: f64, shared: &[AtomicBool]) {
        self.covers += 1;
        if self.covers == 1 {
            self.first = one;
        } else {
            shared[self.first as usize].store(true, Ordering::Relaxed);
            shared[one as usize].store(true, Ordering::Relaxed);
        }
        if self.cheapest.is_none() || cost < self.cost {
            (self.cheapest, self.cost) = (Some(one), cost);
        }
    }
}

/// How many people each of some boxes covers.
pub(crate) fn covered(subject: &Subject<'_>, people: &Rows, boxes: &[usize]) -> Vec<u64> {
    let columns: Vec<&[u32]> = people.quasi.iter().map(Vec::as_slice).collect();
    let kinds = Classes::group(&columns, people.len()).counted(people.counts.as_deref());
    let portion = portion(subject);
    let mut covered = vec![0; subject.boxes().count()];
    for from in (0..covered.len()).step_by(portion) {
        let to = (from + portion).min(covered.len());
        let bits = Bits::of(subject, from..to);
        for kind in 0..kinds.count() {
            let row = kinds.rows(kind)[0] as usize;
            let value = |place: usize| people.quasi[place][row];
            bits.each(value, |one| covered[from + one] += kinds.size(kind));
        }
    }
    boxes.iter().map(|one| covered[*one]).collect()
}

/// The sizes of the quasi-identifiers' domains.
fn domains(subject: &Subject<'_>) -> Vec<usize> {
    let attributes = subject.release().schema().attributes();
    let sizes = subject
        .quasi()
        .iter()
        .map(|place| attributes[*place].domain.size());
    sizes.map(|size| size as usize).collect()
}

/// What each box costs: the mean share of a domain that its cells cover beyond one value.
pub(crate) fn costs(subject: &Subject<'_>) -> Vec<f64> {
    let sizes = domains(subject);
    let cost = |one: usize| {
        let cells = sizes.iter().enumerate();
        let each = cells.filter_map(|(place, size)| {
            let cell = subject.cell(one, place)?;
            Some(f64::from(cell.count() - 1) / (*size as f64 - 1.0).max(1.0))
        });
        each.sum()
    };
    (0..subject.boxes().count()).map(cost).collect()
}

/// How many boxes are looked at at a time: as many as have no more than [`MOST_BITS`] bits.
fn portion(subject: &Subject<'_>) -> usize {
    let boxes = subject.boxes().count();
    let has_sets = |place: usize| {
        let cells = (0..boxes).filter_map(|one| subject.cell(one, place));
        cells.into_iter().any(|cell| matches!(cell, Cell::Set(_)))
    };
    let sizes = domains(subject).into_iter().enumerate();
    let sizes: Vec<(usize, bool)> = sizes.map(|(place, size)| (size, has_sets(place))).collect();
    let fits = |words: &usize| {
        let portion = words * 64;
        // Each range begins a stretch and ends one.
        let stretches = sizes.iter().map(|(size, has_sets)| match has_sets {
            true => *size,
            false => (*size).min(2 * portion + 1),
        });
        let stretches: usize = stretches.sum();
        stretches.saturating_mul(portion) <= MOST_BITS
    };
    let mut words = 1;
    while words * 64 < boxes && fits(&(words * 2)) {
        words *= 2;
    }
    words * 64
}

/// For each stretch of values of each attribute, the boxes of a portion that cover it.
struct Bits {
    /// Attribute after attribute, stretch after stretch, a row of words.
    words: Vec<u64>,
    /// For each attribute, the first value of each stretch.
    stretches: Vec<Vec<u32>>,
    /// Where an attribute's stretches begin, in rows of words.
    starts: Vec<usize>,
    width: usize,
}

impl Bits {
    fn of(subject: &Subject<'_>, boxes: std::ops::Range<usize>) -> Self {
        let width = boxes.len().div_ceil(64);
        let places = 0..subject.quasi().len();
        let stretches: Vec<Vec<u32>> = places
            .map(|place| {
                let mut firsts = vec![0];
                for cell in boxes.clone().filter_map(|one| subject.cell(one, place)) {
                    match cell {
                        Cell::Interval(least, greatest) => firsts.extend([*least, greatest + 1]),
                        Cell::Set(codes) => {
                            firsts.extend(codes.iter().flat_map(|code| [*code, code + 1]));
                        }
                    }
                }
                firsts.sort_unstable();
                firsts.dedup();
                firsts
            })
            .collect();
        let mut starts = Vec::with_capacity(stretches.len());
        let mut total = 0;
        for firsts in &stretches {
            starts.push(total);
            total += firsts.len();
        }
        let mut words = vec![0u64; total * width];
        for (place, start) in starts.iter().enumerate() {
            let at = |code: u32| stretch(&stretches[place], code);
            for (number, one) in boxes.clone().enumerate() {
                let Some(cell) = subject.cell(one, place) else {
                    continue;
                };
                let mut set = |stretch: usize| {
                    words[(start + stretch) * width + number / 64] |= 1 << (number % 64);
                };
                match cell {
                    Cell::Interval(least, greatest) => {
                        (at(*least)..=at(*greatest)).for_each(&mut set);
                    }
                    Cell::Set(codes) => codes.iter().for_each(|code| set(at(*code))),
                }
            }
        }
        Self {
            words,
            stretches,
            starts,
            width,
        }
    }

    /// The boxes that cover the values at all places.
    fn each(&self, value: impl Fn(usize) -> u32, mut found: impl FnMut(usize)) {
        let places = self.starts.iter().zip(&self.stretches).enumerate();
        let rows: Vec<&[u64]> = places
            .map(|(place, (start, firsts))| {
                let from = (start + stretch(firsts, value(place))) * self.width;
                &self.words[from..from + self.width]
            })
            .collect();
        for word in 0..self.width {
            let mut common = u64::MAX;
            for row in &rows {
                common &= row[word];
                if common == 0 {
                    break;
                }
            }
            while common != 0 {
                found(word * 64 + common.trailing_zeros() as usize);
                common &= common - 1;
            }
        }
    }
}

/// The stretch of a value: the last that begins at it or before it.
fn stretch(firsts: &[u32], value: u32) -> usize {
    firsts.partition_point(|first| *first <= value) - 1
}
