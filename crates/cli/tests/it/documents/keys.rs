//! The reference chapters have every key that the readers of studies and site files know, and no other.
//!
//! What the readers know they say themselves: a key that resembles none is answered by a list of all
//! known ones. Such a key is put into each table in turn.

use std::collections::BTreeSet;

use super::overlay::lay_over;
use super::typed::read_site;
use super::{Page, root};
use crate::hedgerow;

/// A key that resembles none.
const STRANGER: &str = "0 = 0";

/// A table of a file, with files that have a stranger in it.
struct Asked {
    /// The heading of the reference chapter that the keys stand below.
    heading: &'static str,
    files: Vec<String>,
}

impl Asked {
    fn new(heading: &'static str, files: impl IntoIterator<Item = String>) -> Self {
        let files = files.into_iter().collect();
        Self { heading, files }
    }
}

/// A file with a stranger at its top, or in the first table with this header.
fn with_stranger(text: &str, header: &str) -> String {
    if header.is_empty() {
        return format!("{STRANGER}\n{text}");
    }
    assert!(text.contains(&format!("\n{header}\n")), "{header}: {text}");
    text.replacen(
        &format!("\n{header}\n"),
        &format!("\n{header}\n{STRANGER}\n"),
        1,
    )
}

/// The keys that a complaint about a stranger lists.
fn listed(said: &str) -> BTreeSet<String> {
    let (_, list) = said
        .split_once("hint: known keys are ")
        .unwrap_or_else(|| panic!("{said}"));
    let list = list.lines().next().unwrap();
    list.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// The lines of a chapter below a heading, without the tables of keys of other headings.
fn below<'p>(page: &'p Page, heading: &str, others: &[&str]) -> Vec<&'p str> {
    let depth = |line: &str| line.bytes().take_while(|byte| *byte == b'#').count();
    let title = |line: &'p str| line.trim_start_matches('#').trim_start();
    let mut lines = page.text.lines();
    let found = lines
        .by_ref()
        .find(|line| depth(line) > 0 && title(line) == heading);
    let top = depth(found.unwrap_or_else(|| panic!("{}: no heading {heading}", page.name())));
    let mut skipped = None;
    let mut kept = Vec::new();
    for line in lines {
        let level = depth(line);
        if level > 0 && level <= top {
            break;
        }
        if level > 0 && skipped.is_none_or(|skipped| level <= skipped) {
            skipped = others.contains(&title(line)).then_some(level);
        }
        if skipped.is_none() {
            kept.push(line);
        }
    }
    kept
}

/// The first cells of tables whose first column is headed `key`.
fn documented(lines: &[&str]) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let mut is_of_keys = false;
    for (at, line) in lines.iter().enumerate() {
        let is_head = lines
            .get(at + 1)
            .is_some_and(|next| next.starts_with("|---"));
        if is_head {
            is_of_keys = line.starts_with("| key |") || line.starts_with("| table |");
        } else if is_of_keys && let Some(cell) = line.strip_prefix("| `") {
            keys.insert(cell.split('`').next().unwrap().to_owned());
        }
    }
    keys
}

fn assert_chapter_has(file: &str, asked: &[Asked], known: impl Fn(&str) -> BTreeSet<String>) {
    let page = Page::read(file);
    for one in asked {
        let others: Vec<&str> = asked.iter().map(|other| other.heading).collect();
        let known: BTreeSet<String> = one.files.iter().flat_map(|file| known(file)).collect();
        assert!(!known.is_empty());
        let found = documented(&below(&page, one.heading, &others));
        assert_eq!(
            known, found,
            "left: known, right: in {file} below {}",
            one.heading
        );
    }
}

