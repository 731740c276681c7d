//! `hedgerow site new`, `site check`, `study sign --site` and `study show`: what an officer reads and does
//! before anybody signs.

use std::path::Path;

use hedgerow_testing::{StudyText, integer, values};
use serde_json::Value;

use super::{Done, assert_refused, hedgerow, json};

/// A folder with a study of three sites, `north` with its rows and key.
fn agreed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut text = StudyText::new("stroke")
        .identifier("patient")
        .quasi("age", integer(0..=99))
        .quasi("sex", values(["f", "m"]))
        .sensitive("diagnosis", values(["flu", "ulcer", "asthma"]))
        .other("ward", values(["1", "2"]))
        .require("k = 4\nl = 2\nt = 0.5\nm = 1")
        .algorithm("name = \"clustering\"");
    for (place, name) in ["north", "south", "east"].iter().enumerate() {
        let done = hedgerow(path, &["keygen", "--out", &format!("{name}.key")]);
        let address = format!("address = \"127.0.0.1:{}\"", 7401 + place);
        text = text.site(name, &format!("{address}\n{}", done.stdout));
    }
    std::fs::write(path.join("study.toml"), text.to_string()).unwrap();
    let rows = (0..12).map(|row| {
        let diagnosis = ["flu", "ulcer", "asthma"][row % 3];
        format!(
            "p{row},{},{},{diagnosis},{}\n",
            30 + row,
            ["f", "m"][row % 2],
            1 + row % 2
        )
    });
    let rows: String = rows.collect();
    std::fs::write(
        path.join("north.csv"),
        format!("patient,age,sex,diagnosis,ward\n{rows}"),
    )
    .unwrap();
    folder
}

fn type_in(folder: &Path, line: &str) -> Done {
    hedgerow(folder, &line.split(' ').collect::<Vec<_>>())
}

const NEW: &str = "site new --study study.toml --site north --rows north.csv";

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// The officer agrees to every line, as sed would.
fn agree(folder: &Path, name: &str) {
    let lines = read(folder, name);
    let lines = lines.lines().map(|line| {
        let is_closed = line
            .trim_start()
            .strip_prefix('#')
            .is_some_and(|rest| !rest.starts_with(' '));
        format!(
            "{}\n",
            if is_closed {
                line.replacen('#', "", 1)
            } else {
                line.to_owned()
            }
        )
    });
    std::fs::write(folder.join(name), lines.collect::<String>()).unwrap();
}

