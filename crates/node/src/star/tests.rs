//! Hubs that lie about what they pass on, and leaves that ask for too much.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_smc::Seed;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::session::{Mode, Session, Tunnel, drive};
use super::*;
use crate::agreement::StudyHash;
use crate::connect::Connections;
use crate::events::{Event, Watcher};
use crate::identity::{PublicKey, Secret};
use crate::journal::{Journal, RunName};
use crate::lines::{Limits, Shared};
use crate::message::{self, LONGEST_GREETING, Message};
use crate::reception::{Reception, Rules, Stream, introduce};
use crate::tls::{self, Papers};

const SITES: u16 = 4;
const HUB: u16 = 1;
const STUDY: StudyHash = StudyHash([9; 32]);
/// Frames from each leaf to the other.
const FRAMES: u64 = 150;
/// How often a hub lies before it has had enough.
const LIES: usize = 8;

/// What a hub does to what it passes on.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Lie {
    None,
    Flip,
    Drop,
    Repeat,
    Misdirect,
}

fn secret(site: u16) -> Secret {
    Secret::from_bytes(&[site as u8 + 1; 32])
}

fn keys() -> Vec<PublicKey> {
    (0..SITES).map(|site| secret(site).public()).collect()
}

fn names() -> Vec<String> {
    (0..SITES).map(|site| format!("s{site}")).collect()
}

fn visit(me: u16, address: &str, awaits: bool) -> Arc<Uplink> {
    Uplink::start(Visit {
        me,
        hub: HUB,
        name: String::from("s1"),
        address: address.to_owned(),
        study: STUDY,
        secret: Arc::new(secret(me)),
        keys: keys(),
        awaits,
    })
}

/// A leaf in a run.
struct Leaf {
    shared: Arc<Shared>,
    events: Arc<Mutex<Vec<Event>>>,
    _tasks: JoinSet<()>,
}

impl Leaf {
    async fn start(me: u16, hub: &str, folder: &Path) -> Self {
        let name = RunName {
            study: STUDY,
            number: 1,
            site: me,
            sites: SITES,
            rows: [2; 32],
        };
        let journal = Arc::new(Journal::open(&folder.join(me.to_string())).unwrap());
        let seed = Some(Seed::for_site(7, me.into()));
        let own = secret(me);
        let begun = journal.begin(name, &own, seed, Duration::ZERO);
        let begun = begun.await.unwrap();
        let mut limits = Limits::with_patience(Duration::from_secs(60));
        // What was dropped is noticed when nothing comes after it.
        limits.idle = Duration::from_secs(1);
        limits.alive = Duration::from_millis(200);
        limits.handshake = Duration::from_secs(2);
        limits.longest_pause = Duration::from_millis(100);
        let shared = Shared::new(me, names(), journal, begun.id, limits);
        let shared = Arc::new(shared.await.unwrap());
        let star = Star::Leaf(visit(me, hub, true));
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let noted = Arc::clone(&events);
        let watcher: Watcher = Arc::new(move |event| noted.lock().unwrap().push(event));
        let mut addresses = vec![String::new(); usize::from(SITES)];
        hub.clone_into(&mut addresses[usize::from(HUB)]);
        let connections = Connections::new(
            Arc::clone(&shared),
            STUDY,
            1,
            Arc::new(secret(me)),
            keys(),
            addresses,
            watcher,
        );
        let entrance = Entrance::new(None, Some(&star));
        Self {
            shared,
            events,
            _tasks: connections.in_star(Some(star)).start(entrance),
        }
    }

    /// Connections with a peer that came about, and lines that broke or came to nothing.
    fn heard(&self, of: &str) -> (usize, usize) {
        let events = self.events.lock().unwrap();
        let count = |is: &dyn Fn(&Event) -> bool| events.iter().filter(|event| is(event)).count();
        (
            count(&|event| matches!(event, Event::Connected { peer } if peer == of)),
            count(&|event| match event {
                Event::Disconnected { peer, why } => {
                    let is_broken = ["the line broke", "no secure connection", "did not greet"]
                        .iter()
                        .any(|words| why.starts_with(words));
                    peer == of && is_broken
                }
                Event::TurnedAway { .. } => true,
                _ => false,
            }),
        )
    }
}

/// What a leaf sends: short frames, and long ones between them.
fn frame(from: u16, number: u64) -> Vec<u8> {
    let length = if number % 10 == 9 { 90_000 } else { 200 };
    let seed = blake3::hash(&[from as u8, number as u8]);
    let bytes = seed.as_bytes().iter().copied().cycle();
    bytes.take(length).collect()
}

async fn all_arrive(leaf: &Leaf, from: u16) {
    for number in 0..FRAMES {
        let next = std::future::poll_fn(|context| leaf.shared.poll_receive(from, context));
        assert_eq!(next.await.unwrap(), frame(from, number), "{number}");
    }
}

