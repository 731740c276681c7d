//! The values of a column in a few bins: numbers and days in stretches of round width, categories by themselves
//! or, where they are many, by a level of their taxonomy; without a taxonomy the rarer ones stand together.
//!
//! A generalized cell is spread evenly over the values that the cell stands for.

use hedgerow_data::taxonomy::NodeId;
use hedgerow_data::{Cell, Domain, Taxonomy};
use serde::Serialize;

use super::shown;

/// The most stretches of numbers or days, and the most categories.
const STRETCHES: usize = 20;
/// The categories that are named where there are more and no taxonomy joins them.
const NAMED: usize = 11;

/// Some values of a column, and how many records have them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(in super::super) struct Bin {
    pub(in super::super) label: String,
    /// Records of the release.
    pub(in super::super) release: f64,
    /// Records of the rows that the release is compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in super::super) before: Option<u64>,
    /// Whether these are the values that are not named by themselves.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in super::super) is_rest: bool,
}

/// The cells of a column with their records, and how often each value occurs in the rows before, in bins
/// that have every record.
pub(super) fn bins(domain: &Domain, cells: &[(Cell, u64)], before: Option<&[u64]>) -> Vec<Bin> {
    let missing = domain.missing_code();
    let taken = |from: u32, to: u32| -> f64 {
        let each = cells.iter().map(|(cell, records)| {
            f64::from(cell.overlap(from, to)) / f64::from(cell.count()) * *records as f64
        });
        each.sum()
    };
    let counted = |from: u32, to: u32| {
        let within = before.map(|counts| &counts[from as usize..=to as usize]);
        within.map(|counts| counts.iter().sum::<u64>())
    };
    if let (Domain::Category(category), false) = (domain, domain.is_ordered()) {
        let values = values(domain, cells, before);
        if values.len() <= STRETCHES {
            return categories(domain, &values, before.is_some());
        }
        let Some(level) = level(category.taxonomy()) else {
            return categories(domain, &values, before.is_some());
        };
        let nodes = level.into_iter().map(|node| {
            let (from, to) = category.taxonomy().interval(node);
            Bin {
                label: shown(category.taxonomy().label(node)),
                release: taken(from, to),
                before: counted(from, to),
                is_rest: false,
            }
        });
        let is_there = |bin: &Bin| bin.release > 0.0 || bin.before > Some(0);
        return nodes.filter(is_there).collect();
    }
    let mut found = Vec::new();
    if let Some((least, greatest)) = occurring(cells, before, missing) {
        for (from, to, label) in stretches(domain, least, greatest) {
            found.push(Bin {
                label,
                release: taken(from, to),
                before: counted(from, to),
                is_rest: false,
            });
        }
    }
    // The missing value of numbers and days has no place among them; that of ordered categories has.
    let missing = missing.filter(|_| !matches!(domain, Domain::Category(_)));
    if let Some(code) = missing {
        let bin = Bin {
            label: format!("{} (missing)", shown(&domain.label(code))),
            release: taken(code, code),
            before: counted(code, code),
            is_rest: false,
        };
        found.extend(Some(bin).filter(|bin| bin.release > 0.0 || bin.before > Some(0)));
    }
    found
}

/// Texts with their records: the most frequent ones, and all others together.
pub(super) fn texts(mut texts: Vec<(&str, u64)>) -> Vec<Bin> {
    texts.retain(|(_, records)| *records > 0);
    texts.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
    let named = named(texts.len());
    let bin = |label: String, release: u64| Bin {
        label,
        release: release as f64,
        before: None,
        is_rest: false,
    };
    let mut bins: Vec<Bin> = texts[..named]
        .iter()
        .map(|(text, records)| bin(shown(text), *records))
        .collect();
    let rest = &texts[named..];
    if !rest.is_empty() {
        let records = rest.iter().map(|(_, records)| records).sum();
        bins.push(Bin {
            is_rest: true,
            ..bin(others(rest.len()), records)
        });
    }
    bins
}

/// How many of so many values are named: all, or the most frequent ones beside the others together.
fn named(values: usize) -> usize {
    match values > STRETCHES {
        true => NAMED,
        false => values,
    }
}

