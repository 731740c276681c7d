//! What a journal keeps, and what it forgets.

use std::sync::Arc;

use rusqlite::Connection;

use super::*;

/// What a run asks of its journal, for tests that wait on their own thread.
impl Journal {
    pub(crate) fn begin_here(
        &self,
        name: &RunName,
        secret: &Secret,
        seed: Option<&Seed>,
        keep: Duration,
    ) -> Result<Begun, JournalError> {
        let (name, seed) = (*name, seed.cloned());
        let sealing = Sealing::new(secret, name.study, name.number).unwrap();
        self.call(move |tables| tables.begin(&name, sealing, seed.as_ref(), keep))
    }

    fn kept_here(
        &self,
        study: StudyHash,
        number: u32,
        secret: &Secret,
    ) -> Result<(RunName, Begun, bool), JournalError> {
        let sealing = Sealing::new(secret, study, number).unwrap();
        self.call(move |tables| tables.kept(study, number, sealing))
    }

    /// Keeps the next frame from a peer.
    pub(crate) fn put(&self, peer: u16, bytes: &[u8]) -> Result<(), JournalError> {
        let bytes = bytes.to_vec();
        self.call(move |tables| tables.put(peer, &bytes))
    }

    /// Marks the next frame to a peer.
    pub(crate) fn mark(
        &self,
        peer: u16,
        number: u64,
        bytes: &[u8],
    ) -> Result<Marked, JournalError> {
        let bytes = bytes.to_vec();
        self.call(move |tables| tables.mark(peer, number, &bytes))
    }

    pub(crate) fn keep_opening(&self, run: i64, bytes: &[u8]) -> Result<(), JournalError> {
        let bytes = bytes.to_vec();
        self.call(move |tables| tables.keep_opening(run, &bytes))
    }

    fn get(&self, peer: u16, number: u64) -> Result<Vec<u8>, JournalError> {
        self.call(move |tables| tables.get(peer, number))
    }

    /// How many frames were sent to a peer, and came from it.
    fn counts(&self, peer: u16) -> (usize, u64) {
        let counts = self.call(move |tables| Ok((tables.marks(peer).len(), tables.received(peer))));
        counts.unwrap()
    }

    fn make_durable(&self) -> Result<(), JournalError> {
        self.call(|tables| tables.make_durable())
    }

    pub(crate) fn finish(&self, run: i64, release: &[u8; 32]) -> Result<(), JournalError> {
        let release = *release;
        self.call(move |tables| tables.finish(run, &release))
    }
}

const NAME: RunName = RunName {
    study: StudyHash([1; 32]),
    number: 1,
    site: 0,
    sites: 3,
    rows: [2; 32],
};

fn secret() -> Secret {
    Secret::from_bytes(&[6; 32])
}

/// Begins a run of which nothing is kept.
fn begin(journal: &Journal, name: &RunName, seed: Option<&Seed>) -> Result<Begun, JournalError> {
    journal.begin_here(name, &secret(), seed, Duration::ZERO)
}

/// Every byte that lies in the folder.
fn contents(folder: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).unwrap();
    files
        .flat_map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .collect()
}

fn holds(folder: &Path, needle: &[u8]) -> bool {
    let bytes = contents(folder);
    bytes.windows(needle.len()).any(|window| window == needle)
}

