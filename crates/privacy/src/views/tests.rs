use proptest::prelude::*;

use super::*;

fn class(cells: &[(u32, u32)], records: u64) -> Alike {
    Alike {
        cells: cells
            .iter()
            .map(|(least, greatest)| Cell::Interval(*least, *greatest))
            .collect(),
        records,
    }
}

/// TG12 Example 1 (Table 2, Figure 1): A_1 = {a, b}, A_2 = {x, y}, A_3 = {1, 2}, each as 0 and 1.
#[test]
fn example_1_has_four_hyperedges() {
    let view = |rows: [[(u32, u32); 3]; 3]| rows.map(|cells| class(&cells, 1)).to_vec();
    let (zero, one, any) = ((0, 0), (1, 1), (0, 1));
    let views = Views::of_classes(vec![
        view([[zero, zero, any], [one, zero, any], [zero, one, any]]),
        view([[any, zero, zero], [any, zero, one], [any, one, one]]),
        view([[zero, any, zero], [one, any, one], [zero, any, one]]),
    ])
    .unwrap();
    let found: Vec<(&[usize], Vec<u32>)> = views
        .hyperedges
        .iter()
        .map(|edge| {
            (
                &*edge.classes,
                edge.records.iter().map(|cell| cell.bounds().0).collect(),
            )
        })
        .collect();
    // The three records of the table, and the artifact (a, x, 2).
    assert_eq!(
        found,
        [
            (&[0, 0, 0][..], vec![0, 0, 0]),
            (&[0, 1, 2], vec![0, 0, 1]),
            (&[1, 1, 1], vec![1, 0, 1]),
            (&[2, 2, 2], vec![0, 1, 1]),
        ]
    );
    let measured = views.measured();
    assert_eq!((measured.views, measured.hyperedges), (3, 4.0));
    assert_eq!(measured.fewest_choices, 1.0);
    // The artifact is in no perfect matching, so the three views together tell the whole table.
    assert_eq!(
        (measured.matchings, measured.worlds, measured.certain),
        (Some(1.0), Some(1), Some(3))
    );
    assert_eq!(views.share_with(&[0, 0, 1]), Some(0.0));
    assert_eq!(views.share_with(&[1, 0, 1]), Some(1.0));
}

/// TG12 Example 2 (Tables 3 and 4, Figure 2): age and gender, male 0 and female 1.
fn example_2() -> Views {
    Views::of_classes(vec![
        vec![class(&[(10, 15), (0, 1)], 2), class(&[(20, 22), (0, 1)], 2)],
        vec![class(&[(10, 20), (0, 0)], 2), class(&[(15, 22), (1, 1)], 2)],
    ])
    .unwrap()
}

#[test]
fn example_2_has_twenty_four_perfect_matchings() {
    let views = example_2();
    let measured = views.measured();
    // The complete bipartite graph, and 4! matchings.
    assert_eq!(
        (measured.hyperedges, measured.matchings),
        (16.0, Some(24.0))
    );
    // How many of the two young are male: none, one or both.
    assert_eq!((measured.worlds, measured.certain), (Some(3), Some(0)));
    let of = |young: usize, man: usize| {
        let found = views
            .hyperedges
            .iter()
            .find(|edge| edge.classes == [young, man]);
        found.unwrap()
    };
    let cells = |edge: &Hyperedge| edge.records.clone();
    let interval = Cell::Interval;
    // Table 4, the world of the families.
    assert_eq!(cells(of(0, 0)), [interval(10, 15), interval(0, 0)]);
    assert_eq!(cells(of(0, 1)), [interval(15, 15), interval(1, 1)]);
    assert_eq!(cells(of(1, 0)), [interval(20, 20), interval(0, 0)]);
    assert_eq!(cells(of(1, 1)), [interval(20, 22), interval(1, 1)]);
    // 324 = 6 x 6 x 3 x 3 worlds of the other matching.
    assert_eq!((of(0, 0).choices() * of(1, 1).choices()).powi(2), 324.0);
}

