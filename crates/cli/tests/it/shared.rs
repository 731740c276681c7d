//! Sites that hold the same people: `simulate`, `anonymize`, `verify` and `report` of vertical studies.

use std::path::Path;

use serde_json::Value;

use super::sites::{ok, read, refused};
use super::{hedgerow, json};

/// The example of linked patients, its sites without keys, changed by `change`.
pub(super) fn write_study(folder: &Path, change: impl Fn(&str) -> String) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/linked-patients");
    for name in ["zip.csv", "diagnosis.csv"] {
        std::fs::copy(examples.join(name), folder.join(name)).unwrap();
    }
    let study = std::fs::read_to_string(examples.join("study.toml")).unwrap();
    let lines = study.lines().filter(|line| !line.starts_with("key ="));
    let text: Vec<&str> = lines.collect();
    std::fs::write(folder.join("study.toml"), change(&text.join("\n"))).unwrap();
}

/// A line of the study instead of another.
pub(super) fn instead(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replacen(old, new, 1)
}

/// With another algorithm.
pub(super) fn algorithm(lines: &str) -> impl Fn(&str) -> String + use<> {
    let lines = lines.to_owned();
    move |text| {
        let (before, _) = text.split_once("[algorithm]").unwrap();
        format!("{before}[algorithm]\n{lines}\n")
    }
}

/// Everybody's columns in one table.
pub(super) fn write_people(folder: &Path, people: u64) {
    let draw = |person: u64, what: u8, below: usize| {
        let hash = blake3::hash(&[&person.to_le_bytes()[..], &[what]].concat());
        usize::from(hash.as_bytes()[0]) * below / 256
    };
    let zips = ["12345", "12347", "12361", "12362", "12471", "12473"];
    let diagnoses = [
        "asthma",
        "bronchitis",
        "pneumonia",
        "angina",
        "heart failure",
        "arrhythmia",
    ];
    let mut text = String::from("number,age,sex,zip,diagnosis,marker,method,tariff\n");
    for person in 0..people {
        text.push_str(&format!(
            "{person:05}-a,{},{},{},{},{},{},{}\n",
            20 + draw(person, 0, 60),
            ["female", "male"][draw(person, 1, 2)],
            zips[draw(person, 2, 6)],
            diagnoses[draw(person, 3, 6)],
            ["normal", "raised", "high"][draw(person, 4, 3)],
            ["blood", "urine"][draw(person, 5, 2)],
            ["basic", "full", "private"][draw(person, 6, 3)],
        ));
    }
    std::fs::write(folder.join("people.csv"), text).unwrap();
}

pub(super) const SIMULATE: &str = "simulate --force --study study.toml people.csv --out release";
pub(super) const VERIFY: &str = "verify release --study study.toml";

/// How often each value stands in a column of a table.
fn counts(text: &str, column: &str) -> std::collections::BTreeMap<String, usize> {
    let place = text
        .lines()
        .next()
        .unwrap()
        .split(',')
        .position(|name| name == column);
    let mut counts = std::collections::BTreeMap::new();
    for line in text.lines().skip(1) {
        let value = line.split(',').nth(place.unwrap()).unwrap();
        *counts.entry(value.to_owned()).or_default() += 1;
    }
    counts
}

/// Every table of the release has everybody, in the same groups, and each value as often as the
/// people have it.
fn assert_fragments(folder: &Path) {
    let people = read(folder, "people.csv");
    let quasi = read(folder, "release/quasi.csv");
    assert_eq!(quasi.lines().next(), Some("group,age,sex,zip"));
    for (name, file) in [
        ("diagnosis", "sensitive-diagnosis"),
        ("marker", "sensitive-marker"),
        ("tariff", "sensitive-tariff"),
        ("method", "other-method"),
    ] {
        let table = read(folder, &format!("release/{file}.csv"));
        assert_eq!(table.lines().next(), Some(format!("group,{name}").as_str()));
        assert_eq!(counts(&table, "group"), counts(&quasi, "group"));
        assert_eq!(counts(&table, name), counts(&people, name));
    }
    assert_eq!(
        std::fs::read_dir(folder.join("release")).unwrap().count(),
        9
    );
}