#[test]
fn a_draft_is_made_once_and_says_what_each_line_means() {
    let folder = agreed();
    let folder = folder.path();
    let done = type_in(folder, NEW);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.contains("and nothing is accepted yet"),
        "{}",
        done.stdout
    );
    let text = read(folder, "site.toml");
    // Only the owner may read it.
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(folder.join("site.toml"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let flat = text.replace("\n# ", " ").replace("\n  # ", " ");
    for said in [
        "site = \"north\"",
        "key = \"north.key\"",
        "file = \"north.csv\"",
        "in every group of the release at least 4 people look the same (k = 4)",
        "#minimum_k = 4\n",
        "there is no group in which `diagnosis` has fewer than 2 different values (l = 2)",
        "#minimum_l = 2\n",
        "#maximum_t = 0.5\n",
        "any 1 site that takes its own records out of a group still sees at least 4 people of the others",
        "\nminimum_m = 1\n",
        "  #\"diagnosis\",\n",
        "To every site: How many records all sites have together.",
        "What a peer could work out: How many records all the others have together",
        "  #\"closures of clusters\",\n",
        "runs = 1\nrerun = \"same rows\"\n",
    ] {
        assert!(flat.contains(said) || text.contains(said), "{said}\n{text}");
    }
    // It is kept, unless somebody says otherwise.
    std::fs::write(folder.join("site.toml"), "mine").unwrap();
    assert_refused(
        &type_in(folder, NEW),
        "site.toml: is there already and is kept\nhint: name another file with --out, or write over it with --force",
    );
    assert_eq!(read(folder, "site.toml"), "mine");
    let done = type_in(folder, &format!("{NEW} --force"));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(read(folder, "site.toml"), text);
}

#[test]
fn the_site_is_named_or_known_by_its_key_and_files_are_found_from_another_folder() {
    let folder = agreed();
    let folder = folder.path();
    assert_refused(
        &type_in(folder, "site new --study study.toml"),
        "study.toml: nothing says which site this is\nhint: --site names it: the study has `north`, `south`, `east`",
    );
    assert_refused(
        &type_in(folder, "site new --study study.toml --name nord"),
        "study.toml: the study has no site `nord`\nhint: did you mean `north`?",
    );
    hedgerow(folder, &["keygen", "--out", "other.key"]);
    let done = type_in(folder, "site new --study study.toml --key other.key");
    assert!(
        done.code == 2
            && done
                .stderr
                .contains("other.key: is the key of no site of study.toml"),
        "{}",
        done.stderr
    );
    std::fs::create_dir_all(folder.join("of/north")).unwrap();
    let done = type_in(
        folder,
        "site new --study study.toml --key north.key --rows north.csv --out of/north/site.toml --json",
    );
    assert_eq!(json(&done)["site"], "north", "{}", done.stderr);
    let text = read(folder, "of/north/site.toml");
    for line in [
        "study = \"../../study.toml\"",
        "key = \"../../north.key\"",
        "file = \"../../north.csv\"",
    ] {
        assert!(text.contains(line), "{text}");
    }
    agree(folder, "of/north/site.toml");
    let done = type_in(folder, "site check of/north/site.toml");
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    // Where nobody says where the rows are, a person must.
    let done = type_in(folder, "site new --study study.toml --site east");
    assert!(
        done.stdout.contains("to fill in: `source.file`"),
        "{}",
        done.stdout
    );
}

#[test]
fn what_the_study_does_not_say_is_left_to_fill_in() {
    let folder = agreed();
    let folder = folder.path();
    let study = read(folder, "study.toml");
    let without = study.lines().filter(|line| !line.starts_with("address"));
    let without: String = without.map(|line| format!("{line}\n")).collect();
    std::fs::write(folder.join("study.toml"), without).unwrap();
    let done = type_in(folder, &format!("{NEW} --json"));
    let told = json(&done);
    assert_eq!(told["todo"].as_array().unwrap().len(), 3, "{told}");
    let text = read(folder, "site.toml");
    assert!(
        text.contains("# listen = \"TODO\"\n") && text.contains("# name = \"south\"\n"),
        "{text}"
    );
    let done = type_in(folder, "site check site.toml");
    assert!(
        done.stdout.contains("address: `south` has no address"),
        "{}",
        done.stdout
    );
    // Agreement to every rule makes no address, and nothing is signed.
    agree(folder, "site.toml");
    let done = type_in(folder, "site check site.toml");
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    assert!(
        done.stdout.starts_with("REFUSED: `north` would not take part in a run of `stroke`, for 3 reasons\n  address: `north` has no address\n"),
        "{}",
        done.stdout
    );
    assert_eq!(type_in(folder, "study sign --site site.toml").code, 1);
    // A placeholder that is opened as it is makes no address either.
    let open = |text: String| {
        let (head, rest) = text.split_once("# listen = ").unwrap();
        let rest = rest.replace("# [[peer]]", "[[peer]]");
        let rest = rest.replace("# name = ", "name = ");
        format!(
            "{head}listen = {}",
            rest.replace("# address = ", "address = ")
        )
    };
    let text = open(read(folder, "site.toml"));
    std::fs::write(folder.join("site.toml"), &text).unwrap();
    assert_refused(
        &type_in(folder, "site check site.toml"),
        "site.toml:12: `listen` is `TODO`, expected host:port, e.g. 127.0.0.1:7401",
    );
    std::fs::write(
        folder.join("site.toml"),
        text.replace("TODO\"", "localhost:7401\""),
    )
    .unwrap();
    let done = type_in(folder, "site check site.toml");
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
}

#[test]
fn nobody_signs_what_the_site_would_refuse() {
    let folder = agreed();
    let folder = folder.path();
    type_in(folder, NEW);
    let done = type_in(folder, "site check site.toml --study study.toml");
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(
        done.stdout
            .starts_with("REFUSED: `north` would not take part in a run of `stroke`"),
        "{}",
        done.stdout
    );
    // Every line that waits is named by its number.
    let text = read(folder, "site.toml");
    let closed: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .filter_map(|(at, line)| {
            let rest = line.trim_start().strip_prefix('#')?;
            (!rest.starts_with(' ')).then_some((at + 1, rest.trim_end_matches(',')))
        })
        .collect();
    assert!(closed.len() > 15, "{text}");
    for (at, line) in &closed {
        let said = format!("site.toml:{at}: take the # away: {line}\n");
        assert!(done.stdout.contains(&said), "{said}{}", done.stdout);
    }
    let told = json(&type_in(folder, "site check site.toml --json"));
    assert_eq!(told["accepted"], false);
    let lines = told["faults"].as_array().unwrap().iter();
    let lines = lines.map(|fault| fault["lines"].as_array().map_or(0, Vec::len));
    assert_eq!(lines.sum::<usize>(), closed.len());

    // No signature is made; then it is.
    let sign = "study sign --site site.toml";
    let done = type_in(folder, sign);
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(
        done.stdout.starts_with("not signed\nREFUSED: "),
        "{}",
        done.stdout
    );
    assert_eq!(
        json(&type_in(folder, &format!("{sign} --json")))["signed"],
        false
    );
    assert!(!folder.join("study.toml.sig").exists());
    agree(folder, "site.toml");
    let done = type_in(folder, "site check site.toml");
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert_eq!(
        done.stdout,
        "ACCEPTED: `north` would take part in a run of `stroke`\nrows: 12 records fit the study\nnot signed yet by `north`, `south`, `east`\nhint: hedgerow study sign --site site.toml signs\n"
    );
    let done = type_in(folder, sign);
    assert_eq!(
        (done.code, done.stderr.as_str()),
        (0, ""),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout.starts_with("signed for `north`: "),
        "{}",
        done.stdout
    );
    assert!(folder.join("study.toml.sig").exists());
    // A key of somebody else does not sign for this site.
    let done = type_in(
        folder,
        "study sign --site site.toml --key south.key study.toml",
    );
    assert_refused(
        &done,
        "south.key is another key than north.key, which the site's file names\nhint: leave --key out",
    );
}

#[test]
fn a_signature_without_a_test_says_so_unless_nobody_wants_to_hear() {
    let folder = agreed();
    let folder = folder.path();
    let done = type_in(folder, "study sign --key south.key study.toml");
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stderr
            .starts_with("note: nobody has looked whether this site accepts the study"),
        "{}",
        done.stderr
    );
    let done = type_in(folder, "study sign --key south.key study.toml --quiet");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert_eq!(type_in(folder, "study sign study.toml").code, 2);
}

