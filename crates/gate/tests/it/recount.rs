//! Small cases counted again, by loops over all people and all classes that share nothing with the attacks.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_data::{Cell, Table};
use hedgerow_gate::{Attack, Known, Limits, Rows, Subject, attack, attack_all};
use proptest::prelude::*;

use crate::made::{
    Person, Row, at_risk, cell, in_this_order, known, published, schema, tables, tried,
};

/// A class: its cells and its people.
type Class = (Cell, Cell, Vec<Person>);

/// Classes with at least one person each, some of which overlap.
fn classes() -> impl Strategy<Value = Vec<Class>> {
    let one = (0..80u32, 0..20u32, 0..8u32, 0..3u32, any::<bool>());
    let class = one.prop_flat_map(|(age, width, zip, wide, as_set)| {
        let ages = proptest::collection::vec(age..=age + width.min(99 - age), 1..8);
        let zips = proptest::collection::vec(zip..=(zip + wide).min(9), 8);
        let diseases = proptest::collection::vec(0..3u32, 8);
        (ages, zips, diseases).prop_map(move |(ages, zips, diseases)| {
            let people: Vec<Person> = ages
                .iter()
                .enumerate()
                .map(|(place, age)| (*age, zips[place], diseases[place]))
                .collect();
            let ages = match as_set {
                true => Cell::set(ages.clone()).unwrap(),
                false => cell(age, age + width),
            };
            (ages, cell(zip, (zip + wide).min(9)), people)
        })
    });
    proptest::collection::vec(class, 1..8)
}

fn rows(classes: &[Class]) -> Vec<Row> {
    let rows = classes.iter().flat_map(|(age, zip, people)| {
        people
            .iter()
            .map(|one| (age.clone(), zip.clone(), one.2, 0))
    });
    rows.collect()
}

/// Diseases of classes, those that are written alike joined.
fn alike(classes: &[Class]) -> BTreeMap<(Cell, Cell), Vec<u32>> {
    let mut alike: BTreeMap<(Cell, Cell), Vec<u32>> = BTreeMap::new();
    for (age, zip, people) in classes {
        let all = alike.entry((age.clone(), zip.clone())).or_default();
        all.extend(people.iter().map(|one| one.2));
    }
    alike
}

