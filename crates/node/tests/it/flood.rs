//! Strangers by the thousand: connections that are held, that are opened again and again, that say
//! nothing or half of something. A run completes beside them, whatever address they come from.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use super::world::{World, run_test};

/// Connections that strangers hold all the time.
const HELD: usize = 5_000;
/// New ones in a second, on top.
const RATE: u64 = 2_000;
/// New ones at most, so that a test ends whatever happens.
const MOST: usize = 60_000;

/// What a stranger says when it has connected.
#[derive(Clone, Copy)]
enum Words {
    Nothing,
    /// The first bytes of a TLS record.
    Begins,
    /// A whole ClientHello without an introduction, so that there is a key to be exchanged.
    Hello,
}

/// Lets this process have as many files open as the floods need.
fn need_files(files: usize) {
    let wanted = format!("--nofile={files}:");
    let pid = std::process::id().to_string();
    let raised = std::process::Command::new("prlimit")
        .args(["--pid", &pid, &wanted])
        .status();
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.contains("open files"));
    let soft = line.and_then(|line| line.split_whitespace().nth(3));
    let soft = soft.and_then(|soft| soft.parse::<usize>().ok());
    assert!(
        soft.is_some_and(|soft| soft >= files),
        "this test needs {files} open files, found {soft:?} ({raised:?})\nhint: ulimit -n {files}"
    );
}

/// A flood that goes on until it is dropped.
struct Flood {
    ends: Arc<AtomicBool>,
    opened: Arc<AtomicUsize>,
    tasks: JoinSet<Vec<TcpStream>>,
}

impl Flood {
    /// Holds `held` connections to these addresses, then opens `RATE` a second more, each held in the
    /// place of an older one.
    async fn start(source: IpAddr, targets: &[String], held: usize, words: Words) -> Self {
        /// Each opens its share.
        const WORKERS: usize = 4;
        let hello = Arc::new(client_hello());
        let ends = Arc::new(AtomicBool::new(false));
        let opened = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        for worker in 0..WORKERS {
            let (ends, opened) = (Arc::clone(&ends), Arc::clone(&opened));
            let hello = Arc::clone(&hello);
            let targets: Vec<_> = targets.iter().map(|target| target.parse().unwrap()).collect();
            tasks.spawn(async move {
                let mut held_here: Vec<TcpStream> = Vec::new();
                let pause = Duration::from_secs(WORKERS as u64) / RATE as u32;
                let mut turn = worker;
                while !ends.load(Ordering::Relaxed) && opened.load(Ordering::Relaxed) < MOST {
                    turn += 1;
                    let socket = TcpSocket::new_v4().unwrap();
                    socket.set_zero_linger().unwrap();
                    socket.bind((source, 0).into()).unwrap();
                    let target = targets[turn % targets.len()];
                    let called = tokio::time::timeout(Duration::from_secs(1), socket.connect(target));
                    let Ok(Ok(mut stream)) = called.await else {
                        tokio::time::sleep(pause).await;
                        continue;
                    };
                    let _ = match words {
                        Words::Nothing => Ok(()),
                        Words::Begins => stream.write_all(&[0x16, 3, 1]).await,
                        Words::Hello => stream.write_all(&hello).await,
                    };
                    let before = opened.fetch_add(1, Ordering::Relaxed);
                    if held_here.len() < held / WORKERS {
                        held_here.push(stream);
                    } else {
                        let place = turn % held_here.len();
                        held_here[place] = stream;
                    }
                    if before >= held {
                        tokio::time::sleep(pause).await;
                    }
                }
                held_here
            });
        }
        let flood = Self {
            ends,
            opened,
            tasks,
        };
        let started = Instant::now();
        while flood.opened() < held {
            assert!(started.elapsed() < Duration::from_secs(60), "{}", flood.opened());
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        flood
    }

    fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }

    /// Ends it: how many connections it opened, and how many of those it holds are still open at
    /// the other end.
    async fn end(self) -> (usize, usize) {
        self.ends.store(true, Ordering::Relaxed);
        let opened = self.opened();
        let held = self.tasks.join_all().await;
        let is_open = |socket: &&TcpStream| {
            let found = socket.try_read(&mut [0; 64]);
            matches!(found, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
        };
        (opened, held.iter().flatten().filter(is_open).count())
    }
}

/// The first words of a TLS client.
fn client_hello() -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let name = rustls::pki_types::ServerName::try_from("hedgerow").unwrap();
    let mut client = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

/// Lives a world whose last site, which both others call, is flooded before and while it runs; all
/// sites end with what they would have learned in peace.
async fn completes_under(source: [u8; 4], words: Words) -> Arc<World> {
    let world = Arc::new(World::new(3));
    let expected = world.in_memory();
    let last = tokio::spawn(Arc::clone(&world).live(2));
    let flood = Flood::start(source.into(), &world.listening[2..], HELD, words).await;
    let before = flood.opened();
    let first = tokio::spawn(Arc::clone(&world).live(0));
    let second = tokio::spawn(Arc::clone(&world).live(1));
    for (life, expected) in [first, second, last].into_iter().zip(expected) {
        assert_eq!(life.await.unwrap().unwrap().0, expected);
    }
    let during = flood.opened() - before;
    assert!(during > 0, "the flood had run dry");
    flood.end().await;
    world
}

/// Peers come from 127.0.0.1, as everybody over loopback does who asks for nothing else.
const OF_THE_PEERS: [u8; 4] = [127, 0, 0, 1];

#[test]
fn a_run_completes_while_silent_strangers_flood_from_the_address_of_the_peers() {
    need_files(2 * HELD + 1_000);
    run_test(async {
        completes_under(OF_THE_PEERS, Words::Nothing).await;
    });
}

#[test]
fn a_run_completes_while_strangers_flood_with_handshakes_from_the_address_of_the_peers() {
    need_files(2 * HELD + 1_000);
    run_test(async {
        completes_under(OF_THE_PEERS, Words::Hello).await;
    });
}

#[test]
fn a_run_completes_while_strangers_flood_with_half_a_word_from_another_address() {
    need_files(2 * HELD + 1_000);
    run_test(async {
        completes_under([127, 0, 0, 77], Words::Begins).await;
    });
}
