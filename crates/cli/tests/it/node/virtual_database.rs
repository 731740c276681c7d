//! A study that publishes nothing, between processes: what each site is left with, what is said of it, and an
//! audit of it.

use super::audits::amend;
use super::{SITES, Shape, Site, USUAL, files, hedgerow, json, prepared, simulated, start_all};

const KEPT: Shape = Shape {
    rows: 300,
    algorithm: "name = \"mondrian\"\n\n[query]\nanswers = [\"totals\"]",
    has_names: true,
    ..USUAL
};

#[test]
fn sites_keep_their_rows_and_sign_what_all_know() {
    let folder = prepared(&KEPT);
    let path = folder.path();
    amend(path, &SITES, "release = \"virtual\"\naudit = \"90 days\"");
    let shown = hedgerow(path, &["study", "show", "c/study.toml"]);
    assert!(
        shown.stdout.contains("nothing is published"),
        "{}",
        shown.stdout
    );
    assert!(
        shown.stdout.contains("ask each other for totals"),
        "{}",
        shown.stdout
    );
    assert!(
        !shown.stdout.contains("sensitive and other values"),
        "{}",
        shown.stdout
    );
    let mut running = start_all(path, &SITES, 0);
    running.iter_mut().for_each(Site::end);
    let mut together = Vec::new();
    for name in SITES {
        let data = path.join(format!("{name}-data"));
        let own = std::fs::read_to_string(data.join("local-1.csv")).unwrap();
        together.extend(own.lines().skip(1).map(str::to_owned));
        assert!(!data.join("release-1").exists());
        let known = data.join("virtual-1");
        let whole = format!("{name}-data/virtual-1");
        let done = hedgerow(path, &["verify", &whole, "--study", "c/study.toml"]);
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        assert!(
            done.stdout.contains("signed by all sites"),
            "{}",
            done.stdout
        );
        let done = hedgerow(path, &["report", &whole, "--study", "c/study.toml"]);
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        let done = hedgerow(
            path,
            &["audit", "--site", &format!("{name}.toml"), "--run", "1"],
        );
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        // No name of anybody stands in what all sites know.
        for file in files(&known) {
            if file.starts_with(known.join("taxonomies")) {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let rows = std::fs::read_to_string(path.join(format!("c/{name}.csv"))).unwrap();
            let mut names = rows
                .lines()
                .skip(1)
                .filter_map(|row| row.rsplit(',').next());
            assert!(!names.any(|name| text.contains(name)), "{}", file.display());
        }
    }
    let classes = std::fs::read_to_string(path.join("east-data/virtual-1/classes.csv")).unwrap();
    let rows = std::fs::read_to_string(path.join("c/east.csv")).unwrap();
    let place = rows.lines().next().unwrap().split(',');
    let place = place
        .clone()
        .position(|name| name == "salary-class")
        .unwrap();
    assert!(!classes.lines().next().unwrap().contains("salary-class"));
    let mut salaries = rows
        .lines()
        .skip(1)
        .map(|row| row.split(',').nth(place).unwrap());
    assert!(
        !salaries.any(|salary| classes.contains(salary)),
        "{classes}"
    );
    // Together the rows are what the same study publishes.
    let study = path.join("c/study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    std::fs::write(&study, text.replace("release = \"virtual\"\n", "")).unwrap();
    let released = String::from_utf8(simulated(path)).unwrap();
    let mut released: Vec<&str> = released.lines().skip(1).collect();
    released.sort_unstable();
    together.sort();
    assert_eq!(together, released);
    let status = hedgerow(path, &["status", "--site", "north.toml", "--json"]);
    assert_eq!(json(&status)["runs"][0]["over"], true);
}
