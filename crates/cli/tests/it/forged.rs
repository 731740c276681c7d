//! Folders of a publisher who lies: hashes and seal are made anew, as anybody can where nobody signed, so
//! that only what stands in the files can show that something was added.

use std::path::Path;

use serde_json::Value;

use super::{Done, hedgerow};

const STUDY: &str = r#"[study]
name = "stays"
partition = "horizontal"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
[[attribute]]
name = "zip"
role = "quasi"
taxonomy = "zip.csv"
[[attribute]]
name = "disease"
role = "sensitive"
values = ["flu", "ulcer", "asthma"]
[require]
k = 4
l = 2
"#;

/// A folder with a study, its table and its release.
fn made(study: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("study.toml", study);
    write("zip.csv", "101;1**;*\n102;1**;*\n201;2**;*\n202;2**;*\n");
    let mut rows = String::from("number,age,zip,disease\n");
    for row in 0..120 {
        let zip = [101, 102, 201, 202][row * 3 % 4];
        let disease = ["flu", "ulcer", "asthma"][row * 5 % 3];
        rows.push_str(&format!("p{row},{},{zip},{disease}\n", row * 7 % 100));
    }
    if !study.contains("number") {
        rows = rows
            .lines()
            .map(|line| line.split_once(',').unwrap().1.to_owned() + "\n")
            .collect();
    }
    write("people.csv", &rows);
    let done = hedgerow(
        folder.path(),
        &[
            "anonymize",
            "--study",
            "study.toml",
            "--out",
            "release",
            "people.csv",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    folder
}

/// Makes hashes and seal of an unsigned folder anew, after a change of its manifest.
fn forge(folder: &Path, change: impl FnOnce(&mut Value)) {
    let release = folder.join("release");
    let path = release.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    manifest.as_object_mut().unwrap().shift_remove("seal");
    change(&mut manifest);
    for key in ["/unsigned/files", "/account/files"] {
        let files = manifest.pointer_mut(key).unwrap().as_object_mut().unwrap();
        for (name, hash) in files.iter_mut() {
            if let Ok(bytes) = std::fs::read(release.join(name)) {
                *hash = Value::from(blake3::hash(&bytes).to_hex().to_string());
            }
        }
    }
    let text = format!("{manifest:#}");
    let head = text.strip_suffix("\n}").unwrap();
    let seal = blake3::derive_key("hedgerow account v1", head.as_bytes());
    let seal: String = seal.iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(path, format!("{head},\n  \"seal\": \"{seal}\"\n}}\n")).unwrap();
}

fn with_study(folder: &Path) -> Done {
    hedgerow(folder, &["verify", "release", "--study", "study.toml"])
}

fn alone(folder: &Path) -> Done {
    hedgerow(folder, &["verify", "release"])
}

#[track_caller]
fn assert_found(done: &Done, finding: &str) {
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.starts_with("DOES NOT HOLD"), "{}", done.stdout);
    assert!(done.stdout.contains(finding), "{finding}: {}", done.stdout);
}

#[test]
fn what_is_not_changed_is_forged_to_the_same_bytes() {
    let folder = made(STUDY);
    let path = folder.path().join("release/manifest.json");
    let before = std::fs::read_to_string(&path).unwrap();
    forge(folder.path(), |_| {});
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    assert!(with_study(folder.path()).stdout.starts_with("HOLDS:"));
    assert!(
        alone(folder.path())
            .stdout
            .starts_with("HOLDS BY ITS OWN WORD:")
    );
}

/// A file's text with the raw table somewhere in it.
type Smuggle = fn(&str, &str) -> String;

/// The raw table has no place in any file that follows from the release.
#[test]
fn raw_rows_in_the_files_beside_the_table_are_found() {
    let raw = std::fs::read_to_string(made(STUDY).path().join("people.csv")).unwrap();
    let changes: [(&str, Smuggle); 5] = [
        ("datapackage.json", |_, raw| raw.to_owned()),
        ("datapackage.json", |text, raw| {
            let mut package: Value = serde_json::from_str(text).unwrap();
            package["description"] = raw.into();
            format!("{package:#}\n")
        }),
        ("taxonomies/disease.csv", |text, raw| {
            let leaves = raw
                .lines()
                .skip(1)
                .map(|line| format!("{};*\n", line.replace(',', " ")));
            format!("{text}{}", leaves.collect::<String>())
        }),
        ("release.csv", |text, _| text.replacen("flu", "\"flu\"", 1)),
        ("release.csv", |text, _| format!("{text}\n")),
    ];
    for (name, change) in changes {
        let folder = made(STUDY);
        let path = folder.path().join("release").join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, change(&text, &raw)).unwrap();
        forge(folder.path(), |_| {});
        assert_found(
            &with_study(folder.path()),
            &format!("{name}: is not the file that hedgerow writes"),
        );
        assert_found(
            &alone(folder.path()),
            ": is not the file that hedgerow writes",
        );
    }
}

/// Without the marks that hedgerow writes a Parquet file may say anything in its metadata.
#[test]
fn a_parquet_file_of_another_writer_is_found() {
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let folder = made(STUDY);
    let path = folder.path().join("release/release.parquet");
    let file = std::fs::File::open(&path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    let batches: Vec<_> = reader.map(Result::unwrap).collect();
    let labels = batches[0].schema().index_of("age").unwrap();
    let batches = batches.iter().map(|batch| {
        let names = ["age", "zip", "disease"].map(|name| batch.schema().index_of(name).unwrap());
        batch.project(&names).unwrap()
    });
    let batches: Vec<_> = batches.collect();
    assert_eq!(labels, 0);
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batches[0].schema(), None).unwrap();
    batches
        .iter()
        .for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
    forge(folder.path(), |_| {});
    for done in [with_study(folder.path()), alone(folder.path())] {
        assert_found(
            &done,
            "release.parquet: is not the file that hedgerow writes",
        );
    }
}

