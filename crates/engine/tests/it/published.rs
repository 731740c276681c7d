//! Runs as JX08 prints them: local anonymized data sets, and the loss of privacy on the transcript.

use std::collections::BTreeMap;

use hedgerow::smc::exposure::LossOfPrivacy;
use hedgerow::{Options, Simulation, Sites, Study, Table, anonymize, simulate};
use proptest::prelude::*;

/// Age, sex, disease, and the site that has the record.
type Row = (u32, u32, u32, u32);

/// A study at the published level with these lines in its algorithm: classes are written as ranges of
/// what occurs, and widths are those of the data, as JX08 has it.
fn study(keys: &str) -> Study {
    let text = format!(
        r#"[study]
name = "patients"
partition = "horizontal"
security = "published"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
[[attribute]]
name = "sex"
role = "quasi"
values = ["0", "1"]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["0", "1", "2"]
[require]
k = 3
m = 0
[algorithm]
recode = "range"
widths = "data"
{keys}
"#
    );
    Study::parse(text, ".").unwrap()
}

/// Runs sites that a column names, from a file.
fn run(study: &Study, rows: &[Row], options: &Options) -> Simulation {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("pooled.csv");
    let lines = rows
        .iter()
        .map(|(age, sex, disease, site)| format!("{age},{sex},{disease},{site}\n"));
    let text = lines.fold(String::from("age,sex,disease,site\n"), |text, line| {
        text + &line
    });
    std::fs::write(&table, text).unwrap();
    let sites = Sites::Named {
        table: Table::file(&table),
        column: String::from("site"),
    };
    simulate(study, &sites, options).unwrap()
}

/// Rows of skewed sites: the first has most.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (0u32..100, 0u32..2, 0u32..3, 0u32..6);
    prop::collection::vec(row, 12..80).prop_map(|mut rows| {
        for row in &mut rows {
            row.3 = row.3.saturating_sub(3);
        }
        // Every site appears, in order.
        for (site, row) in rows.iter_mut().take(3).enumerate() {
            row.3 = site as u32;
        }
        rows
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Each raw row lies in exactly one class of a release with strict medians, so what a site's local
    /// data set must be is counted from the site's raw rows and the classes of the release alone.
    #[test]
    fn a_local_data_set_is_the_site_s_own_rows_as_the_release_writes_them(rows in rows()) {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        let simulation = run(&study("medians = \"strict\""), &rows, &Options::new().local(&own));
        prop_assert_eq!(simulation.local.len(), 3);
        let release = simulation.outcome.release.path().join("release.csv");
        let release = std::fs::read_to_string(release).unwrap();
        let mut together: Vec<String> = Vec::new();
        for (site, local) in simulation.local.iter().enumerate() {
            let mut expected: BTreeMap<(String, u32), usize> = BTreeMap::new();
            for (age, sex, disease, _) in rows.iter().filter(|row| row.3 == site as u32) {
                let mut classes: Vec<&str> = release
                    .lines()
                    .skip(1)
                    .map(|line| line.rsplit_once(',').unwrap().0)
                    .filter(|class| covers(class, *age, *sex))
                    .collect();
                classes.dedup();
                prop_assert_eq!(classes.len(), 1, "{}, {} in {:?}", age, sex, classes);
                *expected.entry((classes[0].to_owned(), *disease)).or_default() += 1;
            }
            let text = std::fs::read_to_string(own.join(format!("site-{site}.csv"))).unwrap();
            prop_assert_eq!(text.lines().next(), release.lines().next());
            let mut found: BTreeMap<(String, u32), usize> = BTreeMap::new();
            for line in text.lines().skip(1) {
                let (class, disease) = line.rsplit_once(',').unwrap();
                *found.entry((class.to_owned(), disease.parse().unwrap())).or_default() += 1;
            }
            prop_assert_eq!(&found, &expected, "site {}", site);
            prop_assert_eq!(local.rows(), expected.values().sum::<usize>());
            together.extend(text.lines().skip(1).map(str::to_owned));
        }
        together.sort();
        let mut released: Vec<String> = release.lines().skip(1).map(str::to_owned).collect();
        released.sort();
        prop_assert_eq!(together, released);
    }
}

/// Whether a generalized age and sex contain these.
fn covers(class: &str, age: u32, sex: u32) -> bool {
    let (ages, sexes) = class.split_once(',').unwrap();
    let contains = |text: &str, value: u32| match text.trim_matches(['[', ']']).split_once('-') {
        Some((low, high)) => (low.parse().unwrap()..=high.parse().unwrap()).contains(&value),
        None => text == "*" || text.parse() == Ok(value),
    };
    contains(ages, age) && contains(sexes, sex)
}

fn loss(keys: &str, rows: &[Row], seed: u64) -> LossOfPrivacy {
    let simulation = run(&study(keys), rows, &Options::new().seed(seed));
    let folder = simulation.outcome.release.path().to_owned();
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let summary = simulation.outcome.summary;
    let loss = summary.loss_of_privacy.clone().unwrap();
    // What is said is said everywhere.
    assert!(
        summary
            .to_string()
            .contains("extremes: LoP of the worst lap")
    );
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(
        manifest["loss_of_privacy"],
        serde_json::to_value(&loss).unwrap()
    );
    let page = std::fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("What passed along the ring"));
    loss
}

