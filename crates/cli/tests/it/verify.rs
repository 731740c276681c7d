//! `hedgerow verify`.

mod columns;
mod models;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use super::{Done, RELEASE, assert_refused, hedgerow, json, small};

#[test]
fn a_release_that_holds() {
    let folder = small();
    let done = hedgerow(
        folder.path(),
        &["verify", "release.csv", "--study", "study.toml"],
    );
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert!(
        done.stdout
            .starts_with("HOLDS: release.csv, 5 records in 2 classes\n"),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout
            .contains("smallest class: age = [20-39], zip = 1**; 2 records, first at record 1")
    );
}

#[test]
fn a_release_that_does_not() {
    let folder = small();
    let arguments = [
        "verify",
        "release.csv",
        "--study",
        "study.toml",
        "--against",
        "k = 3, l = 2",
    ];
    let done = hedgerow(folder.path(), &arguments);
    assert_eq!(done.code, 1);
    assert!(done.stdout.starts_with("DOES NOT HOLD: release.csv"));
    assert!(done.stdout.contains("k-anonymity: fails in 1 class (2 records)\n  worst class: age = [20-39], zip = 1**; 2 records"));
}

#[test]
fn json_is_the_contract() {
    let folder = small();
    let arguments = [
        "verify",
        "release.csv",
        "--study",
        "study.toml",
        "--against",
        "k = 3, t = 0.5",
        "--json",
    ];
    let done = hedgerow(folder.path(), &arguments);
    let report = json(&done);
    assert_eq!(report["holds"], false);
    assert_eq!(report["models"]["k"]["required"], 3);
    assert_eq!(report["models"]["k"]["achieved"], 2);
    assert_eq!(report["models"]["k"]["holds"], false);
    assert_eq!(
        report["models"]["k"]["worst_class"]["quasi"]["age"],
        "[20-39]"
    );
    assert_eq!(report["models"]["t"]["holds"], true);
    assert_eq!(
        report["models"]["t"]["attributes"]["disease"]["distance"],
        "equal"
    );
    // LM: age 2 * 19/99 of 5 records; zip 2 * 1/2 + 3 * 1.
    let lm = (2.0 * 19.0 / 99.0 / 5.0 + (2.0 * 0.5 + 3.0) / 5.0) / 2.0;
    assert!((report["utility"]["lm"].as_f64().unwrap() - lm).abs() < 1e-12);
    assert_eq!(report["utility"]["discernibility"], 4 + 9);
    assert_eq!(report["risk"]["prosecutor"]["max"], 0.5);
    assert!(
        report["utility"].get("em").is_none(),
        "absent without the original"
    );
}

#[test]
fn a_table_without_a_study() {
    let folder = small();
    let arguments = [
        "verify",
        "release.csv",
        "--quasi",
        "age,zip",
        "--sensitive",
        "disease",
        "--against",
        "k = 2, l = 2",
    ];
    assert_eq!(hedgerow(folder.path(), &arguments).code, 0);
    let done = hedgerow(folder.path(), &["verify", "release.csv"]);
    assert_refused(
        &done,
        "nothing says which columns are quasi-identifiers\nhint: give --study study.toml, or --quasi age,zip --sensitive disease",
    );
    let done = hedgerow(
        folder.path(),
        &["verify", "release.csv", "--quasi", "age,zap"],
    );
    assert_refused(
        &done,
        "release.csv:1: there is no column `zap`\nhint: the file has `age`, `zip`, `disease`",
    );
}

