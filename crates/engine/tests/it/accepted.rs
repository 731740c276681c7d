//! What a drafted `site.toml` accepts: nothing as it is, the study once every line that the check names is
//! open, and no weaker study then.

use std::cell::Cell;
use std::path::Path;

use hedgerow::node::identity::Secret;
use hedgerow::{Change, DraftedSite, Site, SiteCheck, SiteDraft, Study};
use hedgerow_testing::{StudyText, integer, values};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// What a study of sites with different people may say.
const HORIZONTAL: [&str; 10] = [
    "name = \"mondrian\"",
    "name = \"mondrian\"\nrecode = \"range\"\ncovers = \"box\"",
    "name = \"mondrian\"\nmedians = \"relaxed\"\nwidths = \"data\"\nchoose = \"fitness\"",
    "name = \"provider-aware\"",
    "name = \"provider-aware\"\ncontributors = true",
    "name = \"clustering\"",
    "name = \"clustering\"\nloss = \"em\"",
    "name = \"clustering\"\nloss = \"lm\"\ncounts = \"hidden\"",
    "name = \"clustering\"\nfinish = false\nblur = true",
    "name = \"mondrian\"\nverification = \"direct\"",
];

/// What a study of the same people may say.
const VERTICAL: [&str; 7] = [
    "name = \"d2pt\"",
    "name = \"d2pt\"\nsynchronizer = \"dpp2ga\"\nrestore = true",
    "name = \"d2pt\"\nanonymizer = \"optimal\"",
    "name = \"clustering\"",
    "name = \"clustering\"\nstarts = 3\nloss = \"em\"",
    "name = \"mondrian\"",
    "name = \"mondrian\"\nrecode = \"range\"\nfragments = true",
];

/// What a study may demand of sensitive values and of sites, beside k.
const DEMANDS: [&str; 15] = [
    "",
    "l = 2",
    "l = { at_least = 2.5, kind = \"entropy\" }",
    "l = { at_least = 2, kind = \"frequency\" }",
    "l = { at_least = 2, kind = \"recursive\", c = 2.5 }",
    "t = 0.375",
    "l = 2\nt = { at_most = 0.12345, distance = \"equal\" }",
    "alpha = 0.7",
    "beta = { at_most = 1.5, kind = \"enhanced\" }",
    "delta = 1.3",
    "site_diversity = 2",
    "l = 2\nsite_diversity = { at_least = 1.5, kind = \"entropy\" }",
    "site_diversity = { at_least = 2, kind = \"taxonomy\" }\nsensitive = \"each\"",
    "l = 3\nt = 0.2\nsensitive = \"product\"",
    "l = 2\nt = 0.2\nsensitive = \"both\"",
];

/// A study by the draws that make it.
#[derive(Debug, Clone)]
struct Drawn {
    is_vertical: bool,
    is_virtual: bool,
    is_published: bool,
    sites: usize,
    algorithm: usize,
    demand: usize,
    k: u64,
    m: u64,
}

