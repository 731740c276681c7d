//! A line that drops, delays, duplicates, truncates and corrupts: the run ends with the same
//! answers, since TLS finds what was done and frames are numbered.

use std::sync::Arc;
use std::time::Duration;

use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use super::world::{World, run_test};

/// What is done to a piece of the stream.
#[derive(Clone, Copy)]
enum Fault {
    Pass,
    Delay,
    Drop,
    Duplicate,
    Truncate,
    Corrupt,
    Cut,
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut random: TestRng) {
    let mut buffer = [0; 1500];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        let piece = &mut buffer[..read];
        let fault = match random.next_u32() % 150 {
            0 => Fault::Drop,
            1 => Fault::Duplicate,
            2 => Fault::Truncate,
            3 => Fault::Corrupt,
            4 => Fault::Cut,
            5..10 => Fault::Delay,
            _ => Fault::Pass,
        };
        let place = random.next_u32() as usize % read;
        let written = match fault {
            Fault::Pass => to.write_all(piece).await,
            Fault::Delay => {
                tokio::time::sleep(Duration::from_millis(15)).await;
                to.write_all(piece).await
            }
            Fault::Drop => Ok(()),
            Fault::Duplicate => {
                let twice = [&*piece, &*piece].concat();
                to.write_all(&twice).await
            }
            Fault::Truncate => to.write_all(&piece[..place]).await,
            Fault::Corrupt => {
                piece[place] ^= 1 << (random.next_u32() % 8);
                to.write_all(piece).await
            }
            Fault::Cut => return,
        };
        if written.is_err() {
            return;
        }
    }
}

/// A way to an address that is full of faults.
async fn faulty(target: String, seed: u8) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
        loop {
            let (caller, _) = listener.accept().await.unwrap();
            let Ok(called) = TcpStream::connect(&target).await else {
                continue;
            };
            let (from_caller, to_caller) = caller.into_split();
            let (from_called, to_called) = called.into_split();
            let mut draw = || {
                let mut seed = [0; 32];
                random.fill_bytes(&mut seed);
                TestRng::from_seed(RngAlgorithm::ChaCha, &seed)
            };
            let (there, back) = (draw(), draw());
            tokio::spawn(async move {
                // Both directions end together, as a broken line does.
                tokio::select! {
                    () = carry(from_caller, to_called, there) => {}
                    () = carry(from_called, to_caller, back) => {}
                }
            });
        }
    });
    address
}

#[test]
fn a_line_full_of_faults_changes_nothing() {
    for seed in 0..6 {
        run_test(async move {
            let mut world = World::new(3);
            world.turns = 12;
            // A dropped piece is noticed when nothing comes after it.
            world.limits.idle = Duration::from_millis(400);
            world.limits.alive = Duration::from_millis(100);
            world.limits.handshake = Duration::from_millis(600);
            for from in 0..3 {
                for to in 0..3 {
                    let target = world.listening[to].clone();
                    world.ways[from][to] = faulty(target, seed).await;
                }
            }
            // The last word may be lost for good: then a site stays for this long.
            world.limits.patience = Duration::from_secs(10);
            let world = Arc::new(world);
            let expected = world.in_memory();
            let lives: Vec<_> = (0..3)
                .map(|place| tokio::spawn(Arc::clone(&world).live(place)))
                .collect();
            for (life, expected) in lives.into_iter().zip(expected) {
                assert_eq!(life.await.unwrap().unwrap().0, expected);
            }
            let broken = (0..3).map(|place| world.said(place).matches("Disconnected").count());
            assert!(broken.sum::<usize>() > 0, "no line broke");
        });
    }
}
