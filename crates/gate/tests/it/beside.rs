//! Attacks by those who have something beside the release: own rows, strangers, another release.

use hedgerow_data::Cell;
use hedgerow_gate::{Attack, Known, Limits, Subject, Verdict, attack};

use crate::made::{Person, Row, at_risk, cell, in_this_order, known, of_classes, published, tried};

/// People, one of each age from 0 to 98, in nine zips.
fn everybody() -> Vec<Person> {
    (0..99).map(|age| (age, age % 9, age % 5)).collect()
}

/// A class for every three people of neighbouring ages, written by a rule.
fn threes(people: &[Person], age: impl Fn(&[Person]) -> Cell) -> Vec<Row> {
    let classes = people.chunks(3).flat_map(|class| {
        let age = age(class);
        class
            .iter()
            .map(move |one| (age.clone(), cell(0, 9), one.2, 0))
            .collect::<Vec<Row>>()
    });
    classes.collect()
}

fn as_set(class: &[Person]) -> Cell {
    Cell::set(class.iter().map(|one| one.0).collect()).unwrap()
}

#[test]
fn sets_of_values_tell_who_is_in_the_table() {
    // Even ages are in the table, odd ones are not.
    let (own, strangers): (Vec<Person>, Vec<Person>) =
        everybody().into_iter().partition(|one| one.0 % 2 == 0);
    let with = known(&[&own], &strangers);
    let broken = published(&threes(&own, as_set));
    let finding = tried(Attack::Membership, &broken, &with);
    assert_eq!(finding.verdict, Verdict::Falls, "{finding:?}");
    let found = finding.measured.unwrap();
    assert_eq!((found.share, found.control.unwrap().share), (1.0, 0.0));

    let whole = published(&threes(&own, |_| cell(0, 99)));
    let finding = tried(Attack::Membership, &whole, &with);
    assert_eq!(
        finding.verdict,
        Verdict::CannotTell,
        "50 people are few for a limit of 5 %"
    );
    let found = finding.measured.unwrap();
    assert_eq!((found.share, found.control.unwrap().share), (1.0, 1.0));
    let finding = tried(Attack::Membership, &whole, &known(&[&own], &[]));
    assert_eq!(
        finding.because.as_deref(),
        Some("needs --own and --holdout")
    );
}

#[test]
fn a_tight_end_writes_a_rare_age_exactly() {
    // 900 people of ages up to 60, and three of 90 and more.
    let mut people: Vec<Person> = (0..900).map(|one| (one % 60, 0, one % 5)).collect();
    people.extend([(90, 0, 1), (93, 0, 2), (95, 0, 3)]);
    let end = |greatest: u32| {
        let rows: Vec<Row> = people
            .iter()
            .map(|one| {
                let age = if one.0 < 60 {
                    cell(0, 59)
                } else {
                    cell(60, greatest)
                };
                (age, cell(0, 9), one.2, 0)
            })
            .collect();
        published(&rows)
    };
    let with = known(&[&people], &[]);
    let finding = tried(Attack::Ends, &end(95), &with);
    assert_eq!(
        (at_risk(&finding), finding.measured.as_ref().unwrap().of),
        (1, 3)
    );
    assert_eq!(finding.verdict, Verdict::Falls, "one of three, of all rows");
    let finding = tried(Attack::Ends, &end(99), &with);
    assert_eq!(at_risk(&finding), 0);
    assert_eq!(finding.measured.unwrap().worst, []);
}

#[test]
fn ends_of_many_classes_fall() {
    // Ages of 60 and more are rare, and each class of the aged ends at somebody's.
    let mut people: Vec<Person> = (0..60_000)
        .map(|one| (one % 60, one % 7, one % 5))
        .collect();
    people.extend((0..180).map(|one| (60 + one % 39, 0, one % 5)));
    let rows = |tight: bool| {
        let row = |one: &Person| {
            let age = match (one.0 >= 60, tight) {
                (false, _) => cell(0, 59),
                (true, true) => cell(one.0, one.0),
                (true, false) => cell(60, 99),
            };
            (age, cell(0, 9), one.2, 0)
        };
        people.iter().map(row).collect::<Vec<Row>>()
    };
    let with = known(&[&people], &[]);
    let broken = tried(Attack::Ends, &published(&rows(true)), &with);
    assert_eq!(broken.verdict, Verdict::Falls);
    let good = tried(Attack::Ends, &published(&rows(false)), &with);
    assert_eq!(good.verdict, Verdict::Holds, "{good:?}");
}

