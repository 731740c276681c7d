//! `[algorithm] name = "clustering"` in `anonymize` and `simulate`.

use std::path::Path;

use hedgerow_testing::{StudyText, values};
use serde_json::Value;

use super::hedgerow;
use super::sites::{ok, read, refused};

/// The example of a stroke registry, with another requirement and algorithm.
pub(super) fn write_study(folder: &Path, security: &str, require: &str, algorithm: &str) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stroke-registry");
    for name in ["zip.csv", "disease.csv"] {
        std::fs::copy(examples.join(name), folder.join(name)).unwrap();
    }
    let study = std::fs::read_to_string(examples.join("study.toml")).unwrap();
    let (before, _) = study.split_once("[require]").unwrap();
    // Its sites have no keys.
    let (head, _) = before.split_once("[[site]]").unwrap();
    let (_, attributes) = before.split_once("[[attribute]]").unwrap();
    let text = format!(
        "{head}\n[[attribute]]{attributes}[require]\n{require}\n[algorithm]\nname = \"clustering\"\n{algorithm}\n"
    );
    let spread = "partition = \"horizontal\"";
    let text = text.replacen(spread, &format!("security = \"{security}\"\n{spread}"), 1);
    std::fs::write(folder.join("study.toml"), text).unwrap();
}

/// Patients: a line for each, and the site that holds it.
fn write_patients(folder: &Path, patients: impl Iterator<Item = (u64, usize, usize, usize)>) {
    let zips = ["12345", "12347", "12361", "12362", "12471", "12473"];
    let diseases = [
        "ischaemic stroke",
        "haemorrhagic stroke",
        "transient attack",
        "carotid stenosis",
        "atrial fibrillation",
        "heart failure",
    ];
    let (mut pooled, mut alone) = (
        String::from("age,zip,disease,site\n"),
        String::from("age,zip,disease\n"),
    );
    for (age, zip, disease, site) in patients {
        let line = format!("{age},{},{}", zips[zip], diseases[disease]);
        alone.push_str(&format!("{line}\n"));
        pooled.push_str(&format!("{line},site-{site}\n"));
    }
    std::fs::write(folder.join("pooled.csv"), pooled).unwrap();
    std::fs::write(folder.join("alone.csv"), alone).unwrap();
}

/// Well-mixed patients of so many sites.
pub(super) fn registry(folder: &Path, records: u64, sites: usize) {
    let draw = |record: u64, what: u8, below: u64| {
        let hash = blake3::hash(&[&record.to_le_bytes()[..], &[what]].concat());
        u64::from(hash.as_bytes()[0]) * 256 % 251 * below / 251
    };
    write_patients(
        folder,
        (0..records).map(|record| {
            let age = 40 + draw(record, 0, 50);
            let (zip, disease) = (draw(record, 1, 6), draw(record, 2, 6));
            (age, zip as usize, disease as usize, record as usize % sites)
        }),
    );
}

fn losses(summary: &Value, step: &str) -> Vec<f64> {
    let steps = summary["convergence"]["steps"].as_array().unwrap().iter();
    let steps = steps.filter(|one| one["step"] == step);
    steps.map(|one| one["loss"].as_f64().unwrap()).collect()
}

/// Iterations ended as their losses say. Gives the words for it.
fn assert_ended(convergence: &Value, losses: &[f64]) -> &'static str {
    let [.., before, after] = losses else {
        panic!("{losses:?}");
    };
    let gained = before - after;
    assert!(gained <= before / 200.0 + 1e-12, "{losses:?}");
    match convergence["ended"].as_str().unwrap() {
        "nothing_moved" if gained.abs() < 1e-12 => "until no record moved",
        "small_gain" => {
            "until the loss fell by no more than the least gain; more might have gained a little"
        }
        other => panic!("{other}: {losses:?}"),
    }
}

const ONE: &str =
    "anonymize --force --study study.toml pooled.csv --provider-column site --out one";
