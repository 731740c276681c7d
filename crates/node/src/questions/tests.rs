//! Three nodes in one process, over TLS: questions at once, refusals, sites that are away, lie or stall,
//! replays, questions that nobody wants any more, and the logs of all.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use hedgerow_smc::{Generator, Items, Site, What};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::word::{Asking, Word};
use super::*;
use crate::identity::Purpose;
use crate::knock::{Door, Due};

const SITES: usize = 3;
const TOTALS: What = What::new("totals", "the test");
const ROWS: What = What::new("rows", "the test");
/// A number that no site sends.
const PLANTED: u64 = 0x1122_3344_5566_7788;

/// A site's answers: it has one number, which questions multiply, and one item.
struct Toy {
    me: u16,
}

impl Answering for Toy {
    fn prepare(&self, asker: u16, run: u32, bytes: &[u8]) -> Result<Prepared, Unprepared> {
        let question: Value = serde_json::from_slice(bytes).map_err(|error| Unprepared {
            refusal: Refusal::Question,
            why: Some(error.to_string()),
        })?;
        if run != 1 {
            return Err(Refusal::Run.into());
        }
        let refused_by = &question["refused_by"];
        let mut several = refused_by.as_array().into_iter().flatten();
        if *refused_by == json!(self.me) || several.any(|by| *by == json!(self.me)) {
            return Err(Refusal::Columns(vec![1]).into());
        }
        let (me, words) = (self.me, question.clone());
        let table = match question["other_table_at"] == json!(me) {
            true => [6; 32],
            false => [5; 32],
        };
        Ok(Prepared {
            table,
            words,
            kind: match question["rows"] == json!(true) {
                true => "rows",
                false => "totals",
            },
            allowed: ["totals", "rows"].map(String::from).into(),
            part: Box::new(move |party| {
                Box::pin(async move {
                    let result = part(me, asker, question, party).await;
                    let disclosed = vec![Disclosed {
                        what: String::from("totals"),
                        to: String::from("somebody"),
                        allowed_by: String::from("the test"),
                        caveat: None,
                        values: 2,
                        is_complete: result.is_ok(),
                        loss: None,
                    }];
                    Done { result, disclosed }
                })
            }),
        })
    }
}

async fn part(me: u16, asker: u16, question: Value, mut party: Party) -> Result<Given, PartError> {
    let failed = |error: hedgerow_smc::Error| PartError {
        peer: error.peer().map(|peer| peer.index() as u16),
        why: error.to_string(),
    };
    if question["stalled_by"] == json!(me) {
        tokio::time::sleep(Duration::from_secs(20)).await;
    }
    let times = question["times"].as_u64().unwrap_or(1);
    let own = if question["is_planted"] == json!(true) {
        PLANTED
    } else {
        u64::from(me) + 1
    };
    if question["rows"] == json!(true) {
        let mut count = [1];
        party.sum(ROWS, &mut count).await.map_err(failed)?;
        let decoy = |generator: &mut Generator| generator.next_u64().to_le_bytes().to_vec();
        let shape = Items {
            width: 8,
            capacity: count[0] as usize,
            domain: 1e9,
            decoy: &decoy,
        };
        let mut items = vec![own.wrapping_mul(times).to_le_bytes().to_vec()];
        party
            .union(ROWS, &shape, &mut items)
            .await
            .map_err(failed)?;
        return Ok(Given {
            size: items.len() as u64,
            answer: items.concat(),
        });
    }
    let mut values = [own.wrapping_mul(times), 7];
    let asker = Site::new(asker);
    party
        .sum_to(TOTALS, asker, &mut values)
        .await
        .map_err(failed)?;
    Ok(Given {
        answer: values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
        size: 2,
    })
}

fn numbers(answer: &[u8]) -> Vec<u64> {
    let words = answer.as_chunks::<8>().0.iter();
    words.map(|word| u64::from_le_bytes(*word)).collect()
}

/// A node: its questions, and whoever comes to its port.
struct Node {
    serving: Serving,
    _door: JoinSet<()>,
}

impl Node {
    fn questions(&self) -> &Arc<Questions> {
        self.serving.questions()
    }

    fn shared(&self) -> &Shared {
        &self.questions().shared
    }

