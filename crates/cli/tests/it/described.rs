//! Releases that describe themselves: `verify` and `report` of a folder without the study beside it, and
//! what is found there when somebody changed it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

use super::verify::signed;
use super::{Done, hedgerow, json};

const HORIZONTAL: &str = r#"[study]
name = "stays"
partition = "horizontal"
[[attribute]]
name = "number"
role = "identifier"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
missing = "NA"
[[attribute]]
name = "came"
role = "quasi"
type = "date"
range = ["2025-01-01", "2025-12-31"]
[[attribute]]
name = "zip"
role = "quasi"
taxonomy = "zip.csv"
[[attribute]]
name = "disease"
role = "sensitive"
values = ["flu", "ulcer", "asthma"]
[[attribute]]
name = "ward"
role = "other"
values = ["a", "b"]
[require]
k = 4
l = 2
"#;

const ZIPS: &str = "101;1**;*\n102;1**;*\n201;2**;*\n202;2**;*\n";

/// A folder with `release` alone, made of a study that is gone: by one party, or by sites in one process.
fn release_alone(study: &str, command: &str) -> tempfile::TempDir {
    let (made, alone) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let write = |name: &str, text: &str| std::fs::write(made.path().join(name), text).unwrap();
    write("study.toml", study);
    write("zip.csv", ZIPS);
    let mut rows = String::from("number,age,came,zip,disease,ward\n");
    for row in 0..120 {
        let age = match row % 17 {
            0 if study.contains("missing") => String::from("NA"),
            _ => (row * 7 % 100).to_string(),
        };
        rows.push_str(&format!(
            "p{row},{age},2025-{:02}-{:02},{},{},{}\n",
            1 + row % 12,
            1 + row * 5 % 28,
            [101, 102, 201, 202][row * 3 % 4],
            ["flu", "ulcer", "asthma"][row * 5 % 3],
            ["a", "b"][row % 2]
        ));
    }
    write("people.csv", &rows);
    let mut arguments: Vec<&str> = command.split(' ').collect();
    arguments.extend(["--study", "study.toml", "--out", "release", "people.csv"]);
    let done = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
        .args(&arguments)
        .env("SOURCE_DATE_EPOCH", "1769817600")
        .current_dir(made.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{command}: {said}");
    let release = alone.path().join("release");
    std::fs::rename(made.path().join("release"), release).unwrap();
    alone
}

/// The same study among sites that hold the same people.
fn vertical(algorithm: &str) -> String {
    let study = HORIZONTAL
        .replace("horizontal", "vertical")
        .replace("missing = \"NA\"", "widths = [5, 20]")
        .replace(
            "name = \"came\"\nrole = \"quasi\"",
            "name = \"came\"\nrole = \"sensitive\"",
        );
    format!(
        "{study}[algorithm]\n{algorithm}\n[[site]]\nname = \"one\"\ncolumns = [\"number\", \"age\", \"disease\"]\n[[site]]\nname = \"two\"\ncolumns = [\"number\", \"came\", \"zip\", \"ward\"]\n"
    )
}

fn verify(folder: &Path) -> Done {
    hedgerow(folder, &["verify", "release"])
}

#[track_caller]
fn assert_found(done: &Done, finding: &str) {
    assert_eq!(done.code, 1, "{finding}: {}{}", done.stdout, done.stderr);
    assert!(done.stdout.starts_with("DOES NOT HOLD"), "{}", done.stdout);
    assert!(done.stdout.contains(finding), "{finding}: {}", done.stdout);
    assert_eq!(done.stderr, "");
}

/// Changes a text file of a folder.
fn change(path: &Path, old: &str, new: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(old), "{old}: {text}");
    std::fs::write(path, text.replacen(old, new, 1)).unwrap();
}

