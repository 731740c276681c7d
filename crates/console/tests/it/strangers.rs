//! What somebody who has not signed in, or not with the right role, cannot do: keep others from their work, or fill
//! the disk with lines.

use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use hedgerow::Study;
use hedgerow_console::{ConsoleSettings, Listening, Record, Role, Users};
use http_body_util::BodyExt as _;
use tower::ServiceExt as _;

use crate::browser::{Browser, HOST};
use crate::world::{World, browser_of, password};

#[tokio::test]
async fn nobody_keeps_an_officer_from_signing_by_typing_names() {
    let world = World::signed();
    world.unsign();
    let console = world.console("north");
    let mut officer = browser_of(&console, Role::Officer).await;
    let mut stranger = Browser::new(&console);
    for name in ["otto again", "otto", "otto again ", "Otto again"] {
        for _ in 0..30 {
            let fields = [("name", name), ("password", "wrong wrong wrong")];
            stranger.post("/sign-in", &fields).await;
        }
    }
    officer.settled("/study").await;
    let study = Study::open(world.path("study.toml")).unwrap();
    let hash = study.agreement().unwrap().hash.to_string();
    let word = password(Role::Officer);
    let fields = [("hash", &*hash), ("password", &*word)];
    assert_eq!(officer.post("/study/sign", &fields).await.status, 303);
    let page = officer.settled("/study").await;
    assert!(page.contains("the study is signed for this site"), "{page}");
}

#[tokio::test]
async fn strangers_write_a_line_for_a_wait_and_not_for_every_password() {
    let world = World::bare();
    let console = world.console("north");
    let mut stranger = Browser::new(&console);
    let long = "x".repeat(5_000);
    for number in 0..300 {
        let name = format!("name-{number}");
        for name in ["otto", &*name, &*long, "my secret password"] {
            let fields = [("name", name), ("password", "wrong wrong wrong")];
            stranger.post("/sign-in", &fields).await;
        }
    }
    let lines = Record::in_folder(&world.path("north")).all().unwrap();
    let lines: Vec<_> = lines.iter().filter(|line| line.what == "sign in").collect();
    assert!(lines.len() < 40, "{}", lines.len());
    let refused = lines
        .iter()
        .filter(|line| line.result == "too many passwords were tried");
    assert!((1..=12).contains(&refused.count()));
    // What is nobody's name may be a password.
    let mut whos: Vec<&str> = lines.iter().map(|line| &*line.who).collect();
    whos.sort_unstable();
    whos.dedup();
    assert_eq!(whos, ["otto", "somebody unknown"]);
}

#[tokio::test]
async fn a_page_that_is_not_for_a_role_is_written_down_once_for_a_session() {
    let world = World::bare();
    let console = world.console("north");
    let mut analyst = browser_of(&console, Role::Analyst).await;
    for number in 0..100 {
        assert_eq!(analyst.get(&format!("/runs/{number}")).await.status, 403);
        assert_eq!(analyst.get("/ledger").await.status, 403);
    }
    let lines = world.lines("north");
    let denied = lines.iter().filter(|(what, ..)| what == "denied");
    assert_eq!(denied.count(), 2);
    // Another session is somebody else, as far as is known.
    let mut again = browser_of(&console, Role::Analyst).await;
    again.get("/ledger").await;
    let lines = world.lines("north");
    let denied = lines.iter().filter(|(what, ..)| what == "denied");
    assert_eq!(denied.count(), 3);
}

#[tokio::test]
async fn long_texts_are_cut_on_the_page_of_what_was_done() {
    let world = World::bare();
    let console = world.console("north");
    let record = Record::in_folder(&world.path("north"));
    let mut entry = hedgerow_console::Entry::now("otto", "::1", "tested");
    entry.result = format!("{}END", "long ".repeat(300));
    record.add(&entry).unwrap();
    let mut auditor = browser_of(&console, Role::Auditor).await;
    let page = auditor.get("/audit").await.text();
    assert!(page.contains("long  …") && !page.contains("END"));
    let sheet = auditor.get("/audit/console.csv").await.text();
    assert!(sheet.contains("long END"));
}

#[tokio::test]
async fn news_end_for_somebody_who_is_taken_away() {
    let world = World::bare();
    drop(world.console("north"));
    let settings = ConsoleSettings::at("127.0.0.1:0".parse().unwrap());
    let listening = Listening::bind(world.file("north"), settings)
        .await
        .unwrap();
    let console = Arc::clone(listening.console());
    let serving = tokio::spawn(async move { match listening.serve().await {} });
    let mut analyst = Browser::new(&console);
    let address = console.address();
    analyst.host = address.strip_prefix("http://").unwrap().to_owned();
    analyst.origin = Some(address);
    let word = password(Role::Analyst);
    let fields = [("name", "anna"), ("password", &*word)];
    assert_eq!(analyst.post("/sign-in", &fields).await.status, 303);
    let request = axum::http::Request::builder()
        .uri("/events")
        .header("host", &analyst.host)
        .header("cookie", analyst.cookie.unwrap())
        .body(axum::body::Body::empty())
        .unwrap();
    let response = console.router().oneshot(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let mut news = response.into_body();
    let first = news.frame().await.unwrap().unwrap();
    assert!(first.data_ref().unwrap().starts_with(b"retry:"));
    Users::beside(&world.file("north"))
        .remove("anna", ("root", "shell"))
        .unwrap();
    let ends = async { while news.frame().await.is_some() {} };
    let ended = tokio::time::timeout(std::time::Duration::from_secs(10), ends).await;
    assert!(ended.is_ok(), "the stream goes on");
    serving.abort();
}

/// A form that is never whole holds a place for ten seconds and no longer.
#[tokio::test]
async fn a_form_that_does_not_end_is_given_up() {
    let world = World::bare();
    let console = world.console("north");
    let begun: Result<_, std::io::Error> = Ok(axum::body::Bytes::from_static(b"name=otto"));
    let body = stream::once(async { begun }).chain(stream::pending());
    let request = axum::http::Request::builder()
        .method("POST")
        .uri("/sign-in")
        .header("host", HOST)
        .header("origin", format!("http://{HOST}"))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(axum::body::Body::from_stream(body))
        .unwrap();
    let sent = console.router().oneshot(request);
    let answer = tokio::time::timeout(std::time::Duration::from_secs(60), sent).await;
    assert_eq!(answer.unwrap().unwrap().status(), 413);
    // Whoever sends the whole of it is heard.
    assert!(browser_of(&console, Role::Officer).await.cookie.is_some());
}