#[test]
fn the_original_and_a_population() {
    let folder = small();
    let original =
        "age,zip,disease\n20,101,flu\n39,102,ulcer\n40,101,flu\n40,201,asthma\n40,201,flu\n";
    std::fs::write(folder.path().join("original.csv"), original).unwrap();
    std::fs::write(
        folder.path().join("people.csv"),
        "zip,age\n101,20\n102,25\n102,39\n201,40\n101,40\n",
    )
    .unwrap();
    let arguments = [
        "verify",
        "release.csv",
        "--study",
        "study.toml",
        "--original",
        "original.csv",
        "--queries",
        "50",
        "--population",
        "people.csv",
        "--json",
    ];
    let report = json(&hedgerow(folder.path(), &arguments));
    // EM: ages 20 and 39 are one bit, for two of five records; zip 1** holds 101 twice and 102 once,
    // * holds 101, 102 and 201 two, one and two times.
    let entropy = |shares: &[f64]| shares.iter().map(|p| -p * p.log2()).sum::<f64>();
    let zip = 2.0 * entropy(&[2.0 / 3.0, 1.0 / 3.0]) + 3.0 * entropy(&[0.4, 0.2, 0.4]);
    let em = (2.0 / 5.0 + zip / 5.0) / 2.0;
    assert!((report["utility"]["em"].as_f64().unwrap() - em).abs() < 1e-12);
    // Present ages are 20, 39, 40: (39 - 20) / 20. Present zips are three, 1** holds two of them.
    let present = (2.0 * 19.0 / 20.0 / 5.0 + (2.0 * 0.5 + 3.0) / 5.0) / 2.0;
    assert!((report["utility"]["ncp_present"].as_f64().unwrap() - present).abs() < 1e-12);
    assert_eq!(report["utility"]["query_error"]["queries"], 50);
    assert_eq!(report["risk"]["uniqueness"]["before"], 0.6);
    // Three people are 20 to 39 in 1**; two are 40.
    assert_eq!(report["risk"]["journalist"]["max"], 0.5);
    assert_eq!(report["risk"]["journalist"]["uncovered"], 0);

    // A population that is not one, and an original that is not this release's.
    std::fs::write(folder.path().join("people.csv"), "zip,age\n201,20\n").unwrap();
    let done = hedgerow(
        folder.path(),
        &[
            "verify",
            "release.csv",
            "--study",
            "study.toml",
            "--population",
            "people.csv",
        ],
    );
    assert!(
        done.stdout
            .contains("cannot be told: 5 records not in the population"),
        "{}",
        done.stdout
    );
    std::fs::write(folder.path().join("people.csv"), "zip,age\n201,[20-30]\n").unwrap();
    let done = hedgerow(
        folder.path(),
        &[
            "verify",
            "release.csv",
            "--study",
            "study.toml",
            "--population",
            "people.csv",
        ],
    );
    assert!(
        done.stderr
            .contains("people.csv:2: column `age`: value `[20-30]` is outside"),
        "{}",
        done.stderr
    );
    std::fs::write(
        folder.path().join("original.csv"),
        "age,zip,disease\n99,201,flu\n",
    )
    .unwrap();
    let done = hedgerow(
        folder.path(),
        &[
            "verify",
            "release.csv",
            "--study",
            "study.toml",
            "--original",
            "original.csv",
        ],
    );
    assert_refused(
        &done,
        "original.csv: no record has a `age` in `[20-39]`, which the release has\nhint: is this the original of that release?",
    );
}

#[test]
fn a_close_failure_shows_all_digits() {
    let folder = small();
    let done = hedgerow(
        folder.path(),
        &[
            "verify",
            "release.csv",
            "--study",
            "study.toml",
            "--against",
            "alpha = 0.66666",
        ],
    );
    assert!(done.stdout.contains("<= 0.66666"), "{}", done.stdout);
    assert!(
        done.stdout.contains("0.6666666666666666"),
        "{}",
        done.stdout
    );
}

#[test]
fn a_column_has_one_role() {
    let folder = small();
    let done = hedgerow(
        folder.path(),
        &[
            "verify",
            "release.csv",
            "--quasi",
            "age,zip",
            "--sensitive",
            "zip",
        ],
    );
    assert_refused(
        &done,
        "column `zip` is named twice\nhint: a column has one role",
    );
}

#[test]
fn sites_are_needed_for_what_speaks_of_sites() {
    let folder = small();
    let text: String = RELEASE
        .lines()
        .zip(["site", "A", "B", "A", "A", "B"])
        .map(|(line, site)| format!("{line},{site}\n"))
        .collect();
    std::fs::write(folder.path().join("sites.csv"), text).unwrap();
    let demand = "k = 2, site_diversity = 2, m = 0";
    let with = [
        "verify",
        "sites.csv",
        "--study",
        "study.toml",
        "--against",
        demand,
        "--provider-column",
        "site",
    ];
    assert_eq!(hedgerow(folder.path(), &with).code, 0);
    let stronger = [
        "verify",
        "sites.csv",
        "--study",
        "study.toml",
        "--against",
        "k = 2, m = 1",
        "--provider-column",
        "site",
    ];
    let done = hedgerow(folder.path(), &stronger);
    assert_eq!(done.code, 1);
    assert!(
        done.stdout
            .contains("m-privacy: fails in 2 classes (5 records)"),
        "{}",
        done.stdout
    );
    let without = [
        "verify",
        "release.csv",
        "--study",
        "study.toml",
        "--against",
        demand,
    ];
    let done = hedgerow(folder.path(), &without);
    assert_eq!(done.code, 1);
    assert!(
        done.stdout
            .contains("cannot be told without the sites\nhint: give --provider-column")
    );
}

