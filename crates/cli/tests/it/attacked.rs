//! A good release passes every attack; the same release broken in one way fails, by the attack that is named.
//!
//! The people: nearly every one has an age and a pay that nobody else has; diseases, wards, costs and sites are spread
//! evenly. The good release has eight boxes that tile all ages and pays. A break changes the people, how they
//! are written, the order of rows, or what somebody has beside the release.

use std::collections::BTreeSet;
use std::path::Path;

use hedgerow_testing::{integer, values};
use serde_json::Value;

use super::{StudyText, hedgerow, json};

/// People in the table; as many others are not.
const PEOPLE: u32 = 9_000;
const PAYS: u32 = 100_000;
const DISEASES: [&str; 3] = ["flu", "ulcer", "asthma"];
const WARDS: [&str; 4] = ["n", "e", "s", "w"];
const SITES: [&str; 3] = ["a", "b", "c"];

/// A number as if drawn at random (the mix of splitmix64).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[derive(Clone)]
struct Person {
    age: u32,
    pay: u32,
    disease: usize,
    ward: usize,
    cost: u32,
    site: usize,
    /// How age and pay are written.
    cells: [String; 2],
}

impl Person {
    /// Person by person: ages and pays as if at random.
    fn new(number: u32) -> Self {
        let place = mixed(u64::from(number)) % (100 * u64::from(PAYS));
        let place = place as u32;
        let mut person = Self {
            age: place / PAYS,
            pay: place % PAYS,
            disease: number as usize / 3 % 3,
            ward: number as usize / 9 % 4,
            cost: number / 36 % 4,
            site: number as usize % 3,
            cells: [String::new(), String::new()],
        };
        let (band, half) = (person.band(), person.half());
        person.write(
            [band * 25, band * 25 + 24],
            [half * 50_000, half * 50_000 + 49_999],
        );
        person
    }

    /// The box of the good release: which of four ages, which of two pays.
    const fn band(&self) -> u32 {
        self.age / 25
    }

    const fn half(&self) -> u32 {
        self.pay / 50_000
    }

    fn write(&mut self, age: [u32; 2], pay: [u32; 2]) {
        let cell = |[least, greatest]: [u32; 2]| match least == greatest {
            true => least.to_string(),
            false => format!("[{least}-{greatest}]"),
        };
        self.cells = [cell(age), cell(pay)];
    }

    /// Sensitive values, cost and site, as every table has them.
    fn rest(&self) -> String {
        let (disease, ward) = (DISEASES[self.disease], WARDS[self.ward]);
        format!("{disease},{ward},{},{}", self.cost, SITES[self.site])
    }

    /// The row of the table.
    fn row(&self) -> String {
        format!("{},{},{}\n", self.age, self.pay, self.rest())
    }

    /// The row of the release.
    fn published(&self) -> String {
        let [age, pay] = &self.cells;
        format!("{age},\"{pay}\",{}\n", self.rest())
    }
}

/// A release, what everybody has beside it, and what its study demands.
struct Case {
    require: String,
    people: Vec<Person>,
    strangers: Vec<Person>,
    /// The release of the same people before.
    earlier: Vec<Person>,
    /// Whether rows stand in the order of what is written.
    is_sorted: bool,
}

impl Case {
    fn good() -> Self {
        let people: Vec<Person> = (0..PEOPLE).map(Person::new).collect();
        Self {
            require: String::from("k = 6\nl = 2\nm = 1\nsensitive = \"both\""),
            earlier: people.clone(),
            people,
            strangers: (PEOPLE..2 * PEOPLE).map(Person::new).collect(),
            is_sorted: true,
        }
    }

    /// Changes the people of the table, before and now.
    fn change(mut self, change: impl Fn(usize, &mut Person)) -> Self {
        for all in [&mut self.people, &mut self.earlier] {
            all.iter_mut()
                .enumerate()
                .for_each(|(place, person)| change(place, person));
        }
        self
    }

    /// Groups of so many people of one age band with neighbouring pays.
    fn stretches(&mut self, size: usize, write: impl Fn(&mut [&mut Person])) {
        for all in [&mut self.people, &mut self.earlier] {
            all.sort_by_key(|person| (person.band(), person.pay));
            for band in all.chunk_by_mut(|one, other| one.band() == other.band()) {
                let whole = band.len() / size * size;
                let (groups, left) = band.split_at_mut(whole);
                for group in groups.chunks_exact_mut(size) {
                    write(&mut group.iter_mut().collect::<Vec<_>>());
                }
                // Too few for a group of their own: with those before them.
                if let Some(cells) = groups.last().map(|person| person.cells.clone()) {
                    left.iter_mut()
                        .for_each(|person| person.cells.clone_from(&cells));
                }
            }
        }
    }

