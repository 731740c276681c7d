//! The study in plain words, and the officer's word: what was read is what is signed, and only by an officer with
//! the password again.

use hedgerow::Study;
use hedgerow::node::agreement::Standing;
use hedgerow_console::Role;

use crate::browser::Browser;
use crate::world::{PLANTED, World, browser_of, password};

/// The page, with the rules held against the study.
async fn read(browser: &mut Browser) -> String {
    browser.settled("/study").await
}

fn hash(world: &World) -> String {
    let study = Study::open(world.path("study.toml")).unwrap();
    study.agreement().unwrap().hash.to_string()
}

fn standing(world: &World) -> Standing {
    let study = Study::open(world.path("study.toml")).unwrap();
    study.agreement().unwrap().standings().unwrap()[0]
}

#[tokio::test]
async fn the_study_is_told_in_plain_words_and_the_officer_signs_what_was_read() {
    let world = World::signed();
    world.unsign();
    let console = world.console("north");
    let mut officer = browser_of(&console, Role::Officer).await;
    let page = read(&mut officer).await;
    let study = Study::open(world.path("study.toml")).unwrap();
    let shown = study.shown().unwrap();
    for said in shown.demands.iter().chain(&shown.published) {
        let said = said
            .replace('&', "&amp;")
            .replace('"', "&quot;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        assert!(page.contains(&said), "{said} {page}");
    }
    for what in study.discloses().unwrap() {
        assert!(page.contains(what.name()), "{}", what.name());
    }
    assert!(
        page.contains("accepted") && page.contains("60 records"),
        "{page}"
    );
    assert!(page.contains("hedgerow study sign --site"));
    let (hash, word) = (hash(&world), password(Role::Officer));
    // Without the password, or of another version, nothing is signed.
    for (fields, status) in [
        (
            vec![("hash", &*hash), ("password", "wrong wrong wrong")],
            403,
        ),
        (vec![("hash", ""), ("password", &*word)], 400),
        (vec![("password", &*word)], 400),
    ] {
        assert_eq!(officer.post("/study/sign", &fields).await.status, status);
        assert_eq!(standing(&world), Standing::Missing);
    }
    let other = "0".repeat(64);
    let fields = [("hash", &*other), ("password", &*word)];
    assert_eq!(officer.post("/study/sign", &fields).await.status, 303);
    assert!(
        read(&mut officer)
            .await
            .contains("has changed since it was read")
    );
    assert_eq!(standing(&world), Standing::Missing);
    let fields = [
        ("hash", &*hash),
        ("password", &*word),
        ("comment", "as <b>agreed</b>"),
    ];
    assert_eq!(officer.post("/study/sign", &fields).await.status, 303);
    let page = read(&mut officer).await;
    assert!(page.contains("the study is signed for this site"), "{page}");
    assert!(page.contains("as &lt;b&gt;agreed&lt;/b&gt;") && !page.contains("<b>agreed"));
    assert!(!page.contains("Sign for north"));
    assert_eq!(standing(&world), Standing::Signed);
    let lines = world.lines("north");
    let signed: Vec<_> = lines
        .iter()
        .filter(|(what, ..)| what == "study signed")
        .collect();
    assert_eq!(signed.len(), 2);
    assert!(
        signed[0].2.contains("has changed") && signed[1].2 == "done",
        "{signed:?}"
    );
    assert!(signed[1].1.contains(&hash[..12]), "{signed:?}");
    // No page has a row in it, nor the key.
    for role in [Role::Steward, Role::Officer, Role::Auditor] {
        let mut browser = browser_of(&console, role).await;
        let page = read(&mut browser).await;
        assert!(!page.contains(PLANTED) && !page.contains("hedgerow-secret"));
    }
}

#[tokio::test]
async fn a_steward_sees_the_study_and_cannot_sign() {
    let world = World::signed();
    world.unsign();
    let console = world.console("north");
    for role in [Role::Steward, Role::Auditor, Role::Analyst] {
        let mut browser = browser_of(&console, role).await;
        browser.get("/releases").await;
        let (hash, word) = (hash(&world), password(role));
        let fields = [("hash", &*hash), ("password", &*word), ("comment", "yes")];
        for path in ["/study/sign", "/study/decline"] {
            assert_eq!(
                browser.post(path, &fields).await.status,
                403,
                "{role} {path}"
            );
        }
        if role != Role::Analyst {
            let page = read(&mut browser).await;
            assert!(!page.contains("action=\"/study/sign\""), "{role}");
            assert!(page.contains("the steward cannot"));
        }
    }
    assert_eq!(standing(&world), Standing::Missing);
}

#[tokio::test]
async fn what_the_rules_refuse_is_told_and_not_signed() {
    let world = World::signed();
    world.unsign();
    let text = std::fs::read_to_string(world.file("north")).unwrap();
    std::fs::write(
        world.file("north"),
        text.replace("minimum_k = 3", "minimum_k = 30"),
    )
    .unwrap();
    // A row whose value no study has: the page says where, and not what.
    let rows = std::fs::read_to_string(world.path("north/rows.csv")).unwrap();
    let rows = rows.replacen("\"flu\"", &format!("\"{PLANTED} fever\""), 1);
    std::fs::write(world.path("north/rows.csv"), rows).unwrap();
    let console = world.console("north");
    let mut officer = browser_of(&console, Role::Officer).await;
    let page = read(&mut officer).await;
    assert!(
        page.contains("accept.minimum_k") && page.contains("minimum_k = 3"),
        "{page}"
    );
    assert!(
        page.contains("column `disease`: a value is outside"),
        "{page}"
    );
    assert!(!page.contains(PLANTED), "{page}");
    let (hash, word) = (hash(&world), password(Role::Officer));
    let fields = [("hash", &*hash), ("password", &*word)];
    assert_eq!(officer.post("/study/sign", &fields).await.status, 303);
    let page = read(&mut officer).await;
    assert!(page.contains("rules refuse the study in 2 ways"), "{page}");
    assert_eq!(standing(&world), Standing::Missing);
}

#[tokio::test]
async fn declining_needs_a_reason_and_the_next_version_is_held_against_the_declined_one() {
    let world = World::signed();
    world.unsign();
    let console = world.console("north");
    let mut officer = browser_of(&console, Role::Officer).await;
    read(&mut officer).await;
    let (hash, word) = (hash(&world), password(Role::Officer));
    let fields = [("hash", &*hash), ("password", &*word)];
    assert_eq!(officer.post("/study/decline", &fields).await.status, 400);
    let fields = [
        ("hash", &*hash),
        ("password", &*word),
        ("comment", "k is too low <script>"),
    ];
    assert_eq!(officer.post("/study/decline", &fields).await.status, 303);
    let page = read(&mut officer).await;
    assert!(page.contains("otto declined this version"), "{page}");
    assert!(page.contains("k is too low &lt;script&gt;") && !page.contains("<script>"));
    assert_eq!(standing(&world), Standing::Missing);
    // The next version.
    let text = std::fs::read_to_string(world.path("study.toml")).unwrap();
    std::fs::write(world.path("study.toml"), text.replace("k = 3", "k = 5")).unwrap();
    let page = read(&mut officer).await;
    assert!(!page.contains("otto declined this version"));
    assert!(
        page.contains("<del>− k = 3") && page.contains("<ins>+ k = 5"),
        "{page}"
    );
    // What was read before is not declined any more either.
    let fields = [("hash", &*hash), ("password", &*word), ("comment", "no")];
    assert_eq!(officer.post("/study/decline", &fields).await.status, 303);
    assert!(
        read(&mut officer)
            .await
            .contains("has changed since this page was made")
    );
}

#[tokio::test]
async fn passwords_for_a_signature_are_limited() {
    let world = World::signed();
    world.unsign();
    let console = world.console("north");
    let mut officer = browser_of(&console, Role::Officer).await;
    read(&mut officer).await;
    let hash = hash(&world);
    let wrong = [("hash", &*hash), ("password", "wrong wrong wrong")];
    for _ in 0..5 {
        assert_eq!(officer.post("/study/sign", &wrong).await.status, 403);
    }
    let word = password(Role::Officer);
    let right = [("hash", &*hash), ("password", &*word)];
    assert_eq!(officer.post("/study/sign", &right).await.status, 429);
    assert_eq!(standing(&world), Standing::Missing);
}

#[tokio::test]
async fn what_is_signed_cannot_be_declined() {
    let world = World::signed();
    let console = world.console("north");
    let mut officer = browser_of(&console, Role::Officer).await;
    read(&mut officer).await;
    let (hash, word) = (hash(&world), password(Role::Officer));
    let fields = [("hash", &*hash), ("password", &*word), ("comment", "no")];
    assert_eq!(officer.post("/study/decline", &fields).await.status, 303);
    let page = read(&mut officer).await;
    assert!(page.contains("what is signed cannot be declined"), "{page}");
    assert!(!page.contains("nothing is signed") && !page.contains("declined this version"));
    assert_eq!(standing(&world), Standing::Signed);
    assert!(!world.path("north/console.studies").exists());
}