    async fn ask(&self, question: Value) -> Result<Vec<u64>, String> {
        let asked = self.questions().ask(1, question.to_string().into_bytes());
        let answer = asked.await.map_err(|error| error.to_string())?;
        Ok(numbers(&answer))
    }
}

struct World {
    folder: tempfile::TempDir,
    addresses: Vec<String>,
    limits: Limits,
}

impl World {
    fn new() -> Self {
        let free = |_| {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.local_addr().unwrap().to_string()
        };
        let folder = tempfile::tempdir().unwrap();
        for site in 0..SITES {
            std::fs::create_dir(folder.path().join(site.to_string())).unwrap();
        }
        let limits = Limits {
            waiting: Duration::from_secs(3),
            silence: Duration::from_secs(2),
            longest_pause: Duration::from_millis(200),
            ..Limits::default()
        };
        Self {
            folder,
            addresses: (0..SITES).map(free).collect(),
            limits,
        }
    }

    fn data(&self, place: u16) -> PathBuf {
        self.folder.path().join(place.to_string())
    }

    async fn start(&self, place: u16) -> Node {
        self.start_with(place, StudyHash([9; 32])).await
    }

    async fn start_with(&self, place: u16, study: StudyHash) -> Node {
        let secret = |site: u16| Secret::from_bytes(&[site as u8 + 1; 32]);
        let keys: Vec<PublicKey> = (0..SITES as u16)
            .map(|site| secret(site).public())
            .collect();
        let setup = Setup {
            study,
            me: place,
            secret: Arc::new(secret(place)),
            names: ["north", "south", "east"].map(String::from).into(),
            keys: keys.clone(),
            addresses: self.addresses.clone(),
            star: None,
            columns: ["age", "zip"].map(String::from).into(),
            settings: Settings::default(),
            limits: self.limits,
            data: self.data(place),
            answering: Arc::new(Toy { me: place }),
            watcher: Arc::new(|_| {}),
        };
        let listener = loop {
            match TcpListener::bind(&self.addresses[usize::from(place)]).await {
                Ok(listener) => break listener,
                Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        };
        let serving = Questions::serve(setup).unwrap();
        let door = Door {
            me: place,
            study,
            secret: Arc::new(secret(place)),
            keys,
            questions: Some(Arc::clone(serving.questions())),
            star: None,
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let watcher: Watcher = Arc::new(|_| {});
            let takes = |_| Err(crate::message::Reason::OtherRun);
            let due = || Due {
                number: 1,
                is_under_way: false,
            };
            let _ = door.wait(&listener.into(), takes, due, &watcher).await;
        });
        Node {
            serving,
            _door: tasks,
        }
    }

    async fn all(&self) -> Vec<Node> {
        let mut nodes = Vec::new();
        for place in 0..SITES as u16 {
            nodes.push(self.start(place).await);
        }
        nodes
    }

    fn log(&self, place: u16) -> Vec<Value> {
        let text = std::fs::read_to_string(self.data(place).join(LOG)).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }
}

fn run_test(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(100), test)
            .await
            .unwrap();
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
}

