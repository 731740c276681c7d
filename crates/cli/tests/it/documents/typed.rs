//! The commands of a page are typed, its studies and site files are read, and what it says was printed
//! was.

use std::path::Path;
use std::process::{Command, Stdio};

use super::blocks::{Block, Kind, blocks};
use super::overlay::lay_over;
use super::{Page, assert_test_exists, pages, root};
use crate::hedgerow;

/// A site's file that is read without complaint, for parts of one.
const SITE: &str = "site = \"north\"\nstudy = \"study.toml\"\nkey = \"north.key\"\ndata = \"data\"\n[source]\nfile = \"patients.csv\"\n";

/// A shell that finds the command, in a folder.
pub(crate) fn shell(folder: &Path, script: &str) -> Command {
    let programs = Path::new(env!("CARGO_BIN_EXE_hedgerow")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(programs.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", script])
        .env("PATH", path.unwrap())
        .current_dir(folder)
        .stdin(Stdio::null());
    shell
}

/// Pages are looked at side by side, each in a folder of its own.
#[test]
fn commands_studies_and_site_files_of_every_page() {
    let pages = pages();
    std::thread::scope(|scope| {
        let looks: Vec<_> = pages
            .iter()
            .map(|page| scope.spawn(|| look(page)))
            .collect();
        let seen: usize = looks.into_iter().map(|look| look.join().unwrap()).sum();
        assert!(seen > 30, "{seen}");
    });
}

/// Looks at every block of a page; how many were typed or read.
fn look(page: &Page) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let mut printed = None;
    let mut seen = 0;
    for block in blocks(page) {
        match &block.kind {
            Kind::Typed { code } => printed = Some(typed(folder.path(), &block, *code)),
            Kind::Printed => assert_printed(&block, printed.as_deref()),
            Kind::LinesOf { page } => assert_lines_of(&block, page),
            Kind::ShownBy { test } => assert_test_exists(test),
            Kind::Study { over } => assert_sound(&block, over.as_deref()),
            Kind::Site { is_part } => assert_read(&block, *is_part),
            Kind::Walk { .. } => {
                let is_walk = page.file == Path::new("docs/src/between-institutions.md");
                assert!(is_walk, "{}: the walk is on another page", block.place);
                continue;
            }
            Kind::Excerpt { file } => {
                let is_there = Page::read(file).text.contains(&block.body);
                assert!(is_there, "{}: does not stand in {file}", block.place);
            }
            Kind::RunBy { file } => {
                let name = page.file.file_name().unwrap().to_string_lossy();
                let reads = Page::read(file).text.contains(&*name);
                assert!(reads, "{}: {file} does not read {name}", block.place);
            }
            Kind::NotRun => continue,
        }
        seen += 1;
    }
    seen
}

fn typed(folder: &Path, block: &Block, code: i32) -> String {
    let script = format!("set -e\n{}", block.body);
    let done = shell(folder, &script).output().unwrap();
    let said = [done.stdout, done.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let said = said.concat();
    assert_eq!(done.status.code(), Some(code), "{}\n{said}", block.place);
    said
}

/// Lines are compared without their spaces, which draw columns.
fn assert_printed(block: &Block, printed: Option<&str>) {
    let printed = printed.unwrap_or_else(|| panic!("{}: nothing was typed before", block.place));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = printed.lines().map(words).collect();
    for line in block.body.lines() {
        let is_there = lines.iter().any(|printed| printed.contains(&words(line)));
        assert!(is_there, "{}: `{line}` is not in\n{printed}", block.place);
    }
}

fn assert_lines_of(block: &Block, page: &str) {
    let is_typed = |block: &Block| matches!(block.kind, Kind::Typed { .. } | Kind::Walk { .. });
    let typed = blocks(&Page::read(page)).into_iter().filter(is_typed);
    let typed: Vec<String> = typed.map(|block| block.body).collect();
    for line in block.body.lines() {
        let is_there = typed
            .iter()
            .any(|body| body.lines().any(|typed| typed == line));
        assert!(is_there, "{}: `{line}` is not typed in {page}", block.place);
    }
}

/// `study check` finds a study sound, which stands in the block whole or is laid over a study of the
/// repository.
fn assert_sound(block: &Block, over: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let mut study = block.body.clone();
    if let Some(over) = over {
        let over = root().join(over);
        let files = std::fs::read_dir(&over).unwrap();
        for file in files.map(|entry| entry.unwrap().path()) {
            std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
        }
        let whole = std::fs::read_to_string(over.join("study.toml")).unwrap();
        study = lay_over(&whole, &study);
    }
    std::fs::write(folder.path().join("study.toml"), &study).unwrap();
    let done = hedgerow(folder.path(), &["study", "check", "study.toml"]);
    assert_eq!(done.code, 0, "{}\n{}\n{study}", block.place, done.stderr);
}

fn assert_read(block: &Block, is_part: bool) {
    let text = match is_part {
        true => lay_over(SITE, &block.body),
        false => block.body.clone(),
    };
    let said = read_site(&text);
    assert_eq!(said, None, "{}\n{text}", block.place);
}

/// What the reader of site files has to say against one. The study that it names is not there, which is
/// the next thing that `status` complains of.
pub(super) fn read_site(text: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("site.toml"), text).unwrap();
    let done = hedgerow(folder.path(), &["status", "--site", "site.toml"]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    let error = done
        .stderr
        .lines()
        .position(|line| line.starts_with("error: "));
    let said: Vec<&str> = done.stderr.lines().skip(error.unwrap()).collect();
    let said = said.join("\n");
    match said.starts_with("error: study.toml: cannot be read") {
        true => None,
        false => Some(said),
    }
}
