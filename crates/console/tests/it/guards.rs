//! What protects every page: headers, where forms come from, what the console is called, how much is sent.

use hedgerow_console::{ROUTES, Role, Users};

use crate::browser::{Browser, HOST};
use crate::world::{World, browser_of, password};

#[tokio::test]
async fn every_answer_tells_the_browser_to_trust_nothing_else() {
    let world = World::bare();
    let console = world.console("north");
    let mut browser = browser_of(&console, Role::Officer).await;
    let mut stranger = Browser::new(&console);
    stranger.host = String::from("evil.example");
    let mut answers = vec![stranger.get("/").await, browser.get("/nothing").await];
    for route in ROUTES.iter().filter(|route| !route.is_form) {
        answers.push(browser.get(&route.path.replace("{number}", "1")).await);
    }
    answers.push(browser.post("/users/remove", &[("name", "nobody")]).await);
    for answer in answers {
        let policy = answer.header("content-security-policy");
        assert!(
            policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("x-frame-options"), "DENY");
        assert_eq!(answer.header("referrer-policy"), "same-origin");
        assert_eq!(answer.header("cross-origin-opener-policy"), "same-origin");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
        assert!(!answer.header("cache-control").is_empty());
        if answer.header("content-type").starts_with("text/html") {
            assert_eq!(answer.header("cache-control"), "no-store");
            let text = answer.text();
            assert!(
                !text.contains("<style")
                    && !text.contains(" style=")
                    && !text.contains("javascript:")
            );
            assert!(
                !text.contains(" onclick") && !text.contains("=\"http"),
                "{text}"
            );
            assert_eq!(
                text.matches("<script").count(),
                text.matches("<script src=\"/assets/").count()
            );
        }
    }
    for name in ["console.css", "console.js", "hedge.svg"] {
        let answer = browser.get(&format!("/assets/{name}")).await;
        assert_eq!(answer.status, 200);
        assert!(answer.header("cache-control").contains("immutable"));
        assert!(!answer.text().contains("http://") || name == "hedge.svg");
    }
}

#[tokio::test]
async fn a_form_that_another_page_sends_does_nothing() {
    let world = World::bare();
    let console = world.console("north");
    let mut browser = browser_of(&console, Role::Officer).await;
    let users = || Users::beside(&world.file("north")).all().unwrap().len();
    let before = users();
    let fields = [("name", "anna")];
    browser.get("/users").await;
    let csrf = browser.csrf.clone();
    for origin in [
        None,
        Some("null"),
        Some("http://evil.example"),
        Some("https://127.0.0.1:7480"),
        Some("http://localhost:7480"),
    ] {
        browser.origin = origin.map(str::to_owned);
        let answer = browser.post("/users/remove", &fields).await;
        assert_eq!(answer.status, 403, "{origin:?}");
    }
    browser.origin = Some(format!("http://{HOST}"));
    browser.more = vec![("sec-fetch-site", String::from("cross-site"))];
    assert_eq!(browser.post("/users/remove", &fields).await.status, 403);
    browser.more.clear();
    for word in ["", "0123", &csrf[1..], &csrf.replace(&csrf[..1], "g")] {
        browser.csrf = word.to_owned();
        assert_eq!(
            browser.post("/users/remove", &fields).await.status,
            403,
            "{word}"
        );
    }
    // Another session's word is not this one's.
    let other = browser_of(&console, Role::Officer).await;
    browser.csrf = other.csrf.clone();
    assert_eq!(browser.post("/users/remove", &fields).await.status, 403);
    for kind in ["text/plain", "application/json", ""] {
        let body = format!("csrf={csrf}&name=anna").into_bytes();
        assert_eq!(
            browser.post_raw("/users/remove", kind, body).await.status,
            415,
            "{kind}"
        );
    }
    assert_eq!(users(), before);
    browser.csrf = csrf;
    assert_eq!(browser.post("/users/remove", &fields).await.status, 303);
    assert_eq!(users(), before - 1);
}

