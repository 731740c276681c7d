//! What a site can do to the others with records that it invents: it puts them around whomever it
//! looks for, takes them out of the release again, and reads what is left. With `m = 1` nothing is.

use std::collections::BTreeMap;
use std::path::Path;

use hedgerow_testing::{StudyText, integer, values};

use super::{hedgerow, json};

const DIAGNOSES: [&str; 6] = ["flu", "asthma", "angina", "ulcer", "stroke", "anaemia"];
const K: usize = 10;
const TARGETS: usize = 20;

/// A record: age, zip, diagnosis, site.
type Record = (u32, u32, &'static str, &'static str);

/// Records of two honest sites, many of them alike and few of them rare; and of a third one, that
/// invents some with and some beside each of 20 people of the others whom it knows by age and zip, so
/// that every cut about them can be made.
fn people() -> (Vec<Record>, Vec<Record>) {
    let draw = |person: u64, what: u8, below: u64| {
        let hash = blake3::hash(&[&person.to_le_bytes()[..], &[what]].concat());
        let word = u64::from_le_bytes(hash.as_bytes()[..8].try_into().unwrap());
        word % below
    };
    // Skewed: most are young and from few places, and most have the flu.
    let skewed = |person: u64, what: u8, below: u64| {
        draw(person, what, below).min(draw(person, what + 100, below)) as u32
    };
    let mut records = Vec::new();
    for person in 0..600 {
        let diagnosis = DIAGNOSES[skewed(person, 3, 6) as usize];
        let site = ["north", "south"][(person % 2) as usize];
        records.push((
            skewed(person, 1, 100),
            skewed(person, 2, 100),
            diagnosis,
            site,
        ));
    }
    let is_alone = |record: &Record| {
        let mut same = records
            .iter()
            .filter(|one| (one.0, one.1) == (record.0, record.1));
        same.next().is_some() && same.next().is_none()
    };
    let targets: Vec<Record> = records
        .iter()
        .copied()
        .filter(is_alone)
        .step_by(7)
        .take(TARGETS)
        .collect();
    assert_eq!(targets.len(), TARGETS);
    for (age, zip, ..) in &targets {
        let beside = [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1)];
        let places =
            beside.map(|(to, on)| (age.checked_add_signed(to), zip.checked_add_signed(on)));
        for (age, zip) in places {
            for phantom in 0..12 {
                if let (Some(age @ ..100), Some(zip @ ..100)) = (age, zip) {
                    let diagnosis = DIAGNOSES[phantom % DIAGNOSES.len()];
                    records.push((age, zip, diagnosis, "east"));
                }
            }
        }
    }
    (records, targets)
}

fn write(folder: &Path, m: u32) {
    let (records, _) = people();
    let mut table = String::from("age,zip,diagnosis,site\n");
    for (age, zip, diagnosis, site) in records {
        table.push_str(&format!("{age},{zip},{diagnosis},{site}\n"));
    }
    std::fs::write(folder.join("pooled.csv"), table).unwrap();
    let study = StudyText::new("phantoms")
        .quasi("age", integer(0..=99))
        .quasi("zip", integer(0..=99))
        .sensitive("diagnosis", values(DIAGNOSES))
        .require(&format!("k = {K}\nl = 2\nm = {m}"))
        .algorithm("name = \"mondrian\"\nrecode = \"range\"");
    let study = ["north", "south", "east"]
        .into_iter()
        .fold(study, |study, site| study.site(site, ""));
    std::fs::write(folder.join("study.toml"), study.to_string()).unwrap();
}

/// Whether a cell of the release stands for a value.
fn covers(cell: &str, value: u32) -> bool {
    let Some((first, last)) = cell
        .trim_matches(['[', ']'])
        .split_once("..")
        .or_else(|| cell.trim_matches(['[', ']']).split_once('-'))
    else {
        return cell == "*" || cell.parse() == Ok(value);
    };
    (first.parse().unwrap()..=last.parse().unwrap()).contains(&value)
}

