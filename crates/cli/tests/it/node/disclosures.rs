//! Every entry of a ledger stands on the list that `study show` gives before the run.

use super::{SITES, Shape, USUAL, hedgerow, json, listed, prepared, simulate, write_study};

const REQUIREMENTS: [&str; 4] = [
    "k = 5",
    "k = 5\nl = 2\nt = { at_most = 0.5, distance = \"ordered\" }",
    "k = 5\nsite_diversity = 2",
    "k = 5\nl = 2\nm = 1",
];
const ALGORITHMS: [&str; 11] = [
    "name = \"mondrian\"",
    "name = \"mondrian\"\nrecode = \"range\"",
    "name = \"mondrian\"\ncuts = \"children\"",
    "name = \"mondrian\"\nmedians = \"relaxed\"\nrecode = \"range\"",
    "name = \"mondrian\"\nwidths = \"data\"\ncovers = \"box\"",
    "name = \"mondrian\"\nalpha = 1.0",
    "name = \"provider-aware\"",
    "name = \"provider-aware\"\nrecode = \"range\"\nmedians = \"relaxed\"",
    "name = \"clustering\"",
    "name = \"clustering\"\nloss = \"em\"\nrecode = \"set\"\nblur = true\nstarts = 2",
    "name = \"clustering\"\nloss = \"lm\"\nrecode = \"range\"\nfinish = false",
];

#[test]
fn every_kind_of_study_lists_what_it_discloses() {
    let folder = prepared(&Shape { rows: 150, ..USUAL });
    let path = folder.path();
    let study = path.join("c/study.toml");
    let text = std::fs::read_to_string(&study).unwrap();
    let generated = text.split_once("\n[[site]]").unwrap().0;
    let generated = generated.replace("security = \"hardened\"\n", "");
    let mut seen: Vec<String> = Vec::new();
    for security in ["hardened", "published"] {
        for require in REQUIREMENTS {
            for algorithm in ALGORITHMS {
                std::fs::write(&study, &generated).unwrap();
                for name in SITES {
                    std::fs::remove_file(path.join(format!("{name}.key"))).unwrap();
                }
                let shape = Shape {
                    security,
                    require,
                    algorithm,
                    ..USUAL
                };
                write_study(path, &shape);
                let done = hedgerow(path, &["study", "show", "c/study.toml", "--json"]);
                assert_eq!(done.code, 0, "{}", done.stderr);
                let announced = listed(&json(&done), "discloses", "what");
                let ledger = listed(&simulate(path, &SITES), "ledger", "what");
                for what in ledger {
                    let kind = format!("{security}, {require}, {algorithm}");
                    assert!(announced.contains(&what), "`{what}` in {kind}");
                    if !seen.contains(&what) {
                        seen.push(what);
                    }
                }
            }
        }
    }
    // Nearly everything that there is to disclose did occur.
    assert!(seen.len() >= 26, "{seen:?}");
}
