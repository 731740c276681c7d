//! Sets and tight ranges: `study check` and the report warn of them by what was measured.

use std::path::Path;

use hedgerow_testing::{integer, taxonomy, values};
use serde_json::Value;
use tempfile::TempDir;

use super::documents::Page;
use super::{Done, StudyText, hedgerow, json};

/// A study whose columns are written in this way.
fn study(algorithm: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let study = StudyText::new("told")
        .quasi("age", integer(0..=99))
        .quasi("sex", values(["f", "m"]))
        .quasi("zip", taxonomy("zip.csv"))
        .sensitive("disease", values(["flu", "ulcer", "asthma"]))
        .require("k = 6")
        .algorithm(algorithm)
        .to_string();
    std::fs::write(folder.path().join("study.toml"), study).unwrap();
    std::fs::write(folder.path().join("zip.csv"), super::ZIP_CODES).unwrap();
    folder
}

fn warnings(folder: &Path) -> Vec<String> {
    let done = hedgerow(folder, &["study", "check", "study.toml", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let said = json(&done);
    let said = said["warnings"].as_array().cloned().unwrap_or_default();
    said.iter()
        .map(|one| one.as_str().unwrap().to_owned())
        .collect()
}

/// Two numbers of a cell such as `100% (44%)`.
fn numbers(cell: &str) -> [u32; 2] {
    let mut numbers = cell
        .split(['%', ' ', '(', ')'])
        .filter_map(|word| word.parse().ok());
    [numbers.next().unwrap(), numbers.next().unwrap()]
}

/// What the chapter of attacks measured of a setting: share and control of membership, and of ends.
fn measured(setting: &str) -> [[u32; 2]; 2] {
    let page = Page::read("docs/src/attacks.md").text;
    let line = |start: &str| {
        let line = page.lines().find(|line| line.starts_with(start));
        let line = line.unwrap_or_else(|| panic!("there is no row {start}"));
        line.split('|')
            .map(|cell| cell.trim().to_owned())
            .collect::<Vec<String>>()
    };
    let (heads, row) = (line("| setting | loss |"), line(&format!("| {setting} |")));
    ["membership", "ends"].map(|head| {
        let place = heads.iter().position(|one| one == head).unwrap();
        numbers(&row[place])
    })
}

#[test]
fn a_check_warns_by_what_was_measured() {
    for (algorithm, setting) in [("mondrian", "Mondrian"), ("clustering", "clustering")] {
        for (recode, how) in [
            ("set", "sets of the values that occur"),
            ("range", "ranges that end at somebody's values"),
        ] {
            let folder = study(&format!("name = \"{algorithm}\"\nrecode = \"{recode}\""));
            let said = warnings(folder.path());
            let [warning] = &said[..] else {
                panic!("{said:?}")
            };
            // Of two values, a node says as much.
            let columns = format!("`age`, `zip` are written as {how}: ");
            assert!(warning.starts_with(&columns), "{warning}");
            let [[covered, strangers], [ends, _]] = measured(&format!("{setting}, {recode}"));
            assert_eq!(covered, 100);
            for figure in [
                format!(" and {strangers} % of such people who are not in it"),
                format!(" gains 0.{:02} of 1", 100 - strangers),
                format!(" and {ends} % of the rarest ages"),
            ] {
                assert!(warning.contains(&figure), "{figure}: {warning}");
            }
            assert!(warning.contains("\nhint: "), "{warning}");
        }
    }
}

#[test]
fn nodes_and_boxes_are_not_warned_of() {
    let folder = study("recode = \"range\"\ncovers = \"box\"");
    assert_eq!(warnings(folder.path()), [""; 0]);
    let folder = study("recode = \"set\"\ncovers = \"box\"");
    assert_eq!(warnings(folder.path()), [""; 0]);
    // A number without a taxonomy has no nodes.
    let folder = study("recode = \"node\"");
    let said = warnings(folder.path());
    assert!(
        said[0].starts_with("`age` is written as ranges that end at somebody's values: "),
        "{said:?}"
    );
}

/// A woman and a man of every age, each of a zip that follows from both, or of the next.
fn people(next: usize) -> String {
    let row = |one: usize| {
        let zip = ["101", "102", "201"][(one % 7 + next) % 3];
        let disease = ["flu", "ulcer", "asthma"][one % 3];
        format!("{},{},{zip},{disease}\n", one / 2, ["f", "m"][one % 2])
    };
    format!(
        "age,sex,zip,disease\n{}",
        (0..200).map(row).collect::<String>()
    )
}

fn released(algorithm: &str) -> TempDir {
    let folder = study(algorithm);
    std::fs::write(folder.path().join("rows.csv"), people(0)).unwrap();
    let done = typed(
        folder.path(),
        "anonymize --study study.toml rows.csv --out release",
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    folder
}

fn typed(folder: &Path, line: &str) -> Done {
    hedgerow(folder, &line.split(' ').collect::<Vec<_>>())
}

fn report(folder: &Path) -> String {
    let done = typed(folder, "report release --study study.toml --out page.html");
    assert_eq!(done.code, 0, "{}", done.stderr);
    std::fs::read_to_string(folder.join("page.html")).unwrap()
}

#[test]
fn the_report_warns_of_sets_and_tight_ranges_and_not_of_boxes() {
    for (recode, how) in [
        ("set", "sets of the values that occur"),
        ("range", "ranges that end at somebody&#39;s values"),
    ] {
        let folder = released(&format!("recode = \"{recode}\""));
        let page = report(folder.path());
        assert!(
            page.contains("The release holds, with a warning."),
            "{page}"
        );
        assert!(
            page.contains(&format!(
                "Warning: `age`, `zip` are written as {how}: on the Adult table"
            )),
            "{page}"
        );
    }
    let folder = released("recode = \"range\"\ncovers = \"box\"");
    let page = report(folder.path());
    assert!(
        page.contains("The release holds.") && !page.contains("are written as"),
        "{page}"
    );
}

/// Where attacks were tried on the very release, their figures stand in the warning; and where little falls, there is none.
#[test]
fn the_report_has_the_release_s_own_figures_where_it_was_attacked() {
    let folder = released("recode = \"set\"");
    let path = folder.path();
    std::fs::write(path.join("others.csv"), people(1)).unwrap();
    let line = "gate release --study study.toml --own rows.csv --holdout others.csv --json --report page.html";
    let found = json(&typed(path, line));
    let page = std::fs::read_to_string(path.join("page.html")).unwrap();
    let of = |name: &str| -> Value {
        let mut attacks = found["attacks"].as_array().unwrap().iter();
        attacks.find(|one| one["attack"] == name).unwrap().clone()
    };
    let membership = of("membership");
    let (share, control) = (
        membership["share"].as_f64().unwrap(),
        membership["control"]["share"].as_f64().unwrap(),
    );
    let gain = format!("gains {:.2} of 1", (share - control).max(0.0));
    assert!(
        page.contains("classes of this release cover") && page.contains(&gain),
        "{gain}: {page}"
    );
    assert!(!page.contains("on the Adult table"), "{page}");
}