#[test]
fn the_example_runs_as_three_sites_and_as_one_party_and_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_study(folder, str::to_owned);
    write_people(folder, 200);
    let summary = ok(folder, &format!("{SIMULATE} --seed 3"));
    assert_eq!(summary["algorithm"], "d2pt");
    assert_eq!(
        (summary["records"].as_u64(), summary["sites"].as_u64()),
        (Some(200), Some(3))
    );
    assert_eq!(summary["synchronizations"], 1);
    assert!(summary["cost"]["rounds"].as_u64().unwrap() <= 20);
    assert!(summary["cost"]["wan_seconds"].as_f64().unwrap() > 0.0);
    let learned: Vec<&str> = summary["ledger"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["what"].as_str().unwrap())
        .collect();
    assert!(learned.contains(&"which of a site's records all sites hold"));
    assert_fragments(folder);
    let seen = ok(folder, VERIFY);
    assert_eq!(seen["holds"], true);
    assert_eq!(seen["classes"], summary["classes"]);
    assert_eq!(
        seen["models"]["t"]["attributes"].as_object().unwrap().len(),
        3
    );
    assert!(
        seen["utility"]["normalized_discernibility"]
            .as_f64()
            .unwrap()
            <= 1.0
    );
    // The same seed, the same release; another, other numbers of groups.
    let files = ["quasi.csv", "sensitive-marker.csv"];
    let first = files.map(|file| read(folder, &format!("release/{file}")));
    ok(folder, &format!("{SIMULATE} --seed 3"));
    assert_eq!(
        files.map(|file| read(folder, &format!("release/{file}"))),
        first
    );
    // The rules of [identity] hold in one table too.
    let one = ok(
        folder,
        "anonymize --force --study study.toml people.csv --out release",
    );
    assert_eq!(one["sites"], 1);
    assert_fragments(folder);
    assert_eq!(ok(folder, VERIFY)["holds"], true);
    let text = hedgerow(
        folder,
        &["simulate", "--force", "--study", "study.toml", "people.csv"],
    )
    .stdout;
    assert!(text.contains("200 records of 3 sites in "), "{text}");
    assert!(text.contains(" group"), "{text}");
    assert!(text.contains("between institutions"), "{text}");
}

#[test]
fn every_synchronizer_and_anonymizer_and_the_published_level_verify() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_people(folder, 150);
    for settings in [
        "synchronizer = \"fork\"",
        "synchronizer = \"identity\"",
        "synchronizer = \"dpp2ga\"",
        "anonymizer = \"optimal\"",
        "anonymizer = \"optimal\"\nrestore = true\nsuppression = 0.05",
    ] {
        write_study(folder, algorithm(settings));
        let summary = ok(folder, SIMULATE);
        assert_fragments(folder);
        let seen = ok(folder, VERIFY);
        assert_eq!(seen["holds"], true, "{settings}");
        assert_eq!(
            seen["utility"]["ncp"] == 0.0,
            settings.contains("restore"),
            "{settings}"
        );
        assert_eq!(seen["records"], summary["records"]);
        // The page does not say of original quasi-identifiers that they tell nobody apart.
        let page = read(folder, "release/report.html");
        let tells_apart = "whom the quasi-identifiers do not tell apart";
        assert_eq!(page.contains(tells_apart), !settings.contains("restore"));
        let text = hedgerow(folder, &["report", "release", "--study", "study.toml"]).stdout;
        let compared = ["clinic", "laboratory", "insurer"];
        let is_named =
            |site: &&str| text.contains(&format!("overlaps (450 values), to site {site}\n"));
        assert_eq!(
            compared.iter().filter(|site| is_named(site)).count(),
            1,
            "{text}"
        );
        let cuts = settings.contains("dpp2ga");
        assert!(!cuts || summary["classes"].as_u64().unwrap() > 1);
    }
    write_study(folder, |text| {
        instead(text, "partition =", "security = \"published\"\npartition =")
    });
    ok(folder, SIMULATE);
    assert_eq!(ok(folder, VERIFY)["holds"], true);
}

#[test]
fn the_same_people_are_clustered_into_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_people(folder, 120);
    write_study(folder, algorithm("name = \"clustering\""));
    let summary = ok(folder, SIMULATE);
    assert_eq!(summary["algorithm"], "clustering");
    let steps = summary["convergence"]["steps"].as_array().unwrap();
    assert!(
        steps
            .iter()
            .any(|step| step["step"] == "change" && step["change"].is_number())
    );
    let calls = summary["convergence"]["published_calls"].as_u64().unwrap();
    assert!(calls >= 120, "{calls}");
    // Only the first site knows by how much the loss changed: a release does not say it.
    let manifest: Value = serde_json::from_str(&read(folder, "release/manifest.json")).unwrap();
    assert!(manifest.get("convergence").is_none());
    let release = read(folder, "release/release.csv");
    assert_eq!(
        release.lines().next(),
        Some("age,sex,zip,diagnosis,marker,method,tariff")
    );
    for column in ["diagnosis", "marker", "method", "tariff"] {
        assert_eq!(
            counts(&release, column),
            counts(&read(folder, "people.csv"), column)
        );
    }
    assert_eq!(ok(folder, VERIFY)["holds"], true);
    ok(
        folder,
        "anonymize --force --study study.toml people.csv --out one",
    );
    assert_eq!(ok(folder, "verify one --study study.toml")["holds"], true);
}