#[test]
fn frames_marks_and_seed_are_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let begun = begin(&journal, &NAME, None).unwrap();
    for number in 0..5 {
        let frame = [number as u8; 9];
        assert_eq!(journal.mark(2, number, &frame).unwrap(), Marked::New);
        journal.put(2, &frame).unwrap();
    }
    journal.put(1, b"x").unwrap();
    drop(journal);
    let journal = Journal::open(folder.path()).unwrap();
    let again = begin(&journal, &NAME, None).unwrap();
    assert_eq!((again.id, *again.seed), (begun.id, *begun.seed));
    assert_eq!((journal.counts(2), journal.counts(1)), ((5, 5), (0, 1)));
    assert_eq!(journal.get(2, 4).unwrap(), [4; 9]);
    assert!(journal.get(2, 5).is_err() && journal.get(9, 0).is_err());
    // What is made again is held against what was sent.
    assert_eq!(journal.mark(2, 4, &[4; 9]).unwrap(), Marked::Known);
    assert_eq!(journal.mark(2, 4, &[5; 9]).unwrap(), Marked::Other);
    assert_eq!(journal.mark(2, 5, &[5; 9]).unwrap(), Marked::New);
    let entries = Journal::look(folder.path()).unwrap();
    assert_eq!(entries[0].frames, [(1, 0, 1), (2, 6, 5)]);
}

/// Of the frames that were received, and of nothing else, there is as much as there was of them.
#[test]
fn a_journal_is_hardly_larger_than_what_was_received() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    begin(&journal, &NAME, None).unwrap();
    let mut received = 0;
    for number in 0..500 {
        let frame = vec![7; 300 + 17 * number as usize];
        journal.mark(1, number, &frame).unwrap();
        journal.put(1, &frame).unwrap();
        received += frame.len();
    }
    let size = std::fs::metadata(folder.path().join("run-1.frames")).unwrap();
    let beside = size.len() as usize - received;
    assert_eq!(beside, 500 * (35 + 23));
    assert!(beside * 50 < received, "{beside} beside {received}");
}

#[test]
fn two_processes_cannot_hold_one_journal() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let second = Journal::open(folder.path());
    assert!(matches!(second, Err(JournalError::Busy { .. })));
    drop(journal);
    Journal::open(folder.path()).unwrap();
}

#[test]
fn who_asks_whether_a_journal_is_held_takes_it_from_nobody() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!Journal::is_held(folder.path()).unwrap());
    let journal = Journal::open(folder.path()).unwrap();
    for _ in 0..3 {
        assert!(Journal::is_held(folder.path()).unwrap());
    }
    // Still held, though it was asked about and files were opened and closed.
    assert!(matches!(
        Journal::open(folder.path()),
        Err(JournalError::Busy { .. })
    ));
    drop(journal);
    assert!(!Journal::is_held(folder.path()).unwrap());

    // Many ask again and again, and it can be taken all the same.
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    Journal::is_held(folder.path()).unwrap();
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
        }
        for _ in 0..20 {
            let taken = Journal::open(folder.path());
            let is_held = Journal::is_held(folder.path());
            if taken.is_err() || !matches!(is_held, Ok(true)) {
                is_over.store(true, std::sync::atomic::Ordering::Relaxed);
                panic!("{:?} {is_held:?}", taken.err());
            }
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// `synchronous`: 1 is `NORMAL`, 2 is `FULL`.
impl Tables {
    /// From here on the file refuses every change, as one on a full disk does.
    pub(crate) fn refuse_writes(&mut self) {
        self.connection
            .execute_batch("PRAGMA query_only = ON")
            .unwrap();
        if let Some(frames) = &mut self.frames {
            frames.refuse_writes();
        }
    }
}

fn synchronous(journal: &Journal) -> i64 {
    let found = journal.call(|tables| {
        let found = tables
            .connection
            .query_row("PRAGMA synchronous", [], |row| row.get(0));
        Ok(found.unwrap())
    });
    found.unwrap()
}

#[test]
fn what_peers_may_forget_is_on_disk_first() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    begin(&journal, &NAME, None).unwrap();
    assert_eq!(synchronous(&journal), 1);
    journal.make_durable().unwrap();
    assert_eq!(synchronous(&journal), 2);
    drop(journal);
    let journal = Journal::open(folder.path()).unwrap();
    begin(&journal, &NAME, None).unwrap();
    assert_eq!(synchronous(&journal), 1);
    assert!(!journal.call(|tables| Ok(tables.is_durable())).unwrap());
    journal.make_durable().unwrap();
    journal.mark(1, 0, b"a seal").unwrap();
    assert_eq!(synchronous(&journal), 2);
    assert!(journal.call(|tables| Ok(tables.is_durable())).unwrap());
}

