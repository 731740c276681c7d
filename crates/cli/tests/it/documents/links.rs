//! Links between documents lead somewhere, and the book has all of its pages.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::{Page, pages, root};

/// The lines of a page that are no code.
fn prose(page: &Page) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    page.text.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// Where the links of a page lead.
fn links(page: &Page) -> Vec<&str> {
    let after = prose(page).flat_map(|line| line.split("](").skip(1));
    after.filter_map(|rest| rest.split(')').next()).collect()
}

/// What a heading is called in an address, by GitHub and mdBook alike.
fn slug(heading: &str) -> String {
    let letters = heading.trim_start_matches('#').trim().chars();
    let letters = letters
        .flat_map(char::to_lowercase)
        .filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            _ => letter.is_alphanumeric().then_some(letter),
        });
    letters.collect()
}

/// A path without `..` in it.
fn resolved(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(parts.pop(), "{}", path.display()),
            part => parts.push(part),
        }
    }
    parts
}

/// The file that a link leads to, relative to the repository, and the heading in it.
fn target<'l>(page: &Page, link: &'l str) -> (PathBuf, Option<&'l str>) {
    let (file, heading) = match link.split_once('#') {
        Some((file, heading)) => (file, Some(heading)),
        None => (link, None),
    };
    let file = match file {
        "" => page.file.clone(),
        file => resolved(&page.file.parent().unwrap().join(file)),
    };
    (file, heading)
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut followed = 0;
    let others = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"];
    for page in pages().into_iter().chain(others.map(Page::read)) {
        for link in links(&page)
            .into_iter()
            .filter(|link| !link.contains("://"))
        {
            let place = format!("{}: {link}", page.name());
            let (file, heading) = target(&page, link);
            assert!(root().join(&file).exists(), "{place}");
            // What lies elsewhere is not in the book that readers open.
            let is_in_book = |file: &Path| file.starts_with("docs/src");
            assert!(!is_in_book(&page.file) || is_in_book(&file), "{place}");
            if let Some(heading) = heading {
                let page = Page::read(&file.display().to_string());
                let mut headings = prose(&page).filter(|line| line.starts_with('#'));
                assert!(headings.any(|line| slug(line) == heading), "{place}");
            }
            followed += 1;
        }
    }
    assert!(followed > 40, "{followed}");
}

#[test]
fn the_summary_has_every_page_of_the_book() {
    let summary = Page::read("docs/src/SUMMARY.md");
    let listed: BTreeSet<PathBuf> = links(&summary)
        .into_iter()
        .map(|link| target(&summary, link).0)
        .collect();
    let pages = pages().into_iter().map(|page| page.file);
    let pages: BTreeSet<PathBuf> = pages
        .filter(|file| file.starts_with("docs/src") && *file != summary.file)
        .collect();
    assert_eq!(listed, pages);
}

/// Scripts and examples that a page names are there.
#[test]
fn files_of_the_repository_that_pages_name_exist() {
    let mut named = 0;
    for page in pages() {
        let prose: Vec<&str> = prose(&page).collect();
        let prose = prose.join(" ");
        for word in prose.split('`').skip(1).step_by(2) {
            let file = word.split(' ').next().unwrap();
            // Examples of a crate are Rust files beside the crate.
            let is_example = file.starts_with("examples/") && !file.ends_with(".rs");
            if file.starts_with("scripts/") || is_example {
                assert!(root().join(file).exists(), "{}: {word}", page.name());
                named += 1;
            }
        }
    }
    assert!(named > 10, "{named}");
}

/// Every file and folder below a folder, by its path in the repository.
fn below(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(root().join(folder)).unwrap() {
        let path = folder.join(entry.unwrap().file_name());
        found.push(format!("/{}", path.display()));
        if root().join(&path).is_dir() {
            below(&path, found);
        }
    }
}

#[test]
fn every_file_that_the_map_names_exists() {
    let map = Page::read("ARCHITECTURE.md");
    let mut all = Vec::new();
    for folder in [
        "crates", "deploy", "docs", "examples", "fuzz", "python", "scripts",
    ] {
        below(Path::new(folder), &mut all);
    }
    let mut named = 0;
    for word in map.text.split('`').skip(1).step_by(2) {
        let is_path = word.ends_with(".rs") || word.ends_with('/');
        if is_path && !word.contains(' ') {
            let end = format!("/{}", word.trim_end_matches('/'));
            assert!(all.iter().any(|path| path.ends_with(&end)), "{word}");
            named += 1;
        }
    }
    assert!(named > 100, "{named}");
}
