//! `hedgerow verify`.

use super::{RELEASE, assert_refused, hedgerow, json, small};

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
        "out: no release.parquet or release.csv in this folder\nhint: name the file itself",
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
        "nowhere.csv: cannot be read: No such file or directory (os error 2)",
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