#[tokio::test]
async fn a_name_that_is_not_the_consoles_is_not_answered() {
    let world = World::bare();
    let console = world.console("north");
    let mut browser = browser_of(&console, Role::Officer).await;
    for host in [
        "evil.example",
        "evil.example:7480",
        "127.0.0.1",
        "127.0.0.1:80",
        "",
        "localhost:7481",
    ] {
        browser.host = host.to_owned();
        browser.origin = Some(format!("http://{host}"));
        for path in ["/", "/sign-in", "/users", "/assets/console.css", "/nothing"] {
            assert_eq!(browser.get(path).await.status, 421, "{host} {path}");
        }
        assert_eq!(
            browser
                .post("/users/remove", &[("name", "anna")])
                .await
                .status,
            421
        );
    }
    browser.host = String::from("localhost:7480");
    assert_eq!(browser.get("/").await.status, 200);
}

#[tokio::test]
async fn what_is_sent_is_bounded() {
    let world = World::bare();
    let console = world.console("north");
    let mut browser = browser_of(&console, Role::Officer).await;
    let long = "x".repeat(20_000);
    let answer = browser.post("/users/remove", &[("name", &long)]).await;
    assert_eq!(answer.status, 413);
    let mut stranger = Browser::new(&console);
    let answer = stranger
        .post("/sign-in", &[("name", "otto"), ("password", &long)])
        .await;
    assert_eq!(answer.status, 413);
}

#[tokio::test]
async fn a_cookie_is_for_this_console_alone() {
    let world = World::bare();
    let console = world.console("north");
    let mut browser = Browser::new(&console);
    let word = password(Role::Officer);
    let answer = browser
        .post("/sign-in", &[("name", "otto"), ("password", &word)])
        .await;
    let cookie = answer.header("set-cookie");
    for part in [
        "hedgerow-7480=",
        "; Path=/",
        "; HttpOnly",
        "; SameSite=Strict",
    ] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let token = cookie.split(['=', ';']).nth(1).unwrap();
    assert_eq!(token.len(), 64);
    // What is kept of it is not what the browser has.
    let lines = std::fs::read_to_string(world.path("north/console.log")).unwrap();
    assert!(!lines.contains(token) && !lines.contains(&word));
}

#[tokio::test]
async fn what_is_sent_in_another_way_is_refused_in_words() {
    let world = World::bare();
    let console = world.console("north");
    let mut officer = browser_of(&console, Role::Officer).await;
    officer.get("/users").await;
    let csrf = officer.csrf.clone();
    let body = format!(
        "--xyz\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{csrf}\r\n--xyz--\r\n"
    );
    let kind = "multipart/form-data; boundary=xyz";
    let send = |body: &str| body.as_bytes().to_vec();
    for path in ["/users/remove", "/runs/1/approve", "/sign-out"] {
        let answer = officer.post_raw(path, kind, send(&body)).await;
        assert_eq!(answer.status, 415, "{path}");
        assert!(answer.text().contains("what was sent is no form"), "{path}");
    }
    let mut stranger = Browser::new(&console);
    for path in ["/sign-in", "/first/0123"] {
        let answer = stranger.post_raw(path, kind, send(&body)).await;
        assert_eq!(answer.status, 415, "{path} {}", answer.text());
    }
    // And the form with a file is not sent as another.
    let mut steward = browser_of(&console, Role::Steward).await;
    steward.get("/draft").await;
    let answer = steward.post("/draft/upload", &[("name", "x")]).await;
    assert_eq!(answer.status, 415, "{}", answer.text());
}

#[tokio::test]
async fn addresses_that_say_nonsense_get_a_page_of_the_console() {
    let world = World::signed();
    let console = world.console("north");
    let mut officer = browser_of(&console, Role::Officer).await;
    for (path, status) in [
        ("/runs/one", 404),
        ("/runs/-1", 404),
        ("/runs/99999999999", 404),
        ("/runs/%FF", 404),
        ("/releases/x/files/y", 404),
        ("/draft/columns/x", 404),
        ("/runs?page=x", 400),
        ("/runs?page=-1", 400),
        ("/audit?before=x", 400),
        ("/ledger?page=1&page=2", 400),
        ("/draft/columns/1?values=999", 400),
    ] {
        let answer = officer.get(path).await;
        assert_eq!(answer.status, status, "{path} {}", answer.text());
        assert!(answer.text().contains("To the first page"), "{path}");
    }
}
