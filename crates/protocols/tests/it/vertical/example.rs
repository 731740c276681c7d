//! The running example of D2PT, table by table.

use hedgerow_data::Study;
use hedgerow_protocols::vertical::d2pt::{Compared, Datafly, Suppression, Synchronizer};
use hedgerow_smc::Settings;

use super::people::{How, Part, People, alone, printed, study};
use crate::runs::requirement;

/// Figure 1, with values that nobody in the table has beside those that somebody has.
const ZIP: &str = "12345;1234*;123**;*\n12346;1234*;123**;*\n12361;1236*;123**;*\n\
                   12362;1236*;123**;*\n12363;1236*;123**;*\n12471;1247*;124**;*\n\
                   12473;1247*;124**;*\n12481;1248*;124**;*\n";
const AGE: &str = "23;[20-29];[20-39];*\n29;[20-29];[20-39];*\n35;[30-39];[20-39];*\n\
                   41;[40-49];[40-59];*\n43;[40-49];[40-59];*\n52;[50-59];[40-59];*\n\
                   55;[50-59];[40-59];*\n59;[50-59];[40-59];*\n";
/// Table 1a.
const PEOPLE: [[&str; 5]; 7] = [
    ["1", "12345", "23", "Gastric ulcer", "Antacid"],
    ["2", "12345", "29", "Gastritis", "Acid-reducing drug"],
    ["3", "12363", "41", "Flu", "Antipyretic drug"],
    ["4", "12361", "43", "Stomach cancer", "Cytostatic drug"],
    ["5", "12362", "59", "Pneumonia", "Antibiotics"],
    ["6", "12471", "52", "Bronchitis", "Antibiotics"],
    ["7", "12473", "55", "Flu", "Antipyretic drug"],
];

fn example() -> Study {
    let values = |column: usize| {
        let mut values: Vec<String> = PEOPLE
            .iter()
            .map(|row| format!("{:?}", row[column]))
            .collect();
        values.sort();
        values.dedup();
        values.join(", ")
    };
    let text = format!(
        "[[attribute]]\nname = \"zip\"\nrole = \"quasi\"\ntaxonomy = \"zip.csv\"\n\
         [[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntaxonomy = \"age.csv\"\n\
         [[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [{}]\n\
         [[attribute]]\nname = \"treatment\"\nrole = \"sensitive\"\nvalues = [{}]\n",
        values(3),
        values(4)
    );
    study(&text, &[("zip.csv", ZIP), ("age.csv", AGE)])
}

fn people(columns: &[Vec<&str>]) -> People {
    let study = example();
    let attributes = &study.schema.attributes()[1..];
    let coded: Vec<(String, Vec<u32>)> = PEOPLE
        .iter()
        .map(|row| {
            let codes = attributes.iter().zip(&row[1..]);
            let codes = codes.map(|(one, value)| one.domain.encode(value.as_bytes()).unwrap());
            (row[0].to_owned(), codes.collect())
        })
        .collect();
    People::new(&study, columns, &coded, |site| {
        let mut places: Vec<usize> = (0..coded.len()).collect();
        places.rotate_left(2 * site);
        places
    })
}

fn two_sites() -> People {
    people(&[vec!["zip", "disease"], vec!["age", "treatment"]])
}

fn run(people: &People, synchronizer: Synchronizer) -> Vec<Part> {
    let demand = requirement("k = 2", &people.schema);
    let how = How {
        requirement: &demand,
        anonymizer: &Datafly,
        synchronizer,
        suppression: Suppression::NONE,
        restore: false,
    };
    let parts = if people.tables.len() == 1 {
        vec![alone(people, how).unwrap()]
    } else {
        people.together(how, Settings::hardened()).unwrap()
    };
    people.check(&parts, how);
    parts
}

fn groups(people: &People, parts: &[Part]) -> Vec<String> {
    let groups = people.groups(&parts[0]).into_iter();
    groups.map(|group| group.concat()).collect()
}