#[test]
fn the_study_reference_has_every_key_of_a_study() {
    let read = |name: &str| std::fs::read_to_string(root().join(name).join("study.toml")).unwrap();
    let horizontal = read("examples/stroke-registry");
    let vertical = read("examples/linked-patients");
    let clusters = lay_over(&vertical, "[algorithm]\nname = \"clustering\"\n");
    let cuts = lay_over(&vertical, "[algorithm]\nname = \"mondrian\"\n");
    let records = lay_over(&horizontal, "[algorithm]\nname = \"clustering\"\n");
    let published = lay_over(&horizontal, "[study]\nsecurity = \"published\"\n");
    let both = |header: &str| [&horizontal, &vertical].map(|study| with_stranger(study, header));
    let require = |model: &str| {
        let model = model.replace("0 = 0", STRANGER);
        [lay_over(
            &horizontal,
            &format!("[require]\nk = 2\nm = 1\n{model}\n"),
        )]
    };
    let algorithms = [
        &horizontal,
        &vertical,
        &clusters,
        &cuts,
        &records,
        &published,
    ];
    let asked = [
        Asked::new("The whole file", both("")),
        Asked::new("`[study]`", both("[study]")),
        Asked::new("`[[site]]`", both("[[site]]")),
        Asked::new("`[[attribute]]`", both("[[attribute]]")),
        Asked::new("`[identity]`", [with_stranger(&vertical, "[identity]")]),
        Asked::new("`[require]`", both("[require]")),
        Asked::new("`require.l`", require("l = { at_least = 2, 0 = 0 }")),
        Asked::new("`require.t`", require("t = { at_most = 0.5, 0 = 0 }")),
        Asked::new("`require.beta`", require("beta = { at_most = 1, 0 = 0 }")),
        Asked::new(
            "`require.site_diversity`",
            require("site_diversity = { at_least = 2, 0 = 0 }"),
        ),
        Asked::new(
            "`[algorithm]`",
            algorithms.map(|study| with_stranger(study, "[algorithm]")),
        ),
        Asked::new(
            "`[network]`",
            [lay_over(
                &horizontal,
                &format!("[network]\nshape = \"star\"\n{STRANGER}\n"),
            )],
        ),
        Asked::new(
            "`[query]`",
            [lay_over(
                &horizontal,
                &format!("[query]\nanswers = [\"totals\"]\n{STRANGER}\n"),
            )],
        ),
        Asked::new(
            "`[gate]`",
            [lay_over(
                &horizontal,
                &format!("[gate]\nskew = 0.1\n{STRANGER}\n"),
            )],
        ),
    ];
    assert_chapter_has("docs/src/study.md", &asked, |study| {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("study.toml", study);
        for example in ["examples/stroke-registry", "examples/linked-patients"] {
            for taxonomy in ["zip.csv", "disease.csv", "diagnosis.csv"] {
                if let Ok(text) = std::fs::read_to_string(root().join(example).join(taxonomy)) {
                    write(taxonomy, &text);
                }
            }
        }
        let done = hedgerow(folder.path(), &["study", "check", "study.toml"]);
        assert_eq!(done.code, 2, "{study}");
        listed(&done.stderr)
    });
}

#[test]
fn the_site_reference_has_every_key_of_a_site_file() {
    let whole = "site = \"north\"\nstudy = \"study.toml\"\nkey = \"north.key\"\ndata = \"data\"\n[source]\nfile = \"patients.csv\"\n[[peer]]\nname = \"south\"\naddress = \"localhost:1\"\n[accept]\nminimum_k = 2\n";
    let database = lay_over(
        whole,
        "[source.postgres]\ndatabase = \"d\"\nuser = \"u\"\ntable = \"t\"\n",
    );
    let counted = lay_over(whole, "[source.engine]\npath = \"patients\"\n");
    let demanding = lay_over(
        whole,
        &format!("[accept]\nminimum_l = {{ at_least = 2, {STRANGER} }}\n"),
    );
    let limited = lay_over(whole, &format!("[accept.gate]\n{STRANGER}\n"));
    let asked_of = lay_over(whole, &format!("[accept.query]\n{STRANGER}\n"));
    let served = lay_over(
        whole,
        "[sql]\nlisten = \"localhost:1\"\nplaintext_on_loopback = true\n[[sql.user]]\nname = \"anna\"\nverifier = \"v\"\n",
    );
    let paged = lay_over(whole, "[console]\nlisten = \"localhost:1\"\n");
    let watched = lay_over(whole, "[metrics]\nlisten = \"localhost:1\"\n");
    let asked = [
        Asked::new("The whole file", [with_stranger(whole, "")]),
        Asked::new("`[metrics]`", [with_stranger(&watched, "[metrics]")]),
        Asked::new("`[console]`", [with_stranger(&paged, "[console]")]),
        Asked::new("`[sql]`", [with_stranger(&served, "[sql]")]),
        Asked::new("`[[sql.user]]`", [with_stranger(&served, "[[sql.user]]")]),
        Asked::new("`[source]`", [with_stranger(whole, "[source]")]),
        Asked::new(
            "`[source.postgres]`",
            [with_stranger(&database, "[source.postgres]")],
        ),
        Asked::new(
            "`[source.engine]`",
            [with_stranger(&counted, "[source.engine]")],
        ),
        Asked::new("`[[peer]]`", [with_stranger(whole, "[[peer]]")]),
        Asked::new("`[accept]`", [with_stranger(whole, "[accept]")]),
        Asked::new("`accept.minimum_l`", [demanding]),
        Asked::new("`accept.gate`", [limited]),
        Asked::new("`accept.query`", [asked_of]),
    ];
    assert_chapter_has("docs/src/site.md", &asked, |site| {
        listed(&read_site(site).unwrap())
    });
}
