//! The gate in a run of one process: what it holds back, what it lets pass, and what the manifest says of it.

use std::collections::BTreeMap;
use std::path::Path;

use hedgerow::{
    Error, Options, Questions, Release, Sites, Study, Table, anonymize, simulate, verify,
};
use proptest::prelude::*;

/// An age and a disease.
type Person = (u32, u32);

fn study(gate: &str, require: &str) -> Study {
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
name = "disease"
role = "sensitive"
values = ["0", "1", "2"]
[require]
{require}
[algorithm]
recode = "range"
{gate}
"#
    );
    Study::parse(text, ".").unwrap()
}

/// A table of these people in a folder.
fn table(folder: &Path, people: &[Person]) -> Table {
    let lines = people
        .iter()
        .map(|(age, disease)| format!("{age},{disease}\n"));
    let text = format!("age,disease\n{}", lines.collect::<String>());
    let path = folder.join("people.csv");
    std::fs::write(&path, text).unwrap();
    Table::file(path)
}

/// People of whom each age has one disease.
fn alike() -> Vec<Person> {
    (0..200)
        .map(|one| (one % 100, u32::from(one % 100 > 40)))
        .collect()
}

/// The reasons for which a run was held back.
fn held<T: std::fmt::Debug>(run: Result<T, Error>) -> Vec<String> {
    match run.unwrap_err() {
        Error::HeldBack { reasons } => reasons,
        other => panic!("{other}"),
    }
}

#[test]
fn a_release_to_which_more_falls_is_not_published() {
    let folder = tempfile::tempdir().unwrap();
    let table = table(folder.path(), &alike());
    let out = folder.path().join("release");
    let options = Options::new().out(&out);
    let strict = study("[gate]\ncertain = 0.01\nprinted = 0", "k = 5\nm = 0");
    let three = Sites::dealt(table.clone(), 3);
    for reasons in [
        held(anonymize(&strict, &table, &options)),
        held(simulate(&strict, &three, &options)),
    ] {
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        let reason = &reasons[0];
        assert!(
            reason.starts_with("certain: records whose `disease` is certain: "),
            "{reason}"
        );
        assert!(
            reason.contains("the study's [gate] allows 1.00 % more than the "),
            "{reason}"
        );
        assert!(reason.ends_with("hint: demand l, or t"), "{reason}");
        assert!(!out.exists());
    }
    // The same people under a limit that lets them pass, and under a requirement that mends it.
    let lax = study("[gate]\ncertain = 1\nprinted = 0", "k = 5\nm = 0");
    let diverse = study("[gate]\ncertain = 0\nprinted = 0", "k = 5\nl = 2\nm = 0");
    for (passes, other) in [(&lax, &strict), (&diverse, &lax)] {
        let options = options.clone().force(true);
        anonymize(passes, &table, &options).unwrap();
        let outcome = simulate(passes, &three, &options).unwrap().outcome;
        let told: Vec<&str> = outcome
            .summary
            .gate
            .iter()
            .map(|tried| tried.attack.as_str())
            .collect();
        assert_eq!(told, ["printed", "certain"]);
        assert!(outcome.summary.to_string().contains("attack certain"));
        let of = |study: &Study| {
            let release = Release::open(&out).unwrap().with_study(study.clone());
            verify(&release, &Questions::default()).unwrap()
        };
        let verdict = of(passes);
        let check = verdict.manifest.as_ref().unwrap();
        assert!(check.holds, "{:?}", check.findings);
        assert_eq!(check.gate, outcome.summary.gate);
        assert!(verdict.to_string().contains("attack certain"));
        // By a study with other limits it is not what the study asks for.
        let verdict = of(other);
        let findings = &verdict.manifest.as_ref().unwrap().findings;
        let is_found =
            |one: &String| one.contains("`gate` is not what the study's [gate] asks for");
        assert!(findings.iter().any(is_found), "{findings:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The share in the manifest is that of records in classes of one disease, as the file has them; and
    /// the release is there if and only if that share keeps the limit.
    #[test]
    fn the_share_is_that_of_the_file(
        people in prop::collection::vec((0u32..100, prop_oneof![Just(0u32), Just(0), 0u32..3]), 30..120),
        limit in 0u32..=10,
        sites in 1usize..4,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let table = table(folder.path(), &people);
        let out = folder.path().join("release");
        let options = Options::new().out(&out);
        let run = |gate: &str| {
            let study = study(gate, "k = 3\nm = 0");
            match sites {
                1 => anonymize(&study, &table, &options.clone().force(true)),
                _ => simulate(&study, &Sites::dealt(table.clone(), sites), &options.clone().force(true))
                    .map(|simulation| simulation.outcome),
            }
        };
        let tried = run("[gate]\ncertain = 1").unwrap().summary.gate.remove(0);
        let text = std::fs::read_to_string(out.join("release.csv")).unwrap();
        let mut classes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for line in text.lines().skip(1) {
            let (age, disease) = line.rsplit_once(',').unwrap();
            classes.entry(age).or_default().push(disease);
        }
        let certain = classes.values().filter(|of| of.iter().all(|one| one == &of[0]));
        let certain: usize = certain.map(Vec::len).sum();
        let share = certain as f64 / people.len() as f64;
        let found = tried.share.unwrap();
        prop_assert!(share <= found && found < share + 1e-6, "{share} {found}");
        let limit = f64::from(limit) / 20.0;
        std::fs::remove_dir_all(&out).unwrap();
        let run = run(&format!("[gate]\ncertain = {limit}"));
        let beyond = share - tried.control.unwrap();
        // The control has six digits.
        prop_assume!((beyond - limit).abs() > 1e-6);
        prop_assert_eq!(run.is_ok(), beyond <= limit);
        prop_assert_eq!(out.exists(), beyond <= limit);
    }
}
