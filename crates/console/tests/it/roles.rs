//! Who may ask for what: every line of the table of pages, by every role and by nobody, read and sent.

use hedgerow_console::{ROUTES, Role, Route, Who};

use crate::browser::Browser;
use crate::world::{World, browser_of};

/// An address of a line of the table.
fn address(route: &Route) -> String {
    let path = route
        .path
        .replace("{number}", "1")
        .replace("{token}", "0123");
    path.replace("{name}", "none")
}

/// What the guard says to somebody: nothing where the page itself answers.
fn refusal(is_form: bool, status: u16) -> Option<&'static str> {
    match (is_form, status) {
        (false, 303) => Some("sign in"),
        (_, 403) => Some("not allowed"),
        _ => None,
    }
}

#[tokio::test]
async fn every_page_is_for_the_roles_of_the_table_and_for_nobody_else() {
    let world = World::bare();
    let console = world.console("north");
    for role in Role::ALL {
        let mut browser = browser_of(&console, role).await;
        for route in ROUTES
            .iter()
            .filter(|route| !matches!(route.path, "/sign-out" | "/sign-in"))
        {
            let path = address(route);
            let answer = match route.is_form {
                // Wrong fields: what is let through fails at the page, and changes nothing.
                true => {
                    browser
                        .post(&path, &[("password", "wrong wrong wrong")])
                        .await
                }
                false => browser.get(&path).await,
            };
            let found = refusal(route.is_form, answer.status);
            let text = answer.text();
            let is_by_role = text.contains("this is not for the role");
            assert_eq!(!route.who.has(role), is_by_role, "{role} {path} {text}");
            if !route.who.has(role) {
                assert_eq!(found, Some("not allowed"), "{role} {path}");
                assert!(!text.contains("<table"), "{role} {path}");
            }
        }
    }
    // Refusals are written down.
    let lines = hedgerow_console::Record::in_folder(&world.path("north"))
        .all()
        .unwrap();
    let denied = lines.iter().filter(|line| line.what == "denied").count();
    let refused = ROUTES.iter().map(|route| {
        Role::ALL
            .iter()
            .filter(|role| !route.who.has(**role))
            .count()
    });
    assert_eq!(denied, refused.sum::<usize>());
}

#[tokio::test]
async fn nobody_gets_anything_without_signing_in() {
    let world = World::bare();
    let console = world.console("north");
    let mut browser = Browser::new(&console);
    for cookie in [None, Some("hedgerow-7480=0123"), Some("hedgerow-7480=")] {
        browser.cookie = cookie.map(str::to_owned);
        for route in ROUTES.iter().filter(|route| route.who != Who::Anybody) {
            let path = address(route);
            let answer = match route.is_form {
                true => browser.post(&path, &[]).await,
                false => browser.get(&path).await,
            };
            assert!(
                refusal(route.is_form, answer.status).is_some(),
                "{path} {}",
                answer.status
            );
            assert!(!answer.text().contains("north"), "{path}");
        }
        for path in [
            "/nothing",
            "/runs/1/nothing",
            "/console.toml",
            "/assets/../console.toml",
        ] {
            let answer = browser.get(path).await;
            assert!(
                matches!(answer.status, 303 | 404),
                "{path} {}",
                answer.status
            );
            assert!(!answer.text().contains("argon2"), "{path}");
        }
    }
}

#[tokio::test]
async fn other_methods_do_nothing() {
    let world = World::bare();
    let console = world.console("north");
    let mut browser = browser_of(&console, Role::Officer).await;
    for route in ROUTES {
        for method in [
            "PUT", "DELETE", "PATCH", "TRACE", "OPTIONS", "CONNECT", "POKE",
        ] {
            let answer = browser.ask(method, &address(route)).await;
            assert!(
                answer.status >= 400,
                "{method} {} {}",
                route.path,
                answer.status
            );
        }
    }
}

/// A steward does not sign and does not decide, an auditor changes nothing, an analyst sees what was released.
#[test]
fn the_table_says_what_roles_are_said_to_be() {
    let of = |role: Role, is_form: bool| -> Vec<&str> {
        let own = ROUTES.iter().filter(|route| route.is_form == is_form);
        let own = own.filter(|route| route.who != Who::Anybody && route.who.has(role));
        own.map(|route| route.path).collect()
    };
    assert_eq!(of(Role::Auditor, true), ["/sign-out"]);
    let asking = ["/sign-out", "/query", "/query/keep", "/query/remove"];
    assert_eq!(of(Role::Analyst, true), asking);
    let seen = of(Role::Analyst, false);
    assert!(
        seen.iter().all(|path| path.starts_with("/releases")
            || path.starts_with("/query")
            || *path == "/events"),
        "{seen:?}"
    );
    let steward = of(Role::Steward, true);
    for word in [
        "approve",
        "refuse",
        "/study/sign",
        "/study/decline",
        "users",
    ] {
        assert!(
            !steward.iter().any(|path| path.contains(word)),
            "{word} {steward:?}"
        );
    }
    // Who signs does not set up.
    let officer = of(Role::Officer, true);
    assert!(!officer.iter().any(|path| path.starts_with("/draft")));
    for path in ["/study/sign", "/study/decline"] {
        assert!(officer.contains(&path), "{path}");
    }
    // Whoever reads, reads all.
    let pages = ROUTES.iter().filter(|route| !route.is_form);
    assert!(pages.clone().all(|route| route.who.has(Role::Auditor)));
}
