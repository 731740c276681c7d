//! What a site remembers of its rows: by source, by bytes and by coded rows, whatever the study.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::files::{Others, read_table};
use hedgerow_data::study::Partition;
use hedgerow_data::{Schema, Study, Table};
use hedgerow_node::agreement::StudyHash;
use hedgerow_node::memory::{Decision, Earlier, How, Mark, Memory, Print};
use hedgerow_node::source::Source;
use proptest::prelude::*;

use super::write_study;

fn mark(study: u8, number: u32) -> Mark {
    Mark {
        site: String::from("north"),
        study: StudyHash([study; 32]),
        number,
    }
}

/// The rows of a file as the memory knows them.
struct Desk {
    folder: tempfile::TempDir,
    schema: Arc<Schema>,
    memory: Memory,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_study(folder.path(), &["north", "south"]);
        let study = Study::open(&folder.path().join("study.toml")).unwrap();
        let memory = Memory::at(&folder.path().join("memory"));
        Self {
            schema: study.schema_at(0),
            folder,
            memory,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn table(&self, name: &str, rows: &[(u32, usize)]) -> Table {
        let mut text = String::from("age,zip,disease\n");
        for (age, disease) in rows {
            let disease = ["flu", "ulcer", "asthma"][*disease];
            text.push_str(&format!("{age},101,{disease}\n"));
        }
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        read_table(&path, &self.schema, &Others::Refuse, &()).unwrap()
    }

    fn print(&self, name: &str, rows: &[(u32, usize)]) -> Print {
        let table = self.table(name, rows);
        let source = Source::File(self.path().join(name));
        self.memory
            .print(&source, &table, Partition::Horizontal)
            .unwrap()
    }

    /// The same records counted, as an engine counts them.
    fn counted(&self, name: &str, rows: &[(u32, usize)]) -> Print {
        let table = self.table(name, rows).into_counted().unwrap();
        let source = Source::File(self.path().join("counted").join(name));
        std::fs::create_dir_all(self.path().join("counted")).unwrap();
        std::fs::copy(
            self.path().join(name),
            self.path().join("counted").join(name),
        )
        .unwrap();
        self.memory
            .print(&source, &table, Partition::Horizontal)
            .unwrap()
    }

    fn earlier(&self, print: &Print) -> Vec<Earlier> {
        self.memory.earlier(&mark(9, 9), print).unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Rows in another order and from another file are the same; one record more, less or other is not.
    #[test]
    fn rows_are_known_in_any_order(
        rows in prop::collection::vec((prop_oneof![Just(7u32), 0u32..99], 0usize..3), 1..40),
        turn in any::<prop::sample::Index>(),
        other in (0u32..99, 0usize..3),
    ) {
        let desk = Desk::new();
        let first = desk.print("rows.csv", &rows);
        desk.memory.enter(&mark(1, 1), "s", &first).unwrap();
        assert!(desk.memory.sends(&mark(1, 1), &first, |_| true).unwrap());
        let mut turned = rows.clone();
        turned.rotate_left(turn.index(rows.len()));
        let same = desk.print("elsewhere.csv", &turned);
        prop_assert_eq!(desk.earlier(&same).len(), 1);
        prop_assert!(desk.earlier(&same)[0].is_same_rows);
        // Counting the records makes no other people of them.
        let counted = desk.counted("counted.csv", &rows);
        prop_assert_eq!(counted.rows, first.rows);
        prop_assert_eq!(counted.records, first.records);
        prop_assert!(desk.earlier(&counted)[0].is_same_rows);
        let mut changed = rows.clone();
        let place = turn.index(rows.len());
        changed[place] = other;
        let is_other = changed[place] != rows[place];
        let mut less = rows.clone();
        less.remove(place);
        let more = [&rows[..], &[other]].concat();
        for (found, is_other) in [(&changed, is_other), (&less, true), (&more, true)] {
            // From elsewhere they are other people, and from the same source other rows.
            let elsewhere = desk.print("third.csv", found);
            prop_assert_eq!(desk.earlier(&elsewhere).is_empty(), is_other);
            let counted = desk.counted("fourth.csv", found);
            prop_assert_eq!(desk.earlier(&counted).is_empty(), is_other);
            let here = desk.print("rows.csv", found);
            prop_assert_eq!(desk.earlier(&here).len(), 1);
            prop_assert_eq!(desk.earlier(&here)[0].is_same_rows, !is_other);
        }
    }
}

#[test]
fn a_run_counts_once_it_sends_and_however_it_ends() {
    let desk = Desk::new();
    let print = desk.print("rows.csv", &[(1, 0), (2, 1)]);
    let name = "stroke";
    assert!(!desk.memory.has_begun(&mark(1, 1)).unwrap());
    desk.memory.enter(&mark(1, 1), name, &print).unwrap();
    assert!(desk.memory.has_begun(&mark(1, 1)).unwrap());
    assert_eq!(desk.earlier(&print), []);
    // One that ended before it sent anything uses nothing up.
    desk.memory.ends(&mark(1, 1), How::GivenUp).unwrap();
    assert_eq!(desk.earlier(&print), []);
    desk.memory.enter(&mark(1, 2), name, &print).unwrap();
    assert!(desk.memory.sends(&mark(1, 2), &print, |_| true).unwrap());
    assert_eq!(desk.earlier(&print)[0].how, None);
    desk.memory.ends(&mark(1, 2), How::GivenUp).unwrap();
    let found = desk.earlier(&print);
    assert_eq!(
        (found.len(), found[0].number, found[0].records),
        (1, 2, Some(2))
    );
    assert_eq!(found[0].how.as_deref(), Some("given up"));
    // Entered again after a restart it is what it was, and a run is not one before itself.
    desk.memory.enter(&mark(1, 2), name, &print).unwrap();
    assert_eq!(desk.earlier(&print).len(), 1);
    assert_eq!(desk.memory.earlier(&mark(1, 2), &print).unwrap(), []);
    // What was lost has no rows that could be the same.
    let source = &print.source;
    desk.memory
        .loses("north", StudyHash([1; 32]), name, source)
        .unwrap();
    let found = desk.earlier(&print);
    assert_eq!(found.iter().filter(|one| one.is_same_rows).count(), 1);
    assert_eq!(found.len(), 2);
    assert_eq!(desk.memory.entered("north", StudyHash([1; 32])).unwrap(), 2);
}

/// Runs that were let through at the same time: when the first sends, the others are looked at again.
#[test]
fn of_runs_that_begin_together_the_first_to_send_counts() {
    let desk = Desk::new();
    let print = desk.print("rows.csv", &[(1, 0), (2, 1)]);
    for study in [1, 2] {
        desk.memory.enter(&mark(study, 1), "s", &print).unwrap();
        assert_eq!(desk.memory.earlier(&mark(study, 1), &print).unwrap(), []);
    }
    let sends = |study| {
        desk.memory
            .sends(&mark(study, 1), &print, <[Earlier]>::is_empty)
    };
    assert!(sends(2).unwrap());
    assert!(!sends(1).unwrap(), "the other went first");
    assert!(
        sends(2).unwrap(),
        "going on with the same run is no other run"
    );
    assert!(!sends(1).unwrap());
}

/// A word that nobody had asked for is for rows that were in a run before.
#[test]
fn a_word_in_advance_does_not_let_other_rows_through() {
    let desk = Desk::new();
    let print = desk.print("rows.csv", &[(1, 0), (2, 1)]);
    desk.memory.enter(&mark(1, 1), "s", &print).unwrap();
    desk.memory.sends(&mark(1, 1), &print, |_| true).unwrap();
    desk.memory.decide(&mark(1, 2), true).unwrap();
    let word = desk.memory.decision(&mark(1, 2)).unwrap().unwrap();
    let earlier = |print| desk.memory.earlier(&mark(1, 2), print).unwrap();
    assert!(word.allows(&print, &earlier(&print)));
    let less = desk.print("rows.csv", &[(1, 0)]);
    assert!(!word.allows(&less, &earlier(&less)));
}

#[test]
fn words_and_questions_are_of_one_site_and_run() {
    let desk = Desk::new();
    let print = desk.print("rows.csv", &[(1, 0)]);
    let second = mark(1, 2);
    assert_eq!(desk.memory.decision(&second).unwrap(), None);
    desk.memory.asks(&second, &print, "because").unwrap();
    let asked = desk.memory.questions("north", second.study).unwrap();
    assert_eq!((asked[0].number, asked[0].why.as_str()), (2, "because"));
    // An approval is taken back, and a refusal stays.
    assert!(desk.memory.decide(&second, true).unwrap());
    assert!(desk.memory.decide(&second, true).unwrap());
    assert!(desk.memory.decide(&second, false).unwrap());
    assert!(desk.memory.decide(&second, false).unwrap());
    assert!(!desk.memory.decide(&second, true).unwrap());
    let word = |is_approved, rows| Some(Decision { is_approved, rows });
    let found = || desk.memory.decision(&second).unwrap();
    assert_eq!(found(), word(false, Some(print.rows)));
    // A question about other rows voids what was said of these.
    let other = desk.print("rows.csv", &[(1, 0), (2, 1)]);
    desk.memory
        .asks(&second, &other, "because they changed")
        .unwrap();
    assert_eq!(found(), None);
    desk.memory.decide(&second, true).unwrap();
    assert_eq!(found(), word(true, Some(other.rows)));
    let said = found().unwrap();
    assert!(said.allows(&other, &[]) && !said.allows(&print, &[]));
    for other in [
        mark(1, 3),
        mark(2, 2),
        Mark {
            site: String::from("south"),
            ..second.clone()
        },
    ] {
        assert_eq!(desk.memory.decision(&other).unwrap(), None);
    }
    desk.memory.enter(&second, "s", &print).unwrap();
    assert!(
        desk.memory
            .questions("north", second.study)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn the_memory_is_the_owners_and_holds_no_rows() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = Desk::new();
    let table = desk.table("rows.csv", &[(17, 0)]);
    let source = Source::File(desk.path().join("rows.csv"));
    let print = desk
        .memory
        .print(&source, &table, Partition::Horizontal)
        .unwrap();
    desk.memory.enter(&mark(1, 1), "s", &print).unwrap();
    let file = desk.path().join("memory");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    // Another memory has another key: nobody can compare the two.
    let other = Memory::at(&desk.path().join("other"));
    let again = other.print(&source, &table, Partition::Horizontal).unwrap();
    assert_ne!(again.rows, print.rows);
    assert_ne!(again.bytes, print.bytes);
    let bytes = std::fs::read(&file).unwrap();
    let plain = hedgerow_node::source::digest(&table);
    assert!(!bytes.windows(32).any(|window| window == plain));
}