#[test]
fn a_folder_is_verified_and_reported_without_its_study() {
    let clustering = format!("{HORIZONTAL}[algorithm]\nname = \"clustering\"\nrecode = \"set\"\n");
    let d2pt = vertical("name = \"d2pt\"");
    let restored = vertical("name = \"d2pt\"\nrestore = true");
    let shared = vertical("name = \"clustering\"");
    let cut = vertical("name = \"mondrian\"\nrecode = \"range\"");
    let fragments = vertical("name = \"mondrian\"\nrecode = \"set\"\nfragments = true");
    for (study, command, is_fragmented) in [
        (HORIZONTAL, "anonymize", false),
        (HORIZONTAL, "simulate --sites 2", false),
        (&clustering, "anonymize", false),
        (&d2pt, "simulate", true),
        (&restored, "simulate", true),
        (&shared, "simulate", false),
        (&cut, "simulate", false),
        (&cut, "anonymize", false),
        (&fragments, "simulate", true),
    ] {
        let folder = release_alone(study, command);
        let done = verify(folder.path());
        // Original values inside groups are for the sites to agree on.
        let code = i32::from(study.contains("restore"));
        assert_eq!((done.code, &*done.stderr), (code, ""), "{}", done.stdout);
        assert_eq!(done.stdout.starts_with("NOT SHOWN"), code == 1);
        assert!(done.stdout.contains("checked: k = 4"), "{}", done.stdout);
        let says = "as manifest.json states it, which is the word of whoever published";
        assert!(done.stdout.contains(says), "{}", done.stdout);
        let says = "not shown without the study: that roles, domains and requirement";
        assert!(done.stdout.contains(says), "{}", done.stdout);
        let found = json(&hedgerow(folder.path(), &["verify", "release", "--json"]));
        assert_eq!(found["holds"], code == 0);
        assert_eq!(found["requirement"]["from"], "manifest");
        assert_eq!(found["manifest"]["self_described"], true);
        let done = hedgerow(folder.path(), &["report", "release"]);
        assert_eq!(done.code, code, "{}{}", done.stdout, done.stderr);
        let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
        assert!(page.contains("made on 2026-01-31 by hedgerow"), "{command}");
        assert!(page.contains("No study was given"), "{command}");
        assert_eq!(page.contains("Join group totals"), is_fragmented);
        let package = folder.path().join("release/datapackage.json");
        let package: Value = serde_json::from_slice(&std::fs::read(package).unwrap()).unwrap();
        let description = package["description"].as_str().unwrap();
        assert_eq!(description.contains("Join group totals"), is_fragmented);
    }
}