const MANY: &str =
    "simulate --force --study study.toml pooled.csv --provider-column site --out many";
const WHOLE: &str = "k = 10\nl = { at_least = 3, kind = \"distinct\" }\nt = { at_most = 0.4, distance = \"hierarchical\" }";

/// Runs a study of a registry as many sites, and as one party with their rows: the same release, which
/// verifies. Gives the summary of the sites.
fn same(folder: &Path, seed: u64) -> Value {
    let many = ok(folder, &format!("{MANY} --seed {seed} --independent"));
    assert_eq!(many["baselines"]["joint_equals_central"], true);
    let one = ok(folder, &format!("{ONE} --seed {seed}"));
    assert_eq!(
        read(folder, "one/release.csv"),
        read(folder, "many/release.csv")
    );
    assert_eq!(one["convergence"], many["convergence"]);
    assert_eq!(one["achieved"], many["achieved"]);
    assert_eq!(one["seed"], seed);
    let seen = ok(folder, "verify many --study study.toml");
    assert_eq!(seen["holds"], true);
    many
}

#[test]
fn sites_cluster_as_one_party_would_and_the_requirement_holds() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (sites, site_diversity, m) in [(1, 1, 0), (2, 1, 0), (2, 2, 0), (3, 2, 1), (3, 1, 2)] {
        registry(folder, 150, sites);
        for security in ["hardened", "published"] {
            // As published, thresholds are for small numbers, which t-closeness without a site's
            // records does not have.
            let is_small = security == "published" && m > 0;
            let whole = if is_small { "k = 10\nl = 3" } else { WHOLE };
            let require = format!("{whole}\nsite_diversity = {site_diversity}\nm = {m}");
            write_study(folder, security, &require, "recode = \"node\"");
            let many = same(folder, 3);
            let achieved = &many["achieved"];
            assert!(achieved["k"].as_u64().unwrap() >= 10, "{achieved}");
            assert!(achieved["l_distinct"].as_u64().unwrap() >= 3, "{achieved}");
            let t = achieved["t"]["disease"].as_f64().unwrap();
            assert!(is_small || t <= 0.4, "{achieved}");
            let of_sites = |model: &str| achieved[model].as_u64().unwrap();
            assert!(of_sites("site_diversity") >= site_diversity, "{achieved}");
            assert!(m == 0 || of_sites("m") >= m, "{achieved}");
            let convergence = &many["convergence"];
            if sites == 1 && security == "hardened" {
                // One site asks nobody, and searches until its effort is spent.
                assert_eq!(convergence["ended"], "effort");
                let found = [losses(&many, "iteration"), losses(&many, "rebuilt")].concat();
                assert!(found.len() > 10, "{found:?}");
                assert!(found.windows(2).all(|pair| pair[1] <= pair[0]), "{found:?}");
                continue;
            }
            // The published end merges; the hardened goes on from there.
            let is_refined = !losses(&many, "refined").is_empty();
            assert_eq!(is_refined, security == "hardened");
            let iterations = losses(&many, "iteration");
            assert_eq!(
                convergence["iterations"].as_u64().unwrap() as usize + 1,
                iterations.len()
            );
            assert_ended(convergence, &iterations);
        }
    }
}