fn others(values: usize) -> String {
    format!("{values} others")
}

/// A value that occurs: its code, the records of the release that are spread on it, and the rows before.
type Occurring = (u32, f64, u64);

/// The values that occur, the most frequent ones of the release first.
fn values(domain: &Domain, cells: &[(Cell, u64)], before: Option<&[u64]>) -> Vec<Occurring> {
    let size = domain.size() as usize;
    // What begins and ends at each value: cells as whole numbers, shares of records as they are.
    let mut covers = vec![0i64; size + 1];
    let mut shares = vec![0.0f64; size + 1];
    for (cell, records) in cells {
        let share = *records as f64 / f64::from(cell.count());
        let mut add = |from: u32, to: u32| {
            covers[from as usize] += 1;
            covers[to as usize + 1] -= 1;
            shares[from as usize] += share;
            shares[to as usize + 1] -= share;
        };
        match cell {
            Cell::Interval(from, to) => add(*from, *to),
            Cell::Set(codes) => codes.iter().for_each(|code| add(*code, *code)),
        }
    }
    let (mut covering, mut share) = (0, 0.0);
    let mut values: Vec<Occurring> = Vec::new();
    for code in 0..size {
        covering += covers[code];
        share += shares[code];
        let own = before.map_or(0, |counts| counts[code]);
        if covering > 0 || own > 0 {
            let share = if covering > 0 { share } else { 0.0 };
            values.push((code as u32, share, own));
        }
    }
    // Shares that differ by what adding them up has rounded are the same.
    let rank = |share: f64| (share * 1e6).round();
    values.sort_by(|one, other| {
        let by_share = rank(other.1).total_cmp(&rank(one.1));
        by_share.then(one.0.cmp(&other.0))
    });
    values
}

/// Categories by themselves, and the rarer ones together where they are many.
fn categories(domain: &Domain, values: &[Occurring], is_beside: bool) -> Vec<Bin> {
    let (first, rest) = values.split_at(named(values.len()));
    let bin = |label: String, values: &[Occurring]| Bin {
        label,
        release: values.iter().map(|(_, share, _)| share).sum(),
        before: is_beside.then(|| values.iter().map(|(.., own)| own).sum()),
        is_rest: false,
    };
    let each = first.iter();
    let mut bins: Vec<Bin> = each
        .map(|value| bin(shown(&domain.label(value.0)), std::slice::from_ref(value)))
        .collect();
    if !rest.is_empty() {
        bins.push(Bin {
            is_rest: true,
            ..bin(others(rest.len()), rest)
        });
    }
    bins
}

/// The finest level of a taxonomy whose nodes fit on a page; nothing where no level says more than the root.
fn level(tree: &Taxonomy) -> Option<Vec<NodeId>> {
    let below = |node: NodeId| -> Vec<NodeId> {
        let children: Vec<NodeId> = tree.children(node).collect();
        // A value stays a value.
        if children.is_empty() {
            vec![node]
        } else {
            children
        }
    };
    let mut level = vec![tree.root()];
    loop {
        let next: Vec<NodeId> = level.iter().flat_map(|node| below(*node)).collect();
        if next.len() > STRETCHES || next == level {
            return (level.len() > 1).then_some(level);
        }
        level = next;
    }
}

/// The least and the greatest value that occurs, a missing value aside.
fn occurring(
    cells: &[(Cell, u64)],
    before: Option<&[u64]>,
    missing: Option<u32>,
) -> Option<(u32, u32)> {
    let without = |cell: &Cell| {
        let (least, greatest) = cell.bounds();
        match (missing, cell) {
            // The missing value has the last code of numbers and days.
            (Some(missing), _) if least == missing => None,
            (Some(missing), Cell::Interval(..)) if greatest == missing => {
                Some((least, missing - 1))
            }
            (Some(missing), Cell::Set(codes)) if greatest == missing => {
                Some((least, codes[codes.len() - 2]))
            }
            _ => Some((least, greatest)),
        }
    };
    let own = before.into_iter().flatten().enumerate();
    let own = own.filter(|(code, records)| **records > 0 && Some(*code as u32) != missing);
    let own = own.map(|(code, _)| (code as u32, code as u32));
    let all = cells
        .iter()
        .filter_map(|(cell, _)| without(cell))
        .chain(own);
    all.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
}

