//! Links for people who are asked in: they count for as long as the officer who made them does, and are taken back.

use std::sync::Arc;

use hedgerow_console::{Console, Role, Users};

use crate::browser::Browser;
use crate::world::{World, browser_of, password};

const CHOSEN: [(&str, &str); 2] = [
    ("password", "ten blue hedges"),
    ("again", "ten blue hedges"),
];

/// Asks somebody in; where the link leads.
async fn ask_in(officer: &mut Browser, name: &str, role: &str) -> String {
    officer.get("/users").await;
    let fields = [("name", name), ("role", role)];
    let page = officer.post("/users/invite", &fields).await.text();
    let (_, rest) = page.split_once("/first/").unwrap();
    format!("/first/{}", rest.split('<').next().unwrap())
}

/// Sees that a link leads nowhere, read or sent.
async fn assert_gone(console: &Arc<Console>, path: &str) {
    let mut stranger = Browser::new(console);
    let answer = stranger.get(path).await;
    assert_eq!(answer.status, 404, "{}", answer.text());
    assert!(
        answer.text().contains("was taken back"),
        "{}",
        answer.text()
    );
    assert_eq!(stranger.post(path, &CHOSEN).await.status, 404);
}

/// Another officer beside otto.
async fn olga(world: &World, console: &Arc<Console>) -> Browser {
    let word = password(Role::Officer);
    Users::beside(&world.file("north"))
        .add("olga", Role::Officer, &word, ("test", "shell"))
        .unwrap();
    Browser::signed_in(console, "olga", &word).await
}

#[tokio::test]
async fn links_of_an_officer_who_is_taken_away_lead_nowhere() {
    let world = World::bare();
    let console = world.console("north");
    let users = Users::beside(&world.file("north"));
    for is_by_shell in [false, true] {
        let mut otto = browser_of(&console, Role::Officer).await;
        let mut olga = olga(&world, &console).await;
        let new = ask_in(&mut olga, "eve", "officer").await;
        let again = ask_in(&mut olga, "stella", "").await;
        assert_eq!(Browser::new(&console).get(&new).await.status, 200);
        match is_by_shell {
            true => users.remove("olga", ("root", "shell")).unwrap(),
            false => {
                otto.get("/users").await;
                let gone = otto.post("/users/remove", &[("name", "olga")]).await;
                assert_eq!(gone.status, 303);
                assert!(!otto.get("/users").await.text().contains("has a link"));
            }
        }
        for path in [new, again] {
            assert_gone(&console, &path).await;
        }
        assert!(users.all().unwrap().iter().all(|user| user.name != "eve"));
    }
}

#[tokio::test]
async fn a_link_for_a_new_password_is_for_the_user_who_was_there() {
    let world = World::bare();
    let console = world.console("north");
    let users = Users::beside(&world.file("north"));
    let mut otto = browser_of(&console, Role::Officer).await;
    let path = ask_in(&mut otto, "anna", "").await;
    // Somebody else of the same name.
    users.remove("anna", ("root", "shell")).unwrap();
    let word = "eleven grey hedges";
    users
        .add("anna", Role::Officer, word, ("root", "shell"))
        .unwrap();
    assert_gone(&console, &path).await;
    Browser::signed_in(&console, "anna", word).await;
    // A link goes with the user whom it is for.
    let path = ask_in(&mut otto, "anna", "").await;
    otto.get("/users").await;
    otto.post("/users/remove", &[("name", "anna")]).await;
    assert_gone(&console, &path).await;
}

#[tokio::test]
async fn a_link_that_nobody_used_is_withdrawn() {
    let world = World::bare();
    let console = world.console("north");
    let mut otto = browser_of(&console, Role::Officer).await;
    let path = ask_in(&mut otto, "ben", "analyst").await;
    let page = otto.get("/users").await.text();
    assert!(
        page.contains("has a link") && page.contains("Withdraw"),
        "{page}"
    );
    let withdrawn = otto.post("/users/withdraw", &[("name", "ben")]).await;
    assert_eq!(withdrawn.status, 303);
    let page = otto.get("/users").await.text();
    assert!(!page.contains("has a link"), "{page}");
    assert!(page.contains("the link for ben works no more"), "{page}");
    assert_gone(&console, &path).await;
    let lines = world.lines("north");
    let line = lines.iter().find(|(what, ..)| what == "link withdrawn");
    assert_eq!(line.unwrap().1, "ben");
}