/// Takes leaves' connections as the hub does, and hands them over.
async fn receive_all(listener: TcpListener, mut take: impl FnMut(u16, Stream)) {
    let entrance = Entrance::from(listener);
    let guests: Vec<u16> = (0..SITES).filter(|site| *site != HUB).collect();
    let all = keys();
    let rules = Rules {
        keys: &all,
        guests: &guests,
        limit: LIMIT,
        strangers: 16,
    };
    let papers = Arc::new(Papers::new(Arc::new(secret(HUB))));
    let mut reception = Reception::new(&secret(HUB), papers, &rules, Arc::new(|_| {})).unwrap();
    let greet = |peer, mut stream: Stream| async move {
        match message::read(&mut stream, LONGEST_GREETING, LIMIT).await {
            Ok(Message::Relay { awaits, .. }) => {
                let (study, from, to) = (STUDY, HUB, peer);
                let answer = Message::Relay {
                    study,
                    from,
                    to,
                    awaits,
                };
                message::write(&mut stream, &answer).await.unwrap();
                stream.flush().await.unwrap();
                Ok((peer, stream))
            }
            // This hub takes no part in the run.
            _ => Err(None),
        }
    };
    loop {
        let (peer, stream) = reception.next(&entrance, greet).await;
        take(peer, stream);
    }
}

type Sessions = Arc<Mutex<HashMap<u16, Session>>>;

async fn carry(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    lie: Lie,
    lies: Arc<AtomicUsize>,
) {
    let mut buffer = [0; 4096];
    for piece in 0.. {
        let Ok(read @ 1..) = from.read(&mut buffer).await else {
            return;
        };
        let bytes = &mut buffer[..read];
        let lies_now = piece % 7 == 6 && lies.load(Ordering::Relaxed) < LIES;
        lies.fetch_add(usize::from(lies_now), Ordering::Relaxed);
        let written = match lie {
            Lie::Flip if lies_now => {
                bytes[read / 2] ^= 1;
                to.write_all(bytes).await
            }
            Lie::Drop if lies_now => Ok(()),
            Lie::Repeat if lies_now => {
                let twice = [&*bytes, &*bytes].concat();
                to.write_all(&twice).await
            }
            _ => to.write_all(bytes).await,
        };
        if written.is_err() || to.flush().await.is_err() {
            return;
        }
    }
}

async fn lying_pass(
    caller: u16,
    mut tunnel: Tunnel,
    sessions: Sessions,
    lie: Lie,
    lies: Arc<AtomicUsize>,
) {
    let Ok(called) = tunnel.read_u16_le().await else {
        return;
    };
    let is_wrong = lie == Lie::Misdirect && lies.fetch_add(1, Ordering::Relaxed) < LIES;
    let to = match is_wrong {
        true => (0..SITES).find(|site| ![caller, called, HUB].contains(site)),
        false => Some(called),
    };
    let session = sessions.lock().unwrap().get(&to.unwrap()).cloned();
    let Some(session) = session else {
        let _ = tunnel.write_u8(1).await;
        return;
    };
    let Ok(there) = session.open().await else {
        return;
    };
    if tunnel.write_u8(0).await.is_err() || tunnel.flush().await.is_err() {
        return;
    }
    let (from_caller, to_caller) = tokio::io::split(tunnel);
    let (from_called, to_called) = tokio::io::split(there);
    tokio::select! {
        () = carry(from_caller, to_called, lie, Arc::clone(&lies)) => {}
        () = carry(from_called, to_caller, lie, lies) => {}
    }
}