#[test]
fn rows_that_changed_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    begin(&journal, &NAME, None).unwrap();
    let rows = [3; 32];
    let changed = begin(&journal, &RunName { rows, ..NAME }, None);
    assert!(matches!(changed, Err(JournalError::RowsChanged { run: 1 })));
    // Another run of the study has rows of its own.
    let number = 2;
    begin(
        &journal,
        &RunName {
            rows,
            number,
            ..NAME
        },
        None,
    )
    .unwrap();
}

#[test]
fn nothing_secret_outlives_a_run() {
    for abandon in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        let seed: [u8; 32] = std::array::from_fn(|place| place as u8 + 100);
        let begun = begin(&journal, &NAME, Some(&Seed::new(seed))).unwrap();
        let frame = b"a frame that nobody should find".repeat(300);
        journal.mark(1, 0, &frame).unwrap();
        journal.put(1, &frame).unwrap();
        let id = begun.id;
        let wait = move |tables: &mut Tables| tables.put_waiting(id, 1, 0, &frame);
        journal.call(wait).unwrap();
        journal.keep_opening(id, b"nobody should").unwrap();
        // Sealed while the run lasts: nobody reads it without the site's key.
        assert!(!holds(folder.path(), &seed) && !holds(folder.path(), b"nobody should"));
        if abandon {
            journal.abandon(NAME.study, NAME.number).unwrap();
            // Another seed must not go on where peers have frames of this one.
            let again = begin(&journal, &NAME, None);
            assert!(matches!(again, Err(JournalError::GivenUp { run: 1 })));
            let again = journal.abandon(NAME.study, NAME.number);
            assert!(matches!(again, Err(JournalError::GivenUp { run: 1 })));
        } else {
            journal.finish(begun.id, &[9; 32]).unwrap();
            let over = begin(&journal, &NAME, None);
            assert!(matches!(over, Err(JournalError::Over { run: 1 })));
            let given_up = journal.abandon(NAME.study, NAME.number);
            assert!(matches!(given_up, Err(JournalError::Over { run: 1 })));
        }
        assert!(!holds(folder.path(), &seed) && !holds(folder.path(), b"nobody should"));
        assert!(contents(folder.path()).len() < 200_000);
        for file in ["run-1.frames", "run-1.waiting"] {
            assert!(!folder.path().join(file).exists(), "{file}");
        }
    }
}

/// A process that was killed before it could wipe: the next one does.
#[test]
fn files_of_runs_that_are_over_are_wiped_when_the_journal_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let begun = begin(&journal, &NAME, None).unwrap();
    journal.put(1, b"received").unwrap();
    let file = folder.path().join("run-1.frames");
    let kept = std::fs::read(&file).unwrap();
    journal.finish(begun.id, &[9; 32]).unwrap();
    drop(journal);
    let waiting = folder.path().join("run-1.waiting");
    std::fs::write(&file, &kept).unwrap();
    std::fs::write(&waiting, &kept).unwrap();
    // Of others, nothing is touched.
    let other = folder.path().join("run-x.frames");
    std::fs::write(&other, b"not a file of the journal").unwrap();
    Journal::open(folder.path()).unwrap();
    assert!(!file.exists() && !waiting.exists() && other.exists());
}