fn spread() -> Vec<Row> {
    (0..240u32)
        .map(|row| ((row * 37) % 100, row % 2, row % 3, row % 4))
        .collect()
}

#[test]
fn a_lap_without_random_values_gives_values_away_and_random_values_hide_them() {
    let rows = spread();
    // One lap, in which every site puts in its own value: the starter's is known to the next.
    let bare = loss("laps = 1", &rows, 1).extremes.unwrap();
    assert_eq!(bare.by_lap.len(), 1);
    assert!(bare.worst > 0.05, "{bare:?}");
    let hidden = loss("laps = 8", &rows, 1).extremes.unwrap();
    assert_eq!(hidden.by_lap.len(), 8);
    assert!(hidden.worst < bare.worst / 2.0, "{hidden:?}, {bare:?}");
    // No randomness in eight laps is as bad as in one.
    let bare_again = loss("laps = 8\np0 = 0", &rows, 1).extremes.unwrap();
    assert!(bare_again.worst >= bare.worst * 0.9, "{bare_again:?}");
}

/// JX08 Algorithm 1, lines 8 and 14: a part is split if its size is above 2K.
#[test]
fn a_class_of_twice_k_stays_whole_as_printed() {
    let rows =
        |records: u32| -> Vec<Row> { (0..records).map(|row| (row, 0, 0, row % 3)).collect() };
    let classes = |keys: &str, records: u32| {
        let simulation = run(&study(keys), &rows(records), &Options::new());
        simulation.outcome.summary.classes
    };
    assert_eq!(classes("medians = \"relaxed\"", 6), 1);
    assert_eq!(classes("medians = \"relaxed\"", 7), 2);
}

#[test]
fn a_seed_gives_the_same_transcript_and_another_seed_another() {
    let rows = spread();
    assert_eq!(loss("", &rows, 5), loss("", &rows, 5));
    assert_ne!(loss("", &rows, 5), loss("", &rows, 6));
}

#[test]
fn a_hardened_run_has_no_ring_to_lose_anything_on() {
    let study = super::study("k = 3\nm = 0");
    let rows: Vec<Row> = spread();
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("pooled.csv");
    let names = [["f", "m"].as_slice(), &["asthma", "flu", "ulcer"]];
    let lines = rows.iter().map(|(age, sex, disease, _)| {
        let (sex, disease) = (names[0][*sex as usize], names[1][*disease as usize]);
        format!("{age},{sex},{disease}\n")
    });
    let text = lines.fold(String::from("age,sex,disease\n"), |text, line| text + &line);
    std::fs::write(&table, text).unwrap();
    let sites = Sites::dealt(Table::file(&table), 4);
    let simulation = simulate(&study, &sites, &Options::new()).unwrap();
    assert_eq!(simulation.outcome.summary.loss_of_privacy, None);
    let records: usize = simulation
        .local
        .iter()
        .map(hedgerow::data::Release::rows)
        .sum();
    assert_eq!(records, rows.len());
}

#[test]
fn local_data_sets_never_lie_in_the_release() {
    let folder = tempfile::tempdir().unwrap();
    let (release, study) = (folder.path().join("release"), study(""));
    let table = Table::file(folder.path().join("none.csv"));
    let sites = Sites::dealt(table, 3);
    let refused = |local: &std::path::Path| {
        let options = Options::new().out(&release).local(local);
        simulate(&study, &sites, &options).unwrap_err().to_string()
    };
    for inside in [release.clone(), release.join("own")] {
        let error = refused(&inside);
        assert!(error.contains("say whose records are whose"), "{error}");
    }
    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("notes.txt"), "").unwrap();
    let error = refused(&other);
    assert!(error.contains("holds `notes.txt`"), "{error}");
}

/// One party that knows whose each record is weighs cuts as the sites do, also where opened entropies of
/// sites decide: JX09 figure 3, where the hardened level has two classes.
#[test]
fn one_party_weighs_cuts_as_sites_do() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("points.csv");
    let points = "x,y,disease,site\n0,3,a,0\n1,0,b,0\n1,3,a,1\n2,1,b,0\n3,2,a,0\n4,2,b,0\n5,0,a,1\n5,3,b,1\n6,2,a,1\n";
    std::fs::write(&table, points).unwrap();
    for (security, classes) in [("published", 3), ("hardened", 2)] {
        let text = format!(
            "[study]\nname = \"points\"\npartition = \"horizontal\"\nsecurity = \"{security}\"\n\
             [[attribute]]\nname = \"x\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 6]\n\
             [[attribute]]\nname = \"y\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 3]\n\
             [[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"a\", \"b\"]\n\
             [require]\nk = 2\nsite_diversity = 2\n[algorithm]\nrecode = \"range\"\n"
        );
        let study = Study::parse(text, ".").unwrap();
        let named = || Table::file(&table);
        let options = Options::new().provider_column("site");
        let alone = anonymize(&study, &named(), &options).unwrap().summary;
        let column = String::from("site");
        let sites = Sites::Named {
            table: named(),
            column,
        };
        let together = simulate(&study, &sites, &Options::new()).unwrap();
        let together = together.outcome.summary;
        assert_eq!(
            (alone.classes, together.classes),
            (classes, classes),
            "{security}"
        );
        assert!(alone.holds && together.holds);
    }
}