proptest! {
    /// Whoever brings counted rows learns what who brings their records learns, of every attack.
    #[test]
    fn counted_rows_are_their_records(classes in classes(), times in proptest::collection::vec(1..6usize, 64), strangers in proptest::collection::vec((0..100u32, 0..10u32, 0..3u32), 1..40), all in any::<bool>()) {
        // Everybody of a row as often as the row says, at two sites.
        let more = |people: &[Person]| -> Vec<Person> {
            let each = people.iter().zip(&times);
            each.flat_map(|(one, times)| vec![*one; *times]).collect()
        };
        let classes: Vec<Class> = classes.iter().map(|(age, zip, people)| (age.clone(), zip.clone(), more(people))).collect();
        let release = published(&rows(&classes));
        let own: Vec<Person> = classes.iter().flat_map(|class| class.2.clone()).collect();
        let (first, second) = own.split_at(own.len() / 3);
        let strangers = more(&strangers);
        let sites = if all { vec![first, second] } else { vec![first] };
        let brought = |is_counted: bool| {
            let rows = |sites: &[&[Person]]| {
                let tables = tables(sites).into_iter();
                let tables: Vec<Table> = tables.map(|one| if is_counted { one.into_counted().unwrap() } else { one }).collect();
                Rows::of(&tables)
            };
            let earlier = vec![Subject::new(&release, 3)];
            let known = Known { own: Some(rows(&sites)), holdout: Some(rows(&[&strangers])), earlier };
            format!("{:#?}", attack_all(&Subject::new(&release, 3), &known, &Limits::default()))
        };
        prop_assert_eq!(brought(true), brought(false));
    }

    #[test]
    fn certain_and_printed(classes in classes()) {
        let release = published(&rows(&classes));
        let alike = alike(&classes);
        let one_value = |all: &&Vec<u32>| all.iter().collect::<BTreeSet<_>>().len() == 1;
        let certain: usize = alike.values().filter(one_value).map(Vec::len).sum();
        let found = tried(Attack::Certain, &release, &Known::default());
        prop_assert_eq!(at_risk(&found), certain as u64);
        let few: usize = alike.values().filter(|all| all.len() < 3).map(Vec::len).sum();
        let found = tried(Attack::Printed, &release, &Known::default());
        prop_assert_eq!(at_risk(&found), few as u64);
    }

    #[test]
    fn who_is_covered(classes in classes(), strangers in proptest::collection::vec((0..100u32, 0..10u32, 0..3u32), 1..60)) {
        let release = published(&rows(&classes));
        let own: Vec<Person> = classes.iter().flat_map(|class| class.2.clone()).collect();
        let all: Vec<(u32, u32)> = own.iter().chain(&strangers).map(|one| (one.0, one.1)).collect();
        let is_unique = |one: &Person| all.iter().filter(|other| **other == (one.0, one.1)).count() == 1;
        let covers = |one: &Person| classes.iter().filter(|(age, zip, _)| age.contains(one.0) && zip.contains(one.1)).count();
        let members = own.iter().filter(|one| is_unique(one)).count();
        let tried_on = strangers.iter().filter(|one| is_unique(one)).count();
        let covered = strangers.iter().filter(|one| is_unique(one) && covers(one) > 0).count();
        let found = tried(Attack::Membership, &release, &known(&[&own], &strangers));
        if members > 0 && tried_on > 0 {
            let found = found.measured.unwrap();
            prop_assert_eq!((found.at_risk, found.of), (members as u64, members as u64));
            prop_assert!((found.control.unwrap().share - covered as f64 / tried_on as f64).abs() < 1e-12);
        }
    }

    #[test]
    fn what_sites_leave(classes in classes(), sites in proptest::collection::vec(0..4u32, 60)) {
        let rows = rows(&classes);
        let release = in_this_order(&rows);
        let sites = &sites[..rows.len()];
        let subject = Subject::new(&release, 3).with_sites(sites);
        let known_sites: BTreeSet<u32> = sites.iter().copied().collect();
        let left = |gone: &[u32]| {
            let mut of_class: BTreeMap<(Cell, Cell), u64> = BTreeMap::new();
            for (row, site) in rows.iter().zip(sites) {
                if !gone.contains(site) { *of_class.entry((row.0.clone(), row.1.clone())).or_default() += 1; }
            }
            let below: u64 = of_class.values().filter(|left| **left < 3).sum();
            let all: u64 = of_class.values().sum();
            if all == 0 { 0.0 } else { below as f64 / all as f64 }
        };
        let pairs: Vec<Vec<u32>> = known_sites.iter().flat_map(|one| known_sites.iter().filter(move |other| other > &one).map(move |other| vec![*one, *other])).collect();
        let ones: Vec<Vec<u32>> = known_sites.iter().map(|one| vec![*one]).collect();
        for (attack_, gone) in [(Attack::OneSite, ones), (Attack::TwoSites, pairs)] {
            let most = gone.iter().map(|gone| left(gone)).fold(0.0, f64::max);
            let found = attack(attack_, &subject, &Known::default(), &Limits::default());
            if let Some(found) = found.measured {
                prop_assert!((found.share - most).abs() < 1e-12, "{} {:?}", most, found);
            }
        }
    }

    #[test]
    fn what_two_releases_leave(one in proptest::collection::vec((0..4u32, 0..4u32, 0..3u32), 3..40)) {
        // Ages and zips by tens and ones: a release by ages, one by zips; nothing overlaps.
        let people: Vec<Person> = one.iter().map(|(age, zip, disease)| (age * 10, *zip, *disease)).collect();
        let ages: Vec<Row> = people.iter().map(|one| (cell(one.0, one.0 + 9), cell(0, 9), one.2, 0)).collect();
        let zips: Vec<Row> = people.iter().map(|one| (cell(0, 99), cell(one.1, one.1), one.2, 0)).collect();
        let (ages, zips) = (published(&ages), published(&zips));
        let mut known = known(&[&people], &[]);
        known.earlier = vec![Subject::new(&zips, 3)];
        let found = tried(Attack::TwoReleases, &ages, &known);
        let same = |one: &Person| people.iter().filter(|other| (other.0, other.1) == (one.0, one.1)).count();
        let few = people.iter().filter(|one| same(one) < 3).count();
        prop_assert_eq!(at_risk(&found), few as u64);
    }

    #[test]
    fn who_came(before in proptest::collection::vec((0..5u32, 0..3u32), 1..40), came in proptest::collection::vec((0..5u32, 0..3u32), 1..10)) {
        let row = |(place, disease): &(u32, u32)| (cell(place * 10, place * 10 + 9), cell(0, 9), *disease, 0);
        // Places that nobody was in before are places of their own.
        let earlier = published(&before.iter().map(row).collect::<Vec<Row>>());
        let now = published(&before.iter().chain(&came).map(row).collect::<Vec<Row>>());
        let known = Known { earlier: vec![Subject::new(&earlier, 3)], ..Known::default() };
        let found = tried(Attack::Newcomers, &now, &known);
        let told = came.iter().filter(|one| came.iter().all(|other| other.0 != one.0 || other.1 == one.1)).count();
        prop_assert_eq!(at_risk(&found), told as u64);
        prop_assert_eq!(found.measured.unwrap().of, came.len() as u64);
    }
}

/// A table of three combinations that stand for four thousand million people, and the release of it: every
/// attack ends at once, and counts people.
#[test]
fn billions_are_attacked_as_a_few_rows() {
    let rows: Vec<Row> = [(0, 49, 0), (0, 49, 1), (50, 99, 1)]
        .iter()
        .map(|(least, greatest, disease)| (cell(*least, *greatest), cell(0, 9), *disease, 0))
        .collect();
    let counts = vec![1_000_000_000, 500_000_000, 2_500_000_000];
    let release = in_this_order(&rows).with_counts(Some(counts.clone()));
    let people = tables(&[&[(20, 3, 0), (30, 4, 1), (60, 5, 1)]]).remove(0);
    let columns = (0..4).map(|place| people.column(place).clone());
    let table = Table::counted(schema(), columns.collect(), counts).unwrap();
    let brought = |table: &Table| Some(Rows::of(std::slice::from_ref(table)));
    let known = Known {
        own: brought(&table),
        holdout: brought(&table),
        earlier: vec![Subject::new(&release, 3)],
    };
    let found = attack_all(&Subject::new(&release, 3), &known, &Limits::default());
    let of = |one: Attack| found.iter().find(|finding| finding.attack == one).unwrap();
    let certain = of(Attack::Certain).measured.as_ref().unwrap();
    assert_eq!(
        (certain.at_risk, certain.of),
        (2_500_000_000, 4_000_000_000)
    );
    let covering = of(Attack::Covering).measured.as_ref().unwrap();
    assert_eq!(
        (covering.at_risk, covering.of),
        (4_000_000_000, 4_000_000_000)
    );
}
