//! A page for every kind of release.

use std::path::Path;

use hedgerow_testing::{StudyText, integer, values};

use super::page::{tables, whole};
use super::{assert_report, assert_well_formed, read};
use crate::hedgerow;
use crate::shared::{write_people, write_study};
use crate::sites::ok;

/// The page of a release that a command makes in `release`, and the page that is made of it again.
fn page(folder: &Path, study: &StudyText, rows: &str, command: &str) -> String {
    std::fs::write(folder.join("study.toml"), study.to_string()).unwrap();
    std::fs::write(folder.join("rows.csv"), rows).unwrap();
    ok(folder, command);
    let own = read(folder, "release/report.html");
    assert_report(&own);
    ok(folder, "report release --study study.toml --out again.html");
    assert_eq!(read(folder, "again.html"), own);
    own
}

const ANONYMIZE: &str = "anonymize --study study.toml rows.csv --out release";

#[test]
fn decimals_days_missing_values_and_free_text() {
    let folder = tempfile::tempdir().unwrap();
    let said: Vec<String> = (0..90)
        .map(|row| format!("<b onclick='x()'>{row}, & so on"))
        .collect();
    let study = StudyText::new("<ward> & \\\"co\\\"")
        .quasi(
            "temperature",
            "type = \"decimal\"\nrange = [35.0, 42.0]\nstep = 0.1\nmissing = \"NA\"",
        )
        .quasi(
            "admission",
            "type = \"date\"\nrange = [\"2020-01-01\", \"2024-12-31\"]",
        )
        .sensitive("disease", values(["flu", "</td><script>"]))
        .other(
            "said",
            format!(
                "{}\npublish_unique = true",
                values(said.iter().map(String::as_str))
            ),
        )
        .require("k = 3");
    let mut rows = String::from("temperature,admission,disease,said\n");
    for row in 0..90 {
        let temperature = match row % 9 {
            0 => String::from("NA"),
            _ => format!("{}.{}", 35 + row % 7, row % 10),
        };
        rows.push_str(&format!(
            "{temperature},202{}-{:02}-{:02},{},\"{}\"\n",
            row % 5,
            row % 12 + 1,
            row % 28 + 1,
            ["flu", "</td><script>"][row % 2],
            said[row],
        ));
    }
    let page = page(folder.path(), &study, &rows, ANONYMIZE);
    assert!(page.contains("&lt;/td&gt;&lt;script&gt;") && !page.contains("<script"));
    assert!(page.contains("&lt;b onclick=&#39;x()&#39;&gt;") && !page.contains("<b onclick"));
    let found = tables(&page);
    for caption in [
        "temperature, quasi-identifier",
        "admission, quasi-identifier",
    ] {
        let total: u64 = found[caption].iter().map(|row| whole(&row[2])).sum();
        assert!(total.abs_diff(90) <= 10, "{caption}: {:?}", found[caption]);
    }
    let last = found["temperature, quasi-identifier"].last().unwrap();
    assert_eq!(last[0], "NA (missing)");
    assert!(found["admission, quasi-identifier"][0][0].starts_with("2020-01"));
    // Every text is of one record, and eleven of them are named.
    assert_eq!(found["said, other"].len(), 12);
    assert_eq!(
        whole(&found["Columns that are published as they are"][0][2]),
        90
    );
}

#[test]
fn one_class_and_no_sensitive_column() {
    let folder = tempfile::tempdir().unwrap();
    let study = StudyText::new("one")
        .quasi("age", integer(0..=9))
        .require("k = 2")
        .algorithm("covers = \"box\"");
    let page = page(folder.path(), &study, "age\n3\n7\n", ANONYMIZE);
    let found = tables(&page);
    assert_eq!(found["Rows of the release, each of another class"].len(), 1);
    let risks = &found["The risk curve in numbers"];
    assert_eq!(risks.last().unwrap()[..2], ["1 in 2", "2"]);
    assert!(page.contains("class=\"verdict good\""));
}