/// A change of a manifest.
type Lie<'a> = &'a dyn Fn(&mut Value);

#[test]
fn an_unsigned_manifest_has_no_place_for_other_words() {
    let hash = "0".repeat(64);
    let changes: [(&str, Lie<'_>); 8] = [
        ("`run` has no place", &|said| {
            said["unsigned"]["run"] = 1.into()
        }),
        ("`transcript` has no place", &|said| {
            said["unsigned"]["transcript"] = hash.as_str().into()
        }),
        ("`transcript` is no hash", &|said| {
            said["unsigned"]["transcript"] = "p1,20,flu".into()
        }),
        ("`commitments` has no place", &|said| {
            said["unsigned"]["commitments"] = serde_json::json!({ "north": hash });
        }),
        ("`signatures` has no place", &|said| {
            said["signatures"] = serde_json::json!([{ "site": "a", "key": "b", "signature": "c" }]);
        }),
        ("`hedgerow` is no version", &|said| {
            said["unsigned"]["hedgerow"] = "p1 20 flu".into()
        }),
        ("`ledger` says more than a ledger does", &|said| {
            let what = "p1,20,flu;".repeat(40);
            said["ledger"] =
                serde_json::json!([{ "what": what, "to": "all", "values": 1, "allowed_by": "x" }]);
        }),
        ("`utility` has losses", &|said| {
            said["utility"]["em"] = 0.5.into()
        }),
    ];
    for (finding, change) in changes {
        let folder = made(STUDY);
        forge(folder.path(), change);
        for done in [with_study(folder.path()), alone(folder.path())] {
            assert_eq!(done.code, 1, "{finding}: {}{}", done.stdout, done.stderr);
            assert!(done.stdout.contains(finding), "{finding}: {}", done.stdout);
        }
    }
}

/// D2Pt writes all of a group alike unless the study restores original values.
#[test]
fn original_values_inside_groups_are_found() {
    let number =
        "[[attribute]]\nname = \"number\"\nrole = \"identifier\"\n[[attribute]]\nname = \"age\"";
    let study = STUDY
        .replace("horizontal", "vertical")
        .replacen("[[attribute]]\nname = \"age\"", number, 1)
        .replace("range = [0, 99]", "range = [0, 99]\nwidths = [5, 20]");
    let folder = made(&study);
    let quasi = folder.path().join("release/quasi.csv");
    let text = std::fs::read_to_string(&quasi).unwrap();
    assert!(with_study(folder.path()).stdout.starts_with("HOLDS:"));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let group = lines[1].split(',').next().unwrap().to_owned();
    lines[1] = format!("{group},7,101");
    std::fs::write(&quasi, lines.join("\n") + "\n").unwrap();
    forge(folder.path(), |_| {});
    for done in [with_study(folder.path()), alone(folder.path())] {
        assert_found(&done, "column `age` differs inside a group");
    }
}

/// Names that are "published as they are" are not anonymous because the publisher says so.
#[test]
fn exceptions_on_the_publishers_own_word_are_not_shown() {
    let number = "[[attribute]]\nname = \"number\"\nrole = \"other\"\npublish_unique = true\nvalues = [NUMBERS]\n[[attribute]]\nname = \"age\"";
    let numbers: Vec<String> = (0..120).map(|row| format!("\"p{row}\"")).collect();
    let number = number.replace("NUMBERS", &numbers.join(", "));
    let study = STUDY.replacen("[[attribute]]\nname = \"age\"", &number, 1);
    let folder = made(&study);
    assert_eq!(with_study(folder.path()).code, 0);
    let done = alone(folder.path());
    assert_eq!(done.code, 1, "{}", done.stdout);
    assert!(done.stdout.starts_with("NOT SHOWN:"), "{}", done.stdout);
    assert!(
        done.stdout.contains("published as they are  number"),
        "{}",
        done.stdout
    );
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_not_read() {
    for name in [
        "datapackage.json",
        "taxonomies/zip.csv",
        "release.csv",
        "manifest.json",
    ] {
        for target in ["/dev/zero", "../people.csv"] {
            let folder = made(STUDY);
            let path = folder.path().join("release").join(name);
            std::fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink(target, &path).unwrap();
            for done in [with_study(folder.path()), alone(folder.path())] {
                assert_ne!(done.code, 0, "{name} {target}: {}", done.stdout);
                let said = format!("{}{}", done.stdout, done.stderr);
                assert!(
                    said.contains("is no regular file"),
                    "{name} {target}: {said}"
                );
            }
        }
    }
}

/// Whoever says that another version wrote the files is not believed that they hold nothing else.
#[test]
fn files_that_another_version_wrote_are_not_believed() {
    let folder = made(STUDY);
    std::fs::write(
        folder.path().join("release/datapackage.json"),
        "p1,20,flu\n",
    )
    .unwrap();
    forge(folder.path(), |said| {
        said["unsigned"]["hedgerow"] = "0.0.9".into()
    });
    for done in [with_study(folder.path()), alone(folder.path())] {
        assert_found(&done, "hedgerow 0.0.9 wrote the files");
    }
}
