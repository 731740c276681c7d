//! What saving a draft writes: the study and its taxonomies, and nothing in the place of another file.

use hedgerow_console::Role;

use crate::browser::Browser;
use crate::world::{World, browser_of};

/// The number that names the study that would be replaced.
async fn print(browser: &mut Browser) -> String {
    let page = browser.settled("/draft").await;
    let (_, rest) = page.split_once("name=\"print\" value=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_draft_replaces_no_file_that_is_not_its_own() {
    let world = World::signed();
    let console = world.console("north");
    let mut steward = browser_of(&console, Role::Steward).await;
    steward.get("/draft").await;
    let begun = steward.post("/draft/begin", &[("of", "study")]).await;
    assert_eq!(begun.status, 303);
    let before = std::fs::read_to_string(world.path("study.toml")).unwrap();
    let values = "values = [\"flu\", \"ulcer\"]";
    assert!(before.contains(values), "{before}");
    // Beside the study: the folders of both sites, and what somebody else has there.
    std::fs::write(world.path("precious.csv"), "precious\n").unwrap();
    let draft = world.path("north/console.draft");
    for name in [
        "precious.csv",
        "north/rows.csv",
        "north/site.key",
        "north/console.toml",
        "north/data/release-1/release.csv",
    ] {
        let rows = std::fs::read(world.path(name)).ok();
        // As a steward types it who changes the text and then the values of the column.
        let file = draft.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "flu;*\nulcer;*\n").unwrap();
        let text = before.replace(values, &format!("taxonomy = \"{name}\""));
        std::fs::write(draft.join("study.toml"), text).unwrap();
        let print = print(&mut steward).await;
        let fields = [("print", &*print), ("sure", "yes")];
        assert_eq!(steward.post("/draft/save", &fields).await.status, 303);
        let page = steward.settled("/draft").await;
        assert!(page.contains("below taxonomies/"), "{name} {page}");
        assert_eq!(std::fs::read(world.path(name)).ok(), rows, "{name}");
        let there = std::fs::read_to_string(world.path("study.toml")).unwrap();
        assert_eq!(there, before, "{name}");
    }
    // Where taxonomies belong, one is saved.
    let tree = [
        ("role", "sensitive"),
        ("kind", "tree"),
        ("values", "*\n  flu\n  ulcer\n"),
        ("act", "keep"),
    ];
    std::fs::write(draft.join("study.toml"), &before).unwrap();
    steward.get("/draft").await;
    assert_eq!(steward.post("/draft/columns/2", &tree).await.status, 303);
    let print = print(&mut steward).await;
    let fields = [("print", &*print), ("sure", "yes")];
    let answer = steward.post("/draft/save", &fields).await;
    assert_eq!(answer.header("location"), "/study");
    assert!(world.path("taxonomies/disease.csv").is_file());
}

/// Values that the site's rows have, in a list, a range and a tree, are seen by who drafts and by nobody else.
#[tokio::test]
async fn what_a_draft_has_of_the_rows_the_steward_alone_sees() {
    let world = World::named("ward", "age", |_| String::from("RareRowValue"));
    let console = world.console("north");
    let mut steward = browser_of(&console, Role::Steward).await;
    steward.get("/draft").await;
    let begun = steward.post("/draft/begin", &[("of", "rows")]).await;
    assert_eq!(begun.status, 303);
    let page = steward.settled("/draft").await;
    assert!(
        page.contains("RareRowValue") && page.contains("the integers 0 to 99"),
        "{page}"
    );
    assert!(
        steward
            .settled("/draft/columns/2")
            .await
            .contains("RareRowValue")
    );
    for role in [Role::Officer, Role::Auditor] {
        let mut browser = browser_of(&console, role).await;
        let page = browser.settled("/draft").await;
        assert!(
            page.contains("disease") && page.contains("60 records"),
            "{page}"
        );
        assert!(page.contains("it fits"), "{page}");
        for path in [
            "/draft",
            "/draft/columns/1",
            "/draft/columns/2",
            "/draft/columns/2?values=1",
        ] {
            let page = browser.settled(path).await;
            assert!(!page.contains("RareRowValue"), "{role} {path} {page}");
            assert!(!page.contains("the integers"), "{role} {path} {page}");
            assert!(
                !page.contains("name=\"text\"") && !page.contains("range = "),
                "{role} {path}"
            );
        }
    }
}
