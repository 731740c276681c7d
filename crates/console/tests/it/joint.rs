//! Two sites run a study, and their consoles show it: from the officer's word to the release, over a real
//! listener too.

use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow::Site;
use hedgerow_console::{Console, ConsoleSettings, Listening, Role, Users};

use crate::browser::Browser;
use crate::world::{PLANTED, SITES, World, browser_of, password};

/// Has the nodes of all sites wait, and runs a test beside them.
fn beside_nodes(world: &World, test: impl AsyncFnOnce()) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let [north, south] = SITES.map(|name| world.site(name));
        let nodes = async { tokio::join!(north.serve(), south.serve()) };
        let test = async {
            for name in SITES {
                while !Site::open(world.file(name)).unwrap().node().unwrap().is_up {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            test().await;
        };
        let test = tokio::time::timeout(Duration::from_secs(300), test);
        tokio::select! {
            ended = nodes => panic!("{ended:?}"),
            test = test => test.unwrap(),
        }
    });
    runtime.shutdown_timeout(Duration::from_secs(5));
}

/// Asks for a page until it says something.
async fn until(browser: &mut Browser, path: &str, words: &str) -> String {
    let begun = Instant::now();
    loop {
        let text = browser.get(path).await.text();
        if text.contains(words) {
            return text;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "no {words} on {path}: {text}"
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Everything that a browser can read of a run and its release, with no row in it.
async fn read_all(browser: &mut Browser) -> String {
    let mut all = String::new();
    for path in [
        "/",
        "/runs",
        "/runs/1",
        "/releases",
        "/releases/1",
        "/releases/1/report",
        "/ledger",
        "/audit",
        "/audit/console.csv",
        "/users",
    ] {
        let answer = browser.get(path).await;
        assert_eq!(answer.status, 200, "{path} {}", answer.text());
        let is_page = answer.header("content-type").starts_with("text/html");
        assert!(
            !is_page || path.ends_with("report") || answer.bytes.len() < 200_000,
            "{path}"
        );
        all.push_str(&answer.text());
    }
    all
}

#[test]
fn a_run_waits_for_the_officer_and_ends_with_a_release() {
    let world = World::signed();
    world.ask_before_a_second_run();
    let console = world.console("north");
    beside_nodes(&world, async || {
        let mut steward = browser_of(&console, Role::Steward).await;
        let mut officer = browser_of(&console, Role::Officer).await;
        // A node that has just begun has not looked at its rows yet.
        until(&mut steward, "/", "Your next step: Run together").await;
        assert!(steward.get("/runs").await.text().contains("Run 1 is due"));
        assert_eq!(steward.post("/runs/1/start", &[]).await.status, 303);
        until(&mut officer, "/runs/1", "To the release").await;
        let done = until(&mut officer, "/runs/1", "Rounds").await;
        assert!(done.contains("wave 1:"), "{done}");
        let words = "Every site of the study has signed";
        until(&mut officer, "/releases/1", words).await;
        // Another release of the same rows waits for the officer.
        until(&mut steward, "/runs", "Run 2 is due").await;
        assert_eq!(steward.post("/runs/2/start", &[]).await.status, 303);
        until(&mut officer, "/runs/2", "May this site").await;
        assert!(
            !steward
                .get("/runs/2")
                .await
                .text()
                .contains("May this site")
        );
        let overview = officer.get("/").await.text();
        assert!(overview.contains("Your next step: Decide about run 2"));
        // Without the password again, nothing.
        let wrong = [("password", "wrong wrong wrong")];
        assert_eq!(officer.post("/runs/2/approve", &wrong).await.status, 403);
        let waiting = steward.get("/runs/2").await.text();
        assert!(
            waiting.contains("waits for the privacy officer"),
            "{waiting}"
        );
        let word = password(Role::Officer);
        officer.get("/runs/2").await;
        let right = [("password", &*word), ("comment", "as <b>agreed</b>")];
        assert_eq!(officer.post("/runs/2/approve", &right).await.status, 303);
        a_second_word_changes_nothing(&world, &console).await;
        let page = until(&mut officer, "/runs/2", "To the release").await;
        assert!(page.contains("otto approved this run at "), "{page}");
        assert!(page.contains("as &lt;b&gt;agreed&lt;/b&gt;"), "{page}");
        while world.site("south").release(2).is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for role in [Role::Steward, Role::Officer, Role::Auditor] {
            let mut browser = browser_of(&console, role).await;
            let all = read_all(&mut browser).await;
            assert!(!all.contains(PLANTED));
        }
        let log = officer.get("/audit").await.text();
        for done in [
            "run started",
            "run approved",
            "wrong password",
            "report read",
        ] {
            assert!(log.contains(done), "{done} {log}");
        }
        attacks_and_alone(&console).await;
        downloads(&world, &console).await;
    });
}

/// Another officer decides otherwise a moment later, or about a run that does not ask.
async fn a_second_word_changes_nothing(world: &World, console: &Arc<Console>) {
    let word = password(Role::Officer);
    Users::beside(&world.file("north"))
        .add("olga", Role::Officer, &word, ("test", "shell"))
        .unwrap();
    let mut olga = Browser::signed_in(console, "olga", &word).await;
    let again = [("password", &*word)];
    for act in ["refuse", "approve"] {
        let sent = olga.post(&format!("/runs/2/{act}"), &again).await;
        assert_eq!(sent.status, 303);
        let page = olga.get("/runs/2").await.text();
        assert!(page.contains("otto approved run 2 at "), "{act} {page}");
        assert!(page.contains("nothing was changed"), "{act} {page}");
    }
    assert_eq!(olga.post("/runs/3/approve", &again).await.status, 303);
    let page = olga.get("/").await.text();
    assert!(page.contains("run 3 has not asked"), "{page}");
    let lines = world.lines("north");
    let done = |about: &str| {
        let mut lines = lines
            .iter()
            .filter(|(what, ..)| matches!(&**what, "run approved" | "run refused"));
        lines.any(|(_, line, result)| line == about && result == "done")
    };
    assert!(done("run 2: as <b>agreed</b>") && !done("run 2") && !done("run 3"));
}

async fn attacks_and_alone(console: &Arc<Console>) {
    let mut officer = browser_of(console, Role::Officer).await;
    let page = officer.get("/releases/1").await.text();
    assert!(page.contains("were not tried from this page yet"));
    assert_eq!(officer.post("/releases/1/gate", &[]).await.status, 303);
    assert_eq!(officer.post("/releases/1/alone", &[]).await.status, 303);
    let page = until(&mut officer, "/releases/1", "below_k_without_one_site").await;
    assert!(page.contains("not tried"), "{page}");
    let page = until(&mut officer, "/releases/1", "This site alone, 60 records").await;
    assert!(!page.contains(PLANTED));
}

/// Only what the release says it has, and only under its own name.
async fn downloads(world: &World, console: &Arc<Console>) {
    let mut analyst = browser_of(console, Role::Analyst).await;
    let folder = world.path("north/data/release-1");
    let page = analyst.get("/releases/1").await.text();
    for name in [
        "release.csv",
        "release.parquet",
        "manifest.json",
        "report.html",
        "datapackage.json",
    ] {
        let path = format!("/releases/1/files/{name}");
        assert!(page.contains(&format!("{path}\"")), "{name}");
        let answer = analyst.get(&path).await;
        assert_eq!(answer.bytes, std::fs::read(folder.join(name)).unwrap());
        assert!(
            answer
                .header("content-disposition")
                .starts_with("attachment; ")
        );
        assert!(!answer.header("content-type").contains("html"));
    }
    std::fs::write(folder.join("stranger.csv"), "secret").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link.csv")).unwrap();
    for name in [
        "stranger.csv",
        "link.csv",
        "..%2F..%2Fjournal.sqlite",
        "..%2f..%2f..%2fsite.key",
        "%2Fetc%2Fpasswd",
        "..",
        "%2e%2e%2f%2e%2e%2fsite.key",
        "release.csv%00",
        "release.csv%2F..%2Frelease.csv",
        "Release.csv",
        "..%5C..%5Csite.key",
        "local-1.csv",
        "..%2Flocal-1.csv",
        ".",
        "",
    ] {
        let answer = analyst.get(&format!("/releases/1/files/{name}")).await;
        assert!(
            answer.status == 404 || answer.status == 400,
            "{name} {}",
            answer.status
        );
        assert!(
            !answer.text().contains("root:") && !answer.text().contains("secret"),
            "{name}"
        );
    }
    let report = analyst.get("/releases/1/report").await;
    let policy = report.header("content-security-policy");
    assert!(
        policy.starts_with("sandbox; default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    // A file that became a link after the manifest was read leads nowhere.
    std::fs::remove_file(folder.join("release.csv")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("release.csv")).unwrap();
    let answer = analyst.get("/releases/1/files/release.csv").await;
    assert_eq!(answer.status, 404);
    assert!(!analyst.get("/releases/1").await.text().contains("root:"));
}

#[test]
fn a_run_that_fails_says_why_and_can_be_refused() {
    let world = World::signed();
    world.ask_before_a_second_run();
    let console = world.console("north");
    let rows = world.path("north/rows.csv");
    let whole = std::fs::read_to_string(&rows).unwrap();
    let broken = whole.replacen("\"flu\"", "\"Quillfeather fever\"", 1);
    assert_ne!(broken, whole);
    std::fs::write(&rows, broken).unwrap();
    beside_nodes(&world, async || {
        let mut steward = browser_of(&console, Role::Steward).await;
        let mut officer = browser_of(&console, Role::Officer).await;
        steward.get("/runs").await;
        assert_eq!(steward.post("/runs/1/start", &[]).await.status, 303);
        let failed = until(&mut steward, "/runs/1", "it failed").await;
        assert!(
            failed.contains("disease") && failed.contains("Next step"),
            "{failed}"
        );
        assert!(!failed.contains(PLANTED), "{failed}");
        std::fs::write(&rows, &whole).unwrap();
        until(&mut steward, "/runs", "Go on with it").await;
        assert_eq!(steward.post("/runs/1/start", &[]).await.status, 303);
        until(&mut steward, "/runs", "Run 2 is due").await;
        assert_eq!(steward.post("/runs/2/start", &[]).await.status, 303);
        until(&mut officer, "/runs/2", "May this site").await;
        let word = password(Role::Officer);
        let right = [("password", &*word)];
        assert_eq!(officer.post("/runs/2/refuse", &right).await.status, 303);
        until(&mut officer, "/runs/2", "given up").await;
        let runs = until(&mut steward, "/runs", "Run 3 is due").await;
        assert!(runs.contains("Run 1") && runs.contains("Run 2"));
    });
}

#[test]
fn a_node_that_is_down_is_told() {
    let world = World::signed();
    let console = world.console("north");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut steward = browser_of(&console, Role::Steward).await;
        let overview = steward.get("/").await.text();
        assert!(
            overview.contains("node down") && overview.contains("Your next step: The node is up")
        );
        steward.get("/runs").await;
        assert_eq!(steward.post("/runs/1/start", &[]).await.status, 303);
        let page = steward.get("/runs").await.text();
        assert!(page.contains("node is down"), "{page}");
        // What was said is said once.
        assert!(!steward.get("/runs").await.text().contains("node is down"));
    });
}

/// Over a real connection: the first bytes, and news within two seconds.
#[test]
fn an_open_page_hears_of_news_within_two_seconds() {
    let world = World::signed();
    drop(world.console("north"));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let settings = ConsoleSettings::at("127.0.0.1:0".parse().unwrap());
    let listening = runtime
        .block_on(Listening::bind(world.file("north"), settings))
        .unwrap();
    let address = listening.console().address();
    let host = address.strip_prefix("http://").unwrap().to_owned();
    runtime.spawn(async move { match listening.serve().await {} });
    let ask = |text: String| {
        let mut line = std::net::TcpStream::connect(&host).unwrap();
        line.set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        line.write_all(text.as_bytes()).unwrap();
        line
    };
    let body = format!(
        "name=stella&password={}",
        password(Role::Steward).replace(' ', "+")
    );
    let mut line = ask(format!(
        "POST /sign-in HTTP/1.1\r\nHost: {host}\r\nOrigin: {address}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    ));
    let mut answer = String::new();
    line.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
    let (_, rest) = answer.split_once("set-cookie: ").unwrap();
    let cookie = rest.split(';').next().unwrap();
    let mut line = ask(format!(
        "GET /events HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n"
    ));
    let mut heard = String::new();
    let mut listen = |word: &str| {
        let mut block = [0; 1_024];
        while !heard.contains(word) {
            let read = line.read(&mut block).unwrap();
            assert!(read > 0, "{heard}");
            heard.push_str(&String::from_utf8_lossy(&block[..read]));
        }
        heard.clear();
    };
    listen("retry:");
    // What the stream says first is what was there before.
    listen("event: change");
    std::thread::sleep(Duration::from_millis(1_500));
    let begun = Instant::now();
    std::fs::create_dir_all(world.path("north/data/release-7")).unwrap();
    listen("event: change");
    assert!(
        begun.elapsed() < Duration::from_secs(2),
        "{:?}",
        begun.elapsed()
    );
    runtime.shutdown_timeout(Duration::from_secs(2));
}

#[test]
fn other_machines_are_not_served_without_a_certificate() {
    let world = World::bare();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let bind = |settings| runtime.block_on(Listening::bind(world.file("north"), settings));
    let open = ConsoleSettings::at("0.0.0.0:0".parse().unwrap());
    let error = bind(open).err().unwrap().to_string();
    assert!(error.contains("certificate ="), "{error}");
}
