//! Strangers by the thousand: connections that are held, that are opened again and again, that say
//! nothing or half of something. A run completes beside them, whatever address they come from.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hedgerow_node::agreement::StudyHash;
use hedgerow_node::knock::{Door, Due, KnockError};
use hedgerow_node::{Reason, Watcher};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::impostor::{connect, connector, hello, opening};
use super::secret;
use super::world::{World, run_test};

/// Connections that strangers hold all the time.
const HELD: usize = 5_000;
/// New ones in a second, on top.
const RATE: u32 = 2_000;
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
    let soft = || -> Option<usize> {
        let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
        let line = limits.lines().find(|line| line.contains("open files"))?;
        line.split_whitespace().nth(3)?.parse().ok()
    };
    if soft().is_some_and(|soft| soft >= files) {
        return;
    }
    let pid = std::process::id().to_string();
    let wanted = format!("--nofile={files}:");
    let raised = std::process::Command::new("prlimit")
        .args(["--pid", &pid, &wanted])
        .status();
    assert!(
        soft().is_some_and(|soft| soft >= files),
        "this test needs {files} open files, found {:?} ({raised:?})\nhint: ulimit -n {files}",
        soft()
    );
}

type Held = Arc<Mutex<Vec<TcpStream>>>;

/// A flood that goes on until it is dropped.
struct Flood {
    opened: Arc<AtomicUsize>,
    /// What each worker holds.
    held: Vec<Held>,
    _workers: JoinSet<()>,
}

impl Flood {
    /// Holds `HELD` connections to an address, then opens `RATE` a second more, each held in the
    /// place of an older one.
    async fn start(source: [u8; 4], target: &str, words: Words) -> Self {
        /// Each opens its share.
        const WORKERS: usize = 4;
        let pause = Duration::from_secs(WORKERS as u64) / RATE;
        let hello = Arc::new(client_hello());
        let opened = Arc::new(AtomicUsize::new(0));
        let held: Vec<Held> = (0..WORKERS).map(|_| Arc::default()).collect();
        let mut workers = JoinSet::new();
        for held in &held {
            let (held, target) = (Arc::clone(held), target.to_owned());
            let (opened, hello) = (Arc::clone(&opened), Arc::clone(&hello));
            workers.spawn(async move {
                while opened.load(Ordering::Relaxed) < MOST {
                    let called = timeout(Duration::from_secs(1), call(source, &target)).await;
                    let Ok(Ok(mut stream)) = called else {
                        tokio::time::sleep(pause).await;
                        continue;
                    };
                    let _ = match words {
                        Words::Nothing => Ok(()),
                        Words::Begins => stream.write_all(&[0x16, 3, 1]).await,
                        Words::Hello => stream.write_all(&hello).await,
                    };
                    let before = opened.fetch_add(1, Ordering::Relaxed);
                    {
                        let mut held = held.lock().unwrap();
                        if held.len() < HELD / WORKERS {
                            held.push(stream);
                        } else {
                            let place = before % held.len();
                            held[place] = stream;
                            // One more byte of a record, now and then, to one that is there.
                            if let Words::Begins = words {
                                let place = before * 7 % held.len();
                                let _ = held[place].try_write(&[1]);
                            }
                        }
                    }
                    if before >= HELD {
                        tokio::time::sleep(pause).await;
                    }
                }
            });
        }
        let flood = Self {
            opened,
            held,
            _workers: workers,
        };
        let started = Instant::now();
        while flood.opened() < HELD {
            let opened = flood.opened();
            assert!(started.elapsed() < Duration::from_secs(60), "{opened}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        flood
    }

    fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }

    /// Connections that are still open at the other end.
    fn open(&self) -> usize {
        let is_open = |socket: &&TcpStream| loop {
            match socket.try_read(&mut [0; 4096]) {
                Ok(1..) => {}
                Ok(0) => return false,
                Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
            }
        };
        let open = |held: &Held| held.lock().unwrap().iter().filter(is_open).count();
        self.held.iter().map(open).sum()
    }
}

/// Connects from an address. Each test has one of its own: ports that other tests draw on 127.0.0.1
/// stay free.
async fn call(source: [u8; 4], target: &str) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    // It leaves nothing behind when it is dropped.
    socket.set_zero_linger()?;
    socket.bind((source, 0).into())?;
    socket.connect(target.parse().unwrap()).await
}

/// The first words of a TLS client.
fn client_hello() -> Vec<u8> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let name = ServerName::try_from("hedgerow").unwrap();
    let mut client = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