#[test]
fn files_that_cannot_be_read_are_bad_input_and_another_study_is_noted() {
    let folder = agreed();
    let folder = folder.path();
    type_in(folder, NEW);
    agree(folder, "site.toml");
    let study = read(folder, "study.toml");
    std::fs::write(folder.join("next.toml"), study.replace("l = 2", "l = 3")).unwrap();
    let done = type_in(folder, "site check site.toml --study next.toml");
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(
        done.stdout
            .contains("note: site.toml names study.toml, which is not this study"),
        "{}",
        done.stdout
    );
    // A weaker one is refused, with the line that would take it.
    std::fs::write(folder.join("next.toml"), study.replace("l = 2", "l = 1")).unwrap();
    let done = type_in(folder, "site check site.toml --study next.toml");
    assert_eq!(done.code, 1);
    assert!(
        done.stdout
            .contains("accept.minimum_l: is 2; the study has only l = 1\n    site.toml:"),
        "{}",
        done.stdout
    );
    assert!(
        done.stdout.contains(": write minimum_l = 1\n"),
        "{}",
        done.stdout
    );
    std::fs::write(folder.join("next.toml"), "[study").unwrap();
    assert_eq!(
        type_in(folder, "site check site.toml --study next.toml").code,
        2
    );
    // A study in the place of the site's file, and a study that names no sites.
    assert_refused(
        &type_in(folder, "site check study.toml"),
        "study.toml:1: this is a study, and a site's file is expected\nhint: hedgerow site new --study drafts a site's file for a study",
    );
    let nobody = study.split("[[site]]").next().unwrap();
    std::fs::write(folder.join("next.toml"), nobody).unwrap();
    for line in [
        "site new --study next.toml --site north --force",
        "site new --study next.toml --force",
    ] {
        assert_refused(
            &type_in(folder, line),
            "next.toml: the study names no sites\nhint: add a [[site]] with name, address and key for each",
        );
    }
    std::fs::write(folder.join("next.toml"), "[study").unwrap();
    std::fs::write(folder.join("site.toml"), "site = 1").unwrap();
    assert_eq!(type_in(folder, "site check site.toml").code, 2);
    assert_eq!(type_in(folder, "site check none.toml").code, 2);
}

