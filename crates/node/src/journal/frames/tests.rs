//! Files of frames that were cut, changed, or belong to another.

use super::*;
use crate::agreement::StudyHash;
use crate::identity::Secret;

fn sealing(key: u8) -> Arc<Sealing> {
    let secret = Secret::from_bytes(&[key; 32]);
    Arc::new(Sealing::new(&secret, StudyHash([1; 32]), 1).unwrap())
}

fn open(path: &Path, end: End) -> Option<Frames> {
    Frames::open(path.to_owned(), 3, sealing(1), end).unwrap()
}

/// A file with entries of every kind, and where each entry ends.
fn written(path: &Path) -> (Vec<u8>, Vec<usize>) {
    let mut frames = open(path, End::MayBeCut).unwrap();
    let mut ends = vec![0];
    for number in 0..3u8 {
        frames.put(1, &[number; 40]).unwrap();
        ends.push(frames.length as usize);
        frames.mark(2, &[number; 50]).unwrap();
        ends.push(frames.length as usize);
    }
    frames.note_seen(2, 2).unwrap();
    ends.push(frames.length as usize);
    (std::fs::read(path).unwrap(), ends)
}

/// What there is of a file after it was opened: frames from the first peer, marks and notes of the
/// second.
fn found(frames: &Frames) -> (u64, usize, u64) {
    for number in 0..frames.received(1) {
        assert_eq!(frames.get(1, number).unwrap(), [number as u8; 40]);
    }
    (frames.received(1), frames.marks(2).len(), frames.seen(2))
}

#[test]
fn the_end_of_a_file_may_be_missing_or_nonsense() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames");
    let (whole, ends) = written(&path);
    assert_eq!(found(&open(&path, End::IsWhole).unwrap()), (3, 3, 2));
    for cut in 0..whole.len() {
        for left in [&[][..], &[0; 30], &[255; 30]] {
            let bytes = [&whole[..cut], left].concat();
            std::fs::write(&path, &bytes).unwrap();
            // Nonsense may happen to be what stood there: seals are drawn at random.
            let same = bytes.iter().zip(&whole);
            let kept = same.take_while(|(found, was)| found == was).count();
            let entries = ends.iter().filter(|end| **end <= kept).count() - 1;
            let is_whole = ends.contains(&kept) && kept == bytes.len();
            assert_eq!(open(&path, End::IsWhole).is_some(), is_whole, "{cut}");
            let mut frames = open(&path, End::MayBeCut).unwrap();
            let expected = (entries.div_ceil(2) as u64, entries / 2, 0);
            assert_eq!(found(&frames), expected, "{cut}");
            // What follows is found again.
            frames.mark(2, b"more").unwrap();
            drop(frames);
            let frames = open(&path, End::IsWhole).unwrap();
            assert_eq!(frames.marks(2).len(), expected.1 + 1);
            let mark = frames.marks(2).last().copied();
            assert_eq!(mark, Some(sealing(1).mark(2, expected.1 as u64, b"more")));
        }
    }
}

#[test]
fn what_was_changed_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames");
    let (whole, ends) = written(&path);
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        std::fs::write(&path, changed).unwrap();
        assert!(open(&path, End::IsWhole).is_none(), "{at}");
    }
    // Entries that change places.
    let [_, first, second, third, fourth, ..] = ends[..] else {
        panic!("{ends:?}");
    };
    for (from, to) in [(first..second, third..fourth), (0..first, second..third)] {
        let mut changed = whole.clone();
        changed[to.clone()].copy_from_slice(&whole[from]);
        std::fs::write(&path, changed).unwrap();
        assert!(open(&path, End::IsWhole).is_none());
    }
    // With another key, and among fewer sites.
    std::fs::write(&path, &whole).unwrap();
    let other = Frames::open(path.clone(), 3, sealing(2), End::IsWhole).unwrap();
    assert!(other.is_none());
    let fewer = Frames::open(path.clone(), 2, sealing(1), End::IsWhole).unwrap();
    assert!(fewer.is_none());
}

/// Whoever looks while the file grows sees what is whole.
#[test]
fn entries_are_counted_without_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("frames");
    assert_eq!(counts(&path, 3).unwrap(), [(0, 0); 3]);
    let (whole, ends) = written(&path);
    for cut in 0..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let entries = ends.iter().filter(|end| **end <= cut).count() - 1;
        let (received, sent) = (entries.div_ceil(2).min(3), (entries / 2).min(3));
        let expected = [(0, 0), (0, received as u64), (sent as u64, 0)];
        assert_eq!(counts(&path, 3).unwrap(), expected, "{cut}");
    }
    std::fs::write(&path, [9; 100]).unwrap();
    assert_eq!(counts(&path, 3).unwrap(), [(0, 0); 3]);
}