/// Stretches of round width that cover the codes from the least to the greatest, with their names.
fn stretches(domain: &Domain, least: u32, greatest: u32) -> Vec<(u32, u32, String)> {
    if let Domain::Date(days) = domain {
        let day = |code: u32| days.day(code);
        let months = |code: u32| {
            let day = day(code);
            i64::from(day.year()) * 12 + i64::from(day.month()) - 1
        };
        if (greatest - least) as usize >= STRETCHES {
            // Months, quarters, years, and so on.
            let widths = [1, 3, 12, 24, 60, 120, 240, 600, 1200, 12_000, 120_000];
            let count = |width: i64| {
                months(greatest).div_euclid(width) - months(least).div_euclid(width) + 1
            };
            let fits = |width: &i64| count(*width) <= STRETCHES as i64;
            let width = widths.into_iter().find(fits).unwrap_or(120_000);
            let found = runs(least, greatest, |code| months(code).div_euclid(width));
            let name = |stretch: i64| months_in_words(stretch * width, width);
            return found
                .into_iter()
                .map(|(from, to, stretch)| (from, to, name(stretch)))
                .collect();
        }
    }
    // Numbers count from zero, so that stretches begin at round ones.
    let origin = match domain {
        Domain::Integer(numbers) => numbers.value(0).div_euclid(numbers.step()),
        Domain::Decimal(numbers) => {
            let step = numbers.step().units(numbers.digits()).unwrap_or(1);
            numbers.units(0).div_euclid(step.max(1))
        }
        _ => 0,
    };
    let place = |code: u32| i128::from(origin) + i128::from(code);
    let count =
        |width: i128| place(greatest).div_euclid(width) - place(least).div_euclid(width) + 1;
    let mut widths = (0..18).flat_map(|power| {
        let ten = 10i128.pow(power);
        [ten, 2 * ten, 5 * ten]
    });
    let width = widths
        .find(|width| count(*width) <= STRETCHES as i128)
        .unwrap_or(1);
    let last = domain.size() - 1 - u32::from(is_last_missing(domain));
    let first = place(least).div_euclid(width);
    let stretch = |number: i128| {
        let from = (number * width - i128::from(origin)).max(0) as u32;
        let to = ((number + 1) * width - 1 - i128::from(origin)).min(i128::from(last)) as u32;
        let (start, end) = (domain.label(from), domain.label(to));
        let label = match from == to {
            true => shown(&start),
            false => format!("{} to {}", shown(&start), shown(&end)),
        };
        (from, to, label)
    };
    (first..first + count(width)).map(stretch).collect()
}

/// Whether the last code stands for a missing number or day.
fn is_last_missing(domain: &Domain) -> bool {
    !matches!(domain, Domain::Category(_)) && domain.missing_code().is_some()
}

/// Runs of codes with the same key.
fn runs(least: u32, greatest: u32, key: impl Fn(u32) -> i64) -> Vec<(u32, u32, i64)> {
    let mut runs: Vec<(u32, u32, i64)> = Vec::new();
    for code in least..=greatest {
        let key = key(code);
        match runs.last_mut() {
            Some(run) if run.2 == key => run.1 = code,
            _ => runs.push((code, code, key)),
        }
    }
    runs
}

/// A stretch of months from a first one: `2024-01`, `2024-01 to 2024-03`, `2024`, `2020 to 2029`.
fn months_in_words(first: i64, width: i64) -> String {
    let month = |month: i64| {
        let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
        format!("{year}-{month:02}")
    };
    let year = first.div_euclid(12);
    match width {
        1 => month(first),
        3 => format!("{} to {}", month(first), month(first + 2)),
        12 => year.to_string(),
        _ => format!("{year} to {}", year + width / 12 - 1),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
