//! Reports with rows to compare the release with: a site's own, or the original.

use std::collections::BTreeMap;
use std::path::Path;

use super::page::{tables, whole};
use super::{assert_report, read, signed};
use crate::sites::ok;
use crate::{assert_refused, hedgerow};

/// The rows of a site of the signed run, as it had them.
fn own(folder: &Path, site: &str) -> Vec<Vec<String>> {
    let pooled = read(folder, "pooled.csv");
    let rows = pooled.lines().skip(1);
    let rows = rows.filter_map(|line| line.strip_suffix(&format!(",{site}")));
    let rows: Vec<&str> = rows.collect();
    let text = format!(
        "age,<script>alert(1)</script>,disease\n{}\n",
        rows.join("\n")
    );
    std::fs::write(folder.join(format!("{site}.csv")), text).unwrap();
    let cells = rows
        .iter()
        .map(|row| row.split(',').map(str::to_owned).collect());
    cells.collect()
}

fn report<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["report", "release", "--study", "study.toml"], more].concat()
}

#[test]
fn own_rows_stand_beside_the_release_on_a_page_for_the_site() {
    let folder = signed();
    let path = folder.path();
    let rows = own(path, "south");
    let done = hedgerow(path, &report(&["--own", "south.csv", "--out", "ours.html"]));
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        done.stderr,
        "warning: ours.html has counts of the rows that you gave, which may be of one person: keep it to yourself; the report in the folder of the release has none\n"
    );
    let page = read(path, "ours.html");
    assert_report(&page);
    assert!(page.contains("This page is not to be passed on."));
    assert!(page.contains("the 60 own rows of one site, and is for that site alone"));
    let found = tables(&page);
    let mut diseases: BTreeMap<&str, u64> = BTreeMap::new();
    rows.iter()
        .for_each(|row| *diseases.entry(&row[2]).or_default() += 1);
    let chart = &found["disease, sensitive"];
    let said: BTreeMap<&str, u64> = chart
        .iter()
        .map(|row| (row[0].as_str(), whole(&row[2])))
        .collect();
    assert_eq!(said, diseases);
    let released = read(path, "release/release.csv");
    for row in chart {
        let in_release = released
            .lines()
            .filter(|line| line.ends_with(&format!(",{}", row[0])));
        assert_eq!(whole(&row[3]), in_release.count() as u64);
    }
    for row in &found["age, quasi-identifier"] {
        let (from, to) = row[0].split_once(" to ").unwrap();
        let within = from.parse::<u64>().unwrap()..=to.parse().unwrap();
        let count = rows
            .iter()
            .filter(|row| within.contains(&row[0].parse().unwrap()));
        assert_eq!(whole(&row[2]), count.count() as u64, "{row:?}");
    }

    // What the site would lose alone is what it loses when it does publish alone.
    let study = read(path, "study.toml");
    let (study, _) = study.split_once("[[site]]").unwrap();
    let alone = study
        .replace("site_diversity = 2\n", "")
        .replace("m = 1", "m = 0");
    std::fs::write(path.join("alone.toml"), alone).unwrap();
    let alone = ok(path, "anonymize --study alone.toml south.csv --out alone");
    let caption = "Loss (NCP) together and alone, under the same requirement without what speaks of other sites";
    let both = &found[caption];
    let percent = |loss: &serde_json::Value| format!("{:.2} %", loss.as_f64().unwrap() * 100.0);
    assert_eq!(both[1][2], percent(&alone["utility"]["ncp"]));
    assert_eq!(both[1][3], format!("{} classes", alone["classes"]));
    let said = ok(path, "report release --study study.toml --own south.csv");
    assert_eq!(both[0][2], percent(&said["utility"]["ncp"]));
    assert_eq!(said["before"]["rows"], 60);

    // The page that everybody may have has nothing of it.
    let done = hedgerow(path, &report(&["--out", "theirs.html"]));
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let page = read(path, "theirs.html");
    assert_eq!(page, read(path, "release/report.html"));
    for words in ["not to be passed on", "own rows of", "alone, this site"] {
        assert!(!page.contains(words), "{words}");
    }
    // And a page with own rows does not come into the folder, be it closed or not.
    let ours = report(&["--own", "south.csv", "--out", "release/ours.html"]);
    let done = hedgerow(path, &ours);
    assert!(
        done.stderr.contains("sealed as they are"),
        "{}",
        done.stderr
    );
    let why = "release/ours.html: lies in the release folder, and the report has counts of rows that are not to be passed on\nhint: name a file elsewhere with --out";
    std::fs::remove_file(path.join("release/manifest.json")).unwrap();
    let done = hedgerow(path, &ours);
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(
        done.stderr.ends_with(&format!("{why}\n")),
        "{}",
        done.stderr
    );
    assert!(!path.join("release/ours.html").exists());
}

#[test]
fn a_site_that_can_publish_nothing_alone_is_told_why() {
    let folder = signed();
    let path = folder.path();
    let rows = own(path, "north");
    let few: Vec<String> = rows.iter().take(3).map(|row| row.join(",")).collect();
    let text = format!(
        "age,<script>alert(1)</script>,disease\n{}\n",
        few.join("\n")
    );
    std::fs::write(path.join("few.csv"), text).unwrap();
    let done = hedgerow(path, &report(&["--own", "few.csv"]));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let page = read(path, "report.html");
    assert!(
        page.contains("Alone this site could publish nothing: its 3 rows do not satisfy k = 5.")
    );
}

#[test]
fn rows_that_are_not_of_the_release_are_refused() {
    let folder = signed();
    let path = folder.path();
    let header = "age,<script>alert(1)</script>,disease\n";
    let write = |name: &str, rows: &str| {
        std::fs::write(path.join(name), format!("{header}{rows}")).unwrap()
    };
    write("none.csv", "");
    assert_refused(
        &hedgerow(path, &report(&["--own", "none.csv"])),
        "none.csv: has no rows\nhint: name the table that this site's rows of the run were in",
    );
    write("many.csv", &"20,3,flu\n".repeat(181));
    assert_refused(
        &hedgerow(path, &report(&["--own", "many.csv"])),
        "many.csv: has 181 rows, and the release has 180\nhint: are these the rows that the release was made of?",
    );
    let without = hedgerow(path, &["report", "release", "--own", "many.csv"]);
    assert_eq!(without.code, 2);
    assert!(without.stderr.contains("--study"), "{}", without.stderr);
    assert!(!path.join("report.html").exists());

    // A value that no cell of the release stands for.
    let folder = crate::small();
    let path = folder.path();
    std::fs::create_dir(path.join("out")).unwrap();
    std::fs::rename(path.join("release.csv"), path.join("out/release.csv")).unwrap();
    std::fs::write(
        path.join("other.csv"),
        "age,zip,disease\n20,101,flu\n41,101,flu\n",
    )
    .unwrap();
    let arguments = [
        "report",
        "out",
        "--study",
        "study.toml",
        "--own",
        "other.csv",
    ];
    assert_refused(
        &hedgerow(path, &arguments),
        "other.csv: column `age`: no record of the release can have `41`, which stands in these rows\nhint: are these the rows that the release was made of?",
    );
}