/// The share of worlds counted one by one: every assignment of view 2 to view 1, every choice.
#[test]
fn the_share_of_worlds_is_counted() {
    let views = example_2();
    let nodes = |view: usize| [0, 0, 1, 1].map(|class| views.views[view][class].cells.clone());
    let (first, second) = (nodes(0), nodes(1));
    let mut orders = vec![vec![]];
    for _ in 0..4 {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            let rest = (0..4)
                .filter(|next| !order.contains(next))
                .collect::<Vec<_>>();
            rest.into_iter()
                .map(move |next| [order.clone(), vec![next]].concat())
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    assert_eq!(orders.len(), 24);
    for record in [[15, 1], [20, 0], [10, 0], [21, 1], [16, 0]] {
        let (mut including, mut all) = (0.0, 0.0);
        for order in &orders {
            let edges = (0..4).filter_map(|row| in_both(&first[row], &second[order[row]]));
            let edges: Vec<Vec<Cell>> = edges.collect();
            let choices = |edge: &Vec<Cell>| {
                edge.iter()
                    .map(|cell| f64::from(cell.count()))
                    .product::<f64>()
            };
            let worlds: f64 = edges.iter().map(choices).product();
            let holds = |edge: &&Vec<Cell>| {
                edge.iter()
                    .zip(record)
                    .all(|(cell, code)| cell.contains(code))
            };
            let without: f64 = edges
                .iter()
                .map(|edge| choices(edge) - f64::from(u8::from(holds(&edge))))
                .product();
            all += worlds;
            including += worlds - without;
        }
        let share = views.share_with(&record).unwrap();
        assert!(
            (share - including / all).abs() < 1e-12,
            "{record:?}: {share}"
        );
    }
}

fn column(cells: Vec<Cell>) -> GeneralizedColumn {
    let codes = (0..cells.len() as u32).collect();
    GeneralizedColumn { cells, codes }
}

proptest! {
    /// TG12 Proposition 8.7: every record is in some hyperedge of some perfect matching; and what is
    /// certain is in the table.
    #[test]
    fn every_record_is_in_a_possible_world(
        rows in prop::collection::vec(prop::collection::vec(0..6u32, 2), 1..6),
        groups in prop::collection::vec(prop::collection::vec(0..3usize, 6), 1..4),
    ) {
        let views: Vec<Vec<GeneralizedColumn>> = groups.iter().map(|groups| {
            let closure = |row: usize, place: usize| {
                let alike = (0..rows.len()).filter(|other| groups[*other] == groups[row]);
                let values: Vec<u32> = alike.map(|other| rows[other][place]).collect();
                Cell::Interval(*values.iter().min().unwrap(), *values.iter().max().unwrap())
            };
            [0, 1].map(|place| column((0..rows.len()).map(|row| closure(row, place)).collect())).into()
        }).collect();
        let columns = views.iter().map(|view| (view.iter().collect(), None));
        let columns: Vec<(Vec<&GeneralizedColumn>, Option<&[u64]>)> = columns.collect();
        let views = Views::new(&columns).unwrap();
        let measured = views.measured();
        prop_assert!(measured.matchings.unwrap() >= 1.0);
        prop_assert!(measured.hyperedges >= rows.len() as f64);
        for row in &rows {
            prop_assert!(views.share_with(row).unwrap() > 0.0);
        }
        let matchings = views.matchings().unwrap();
        for record in views.certain(&matchings) {
            prop_assert!(rows.contains(&record));
            prop_assert!(views.share_with(&record).unwrap() > 1.0 - 1e-9);
        }
    }
}

#[test]
fn views_of_other_tables_are_refused() {
    let cells = |count: u32| column((0..count).map(|code| Cell::Interval(code, code)).collect());
    let (two, three, apart) = (
        cells(2),
        cells(3),
        column(vec![Cell::Interval(0, 1), Cell::Interval(5, 5)]),
    );
    let refused = |views: &[Vec<&GeneralizedColumn>]| {
        let views: Vec<_> = views.iter().map(|view| (view.clone(), None)).collect();
        Views::new(&views).unwrap_err()
    };
    assert_eq!(
        refused(&[vec![&two], vec![&three]]),
        ViewsError::Records {
            view: 2,
            found: 3,
            expected: 2
        }
    );
    assert_eq!(
        refused(&[vec![&two], vec![&two, &two]]),
        ViewsError::Attributes {
            view: 2,
            found: 2,
            expected: 1
        }
    );
    assert_eq!(
        refused(&[vec![&two], vec![&apart]]),
        ViewsError::Apart { view: 2, class: 2 }
    );
}

proptest! {
    /// Counted rows say together what the records say that they stand for.
    #[test]
    fn counted_views_are_their_records(rows in proptest::collection::vec((0u32..2, 0u32..2, 1u64..4), 1..5)) {
        let column_of = |rows: &[(u32, u32, u64)], place: usize| {
            let cell = |row: &(u32, u32, u64)| match place {
                0 => Cell::Interval(row.0, row.0),
                _ => Cell::Interval(0, row.1),
            };
            column(rows.iter().map(cell).collect())
        };
        let singly: Vec<(u32, u32, u64)> = rows.iter().flat_map(|row| vec![*row; row.2 as usize]).collect();
        let counts: Vec<u64> = rows.iter().map(|row| row.2).collect();
        let of = |rows: &[(u32, u32, u64)]| [column_of(rows, 0), column_of(rows, 1)];
        let (counted, single) = (of(&rows), of(&singly));
        let measured = |columns: &[GeneralizedColumn], counts: Option<&[u64]>| {
            let whole: Vec<&GeneralizedColumn> = columns.iter().collect();
            Views::new(&[(whole.clone(), counts), (whole, counts)]).map(|views| views.measured())
        };
        prop_assert_eq!(measured(&counted, Some(&counts)), measured(&single, None));
    }
}

#[test]
fn factorials_of_billions_are_told_at_once() {
    let each = |number: u64| -> f64 { (2..=number).map(|factor| (factor as f64).ln()).sum() };
    for number in [0, 1, 2, 255, 256, 257, 300, 5_000, 100_000] {
        let (told, summed) = (logarithm(number), each(number));
        assert!(
            (told - summed).abs() <= 1e-9 * summed.max(1.0),
            "{number}: {told} {summed}"
        );
    }
    let cells = column(vec![Cell::Interval(0, 0), Cell::Interval(1, 4)]);
    let (many, fewer) = (
        [3_000_000_000, 1_000_000_000],
        [2_000_000_000, 1_000_000_000],
    );
    let views = Views::new(&[(vec![&cells], Some(&many)), (vec![&cells], Some(&many))]);
    let measured = views.unwrap().measured();
    assert_eq!((measured.worlds, measured.certain), (Some(1), Some(1)));
    let others = Views::new(&[(vec![&cells], Some(&many)), (vec![&cells], Some(&fewer))]);
    let refused = ViewsError::Records {
        view: 2,
        found: 3_000_000_000,
        expected: 4_000_000_000,
    };
    assert_eq!(others.unwrap_err(), refused);
}

/// A search as deep as there are classes needs no stack of that depth.
#[test]
fn thousands_of_classes_are_matched_on_a_small_stack() {
    let cells = column((0..4_000).map(|code| Cell::Interval(code, code)).collect());
    let views = Views::new(&[(vec![&cells], None), (vec![&cells], None)]).unwrap();
    let small = std::thread::Builder::new().stack_size(128 << 10);
    let search = small.spawn(move || views.matchings().unwrap());
    let matchings = search.unwrap().join().unwrap();
    assert_eq!(matchings, [vec![1; 4_000]]);
}

/// Matchings that would fill the memory are not all kept.
#[test]
fn more_matchings_than_memory_has_room_for_are_not_told() {
    let pairs = column(
        (0..2_000)
            .map(|row| Cell::Interval(row / 2 * 2, row / 2 * 2 + 1))
            .collect(),
    );
    let views = Views::new(&[(vec![&pairs], None), (vec![&pairs], None)]).unwrap();
    assert_eq!(views.matchings().unwrap().len(), 1);
    // Every class overlaps with its neighbours, so that there are more matchings than anybody counts.
    let shifted = column(
        (0..2_000u32)
            .map(|row| match row {
                0 => Cell::Interval(0, 1),
                row => Cell::Interval(row - 1, (row + 1).min(1_999)),
            })
            .collect(),
    );
    let views = Views::new(&[(vec![&shifted], None), (vec![&shifted], None)]).unwrap();
    assert!(views.matchings().is_none());
}
