//! Into which box a person falls: among all boxes whose cells cover the person, the cheapest, by the share of
//! the domains that its cells cover. Anonymizers put records where they cost least, so this is the attacker's
//! best guess.
//!
//! Cost: a set of bits for each value of each attribute says which boxes cover it; a person's boxes are what
//! these sets have in common. Boxes are looked at in portions, so that memory is bounded by [`MOST_BITS`].

use std::sync::atomic::{AtomicBool, Ordering};

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
    let sizes = domains(subject);
    let values: usize = sizes.iter().sum();
    let portion = (MOST_BITS / values.max(1)).max(64) / 64 * 64;
    let count = subject.boxes().count();
    let shared: Vec<AtomicBool> = (0..count).map(|_| AtomicBool::new(false)).collect();
    for from in (0..count).step_by(portion) {
        let to = (from + portion).min(count);
        let bits = Bits::of(subject, &sizes, from..to);
        best.par_iter_mut().enumerate().for_each(|(kind, best)| {
            let row = kinds.rows(kind)[0] as usize;
            bits.each(
                |place| people.quasi[place][row] as usize,
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
    let sizes = domains(subject);
    let values: usize = sizes.iter().sum();
    let portion = (MOST_BITS / values.max(1)).max(64) / 64 * 64;
    let mut covered = vec![0; subject.boxes().count()];
    for from in (0..covered.len()).step_by(portion) {
        let to = (from + portion).min(covered.len());
        let bits = Bits::of(subject, &sizes, from..to);
        for kind in 0..kinds.count() {
            let row = kinds.rows(kind)[0] as usize;
            let value = |place: usize| people.quasi[place][row] as usize;
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

/// For each value of each attribute, the boxes of a portion that cover it.
struct Bits {
    /// Attribute after attribute, value after value, a row of words.
    words: Vec<u64>,
    /// Where an attribute's values begin, in rows of words.
    starts: Vec<usize>,
    width: usize,
}

impl Bits {
    fn of(subject: &Subject<'_>, sizes: &[usize], boxes: std::ops::Range<usize>) -> Self {
        let width = boxes.len().div_ceil(64);
        let mut starts = Vec::with_capacity(sizes.len());
        let mut total = 0;
        for size in sizes {
            starts.push(total);
            total += size;
        }
        let mut words = vec![0u64; total * width];
        for (place, start) in starts.iter().enumerate() {
            for (number, one) in boxes.clone().enumerate() {
                let Some(cell) = subject.cell(one, place) else {
                    continue;
                };
                let mut set = |code: u32| {
                    words[(start + code as usize) * width + number / 64] |= 1 << (number % 64);
                };
                match cell {
                    hedgerow_data::Cell::Interval(least, greatest) => {
                        (*least..=*greatest).for_each(&mut set);
                    }
                    hedgerow_data::Cell::Set(codes) => codes.iter().copied().for_each(&mut set),
                }
            }
        }
        Self {
            words,
            starts,
            width,
        }
    }

    /// The boxes that cover the values at all places.
    fn each(&self, value: impl Fn(usize) -> usize, mut found: impl FnMut(usize)) {
        let rows: Vec<&[u64]> = self
            .starts
            .iter()
            .enumerate()
            .map(|(place, start)| {
                let from = (start + value(place)) * self.width;
                &self.words[from..from + self.width]
            })
            .collect();
        for word in 0..self.width {
            let mut common = u64::MAX;
            for row in &rows {
                common &= row[word];
            }
            while common != 0 {
                found(word * 64 + common.trailing_zeros() as usize);
                common &= common - 1;
            }
        }
    }
}
