//! The attacks that sites of a run count together: a joint count finds what the attack finds that has the rows of all
//! sites, for one party and for several, with sites of very different sizes.

use std::path::Path;

use hedgerow::attacks::Finding;
use hedgerow::{
    Error, Options, Release, Sites, Study, Suspicion, Table, TriedAttack, anonymize, gate, simulate,
};
use proptest::prelude::*;

/// Age, zip, disease.
type Person = (u32, u32, u32);

/// A study of two quasi-identifiers; classes do not overlap, so that whoever has all rows knows whose class is which.
fn study(gate: &str, cuts: &str) -> Study {
    let text = format!(
        r#"[study]
name = "patients"
partition = "horizontal"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
[[attribute]]
name = "zip"
role = "quasi"
type = "integer"
range = [0, 19]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["0", "1", "2"]
[require]
k = 4
m = 0
[algorithm]
recode = "range"
{cuts}
{gate}
"#
    );
    Study::parse(text, ".").unwrap()
}

const BOX: &str = "covers = \"box\"";
/// Every attack that sites count together, told and never refused.
const ALL: &str = "[gate]\nends = 1\nbelow_k_without_one_site = 1\nbelow_k_without_two_sites = 1\ntwo_releases = 1\nnewcomers = 1\n";

fn table(folder: &Path, name: &str, people: &[Person]) -> Table {
    let lines = people
        .iter()
        .map(|(age, zip, disease)| format!("{age},{zip},{disease}\n"));
    let text = format!("age,zip,disease\n{}", lines.collect::<String>());
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    Table::file(path)
}

/// People, few of whom are very old or very young.
fn people(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Person>> {
    let age = prop_oneof![30 => 20u32..70, 1 => 0u32..100];
    prop::collection::vec((age, 0u32..20, prop_oneof![Just(0u32), 0u32..3]), count)
}

/// Skewed sites: the first has most, and none has nobody.
fn dealt(people: &[Person], sites: usize, draws: &[usize]) -> Vec<Vec<Person>> {
    let mut of_sites = vec![Vec::new(); sites];
    for (place, person) in people.iter().enumerate() {
        let draw = draws[place % draws.len()];
        let site = if place < sites {
            place
        } else {
            (draw % (2 * sites)).saturating_sub(sites)
        };
        of_sites[site].push(*person);
    }
    of_sites
}

fn tried<'t>(told: &'t [TriedAttack], attack: &str) -> &'t TriedAttack {
    told.iter().find(|one| one.attack == attack).unwrap()
}

fn found<'f>(found: &'f [Finding], attack: &str) -> &'f Finding {
    found
        .iter()
        .find(|one| one.attack.name() == attack)
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn a_joint_count_finds_what_falls_of_all_rows(
        people in people(300..360),
        draws in prop::collection::vec(0usize..1_000, 40),
        sites in 2usize..6,
        came in people(1..12),
        tight in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        // An earlier release of the same people without those who came, cut otherwise.
        let before = folder.join("before");
        let earlier = study("", &format!("{BOX}\nmedians = \"relaxed\""));
        let options = Options::new().out(&before);
        anonymize(&earlier, &table(folder, "before.csv", &people), &options).unwrap();

        let mut all = people.clone();
        all.extend(&came);
        let of_sites = dealt(&all, sites, &draws);
        let tables: Vec<Table> = of_sites
            .iter()
            .enumerate()
            .map(|(site, people)| table(folder, &format!("{site}.csv"), people))
            .collect();
        // Ranges that are no wider than their class do not overlap either.
        let study = study(ALL, if tight { "" } else { BOX });
        let out = folder.join("release");
        let options = Options::new().out(&out).earlier(&before);
        let simulation = simulate(&study, &Sites::Tables(tables.clone()), &options).unwrap();
        let told = &simulation.outcome.summary.gate;

        let suspicion = Suspicion {
            own: tables,
            earlier: vec![before.clone()],
            ..Suspicion::default()
        };
        let release = Release::open(&out).unwrap().with_study(study.clone());
        let attacked = gate(&release, &suspicion).unwrap().attacks;
        for attack in ["ends", "below_k_without_one_site", "two_releases", "newcomers"] {
            let (told, found) = (tried(told, attack), found(&attacked, attack));
            match &found.measured {
                None => prop_assert_eq!(&told.verdict, "nothing", "{} {:?}", attack, found),
                Some(found) => {
                    let share = told.share.unwrap();
                    prop_assert!(
                        found.share <= share + 1e-12 && share < found.share + 1.1e-6,
                        "{attack}: {share} {found:?}"
                    );
                    let control = found.control.as_ref().map(|control| control.share);
                    prop_assert_eq!(told.control.is_some(), control.is_some());
                    if let (Some(told), Some(found)) = (told.control, control) {
                        prop_assert!((told - found).abs() < 1e-6, "{attack}: {told} {found}");
                    }
                }
            }
        }
        // What two sites get is told in steps.
        let told_of_two = tried(told, "below_k_without_two_sites");
        match (sites, told_of_two.share) {
            (2, share) => prop_assert_eq!(share, None),
            (_, share) => {
                let found = found(&attacked, "below_k_without_two_sites");
                let found = found.measured.as_ref().map_or(0.0, |found| found.share);
                let steps = [0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0];
                let least = steps.into_iter().find(|step| found <= *step);
                prop_assert_eq!(share, least, "{}", found);
            }
        }

        // One party that knows whose rows are whose finds the same, and what two sites get exactly.
        let text = std::iter::once(String::from("age,zip,disease,site\n")).chain(
            of_sites.iter().enumerate().flat_map(|(site, people)| {
                people
                    .iter()
                    .map(move |(age, zip, disease)| format!("{age},{zip},{disease},{site}\n"))
            }),
        );
        let pooled = folder.join("pooled.csv");
        std::fs::write(&pooled, text.collect::<String>()).unwrap();
        let options = options.out(folder.join("alone")).provider_column("site");
        let alone = anonymize(&study, &Table::file(pooled), &options).unwrap();
        for one in &alone.summary.gate {
            let jointly = tried(told, &one.attack);
            if one.attack != "below_k_without_two_sites" {
                prop_assert_eq!(one, jointly);
            } else if let (Some(one), Some(jointly)) = (one.share, jointly.share) {
                prop_assert!(one <= jointly);
            }
        }
    }
}

