//! What peers, files and people write is text on a page, whatever it looks like.

use hedgerow_console::{Record, Role};

use crate::browser::Browser;
use crate::world::{World, browser_of};

const MARKUP: &str = "<img src=x onerror=alert(1)>\"'&";

/// Sees that a page shows words, and no markup made of them.
fn assert_plain(path: &str, text: &str) {
    assert!(
        !text.contains("<img") && !text.contains("onerror=alert(1)>"),
        "{path} {text}"
    );
    assert!(!text.contains("<script>"), "{path}");
}

#[tokio::test]
async fn names_of_studies_and_files_are_no_markup() {
    let world = World::named(MARKUP, "age", |_| String::from("flu"));
    let console = world.console("north");
    let mut browser = browser_of(&console, Role::Officer).await;
    for path in [
        "/",
        "/set-up",
        "/draft",
        "/study",
        "/runs",
        "/releases",
        "/query",
        "/ledger",
        "/audit",
        "/users",
    ] {
        let answer = browser.get(path).await;
        assert_eq!(answer.status, 200, "{path} {}", answer.text());
        assert_plain(path, &answer.text());
    }
    let overview = browser.get("/").await.text();
    assert!(
        overview.contains("&lt;img src=x onerror=alert(1)&gt;&quot;"),
        "{overview}"
    );
}

#[tokio::test]
async fn what_strangers_type_is_no_markup_on_the_page_of_what_was_done() {
    let world = World::bare();
    let console = world.console("north");
    let mut stranger = Browser::new(&console);
    let names = [
        MARKUP,
        "<script>alert(1)</script>",
        "=HYPERLINK(\"http://evil.example\")",
        "eve\n{\"who\":\"otto\"}",
    ];
    for name in names {
        let answer = stranger
            .post("/sign-in", &[("name", name), ("password", "x")])
            .await;
        assert_eq!(answer.status, 403);
        assert_plain("/sign-in", &answer.text());
        stranger
            .get(&format!("/sign-in?to=/%22%3E{}", "%3Cscript%3E"))
            .await;
    }
    let mut officer = browser_of(&console, Role::Officer).await;
    let page = officer.get("/audit").await.text();
    assert_plain("/audit", &page);
    // Nothing of what is nobody's name is kept.
    assert!(page.contains("somebody unknown") && !page.contains("script&gt;alert"));
    let mut entry = hedgerow_console::Entry::now(MARKUP, "::1", "tested");
    entry.about = String::from("=HYPERLINK(\"http://evil.example\")");
    Record::in_folder(&world.path("north")).add(&entry).unwrap();
    let page = officer.get("/audit").await.text();
    assert_plain("/audit", &page);
    assert!(page.contains("&lt;img src=x"));
    // A spreadsheet runs nothing of it.
    let sheet = officer.get("/audit/console.csv").await.text();
    assert!(sheet.contains("'=HYPERLINK"), "{sheet}");
    assert!(!sheet.lines().any(|line| {
        line.split(',')
            .any(|cell| cell.trim_matches('"').starts_with('='))
    }));
    // A line is a line, and nobody's line is somebody else's.
    let lines = Record::in_folder(&world.path("north")).all().unwrap();
    let of_otto = lines.iter().filter(|line| line.who == "otto");
    let of_otto: Vec<&str> = of_otto.map(|line| &*line.what).collect();
    assert_eq!(of_otto, ["sign in", "download"]);
    let answer = stranger
        .get("/nothing/%3Cscript%3Ealert(1)%3C%2Fscript%3E")
        .await;
    assert_plain("/nothing", &answer.text());
}

#[tokio::test]
async fn a_manifest_that_somebody_wrote_is_no_markup_and_leads_nowhere() {
    let world = World::signed();
    let console = world.console("north");
    let study = hedgerow::Study::open(world.path("study.toml")).unwrap();
    let table = hedgerow::Table::file(world.path("north/rows.csv"));
    let folder = world.path("north/data/release-1");
    std::fs::create_dir_all(world.path("north/data")).unwrap();
    let options = hedgerow::Options::new().out(&folder);
    hedgerow::anonymize(&study, &table, &options).unwrap();
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let wrong = manifest
        .replace("\"report.html\"", "\"../../site.key\"")
        .replace("\"hardened\"", "\"<img src=x onerror=alert(1)>\"");
    assert_ne!(wrong, manifest);
    std::fs::write(folder.join("manifest.json"), wrong).unwrap();
    let csv = std::fs::read_to_string(folder.join("release.csv")).unwrap();
    std::fs::write(
        folder.join("release.csv"),
        csv.replacen("flu", "<img src=x onerror=alert(1)>", 1),
    )
    .unwrap();
    let mut browser = browser_of(&console, Role::Officer).await;
    let page = browser.get("/releases/1").await;
    assert_eq!(page.status, 200, "{}", page.text());
    assert_plain("/releases/1", &page.text());
    assert!(!page.text().contains("site.key"));
    for path in ["/releases/1/files/..%2F..%2Fsite.key", "/releases/1/report"] {
        let answer = browser.get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(!answer.text().contains("hedgerow-secret"));
    }
}
