//! What the documents promise is there: README.md and the book in `docs/src`.
//!
//! [`typed`] types the commands and reads the studies and site files, [`keys`] compares the reference
//! chapters with the keys that the readers know, [`links`] follows links, [`blocks`] finds the blocks
//! of code and says what is done with each.

pub(crate) mod blocks;
mod keys;
mod links;
mod overlay;
pub(crate) mod typed;

use std::path::{Path, PathBuf};

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A document.
pub(crate) struct Page {
    /// The file, relative to the repository.
    pub(crate) file: PathBuf,
    pub(crate) text: String,
}

impl Page {
    pub(crate) fn read(file: &str) -> Self {
        let text = std::fs::read_to_string(root().join(file));
        Self {
            file: file.into(),
            text: text.unwrap_or_else(|error| panic!("{file}: {error}")),
        }
    }

    /// The page's name for messages.
    pub(crate) fn name(&self) -> String {
        self.file.display().to_string()
    }
}

/// README.md and every page of the book.
fn pages() -> Vec<Page> {
    let mut files = vec![PathBuf::from("README.md")];
    let mut folders = vec![PathBuf::from("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let file = folder.join(entry.unwrap().file_name());
            if root().join(&file).is_dir() {
                folders.push(file);
            } else if file.extension().is_some_and(|extension| extension == "md") {
                files.push(file);
            }
        }
    }
    files.sort_unstable();
    let read = |file: PathBuf| Page::read(&file.display().to_string());
    files.into_iter().map(read).collect()
}

/// The text of every Rust file below a folder.
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

/// A test that a document names as `crate::function` exists.
fn assert_test_exists(named: &str) {
    let (name, function) = named.split_once("::").unwrap();
    let folder = root().join("crates").join(name);
    assert!(folder.is_dir(), "{named}: there is no crate `{name}`");
    let mut text = String::new();
    sources(&folder, &mut text);
    let is_there = text.contains(&format!("fn {function}("));
    assert!(is_there, "{named}: there is no such test");
}

#[test]
fn every_test_that_the_threat_model_names_exists() {
    let page = Page::read("docs/src/security.md");
    let mut named = 0;
    for word in page.text.split('`').skip(1).step_by(2) {
        if word.contains("::") {
            assert_test_exists(word);
            named += 1;
        }
    }
    assert!(named > 40, "{named}");
}

/// Each number in the README's table of figures is a number of the benchmarks chapter, in a row with the
/// same command.
#[test]
fn the_figures_of_the_readme_are_those_of_the_benchmarks() {
    let benchmarks = Page::read("docs/src/benchmarks.md").text;
    let readme = Page::read("README.md").text;
    let mut rows = 0;
    for row in readme
        .lines()
        .filter(|line| line.contains("`scripts/bench.sh "))
    {
        let cells: Vec<&str> = row.split(" | ").collect();
        let [_, figure, command] = cells[..] else {
            panic!("{row}");
        };
        let same: String = benchmarks
            .lines()
            .filter(|line| line.ends_with(&format!("| {command}")))
            .collect();
        let numbers = figure
            .split(' ')
            .filter(|word| word.contains(char::is_numeric));
        for number in numbers.map(|word| word.trim_end_matches([',', ';'])) {
            assert!(same.contains(number), "{number}: {row}");
        }
        rows += 1;
    }
    assert_eq!(rows, 5);
}

/// The README says of every primitive and protocol that the published level does not run as printed what it
/// does instead, and why.
#[test]
fn the_readme_lists_what_is_not_as_printed() {
    let readme = Page::read("README.md").text;
    let (_, section) = readme.split_once("## As published").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let rows: Vec<&str> = rows.skip(1).collect();
    let primitives = hedgerow_smc::settings::DIFFERENCES.iter();
    let differences = primitives.chain(&hedgerow_protocols::DIFFERENCES);
    let listed = differences.map(|difference| {
        let (of, here, reason) = (difference.of, difference.here, difference.reason);
        format!("| {of} | {here} | {reason} |")
    });
    assert_eq!(rows, listed.collect::<Vec<_>>());
}