impl Drawn {
    /// The text of the study; `k` stands apart, so that a weaker one can be written.
    fn text(&self, k: u64, keys: &[String]) -> String {
        let mut text = match self.is_vertical {
            true => StudyText::vertical("drawn"),
            false => StudyText::new("drawn"),
        };
        if self.is_published {
            text = text.head("security = \"published\"");
        }
        if self.is_virtual {
            text = text.head("release = \"virtual\"");
        }
        text = text
            .identifier("number")
            .quasi("age", integer(0..=99))
            .quasi("sex", values(["f", "m", "x \\\"y\\\""]))
            .sensitive("disease", values(["a", "b", "c", "d"]))
            .sensitive("ward", values(["1", "2", "3"]));
        text = text.require(&format!("k = {k}\n{}", DEMANDS[self.demand]));
        if !self.is_vertical && (self.sites > 2 || self.m > 0) {
            text = text.require(&format!("m = {}", self.m));
        }
        text = text.algorithm(match self.is_vertical {
            true => VERTICAL[self.algorithm % VERTICAL.len()],
            false => HORIZONTAL[self.algorithm % HORIZONTAL.len()],
        });
        let held = ["[\"age\", \"disease\"]", "[\"sex\"]", "[\"ward\"]"];
        for (place, key) in keys.iter().enumerate() {
            let columns = match (self.is_vertical, keys.len()) {
                (false, _) => String::new(),
                (true, 2) if place == 1 => String::from("columns = [\"sex\", \"ward\"]"),
                (true, _) => format!("columns = {}", held[place]),
            };
            let address = format!("address = \"127.0.0.1:{}\"", 7400 + place);
            text = text.site(
                &format!("s{place}"),
                &format!("{address}\nkey = \"{key}\"\n{columns}"),
            );
        }
        let query = "[query]\nanswers = [\"totals\", \"rows\"]\n";
        let is_asked = self.is_virtual || (!self.is_vertical && self.k.is_multiple_of(2));
        let gate = match (self.is_virtual, self.is_vertical, self.k % 3) {
            (false, false, 0) => {
                "[gate]\ncertain = 0.25\nends = 0.5\nbelow_k_without_one_site = 0.5\nbelow_k_without_two_sites = 0.5\ntwo_releases = 0.5\nnewcomers = 0\n"
            }
            (false, _, 1) => "[gate]\ncertain = 0.25\nskew = 0.5\n",
            _ => "",
        };
        format!("{text}\n{}{gate}", if is_asked { query } else { "" })
    }

    /// Rows of a site.
    fn rows(&self, place: usize) -> String {
        let columns: &[&str] = match (self.is_vertical, self.sites, place) {
            (false, ..) => &["number", "age", "sex", "disease", "ward"],
            (true, _, 0) => &["number", "age", "disease"],
            (true, 2, _) => &["number", "sex", "ward"],
            (true, _, 1) => &["number", "sex"],
            (true, ..) => &["number", "ward"],
        };
        let mut text = format!("{}\n", columns.join(","));
        for row in 0..12 {
            let cell = |column: &&str| match *column {
                "number" => format!("p{row}"),
                "age" => (20 + row).to_string(),
                "sex" => ["f", "m"][row % 2].to_owned(),
                "disease" => ["a", "b", "c", "d"][row % 4].to_owned(),
                _ => ["1", "2", "3"][row % 3].to_owned(),
            };
            let cells: Vec<String> = columns.iter().map(cell).collect();
            text.push_str(&format!("{}\n", cells.join(",")));
        }
        text
    }
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let kind = (any::<bool>(), any::<bool>(), any::<bool>(), 2usize..5);
    let what = (0usize..70, 0..DEMANDS.len(), 4u64..10, 0u64..3);
    (kind, what).prop_map(
        |((is_vertical, is_virtual, is_published, sites), (algorithm, demand, k, m))| {
            let sites = if is_vertical { sites.min(3) } else { sites };
            Drawn {
                is_vertical,
                is_virtual: is_virtual && !is_vertical,
                is_published,
                sites,
                algorithm,
                demand,
                k,
                m: m.min(sites as u64 - 1),
            }
        },
    )
}