#[test]
fn nothing_required_and_classes_of_one_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let study = StudyText::new("bare")
        .quasi("age", integer(0..=9))
        .require("k = 1");
    let page = page(path, &study, "age\n1\n5\n9\n", ANONYMIZE);
    let risks = tables(&page)["The risk curve in numbers"].clone();
    assert_eq!(risks.last().unwrap()[..2], ["1 in 1", "3"]);
    std::fs::write(
        path.join("bare.toml"),
        study.to_string().replace("[require]\nk = 1\n", ""),
    )
    .unwrap();
    std::fs::create_dir(path.join("bare")).unwrap();
    std::fs::copy(
        path.join("release/release.csv"),
        path.join("bare/release.csv"),
    )
    .unwrap();
    let done = hedgerow(path, &["report", "bare", "--study", "bare.toml"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let page = read(path, "report.html");
    assert_report(&page);
    assert!(
        page.contains("The study requires nothing.") && page.contains("class=\"verdict warn\"")
    );
}

#[test]
fn a_virtual_database_shows_classes_and_no_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let study = StudyText::new("held")
        .head("release = \"virtual\"")
        .quasi("age", integer(0..=99))
        .sensitive("disease", values(["secret-flu", "secret-ulcer"]))
        .require("k = 3\nm = 0\n[query]\nanswers = [\"totals\", \"rows\"]");
    let rows: Vec<String> = (0..90)
        .map(|row| {
            format!(
                "{},secret-{},{}\n",
                row * 7 % 100,
                ["flu", "ulcer"][row % 2],
                ["a", "b", "c"][row % 3]
            )
        })
        .collect();
    let rows = format!("age,disease,site\n{}", rows.concat());
    let command = "simulate --study study.toml rows.csv --provider-column site --out release";
    let page = page(path, &study, &rows, command);
    assert!(page.contains("class=\"verdict good\""));
    assert!(!page.contains("secret-"));
    let found = tables(&page);
    let classes = &found["Some classes that all sites know"];
    let known = read(path, "release/classes.csv");
    for row in classes {
        let age = row[0].split(' ').next().unwrap();
        assert!(
            known.contains(&format!("{age},{}\n", row[1])),
            "{row:?} in {known}"
        );
    }
    assert!(!found.contains_key("disease, sensitive"));
}

#[test]
fn fragments_show_the_same_groups_table_by_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    write_study(path, str::to_owned);
    write_people(path, 240);
    ok(path, "simulate --study study.toml people.csv --out release");
    let page = read(path, "release/report.html");
    assert_report(&page);
    assert!(page.contains("What fragments tell together"));
    assert!(page.contains("nothing joins the tables but the number of the group"));
    let found = tables(&page);
    for (what, file) in [
        ("quasi-identifiers", "quasi"),
        ("`marker`", "sensitive-marker"),
        ("`method`", "other-method"),
    ] {
        let written = read(path, &format!("release/{file}.csv"));
        let rows = &found[&format!("The table of {what}: rows of the same groups")];
        assert!(!rows.is_empty());
        for row in rows {
            let cells: Vec<&str> = row
                .iter()
                .map(|cell| cell.split(' ').next().unwrap())
                .collect();
            assert!(
                written.lines().any(|line| line == cells.join(",")),
                "{row:?}"
            );
        }
    }
    let people = read(path, "people.csv");
    for row in &found["marker, sensitive"] {
        let count = people
            .lines()
            .filter(|line| line.contains(&format!(",{},", row[0])))
            .count();
        assert_eq!(whole(&row[2]), count as u64, "{row:?}");
    }
    // A site has some of the columns, and these stand beside the release.
    let columns = |line: &str| line.split(',').take(4).collect::<Vec<_>>().join(",");
    let own: Vec<String> = people.lines().map(columns).collect();
    std::fs::write(path.join("own.csv"), own.join("\n")).unwrap();
    let done = hedgerow(
        path,
        &[
            "report",
            "release",
            "--study",
            "study.toml",
            "--own",
            "own.csv",
        ],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    let page = read(path, "report.html");
    assert_well_formed(&page);
    let found = tables(&page);
    let sexes = &found["sex, quasi-identifier"];
    for row in sexes {
        let count = own
            .iter()
            .filter(|line| line.contains(&format!(",{},", row[0])))
            .count();
        assert_eq!(whole(&row[2]), count as u64, "{row:?}");
        assert_eq!(row.len(), 4);
    }
    assert_eq!(found["marker, sensitive"][0].len(), 3);
    assert!(page.contains("not measured: the site has only some of the columns"));
    // Names of people are in no page.
    assert!(!page.contains("00001-a"));
}