/// Frames that wait for a peer are there until the peer has them, and then their room is given back.
#[test]
fn frames_wait_on_disk_until_the_peer_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let run = begin(&journal, &NAME, None).unwrap().id;
    let size = || {
        std::fs::metadata(folder.path().join("run-1.waiting"))
            .unwrap()
            .len()
    };
    journal
        .call(move |tables| {
            for number in 3..6 {
                tables.put_waiting(run, 1, number, &[number as u8; 1000])?;
            }
            tables.put_waiting(run, 2, 3, b"another peer's")?;
            assert_eq!(tables.waiting(1, 4)?.unwrap(), [4; 1000]);
            assert_eq!(tables.waiting(1, 2)?, None);
            tables.forget_waiting(1, 5)?;
            assert_eq!(tables.waiting(1, 4)?, None);
            assert_eq!(tables.waiting(1, 5)?.unwrap(), [5; 1000]);
            tables.forget_waiting(1, 9)?;
            assert_eq!(tables.waiting(2, 3)?.unwrap(), b"another peer's");
            Ok(())
        })
        .unwrap();
    assert!(size() > 3000);
    journal.call(|tables| tables.forget_waiting(2, 4)).unwrap();
    assert_eq!(size(), 0);
}

#[test]
fn a_reader_in_the_way_of_wiping_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let seed: [u8; 32] = std::array::from_fn(|place| place as u8 + 100);
    begin(&journal, &NAME, Some(&Seed::new(seed))).unwrap();
    let reader = Connection::open(folder.path().join("journal.sqlite")).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let seen: i64 = reader
        .query_row("SELECT COUNT(*) FROM run", [], |row| row.get(0))
        .unwrap();
    assert_eq!(seen, 1);
    let refused = journal.abandon(NAME.study, NAME.number).unwrap_err();
    assert!(
        refused.to_string().contains("another program reads it"),
        "{refused}"
    );
    drop((reader, journal));
    Journal::open(folder.path()).unwrap();
    assert!(!holds(folder.path(), &seed));
}

#[test]
fn the_files_are_the_owners() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let journal = Journal::open(&data).unwrap();
    begin(&journal, &NAME, None).unwrap();
    for file in std::fs::read_dir(&data).unwrap() {
        let found = file.unwrap().metadata().unwrap();
        assert_eq!(crate::identity::readable_by_others(&found), None);
    }
    let found = std::fs::metadata(&data).unwrap();
    assert_eq!(crate::identity::readable_by_others(&found), None);
}

#[test]
fn what_an_audit_needs_stays_for_its_time_and_goes_then() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let (seed, keep) = (Seed::new([8; 32]), Duration::from_secs(90 * 86_400));
    let begun = journal
        .begin_here(&NAME, &secret(), Some(&seed), keep)
        .unwrap();
    journal.put(1, b"said").unwrap();
    journal.keep_opening(begun.id, b"opened").unwrap();
    journal.finish(begun.id, &[3; 32]).unwrap();
    assert!(matches!(
        begin(&journal, &NAME, None),
        Err(JournalError::Over { .. })
    ));
    let kept = |journal: &Journal, secret: &Secret| journal.kept_here(NAME.study, 1, secret);
    let (name, again, is_over) = kept(&journal, &secret()).unwrap();
    assert_eq!((name, *again.seed, is_over), (NAME, [8; 32], true));
    assert_eq!(journal.get(1, 0).unwrap(), b"said");
    let id = again.id;
    let opening = move |tables: &mut Tables| tables.opening(id);
    assert_eq!(journal.call(opening).unwrap().unwrap(), b"opened");
    let other = kept(&journal, &Secret::from_bytes(&[7; 32]));
    assert!(matches!(other, Err(JournalError::Sealed { .. })));
    let now = SystemTime::now();
    journal
        .forget_old(now + keep - Duration::from_secs(60))
        .unwrap();
    assert!(kept(&journal, &secret()).is_ok());
    journal
        .forget_old(now + keep + Duration::from_secs(60))
        .unwrap();
    let gone = kept(&journal, &secret());
    assert!(matches!(gone, Err(JournalError::NotKept { run: 1 })));
    assert!(!folder.path().join("run-1.frames").exists());
    let unknown = journal.kept_here(NAME.study, 9, &secret());
    assert!(matches!(unknown, Err(JournalError::NoRun { .. })));
}