/// A hub that lies until it has had enough.
async fn lying_hub(listener: TcpListener, lie: Lie, lies: Arc<AtomicUsize>) {
    let sessions = Sessions::default();
    receive_all(listener, |peer, stream| {
        let (session, asked) = Session::new();
        sessions.lock().unwrap().insert(peer, session);
        let (sessions, lies) = (Arc::clone(&sessions), Arc::clone(&lies));
        tokio::spawn(drive(stream, Mode::Server, 200, asked, move |tunnel| {
            let (sessions, lies) = (Arc::clone(&sessions), Arc::clone(&lies));
            tokio::spawn(lying_pass(peer, tunnel, sessions, lie, lies));
        }));
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_hub_does_to_a_tunnel_is_noticed_and_changes_nothing() {
    for lie in [Lie::None, Lie::Flip, Lie::Drop, Lie::Repeat, Lie::Misdirect] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let lies = Arc::new(AtomicUsize::new(0));
        let hub = tokio::spawn(lying_hub(listener, lie, Arc::clone(&lies)));
        let folder = tempfile::tempdir().unwrap();
        let mut leaves = Vec::new();
        for site in [0, 2, 3] {
            leaves.push(Leaf::start(site, &address, folder.path()).await);
        }
        for number in 0..FRAMES {
            leaves[0].shared.send(2, frame(0, number)).unwrap();
            leaves[1].shared.send(0, frame(2, number)).unwrap();
        }
        let all = async {
            tokio::join!(all_arrive(&leaves[0], 2), all_arrive(&leaves[1], 0));
        };
        let arrived = timeout(Duration::from_secs(60), all).await;
        assert!(arrived.is_ok(), "{lie:?}: {:?}", leaves[0].events);
        let (connected, failed) = leaves[0].heard("s2");
        match lie {
            Lie::None => assert!(connected > 0),
            _ => {
                assert!(lies.load(Ordering::Relaxed) >= LIES, "{lie:?}");
                let (_, failed_there) = leaves[1].heard("s0");
                assert!(failed + failed_there > 0, "{lie:?} was not noticed");
            }
        }
        hub.abort();
    }
}

/// The real hub.
fn honest_hub(listener: TcpListener) -> (Arc<Relay>, tokio::task::JoinHandle<()>) {
    let relay = Relay::new(HUB, STUDY, names());
    let taking = Arc::clone(&relay);
    let task = tokio::spawn(async move {
        receive_all(listener, |peer, stream| taking.keep(peer, stream, true)).await;
    });
    (relay, task)
}

/// A call that is made again until the called site is there.
async fn call(uplink: &Uplink, to: u16) -> Line {
    for _ in 0..500 {
        if let Ok(line) = uplink.call(to).await {
            return line;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("nobody is there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leaf_has_few_tunnels_to_each_other_and_room_again_when_it_hangs_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (relay, hub) = honest_hub(listener);
    let (first, second) = (visit(0, &address, true), visit(2, &address, true));
    let mut lines = vec![call(&first, 2).await];
    let mut refused = 0;
    for _ in 1..1_000 {
        match first.call(2).await {
            Ok(line) => lines.push(line),
            Err(error) => {
                let words = "passes on no more lines between the two just now";
                assert!(error.to_string().contains(words), "{error}");
                refused += 1;
            }
        }
    }
    assert_eq!((lines.len(), refused), (OF_A_PAIR, 1_000 - OF_A_PAIR));
    assert_eq!(relay.tunnels(), OF_A_PAIR);
    // The other direction has room of its own, and to sites that are away or do not exist there is no way.
    let _back = call(&second, 0).await;
    for nobody in [3, HUB, 77] {
        let error = first.call(nobody).await.map(|_| ()).unwrap_err();
        assert!(
            error.to_string().contains("not connected with the hub"),
            "{error}"
        );
    }
    drop(lines);
    call(&first, 2).await;
    hub.abort();
}

/// Tunnels of which nobody says where they lead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leaf_that_opens_a_thousand_tunnels_loses_its_own_connection_only() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (relay, hub) = honest_hub(listener);
    let (first, second) = (visit(0, &address, true), visit(2, &address, true));
    let Line::Tunnel(mut line) = call(&first, 2).await else {
        panic!("the way to a leaf leads through the hub");
    };
    // A tunnel is heard of with its first bytes.
    line.write_all(b"already ").await.unwrap();
    line.flush().await.unwrap();
    let (mut called, _) = second.accept().await;

    let papers = Papers::new(Arc::new(secret(3)));
    let key = keys()[usize::from(HUB)];
    let config = tls::dialing(&papers, key, introduce(&secret(3), 3, &key)).unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let socket = TcpStream::connect(&address).await.unwrap();
    let mut stream = connector.connect(tls::no_name(), socket).await.unwrap();
    let greeting = Message::Relay {
        study: STUDY,
        from: 3,
        to: HUB,
        awaits: true,
    };
    message::write(&mut stream, &greeting).await.unwrap();
    message::read(&mut stream, LONGEST_GREETING, LIMIT)
        .await
        .unwrap();
    let (session, asked) = Session::new();
    let driven = tokio::spawn(drive(stream, Mode::Client, 10_000, asked, |_| {}));
    let mut open = Vec::new();
    for _ in 0..1_000 {
        let Ok(mut tunnel) = session.open().await else {
            break;
        };
        let _ = tunnel.write_u8(1).await;
        let _ = tunnel.flush().await;
        open.push(tunnel);
    }
    timeout(LIMIT, driven).await.unwrap().unwrap();
    assert!(open.len() < 1_000, "{}", open.len());

    // The tunnel between the others is still the same one.
    line.write_all(b"still here").await.unwrap();
    line.flush().await.unwrap();
    let mut heard = [0; 18];
    let heard_all = timeout(LIMIT, called.read_exact(&mut heard)).await;
    heard_all.unwrap().unwrap();
    assert_eq!(&heard, b"already still here");
    assert_eq!(relay.tunnels(), 1);
    hub.abort();
}

/// Whoever reads nothing is sent no more than a window, and the hub holds no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tunnel_that_nobody_reads_fills_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (_relay, hub) = honest_hub(listener);
    let (first, second) = (visit(0, &address, true), visit(2, &address, true));
    let mut line = call(&first, 2).await;
    let mut written = 0;
    let piece = [7; 1 << 14];
    while timeout(Duration::from_millis(500), line.write_all(&piece))
        .await
        .is_ok()
    {
        written += piece.len();
        assert!(written < 4 << 20, "{written}");
    }
    // Another tunnel of the same two is not held up.
    let (_stuck, _) = second.accept().await;
    let mut other = call(&first, 2).await;
    other.write_all(b"past it").await.unwrap();
    other.flush().await.unwrap();
    let (mut called, _) = second.accept().await;
    let mut heard = [0; 7];
    called.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"past it");
    hub.abort();
}
