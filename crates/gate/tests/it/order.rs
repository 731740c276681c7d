//! The order of rows, on a release that is cut by a small Mondrian of the test's own and written as nodes, so
//! that cuts are hidden: in the order of its cuts, and as releases are published.

use hedgerow_gate::{Attack, Known, Limits, Subject, Verdict, attack};

use crate::made::{Person, Row, cell, in_this_order, published, tried};

/// People of all ages and zips, by a small generator.
fn people(count: u32) -> Vec<Person> {
    let mut state = 7u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    (0..count)
        .map(|_| (next() % 100, next() % 10, next() % 6))
        .collect()
}

/// Cuts at medians of age and zip in turn, down to less than 2k; each part is written as the hundred, fifty or
/// ten of ages that it lies in, and the zip as five or all.
fn cut(mut part: Vec<Person>, depth: usize, into: &mut Vec<Row>) {
    let by_age = depth.is_multiple_of(2);
    part.sort_by_key(|one| if by_age { one.0 } else { one.1 });
    let at = part.len() / 2;
    if at >= 5 {
        let right = part.split_off(at);
        cut(part, depth + 1, into);
        cut(right, depth + 1, into);
        return;
    }
    let ends = |of: fn(&Person) -> u32| {
        let least = part.iter().map(of).min().unwrap();
        (least, part.iter().map(of).max().unwrap())
    };
    let node = |(least, greatest): (u32, u32), widths: [u32; 2], size: u32| {
        let fits = widths
            .iter()
            .find(|width| least / **width == greatest / **width);
        fits.map_or(cell(0, size - 1), |width| {
            cell(least / width * width, least / width * width + width - 1)
        })
    };
    let age = node(ends(|one| one.0), [10, 50], 100);
    let zip = node(ends(|one| one.1), [1, 5], 10);
    let rows = part.iter().map(|one| (age.clone(), zip.clone(), one.2, 0));
    into.extend(rows);
}

#[test]
fn the_order_of_cuts_falls_and_the_order_of_a_release_holds() {
    let mut rows = Vec::new();
    cut(people(2000), 0, &mut rows);
    let broken = tried(Attack::Order, &in_this_order(&rows), &Known::default());
    assert_eq!(broken.verdict, Verdict::Falls, "{broken:?}");
    let found = broken.measured.unwrap();
    assert!(found.share > 0.3, "{found:?}");
    assert!(found.control.unwrap().share < 0.2);
    assert!(found.worst[0].class[0].starts_with("age = "));

    let good = tried(Attack::Order, &published(&rows), &Known::default());
    assert_eq!(good.verdict, Verdict::Holds);
    assert_eq!(good.measured.unwrap().at_risk, 0);
}

#[test]
fn any_order_that_follows_from_what_is_written_holds() {
    let mut rows = Vec::new();
    cut(people(1000), 0, &mut rows);
    // Another tool may sort by disease first: classes then stand in several places, and that says nothing.
    rows.sort_by_key(|row| (row.2, row.0.clone(), row.1.clone()));
    let finding = tried(Attack::Order, &in_this_order(&rows), &Known::default());
    assert_eq!(finding.verdict, Verdict::Holds, "{finding:?}");
}

#[test]
fn rows_site_by_site_show_their_owner() {
    let rows: Vec<Row> = (0..40)
        .flat_map(|class| (0..12).map(move |_| (cell(class, class), cell(0, 9), 0, 0)))
        .collect();
    let release = in_this_order(&rows);
    let owner = |sites: &[u32]| {
        let subject = Subject::new(&release, 3).with_sites(sites);
        attack(
            Attack::Owner,
            &subject,
            &Known::default(),
            &Limits::default(),
        )
    };
    let in_turn: Vec<u32> = (0..480).map(|row| row % 12 / 4).collect();
    assert_eq!(owner(&in_turn).verdict, Verdict::Falls);
    let mixed: Vec<u32> = (0..480).map(|row| row % 3).collect();
    assert_eq!(owner(&mixed).verdict, Verdict::Holds);
    assert_eq!(owner(&mixed).measured.unwrap().at_risk, 0);
    assert_eq!(owner(&[1; 480]).verdict, Verdict::Nothing);
}