/// A site that gives a run up cannot do away with what shows how it took part.
#[test]
fn a_run_that_is_given_up_is_kept_for_audits_too() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let keep = Duration::from_secs(60);
    journal.begin_here(&NAME, &secret(), None, keep).unwrap();
    journal.put(1, b"said").unwrap();
    journal.abandon(NAME.study, 1).unwrap();
    let (_, _, is_over) = journal.kept_here(NAME.study, 1, &secret()).unwrap();
    assert!(!is_over);
    assert_eq!(journal.get(1, 0).unwrap(), b"said");
}

#[test]
fn a_journal_of_another_version_is_refused_and_both_are_named() {
    let folder = tempfile::tempdir().unwrap();
    drop(Journal::open(folder.path()).unwrap());
    for found in [0, 2, 99] {
        let file = Connection::open(folder.path().join("journal.sqlite")).unwrap();
        file.execute_batch(&format!("PRAGMA user_version = {found}"))
            .unwrap();
        drop(file);
        let error = Journal::open(folder.path()).err().unwrap().to_string();
        assert!(error.contains(&format!("of version {found}, ")), "{error}");
        assert!(
            error.contains(&format!("writes version {VERSION}")),
            "{error}"
        );
    }
}
/// A line of a ledger.
fn disclosed(values: usize, complete: bool) -> hedgerow_smc::ledger::Entry {
    use hedgerow_smc::ledger::{Disclosure, Entry};
    use hedgerow_smc::wire::Primitive;
    use hedgerow_smc::{Site, To, What};
    Entry {
        disclosure: Disclosure {
            what: What::new("sizes", "a theorem"),
            by: Primitive::Sum,
            to: To::Site(Site::new(1)),
            caveat: None,
        },
        values,
        complete,
        recorded: None,
        hash: [0; 32],
    }
}

#[tokio::test]
async fn what_was_learned_is_kept_and_never_less_than_an_earlier_life_saw() {
    let folder = tempfile::tempdir().unwrap();
    let found = |calls, ended_early, values| {
        let learned = Journal::learned(folder.path(), NAME.study, 1).unwrap();
        assert_eq!(learned.len(), 1);
        assert_eq!(learned[0].site.as_deref(), Some("south"));
        let counts = (learned[0].calls, learned[0].ended_early, learned[0].values);
        assert_eq!(counts, (calls, ended_early, values));
    };
    assert_eq!(Journal::learned(folder.path(), NAME.study, 1).unwrap(), []);
    let names = || ["north", "south", "east"].map(String::from).to_vec();
    for life in 0..3 {
        let journal = Arc::new(Journal::open(folder.path()).unwrap());
        let begun = begin(&journal, &NAME, None).unwrap();
        let mut account = Account::open(Arc::clone(&journal), begun.id, names())
            .await
            .unwrap();
        account.note(None, &disclosed(9, false)).unwrap();
        match life {
            0 => found(1, 1, 9),
            // What is not done again is not forgotten.
            _ => found(2, 1, 7),
        }
        account
            .note(Some(&disclosed(9, false)), &disclosed(3, true))
            .unwrap();
        if life < 2 {
            account.note(None, &disclosed(4, false)).unwrap();
            found(2, 1, 7);
        }
    }
    let journal = Journal::open(folder.path()).unwrap();
    journal.abandon(NAME.study, 1).unwrap();
    found(2, 1, 7);
    let accounts = Journal::accounts(folder.path()).unwrap();
    let account = &accounts[&(NAME.study, 1)];
    assert_eq!(accounts.len(), 1);
    assert_eq!(account.members, names());
    let learned = Journal::learned(folder.path(), NAME.study, 1).unwrap();
    assert_eq!(account.learned, learned);
}