    /// What the gate finds: the exit code, and its answer.
    fn attacked(&self) -> (i32, Value) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let study = StudyText::new("attacked")
            .quasi("age", integer(0..=99))
            .quasi("pay", integer(0..=i64::from(PAYS) - 1))
            .sensitive("disease", values(DISEASES))
            .sensitive("ward", values(WARDS))
            .other("cost", integer(0..=i64::from(PEOPLE)))
            .require(&self.require);
        std::fs::write(path.join("study.toml"), study.to_string()).unwrap();
        let write = |name: &str, rows: Vec<String>| {
            let text = format!("age,pay,disease,ward,cost,site\n{}", rows.concat());
            std::fs::write(path.join(name), text).unwrap();
        };
        let released = |people: &[Person]| {
            let mut rows: Vec<String> = people.iter().map(Person::published).collect();
            if self.is_sorted {
                // Rows that are written alike keep an order that says nothing of sites.
                rows.sort_by_key(|row| row.rsplit_once(',').unwrap().0.to_owned());
            }
            rows
        };
        write("release.csv", released(&self.people));
        write("earlier.csv", released(&self.earlier));
        write(
            "others.csv",
            self.strangers.iter().map(Person::row).collect(),
        );
        for (place, site) in SITES.iter().enumerate() {
            let own = self.people.iter().filter(|person| person.site == place);
            write(&format!("{site}.csv"), own.map(Person::row).collect());
        }
        gate(path)
    }
}

fn gate(path: &Path) -> (i32, Value) {
    let line = "gate release.csv --study study.toml --own a.csv --own b.csv --own c.csv --holdout others.csv --earlier earlier.csv --provider-column site --json";
    let done = hedgerow(path, &line.split(' ').collect::<Vec<_>>());
    assert!(done.code < 2, "{}", done.stderr);
    (done.code, json(&done))
}

/// The attacks that ended so.
fn ended(found: &Value, verdict: &str) -> Vec<String> {
    let attacks = found["attacks"].as_array().unwrap().iter();
    let ended = attacks.filter(|one| one["verdict"] == verdict);
    ended
        .map(|one| one["attack"].as_str().unwrap().to_owned())
        .collect()
}

/// The release falls, by this attack, and what helps is said.
fn assert_falls(attack: &str, case: &Case) {
    let (code, found) = case.attacked();
    let falls = ended(&found, "falls");
    assert_eq!(code, 1, "{attack}: {found}");
    assert!(
        falls.iter().any(|one| one == attack),
        "{attack}: {falls:?} {found}"
    );
    let mut attacks = found["attacks"].as_array().unwrap().iter();
    let finding = attacks.find(|one| one["attack"] == attack).unwrap();
    assert!(
        finding["helps"]
            .as_str()
            .is_some_and(|words| !words.is_empty()),
        "{finding}"
    );
}

/// The release falls by this attack and by no other.
fn assert_falls_alone(attack: &str, case: &Case) {
    assert_falls(attack, case);
    let (_, found) = case.attacked();
    assert_eq!(ended(&found, "falls"), [attack]);
}

#[test]
fn a_good_release_passes_every_attack() {
    let (code, found) = Case::good().attacked();
    assert_eq!(ended(&found, "falls"), [""; 0], "{found}");
    assert_eq!(ended(&found, "cannot_tell"), [""; 0], "{found}");
    assert_eq!(ended(&found, "not_tried"), [""; 0], "{found}");
    assert_eq!(code, 0);
    assert_eq!(found["holds"], true);
}

#[test]
fn rows_in_the_order_of_a_run_fall() {
    // Two boxes of the run are written alike, and their rows stand where the run left them.
    let mut case = Case::good().change(|_, person| {
        let wide = if person.band() < 2 { [0, 49] } else { [50, 99] };
        let half = person.half();
        person.write(wide, [half * 50_000, half * 50_000 + 49_999]);
    });
    case.people
        .sort_by_key(|person| (person.band(), person.half()));
    case.is_sorted = false;
    assert_falls("order", &case);
}

#[test]
fn rows_that_stand_site_by_site_fall() {
    let mut case = Case::good();
    case.people.sort_by_key(|person| person.site);
    assert_falls_alone("owner", &case);
}

#[test]
fn a_class_of_one_disease_falls() {
    let case = Case::good().change(|_, person| {
        if (person.band(), person.half()) == (1, 1) {
            person.disease = 0;
        }
    });
    assert_falls("certain", &case);
}

#[test]
fn a_class_of_nearly_one_disease_falls() {
    let case = Case::good().change(|place, person| {
        if person.band() == 1 && place % 20 != 0 {
            person.disease = 0;
        }
    });
    assert_falls("skew", &case);
    assert!(!ended(&case.attacked().1, "falls").contains(&String::from("certain")));
}

