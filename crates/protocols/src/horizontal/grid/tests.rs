//! Grids against a look at every box.

use hedgerow_data::Taxonomy;
use jiff::civil::Date;
use proptest::prelude::*;

use super::*;

/// Numbers in steps, days, words in two levels, words without levels, and some of them with a missing value.
fn domains() -> impl Strategy<Value = Domain> {
    let missing = |domain: Domain, is_there: bool| match is_there {
        true => domain.with_missing("NA".into()),
        false => domain,
    };
    let numbers = (-40i64..40, 1i64..80, 1i64..8, any::<bool>()).prop_map(
        move |(least, values, step, is_there)| {
            let domain = Domain::integer(least, least + (values - 1) * step, step).unwrap();
            missing(domain, is_there)
        },
    );
    let days = (0i64..400, 1i64..90, any::<bool>()).prop_map(move |(first, days, is_there)| {
        let day = |after: i64| {
            let start = Date::new(2023, 6, 1).unwrap();
            start.checked_add(jiff::Span::new().days(after)).unwrap()
        };
        missing(
            Domain::date(day(first), day(first + days)).unwrap(),
            is_there,
        )
    });
    let tree = (prop::collection::vec(1usize..9, 1..8), any::<bool>()).prop_map(
        |(branches, has_empty)| {
            let mut lines = String::new();
            for (branch, leaves) in branches.iter().enumerate() {
                for leaf in 0..*leaves {
                    lines.push_str(&format!("v{branch}-{leaf};b{branch};*\n"));
                }
            }
            if has_empty {
                lines.push_str(";b0;*\n");
            }
            Domain::category(Taxonomy::from_text(&lines, "tree.csv").unwrap(), false)
        },
    );
    let flat = (1usize..70).prop_map(|values| {
        let values: Vec<String> = (0..values).map(|value| format!("v{value:02}")).collect();
        Domain::category(Taxonomy::flat(&values, "flat").unwrap(), false)
    });
    prop_oneof![numbers, days, tree, flat]
}

fn lies_in(inner: (u32, u32), outer: (u32, u32)) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    /// There is one smallest box around any two values, and it is the one that is given.
    #[test]
    fn the_box_around_two_values_is_the_smallest(domain in domains()) {
        let grid = Grid::of(&domain);
        let last = domain.size() - 1;
        for least in 0..=last {
            for greatest in least..=last {
                let found = grid.around(least, greatest);
                let around = grid.boxes.iter().filter(|one| lies_in((least, greatest), **one));
                for other in around {
                    prop_assert!(lies_in(found, *other), "{found:?} {other:?}");
                }
                prop_assert!(lies_in((least, greatest), found));
                prop_assert_eq!(grid.around(found.0, found.1), found);
                if domain.mixes_missing(least, greatest) {
                    prop_assert_eq!(found, (0, last));
                }
            }
            // As many values as cells: a value is a box.
            prop_assert_eq!(grid.around(least, least), (least, least));
        }
    }

    /// The box around a box and a value is that around everything from which both were made.
    #[test]
    fn a_box_forgets_what_it_was_made_of(
        domain in domains(), values in prop::collection::vec(any::<u32>(), 2..8), split in any::<prop::sample::Index>(),
    ) {
        let grid = Grid::of(&domain);
        let codes: Vec<u32> = values.iter().map(|value| value % domain.size()).collect();
        let around = |codes: &[u32]| grid.around(*codes.iter().min().unwrap(), *codes.iter().max().unwrap());
        let (first, rest) = codes.split_at(1 + split.index(codes.len() - 1));
        let (first, rest) = (around(first), around(rest));
        let joined = grid.around(first.0.min(rest.0), first.1.max(rest.1));
        prop_assert_eq!(joined, around(&codes));
    }

    /// The boxes within a box, and the widest of them.
    #[test]
    fn the_boxes_within_a_box(domain in domains()) {
        let grid = Grid::of(&domain);
        for outer in &grid.boxes {
            let within: Vec<(u32, u32)> = grid.within(*outer).collect();
            let expected = grid.boxes.iter().filter(|one| *one != outer && lies_in(**one, *outer));
            prop_assert_eq!(&within, &expected.copied().collect::<Vec<_>>());
            let is_widest = |one: &(u32, u32)| within.iter().all(|other| other == one || !lies_in(*one, *other));
            let mut widest: Vec<(u32, u32)> = within.iter().copied().filter(is_widest).collect();
            let mut parts: Vec<(u32, u32)> = grid.parts(*outer).collect();
            parts.sort_unstable();
            parts.dedup();
            widest.sort_unstable();
            // Beside the next smaller box at a cut, only what that box does not have is another.
            prop_assert!(widest.iter().all(|one| parts.contains(one)), "{widest:?} {parts:?}");
            prop_assert!(parts.iter().all(|one| within.contains(one)));
        }
    }
}

#[test]
fn cuts_are_at_round_values() {
    let ages = Grid::of(&Domain::integer(17, 90, 1).unwrap());
    // Codes begin at 17.
    let around = |least: u32, greatest: u32| {
        let (least, greatest) = ages.around(least - 17, greatest - 17);
        (least + 17, greatest + 17)
    };
    assert_eq!(around(17, 90), (17, 90));
    assert_eq!(around(17, 49), (17, 49));
    // Two values beside the first cut are a box, and so are their neighbours.
    assert_eq!(around(49, 50), (49, 50));
    assert_eq!(around(30, 38), (30, 39));
    let years = Domain::date(
        Date::new(2020, 3, 7).unwrap(),
        Date::new(2023, 3, 6).unwrap(),
    );
    let years = years.unwrap();
    let Domain::Date(days) = &years else {
        panic!("days are days");
    };
    let cut = cuts(&years, 0, years.size() - 1)[0];
    assert_eq!(days.day(cut), Date::new(2022, 1, 1).unwrap());
}

#[test]
fn a_grid_of_many_values_has_few_cells() {
    let pays = Domain::integer(0, 9_999_999, 1).unwrap();
    let grid = Grid::of(&pays);
    assert_eq!(grid.cells(), MOST_CELLS);
    assert!(grid.len() < 8 * MOST_CELLS, "{}", grid.len());
    let widths = grid.starts.windows(2).map(|pair| pair[1] - pair[0]);
    let (least, greatest) = (widths.clone().min().unwrap(), widths.max().unwrap());
    assert!(greatest < 8 * least, "{least} {greatest}");
    let (from, to) = grid.around(5_000_001, 5_000_001);
    assert!(
        from <= 5_000_001 && 5_000_001 <= to && to - from < 80_000,
        "{from} {to}"
    );
    assert_eq!(grid.around(from, to), (from, to));
    assert_eq!(grid.around(0, 9_999_999), (0, 9_999_999));
}
