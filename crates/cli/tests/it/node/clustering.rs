//! Clustering between processes: what is drawn follows from the run, in every life of it.

use std::time::Duration;

use super::{SITES, Shape, Site, USUAL, prepared, progress, simulate, start_all};

const SHAPE: Shape = Shape {
    rows: 240,
    algorithm: "name = \"clustering\"\nrecode = \"node\"",
    ..USUAL
};

#[test]
fn sites_that_cluster_and_are_killed_end_with_what_a_simulation_publishes() {
    let folder = prepared(&SHAPE);
    let path = folder.path();
    let summary = simulate(path, &SITES);
    let expected = std::fs::read(path.join("simulated/release.csv")).unwrap();
    let messages = summary["cost"]["messages"].as_u64().unwrap() / SITES.len() as u64;
    let mut running = start_all(path, &SITES, 0);
    let mut in_the_middle = 0;
    for (life, victim) in (1..).zip([0, 2, 1]) {
        let enough = messages * life as u64 / 4;
        while matches!(progress(path, SITES[victim]), (false, sent) if sent < enough) {
            std::thread::sleep(Duration::from_millis(1));
        }
        running[victim].child.kill().unwrap();
        running[victim].child.wait().unwrap();
        if !progress(path, SITES[victim]).0 {
            in_the_middle += 1;
            running[victim] = Site::start(path, SITES[victim], life);
        }
    }
    assert!(in_the_middle > 1, "{in_the_middle} kills fell into a run");
    for (site, name) in running.iter_mut().zip(SITES) {
        if !progress(path, name).0 {
            site.end();
        }
        let release = path.join(format!("{name}-data/release-1/release.csv"));
        assert_eq!(std::fs::read(release).unwrap(), expected);
    }
}

#[test]
fn sites_hold_site_diversity_by_what_they_support() {
    let folder = prepared(&Shape {
        require: "k = 5\nsite_diversity = { at_least = 2, kind = \"taxonomy\", attributes = [\"age\"] }",
        ..SHAPE
    });
    let path = folder.path();
    let summary = simulate(path, &SITES);
    let learned = summary["ledger"].to_string();
    assert!(learned.contains("at least l sites support"), "{learned}");
    let expected = std::fs::read(path.join("simulated/release.csv")).unwrap();
    for (mut site, name) in start_all(path, &SITES, 0).into_iter().zip(SITES) {
        site.end();
        let release = path.join(format!("{name}-data/release-1"));
        assert_eq!(
            std::fs::read(release.join("release.csv")).unwrap(),
            expected
        );
        let report = std::fs::read_to_string(release.join("report.html")).unwrap();
        assert!(report.contains("may betray a site"), "{report}");
    }
}
