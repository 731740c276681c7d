//! What the documents promise is there: every test that `docs/security.md` names exists.

use std::path::Path;

/// The names of all functions below a folder, by file's text.
fn sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/security.md")).unwrap();
    let mut named = 0;
    for word in page.split('`').skip(1).step_by(2) {
        let Some((name, function)) = word.split_once("::") else {
            continue;
        };
        let folder = root.join("crates").join(name);
        assert!(folder.is_dir(), "{word}: there is no crate `{name}`");
        let mut text = String::new();
        sources(&folder, &mut text);
        let is_there = text.contains(&format!("fn {function}("));
        assert!(is_there, "{word}: there is no such test");
        named += 1;
    }
    assert!(named > 40, "{named}");
}