#[test]
fn a_product_that_hides_one_disease_falls() {
    let mut case = Case::good().change(|_, person| {
        if (person.band(), person.half()) == (2, 0) {
            person.disease = 1;
        }
    });
    case.require = case.require.replace("\"both\"", "\"product\"");
    assert_falls("product", &case);
}

#[test]
fn costs_of_one_person_each_fall() {
    let case = Case::good().change(|place, person| person.cost = place as u32);
    assert_falls_alone("other", &case);
}

/// Pays as a set, each named once.
fn set_of(pays: impl Iterator<Item = u32>) -> String {
    let pays: BTreeSet<u32> = pays.collect();
    let pays: Vec<String> = pays.iter().map(u32::to_string).collect();
    format!("{{{}}}", pays.join("|"))
}

#[test]
fn sets_of_what_occurs_fall_by_membership() {
    let mut case = Case::good();
    case.stretches(9, |group| {
        let pays = set_of(group.iter().map(|person| person.pay));
        group
            .iter_mut()
            .for_each(|person| person.cells[1].clone_from(&pays));
    });
    assert_falls("membership", &case);
}

#[test]
fn tight_ranges_fall_by_membership() {
    let mut case = Case::good();
    case.stretches(9, |group| {
        let least = |of: fn(&Person) -> u32| group.iter().map(|person| of(person)).min().unwrap();
        let greatest =
            |of: fn(&Person) -> u32| group.iter().map(|person| of(person)).max().unwrap();
        let ages = [least(|person| person.age), greatest(|person| person.age)];
        let pays = [least(|person| person.pay), greatest(|person| person.pay)];
        group.iter_mut().for_each(|person| person.write(ages, pays));
    });
    assert_falls("membership", &case);
}

#[test]
fn rare_pays_that_are_written_exactly_fall() {
    let mut case = Case::good();
    for all in [&mut case.people, &mut case.earlier] {
        all.sort_by_key(|person| (person.band(), person.pay));
        for band in all.chunk_by_mut(|one, other| one.band() == other.band()) {
            let last = band.len() - 12;
            for part in [0..12, last..last + 12] {
                for group in band[part].chunks_exact_mut(6) {
                    let pays = set_of(group.iter().map(|person| person.pay));
                    group
                        .iter_mut()
                        .for_each(|person| person.cells[1].clone_from(&pays));
                }
            }
        }
    }
    assert_falls("ends", &case);
}

#[test]
fn a_class_that_is_nearly_one_site_s_falls() {
    // Four people of the class are not of the first site, and k is six.
    let mut others = 0;
    let mut case = Case::good();
    for person in &mut case.people {
        if (person.band(), person.half()) == (0, 0) {
            others += u32::from(person.site != 0);
            person.site = if others <= 4 { person.site } else { 0 };
        }
    }
    assert_falls("below_k_without_one_site", &case);
}

#[test]
fn a_class_that_is_nearly_two_sites_falls_where_two_may_collude() {
    let mut third = 0;
    let mut case = Case::good();
    case.require = case.require.replace("m = 1", "m = 2");
    for person in &mut case.people {
        if (person.band(), person.half()) == (0, 0) && person.site == 2 {
            third += 1;
            person.site = if third <= 4 { 2 } else { third as usize % 2 };
        }
    }
    assert_falls("below_k_without_two_sites", &case);
}

#[test]
fn two_releases_that_cut_each_other_fall() {
    let mut case = Case::good();
    for person in &mut case.people {
        let pay = person.pay / 1_000 * 1_000;
        person.write([0, 99], [pay, pay + 999]);
    }
    for person in &mut case.earlier {
        person.write([person.age, person.age], [0, PAYS - 1]);
    }
    assert_falls("two_releases", &case);
}

#[test]
fn one_newcomer_falls() {
    let mut case = Case::good();
    case.earlier.pop();
    assert_falls_alone("newcomers", &case);
}

#[test]
fn a_row_of_its_own_falls() {
    let mut case = Case::good().change(|place, person| {
        if place < 3 {
            person.write([0, 99], [0, PAYS - 1]);
        }
    });
    case.require = case.require.replace("m = 1", "m = 0");
    assert_falls("printed", &case);
}

#[test]
fn a_cell_that_stands_for_less_than_is_written_falls() {
    // The old are written as any age, and all the young are in classes of their own.
    let case = Case::good().change(|_, person| {
        if person.band() > 0 {
            let half = person.half();
            person.write([0, 99], [half * 50_000, half * 50_000 + 49_999]);
        }
    });
    assert_falls("downcoding", &case);
}

#[test]
fn diseases_that_go_with_ages_in_the_table_alone_fall() {
    // Sixty in a hundred of an age band have one disease.
    let case = Case::good().change(|place, person| {
        if place % 10 < 5 {
            person.disease = person.band() as usize % 3;
        }
    });
    assert_falls("bayes", &case);
}