#[test]
fn an_identifier_in_a_release_is_never_anonymous() {
    let folder = small();
    let study = std::fs::read_to_string(folder.path().join("study.toml")).unwrap();
    let study = study.replace(
        "[require]",
        "[[attribute]]\nname = \"name\"\nrole = \"identifier\"\n[require]",
    );
    std::fs::write(folder.path().join("study.toml"), study).unwrap();
    let named = RELEASE
        .replace("disease\n", "disease,name\n")
        .replace("flu\n", "flu,x\n")
        .replace("ulcer\n", "ulcer,x\n")
        .replace("asthma\n", "asthma,x\n");
    std::fs::write(folder.path().join("named.csv"), named).unwrap();
    let done = hedgerow(
        folder.path(),
        &["verify", "named.csv", "--study", "study.toml"],
    );
    assert_eq!(done.code, 1);
    assert!(
        done.stdout
            .contains("column `name` is an identifier: nobody in this table is anonymous")
    );
    assert_eq!(
        hedgerow(
            folder.path(),
            &["verify", "release.csv", "--study", "study.toml"]
        )
        .code,
        0
    );
}

#[test]
fn a_release_folder() {
    let folder = small();
    std::fs::create_dir(folder.path().join("out")).unwrap();
    let done = hedgerow(folder.path(), &["verify", "out", "--study", "study.toml"]);
    assert_refused(
        &done,
        "out: no release.parquet or release.csv in this folder\nhint: name a release folder, or the file itself",
    );
    std::fs::rename(
        folder.path().join("release.csv"),
        folder.path().join("out/release.csv"),
    )
    .unwrap();
    assert_eq!(
        hedgerow(folder.path(), &["verify", "out", "--study", "study.toml"]).code,
        0
    );
    let done = hedgerow(
        folder.path(),
        &["verify", "nowhere.csv", "--study", "study.toml"],
    );
    assert_refused(
        &done,
        "nowhere.csv: there is no such file or folder\nhint: name a release folder, or a .csv or .parquet file",
    );
}

#[test]
fn a_parquet_release() {
    // A pooled census as Parquet, verified as it is: every record its own class, or nearly.
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "generate", "census", "--rows", "300", "--format", "parquet", "--out", "c",
    ];
    assert_eq!(hedgerow(folder.path(), &arguments).code, 0);
    let table = "c/north.parquet";
    let done = hedgerow(
        folder.path(),
        &["verify", table, "--study", "c/study.toml", "--json"],
    );
    assert_eq!((done.code, json(&done)["records"].as_u64()), (1, Some(300)));
    // The other way into the same column types: as a table of the study.
    let done = hedgerow(folder.path(), &["study", "check", "c/study.toml", table]);
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn bad_requirements() {
    let folder = small();
    let against = |demand: &str| {
        hedgerow(
            folder.path(),
            &[
                "verify",
                "release.csv",
                "--study",
                "study.toml",
                "--against",
                demand,
            ],
        )
    };
    assert_refused(
        &against("require"),
        "--against: `require` is no requirement\nhint: give a .toml file with a [require] table, or a line such as 'k = 10, l = 3'",
    );
    assert_refused(
        &against("k = 0"),
        "--against:1: `require.k` is 0, expected 1 or more",
    );
    assert_refused(
        &against("l = 4"),
        "--against:1: `require.l` is 4, but `disease` has only 3 values\nhint: the largest l that can be met is 3",
    );
    assert_refused(
        &against("t = 2"),
        "--against:1: `require.t` is 2, expected from 0 to 1",
    );
    std::fs::write(
        folder.path().join("strict.toml"),
        "[require]\nk = 2\nll = 3\n",
    )
    .unwrap();
    assert_refused(
        &against("strict.toml"),
        "strict.toml:3: unknown key `ll` in `require`\nhint: did you mean `l`?",
    );
}

