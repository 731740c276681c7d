//! What runs write to their journals, and what a power cut may take of it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hedgerow_node::agreement::StudyHash;
use hedgerow_node::journal::{Journal, JournalError};
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng as _;

use super::secret;
use super::world::{Odd, World, run_test};

/// The tables of the journal and their log, the lock, and what SQLite keeps beside them.
const BESIDE: u64 = 128 << 10;

/// The bytes of all files in a data folder.
fn size(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .filter_map(|file| file.metadata().ok())
        .map(|file| file.len())
        .sum()
}

async fn opened(world: &World, place: usize) -> Journal {
    loop {
        match Journal::open(&world.data(place)) {
            Err(JournalError::Busy { .. }) => tokio::time::sleep(Duration::from_millis(5)).await,
            journal => return journal.unwrap(),
        }
    }
}

/// For each site: bytes received in a run, and bytes of its data folder when they were most. The
/// journals are kept, so that they are whole when the run is over.
async fn measured(world: World) -> Vec<(u64, u64)> {
    let world = Arc::new(world);
    let is_over = Arc::new(AtomicBool::new(false));
    let largest = std::thread::spawn({
        let (world, is_over) = (Arc::clone(&world), Arc::clone(&is_over));
        move || {
            let mut largest = [0; 3];
            while !is_over.load(Ordering::Relaxed) {
                for (place, largest) in largest.iter_mut().enumerate() {
                    *largest = size(&world.data(place)).max(*largest);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            largest
        }
    });
    let life = |place| {
        let odd = Odd {
            keep: Duration::from_secs(3_600),
            ..Odd::none(place)
        };
        Arc::clone(&world).live_oddly(place, odd)
    };
    let (first, second, third) = tokio::join!(life(0), life(1), life(2));
    let lives = [first.unwrap(), second.unwrap(), third.unwrap()];
    is_over.store(true, Ordering::Relaxed);
    let largest = largest.join().unwrap();
    let mut found = Vec::new();
    for (place, largest) in largest.into_iter().enumerate() {
        let largest = largest.max(size(&world.data(place)));
        let journal = opened(&world, place).await;
        let run = (StudyHash([9; 32]), 1);
        let key = secret(place as u8);
        let frames = (0..3).flat_map(|from| journal.received(run, &key, from).unwrap());
        found.push((frames.map(|frame| frame.len() as u64).sum(), largest));
    }
    // Everything that a party counts as sent has been received, besides openings and seals.
    let sent: u64 = lives.iter().map(|(learned, _)| learned.bytes).sum();
    let received: u64 = found.iter().map(|(received, _)| received).sum();
    assert!(
        (sent..sent + 20_000).contains(&received),
        "{received} of {sent}"
    );
    found
}

/// At most a fifth more than is received, beside what every journal has.
#[test]
fn a_run_writes_hardly_more_than_it_receives() {
    run_test(async {
        let mut world = World::new(3);
        (world.turns, world.wide) = (10, 5_000);
        for (place, (received, largest)) in measured(world).await.into_iter().enumerate() {
            eprintln!("site {place}: {received} bytes received, {largest} in its folder");
            assert!(received > 500_000, "{received}");
            let most = received * 12 / 10 + BESIDE;
            assert!(largest <= most, "site {place}: {largest} of {received}");
        }
    });
}

/// Nothing that comes is confirmed before the seals, so a power cut may take all that was written in a
/// life; what was found when it began is on disk.
#[test]
fn sites_whose_power_is_cut_anywhere_end_with_the_same_answers() {
    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let taken = Arc::new(AtomicUsize::new(0));
    for victims in [&[0][..], &[1], &[2], &[0, 2], &[0, 1, 2], &[0, 1, 2]] {
        let mut world = World::new(3);
        world.turns = 30;
        world.limits.gather = Duration::from_secs(3_600);
        let world = Arc::new(world);
        let expected = world.in_memory();
        run_test(async {
            let lives: Vec<_> = (0..3)
                .map(|place| {
                    let (world, taken) = (Arc::clone(&world), Arc::clone(&taken));
                    let kills = if victims.contains(&place) { 4 } else { 0 };
                    let cuts: Vec<(u64, f64)> = (0..kills)
                        .map(|_| {
                            let share = f64::from(random.next_u32()) / f64::from(u32::MAX);
                            (u64::from(random.next_u32()) % 300_000, share)
                        })
                        .collect();
                    let messages = expected[place].messages;
                    tokio::spawn(async move {
                        for (moment, share) in cuts {
                            let file = world.data(place).join("run-1.frames");
                            let length = || std::fs::metadata(&file).map_or(0, |file| file.len());
                            let before = length();
                            let life = Arc::clone(&world).live(place);
                            let moment = Duration::from_micros(moment);
                            if let Ok(whole) = tokio::time::timeout(moment, life).await {
                                return whole;
                            }
                            // The life that was cut off lets go of its journal first.
                            drop(opened(&world, place).await);
                            let entries = Journal::look(&world.data(place)).unwrap();
                            let sent = |frames: &(u16, u64, u64)| frames.1;
                            let sent: u64 = entries
                                .first()
                                .map_or(0, |entry| entry.frames.iter().map(sent).sum());
                            // With the seal, everything is on disk.
                            let written = length().saturating_sub(before);
                            if written > 0 && sent < messages {
                                let left = before + (share * written as f64) as u64;
                                let file = std::fs::OpenOptions::new().write(true).open(&file);
                                file.unwrap().set_len(left).unwrap();
                                taken.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        world.live(place).await
                    })
                })
                .collect();
            for (life, expected) in lives.into_iter().zip(&expected) {
                assert_eq!(life.await.unwrap().unwrap().0, *expected);
            }
        });
    }
    let taken = taken.load(Ordering::Relaxed);
    assert!(taken >= 8, "only {taken} cuts took something");
    eprintln!("{taken} cuts took something");
}

/// A site that comes back from an old copy of its folder has confirmed what nobody keeps any more.
#[test]
fn a_site_that_lacks_what_it_confirmed_is_named() {
    run_test(async {
        let mut world = World::new(2);
        world.turns = 2_000;
        world.limits.handshake = Duration::from_millis(300);
        let world = Arc::new(world);
        let sent = |frames: u64| {
            let world = Arc::clone(&world);
            async move {
                while Journal::look(&world.data(1))
                    .is_ok_and(|found| found.first().is_none_or(|entry| entry.frames[0].1 < frames))
                {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        };
        let first = tokio::spawn(Arc::clone(&world).live(0));
        let second = tokio::spawn(Arc::clone(&world).live(1));
        sent(100).await;
        second.abort();
        drop(opened(&world, 1).await);
        let file = world.data(1).join("run-1.frames");
        let copy = std::fs::read(&file).unwrap();
        let second = tokio::spawn(Arc::clone(&world).live(1));
        sent(400).await;
        second.abort();
        drop(opened(&world, 1).await);
        std::fs::write(&file, copy).unwrap();
        // Longer than a greeting may be on its way.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let again = Arc::clone(&world).live(1).await.unwrap_err();
        let error = first.await.unwrap().unwrap_err();
        let words = "`s1` lacks messages that it had confirmed";
        assert!(error.contains(words), "{error}");
        assert!(error.contains("hint: "), "{error}");
        assert!(again.contains("`s0`"), "{again}");
    });
}