/// Writes a site's file that its owner alone may read, and checks it.
fn check(path: &Path, text: &str) -> SiteCheck {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let site = Site::open(path).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let checked = runtime.block_on(site.check(None));
    checked.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The text with the `#` taken away from these lines.
fn opened(text: &str, lines: &[usize]) -> String {
    let lines = text
        .lines()
        .enumerate()
        .map(|(at, line)| match lines.contains(&(at + 1)) {
            true => line.replacen('#', "", 1),
            false => line.to_owned(),
        });
    lines.map(|line| format!("{line}\n")).collect()
}

/// The closed lines of `[accept]`, apart from those that answer questions.
fn closed(text: &str) -> Vec<usize> {
    let lines = text.lines().enumerate();
    let lines = lines.skip_while(|(_, line)| *line != "[accept]").skip(1);
    let lines = lines.take_while(|(_, line)| !line.starts_with("[accept."));
    let is_closed = |line: &str| {
        let rest = line.trim_start().strip_prefix('#');
        rest.is_some_and(|rest| !rest.starts_with(' '))
    };
    lines
        .filter(|(_, line)| is_closed(line))
        .map(|(at, _)| at + 1)
        .collect()
}

/// Makes the study and drafts the file of one of its sites; nothing where such a study cannot be run.
fn prepared(drawn: &Drawn, place: usize, folder: &Path) -> Option<DraftedSite> {
    let keys = (0..drawn.sites).map(|place| {
        let secret = Secret::generate().unwrap();
        secret
            .write_new(&folder.join(format!("s{place}.key")))
            .unwrap();
        secret.public().to_string()
    });
    let keys: Vec<String> = keys.collect();
    std::fs::write(folder.join("rows.csv"), drawn.rows(place)).unwrap();
    let weaker = drawn.text(drawn.k - 1, &keys);
    std::fs::write(folder.join("weaker.toml"), weaker).unwrap();
    let study = folder.join("study.toml");
    std::fs::write(&study, drawn.text(drawn.k, &keys)).unwrap();
    let study = Study::open(&study).ok()?;
    study.see_runnable().ok()?;
    let options = SiteDraft {
        key: Some(folder.join(format!("s{place}.key"))),
        rows: Some(folder.join("rows.csv")),
        ..SiteDraft::default()
    };
    Some(
        study
            .draft_site(folder.join("site.toml"), &options)
            .unwrap(),
    )
}

#[test]
fn a_draft_accepts_nothing_until_each_line_is_opened_and_then_the_study_and_no_weaker_one() {
    let (sound, refused) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(220)
    });
    let property = |(drawn, pick): (Drawn, prop::sample::Index)| {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let place = pick.index(drawn.sites);
        let Some(drafted) = prepared(&drawn, place, folder) else {
            refused.set(refused.get() + 1);
            return Ok(());
        };
        sound.set(sound.get() + 1);
        prop_assert_eq!(&drafted.site, &format!("s{place}"));
        prop_assert!(drafted.todo.is_empty(), "{:?}", drafted.todo);
        let (path, text) = (folder.join("site.toml"), drafted.text());

        // Nothing is accepted, and the lines to open are just those that wait.
        let untouched = check(&path, &text);
        prop_assert!(!untouched.accepted);
        let rules: Vec<&str> = untouched.faults.iter().map(|fault| &*fault.about).collect();
        for rule in [
            "minimum_k",
            "models",
            "algorithms",
            "security",
            "columns",
            "disclosures",
        ] {
            prop_assert!(
                rules.contains(&&*format!("accept.{rule}")),
                "{rule}: {rules:?}"
            );
        }
        let lines = untouched.faults.iter().flat_map(|fault| &fault.lines);
        let mut named = Vec::new();
        for line in lines {
            prop_assert_eq!(line.change, Change::Uncomment, "{:?}", line);
            named.extend(line.line);
        }
        named.sort_unstable();
        prop_assert_eq!(&named, &closed(&text), "{}", text);

        // With each of these lines the study is accepted.
        let open = opened(&text, &named);
        let accepted = check(&path, &open);
        prop_assert!(accepted.accepted, "{accepted}\n{open}");
        prop_assert_eq!(accepted.records, Some(12));
        prop_assert_eq!(accepted.unsigned.len(), drawn.sites);
        let all = format!(
            "{}{}",
            text.split("[accept]\n").next().unwrap(),
            drafted.accepted()
        );
        prop_assert!(check(&path, &all).accepted, "{all}");

        // Without any one of these lines it is not.
        let kept = pick.index(named.len());
        let mut others = named.clone();
        let left = others.remove(kept);
        let again = check(&path, &opened(&text, &others));
        let lines = again.faults.iter().flat_map(|fault| &fault.lines);
        let lines: Vec<Option<usize>> = lines.map(|line| line.line).collect();
        prop_assert!(lines.contains(&Some(left)), "{left}: {again}");

        // A weaker study is not accepted.
        let weak = check(&path, &open.replace("study.toml\"", "weaker.toml\""));
        let rules: Vec<&str> = weak.faults.iter().map(|fault| &*fault.about).collect();
        prop_assert!(rules.contains(&"accept.minimum_k"), "{weak}");
        Ok(())
    };
    runner
        .run(&(drawn(), any::<prop::sample::Index>()), property)
        .unwrap();
    // Most draws are studies that sites can run.
    assert!(
        sound.get() > 100,
        "{} of {}",
        sound.get(),
        sound.get() + refused.get()
    );
}