#[test]
fn a_cell_that_is_no_node() {
    let folder = small();
    std::fs::write(
        folder.path().join("release.csv"),
        RELEASE.replace("1**", "3**"),
    )
    .unwrap();
    let done = hedgerow(
        folder.path(),
        &["verify", "release.csv", "--study", "study.toml"],
    );
    assert_refused(
        &done,
        "release.csv:2: column `zip`: `3**` is no value, interval or set of this attribute, and no node of its taxonomy\nhint: nearest are `1**`, `2**`",
    );
}

const SITES: [&str; 3] = ["north", "south", "east"];

/// A study of three sites, their rows, and the release that all of them signed: every file of it,
/// made by three processes once.
fn files_of_a_signed_run() -> &'static [(PathBuf, Vec<u8>)] {
    static FILES: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let mut study = String::from(
            "[study]\nname = \"<b>stroke</b> & co\"\npartition = \"horizontal\"\n[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 99]\n[[attribute]]\nname = \"<script>alert(1)</script>\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 9]\n[[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"flu\", \"ulcer\", \"asthma\"]\n[require]\nk = 5\nl = 2\nsite_diversity = 2\nm = 1\n",
        );
        for name in SITES {
            let done = hedgerow(path, &["keygen", "--out", &format!("{name}.key")]);
            assert_eq!(done.code, 0, "{}", done.stderr);
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            study.push_str(&format!(
                "[[site]]\nname = \"{name}\"\naddress = \"{address}\"\n{}",
                done.stdout
            ));
        }
        std::fs::write(path.join("study.toml"), study).unwrap();
        for name in SITES {
            let key = format!("{name}.key");
            let done = hedgerow(path, &["study", "sign", "--key", &key, "study.toml"]);
            assert_eq!(done.code, 0, "{}", done.stderr);
        }
        let shown = json(&hedgerow(path, &["study", "show", "study.toml", "--json"]));
        let disclosures: Vec<&str> = shown["discloses"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["what"].as_str().unwrap())
            .collect();
        let mut pooled = String::from("age,<script>alert(1)</script>,disease,site\n");
        let mut running = Vec::new();
        for (place, name) in SITES.iter().enumerate() {
            let mut rows = String::from("age,<script>alert(1)</script>,disease\n");
            for row in 0..60 {
                let number = row * 3 + place;
                let disease = ["flu", "ulcer", "asthma"][number / 7 % 3];
                let line = format!("{},{},{disease}", number * 37 % 100, number * 13 % 10);
                rows.push_str(&format!("{line}\n"));
                pooled.push_str(&format!("{line},{name}\n"));
            }
            std::fs::write(path.join(format!("{name}.csv")), rows).unwrap();
            let file = path.join(format!("{name}.toml"));
            let text = format!(
                "site = \"{name}\"\nstudy = \"study.toml\"\nkey = \"{name}.key\"\ndata = \"{name}-data\"\npatience = 60\n[source]\nfile = \"{name}.csv\"\n[accept]\nminimum_k = 5\nmodels = [\"k\", \"l\", \"site_diversity\", \"m\"]\nminimum_l = 2\nminimum_site_diversity = 2\nminimum_m = 1\nalgorithms = [\"mondrian\"]\nsecurity = [\"hardened\"]\ncolumns = [\"age\", \"<script>alert(1)</script>\", \"disease\"]\ndisclosures = {disclosures:?}\n"
            );
            std::fs::write(&file, text).unwrap();
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&file, private).unwrap();
        }
        std::fs::write(path.join("pooled.csv"), pooled).unwrap();
        for name in SITES {
            let said = std::fs::File::create(path.join(format!("{name}.err"))).unwrap();
            let child = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
                .args(["run", "--site", &format!("{name}.toml")])
                .current_dir(path)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(said)
                .spawn()
                .unwrap();
            running.push((name, child));
        }
        // All end by themselves: at the latest when their patience does.
        for (name, mut child) in running {
            let status = child.wait().unwrap();
            let said = std::fs::read_to_string(path.join(format!("{name}.err"))).unwrap();
            assert!(status.success(), "{name}: {said}");
        }
        let mut files = Vec::new();
        let mut keep = |from: &str, to: &str| {
            let bytes = std::fs::read(path.join(from)).unwrap();
            files.push((PathBuf::from(to), bytes));
        };
        keep("study.toml", "study.toml");
        keep("pooled.csv", "pooled.csv");
        for name in SIGNED_FILES {
            keep(&format!("north-data/release-1/{name}"), &format!("release/{name}"));
        }
        files
    })
}