#[test]
fn versions_are_followed_to_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let hash = |number: u8| StudyHash([number; 32]);
    let versions = |study, parent| Journal::versions(folder.path(), study, parent).unwrap();
    assert_eq!(versions(hash(3), Some(hash(2))), [hash(3), hash(2)]);
    let journal = Journal::open(folder.path()).unwrap();
    journal.descends(hash(2), hash(1)).unwrap();
    journal.descends(hash(3), hash(2)).unwrap();
    assert_eq!(versions(hash(3), None), [hash(3), hash(2), hash(1)]);
    assert_eq!(versions(hash(4), Some(hash(3))).len(), 4);
    assert_eq!(versions(hash(5), None), [hash(5)]);
    // One that was edited into a circle ends.
    journal.descends(hash(1), hash(3)).unwrap();
    assert_eq!(versions(hash(3), None).len(), 3);
}

#[test]
fn a_run_that_is_renounced_has_its_number_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    journal.renounce(NAME.study, 1, (0, 3)).unwrap();
    journal.lose(NAME.study, 1).unwrap();
    let entries = Journal::look(folder.path()).unwrap();
    assert!(entries[0].is_given_up && entries[0].number == 1);
    let begun = begin(&journal, &NAME, None);
    assert!(matches!(begun, Err(JournalError::GivenUp { run: 1 })));
    assert_eq!(Journal::lost(folder.path(), NAME.study).unwrap()[0].0, 1);
}

/// Work that panics ends with an error for who asked; the journal goes on, and nothing is half done.
#[tokio::test]
async fn a_panic_while_writing_is_an_error_of_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let begun = begin(&journal, &NAME, None).unwrap();
    let run = begun.id;
    let panicking = move |tables: &mut Tables| -> Result<(), JournalError> {
        let transaction = tables.connection.transaction().unwrap();
        transaction
            .execute("DELETE FROM run WHERE id = ?1", [run])
            .unwrap();
        panic!("a mistake");
    };
    let asked = journal.ask(panicking).await.unwrap_err();
    assert!(asked.to_string().contains("panicked"), "{asked}");
    assert!(journal.call(panicking).is_err());
    // An answer that nobody can hear, and one that panics, change nothing either.
    journal.post(|_| Ok(()), |_| panic!("a mistake"));
    drop(journal.ask(move |tables| tables.put(1, b"not asked for")));
    journal.put(1, b"said").unwrap();
    assert_eq!(journal.get(1, 0).unwrap(), b"said");
    assert_eq!(journal.counts(1), (0, 1));
}

/// What was asked for is done before the journal is gone, also if nobody waits for it.
#[test]
fn what_was_asked_for_is_there_when_the_journal_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    begin(&journal, &NAME, None).unwrap();
    for _ in 0..200 {
        journal.post(|tables| tables.put(1, &[7; 100]), |_| ());
    }
    drop(journal);
    let journal = Journal::open(folder.path()).unwrap();
    begin(&journal, &NAME, None).unwrap();
    assert_eq!(journal.counts(1), (0, 200));
}

/// What a full disk says reaches who asked, with the file and the step.
#[test]
fn a_file_that_refuses_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let begun = begin(&journal, &NAME, None).unwrap();
    journal
        .call(|tables| {
            tables.refuse_writes();
            Ok(())
        })
        .unwrap();
    for (refused, name, what) in [
        (
            journal.put(1, b"said"),
            "run-1.frames",
            "a frame cannot be kept",
        ),
        (
            journal.mark(1, 0, b"said").map(|_| ()),
            "run-1.frames",
            "a frame cannot be kept",
        ),
        (
            journal.finish(begun.id, &[0; 32]),
            "run-1.frames",
            "cannot be closed",
        ),
    ] {
        let refused = refused.unwrap_err();
        let JournalError::Failed { file, step, .. } = refused else {
            panic!("{refused}");
        };
        assert!(file.ends_with(name), "{file}");
        assert_eq!(step, what);
    }
}