#[test]
fn one_group_for_everybody_comes_with_what_else_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_people(folder, 150);
    let hint = "hint: everybody is in one group";
    let said = |by: &'static str| {
        write_study(folder, algorithm(by));
        let done = hedgerow(folder, &SIMULATE.split(' ').collect::<Vec<_>>());
        assert_eq!(done.code, 0, "{}", done.stderr);
        let is_one = done.stdout.contains(" in 1 group\n");
        assert_eq!(done.stdout.contains(hint), is_one, "{}", done.stdout);
        is_one
    };
    assert!(said("name = \"d2pt\"\nsynchronizer = \"identity\""));
    assert!(!said("name = \"d2pt\"\nsynchronizer = \"dpp2ga\""));
}

/// Ten people stand out at the clinic and at the insurer: both write them as `*`.
#[test]
fn whom_two_sites_suppress_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_study(folder, |text| {
        let (before, _) = text.split_once("[require]").unwrap();
        format!("{before}[require]\nk = 5\n[algorithm]\nname = \"d2pt\"\nsuppression = 0.1\n")
    });
    let mut people = String::from("number,age,sex,zip,diagnosis,marker,method,tariff\n");
    for person in 0..200 {
        let (age, zip) = match person {
            0..10 => (
                50 + 5 * person,
                ["12347", "12361", "12362", "12471", "12473"][person % 5],
            ),
            _ => (40, "12345"),
        };
        people.push_str(&format!(
            "{person},{age},female,{zip},asthma,normal,blood,basic\n"
        ));
    }
    std::fs::write(folder.join("people.csv"), people).unwrap();
    let summary = ok(folder, SIMULATE);
    let quasi = read(folder, "release/quasi.csv");
    let hidden = quasi.lines().filter(|line| line.ends_with(",*,*,*"));
    assert_eq!(hidden.count(), 10, "{quasi}");
    assert_eq!(summary["suppressed"], 10);
}

/// Also where the site that deals sensitive values out is not the one that picks the moves.
#[test]
fn one_party_clusters_as_the_sites_do_with_its_seed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_people(folder, 120);
    let at_first = algorithm("name = \"clustering\"\nstarts = 2");
    let elsewhere = |text: &str| {
        let text = instead(&at_first(text), ", \"diagnosis\"]", "]");
        instead(&text, "[\"marker\"", "[\"diagnosis\", \"marker\"")
    };
    let studies: [&dyn Fn(&str) -> String; 2] = [&at_first, &elsewhere];
    let mut seen = std::collections::BTreeSet::new();
    for study in studies {
        write_study(folder, study);
        for seed in [1, 8] {
            ok(folder, &format!("{SIMULATE} --seed {seed}"));
            let one = "anonymize --force --study study.toml people.csv --out one --seed";
            ok(folder, &format!("{one} {seed}"));
            let release = read(folder, "release/release.csv");
            assert_eq!(release, read(folder, "one/release.csv"));
            seen.insert(release);
        }
    }
    // What a site draws makes a difference.
    assert!(seen.len() > 2);
}