/// The files of the signed release.
const SIGNED_FILES: [&str; 6] = [
    "datapackage.json",
    "manifest.json",
    "release.csv",
    "release.parquet",
    "report.html",
    "taxonomies/disease.csv",
];

/// A folder with `study.toml`, `pooled.csv` and the signed `release`.
pub(super) fn signed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("release/taxonomies")).unwrap();
    for (name, bytes) in files_of_a_signed_run() {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

fn verify(folder: &Path) -> Done {
    hedgerow(folder, &["verify", "release", "--study", "study.toml"])
}

/// Changes a file, verifies, and puts it back.
fn changed(folder: &Path, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Done {
    let path = folder.join(name);
    let before = std::fs::read(&path).unwrap();
    let mut bytes = before.clone();
    change(&mut bytes);
    assert_ne!(bytes, before);
    std::fs::write(&path, bytes).unwrap();
    let done = verify(folder);
    std::fs::write(&path, before).unwrap();
    done
}

#[track_caller]
fn assert_found(done: &Done, finding: &str) {
    assert_eq!(done.code, 1, "{finding}: {}{}", done.stdout, done.stderr);
    assert!(done.stdout.starts_with("DOES NOT HOLD"), "{}", done.stdout);
    assert!(done.stdout.contains(finding), "{finding}: {}", done.stdout);
    assert_eq!(done.stderr, "");
}

#[test]
fn a_signed_release_holds_and_its_sites_attest_to_what_it_does_not_show() {
    let folder = signed();
    let done = verify(folder.path());
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (0, ""),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout
            .contains("manifest: signed by all sites of the study")
    );
    for model in ["site diversity 2", "m = 1"] {
        let line = done.stdout.lines().find(|line| line.starts_with(model));
        assert!(
            line.unwrap().contains("attested by all sites"),
            "{}",
            done.stdout
        );
    }
    let arguments = ["verify", "release", "--study", "study.toml", "--json"];
    let found = json(&hedgerow(folder.path(), &arguments));
    let manifest = &found["manifest"];
    assert_eq!(
        (&found["holds"], &manifest["holds"]),
        (&true.into(), &true.into())
    );
    assert_eq!(manifest["run"], 1);
    assert_eq!(
        manifest["attested"],
        serde_json::json!(["site diversity 2", "m = 1"])
    );
    for (place, name) in SITES.iter().enumerate() {
        assert_eq!(manifest["signatures"][place]["site"], *name);
        assert_eq!(manifest["signatures"][place]["standing"], "signed");
    }
    // The sites attested to the study's requirement, not to another.
    let arguments = [&arguments[..], &["--against", "k = 5, m = 1"]].concat();
    assert_eq!(hedgerow(folder.path(), &arguments).code, 1);
}

#[test]
fn a_manifest_of_another_version_is_not_guessed_at() {
    let folder = signed();
    let version = |to: &str| {
        changed(folder.path(), "release/manifest.json", |bytes| {
            let text = String::from_utf8(bytes.clone()).unwrap();
            assert!(text.starts_with("{\n  \"version\": 2,\n"), "{text}");
            *bytes = text.replacen("  \"version\": 2,\n", to, 1).into_bytes();
        })
    };
    for other in [1, 3] {
        assert_found(
            &version(&format!("  \"version\": {other},\n")),
            &format!(
                "manifest.json: is of version {other}, this hedgerow reads version 2: look at it with the hedgerow that wrote it"
            ),
        );
    }
    assert_found(&version(""), "manifest.json: has no version, expected 2");
}

#[test]
fn a_changed_byte_is_found_wherever_it_is() {
    let folder = signed();
    let path = folder.path();
    for name in SIGNED_FILES {
        let file = format!("release/{name}");
        let length = std::fs::read(path.join(&file)).unwrap().len();
        let finding = match name {
            "manifest.json" => String::from("  manifest.json: "),
            _ => format!("  {name}: is not the file that manifest.json speaks of"),
        };
        let few = (0..length).step_by(length.div_ceil(40)).chain([length - 1]);
        for (turn, at) in few.enumerate() {
            let done = changed(path, &file, |bytes| bytes[at] ^= 1 << (turn % 8));
            assert_found(&done, &finding);
        }
        assert_found(&changed(path, &file, |bytes| bytes.push(b'\n')), &finding);
        assert_found(
            &changed(path, &file, |bytes| bytes.truncate(length / 2)),
            &finding,
        );
        assert_found(&changed(path, &file, Vec::clear), &finding);
    }
    // A blank that says nothing to JSON is found too where it was signed.
    let text = std::fs::read_to_string(path.join("release/manifest.json")).unwrap();
    let done = changed(path, "release/manifest.json", |bytes| {
        let at = text.find(": ").unwrap();
        bytes.insert(at, b' ');
    });
    assert_found(&done, "manifest.json: the signed part was changed by hand");
    // And where it is one site's account.
    for word in ["\"ledger\": ", "\"cost\": ", "\"seal\": "] {
        let done = changed(path, "release/manifest.json", |bytes| {
            bytes.insert(text.find(word).unwrap() + word.len(), b' ');
        });
        assert_found(&done, "  manifest.json: ");
    }
    assert_eq!(verify(path).code, 0, "all was put back");
}

#[test]
fn every_line_of_a_manifest_matters() {
    let folder = signed();
    let path = folder.path().join("release");
    let manifest = std::fs::read(path.join("manifest.json")).unwrap();
    // Nearer than one in forty: every line once, at another place of it each time.
    let lines = manifest.split_inclusive(|byte| *byte == b'\n');
    let mut start = 0;
    for (turn, line) in lines.enumerate() {
        let at = start + turn % line.len();
        start += line.len();
        let done = changed(folder.path(), "release/manifest.json", |bytes| {
            bytes[at] ^= 1 << (turn % 7);
        });
        assert_found(&done, "  manifest.json: ");
    }
}

#[test]
fn a_file_that_is_missing_or_does_not_belong_is_named() {
    let folder = signed();
    let path = folder.path();
    for name in SIGNED_FILES {
        let file = path.join("release").join(name);
        std::fs::rename(&file, path.join("gone")).unwrap();
        let done = verify(path);
        assert_found(&done, &format!("  {name}: is missing"));
        // Said before what was measured, and no column is asked for that a release cannot have.
        let said = |words: &str| done.stdout.find(words);
        assert!(said("MANIFEST DOES NOT HOLD") < said("k-anonymity"));
        assert_eq!(said("--provider-column"), None);
        std::fs::rename(path.join("gone"), &file).unwrap();
    }
    for name in ["notes.txt", ".hidden"] {
        let file = path.join("release").join(name);
        std::fs::write(&file, "").unwrap();
        let done = verify(path);
        assert_found(&done, &format!("  {name}: is no file of this release"));
        // What all sites attested to is not in doubt for it.
        assert!(
            done.stdout.contains("attested by all sites"),
            "{}",
            done.stdout
        );
        std::fs::remove_file(&file).unwrap();
    }
    std::fs::create_dir(path.join("release/more")).unwrap();
    assert_found(&verify(path), "  more: is no file of this release");
    std::fs::remove_dir(path.join("release/more")).unwrap();
    assert_eq!(verify(path).code, 0);

    // A study that says what it must not is bad input, whatever the folder holds.
    let done = changed(path, "study.toml", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = text.replace("k = 5", "kk = 5").into_bytes();
    });
    assert_refused(
        &done,
        "study.toml:19: unknown key `kk` in `require`\nhint: did you mean `k`?",
    );
    let nowhere = hedgerow(path, &["verify", "nowhere", "--study", "study.toml"]);
    assert_refused(
        &nowhere,
        "nowhere: there is no such file or folder\nhint: name a release folder, or a .csv or .parquet file",
    );

    // Nothing but the manifest.
    for name in ["release.csv", "release.parquet"] {
        std::fs::remove_file(path.join("release").join(name)).unwrap();
    }
    let done = verify(path);
    for name in ["release.csv", "release.parquet"] {
        assert_found(&done, &format!("  {name}: is missing"));
    }
    let done = hedgerow(path, &["report", "release", "--study", "study.toml"]);
    assert_refused(
        &done,
        "release: no release.parquet or release.csv in this folder\nhint: name a release folder, or the file itself",
    );
}