#[test]
fn a_study_is_shown_in_plain_words_first() {
    let folder = agreed();
    let folder = folder.path();
    let done = type_in(folder, "study show study.toml");
    assert_eq!(done.code, 1, "{}", done.stderr);
    let (plain, theorems) = done.stdout.split_once("\nTheorems\n").unwrap();
    for said in [
        "3 sites hold different people, with the same columns",
        "in every group of the release at least 4 people look the same (k = 4)",
        "there is no group in which `diagnosis` has fewer than 2 different values (l = 2)",
        "any 1 site that takes its own records out of a group still sees at least 4 people",
        "names a person: never published",
        "one table is published, with a row for each record of all sites",
        "clustering: records move from group to group",
        "    to every site: How many records all sites have together.\n",
        "    what a peer could work out: ",
    ] {
        assert!(plain.contains(said), "{said}\n{plain}");
    }
    assert!(!plain.contains("TG12"), "{plain}");
    assert!(
        theorems.contains("requires k = 4, distinct l = 2, t <= 0.5"),
        "{theorems}"
    );
    assert!(theorems.contains("TG12 Proposition 8.9"), "{theorems}");
    let told = json(&type_in(folder, "study show study.toml --json"));
    let listed = told["discloses"].as_array().unwrap();
    assert!(listed.len() > 8);
    for one in listed {
        for key in ["what", "allowed_by", "to", "tells", "reveals"] {
            assert!(
                one[key].as_str().is_some_and(|text| !text.is_empty()),
                "{one}"
            );
        }
        let what = one["what"].as_str().unwrap();
        assert!(plain.contains(what) && theorems.contains(what), "{what}");
    }
    assert_eq!(told["columns"][3]["role"], "sensitive");
    assert_eq!(told["requires"]["k"], 4);
    assert_eq!(told["demands"].as_array().map(Vec::len), Some(4));
    assert_eq!(told["published"].as_array().map(Vec::len), Some(2));
    let besides = told["besides"].as_str().unwrap();
    assert!(
        besides.starts_with("two of the three sites that hold roles"),
        "{besides}"
    );
    assert!(plain.contains(besides), "{plain}");
}

#[test]
fn a_run_that_a_program_starts_logs_in_json() {
    let folder = agreed();
    let folder = folder.path();
    type_in(folder, NEW);
    use std::os::unix::fs::PermissionsExt as _;
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(folder.join("site.toml"), open).unwrap();
    for name in ["north", "south", "east"] {
        type_in(
            folder,
            &format!("study sign --key {name}.key study.toml --quiet"),
        );
    }
    let words = type_in(folder, "run --site site.toml");
    assert!(
        words
            .stderr
            .starts_with("warning: site.toml: others than its owner"),
        "{}",
        words.stderr
    );
    let done = type_in(folder, "run --site site.toml --json");
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    let lines: Vec<Value> = done
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert_eq!(lines.len(), 2, "{}", done.stderr);
    assert_eq!(lines[0]["level"], "WARN");
    assert_eq!(lines[1]["level"], "ERROR");
    let said = lines[1]["message"].as_str().unwrap();
    assert!(
        said.contains("this site does not accept the study"),
        "{said}"
    );
    assert!(
        lines[1]["timestamp"]
            .as_str()
            .is_some_and(|time| time.ends_with('Z'))
    );
}