/// Lives a world whose last site, which both others call, is flooded before and while it runs; all
/// sites end with what they would have learned in peace.
fn completes_under(peers: [u8; 4], source: [u8; 4], words: Words) {
    need_files(2 * HELD + 1_000);
    run_test(async {
        let mut world = World::new(3);
        for from in 0..2 {
            world.ways[from][2] = distant(peers, &world.listening[2]).await;
            // Neither does the flooded site call.
            world.ways[2][from] = nowhere();
        }
        let world = Arc::new(world);
        let expected = world.in_memory();
        let last = tokio::spawn(Arc::clone(&world).live(2));
        let flood = Flood::start(source, &world.listening[2], words).await;
        // Most of those that strangers hold were let go, however many more come.
        let started = Instant::now();
        while flood.open() > world.limits.strangers + 64 {
            assert!(
                started.elapsed() < Duration::from_secs(20),
                "{}",
                flood.open()
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let before = flood.opened();
        let first = tokio::spawn(Arc::clone(&world).live(0));
        let second = tokio::spawn(Arc::clone(&world).live(1));
        for (life, expected) in [first, second, last].into_iter().zip(expected) {
            assert_eq!(life.await.unwrap().unwrap().0, expected);
        }
        let during = flood.opened() - before;
        assert!(during > 100, "the flood had run dry: {during}");
        // And thousands were turned away in a few lines.
        let lines = world.said(2).matches("TurnedAway").count();
        assert!((1..40).contains(&lines), "{lines}");
    });
}

/// An address at which nobody listens.
fn nowhere() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A way to an address that is as long as one between cities: what is said takes a while to arrive,
/// each time, and a handshake is several words. Whoever takes it comes from `source`.
async fn distant(source: [u8; 4], target: &str) -> String {
    const DELAY: Duration = Duration::from_millis(40);
    async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
        let mut buffer = [0; 1 << 16];
        while let Ok(read @ 1..) = from.read(&mut buffer).await {
            tokio::time::sleep(DELAY).await;
            if to.write_all(&buffer[..read]).await.is_err() {
                return;
            }
        }
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let target = target.to_owned();
    tokio::spawn(async move {
        loop {
            let (caller, _) = listener.accept().await.unwrap();
            let target = target.clone();
            tokio::spawn(async move {
                // A caller's first words are on the heels of its connection.
                caller.readable().await.unwrap();
                tokio::time::sleep(DELAY).await;
                let Ok(called) = call(source, &target).await else {
                    return;
                };
                let (mut from_caller, to_caller) = caller.into_split();
                let (from_called, mut to_called) = called.into_split();
                let mut first = [0; 1 << 12];
                let Ok(read @ 1..) = from_caller.read(&mut first).await else {
                    return;
                };
                if to_called.write_all(&first[..read]).await.is_err() {
                    return;
                }
                tokio::select! {
                    () = carry(from_caller, to_called) => {}
                    () = carry(from_called, to_caller) => {}
                }
            });
        }
    });
    address
}

#[test]
fn a_run_completes_while_silent_strangers_flood_from_the_address_of_the_peers() {
    completes_under([127, 1, 0, 1], [127, 1, 0, 1], Words::Nothing);
}

#[test]
fn a_run_completes_while_strangers_flood_with_handshakes_from_the_address_of_the_peers() {
    completes_under([127, 1, 0, 2], [127, 1, 0, 2], Words::Hello);
}

#[test]
fn a_run_completes_while_slow_strangers_flood_from_another_address() {
    completes_under([127, 1, 0, 3], [127, 1, 0, 4], Words::Begins);
}

/// Its key is proven, its greeting is not there yet, and thousands come after it.
#[test]
fn a_peer_that_proved_its_key_is_never_evicted_by_strangers() {
    need_files(2 * HELD + 1_000);
    run_test(async {
        let mut world = World::new(2);
        world.limits.handshake = Duration::from_secs(60);
        let world = Arc::new(world);
        let site = tokio::spawn(Arc::clone(&world).live(1));
        let peer = connector(Some(0), |_| {});
        let name = ServerName::try_from("hedgerow").unwrap();
        let source = [127, 1, 0, 5];
        // Once somebody listens there.
        drop(connect(&world.listening[1]).await);
        let socket = call(source, &world.listening[1]).await.unwrap();
        let mut stream = peer.connect(name, socket).await.unwrap();
        // The client is done a moment before the server knows its key.
        tokio::time::sleep(Duration::from_millis(500)).await;
        let flood = Flood::start(source, &world.listening[1], Words::Nothing).await;
        let opened = flood.opened();
        assert!(opened >= HELD);
        stream.write_all(&hello(0, [9; 32])).await.unwrap();
        let mut heard = [0; 15];
        stream.read_exact(&mut heard).await.unwrap();
        assert_eq!(heard[4..], opening(0));
        world.until_said(1, "Connected", 1).await;
        site.abort();
    });
}

#[test]
fn a_knock_is_heard_at_a_door_that_is_flooded_from_the_address_of_the_peers() {
    need_files(2 * HELD + 1_000);
    run_test(async {
        let door = |me: u16| Door {
            me,
            study: StudyHash([9; 32]),
            secret: Arc::new(secret(me as u8)),
            keys: (0..3).map(|site| secret(site).public()).collect(),
            questions: None,
            star: None,
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let source = [127, 1, 0, 6];
        let way = distant(source, &address).await;
        let turned_away = Arc::new(AtomicUsize::new(0));
        let noted = Arc::clone(&turned_away);
        let waiting = tokio::spawn(async move {
            let watcher: Watcher = Arc::new(move |_| {
                noted.fetch_add(1, Ordering::Relaxed);
            });
            let takes = |run| (run == 4).then_some(()).ok_or(Reason::OtherRun);
            let due = || Due {
                number: 4,
                is_under_way: false,
            };
            door(1)
                .wait(&listener.into(), takes, due, &watcher)
                .await
                .unwrap()
        });
        let flood = Flood::start(source, &address, Words::Nothing).await;
        let started = Instant::now();
        let mut knocks = 0;
        // A site that knocks does so again; of ten knocks nearly all are heard.
        for _ in 0..10 {
            let refused = door(2).knock(1, &way, 3).await;
            knocks += usize::from(matches!(
                refused,
                Err(KnockError::Refused(Reason::OtherRun))
            ));
        }
        assert!(knocks >= 8, "{knocks}");
        while door(2).knock(1, &way, 4).await.is_err() {
            assert!(started.elapsed() < Duration::from_secs(60));
        }
        assert_eq!(waiting.await.unwrap(), (2, 4));
        drop(flood);
        let lines = turned_away.load(Ordering::Relaxed);
        assert!((1..60).contains(&lines), "{lines}");
    });
}