/// A site's account is its own: nobody else can write it, and no other release can have it.
#[test]
fn an_account_is_sealed_by_its_site() {
    let folder = signed();
    let path = folder.path();
    let found = json(&hedgerow(
        path,
        &["verify", "release", "--study", "study.toml", "--json"],
    ));
    assert_eq!(found["manifest"]["account"], "north");
    let done = changed(path, "release/manifest.json", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let own = "\"site\": \"north\",\n    \"files\"";
        assert!(text.contains(own));
        *bytes = text
            .replace(own, &own.replace("north", "south"))
            .into_bytes();
    });
    assert_found(&done, "manifest.json: is not as `south` sealed it");
    let done = changed(path, "release/manifest.json", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let own = "\"site\": \"north\",\n    \"files\"";
        *bytes = text
            .replace(own, &own.replace("north", "west"))
            .into_bytes();
    });
    assert_found(
        &done,
        "manifest.json: is an account of `west`, which is no site of the study",
    );
    // A ledger without its first line, and a report to go with it.
    let done = changed(path, "release/manifest.json", |bytes| {
        let mut manifest: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        manifest["ledger"].as_array_mut().unwrap().remove(0);
        *bytes = format!("{manifest:#}\n").into_bytes();
    });
    assert_found(&done, "manifest.json: is not as `north` sealed it");
    // No seal at all.
    let done = changed(path, "release/manifest.json", |bytes| {
        let mut manifest: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        manifest.as_object_mut().unwrap().remove("seal");
        *bytes = format!("{manifest:#}\n").into_bytes();
    });
    assert_found(&done, "manifest.json: does not end with a seal");
}