/// A study of two sites, of which the first is drafted, and the text of its file with every line open.
fn pair() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let drawn = Drawn {
        is_vertical: false,
        is_virtual: false,
        is_published: false,
        sites: 3,
        algorithm: 0,
        demand: 1,
        k: 3,
        m: 1,
    };
    let drafted = prepared(&drawn, 0, folder.path()).unwrap();
    let head = drafted.text();
    let head = head.split("[accept]\n").next().unwrap();
    (folder, format!("{head}{}", drafted.accepted()))
}

fn abouts(checked: &SiteCheck) -> Vec<&str> {
    checked.faults.iter().map(|fault| &*fault.about).collect()
}

#[test]
fn everything_that_a_run_would_refuse_is_told_at_once() {
    let (folder, open) = pair();
    let path = folder.path().join("site.toml");
    assert!(check(&path, &open).accepted);
    // A value outside its domain, a key of another site, a rule, a peer that is none, and too many records.
    let rows = std::fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    std::fs::write(
        folder.path().join("wrong.csv"),
        rows.replacen(",f,", ",q,", 1),
    )
    .unwrap();
    let wrong = open
        .replace("s0.key", "s1.key")
        .replace("minimum_k = 3", "minimum_k = 4\nmaximum_records = 11")
        .replace(
            "[accept]\n",
            "[[peer]]\nname = \"west\"\naddress = \"h:1\"\n[accept]\n",
        );
    let checked = check(&path, &wrong.replace("rows.csv", "wrong.csv"));
    assert_eq!(
        abouts(&checked),
        ["address", "key", "accept.minimum_k", "rows"],
        "{checked}"
    );
    let text = checked.to_string();
    assert!(text.contains("value `q` is outside its 3 values"), "{text}");
    assert!(text.contains("is 4; the study has only k = 3"), "{text}");
    let checked = check(&path, &wrong);
    let rule = checked.faults.last().unwrap();
    assert_eq!(rule.about, "accept.maximum_records");
    // The number of this site's records would not do for all sites.
    assert_eq!(
        rule.lines[0].text,
        "maximum_records: as many as all sites have together, or more"
    );
    assert_eq!(rule.lines[0].change, Change::Choose);
    let shares = |share: &str| {
        open.replace(
            "[accept]\n",
            &format!("[accept]\nmaximum_share = {share}\n"),
        )
    };
    let checked = check(&path, &shares("0.333333"));
    assert_eq!(abouts(&checked), ["accept.maximum_share"], "{checked}");
    assert_eq!(checked.faults[0].lines[0].change, Change::Remove);
    assert!(check(&path, &shares("0.333334")).accepted);
    assert_eq!(checked.records, Some(12));
    // A file that is not there is a fault too, and a site that the study does not name is the last word.
    let checked = check(&path, &open.replace("rows.csv", "none.csv"));
    assert_eq!(abouts(&checked), ["rows"]);
    let checked = check(&path, &open.replace("\"s0\"", "\"s9\""));
    assert_eq!(abouts(&checked), ["site"]);
}