#[test]
fn a_site_takes_its_rows_away() {
    let rows = of_classes(&[
        (cell(0, 49), cell(0, 9), &[0, 1, 2, 3]),
        (cell(50, 99), cell(0, 9), &[0, 1, 2, 3, 4, 5]),
    ]);
    let release = in_this_order(&rows);
    let without = |one, sites: &[u32]| {
        let subject = Subject::new(&release, 3).with_sites(sites);
        attack(one, &subject, &Known::default(), &Limits::default())
    };
    // Site 0 has two of the first class, which leaves two; site 1 has none there.
    let broken = [0, 0, 2, 2, 0, 0, 0, 1, 1, 1];
    let finding = without(Attack::OneSite, &broken);
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Falls, 2));
    assert_eq!(finding.measured.unwrap().of, 5);
    // Without any site, three are left or none.
    let good = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2];
    assert_eq!(without(Attack::OneSite, &good).verdict, Verdict::Holds);
    assert_eq!(without(Attack::TwoSites, &good).verdict, Verdict::Told);

    // The same by a site's own rows alone.
    let own: &[Person] = &[(3, 1, 0), (20, 1, 1), (60, 1, 0), (60, 2, 1), (70, 2, 2)];
    let finding = tried(Attack::OneSite, &release, &known(&[own], &[]));
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Falls, 2));
    let finding = tried(Attack::TwoSites, &release, &known(&[own], &[]));
    assert_eq!(finding.verdict, Verdict::NotTried);
}

#[test]
fn two_releases_cut_each_other() {
    // Nine people in a square of ages and zips: by ages in one release, by zips in the other.
    let people: Vec<Person> = (0..9).map(|one| (one / 3 * 10, one % 3, one % 3)).collect();
    let by = |cells: fn(&Person) -> (Cell, Cell)| {
        let row = |one: &Person| {
            let (age, zip) = cells(one);
            (age, zip, one.2, 0)
        };
        published(&people.iter().map(row).collect::<Vec<Row>>())
    };
    let ages = by(|one| (cell(one.0, one.0), cell(0, 9)));
    let zips = by(|one| (cell(0, 99), cell(one.1, one.1)));
    let both = |second, own: &[Person]| {
        let mut known = known(&[own], &[]);
        known.earlier = vec![Subject::new(second, 3)];
        tried(Attack::TwoReleases, &ages, &known)
    };
    let finding = both(&zips, &people);
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Falls, 9));
    // Who knows a part of the people cannot say that nobody else shares the classes.
    assert_eq!(both(&zips, &people[..4]).verdict, Verdict::CannotTell);
    assert_eq!(both(&ages, &people).verdict, Verdict::Holds);
}

#[test]
fn newcomers_are_the_difference() {
    let before = [
        (cell(0, 49), cell(0, 9), &[0, 1, 2][..]),
        (cell(50, 99), cell(0, 9), &[3, 4, 5]),
    ];
    let after = |first: &[u32], second: &[u32]| {
        published(&of_classes(&[
            (cell(0, 49), cell(0, 9), first),
            (cell(50, 99), cell(0, 9), second),
        ]))
    };
    let earlier = published(&of_classes(&before));
    let came = |now: &_| {
        let known = Known {
            earlier: vec![Subject::new(&earlier, 3)],
            ..Known::default()
        };
        tried(Attack::Newcomers, now, &known)
    };
    // One came to the first class; two of two diseases to the second.
    let finding = came(&after(&[0, 1, 2, 4], &[3, 4, 5, 0, 1]));
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Falls, 1));
    assert_eq!(finding.measured.unwrap().of, 3);
    let finding = came(&after(&[0, 1, 2], &[3, 4, 5, 0, 1]));
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Holds, 0));
    assert_eq!(came(&earlier).verdict, Verdict::Nothing);
    // Classes that were cut anew are joined with those that they overlap: the difference is of all of them.
    let anew = published(&of_classes(&[
        (cell(0, 29), cell(0, 9), &[0, 1, 2]),
        (cell(30, 99), cell(0, 9), &[3, 4, 5, 1]),
    ]));
    let finding = came(&anew);
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Falls, 1));
}

#[test]
fn a_cell_is_narrowed_by_a_class_within() {
    // Three are in the class within; the class around it has nobody there.
    let people: &[Person] = &[
        (10, 0, 0),
        (11, 0, 1),
        (12, 0, 2),
        (40, 0, 0),
        (41, 0, 1),
        (60, 0, 2),
    ];
    let rows = of_classes(&[
        (cell(10, 19), cell(0, 9), &[0, 1, 2]),
        (cell(0, 99), cell(0, 9), &[0, 1, 2]),
    ]);
    let finding = tried(
        Attack::Downcoding,
        &published(&rows),
        &known(&[people], &[]),
    );
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Falls, 3));
    // A fourth person could be in the class within: nothing is certain.
    let mut more = people.to_vec();
    more[5] = (15, 0, 2);
    let finding = tried(Attack::Downcoding, &published(&rows), &known(&[&more], &[]));
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Holds, 0));
}

#[test]
fn a_guess_is_a_leak_only_where_strangers_are_guessed_worse() {
    // Zip and disease go together in the table, and for strangers or not.
    let own: Vec<Person> = (0..6000).map(|one| (one % 100, one % 5, one % 5)).collect();
    let rows: Vec<Row> = own
        .iter()
        .map(|one| {
            (
                cell(one.0 / 10 * 10, one.0 / 10 * 10 + 9),
                cell(one.1, one.1),
                one.2,
                0,
            )
        })
        .collect();
    let release = published(&rows);
    let finding = tried(Attack::Bayes, &release, &known(&[&own], &own));
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Holds, 6000));
    let strangers: Vec<Person> = own
        .iter()
        .map(|one| (one.0, one.1, (one.2 + 1) % 5))
        .collect();
    let finding = tried(Attack::Bayes, &release, &known(&[&own], &strangers));
    assert_eq!(finding.verdict, Verdict::Falls);
}