#[test]
fn every_recoding_loss_and_setting_is_the_same_for_one_party() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    registry(folder, 200, 3);
    let mut releases = Vec::new();
    for (measure, settings) in [
        ("ncp_present", "recode = \"node\""),
        ("lm", "recode = \"range\"\nloss = \"lm\"\nblur = true"),
        ("em", "recode = \"set\"\nloss = \"em\"\nstarts = 2"),
        ("ncp_present", "recode = \"set\"\nfinish = false"),
        ("ncp_present", "recode = \"range\"\nstart = 1\nsplit = 2"),
    ] {
        write_study(folder, "hardened", "k = 5\nl = 2", settings);
        let many = same(folder, 1);
        assert_eq!(many["convergence"]["measure"], measure, "{settings}");
        let is_refined = !losses(&many, "refined").is_empty();
        assert_eq!(is_refined, !settings.contains("finish"), "{settings}");
        releases.push(read(folder, "many/release.csv"));
    }
    releases.dedup();
    assert_eq!(releases.len(), 5, "settings make a difference");
    // The last step of the loss is what the release loses.
    write_study(folder, "hardened", "k = 5", "recode = \"node\"");
    let many = same(folder, 1);
    let last = *losses(&many, "refined").last().unwrap();
    let joint = many["baselines"]["joint"]["ncp_present"].as_f64().unwrap();
    assert!((last - joint).abs() < 1e-4, "{last} {joint}");
    // Another seed, other clusters.
    let before = read(folder, "many/release.csv");
    same(folder, 2);
    assert_ne!(before, read(folder, "many/release.csv"));
}

/// A wider cell may have less entropy than a narrower one, where one value is frequent.
#[test]
fn entropy_that_falls_where_cells_widen() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let frequent = |record: usize| [10, record % 20][record % 2];
    let patients = (0..120).map(|record| {
        let zip = [record % 6, 0, 0, 0, 0][record % 5];
        (40 + frequent(record) as u64, zip, record % 5, record % 3)
    });
    write_patients(folder, patients);
    for settings in ["recode = \"node\"", "recode = \"set\"\nfinish = false"] {
        let settings = format!("loss = \"em\"\n{settings}");
        write_study(folder, "hardened", "k = 5\nl = 2", &settings);
        same(folder, 1);
    }
}

/// Where sizes are blurred, a site looks at some records twice in a turn.
#[test]
fn blurred_turns() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    registry(folder, 100, 2);
    for (security, recode) in [("hardened", "node"), ("published", "range")] {
        let settings = format!("blur = true\nrecode = \"{recode}\"");
        write_study(folder, security, "k = 5\nl = 2", &settings);
        for seed in 1..4 {
            same(folder, seed);
        }
    }
}

#[test]
fn convergence_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    registry(folder, 100, 2);
    write_study(folder, "published", "k = 5", "");
    let mut ended = "";
    for line in [ONE, MANY] {
        let summary = ok(folder, line);
        ended = assert_ended(&summary["convergence"], &losses(&summary, "iteration"));
        let done = hedgerow(folder, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(done.code, 0, "{}", done.stderr);
        for words in [
            "how the loss fell (mean loss of a cell: NCP, present): ",
            &format!("iterations, {ended}\n  start "),
            "\n  iteration 1 ",
            "\n  grown ",
            " SMC calls until the published end, as TG12 counts them\n",
        ] {
            assert!(done.stdout.contains(words), "{words}: {}", done.stdout);
        }
    }
    // The release says it too, and its report shows it.
    let many = ok(folder, MANY);
    assert!(many["convergence"]["published_calls"].as_u64().unwrap() > 100);
    let manifest: Value = serde_json::from_str(&read(folder, "many/manifest.json")).unwrap();
    assert_eq!(manifest["convergence"], many["convergence"]);
    let page = read(folder, "many/report.html");
    for words in [
        "How the loss fell",
        &format!("iterations, {ended}. "),
        "as TG12 counts them",
        "Mean loss of a cell (NCP, present) after each step",
        "iteration 1",
        "grown",
    ] {
        assert!(page.contains(words), "{words}");
    }
    ok(folder, "verify many --study study.toml");
}

