//! Anonymization along the Hilbert curve: the baseline of TG12 Figures 3 and 4 (Ghinita, Karras, Kalnis and
//! Mamoulis, "A framework for efficient data anonymization under privacy and accuracy constraints", ACM
//! TODS 34, 2009), for one party that has all records.
//!
//! Records stand in the order of a Hilbert curve through the space of their quasi-identifiers, and this
//! order is cut into groups of k to 2k - 1 neighbours so that the loss is least: a group of 2k could be cut
//! in two and lose no more. As TG12 has it, all attributes are first scaled to the same range, since
//! attributes with many values would decide the order alone otherwise. The order of an attribute's values
//! is that of its domain: numbers by size, values of a taxonomy as its leaves stand.
//!
//! # Discloses
//! Nothing: one party.

mod curve;

use hedgerow_data::Codes;
use rayon::prelude::*;

use super::writing::Writing;
use crate::clustering::Loss;
use crate::clustering::shape::Shape;
use crate::clustering::shapes::Shapes;

/// The most bits of a coordinate.
const MOST_BITS: u32 = 16;
/// Records whose groups are looked at together.
const STRETCH: usize = 4_096;

/// A quasi-identifier: how its cells are written, and its codes.
pub type Column<'a> = (Writing<'a>, &'a Codes);

/// The records of each class, with the least loss of all classes of `k` records or more that are
/// neighbours on the curve; `None` where there are fewer than `k` records.
pub fn classes(columns: &[Column<'_>], k: usize, loss: Loss) -> Option<Vec<Vec<u32>>> {
    let records = columns.first().map_or(0, |(_, codes)| codes.len());
    let k = k.max(1);
    if records < k {
        return None;
    }
    let shapes = columns.iter().map(|(writing, codes)| {
        let mut counts = vec![0; writing.domain.size() as usize];
        codes.iter().for_each(|code| counts[code as usize] += 1);
        Shape::new(*writing, loss, &counts)
    });
    let shapes = Shapes::new(shapes.collect());
    let record = |row: u32| -> Vec<u32> {
        let codes = columns.iter().map(|(_, codes)| codes.get(row as usize));
        codes.collect()
    };
    let order = in_order(columns, records, record);
    let rows: Vec<Vec<u32>> = order.iter().map(|row| record(*row)).collect();
    let sizes = cut(&shapes, &rows, k);
    let mut classes = Vec::with_capacity(sizes.len());
    let mut order = order.into_iter();
    for size in sizes {
        let mut class: Vec<u32> = order.by_ref().take(size).collect();
        class.sort_unstable();
        classes.push(class);
    }
    Some(classes)
}

/// The rows by their places on the curve, and by their numbers where places are the same.
fn in_order(
    columns: &[Column<'_>],
    records: usize,
    record: impl Fn(u32) -> Vec<u32> + Sync,
) -> Vec<u32> {
    let sizes: Vec<u32> = columns
        .iter()
        .map(|(writing, _)| writing.domain.size())
        .collect();
    let widest = sizes.iter().max().copied().unwrap_or(1).max(2) - 1;
    let bits = (u32::BITS - widest.leading_zeros()).min(MOST_BITS);
    let greatest = u64::from((1u32 << bits) - 1);
    let place = |row: u32| {
        let scaled = record(row).into_iter().zip(&sizes).map(|(code, size)| {
            let steps = u64::from((*size).max(2) - 1);
            // No more than `greatest`, which has 16 bits.
            (u64::from(code) * greatest / steps) as u32
        });
        curve::place(scaled.collect(), bits)
    };
    let rows = (0..records as u32).into_par_iter();
    let mut places: Vec<(Vec<u64>, u32)> = rows.map(|row| (place(row), row)).collect();
    places.par_sort_unstable();
    places.into_iter().map(|(_, row)| row).collect()
}

/// The sizes of the groups, from first to last, that lose least together: each has `k` to 2 `k` - 1
/// records, or all.
fn cut(shapes: &Shapes<'_>, rows: &[Vec<u32>], k: usize) -> Vec<usize> {
    // For each number of records from the beginning on, the least loss and the size of the last group.
    let mut best: Vec<Option<(u64, usize)>> = vec![None; rows.len() + 1];
    best[0] = Some((0, 0));
    let mut first = k;
    while first <= rows.len() {
        let ends = first..(first + STRETCH).min(rows.len() + 1);
        let losses: Vec<Vec<u64>> = ends
            .clone()
            .into_par_iter()
            .map(|end| of_groups(shapes, &rows[..end], k))
            .collect();
        for (end, losses) in ends.clone().zip(losses) {
            let groups = (k..).zip(losses).filter_map(|(size, loss)| {
                let (before, _) = best[end - size]?;
                Some((before + loss, size))
            });
            best[end] = groups.min();
        }
        first = ends.end;
    }
    let mut sizes = Vec::new();
    let mut end = rows.len();
    while let Some((_, size)) = best[end]
        && size > 0
    {
        sizes.push(size);
        end -= size;
    }
    sizes.reverse();
    sizes
}

/// What the last k records lose as a group, the last k + 1, and so on up to 2k - 1.
fn of_groups(shapes: &Shapes<'_>, rows: &[Vec<u32>], k: usize) -> Vec<u64> {
    let Some((last, others)) = rows.split_last() else {
        return Vec::new();
    };
    let mut closure = shapes.of_record(last);
    let mut losses = Vec::with_capacity(k);
    if k == 1 {
        losses.push(shapes.cost(&closure));
        return losses;
    }
    for (size, row) in (2u64..2 * k as u64).zip(others.iter().rev()) {
        shapes.join_record(&mut closure, row);
        if size >= k as u64 {
            losses.push(size * shapes.cost(&closure));
        }
    }
    losses
}

#[cfg(test)]
mod tests;