/// For how many of its targets the third site reads the diagnosis out of the release: where what is
/// left of a class without its own records is one record.
fn recovered(folder: &Path) -> usize {
    let release = std::fs::read_to_string(folder.join("release/release.csv")).unwrap();
    let rows: Vec<Vec<&str>> = release
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    let (records, targets) = people();
    let own = || records.iter().filter(|record| record.3 == "east");
    let read = |target: &&Record| {
        let is_of = |row: &&Vec<&str>| covers(row[0], target.0) && covers(row[1], target.1);
        let class: Vec<&Vec<&str>> = rows.iter().filter(is_of).collect();
        // The class as a reader tells it from others.
        let Some(cells) = class.first().map(|row| (row[0], row[1])) else {
            return false;
        };
        let mut left: BTreeMap<&str, i64> = BTreeMap::new();
        for row in rows.iter().filter(|row| (row[0], row[1]) == cells) {
            *left.entry(row[2]).or_default() += 1;
        }
        for record in own().filter(|one| covers(cells.0, one.0) && covers(cells.1, one.1)) {
            *left.entry(record.2).or_default() -= 1;
        }
        let all: i64 = left.values().sum();
        all == 1 && left.get(target.2) == Some(&1)
    };
    targets.iter().filter(read).count()
}

#[test]
fn records_around_a_person_show_a_diagnosis_unless_the_study_is_safe_from_one_site() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let publish = |m: u32| {
        write(path, m);
        let arguments = [
            "simulate",
            "--force",
            "--study",
            "study.toml",
            "--provider-column",
            "site",
            "pooled.csv",
        ];
        let done = hedgerow(path, &arguments);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let done = hedgerow(
            path,
            &["verify", "release", "--study", "study.toml", "--json"],
        );
        assert_eq!(json(&done)["holds"], true, "{}", done.stdout);
        recovered(path)
    };
    let found = publish(0);
    assert!(found >= TARGETS - 2, "{found} of {TARGETS}");
    assert_eq!(publish(1), 0);
}

/// Whether a study of three sites is safe from one of them is said, and not left out.
#[test]
fn three_sites_say_m() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write(path, 1);
    let study = std::fs::read_to_string(path.join("study.toml")).unwrap();
    let check = |text: &str| {
        std::fs::write(path.join("study.toml"), text).unwrap();
        hedgerow(path, &["study", "check", "study.toml"])
    };
    let done = check(&study.replace("m = 1\n", ""));
    let line = 1 + study.lines().position(|line| line == "[require]").unwrap();
    assert_eq!(done.code, 2);
    assert_eq!(
        done.stderr,
        format!(
            "error: study.toml:{line}: `require.m` is missing: three sites or more say from how many of them, who put what they know together, the others are safe\nhint: write m = 1, or m = 0 if no site has to be safe from another\n"
        )
    );
    assert_eq!(check(&study.replace("m = 1\n", "m = 0\n")).code, 0);
    assert_eq!(check(&study).code, 0);
    // Of two sites the other one is all there is, and a study without sites is not between any.
    let two = study
        .replace("m = 1\n", "")
        .replacen("[[site]]\nname = \"east\"\n", "", 1);
    assert_eq!(check(&two).code, 0);
    let none = two
        .replacen("[[site]]\nname = \"north\"\n", "", 1)
        .replacen("[[site]]\nname = \"south\"\n", "", 1);
    assert_eq!(check(&none).code, 0);
    let simulate = |sites: &str| {
        let table = std::fs::read_to_string(path.join("pooled.csv")).unwrap();
        let rows = table
            .lines()
            .map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0));
        std::fs::write(path.join("rows.csv"), rows.collect::<String>()).unwrap();
        let arguments = [
            "simulate",
            "--force",
            "--study",
            "study.toml",
            "--sites",
            sites,
            "rows.csv",
        ];
        let done = hedgerow(path, &arguments);
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stderr
            .contains("hint: a study that names three sites or more says m")
    };
    assert!(simulate("3"));
    assert!(!simulate("2"));
}