/// What is asked about a cluster has a bit for each attribute, and a word has 64.
#[test]
fn more_attributes_than_bits() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for count in [63, 64, 65, 130] {
        let names: Vec<String> = (0..count).map(|number| format!("a{number}")).collect();
        let study = StudyText::new("wide")
            .require("k = 3")
            .algorithm("name = \"clustering\"\nrecode = \"set\"");
        let study = names
            .iter()
            .fold(study, |study, name| study.quasi(name, values(["x", "y"])));
        std::fs::write(folder.join("study.toml"), study.to_string()).unwrap();
        let mut table = format!("{},site\n", names.join(","));
        for row in 0..30usize {
            // Few differ from the others in an attribute, so that what they leave is asked about.
            let cell =
                |column: usize| ["x", "y"][usize::from((row * 7 + column).is_multiple_of(11))];
            let cells: Vec<&str> = (0..count).map(cell).collect();
            table.push_str(&format!("{},site-{}\n", cells.join(","), row % 2));
        }
        std::fs::write(folder.join("pooled.csv"), table).unwrap();
        same(folder, 1);
    }
}

#[test]
fn corners() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let classes = |summary: &Value| summary["classes"].as_u64().unwrap();
    for security in ["hardened", "published"] {
        // Fewer than 2 k records are one class.
        registry(folder, 19, 2);
        write_study(folder, security, "k = 10", "");
        assert_eq!(classes(&same(folder, 1)), 1, "{security}");
        // Exactly k.
        registry(folder, 10, 2);
        assert_eq!(classes(&same(folder, 1)), 1, "{security}");
        // All records are equal: nothing is lost, whatever the clusters.
        write_patients(
            folder,
            (0..60).map(|record| (50, 1, record % 6, record % 3)),
        );
        let summary = same(folder, 1);
        assert_eq!(classes(&summary), 1);
        assert_eq!(summary["utility"]["ncp"], 0.0, "{security}");
        // An attribute with one value.
        write_patients(
            folder,
            (0..60).map(|record| (50, record % 6, record % 5, record % 3)),
        );
        same(folder, 1);
        // Most records at one site, and sites with a single one.
        write_patients(
            folder,
            (0..60).map(|record| (40 + record as u64, record % 6, record % 5, record.min(2))),
        );
        same(folder, 1);
    }
    // A site without records.
    registry(folder, 7, 1);
    write_study(folder, "hardened", "k = 2", "");
    let line = "simulate --force --study study.toml alone.csv --sites 8 --independent --out many";
    let many = ok(folder, line);
    assert_eq!(many["baselines"]["joint_equals_central"], true);
}

#[test]
fn what_cannot_be_met_is_refused_with_what_could() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_patients(
        folder,
        (0..40).map(|record| (40, record % 6, record % 3, record % 2)),
    );
    for (require, model, best) in [
        ("k = 41", "k = 41", "40"),
        ("k = 2\nl = 4", "distinct l = 4", "3"),
        (
            "k = 2\nl = { at_least = 4, kind = \"frequency\" }",
            "frequency l = 4",
            "2.8571",
        ),
    ] {
        write_study(folder, "hardened", require, "");
        for line in [
            "anonymize --force --study study.toml alone.csv",
            "simulate --force --study study.toml alone.csv --sites 2",
        ] {
            let message = format!(
                "the requirement cannot be met: all 40 records together do not satisfy {model}\nhint: the largest value that could be met is {best}"
            );
            refused(folder, line, &message);
        }
    }
    write_study(folder, "hardened", "k = 2", "loss = \"discernibility\"");
    let done = hedgerow(
        folder,
        &[
            "anonymize",
            "--force",
            "--study",
            "study.toml",
            "alone.csv",
            "--json",
        ],
    );
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    let line = read(folder, "study.toml");
    let line = line
        .lines()
        .position(|line| line.starts_with("loss"))
        .unwrap()
        + 1;
    let found = format!("error: study.toml:{line}: `algorithm.loss` is `discernibility`");
    assert!(done.stderr.starts_with(&found), "{}", done.stderr);
    // An empty table has nothing to publish.
    write_patients(folder, std::iter::empty());
    write_study(folder, "hardened", "k = 2", "");
    let line = "anonymize --force --study study.toml alone.csv --json";
    let done = hedgerow(folder, &line.split(' ').collect::<Vec<_>>());
    assert_eq!(done.code, 2, "{}", done.stdout);
    assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
}