/// Waits until no site has a question under way.
async fn until_free(nodes: &[Node]) {
    let started = Instant::now();
    while nodes.iter().any(|node| node.questions().under_way() > 0) {
        assert!(started.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn questions_at_once_from_all_sites_do_not_mix() {
    run_test(async {
        let world = World::new();
        let nodes = world.all().await;
        assert_eq!(nodes[1].ask(json!({})).await, Ok(vec![6, 21]));
        let mut asked = JoinSet::new();
        for (place, node) in nodes.iter().enumerate() {
            for number in 0..8u64 {
                let times = 1 + number * 10 + place as u64;
                let questions = Arc::clone(node.questions());
                asked.spawn(async move {
                    let is_rows = number % 2 == 1;
                    let question = json!({ "times": times, "rows": is_rows });
                    let answer = questions.ask(1, question.to_string().into_bytes()).await;
                    let mut expected = match is_rows {
                        true => vec![times, 2 * times, 3 * times],
                        false => vec![6 * times, 21],
                    };
                    let mut found = numbers(&answer.unwrap());
                    if is_rows {
                        found.sort_unstable();
                        expected.sort_unstable();
                    }
                    assert_eq!(found, expected);
                });
            }
        }
        while let Some(done) = asked.join_next().await {
            done.unwrap();
        }
        until_free(&nodes).await;
        // One question and three times eight, each asked and answered, at every site.
        for place in 0..SITES as u16 {
            let log = world.log(place);
            let of = |event: &str| log.iter().filter(|line| line["event"] == event).count();
            assert_eq!((of("asked"), of("answered"), log.len()), (25, 25, 50));
            let first = &log[0];
            assert_eq!(first["asker"], "south");
            assert_eq!(first["run"], 1);
            assert_eq!(first["question"], json!({}));
            let answered = log
                .iter()
                .find(|line| line["event"] == "answered" && line["id"] == first["id"]);
            assert_eq!(answered.unwrap()["totals"], 2);
        }
        let signed: Vec<Value> = (0..SITES as u16)
            .map(|place| world.log(place)[0].clone())
            .collect();
        assert!(
            signed
                .iter()
                .all(|line| line["signature"] == signed[0]["signature"])
        );
    });
}

#[test]
fn what_a_site_holds_is_in_none_of_the_bytes_that_leave_it() {
    run_test(async {
        let world = World::new();
        let nodes = world.all().await;
        let question = json!({ "is_planted": true });
        let sum = PLANTED.wrapping_mul(3);
        assert_eq!(nodes[0].ask(question).await, Ok(vec![sum, 21]));
        for node in &nodes {
            let sent = node.shared().tap.lock().unwrap().clone();
            assert!(sent.len() > 100);
            for form in [PLANTED.to_le_bytes(), PLANTED.to_be_bytes()] {
                assert!(!sent.windows(8).any(|window| window == form));
            }
        }
    });
}

#[test]
fn a_site_that_refuses_is_named_with_its_rule_before_anything_is_sent() {
    run_test(async {
        let world = World::new();
        let nodes = world.all().await;
        for by in 0..SITES as u16 {
            let error = nodes[0].ask(json!({ "refused_by": by })).await.unwrap_err();
            let name = ["north", "south", "east"][usize::from(by)];
            assert!(
                error.contains(&format!("`{name}` does not answer about `zip`")),
                "{error}"
            );
            until_free(&nodes).await;
            let log = world.log(by);
            let refused = log.iter().find(|line| line["event"] == "refused").unwrap();
            assert_eq!(refused["why"], "accept.query.columns");
            assert_eq!(refused["asker"], "north");
        }
        let asked = nodes[0].questions().ask(2, b"{}".to_vec()).await;
        let error = asked.unwrap_err().to_string();
        assert!(
            error.contains("`north` has no table of this run"),
            "{error}"
        );
        let error = nodes[0]
            .ask(json!({ "other_table_at": 2 }))
            .await
            .unwrap_err();
        assert!(
            error.contains("`east` has another table of this run"),
            "{error}"
        );
        let long = nodes[0]
            .questions()
            .ask(1, vec![b' '; LONGEST_QUESTION + 1])
            .await;
        assert!(matches!(long, Err(QuestionError::TooLong { .. })));
        assert_eq!(nodes[2].ask(json!({})).await, Ok(vec![6, 21]));
    });
}

#[test]
fn a_site_that_is_away_is_named_within_seconds_and_comes_back() {
    run_test(async {
        let world = World::new();
        let mut nodes = world.all().await;
        assert_eq!(nodes[0].ask(json!({})).await, Ok(vec![6, 21]));
        drop(nodes.pop());
        // A question on its way at that moment names the site too.
        let lost = nodes[1].ask(json!({})).await.unwrap_err();
        assert!(lost.contains("`east`"), "{lost}");
        let started = Instant::now();
        while nodes[0].shared().gone().is_empty() {
            assert!(started.elapsed() < Duration::from_secs(8));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let error = nodes[0].ask(json!({})).await.unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(8));
        assert!(error.contains("`east` is away since 20"), "{error}");
        assert!(!error.contains("south"), "{error}");
        nodes.push(world.start(2).await);
        let started = Instant::now();
        for asker in [0, 2, 1, 0] {
            let answer = nodes[asker].ask(json!({ "rows": true })).await;
            let mut answer = answer.unwrap();
            answer.sort_unstable();
            assert_eq!(answer, [1, 2, 3]);
        }
        assert!(started.elapsed() < Duration::from_secs(8));
    });
}

#[test]
fn a_site_that_stalls_is_named_and_hurts_no_other_question() {
    run_test(async {
        let world = World::new();
        let nodes = world.all().await;
        assert_eq!(nodes[0].ask(json!({})).await, Ok(vec![6, 21]));
        for rows in [false, true] {
            let started = Instant::now();
            let questions = Arc::clone(nodes[0].questions());
            let stalled = tokio::spawn(async move {
                let question = json!({ "stalled_by": 2, "rows": rows });
                questions.ask(1, question.to_string().into_bytes()).await
            });
            for node in &nodes {
                assert_eq!(node.ask(json!({})).await, Ok(vec![6, 21]));
            }
            assert!(!stalled.is_finished());
            let error = stalled.await.unwrap().unwrap_err().to_string();
            assert!(error.contains("`east` did not do its part"), "{error}");
            assert!(started.elapsed() < Duration::from_secs(8));
        }
    });
}

#[test]
fn a_question_that_nobody_wants_any_more_ends_at_all_sites() {
    run_test(async {
        let mut world = World::new();
        world.limits.silence = Duration::from_secs(60);
        let nodes = world.all().await;
        assert_eq!(nodes[0].ask(json!({})).await, Ok(vec![6, 21]));
        // A front end asks through the socket, and hangs up.
        let mut desk = Desk::find(&world.data(0), StudyHash([9; 32]))
            .await
            .unwrap();
        let question = json!({ "stalled_by": 2, "rows": true }).to_string();
        let asked =
            tokio::time::timeout(Duration::from_millis(300), desk.ask(1, question.as_bytes()));
        assert!(asked.await.is_err());
        assert!(nodes[0].questions().under_way() == 1 && nodes[1].questions().under_way() == 1);
        drop(desk);
        until_free(&nodes[..2]).await;
        let log = world.log(1);
        let ended = log.last().unwrap();
        assert_eq!(
            (&ended["event"], &ended["why"]),
            (&json!("ended"), &json!("cancelled"))
        );
        let mut desk = Desk::find(&world.data(0), StudyHash([9; 32]))
            .await
            .unwrap();
        assert_eq!(numbers(&desk.ask(1, b"{}").await.unwrap()), [6, 21]);
        assert_eq!(numbers(&desk.ask(1, b"{}").await.unwrap()), [6, 21]);
        let error = desk.ask(1, b"what?").await.unwrap_err().to_string();
        assert!(error.contains("expected value"), "{error}");
        let mut other = Desk::find(&world.data(0), StudyHash([8; 32]))
            .await
            .unwrap();
        assert!(matches!(
            other.ask(1, b"{}").await,
            Err(DeskError::OtherStudy)
        ));
        use std::os::unix::fs::PermissionsExt as _;
        let socket = std::fs::metadata(world.data(0).join(SOCKET)).unwrap();
        assert_eq!(socket.permissions().mode() & 0o777, 0o600);
    });
}

/// What a site that lies sends to another by hand.
fn asking(liar: &Node, number: u64, question: &[u8]) -> Asking {
    let standing = liar.shared().standing.borrow().clone().unwrap().1;
    Asking {
        session: standing.session(),
        run: 1,
        number,
        table: [5; 32],
        signature: [0; 64],
        question: question.to_vec(),
    }
}

fn signed(liar: &Node, mut asking: Asking) -> Asking {
    let questions = liar.questions();
    let name = questions.digest(questions.shared.me, &asking);
    asking.signature = questions.secret.sign(Purpose::Question, &name);
    asking
}

/// Waits until a site has refused a question for a reason.
async fn until_refused(world: &World, place: u16, why: &str) {
    let started = Instant::now();
    while !world.log(place).iter().any(|line| line["why"] == why) {
        assert!(
            started.elapsed() < Duration::from_secs(10),
            "{:?}",
            world.log(place)
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn forged_repeated_and_oversized_questions_are_refused() {
    run_test(async {
        let world = World::new();
        let nodes = world.all().await;
        assert_eq!(nodes[2].ask(json!({})).await, Ok(vec![6, 21]));
        let liar = &nodes[2];
        let say = |asking: Asking| liar.shared().say(0, &Word::Ask(Box::new(asking)));
        // Nobody's signature, and a signature of another question.
        say(asking(liar, 9, b"{}"));
        until_refused(&world, 0, "a wrong signature").await;
        // The last question again, and an older number.
        say(signed(liar, asking(liar, 1, b"{}")));
        until_refused(&world, 0, "a repeated number").await;
        let mut other = asking(liar, 10, b"{}");
        other.session = [1; 32];
        say(signed(liar, other));
        until_refused(&world, 0, "other keys").await;
        let long = vec![b' '; LONGEST_QUESTION + 1];
        say(signed(liar, asking(liar, 11, &long)));
        until_refused(&world, 0, "no question about the table").await;
        // None of it hurts anybody, and the liar's lines are still there.
        until_free(&nodes).await;
        assert_eq!(nodes[0].ask(json!({})).await, Ok(vec![6, 21]));
        assert_eq!(nodes[1].ask(json!({})).await, Ok(vec![6, 21]));
    });
}

/// A question that only one site was told is not answered, and gives away nothing but noise.
#[test]
fn a_question_told_to_one_site_only_is_not_answered() {
    run_test(async {
        let world = World::new();
        let nodes = world.all().await;
        assert_eq!(nodes[2].ask(json!({})).await, Ok(vec![6, 21]));
        let liar = &nodes[2];
        let question = json!({ "is_planted": true }).to_string();
        let asking = signed(liar, asking(liar, 9, question.as_bytes()));
        liar.shared().say(0, &Word::Ask(Box::new(asking)));
        let started = Instant::now();
        while world.log(0).last().unwrap()["question"]["is_planted"] != json!(true)
            && world.log(0).last().unwrap()["event"] != "answered"
        {
            assert!(started.elapsed() < Duration::from_secs(10));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let sent = nodes[0].shared().tap.lock().unwrap().clone();
        assert!(
            !sent
                .windows(8)
                .any(|window| window == PLANTED.to_le_bytes())
        );
        assert_eq!(nodes[1].ask(json!({})).await, Ok(vec![6, 21]));
    });
}

#[test]
fn wrong_frames_end_their_question_with_the_name_of_the_liar() {
    run_test(async {
        let world = World::new();
        let nodes = world.all().await;
        assert_eq!(nodes[0].ask(json!({})).await, Ok(vec![6, 21]));
        let names: Arc<Mutex<Vec<[u8; 32]>>> = Arc::default();
        for bytes in [Vec::new(), vec![0; 10], vec![7; 5_000]] {
            let questions = Arc::clone(nodes[0].questions());
            let asked = tokio::spawn(async move {
                let question = json!({ "stalled_by": 2 }).to_string();
                questions.ask(1, question.into_bytes()).await
            });
            // The liar answers before its own part does.
            let started = Instant::now();
            let name = loop {
                let log = world.log(2);
                let stalled = log
                    .iter()
                    .filter(|line| line["question"]["stalled_by"] == 2);
                let mut ids =
                    stalled.filter_map(|line| crate::identity::from_hex(line["id"].as_str()?));
                if let Some(id) = ids.find(|id| !names.lock().unwrap().contains(id)) {
                    break id;
                }
                assert!(started.elapsed() < Duration::from_secs(10));
                tokio::time::sleep(Duration::from_millis(5)).await;
            };
            names.lock().unwrap().push(name);
            nodes[2].shared().say(0, &Word::Frame { name, bytes });
            let error = asked.await.unwrap().unwrap_err().to_string();
            assert!(error.contains("`east` did not do its part"), "{error}");
            assert!(
                started.elapsed() < Duration::from_millis(2_500),
                "{:?}",
                started.elapsed()
            );
            assert_eq!(nodes[1].ask(json!({})).await, Ok(vec![6, 21]));
        }
        // Frames of questions that nobody asked fill nothing.
        for number in 0..10_000u64 {
            let mut name = [1; 32];
            name[..8].copy_from_slice(&number.to_le_bytes());
            let bytes = vec![1; 1_000];
            nodes[2].shared().say(0, &Word::Frame { name, bytes });
        }
        assert_eq!(nodes[2].ask(json!({})).await, Ok(vec![6, 21]));
    });
}

#[test]
fn a_site_asks_so_many_questions_at_a_time_and_the_others_wait() {
    run_test(async {
        let world = World::new();
        let nodes = world.all().await;
        assert_eq!(nodes[0].ask(json!({})).await, Ok(vec![6, 21]));
        let mut asked = JoinSet::new();
        let most = state::MOST_OF_ONE / 2;
        for _ in 0..most {
            let questions = Arc::clone(nodes[0].questions());
            let question = json!({ "stalled_by": 1 }).to_string();
            asked.spawn(async move { questions.ask(1, question.into_bytes()).await });
        }
        let started = Instant::now();
        while nodes[0].questions().under_way() < most {
            assert!(started.elapsed() < Duration::from_secs(10));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let next = nodes[0].ask(json!({}));
        let soon = tokio::time::timeout(Duration::from_millis(300), next).await;
        assert!(soon.is_err(), "{soon:?}");
        // Others still ask.
        assert_eq!(nodes[2].ask(json!({})).await, Ok(vec![6, 21]));
        asked.abort_all();
        while asked.join_next().await.is_some() {}
        assert_eq!(nodes[0].ask(json!({})).await, Ok(vec![6, 21]));
    });
}

/// A peer that asks more than it may is turned away, and nobody else is.
#[test]
fn a_peer_that_asks_too_many_at_a_time_is_turned_away() {
    run_test(async {
        let world = World::new();
        let nodes = world.all().await;
        assert_eq!(nodes[2].ask(json!({})).await, Ok(vec![6, 21]));
        let liar = &nodes[2];
        for number in 0..4 * state::MOST_OF_ONE as u64 {
            let question = json!({ "stalled_by": 0 }).to_string();
            let asking = signed(liar, asking(liar, 10 + number, question.as_bytes()));
            liar.shared().say(0, &Word::Ask(Box::new(asking)));
        }
        let started = Instant::now();
        while nodes[0].questions().under_way() < state::MOST_OF_ONE {
            assert!(started.elapsed() < Duration::from_secs(10));
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(nodes[1].ask(json!({})).await, Ok(vec![6, 21]));
        assert!(nodes[0].questions().under_way() <= state::MOST_OF_ONE);
    });
}

#[test]
fn a_site_with_another_study_is_told_so() {
    run_test(async {
        let world = World::new();
        let nodes = [
            world.start(0).await,
            world.start(1).await,
            world.start_with(2, StudyHash([8; 32])).await,
        ];
        let error = nodes[0].ask(json!({})).await.unwrap_err();
        assert!(error.contains("`east` is away since 20"), "{error}");
        assert!(
            error.contains("the two sites have different studies"),
            "{error}"
        );
    });
}

#[test]
fn every_site_that_refuses_or_is_away_is_named() {
    run_test(async {
        let world = World::new();
        let mut nodes = world.all().await;
        let error = nodes[0].ask(json!({ "refused_by": [1, 2] })).await;
        let error = error.unwrap_err();
        for site in ["south", "east"] {
            let words = format!("`{site}` does not answer about `zip`");
            assert!(error.contains(&words), "{error}");
        }
        until_free(&nodes).await;
        // Where one refuses and another stalls, the one that refuses is named in good time.
        let started = Instant::now();
        let error = nodes[0]
            .ask(json!({ "refused_by": 1, "stalled_by": 2 }))
            .await;
        let error = error.unwrap_err();
        assert!(
            error.contains("`south` does not answer about `zip`"),
            "{error}"
        );
        assert!(started.elapsed() < Duration::from_secs(1));
        nodes.truncate(1);
        let started = Instant::now();
        while nodes[0].shared().gone().len() < 2 {
            assert!(started.elapsed() < Duration::from_secs(8));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let error = nodes[0].ask(json!({})).await.unwrap_err();
        for site in ["south", "east"] {
            assert!(
                error.contains(&format!("`{site}` is away since 20")),
                "{error}"
            );
        }
    });
}

/// The log alone shows who asked what: everything that was signed follows from a line.
#[test]
fn a_line_of_the_log_is_held_against_its_signature() {
    run_test(async {
        let world = World::new();
        let nodes = world.all().await;
        assert_eq!(nodes[1].ask(json!({ "times": 2 })).await, Ok(vec![12, 21]));
        let error = nodes[1].ask(json!({ "refused_by": 0 })).await.unwrap_err();
        assert!(error.contains("`north` does not"), "{error}");
        until_free(&nodes).await;
        let of = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
        let mut checked = 0;
        let log = world.log(0);
        for line in log.iter().filter(|line| line["signature"].is_string()) {
            let bytes = |key: &str| crate::identity::from_hex::<32>(&of(line, key)).unwrap();
            let asking = Asking {
                session: bytes("session"),
                run: line["run"].as_u64().unwrap() as u32,
                number: line["number"].as_u64().unwrap(),
                table: bytes("table"),
                signature: crate::identity::from_hex::<64>(&of(line, "signature")).unwrap(),
                question: line["question"].to_string().into_bytes(),
            };
            assert_eq!(of(line, "asker"), "south");
            let name = nodes[0].questions().digest(1, &asking);
            assert_eq!(name, bytes("id"));
            let key = &nodes[0].questions().keys[1];
            assert!(key.verifies(Purpose::Question, &name, &asking.signature));
            checked += 1;
        }
        assert_eq!(checked, 2);
        let tally = Tally::read(&world.data(0)).unwrap();
        let south = &tally.asked["south"];
        assert_eq!((south.answered, south.refused, south.totals), (1, 1, 1));
        assert_eq!(tally.learned.len(), 1);
        assert_eq!((tally.learned[0].calls, tally.learned[0].values), (1, 2));
    });
}

/// Frames without bytes cost memory too.
#[test]
fn frames_without_bytes_are_bounded() {
    let shared = Shared::new(0, 2, [1; 32]);
    let name = [7; 32];
    assert!(shared.enter(name, Some(0)));
    let mut delivered = 0u64;
    while shared.failure(&name).is_none() {
        shared.deliver(1, name, Vec::new());
        delivered += 1;
        assert!(delivered < 1 << 23);
    }
    assert_eq!(shared.failure(&name), Some(state::Failure::Flooded(1)));
    shared.leave(&name);
}

/// A frame may overtake its question: at the published level the totals of all groups go around a ring.
#[test]
fn a_long_frame_that_overtakes_its_question_is_kept() {
    let shared = Shared::new(0, 3, [1; 32]);
    let (name, other) = ([7; 32], [8; 32]);
    let long = vec![5; 1 << 20];
    shared.deliver(2, name, long.clone());
    // Far more than is kept of another does not push it out.
    shared.deliver(1, other, vec![6; 1 << 24]);
    assert!(shared.enter(name, Some(1)));
    let waker = std::task::Waker::noop();
    assert_eq!(shared.take(&name, 2, waker), Some(Ok(long.clone())));
    shared.leave(&name);
    // What comes for a question that has ended is kept no more, nor is more than there is room for.
    shared.deliver(2, name, long.clone());
    assert!(shared.enter(name, Some(1)));
    assert_eq!(shared.take(&name, 2, waker), None);
    for number in 0..200 {
        shared.deliver(2, [number; 32], long.clone());
    }
    assert!(shared.enter([0; 32], Some(1)) && shared.enter([199; 32], Some(1)));
    assert_eq!(shared.take(&[0; 32], 2, waker), None);
    assert_eq!(shared.take(&[199; 32], 2, waker), Some(Ok(long)));
}

/// Front ends that write no question, hang up, or stay, take nothing from the others.
#[test]
fn front_ends_that_write_garbage_or_only_stay_are_harmless() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    run_test(async {
        let world = World::new();
        let nodes = world.all().await;
        assert_eq!(nodes[0].ask(json!({})).await, Ok(vec![6, 21]));
        let socket = world.data(0).join(SOCKET);
        let connect = async || tokio::net::UnixStream::connect(&socket).await.unwrap();
        let whole = [
            &2u32.to_le_bytes()[..],
            &[9; 32],
            &1u32.to_le_bytes(),
            b"{}",
        ]
        .concat();
        for length in 0..whole.len() {
            // A question that is cut short, and a front end that is gone.
            connect().await.write_all(&whole[..length]).await.unwrap();
        }
        let mut long = connect().await;
        long.write_all(&u32::MAX.to_le_bytes()).await.unwrap();
        // The node hangs up.
        assert_eq!(long.read(&mut [0]).await.unwrap_or(0), 0);
        for seed in 0..50u8 {
            let bytes: Vec<u8> = (0..999u32)
                .map(|place| (place as u8).wrapping_mul(seed))
                .collect();
            // The node may have hung up before all is written.
            let _ = connect().await.write_all(&bytes).await;
        }
        let mut desk = Desk::find(&world.data(0), StudyHash([9; 32]))
            .await
            .unwrap();
        assert_eq!(numbers(&desk.ask(1, b"{}").await.unwrap()), [6, 21]);
        let mut staying = Vec::new();
        let error = loop {
            let mut next = Desk::find(&world.data(0), StudyHash([9; 32]))
                .await
                .unwrap();
            match next.ask(1, b"{}").await {
                Ok(_) => staying.push(next),
                Err(error) => break error.to_string(),
            }
            assert!(staying.len() < 200);
        };
        assert!(error.contains("takes no more"), "{error}");
        assert_eq!(numbers(&desk.ask(1, b"{}").await.unwrap()), [6, 21]);
        drop(staying);
        let started = Instant::now();
        loop {
            let mut next = Desk::find(&world.data(0), StudyHash([9; 32]))
                .await
                .unwrap();
            match next.ask(1, b"{}").await {
                Ok(answer) => break assert_eq!(numbers(&answer), [6, 21]),
                Err(_) => assert!(started.elapsed() < Duration::from_secs(5)),
            }
        }
    });
}

/// Many more questions than are asked at a time wait for their turn, and each has its own answer.
#[test]
fn a_thousand_questions_wait_for_their_turn() {
    run_test(async {
        let world = World::new();
        let nodes = world.all().await;
        let mut asked = JoinSet::new();
        for times in 0..1_000u64 {
            let questions = Arc::clone(nodes[times as usize % SITES].questions());
            let question = json!({ "times": times }).to_string();
            asked.spawn(async move {
                let answer = questions.ask(1, question.into_bytes()).await;
                assert_eq!(numbers(&answer.unwrap()), [6 * times, 21]);
            });
        }
        while let Some(done) = asked.join_next().await {
            done.unwrap();
        }
        until_free(&nodes).await;
    });
}

/// A node whose process stands still (SIGSTOP): its machine still takes what is sent, and nothing comes back.
#[test]
fn a_node_that_stands_still_is_named_within_seconds_and_comes_back() {
    let world = Arc::new(World::new());
    let (still, stand_still) = std::sync::mpsc::channel::<Duration>();
    let of_east = Arc::clone(&world);
    let east = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let _east = of_east.start(2).await;
            loop {
                match stand_still.try_recv() {
                    // The only thread of the runtime.
                    Ok(time) => std::thread::sleep(time),
                    Err(std::sync::mpsc::TryRecvError::Empty) => {}
                    Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
        runtime.shutdown_timeout(Duration::from_secs(1));
    });
    run_test(async {
        let nodes = [world.start(0).await, world.start(1).await];
        assert_eq!(nodes[0].ask(json!({})).await, Ok(vec![6, 21]));
        still.send(Duration::from_secs(12)).unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        for (rows, longest) in [(true, 8), (false, 8)] {
            let started = Instant::now();
            let error = nodes[0].ask(json!({ "rows": rows })).await.unwrap_err();
            // South may be the one that says so.
            let (named, _) = error.split_once(' ').unwrap();
            assert_eq!(named, "`east`", "{error}");
            assert!(started.elapsed() < Duration::from_secs(longest), "{error}");
        }
        until_free(&nodes).await;
        let started = Instant::now();
        while nodes[1].ask(json!({})).await != Ok(vec![6, 21]) {
            assert!(started.elapsed() < Duration::from_secs(30));
        }
        drop(still);
    });
    east.join().unwrap();
}
