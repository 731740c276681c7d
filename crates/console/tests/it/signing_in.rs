//! Signing in and out, the first user, people who are asked in, and how often passwords may be tried.

use hedgerow_console::{Record, Role, Users};

use crate::browser::Browser;
use crate::world::{World, browser_of, password};

#[tokio::test]
async fn the_first_user_comes_by_a_link_that_works_once() {
    let world = World::bare();
    let console = world.console_of_nobody("north");
    let link = console.first_link().unwrap().unwrap();
    let path = link.strip_prefix("http://127.0.0.1:7480").unwrap();
    let mut browser = Browser::new(&console);
    assert!(
        browser
            .get("/sign-in")
            .await
            .text()
            .contains("Nobody may use this console yet")
    );
    let page = browser.get(path).await.text();
    assert!(
        page.contains("The first user") && page.contains("Only an officer can make others"),
        "{page}"
    );
    assert_eq!(browser.get("/first/0123").await.status, 404);
    let fields = |name: &'static str, password: &'static str, again: &'static str| {
        [
            ("name", name),
            // Whatever is sent: only an officer can make others.
            ("role", "analyst"),
            ("password", password),
            ("again", again),
        ]
    };
    for wrong in [
        fields("", "seven green hedges", "seven green hedges"),
        fields("o t", "seven green hedges", "seven green hedges"),
        fields("otto", "short", "short"),
        fields("otto", "seven green hedges", "seven green hedge"),
    ] {
        assert_eq!(browser.post(path, &wrong).await.status, 400);
    }
    let right = fields("otto", "seven green hedges", "seven green hedges");
    let answer = browser.post(path, &right).await;
    assert_eq!(
        (answer.status, answer.header("location").as_str()),
        (303, "/")
    );
    assert_eq!(browser.get("/users").await.status, 200);
    // Nobody comes by it again, and no other link is made.
    let mut other = Browser::new(&console);
    assert_eq!(other.get(path).await.status, 404);
    assert_eq!(other.post(path, &right).await.status, 404);
    assert_eq!(console.first_link().unwrap(), None);
    let users = Users::beside(&world.file("north")).all().unwrap();
    assert_eq!((users.len(), users[0].role), (1, Role::Officer));
}

#[tokio::test]
async fn an_officer_asks_people_in_and_nobody_else_knows_their_password() {
    let world = World::bare();
    let console = world.console("north");
    let mut officer = browser_of(&console, Role::Officer).await;
    let fields = [("name", "ben"), ("role", "analyst")];
    let page = officer.post("/users/invite", &fields).await.text();
    let (_, rest) = page.split_once("/first/").unwrap();
    let path = format!("/first/{}", rest.split('<').next().unwrap());
    // The link is shown once.
    assert!(!officer.get("/users").await.text().contains(&path));
    assert!(officer.get("/users").await.text().contains("has a link"));
    let mut ben = Browser::new(&console);
    // The link says who it is for, whatever is sent.
    let chosen = [
        ("name", "eve"),
        ("role", "officer"),
        ("password", "ten blue hedges"),
        ("again", "ten blue hedges"),
    ];
    assert_eq!(
        ben.post(&path, &chosen).await.header("location"),
        "/releases"
    );
    assert_eq!(ben.get("/users").await.status, 403);
    let users = Users::beside(&world.file("north")).all().unwrap();
    let known = users.iter().find(|user| user.name == "ben").unwrap();
    assert_eq!(known.role, Role::Analyst);
    assert!(users.iter().all(|user| user.name != "eve"));
    // A new password ends what began with the old one.
    let page = officer
        .post("/users/invite", &[("name", "ben")])
        .await
        .text();
    let (_, rest) = page.split_once("/first/").unwrap();
    let path = format!("/first/{}", rest.split('<').next().unwrap());
    let mut again = Browser::new(&console);
    let chosen = [("password", "two red hedges"), ("again", "two red hedges")];
    assert_eq!(again.post(&path, &chosen).await.status, 303);
    assert_eq!(ben.get("/releases").await.status, 303);
    assert_eq!(again.get("/releases").await.status, 200);
    // Whoever is taken away is out with the next request.
    officer.get("/users").await;
    assert_eq!(
        officer
            .post("/users/remove", &[("name", "ben")])
            .await
            .status,
        303
    );
    assert_eq!(again.get("/releases").await.status, 303);
    assert_eq!(
        officer
            .post("/users/remove", &[("name", "otto")])
            .await
            .status,
        400
    );
}

#[tokio::test]
async fn names_and_passwords_that_are_wrong_are_told_apart_by_nothing() {
    let world = World::bare();
    let console = world.console("north");
    let mut browser = Browser::new(&console);
    let mut said = Vec::new();
    for name in ["otto", "nobody"] {
        for _ in 0..5 {
            let fields = [("name", name), ("password", "wrong wrong wrong")];
            let answer = browser.post("/sign-in", &fields).await;
            assert_eq!(answer.status, 403);
            assert!(answer.header("set-cookie").is_empty());
            said.push(answer.text().replace(name, "NAME"));
        }
        // From here on the right password is not looked at either.
        let right = password(Role::Officer);
        let answer = browser
            .post("/sign-in", &[("name", name), ("password", &right)])
            .await;
        assert_eq!(answer.status, 429, "{name}");
        assert!(!answer.header("retry-after").is_empty());
    }
    assert!(said.iter().all(|page| *page == said[0]));
    let lines = Record::in_folder(&world.path("north")).all().unwrap();
    let wrong = lines
        .iter()
        .filter(|line| line.result == "wrong name or password");
    assert_eq!(wrong.count(), 10);
}

#[tokio::test]
async fn signing_in_begins_a_new_session_and_signing_out_ends_it() {
    let world = World::bare();
    let console = world.console("north");
    let mut browser = browser_of(&console, Role::Steward).await;
    let first = browser.cookie.clone().unwrap();
    let word = password(Role::Steward);
    let fields = [("name", "stella"), ("password", &*word), ("to", "/runs")];
    let answer = browser.post("/sign-in", &fields).await;
    assert_eq!(answer.header("location"), "/runs");
    assert_ne!(browser.cookie.clone().unwrap(), first);
    for to in ["https://evil.example", "//evil.example", "/\\evil.example"] {
        let fields = [("name", "stella"), ("password", &*word), ("to", to)];
        assert_eq!(
            browser.post("/sign-in", &fields).await.header("location"),
            "/"
        );
    }
    browser.get("/users").await;
    let last = browser.cookie.clone();
    assert_eq!(browser.post("/sign-out", &[]).await.status, 303);
    assert_eq!(browser.cookie, None);
    browser.cookie = last;
    assert_eq!(
        browser.get("/runs").await.header("location"),
        "/sign-in?to=%2Fruns"
    );
}