#[test]
fn rows_that_were_in_a_run_before_are_a_fault_before_anybody_signs() {
    use hedgerow::node::memory::{How, Mark, Memory};
    use hedgerow::node::source::Source;
    let (folder, open) = pair();
    let path = folder.path().join("site.toml");
    // A look leaves nothing behind.
    assert!(check(&path, &open).accepted);
    let memory = folder.path().join("hedgerow-memory.sqlite");
    assert!(!memory.exists() && !folder.path().join("data").exists());
    // The memory learns of a run of another study with these rows.
    let study = Study::open(folder.path().join("study.toml")).unwrap();
    let schema = study.declared().schema_at(0);
    let source = Source::File(folder.path().join("rows.csv"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let table = runtime.block_on(source.table(&schema, false, &())).unwrap();
    let memory = Memory::at(&memory);
    let print = memory.print(&source, &table).unwrap();
    let mark = Mark {
        site: String::from("s0"),
        study: hedgerow::node::agreement::StudyHash([7; 32]),
        number: 1,
    };
    memory.enter(&mark, "other", &print).unwrap();
    assert!(memory.sends(&mark, &print, |_| true).unwrap());
    memory.ends(&mark, How::Released).unwrap();
    let checked = check(&path, &open);
    assert_eq!(abouts(&checked), ["accept.runs"], "{checked}");
    let line = &checked.faults[0].lines[0];
    assert_eq!((line.change, &*line.text), (Change::Rewrite, "runs = 2"));
    let stands = open.lines().position(|line| line == "runs = 1").unwrap();
    assert_eq!(line.line, Some(stands + 1));
    assert!(
        checked.to_string().contains("run 1 of `other` (released"),
        "{checked}"
    );
    let asks = open.replace("rerun = \"same rows\"", "rerun = \"ask\"");
    let checked = check(&path, &asks);
    assert!(checked.accepted && checked.notes[0].contains("would wait for the privacy officer"));
    assert!(check(&path, &open.replace("runs = 1", "runs = 2")).accepted);
}

/// A file that somebody has worked on for a while: rules opened, set to values that refuse the study, written
/// in other ways, left out; stale lines beside them; lists in all shapes.
fn worked_on(text: &str, draws: &[u8]) -> String {
    let mut draws = draws.iter().copied().cycle();
    let mut draw = move |sides: u8| draws.next().unwrap() % sides;
    let (head, rest) = text.split_once("[accept]\n").unwrap();
    let (rules, query) = match rest.split_once("\n[accept.query]") {
        Some((rules, query)) => (rules, format!("\n[accept.query]{query}")),
        None => (rest, String::new()),
    };
    let (mut below, mut tables) = (String::from("[accept]\n"), String::new());
    let mut lines = rules.lines();
    while let Some(line) = lines.next() {
        if let Some(rule) = line.strip_suffix(" = [") {
            let inside: Vec<&str> = lines.by_ref().take_while(|line| *line != "]").collect();
            below.push_str(&list_worked_on(rule, &inside, &mut draw));
            continue;
        }
        let Some((rule, value)) = line.trim_start_matches('#').split_once(" = ") else {
            below.push_str(&format!("{line}\n"));
            continue;
        };
        if line.starts_with("# ") || ["runs", "rerun"].contains(&rule) {
            below.push_str(&format!("{line}\n"));
            continue;
        }
        let way = draw(8);
        let refusing = match rule {
            // A bound of a model that open models do not demand is an error of its own.
            "models" if way == 1 => String::new(),
            "models" => {
                let other = ["alpha", "t", "beta", "delta"];
                let other = other
                    .into_iter()
                    .find(|model| !value.contains(&format!("\"{model}\"")));
                let other = other.unwrap();
                below.push_str(&format!("maximum_{other} = 0.25\n"));
                format!("{}, \"{other}\"]", value.trim_end_matches(']'))
            }
            "algorithms" | "security" => String::from("[\n]"),
            _ if rule.starts_with("maximum") => String::from("0.0001"),
            _ => String::from("99"),
        };
        match way {
            0 => below.push_str(&format!("{line}\n")),
            1 => below.push_str(&format!("{rule} = {value} # agreed\n")),
            2 => below.push_str(&format!("#{rule} = {value}\n{rule} = {refusing}\n")),
            3 => below.push_str(&format!("\"{rule}\" = {refusing}\n#{rule} = {value}\n")),
            4 => below.push_str(&format!("#{rule} = {}\n", refusing.replace('\n', ""))),
            5 if rule == "minimum_l" => {
                let kinds = ["", "kind = \"entropy\"\n", "kind = \"frequency\" # x\n"];
                let kind = kinds[usize::from(draw(3))];
                tables = format!("[accept.minimum_l]\nat_least = 99\n{kind}");
            }
            6 if rule == "minimum_l" => below.push_str("minimum_l.at_least = 99\n"),
            7 if rule == "minimum_l" => {
                below.push_str("minimum_l = { at_least = 99, kind = \"frequency\" }\n");
            }
            _ => below.push_str(&format!("{rule} = {refusing}\n")),
        }
    }
    format!("{head}{below}{tables}{query}")
}

fn list_worked_on(rule: &str, inside: &[&str], draw: &mut impl FnMut(u8) -> u8) -> String {
    let shape = draw(6);
    if shape == 0 {
        // The whole list behind #, as an editor does it.
        let closed = inside.iter().map(|line| format!("#{line}\n"));
        return format!("#{rule} = [\n{}#]\n", closed.collect::<String>());
    }
    if shape == 1 {
        return String::new();
    }
    let mut text = format!("{rule} = [");
    for line in inside {
        let word = line.trim_start();
        let Some(word) = word.strip_prefix("#").filter(|_| !word.starts_with("# ")) else {
            text.push_str(&format!("\n{line}"));
            continue;
        };
        match (shape, draw(3)) {
            (_, 0) => text.push_str(&format!("\n  #{word}")),
            (_, 1) => text.push_str(&format!("\n  {word}")),
            // A closed word without its comma.
            (2, _) => text.push_str(&format!("\n  #{}", word.trim_end_matches(','))),
            _ => {}
        }
    }
    match shape {
        // The list ends with a word, and words wait below its end.
        3 => format!("{text}\n  \"older\"]\n#\"zip\",\n"),
        _ => format!("{text}\n]\n#{rule} = [\"stale\"]\n"),
    }
}

/// The file with these changes, made by somebody who follows the words.
fn changed(text: &str, faults: &[hedgerow::SiteFault]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut changes: Vec<_> = faults.iter().flat_map(|fault| &fault.lines).collect();
    // From the last line to the first, and new lines at the end, so that numbers hold.
    changes.sort_by_key(|change| std::cmp::Reverse(change.line));
    for change in changes {
        let Some(line) = change.line else {
            assert_eq!(change.change, Change::Add);
            let header = lines.iter().position(|line| line == "[accept]").unwrap();
            lines.insert(header + 1, change.text.clone());
            continue;
        };
        let at = line - 1..change.last.unwrap_or(line);
        match change.change {
            Change::Uncomment => lines[line - 1] = lines[line - 1].replacen('#', "", 1),
            Change::Rewrite => drop(lines.splice(at, [change.text.clone()])),
            Change::Remove => drop(lines.splice(at, [])),
            Change::Add => {
                let opened = format!("[{}, ", change.text);
                lines[line - 1] = lines[line - 1].replacen('[', &opened, 1);
            }
            other => panic!("{other:?}"),
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn whatever_was_done_to_a_draft_the_named_changes_lead_to_acceptance() {
    let (sound, refused) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(220)
    });
    let property = |(drawn, draws): (Drawn, Vec<u8>)| {
        let folder = tempfile::tempdir().unwrap();
        let place = usize::from(draws[0]) % drawn.sites;
        let Some(drafted) = prepared(&drawn, place, folder.path()) else {
            return Ok(());
        };
        sound.set(sound.get() + 1);
        let path = folder.path().join("site.toml");
        let text = worked_on(&drafted.text(), &draws[1..]);
        let before = check(&path, &text);
        if before.accepted {
            return Ok(());
        }
        refused.set(refused.get() + 1);
        let mended = changed(&text, &before.faults);
        let after = check(&path, &mended);
        prop_assert!(after.accepted, "{before}{after}\n{text}\n---\n{mended}");
        Ok(())
    };
    let draws = prop::collection::vec(any::<u8>(), 97);
    runner.run(&(drawn(), draws), property).unwrap();
    assert!(
        sound.get() > 100 && refused.get() > 90,
        "{sound:?} {refused:?}"
    );
}
