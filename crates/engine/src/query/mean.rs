//! The extremes of an average: what it could be, whichever possible rows are counted.

use hedgerow_data::{Cell, Domain};
use hedgerow_protocols::query::{CodeSet, Condition, Group};

/// The least and greatest average of a column over the rows of a group: `counted` has the certain and
/// possible rows of each of the column's cells, which stands at `place` of the keys, and `condition` is what
/// they satisfy.
pub(super) fn extremes(
    counted: &[Group],
    key: &[Cell],
    place: usize,
    (attribute, domain): (usize, &Domain),
    condition: &Condition,
) -> Option<(f64, f64)> {
    let own = counted.iter().filter(|group| group.key.starts_with(key));
    bounds_of_mean(
        own.filter_map(|group| {
            let total = group.totals.first()?;
            Some((group.key.get(place)?, total.low, total.high))
        }),
        domain,
        &condition.codes_of(attribute, domain.size()),
    )
}

/// The least and greatest average of a column of whole numbers over rows: for each of the column's cells how
/// many rows certainly have it, and how many possibly. Of a cell's values only the `allowed` count, which rows
/// of the question may have. `None` where there may be no row.
///
/// The least average takes all certain rows at their least, and of the other rows those that lie below the
/// average so far, least first.
pub fn bounds_of_mean<'c>(
    counted: impl Iterator<Item = (&'c Cell, i64, i64)>,
    domain: &Domain,
    allowed: &CodeSet,
) -> Option<(f64, f64)> {
    let Domain::Integer(numbers) = domain else {
        return None;
    };
    let own = counted.filter_map(|(cell, certain, possible)| {
        let codes = CodeSet::of_cell(cell).and(allowed);
        let missing = domain.missing_code().filter(|code| codes.contains(*code));
        let present = missing.map_or_else(|| codes.clone(), |code| codes.without(code));
        let (least, _) = *present.ranges().first()?;
        let (_, greatest) = *present.ranges().last()?;
        // A row whose value may be missing need not be counted.
        let certain = if missing.is_some() { 0 } else { certain };
        Some((
            (numbers.value(least) as f64, numbers.value(greatest) as f64),
            certain,
            possible - certain,
        ))
    });
    let own: Vec<((f64, f64), i64, i64)> = own.collect();
    let side = |pick: fn((f64, f64)) -> f64| {
        let rows = own.iter();
        rows.map(|(ends, certain, possible)| (pick(*ends), *certain, *possible))
            .collect::<Vec<_>>()
    };
    let low = least(side(|(least, _)| least))?;
    let high = -least(side(|(_, greatest)| -greatest))?;
    Some((low, high))
}

/// The least average of rows with these values: so many certain, so many that may be left out.
fn least(mut rows: Vec<(f64, i64, i64)>) -> Option<f64> {
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut count: i64 = rows.iter().map(|(_, certain, _)| certain).sum();
    let mut sum: f64 = rows
        .iter()
        .map(|(value, certain, _)| value * *certain as f64)
        .sum();
    for (value, _, possible) in rows.iter().filter(|(_, _, possible)| *possible > 0) {
        if count == 0 {
            // A single row is enough, and no average is less than the least value.
            return Some(*value);
        }
        if *value >= sum / count as f64 {
            break;
        }
        count += possible;
        sum += value * *possible as f64;
    }
    (count > 0).then(|| sum / count as f64)
}
