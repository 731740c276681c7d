//! `hedgerow experiment`: the list, one figure at quick size, names that are none.

use super::documents::Page;
use super::{assert_refused, hedgerow, json};

#[test]
fn a_figure_is_measured_once_and_then_kept() {
    let folder = tempfile::tempdir().unwrap();
    let run = || {
        let done = hedgerow(
            folder.path(),
            &["experiment", "jx09-fig5", "--quick", "--out", "f", "--json"],
        );
        assert_eq!(done.code, 0, "{}", done.stderr);
        json(&done)
    };
    let report = run();
    assert_eq!((&report["hold"], &report["differ"]), (&1.into(), &0.into()));
    let figure = &report["figures"][0];
    assert_eq!(figure["figure"], "jx09-fig5");
    assert_eq!(figure["holds"], true);
    assert_eq!(figure["settings"]["quick"], true);
    for file in [
        "jx09-fig5.csv",
        "jx09-fig5.svg",
        "jx09-fig5.json",
        "index.html",
        "index.md",
    ] {
        assert!(folder.path().join("f").join(file).is_file(), "{file}");
    }
    assert_eq!(report["kept"], 0);
    let again = run();
    assert_eq!(again["kept"], 1);
    assert_eq!(again["figures"], report["figures"]);
}

#[test]
fn names_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |arguments: &[&str], words: &str| {
        let arguments = [&["experiment"], arguments].concat();
        assert_refused(&hedgerow(folder.path(), &arguments), words);
    };
    refused(
        &["jx09-fg4"],
        "there is no figure `jx09-fg4`\nhint: did you mean `jx09-fig4`?",
    );
    for names in [["list", "jx09-fig4"], ["jx09-fig4", "all"]] {
        refused(
            &names,
            "`list` and `all` stand alone\nhint: name figures, or say `all`",
        );
    }
    let done = hedgerow(folder.path(), &["experiment"]);
    assert_eq!(done.code, 2);
    let arguments = ["experiment", "jx09-fig4", "--data", "nowhere"];
    let done = hedgerow(folder.path(), &arguments);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.starts_with("error: nowhere/adult9/adult.csv: "),
        "{}",
        done.stderr
    );
}

/// Every plot that the page embeds is of a figure that is listed, once.
#[test]
fn the_page_shows_listed_figures_once() {
    let folder = tempfile::tempdir().unwrap();
    let done = hedgerow(folder.path(), &["experiment", "list", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let list = json(&done);
    let names = list["figures"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|f| f["figure"].as_str().unwrap()).collect();
    let page = Page::read("docs/src/experiments.md").text;
    let shown = page.split("](experiments/").skip(1);
    let shown: Vec<&str> = shown.filter_map(|rest| rest.split(".svg").next()).collect();
    let mut once = shown.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), shown.len());
    for name in shown {
        assert!(names.contains(&name), "{name}");
    }
    let text = hedgerow(folder.path(), &["experiment", "list"]).stdout;
    for name in names {
        let lines = text
            .lines()
            .filter(|line| line.starts_with(&format!("{name} ")));
        assert_eq!(lines.count(), 1, "{name}\n{text}");
    }
}
