//! Bins have every record, and begin at round values.

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
    let days =
        |from: &str, to: &str| Domain::date(from.parse().unwrap(), to.parse().unwrap()).unwrap();
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