#[test]
fn numbers_and_signatures_that_are_not_so_are_named() {
    let folder = signed();
    let path = folder.path();
    let edit = |change: &dyn Fn(&mut serde_json::Value)| {
        changed(path, "release/manifest.json", |bytes| {
            let mut manifest = serde_json::from_slice(bytes).unwrap();
            change(&mut manifest);
            *bytes = format!("{manifest:#}\n").into_bytes();
        })
    };
    let entries =
        |manifest: &mut serde_json::Value| manifest["signatures"].as_array().unwrap().clone();
    let done = edit(&|manifest| {
        let mut left = entries(manifest);
        left.pop();
        manifest["signatures"] = left.into();
    });
    assert_found(&done, "manifest.json: `east`: not signed");
    let done = edit(&|manifest| manifest["signatures"] = serde_json::json!([]));
    assert_found(&done, "manifest.json: `north`: not signed");
    let done = edit(&|manifest| {
        let mut swapped = entries(manifest);
        swapped.swap(0, 1);
        manifest["signatures"] = swapped.into();
    });
    assert_found(
        &done,
        "`north`: not signed: another site stands in its place",
    );
    let done = edit(&|manifest| {
        let other = manifest["signatures"][1]["signature"].clone();
        manifest["signatures"][0]["signature"] = other;
    });
    assert_found(&done, "`north`: the signature is not of this release");
    let done = edit(&|manifest| {
        let mut more = entries(manifest);
        let mut stranger = more[0].clone();
        stranger["site"] = "west".into();
        more.push(stranger);
        manifest["signatures"] = more.into();
    });
    assert_found(
        &done,
        "a signature of \"west\", which is no site of the study",
    );
    let done = edit(&|manifest| {
        manifest["unsigned"] = manifest["signed"].take();
        manifest["signatures"] = serde_json::json!([]);
    });
    assert_found(
        &done,
        "manifest.json: not signed by `north`, `south`, `east`",
    );
    // Neither the number of records nor what they say besides can be made up.
    let done = edit(&|manifest| manifest["signed"]["records"] = 181.into());
    assert_found(
        &done,
        "manifest.json: `records` is 181, the release has 180",
    );
    assert_found(&done, "`north`: the signature is not of this release");
    let done = edit(&|manifest| manifest["achieved"]["k"] = 50.into());
    assert_found(&done, "manifest.json: `achieved.k` is 50, the release has ");
    let done = edit(&|manifest| manifest["utility"]["ncp"] = 0.5.into());
    assert_found(
        &done,
        "manifest.json: `utility.ncp` is 0.5, the release has ",
    );
}