/// The reasons for which a run was held back.
fn held<T: std::fmt::Debug>(run: Result<T, Error>) -> String {
    match run.unwrap_err() {
        Error::HeldBack { reasons } => reasons.join("\n"),
        other => panic!("{other}"),
    }
}

#[test]
fn what_a_site_takes_away_is_held_back_without_m_and_passes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let people: Vec<Person> = (0..200).map(|one| (one % 100, one % 20, one % 3)).collect();
    let table = table(folder.path(), "people.csv", &people);
    let strict = |require: &str| {
        let text = study("[gate]\nbelow_k_without_one_site = 0\n", BOX);
        let text = text.declared().document().text().replace("m = 0", require);
        Study::parse(text, ".").unwrap()
    };
    let sites = Sites::dealt(table, 3);
    let out = folder.path().join("release");
    let options = Options::new().out(&out);
    let reason = held(simulate(&strict("m = 0"), &sites, &options));
    assert!(
        reason.starts_with("below_k_without_one_site: records of others, fewer than k = 4 left"),
        "{reason}"
    );
    assert!(reason.ends_with("hint: demand m = 1"), "{reason}");
    assert!(!out.exists());
    let outcome = simulate(&strict("m = 1"), &sites, &options)
        .unwrap()
        .outcome;
    assert_eq!(outcome.summary.gate[0].share, Some(0.0));
    let names: Vec<&str> = outcome
        .summary
        .ledger
        .iter()
        .map(|line| line.what.as_str())
        .collect();
    let own = "greatest share of others' records that one site gets below k, in millionths";
    assert!(names.contains(&own), "{names:?}");
}

#[test]
fn one_who_came_or_left_is_held_back_and_the_same_people_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let before: Vec<Person> = (0..240).map(|one| (one % 100, one % 20, one % 3)).collect();
    let strict = study("[gate]\nnewcomers = 0\n", BOX);
    let earlier = folder.path().join("before");
    let options = Options::new().out(&earlier);
    // Nothing was published before the first.
    let first = Sites::dealt(table(folder.path(), "before.csv", &before), 3);
    let outcome = simulate(&strict, &first, &options).unwrap().outcome;
    assert_eq!(outcome.summary.gate[0].verdict, "nothing");

    let again = |people: &[Person]| {
        let out = folder.path().join("after");
        let options = Options::new().out(&out).force(true).earlier(&earlier);
        let sites = Sites::dealt(table(folder.path(), "after.csv", people), 3);
        simulate(&strict, &sites, &options)
    };
    let one = [&before[..], &[(50, 10, 1)]].concat();
    let reason = held(again(&one));
    assert!(reason.starts_with("newcomers: newcomers whose"), "{reason}");
    // Somebody who left is the difference too.
    let reason = held(again(&before[1..]));
    assert!(
        reason.starts_with("newcomers: people who left whose"),
        "{reason}"
    );
    // The same people again.
    assert!(again(&before).is_ok());
    // A study whose gate looks at no earlier release takes none.
    let options = Options::new().earlier(&earlier);
    let other = study("[gate]\ncertain = 1\n", "");
    let error = simulate(&other, &first, &options).unwrap_err().to_string();
    assert!(
        error.contains("--earlier is for a study whose [gate]"),
        "{error}"
    );
}
