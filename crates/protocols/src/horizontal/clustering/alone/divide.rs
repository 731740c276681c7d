//! All records divided top-down: a class is divided along the attribute that saves most, into the children
//! of its node, or at the median of its values; parts that are too small are put together. Classes that
//! satisfy the requirement are divided only into such classes.

use rayon::prelude::*;

use super::built::Built;
use super::quick::Quick;
use crate::clustering::numbers::Row;

/// The least number of records that are divided by another thread.
const MANY: usize = 10_000;

/// Classes that satisfy the requirement, of all records.
pub(super) fn divide(quick: &Quick<'_>) -> Vec<Built> {
    let rows = Row::first(quick.records()).collect();
    let mut open = vec![Built::of(quick, rows)];
    let mut done = Vec::new();
    while !open.is_empty() {
        // Large classes side by side, then the attributes of each.
        let parts: Vec<Result<Vec<Built>, Built>> = open
            .into_par_iter()
            .map(|class| parts(quick, class))
            .collect();
        open = Vec::new();
        for parts in parts {
            match parts {
                Ok(parts) => open.extend(parts),
                Err(whole) => done.push(whole),
            }
        }
    }
    done
}

/// The parts that save most, or the class itself, if no parts save anything.
fn parts(quick: &Quick<'_>, class: Built) -> Result<Vec<Built>, Built> {
    if class.rows.len() < 2 * quick.k() || class.cost == 0 {
        return Err(class);
    }
    let attributes = 0..quick.shapes().attributes();
    let along = |attribute: usize| {
        let parts: Vec<Built> = split(quick, &class, attribute)?
            .into_iter()
            .map(|rows| Built::of(quick, rows))
            .collect();
        let loss: u64 = parts.iter().map(Built::loss).sum();
        let is_allowed = loss < class.loss() && parts.iter().all(|part| part.is_enough(quick));
        is_allowed.then_some((loss, attribute, parts))
    };
    let best = if class.rows.len() >= MANY {
        let found = attributes.into_par_iter().filter_map(along);
        found.min_by_key(|(loss, attribute, _)| (*loss, *attribute))
    } else {
        let found = attributes.filter_map(along);
        found.min_by_key(|(loss, attribute, _)| (*loss, *attribute))
    };
    best.map(|(_, _, parts)| parts).ok_or(class)
}

/// The rows of a class in at least two parts of at least k along an attribute.
fn split(quick: &Quick<'_>, class: &Built, attribute: usize) -> Option<Vec<Vec<Row>>> {
    let shape = quick.shapes().shape(attribute);
    let closure = quick.shapes().part(attribute, &class.closure);
    let code = |row: &Row| quick.work.record(*row)[attribute];
    let narrower = match shape.tree() {
        Some(tree) => tree
            .children(closure[0])
            .map(|child| tree.span(child.into()))
            .collect(),
        None => {
            let mut codes: Vec<u32> = class.rows.iter().map(code).collect();
            let middle = codes.len() / 2;
            let (_, median, _) = codes.select_nth_unstable(middle);
            let median = *median;
            let (least, greatest) = shape.bounds(closure);
            if median > least {
                vec![(least, median - 1), (median, greatest)]
            } else if greatest > least {
                vec![(least, least), (least + 1, greatest)]
            } else {
                return None;
            }
        }
    };
    if narrower.len() < 2 {
        return None;
    }
    let mut parts: Vec<Vec<Row>> = vec![Vec::new(); narrower.len()];
    for row in &class.rows {
        // Spans follow one another.
        let place = narrower.partition_point(|(_, last)| *last < code(row));
        parts[place.min(narrower.len() - 1)].push(*row);
    }
    let k = quick.k();
    let small: Vec<Row> = parts
        .iter_mut()
        .filter(|part| part.len() < k)
        .flat_map(std::mem::take)
        .collect();
    parts.retain(|part| !part.is_empty());
    if small.len() >= k {
        parts.push(small);
    } else if !small.is_empty() {
        parts
            .iter_mut()
            .min_by_key(|part| part.len())?
            .extend(small);
    }
    (parts.len() > 1).then_some(parts)
}