#[test]
fn overlapping_classes_hide_nobody() {
    let people: &[Person] = &[
        (1, 0, 0),
        (2, 0, 1),
        (3, 0, 2),
        (30, 0, 3),
        (31, 0, 4),
        (90, 0, 5),
    ];
    let rows = of_classes(&[
        (cell(0, 9), cell(0, 9), &[0, 1, 2]),
        (cell(0, 99), cell(0, 9), &[3, 4, 5]),
    ]);
    let finding = tried(Attack::Covering, &published(&rows), &known(&[people], &[]));
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Told, 6));
    let found = finding.measured.unwrap();
    assert_eq!(
        found.falls,
        "records whose class is found (3 are covered by several)"
    );
}

#[test]
fn people_who_came_hide_nobody_who_was_there() {
    // Six people, three to a class; then each of them in a class with nine others whom no earlier class covers.
    let first: Vec<Person> = (0..6).map(|one| (10 * one, 0, one)).collect();
    let sets: Vec<Row> = first
        .iter()
        .map(|one| {
            let from = one.0 / 30 * 30;
            let ages = Cell::set(vec![from, from + 10, from + 20]).unwrap();
            (ages, cell(0, 9), one.2, 0)
        })
        .collect();
    let earlier = published(&sets);
    let all: Vec<Person> = (0..60).map(|age| (age, 0, age % 6)).collect();
    let all: Vec<Person> = all
        .iter()
        .map(|one| {
            first
                .iter()
                .find(|was| was.0 == one.0)
                .copied()
                .unwrap_or(*one)
        })
        .collect();
    let later = |people: &[Person]| {
        let row = |one: &Person| {
            let from = one.0 / 10 * 10;
            (cell(from, from + 9), cell(0, 9), one.2, 0)
        };
        published(&people.iter().map(row).collect::<Vec<Row>>())
    };
    let both = |people: &[Person]| {
        let mut known = known(&[people], &[]);
        known.earlier = vec![Subject::new(&earlier, 3)];
        tried(Attack::TwoReleases, &later(people), &known)
    };
    let finding = both(&all);
    assert_eq!((finding.verdict, at_risk(&finding)), (Verdict::Falls, 6));
    assert_eq!(finding.measured.unwrap().control.unwrap().share, 0.0);

    // Others of the same ages and diseases came, and seem to have been there.
    let more: Vec<Person> = all.iter().flat_map(|one| [*one; 4]).collect();
    let finding = both(&more);
    assert_eq!(finding.verdict, Verdict::CannotTell, "{finding:?}");
    assert_eq!(finding.measured.unwrap().interval.high, 1.0);
}

#[test]
fn too_many_changed_classes_are_no_good_verdict() {
    let chosen = |size: usize| {
        let mut codes: Vec<u32> = (0..size as u32).collect();
        (0..46_000).map(move |_| {
            // The next choice of so many of a hundred ages.
            let place = (0..size)
                .rev()
                .find(|place| codes[*place] < (100 - size + place) as u32)
                .unwrap();
            codes[place] += 1;
            for later in place + 1..size {
                codes[later] = codes[later - 1] + 1;
            }
            (Cell::set(codes.clone()).unwrap(), cell(0, 9), 0, 0)
        })
    };
    let [before, after] = [3, 4].map(|size| published(&chosen(size).collect::<Vec<Row>>()));
    let known = Known {
        earlier: vec![Subject::new(&before, 3)],
        ..Known::default()
    };
    assert_eq!(
        tried(Attack::Newcomers, &after, &known).verdict,
        Verdict::NotTried
    );
}

#[test]
fn a_small_table_has_ends_too() {
    // 290 people, of whom the eldest is the end of the last class.
    let people: Vec<Person> = (0..290).map(|one| (one / 3, 0, one % 5)).collect();
    let end = |greatest: u32| {
        let row = |one: &Person| {
            let age = if one.0 < 60 {
                cell(0, 59)
            } else {
                cell(60, greatest)
            };
            (age, cell(0, 9), one.2, 0)
        };
        published(&people.iter().map(row).collect::<Vec<Row>>())
    };
    let finding = tried(Attack::Ends, &end(96), &known(&[&people], &[]));
    assert_eq!(finding.verdict, Verdict::Falls, "{finding:?}");
    assert_eq!(
        tried(Attack::Ends, &end(99), &known(&[&people], &[])).verdict,
        Verdict::Holds
    );
    // Three people are too few for any of them to be rarer than k.
    let few = known(&[&people[..3]], &[]);
    assert_eq!(
        tried(Attack::Ends, &end(96), &few).verdict,
        Verdict::NotTried
    );
}