/// What the manifest states is typed, and in words.
#[test]
fn a_manifest_states_columns_requirement_date_and_version() {
    let folder = release_alone(HORIZONTAL, "anonymize");
    let text = std::fs::read(folder.path().join("release/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&text).unwrap();
    let said = &manifest["unsigned"];
    assert_eq!(manifest["version"], 2);
    assert_eq!(said["date"], "2026-01-31");
    assert_eq!(said["hedgerow"], env!("CARGO_PKG_VERSION"));
    assert_eq!(said["partition"], "horizontal");
    assert_eq!(said["recode"], "node");
    assert_eq!(said["requirement"]["require"]["k"], 4);
    let l = serde_json::json!({ "at_least": 2.0, "kind": "distinct" });
    assert_eq!(said["requirement"]["require"]["l"], l);
    assert_eq!(said["requirement"]["words"][0], "k = 4");
    let columns = said["columns"].as_array().unwrap();
    assert_eq!(columns.len(), 6);
    let age = serde_json::json!({ "name": "age", "role": "quasi", "type": "integer", "range": [0, 99], "step": 1, "missing": "NA", "recode": "node" });
    assert_eq!(columns[1], age);
    assert_eq!(columns[3]["taxonomy"], "taxonomies/zip.csv");
    let identifier = serde_json::json!({ "name": "number", "role": "identifier", "type": "text" });
    assert_eq!(columns[0], identifier);
    let tree = std::fs::read_to_string(folder.path().join("release/taxonomies/zip.csv")).unwrap();
    assert_eq!(tree, ZIPS);
}

#[test]
fn without_the_study_it_is_not_shown_who_signed() {
    let folder = signed();
    let done = verify(folder.path());
    assert_eq!((done.code, &*done.stderr), (0, ""), "{}", done.stdout);
    for says in [
        "HOLDS BY ITS OWN WORD, AS FAR AS IT CAN BE SEEN",
        "not shown without the study: that the keys are those of the sites: who signed",
        "signed with this key; whose it is, the study says",
        "what `north` sealed, by the key that stands there",
    ] {
        assert!(done.stdout.contains(says), "{says}: {}", done.stdout);
    }
    for model in ["site diversity 2", "m = 1"] {
        let mut lines = done.stdout.lines();
        let line = lines.find(|line| line.starts_with(model)).unwrap();
        assert!(line.contains("cannot be seen in a release"), "{line}");
    }
    let found = json(&hedgerow(folder.path(), &["verify", "release", "--json"]));
    assert_eq!(found["manifest"]["signed"], false);
    assert_eq!(
        found["manifest"]["unseen"],
        serde_json::json!(["site diversity 2", "m = 1"])
    );
    let done = hedgerow(folder.path(), &["report", "release"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    // With the study, all is as the sites signed it.
    let done = hedgerow(
        folder.path(),
        &["verify", "release", "--study", "study.toml"],
    );
    assert!(done.stdout.starts_with("HOLDS:"), "{}", done.stdout);
}

#[test]
fn what_is_changed_is_found_without_the_study() {
    let folder = signed();
    let path = folder.path().join("release");
    let (manifest, tree) = (
        path.join("manifest.json"),
        path.join("taxonomies/disease.csv"),
    );
    let kept = [&manifest, &tree].map(|file| (file.clone(), std::fs::read(file).unwrap()));
    let put_back = || {
        for (file, bytes) in &kept {
            std::fs::write(file, bytes).unwrap();
        }
    };

    // A taxonomy with another value, in another order, and one that is none.
    change(&tree, "asthma;*\n", "asthma;*\ncold;*\n");
    let finding = "taxonomies/disease.csv: is not the file that manifest.json speaks of";
    assert_found(&verify(folder.path()), finding);
    std::fs::write(&tree, "flu;lung\nulcer;stomach\n").unwrap();
    assert_found(&verify(folder.path()), finding);
    let done = hedgerow(folder.path(), &["report", "release"]);
    assert_found(&done, finding);
    std::fs::remove_file(&tree).unwrap();
    assert_found(&verify(folder.path()), "taxonomies/disease.csv: is missing");
    put_back();

    // The requirement, as data and in words.
    for (old, new) in [("\"k\": 5", "\"k\": 2"), ("\"k = 5\"", "\"k = 2\"")] {
        change(&manifest, old, new);
        let done = verify(folder.path());
        assert_found(&done, "manifest.json: is not as `north` sealed it");
        assert_found(&done, "`north`: the signature is not of this release");
        put_back();
    }
    // A key that nobody knows, and one that is missing.
    change(
        &manifest,
        "  \"signatures\"",
        "  \"note\": \"Ann\",\n  \"signatures\"",
    );
    let done = verify(folder.path());
    assert_eq!(done.code, 2);
    assert!(
        done.stderr
            .contains("manifest.json: is no manifest: unknown field `note`"),
        "{}",
        done.stderr
    );
    put_back();
    change(&manifest, "\"csv\": \"guarded\",", "");
    let done = verify(folder.path());
    assert!(
        done.stderr.contains("missing field `csv`"),
        "{}",
        done.stderr
    );
    put_back();
    // A manifest of the version before says so, and what to do.
    change(&manifest, "\"version\": 2", "\"version\": 1");
    let done = verify(folder.path());
    assert_eq!(done.code, 2);
    let says = "manifest.json: is of version 1, this hedgerow reads version 2: look at it with the hedgerow that wrote it";
    assert!(done.stderr.contains(says), "{}", done.stderr);
    put_back();

    // A file that is none of the release, there and among the taxonomies.
    for name in ["people.csv", "taxonomies/people.csv"] {
        std::fs::write(path.join(name), "Ann\n").unwrap();
        assert_found(
            &verify(folder.path()),
            &format!("{name}: is no file of this release"),
        );
        std::fs::remove_file(path.join(name)).unwrap();
    }
    assert_eq!(verify(folder.path()).code, 0, "all was put back");
}

/// Whoever published a release that nobody signed can seal it anew; what is said twice must agree.
#[test]
fn a_requirement_in_other_words_than_data_is_found() {
    let folder = release_alone(HORIZONTAL, "anonymize");
    let release = folder.path().join("release");
    change(&release.join("manifest.json"), "\"k = 4\"", "\"k = 40\"");
    seal_again(&release, "release.csv");
    let finding = "manifest.json: `requirement` says something else in words than as data";
    assert_found(&verify(folder.path()), finding);
    // A requirement that the release does not meet is checked as any other.
    let folder = release_alone(HORIZONTAL, "anonymize");
    let release = folder.path().join("release");
    change(&release.join("manifest.json"), "\"k = 4\"", "\"k = 90\"");
    change(&release.join("manifest.json"), "\"k\": 4", "\"k\": 90");
    seal_again(&release, "release.csv");
    let done = verify(folder.path());
    assert_found(&done, "checked: k = 90");
}

/// Writes the bounds of a column anew.
fn forge_bounds(path: &Path, column: &str) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let batch = builder
        .with_batch_size(1 << 20)
        .build()
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    let columns = columns.map(|(field, values)| -> ArrayRef {
        match field.name() == column {
            true => {
                let numbers = values.as_primitive::<Int64Type>().iter();
                Arc::new(
                    numbers
                        .map(|number| number.map(|number| number + 1))
                        .collect::<Int64Array>(),
                )
            }
            false => values.clone(),
        }
    });
    let batch = RecordBatch::try_new(schema.clone(), columns.collect()).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), schema, None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// Seals the manifest of a release that nobody signed once more, as whoever published it can.
fn seal_again(release: &Path, file: &str) {
    let path: PathBuf = release.join("manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let was = manifest["unsigned"]["files"][file].as_str().unwrap();
    let is = blake3::hash(&std::fs::read(release.join(file)).unwrap());
    let text = text.replace(was, &is.to_hex());
    let (head, _) = text.split_once(",\n  \"seal\"").unwrap();
    let seal = blake3::derive_key("hedgerow account v1", head.as_bytes());
    let seal: String = seal.iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(path, format!("{head},\n  \"seal\": \"{seal}\"\n}}\n")).unwrap();
}

#[test]
fn bounds_that_contradict_their_labels_are_found() {
    let folder = release_alone(HORIZONTAL, "anonymize");
    let release = folder.path().join("release");
    forge_bounds(&release.join("release.parquet"), "age_low");
    // As it is, the file is not the one that was sealed.
    let finding = "release.parquet: is not the file that manifest.json speaks of";
    assert_found(&verify(folder.path()), finding);
    // Sealed anew it is, and says what its labels do not say.
    seal_again(&release, "release.parquet");
    let done = verify(folder.path());
    assert_found(&done, "release.parquet: `age_low` is `");
    assert_found(&done, "where `age` is `");
    let found = json(&hedgerow(folder.path(), &["verify", "release", "--json"]));
    assert_eq!(found["contradictions"].as_array().unwrap().len(), 1);
    let done = hedgerow(folder.path(), &["report", "release"]);
    assert_eq!(done.code, 1);
    assert!(
        done.stdout.contains("release.parquet: `age_low` is `"),
        "{}",
        done.stdout
    );
}