#[test]
fn who_holds_what_may_be_said_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_people(folder, 120);
    write_study(folder, |text| {
        let (head, rest) = text.split_once("[[site]]").unwrap();
        let (_, rest) = rest.split_once("# Every site has it").unwrap();
        format!("{head}# Every site has it{rest}")
    });
    refused(
        folder,
        SIMULATE,
        "study.toml: the study does not say which site holds which column\nhint: give --columns, e.g. --columns 'age,sex|zip,disease', or write columns = [\"…\"] below each [[site]]",
    );
    let columns = "--partition vertical --columns";
    refused(
        folder,
        &format!("{SIMULATE} {columns} age,sex|age,zip"),
        "--columns: column `age` stands at site 1 and at site 2\nhint: identifiers stand at every site; any other column belongs to one",
    );
    refused(
        folder,
        &format!("{SIMULATE} {columns} age,sex|zpi"),
        "--columns: site 2 has a column `zpi`, which the study does not have\nhint: it has `number`, `age`, `sex`, `zip`, `diagnosis`, `marker`, `method`, `tariff`",
    );
    refused(
        folder,
        &format!("{SIMULATE} --partition horizontal --sites 2"),
        "--partition is horizontal, the study says partition = \"vertical\"\nhint: a release is of its study; write partition = \"horizontal\" there",
    );
    refused(
        folder,
        &format!("{SIMULATE} --provider-column sex"),
        "--provider-column is for horizontal studies: the sites of this one hold the same people\nhint: leave it out",
    );
    // One site has no quasi-identifier, another nothing that is sensitive.
    let summary = ok(
        folder,
        &format!("{SIMULATE} {columns} number,age,zip,sex|diagnosis,marker,tariff,method"),
    );
    assert_eq!(summary["sites"], 2);
    assert_eq!(ok(folder, VERIFY)["holds"], true);
    let manifest: Value = serde_json::from_str(&read(folder, "release/manifest.json")).unwrap();
    assert_eq!(manifest["shared"]["sites"][1]["columns"][0], "diagnosis");
    assert_eq!(manifest["shared"]["synchronizer"], "merge");
}

#[test]
fn tables_that_cannot_be_linked_are_refused_without_their_values() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_study(folder, str::to_owned);
    write_people(folder, 40);
    let people = read(folder, "people.csv");
    let with = |line: &str| {
        std::fs::write(folder.join("people.csv"), format!("{people}{line}\n")).unwrap()
    };
    with("00003-a,30,male,12345,asthma,high,blood,full");
    let repeated =
        "1 record repeats an identifier that an earlier record has, the first are records ";
    for line in [SIMULATE, "anonymize --force --study study.toml people.csv"] {
        let done = hedgerow(folder, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(done.code, 2);
        let place = format!("error: people.csv: {repeated}4 and 41\nhint: ");
        assert!(done.stderr.starts_with(&place), "{}", done.stderr);
        assert!(!done.stderr.contains("00003"), "{}", done.stderr);
    }
    with("3-A,30,male,12345,asthma,high,blood,full");
    let done = hedgerow(folder, &["study", "check", "study.toml", "people.csv"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.starts_with("error: people.csv: 1 record has another identifier than an earlier record, but the same one by the rules of [identity]; the first are records 4 and 41\nhint: "), "{}", done.stderr);
    with(",30,male,12345,asthma,high,blood,full");
    let done = hedgerow(folder, &SIMULATE.split(' ').collect::<Vec<_>>());
    assert!(
        done.stderr.contains("1 record has an empty identifier"),
        "{}",
        done.stderr
    );
    write_people(folder, 0);
    refused(
        folder,
        SIMULATE,
        "people.csv: has no records, so there is nobody whom all sites know\nhint: is this the whole table?",
    );
    assert!(!folder.join("release").exists());
    write_people(folder, 4);
    refused(
        folder,
        SIMULATE,
        "the requirement cannot be met: all 4 records together do not satisfy k = 5\nhint: the largest k that can be met is 4",
    );
}

#[test]
fn a_site_checks_its_own_table() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_study(folder, str::to_owned);
    std::fs::write(folder.join("lab.csv"), "number,marker,method\n1,high,urine\n2,normal,blood\n3,high,blood\n4,high,blood\n5,raised,urine\n").unwrap();
    let checked = ok(folder, "study check study.toml lab.csv --site laboratory");
    assert_eq!(checked["columns"][1]["columns"][0], "marker");
    assert_eq!(checked["tables"][0]["records"], 5);
    let text = hedgerow(folder, &["study", "check", "study.toml"]).stdout;
    assert!(
        text.contains("`laboratory` holds marker, method\n"),
        "{text}"
    );
    refused(
        folder,
        "study check study.toml lab.csv",
        "lab.csv:1: column `age` of the study is missing\nhint: the file has `number`, `marker`, `method`\n\
         error: lab.csv:1: column `sex` of the study is missing\n\
         error: lab.csv:1: column `zip` of the study is missing\n\
         error: lab.csv:1: column `diagnosis` of the study is missing\n\
         error: lab.csv:1: column `tariff` of the study is missing\nhint: --site NAME checks a table that has one site's columns",
    );
    refused(
        folder,
        "study check study.toml lab.csv --site labratory",
        "study.toml: the study has no site `labratory`\nhint: did you mean `laboratory`?",
    );
}

