//! `hedgerow study check`.

use std::io::Write as _;
use std::path::Path;

use super::{assert_refused, hedgerow, json, small, study};

#[test]
fn the_example_study_is_sound() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stroke-registry");
    let done = hedgerow(&examples, &["study", "check", "study.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.starts_with(
        "study `stroke-registry` is sound: horizontal, mondrian, hardened, 3 sites\n"
    ));
    let report = json(&hedgerow(
        &examples,
        &["study", "check", "study.toml", "--json"],
    ));
    assert_eq!(report["requires"]["l"]["kind"], "distinct");
    assert_eq!(report["requires"]["t"]["distance"], "hierarchical");
    assert_eq!(report["requires"]["m"], 1);
    assert!(done.stdout.contains(
        "requires k = 10, distinct l = 3, t <= 0.2 (hierarchical), site diversity 2, against any 1 site colluding"
    ));
}

#[test]
fn tables_are_read_under_the_study() {
    let folder = small();
    std::fs::write(
        folder.path().join("t.csv"),
        "age;zip;disease\n20;101;flu\n30;102;flu\n",
    )
    .unwrap();
    let done = hedgerow(
        folder.path(),
        &["study", "check", "study.toml", "t.csv", "--json"],
    );
    let report = json(&done);
    assert_eq!(
        (
            report["sound"].as_bool(),
            report["tables"][0]["records"].as_u64()
        ),
        (Some(true), Some(2))
    );

    std::fs::write(folder.path().join("t.csv"), "age,zip,disease\n20,103,flu\n").unwrap();
    let done = hedgerow(folder.path(), &["study", "check", "study.toml", "t.csv"]);
    assert_refused(
        &done,
        "t.csv:2: column `zip`: value `103` is outside its 3 values\nhint: nearest valid values are `101`, `102`",
    );
    std::fs::write(folder.path().join("t.csv"), "age,zip,disease\n20,101,flu\n").unwrap();
    let done = hedgerow(folder.path(), &["study", "check", "study.toml", "t.csv"]);
    assert_refused(
        &done,
        "study.toml: k = 2 cannot be met: the tables hold 1 record\nhint: the largest k that can be met is 1",
    );
}

#[test]
fn mistakes_name_their_line() {
    let folder = small();
    let check = |text: &str| {
        std::fs::write(folder.path().join("study.toml"), text).unwrap();
        hedgerow(folder.path(), &["study", "check", "study.toml"])
    };
    let text = study().to_string();
    assert_refused(
        &check(&text.replace("taxonomy =", "taxonmy =")),
        "study.toml:12: unknown key `taxonmy` in `attribute`\nhint: did you mean `taxonomy`?",
    );
    assert_refused(
        &check(&text.replace("range = [0, 99]", "range = [0, 99]\nstpe = 2")),
        "study.toml:9: unknown key `stpe` in `attribute`\nhint: did you mean `step`?",
    );
    assert_refused(
        &check(&text.replace("k = 2", "k = 2\nl = 9")),
        "study.toml:19: `require.l` is 9, but `disease` has only 3 values\nhint: the largest l that can be met is 3",
    );
    std::fs::write(folder.path().join("zip.csv"), "101;1**;*\n102;1**;All\n").unwrap();
    assert_refused(
        &check(&text),
        "zip.csv:2: two roots: `All` here, `*` before\nhint: every row must end in the same root, usually `*`",
    );
}

#[test]
fn a_study_that_does_not_say_who_holds_what_is_not_signed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    hedgerow(folder, &["study", "new", "--vertical", "s.toml"]);
    let study = std::fs::read_to_string(folder.join("s.toml")).unwrap();
    let key = hedgerow(folder, &["keygen", "--out", "clinic.key"]).stdout;
    let other = hedgerow(folder, &["keygen", "--out", "insurer.key"]).stdout;
    let study = study
        .replace("name = \"clinic\"\n", &format!("name = \"clinic\"\n{key}"))
        .replace(
            "name = \"insurer\"\n",
            &format!("name = \"insurer\"\n{other}"),
        );
    let without = study.lines().filter(|line| !line.starts_with("columns ="));
    let without: Vec<&str> = without.collect();
    std::fs::write(folder.join("s.toml"), without.join("\n")).unwrap();
    let sign = || hedgerow(folder, &["study", "sign", "--key", "clinic.key", "s.toml"]);
    assert_refused(
        &sign(),
        "s.toml: the study does not say which site holds which column\nhint: write columns = [\"…\"] below each [[site]]",
    );
    assert!(!folder.join("s.toml.sig").exists());
    std::fs::write(folder.join("s.toml"), study).unwrap();
    let done = sign();
    assert_eq!(done.code, 0, "{}", done.stderr);
}

#[test]
fn a_vertical_study_to_begin_with_and_the_example_are_sound() {
    let folder = tempfile::tempdir().unwrap();
    let made = hedgerow(folder.path(), &["study", "new", "--vertical", "s.toml"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    let done = hedgerow(folder.path(), &["study", "check", "s.toml"]);
    assert!(
        done.stdout
            .starts_with("study `my-study` is sound: vertical, d2pt, hardened, 2 sites\n"),
        "{}{}",
        done.stdout,
        done.stderr
    );
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/linked-patients");
    let done = hedgerow(&examples, &["study", "check", "study.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("`insurer` holds zip, tariff\n"));
}

/// Standard input is read as a file is, and told by its name.
#[test]
fn a_table_comes_from_standard_input() {
    let folder = small();
    for (text, code, said) in [
        (
            "age;zip;disease\n20;101;flu\n30;102;flu\n",
            0,
            "standard input fits: 2 records",
        ),
        (
            "sep=,\nage,zip,disease\n20,103,flu\n",
            2,
            "error: standard input:3: column `zip`: value `103` is outside its 3 values",
        ),
    ] {
        let mut check = std::process::Command::new(env!("CARGO_BIN_EXE_hedgerow"))
            .args(["study", "check", "study.toml", "-"])
            .current_dir(folder.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        check
            .stdin
            .take()
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
        let done = check.wait_with_output().unwrap();
        assert_eq!(done.status.code(), Some(code));
        let printed = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
        assert!(printed.contains(said), "{printed}");
    }
}
