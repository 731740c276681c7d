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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(bins: &[Bin]) -> Vec<&str> {
        bins.iter().map(|bin| bin.label.as_str()).collect()
    }

    #[test]
    fn numbers_stand_in_round_stretches() {
        let age = Domain::integer(18, 90, 1).unwrap();
        // 20 to 29 twice, and 25 to 44 four times.
        let cells = [(Cell::Interval(2, 11), 20), (Cell::Interval(7, 26), 40)];
        let found = bins(&age, &cells, None);
        assert_eq!(found.len(), 13, "{found:?}");
        assert_eq!(found[0].label, "20 to 21");
        assert_eq!((found[0].release, found[3].release), (4.0, 8.0));
        let wide = [(Cell::Interval(0, 72), 73)];
        let found = bins(&age, &wide, None);
        assert_eq!(labels(&found)[..2], ["18 to 19", "20 to 24"]);
        assert_eq!((found[0].release, found[1].release), (2.0, 5.0));
        let before: Vec<u64> = (0..73).collect();
        let found = bins(&age, &wide, Some(&before));
        assert_eq!((found[0].before, found[1].before), (Some(1), Some(20)));
    }

    #[test]
    fn days_stand_in_months_and_years() {
        let days = |from: &str, to: &str| {
            Domain::date(from.parse().unwrap(), to.parse().unwrap()).unwrap()
        };
        let all = |domain: &Domain| vec![(Cell::Interval(0, domain.size() - 1), 10)];
        let year = days("2024-01-15", "2024-12-31");
        let found = bins(&year, &all(&year), None);
        assert_eq!((found.len(), found[0].label.as_str()), (12, "2024-01"));
        let five = days("2020-02-01", "2024-12-31");
        let found = bins(&five, &all(&five), None);
        assert_eq!(
            (found.len(), found[0].label.as_str()),
            (20, "2020-01 to 2020-03")
        );
        let many = days("1921-01-01", "2024-12-31");
        let found = bins(&many, &all(&many), None);
        assert_eq!(labels(&found)[..2], ["1920 to 1929", "1930 to 1939"]);
        let few = days("2024-01-15", "2024-01-17");
        assert_eq!(labels(&bins(&few, &all(&few), None))[0], "2024-01-15");
    }

    #[test]
    fn rare_categories_stand_together() {
        let names: Vec<String> = (0..30).map(|number| format!("v{number}")).collect();
        let domain = Domain::category(Taxonomy::flat(&names, "t").unwrap(), false);
        let cells: Vec<(Cell, u64)> = (0..30)
            .map(|code| (Cell::Interval(code, code), u64::from(code)))
            .filter(|(_, records)| *records > 0)
            .collect();
        let before: Vec<u64> = vec![1; 30];
        let found = bins(&domain, &cells, Some(&before));
        assert_eq!((found.len(), found[0].label.as_str()), (12, "v29"));
        assert_eq!(
            (found[11].label.as_str(), found[11].before),
            ("19 others", Some(19))
        );
        assert_eq!(found[11].release, f64::from((1..=18).sum::<u32>()));
        assert!(found[11].is_rest && !found[10].is_rest);
    }

    #[test]
    fn many_categories_stand_by_a_level_of_their_taxonomy() {
        let rows: String = (0..60)
            .map(|code| format!("{code:02};{}x;{};*\n", code / 10, code / 30))
            .collect();
        let tree = Taxonomy::from_rows(&rows, "t.csv").unwrap();
        let domain = Domain::category(tree, false);
        let cells = [(Cell::Interval(0, 29), 30), (Cell::Interval(35, 44), 10)];
        let mut before = vec![0; 60];
        before[59] = 2;
        let found = bins(&domain, &cells, Some(&before));
        let said: Vec<(&str, f64, Option<u64>)> = found
            .iter()
            .map(|bin| (bin.label.as_str(), bin.release, bin.before))
            .collect();
        assert_eq!(
            said,
            [
                ("0x", 10.0, Some(0)),
                ("1x", 10.0, Some(0)),
                ("2x", 10.0, Some(0)),
                ("3x", 5.0, Some(0)),
                ("4x", 5.0, Some(0)),
                ("5x", 0.0, Some(2)),
            ]
        );
    }

    fn domain() -> impl Strategy<Value = Domain> {
        let number = (-500i64..500, 1i64..2000, 1i64..7, any::<bool>());
        let number = number.prop_map(|(least, span, step, is_missing)| {
            let domain = Domain::integer(least, least + span, step).unwrap();
            match is_missing {
                true => domain.with_missing("NA".into()),
                false => domain,
            }
        });
        let decimal = (-500i64..500, 1i64..2000, 1i64..7).prop_map(|(least, span, step)| {
            let of = |units| hedgerow_data::Decimal::of_units(units, 1);
            Domain::decimal(of(least), of(least + span), of(step)).unwrap()
        });
        let category = (1usize..50, any::<bool>()).prop_map(|(count, ordered)| {
            let names: Vec<String> = (0..count).map(|number| format!("v{number}")).collect();
            Domain::category(Taxonomy::flat(&names, "t").unwrap(), ordered)
        });
        let day = (0i32..4000, 0i32..9000).prop_map(|(from, span)| {
            let zero = jiff::civil::date(1990, 1, 1);
            let from = zero + jiff::Span::new().days(from);
            Domain::date(from, from + jiff::Span::new().days(span)).unwrap()
        });
        prop_oneof![number, decimal, category, day]
    }

    proptest! {
        /// Every record is in a bin, and bins are as few as fit on a page.
        #[test]
        fn bins_have_every_record(
            domain in domain(),
            drawn in prop::collection::vec((any::<u32>(), any::<u32>(), 1u64..50, any::<bool>()), 1..30),
            own in prop::collection::vec(any::<u32>(), 0..40),
        ) {
            let size = domain.size();
            let cells: Vec<(Cell, u64)> = drawn.iter().map(|(one, other, records, is_set)| {
                let (one, other) = (one % size, other % size);
                let cell = match is_set {
                    true => Cell::set(vec![one, other]).unwrap(),
                    false => Cell::Interval(one.min(other), one.max(other)),
                };
                (cell, *records)
            }).collect();
            let mut before = vec![0; size as usize];
            own.iter().for_each(|code| before[(code % size) as usize] += 1);
            let found = bins(&domain, &cells, Some(&before));
            let records: u64 = cells.iter().map(|(_, records)| records).sum();
            let shares: f64 = found.iter().map(|bin| bin.release).sum();
            prop_assert!((shares - records as f64).abs() < 1e-6, "{shares} of {records}: {found:?}");
            let counted: u64 = found.iter().filter_map(|bin| bin.before).sum();
            prop_assert_eq!(counted, own.len() as u64);
            prop_assert!(found.len() <= STRETCHES + 1, "{found:?}");
        }
    }
}