#[test]
fn what_is_changed_in_a_fragmented_release_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_study(folder, algorithm("synchronizer = \"dpp2ga\""));
    write_people(folder, 200);
    ok(folder, SIMULATE);
    let finding = |change: &dyn Fn(&Path)| {
        ok(folder, SIMULATE);
        change(&folder.join("release"));
        let done = hedgerow(
            folder,
            &["verify", "release", "--study", "study.toml", "--json"],
        );
        assert_eq!(done.code, 1, "{}", done.stderr);
        let report = json(&done);
        assert_eq!(report["holds"], false);
        report["manifest"]["findings"].to_string()
    };
    let marker = "sensitive-marker.csv";
    let found = finding(&|release| {
        let text = read(release, marker).replacen("normal", "raised", 1);
        std::fs::write(release.join(marker), text).unwrap();
    });
    assert!(
        found.contains("sensitive-marker.csv: is not the file"),
        "{found}"
    );
    let found = finding(&|release| std::fs::remove_file(release.join(marker)).unwrap());
    assert!(
        found.contains("sensitive-marker.csv: is missing"),
        "{found}"
    );
    let found = finding(&|release| std::fs::remove_file(release.join("quasi.csv")).unwrap());
    assert!(found.contains("quasi.csv: is missing"), "{found}");
    let found = finding(&|release| std::fs::write(release.join("release.csv"), "x").unwrap());
    assert!(
        found.contains("release.csv: is no file of this release"),
        "{found}"
    );
    std::fs::remove_file(folder.join("release/release.csv")).unwrap();

    // Without a manifest the tables speak for themselves.
    ok(folder, SIMULATE);
    std::fs::remove_file(folder.join("release/manifest.json")).unwrap();
    std::fs::remove_file(folder.join("release/report.html")).unwrap();
    assert_eq!(ok(folder, VERIFY)["holds"], true);
    let text = read(&folder.join("release"), marker);
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    std::fs::write(folder.join("release").join(marker), lines.join("\n")).unwrap();
    let done = hedgerow(folder, &["verify", "release", "--study", "study.toml"]);
    assert_eq!(done.code, 1);
    assert!(done.stdout.starts_with("DOES NOT HOLD"), "{}", done.stdout);
    assert!(
        done.stdout
            .contains("sensitive-marker.csv: rows of a group do not stand in the order"),
        "{}",
        done.stdout
    );
    std::fs::write(
        folder.join("release").join(marker),
        "group,marker\n1,high\n",
    )
    .unwrap();
    let done = hedgerow(folder, &["verify", "release", "--study", "study.toml"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("in quasi.csv it has"),
        "{}",
        done.stderr
    );
    let done = hedgerow(
        folder,
        &["verify", "release/quasi.csv", "--study", "study.toml"],
    );
    assert!(done.stderr.contains("is one file"), "{}", done.stderr);
    let done = hedgerow(folder, &["verify", "release", "--quasi", "age"]);
    assert!(
        done.stderr.contains("it holds quasi.csv: give --study"),
        "{}",
        done.stderr
    );
    // One that asks too much does not hold.
    std::fs::write(folder.join("release").join(marker), text).unwrap();
    // A column that says who is who makes nobody anonymous, in whichever table it stands.
    let named = |line: (usize, &str)| match line.0 {
        0 => format!("{},number\n", line.1),
        row => format!("{},{row}\n", line.1),
    };
    let whole = read(&folder.join("release"), marker);
    let with_names: String = whole.lines().enumerate().map(named).collect();
    std::fs::write(folder.join("release").join(marker), with_names).unwrap();
    let done = hedgerow(folder, &VERIFY.split(' ').collect::<Vec<_>>());
    assert_eq!(done.code, 1);
    let said = "column `number` is an identifier: nobody in this table is anonymous";
    assert!(done.stdout.contains(said), "{}", done.stdout);
    std::fs::write(folder.join("release").join(marker), whole).unwrap();
    let against = |requirement: &str| {
        let line = [
            "verify",
            "release",
            "--study",
            "study.toml",
            "--against",
            requirement,
        ];
        hedgerow(folder, &line).code
    };
    assert_eq!(against("k = 5"), 0);
    assert_eq!(against("k = 150"), 1);
    assert_eq!(against("k = 5, t = 0.01"), 1);
    // Nobody's sensitive values stand together in a row.
    assert_eq!(against("k = 5, l = 2, sensitive = 'product'"), 2);
}