/// Table 1b, by the centralized run. The paper stops at (123**, decades), where person 5 is still
/// alone with (123**, [50-59]): one step with age is left.
#[test]
fn datafly_takes_the_paths_of_the_paper() {
    let people = people(&[vec!["zip", "age", "disease", "treatment"]]);
    let parts = run(&people, Synchronizer::Merge);
    assert_eq!(parts[0].joint.levels, [2, 2]);
    assert_eq!(groups(&people, &parts), ["12", "345", "67"]);
}

/// Table 3: first 1234* and decades, at last everything.
#[test]
fn identity_ends_with_everything_generalized() {
    let people = two_sites();
    let parts = run(&people, Synchronizer::Identity);
    assert_eq!(parts[0].joint.synchronizations, 3);
    assert!(!parts[0].joint.same_at_first);
    assert_eq!(groups(&people, &parts), ["1234567"]);
    let printed = printed(&people.schema, &parts[0].joint.fragments);
    assert_eq!(printed[0].0, ["*", "*"]);
}

/// Table 4: persons 1 and 2 are set aside at first, the others need two steps more. A site whose
/// records are one class already goes no further.
#[test]
fn fork_sets_two_people_aside() {
    let people = two_sites();
    let parts = run(&people, Synchronizer::Fork);
    assert_eq!(parts[0].joint.synchronizations, 3);
    // {1, 2} is set aside at once; after two steps more the other five are one class at both sites.
    let attempts = parts[0].joint.attempts.iter();
    let attempts: Vec<_> = attempts.map(|one| (one.aside, one.outcome)).collect();
    let expected = [
        (1, Compared::NotYet),
        (1, Compared::NotYet),
        (1, Compared::Groups),
    ];
    assert_eq!(attempts, expected);
    assert_eq!(groups(&people, &parts), ["12", "34567"]);
    let printed = printed(&people.schema, &parts[0].joint.fragments);
    let cells: Vec<&[String]> = printed.iter().map(|(cells, _)| cells.as_slice()).collect();
    assert_eq!(cells, [["*", "[40-59]"], ["1234*", "[20-29]"]]);
}

/// Table 5: one synchronization, and the three tables of the publication.
#[test]
fn merge_gives_the_publication_of_the_paper() {
    let people = two_sites();
    let parts = run(&people, Synchronizer::Merge);
    assert_eq!(parts[0].joint.synchronizations, 1);
    assert_eq!(groups(&people, &parts), ["12", "34567"]);
    let printed = printed(&people.schema, &parts[0].joint.fragments);
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    let expected = [
        (
            words(&["*", "[40-59]"]),
            vec![
                words(&["Bronchitis", "Flu", "Flu", "Pneumonia", "Stomach cancer"]),
                words(&[
                    "Antibiotics",
                    "Antibiotics",
                    "Antipyretic drug",
                    "Antipyretic drug",
                    "Cytostatic drug",
                ]),
            ],
        ),
        (
            words(&["1234*", "[20-29]"]),
            vec![
                words(&["Gastric ulcer", "Gastritis"]),
                words(&["Acid-reducing drug", "Antacid"]),
            ],
        ),
    ];
    assert_eq!(printed, expected);
}

/// Table 2: the cut of the first classes leaves person 5 alone; that of the second does not.
#[test]
fn dpp2ga_cuts_what_has_k_records() {
    let people = two_sites();
    let parts = run(&people, Synchronizer::Dpp2ga);
    assert_eq!(parts[0].joint.synchronizations, 2);
    assert_eq!(groups(&people, &parts), ["12", "345", "67"]);
    let printed = printed(&people.schema, &parts[0].joint.fragments);
    let cells: Vec<&[String]> = printed.iter().map(|(cells, _)| cells.as_slice()).collect();
    assert_eq!(
        cells,
        [
            ["123**", "[20-39]"],
            ["123**", "[40-59]"],
            ["124**", "[40-59]"]
        ]
    );
}
