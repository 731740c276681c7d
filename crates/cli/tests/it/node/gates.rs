//! The gate between real sites: a release to which more falls than the study allows is signed by nobody.

use super::reruns::run_at;
use super::{SITES, Shape, USUAL, hedgerow, json, prepared};

/// Three sites whose study has these limits.
fn sites(gate: &'static str) -> tempfile::TempDir {
    let shape = Shape {
        rows: 300,
        algorithm: gate,
        ..USUAL
    };
    prepared(&shape)
}

#[test]
fn nobody_signs_what_the_gate_holds_back() {
    let folder = sites("name = \"mondrian\"\nrecode = \"node\"\n[gate]\nskew = 0\nprinted = 0");
    let path = folder.path();
    for (code, said) in run_at(path, &SITES, "1") {
        assert_eq!(code, 2, "{said}");
        let is_own = said.contains("the gate holds the release back")
            && said.contains("skew: ")
            && said.contains("hint: demand a lower t");
        let is_told = said.contains("more falls to a known attack than the study's [gate] allows");
        assert!(is_own || is_told, "{said}");
    }
    for site in SITES {
        let data = path.join(format!("{site}-data"));
        assert!(!data.join("release-1").exists());
        let left = std::fs::read_dir(&data).unwrap().map(|entry| {
            let entry = entry.unwrap();
            entry.file_name().into_string().unwrap()
        });
        let left: Vec<String> = left.filter(|name| name.contains("tmp")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn what_the_gate_lets_pass_is_signed_with_what_was_tried() {
    let folder = sites("name = \"mondrian\"\nrecode = \"node\"\n[gate]\nskew = 1\nprinted = 0");
    let path = folder.path();
    for (code, said) in run_at(path, &SITES, "1") {
        assert_eq!(code, 0, "{said}");
    }
    let statements = SITES.map(|site| {
        let file = path.join(format!("{site}-data/release-1/manifest.json"));
        let text = std::fs::read_to_string(file).unwrap();
        let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
        manifest["signed"].clone()
    });
    assert!(statements.iter().all(|one| *one == statements[0]));
    let gate = &statements[0]["gate"];
    assert_eq!(gate[0]["attack"], "printed");
    assert_eq!(gate[1]["attack"], "skew");
    assert_eq!(gate[1]["verdict"], "holds");
    let line = [
        "verify",
        "north-data/release-1",
        "--study",
        "c/study.toml",
        "--json",
    ];
    let done = hedgerow(path, &line);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(json(&done)["manifest"]["gate"], *gate);
    let shown = hedgerow(path, &["study", "show", "c/study.toml"]);
    assert!(
        shown
            .stdout
            .contains("nothing is published: printed 0, skew 1"),
        "{}",
        shown.stdout
    );

    // A site that insists on less does not take part, and is told which line says so.
    super::reruns::change(
        path,
        "north",
        "[accept]\n",
        "[accept.gate]\nskew = 0.1\n[accept]\nruns = 2\n",
    );
    let done = hedgerow(path, &["site", "check", "--site", "north.toml"]);
    assert_eq!(done.code, 1, "{}", done.stdout);
    assert!(
        done.stdout
            .contains("accept.gate.skew: is 0.1; the study's [gate] lets 1 fall"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains("skew = 1"), "{}", done.stdout);
    let mut run = run_at(path, &["north"], "2");
    let (code, said) = run.remove(0);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("accept.gate.skew"), "{said}");
}