/// The study is signed with the release: another one, were it only a comment, is not this one.
#[test]
fn another_study_is_not_the_one_that_was_signed() {
    let folder = signed();
    let path = folder.path();
    let done = changed(path, "study.toml", |bytes| bytes.extend(b"# a word\n"));
    assert_found(&done, "manifest.json: `study_hash` is ");
    assert!(
        !done.stdout.contains("not of this release"),
        "{}",
        done.stdout
    );
    // A weaker study with the sites' own keys.
    let done = changed(path, "study.toml", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        *bytes = text.replace("m = 1\n", "m = 0\n").into_bytes();
    });
    assert_found(&done, "manifest.json: `study_hash` is ");
    // A site's key that is not the one that signed.
    let other = hedgerow(path, &["keygen", "--out", "other.key"]).stdout;
    let done = changed(path, "study.toml", |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let key = text.lines().find(|line| line.starts_with("key")).unwrap();
        *bytes = text.replace(key, other.trim_end()).into_bytes();
    });
    assert_found(&done, "`north`: signed by another key than the study has");
}

#[test]
fn what_no_sites_made_has_a_manifest_that_nobody_signed() {
    let folder = small();
    let path = folder.path();
    std::fs::write(
        path.join("table.csv"),
        "age,zip,disease\n20,101,flu\n39,102,ulcer\n40,101,flu\n40,201,asthma\n41,201,flu\n",
    )
    .unwrap();
    let simulate = [
        "simulate",
        "--study",
        "study.toml",
        "--sites",
        "2",
        "table.csv",
        "--out",
        "release",
    ];
    let anonymize = [
        "anonymize",
        "--study",
        "study.toml",
        "table.csv",
        "--out",
        "release",
    ];
    for arguments in [&simulate[..], &anonymize] {
        let done = hedgerow(path, arguments);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let text = std::fs::read_to_string(path.join("release/manifest.json")).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(manifest["unsigned"]["records"], 5);
        assert_eq!(
            manifest["unsigned"]["study_hash"].as_str().unwrap().len(),
            64
        );
        assert_eq!(manifest["signatures"], serde_json::json!([]));
        assert!(manifest["achieved"]["k"].as_u64().unwrap() >= 2);
        assert!(manifest["utility"]["ncp"].is_f64() && manifest["cost"]["seconds"].is_f64());
        assert!(manifest["ledger"].is_array());
        let done = verify(path);
        assert_eq!(done.code, 0, "{}", done.stdout);
        assert!(
            done.stdout
                .contains("manifest: not signed; the release is what it says")
        );
        let done = changed(path, "release/release.csv", |bytes| {
            let last = bytes.len() - 2;
            bytes[last] ^= 1;
        });
        assert_found(
            &done,
            "release.csv: is not the file that manifest.json speaks of",
        );
        // Damage is seen in the rest too.
        let done = changed(path, "release/report.html", |bytes| bytes[99] ^= 1);
        assert_found(&done, "report.html: is not the file");
        let done = changed(path, "release/manifest.json", |bytes| {
            let at = bytes
                .windows(8)
                .position(|word| word == b"\"rounds\"")
                .unwrap();
            bytes[at + 1] ^= 1;
        });
        assert_found(
            &done,
            "manifest.json: is no manifest: unknown field `sounds`",
        );
        let done = changed(path, "release/manifest.json", |bytes| {
            let word = b"\"seconds\": ";
            let mut words = bytes.windows(word.len());
            let at = words.position(|found| found == word).unwrap();
            bytes[at + word.len()] ^= 1;
        });
        assert_found(&done, "manifest.json: was changed after it was written");
        // A folder with something else in it is not for a release.
        std::fs::write(path.join("release/notes.txt"), "").unwrap();
        assert_refused(
            &hedgerow(path, arguments),
            "release: holds `notes.txt`, which is no file of a release\nhint: name another folder; it need not exist",
        );
        std::fs::remove_file(path.join("release/notes.txt")).unwrap();
    }
}
