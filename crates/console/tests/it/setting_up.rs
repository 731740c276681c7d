//! A site that is being set up: what is done and what is open, and the key that is made where it stays.

use std::os::unix::fs::PermissionsExt as _;

use hedgerow::node::identity::Secret;
use hedgerow_console::Role;

use crate::world::{PLANTED, World, browser_of};

#[tokio::test]
async fn the_key_is_made_once_and_nobody_sees_it() {
    let world = World::bare();
    let console = world.console("north");
    let mut steward = browser_of(&console, Role::Steward).await;
    let page = steward.get("/set-up").await.text();
    assert!(
        page.contains("There is no key yet") && page.contains("hedgerow keygen --out"),
        "{page}"
    );
    assert!(page.contains("action=\"/set-up/key\""));
    for role in [Role::Officer, Role::Auditor] {
        let mut browser = browser_of(&console, role).await;
        let page = browser.get("/set-up").await.text();
        assert!(!page.contains("action=\"/set-up/key\""), "{role}");
        assert_eq!(browser.post("/set-up/key", &[]).await.status, 403);
    }
    assert!(!world.path("north/site.key").exists());
    assert_eq!(steward.post("/set-up/key", &[]).await.status, 303);
    let file = world.path("north/site.key");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let secret = std::fs::read_to_string(&file).unwrap();
    let public = Secret::open(&file).unwrap().public().to_string();
    let page = steward.get("/set-up").await.text();
    assert!(
        page.contains(&public) && !page.contains("There is no key yet"),
        "{page}"
    );
    // Once more, and the key that is there stays.
    assert_eq!(steward.post("/set-up/key", &[]).await.status, 303);
    assert!(
        steward
            .get("/set-up")
            .await
            .text()
            .contains("is there already")
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), secret);
    let digits = secret
        .trim_end()
        .rsplit(['-', ' ', ':'])
        .next()
        .unwrap()
        .to_owned();
    for path in ["/set-up", "/", "/audit", "/study", "/draft"] {
        assert!(!steward.get(path).await.text().contains(&digits), "{path}");
    }
    let log = std::fs::read_to_string(world.path("north/console.log")).unwrap();
    assert!(!log.contains(&digits) && log.contains("key made"), "{log}");
}

#[tokio::test]
async fn a_site_that_is_ready_has_all_steps_done_but_the_node() {
    let world = World::signed();
    let console = world.console("north");
    let mut auditor = browser_of(&console, Role::Auditor).await;
    let page = auditor.settled("/set-up").await;
    assert!(page.contains("8 of 9 steps are done"), "{page}");
    assert!(page.contains("The node is down"), "{page}");
    assert!(
        !page.contains(PLANTED)
            && !page.contains("action=\"/set-up")
            && !page.contains("action=\"/study"),
        "{page}"
    );
    // Rows that do not fit: where, and not what.
    let rows = std::fs::read_to_string(world.path("north/rows.csv")).unwrap();
    std::fs::write(
        world.path("north/rows.csv"),
        rows.replacen("\"flu\"", &format!("\"{PLANTED} pox\""), 1),
    )
    .unwrap();
    let page = auditor.settled("/set-up").await;
    assert!(page.contains("7 of 9 steps are done"), "{page}");
    assert!(
        page.contains("a value is outside") && !page.contains(PLANTED),
        "{page}"
    );
}

#[tokio::test]
async fn a_site_without_a_study_says_so_and_leads_to_the_draft() {
    let world = World::bare();
    let console = world.console("north");
    for role in [Role::Steward, Role::Officer, Role::Auditor] {
        let mut browser = browser_of(&console, role).await;
        for path in ["/", "/study", "/runs", "/runs/1", "/ledger", "/set-up"] {
            let answer = browser.get(path).await;
            assert_eq!(answer.status, 200, "{path}");
            let page = answer.text();
            assert!(page.contains("There is no study yet"), "{path} {page}");
            assert!(!page.contains("os error"), "{path} {page}");
            // The way to all other pages stays.
            assert!(page.contains("aria-label=\"Pages\""), "{path} {page}");
            let words = "class=\"button\" href=\"/draft\"";
            assert!(path == "/set-up" || page.contains(words), "{path} {page}");
        }
    }
    // A study that cannot be read says why, beside the same way.
    std::fs::write(world.path("study.toml"), "nonsense").unwrap();
    let mut steward = browser_of(&console, Role::Steward).await;
    for path in ["/runs", "/runs/1", "/ledger"] {
        let answer = steward.get(path).await;
        let page = answer.text();
        assert_eq!(answer.status, 409, "{path}");
        assert!(
            page.contains("study.toml:1") && page.contains("aria-label=\"Pages\""),
            "{path} {page}"
        );
    }
}
