//! A study drafted on the pages: of the site's rows and of a table that is sent, changed, held against the table,
//! and saved as a shell would write it.

use std::os::unix::fs::PermissionsExt as _;

use hedgerow::data::Role as Of;
use hedgerow::{DraftOptions, Study, Table};
use hedgerow_console::Role;

use crate::browser::{Answer, Browser};
use crate::world::{PLANTED, World, browser_of};

const EVIL: &str = "<script>alert(1)</script>";

async fn upload(
    browser: &mut Browser,
    file: &str,
    table: &[u8],
    fields: &[(&str, &str)],
) -> Answer {
    let mut body = Vec::new();
    let csrf = browser.csrf.clone();
    for (name, value) in [("csrf", &*csrf)].iter().chain(fields) {
        let part =
            format!("--xyz\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend(part.into_bytes());
    }
    let head = format!(
        "--xyz\r\nContent-Disposition: form-data; name=\"table\"; filename=\"{file}\"\r\nContent-Type: text/csv\r\n\r\n"
    );
    body.extend(head.into_bytes());
    body.extend(table);
    body.extend(b"\r\n--xyz--\r\n");
    browser
        .post_raw("/draft/upload", "multipart/form-data; boundary=xyz", body)
        .await
}

fn draft(world: &World) -> Study {
    Study::open(world.path("north/console.draft/study.toml")).unwrap()
}

fn role(study: &Study, column: &str) -> Of {
    let attributes = study.declared().schema.attributes().iter();
    let mut attributes = attributes.filter(|one| one.name == column);
    attributes.next().unwrap().role
}

#[tokio::test]
async fn a_draft_of_the_sites_rows_is_the_one_that_a_shell_has() {
    let world = World::signed();
    let console = world.console("north");
    let mut steward = browser_of(&console, Role::Steward).await;
    assert!(steward.settled("/draft").await.contains("Of this site"));
    let fields = [("of", "rows"), ("name", "ward two"), ("k", "4")];
    assert_eq!(steward.post("/draft/begin", &fields).await.status, 303);
    let page = steward.settled("/draft").await;
    assert!(
        page.contains("it fits") && page.contains("60 records"),
        "{page}"
    );
    assert!(!page.contains(PLANTED), "{page}");
    let table = Table::file(world.path("north/rows.csv"));
    let options = DraftOptions {
        k: Some(4),
        ..DraftOptions::default()
    };
    let shell = Study::draft_of(&table, &options, &()).unwrap();
    let drafted = draft(&world);
    let own = Study::parse(shell.text(), ".").unwrap();
    assert_eq!(drafted.declared().schema, own.declared().schema);
    assert_eq!(drafted.name(), "ward two");
    // The sites of the study that is there come along.
    let names: Vec<&str> = drafted
        .declared()
        .sites
        .iter()
        .map(|site| &*site.name)
        .collect();
    assert_eq!(names, ["north", "south"]);
    let mode = |name: &str| world.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("north/console.draft"), 0o700);
    // Roles.
    let columns: Vec<&str> = own
        .declared()
        .schema
        .attributes()
        .iter()
        .map(|one| &*one.name)
        .collect();
    let place = columns.iter().position(|name| *name == "disease").unwrap();
    let field = format!("role-{place}");
    assert_eq!(
        steward
            .post("/draft/roles", &[(&field, "quasi")])
            .await
            .status,
        303
    );
    assert_eq!(role(&draft(&world), "disease"), Of::Quasi);
    assert_eq!(
        steward
            .post("/draft/roles", &[(&field, "king")])
            .await
            .status,
        303
    );
    assert!(
        steward
            .settled("/draft")
            .await
            .contains("`king` is no role")
    );
    assert_eq!(role(&draft(&world), "disease"), Of::Quasi);
    // Others read and change nothing.
    for (who, is_read) in [
        (Role::Officer, true),
        (Role::Auditor, true),
        (Role::Analyst, false),
    ] {
        let mut browser = browser_of(&console, who).await;
        let page = browser.get("/draft").await;
        assert_eq!(page.status == 200, is_read, "{who}");
        assert!(!page.text().contains("action=\"/draft"), "{who}");
        assert!(!page.text().contains("[study]"), "{who}");
        assert!(!page.text().contains(PLANTED));
        browser.get("/releases").await;
        assert_eq!(
            browser
                .post("/draft/roles", &[(&field, "other")])
                .await
                .status,
            403
        );
    }
    assert_eq!(role(&draft(&world), "disease"), Of::Quasi);
}

#[tokio::test]
async fn a_column_is_changed_previewed_and_held_against_the_table() {
    let world = World::signed();
    let console = world.console("north");
    let mut steward = browser_of(&console, Role::Steward).await;
    steward.get("/draft").await;
    assert_eq!(
        steward
            .post("/draft/begin", &[("of", "study")])
            .await
            .status,
        303
    );
    let study = std::fs::read_to_string(world.path("study.toml")).unwrap();
    assert_eq!(draft(&world).declared().document().text(), study);
    // The first column is age, from 0 to 99; the rows have 0 to 98.
    let page = steward.settled("/draft/columns/1").await;
    assert!(
        page.contains("Column age") && page.contains("all covered"),
        "{page}"
    );
    let narrow = |act| {
        vec![
            ("role", "quasi"),
            ("kind", "integer"),
            ("from", "0"),
            ("to", "50"),
            ("act", act),
        ]
    };
    let preview = steward.post("/draft/columns/1", &narrow("preview")).await;
    assert!(
        preview.text().contains("not kept yet"),
        "{}",
        preview.text()
    );
    assert!(
        preview.text().contains("the integers 0 to 50"),
        "{}",
        preview.text()
    );
    assert_eq!(draft(&world).declared().document().text(), study);
    assert_eq!(
        steward
            .post("/draft/columns/1", &narrow("keep"))
            .await
            .status,
        303
    );
    let page = steward.settled("/draft").await;
    assert!(
        page.contains("not covered") && page.contains("outside"),
        "{page}"
    );
    // What is kept differs in one line.
    let text = draft(&world).declared().document().text().to_owned();
    assert_eq!(text, study.replace("range = [0, 99]", "range = [0, 50]"));
    // A taxonomy, typed as text; what is not covered is shown to the steward who asks, and to nobody else.
    let tree = format!("*\n  stomach\n    ulcer\n  {EVIL}\n");
    let fields = [
        ("role", "sensitive"),
        ("kind", "tree"),
        ("values", &*tree),
        ("act", "keep"),
    ];
    assert_eq!(steward.post("/draft/columns/2", &fields).await.status, 303);
    let file =
        std::fs::read_to_string(world.path("north/console.draft/taxonomies/disease.csv")).unwrap();
    assert!(file.contains("ulcer;stomach;*"), "{file}");
    let page = steward.settled("/draft/columns/2").await;
    assert!(
        page.contains("1 value") && page.contains("30 rows"),
        "{page}"
    );
    assert!(
        page.contains("&lt;script&gt;") && !page.contains(EVIL),
        "{page}"
    );
    let covered = |page: &str| !page.contains(">flu<");
    assert!(covered(&page));
    let asked = steward.settled("/draft/columns/2?values=1").await;
    assert!(
        !covered(&asked) && asked.contains("for your eyes") | asked.contains("because you asked"),
        "{asked}"
    );
    for who in [Role::Officer, Role::Auditor] {
        let mut browser = browser_of(&console, who).await;
        let page = browser.settled("/draft/columns/2?values=1").await;
        assert!(covered(&page) && page.contains("30 rows"), "{who} {page}");
    }
    let lines = world.lines("north");
    let looked = lines
        .iter()
        .filter(|(what, ..)| what == "values not covered looked at");
    assert_eq!(looked.count(), 1);
    // What is wrong is told, and what was typed is there again.
    let fields = [
        ("role", "sensitive"),
        ("kind", "tree"),
        ("values", "*\n     five spaces\n"),
        ("act", "keep"),
    ];
    let page = steward.post("/draft/columns/2", &fields).await;
    assert!(
        page.text().contains("has 5 spaces before it") && page.text().contains("     five spaces"),
        "{}",
        page.text()
    );
    assert_eq!(steward.get("/draft/columns/99").await.status, 404);
    assert_eq!(steward.get("/draft/columns/0").await.status, 404);
}

#[tokio::test]
async fn a_table_that_is_sent_is_private_and_gone_when_the_draft_is_saved() {
    let world = World::signed();
    let console = world.console("north");
    let mut steward = browser_of(&console, Role::Steward).await;
    steward.get("/draft").await;
    let rows: String = (0..80)
        .map(|row| {
            format!(
                "{},{},{PLANTED}-{row}\n",
                20 + row % 40,
                ["flu", EVIL][row % 2]
            )
        })
        .collect();
    let table = format!("age,\"{EVIL}\",name\n{rows}");
    for (file, bytes, wrong) in [
        ("table.pdf", "a,b\n1,2\n", "does not end in"),
        ("", "", "no table was sent"),
    ] {
        let answer = upload(&mut steward, file, bytes.as_bytes(), &[]).await;
        assert_eq!(answer.status, 400, "{file}");
        assert!(answer.text().contains(wrong), "{}", answer.text());
    }
    let answer = upload(
        &mut steward,
        "rows.csv",
        table.as_bytes(),
        &[("name", EVIL), ("k", "5")],
    )
    .await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    let sent = world.path("north/console.draft/table.csv");
    assert_eq!(sent.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let mut pages = String::new();
    for path in [
        "/draft",
        "/draft/columns/1",
        "/draft/columns/2",
        "/draft/columns/3",
        "/audit",
    ] {
        pages.push_str(&steward.settled(path).await);
    }
    assert!(!pages.contains(PLANTED) && !pages.contains(EVIL), "{pages}");
    assert!(pages.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(pages.contains("the table that was sent"));
    assert_eq!(draft(&world).name(), EVIL);
    // The study that is there is signed, so it is replaced only by somebody who says so.
    let page = steward.settled("/draft").await;
    assert!(
        page.contains("north, south") && page.contains("signed the study that is there"),
        "{page}"
    );
    let print = page
        .split("name=\"print\" value=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    let before = std::fs::read_to_string(world.path("study.toml")).unwrap();
    let there = || std::fs::read_to_string(world.path("study.toml")).unwrap();
    for fields in [
        vec![("print", &*print)],
        vec![("print", ""), ("sure", "yes")],
        vec![("print", "0000"), ("sure", "yes")],
    ] {
        assert_eq!(steward.post("/draft/save", &fields).await.status, 303);
        assert!(
            steward
                .settled("/draft")
                .await
                .contains("nothing was saved")
        );
        assert_eq!(there(), before);
    }
    let drafted = draft(&world).declared().document().text().to_owned();
    let fields = [
        ("print", &*print),
        ("sure", "yes"),
        ("comment", "a new one"),
    ];
    let answer = steward.post("/draft/save", &fields).await;
    assert_eq!(
        answer.header("location"),
        "/study",
        "{}",
        steward.settled("/draft").await
    );
    assert_eq!(there(), drafted);
    assert!(!world.path("north/console.draft").exists());
    let page = steward.get("/study").await.text();
    assert!(
        page.contains("a new one") && page.contains("replaced") && page.contains("void"),
        "{page}"
    );
    assert!(!page.contains(EVIL) && !page.contains(PLANTED));
    let saved = world
        .lines("north")
        .into_iter()
        .filter(|(what, ..)| what == "study saved");
    let results: Vec<String> = saved.map(|(.., result)| result).collect();
    assert_eq!(results.len(), 4);
    assert_eq!(results[3], "done");
}

#[tokio::test]
async fn a_table_is_sent_within_bounds_and_a_draft_is_thrown_away() {
    let world = World::bare();
    let console = world.console("north");
    let mut steward = browser_of(&console, Role::Steward).await;
    steward.get("/draft").await;
    let long = vec![b'x'; (32 << 20) + (128 << 10)];
    assert_eq!(
        upload(&mut steward, "rows.csv", &long, &[]).await.status,
        413
    );
    assert!(!world.path("north/console.draft").exists());
    let rows: String = (0..40).map(|row| format!("{},a\n", row % 20)).collect();
    let table = format!("age,word\n{rows}");
    assert_eq!(
        upload(&mut steward, "t.csv", table.as_bytes(), &[])
            .await
            .status,
        303
    );
    assert!(world.path("north/console.draft/table.csv").is_file());
    // The study of a bare site is not there yet: nothing is to be replaced.
    let page = steward.settled("/draft").await;
    assert!(page.contains("name=\"print\" value=\"\""), "{page}");
    // A text that is no study is shown again, with what is wrong.
    let answer = steward
        .post("/draft/text", &[("text", "[study]\nname = 7 # mine")])
        .await;
    assert!(
        answer.text().contains("name = 7 # mine") && answer.text().contains("study.toml:2"),
        "{}",
        answer.text()
    );
    steward.get("/draft").await;
    assert_eq!(steward.post("/draft/discard", &[]).await.status, 303);
    assert!(!world.path("north/console.draft").exists());
    // A table of an earlier console is not kept.
    upload(&mut steward, "t.csv", table.as_bytes(), &[]).await;
    assert!(world.path("north/console.draft/table.csv").is_file());
    drop(world.console("north"));
    assert!(!world.path("north/console.draft/table.csv").exists());
    assert!(world.path("north/console.draft/study.toml").exists());
}

#[tokio::test]
async fn choices_are_compared_and_one_is_taken() {
    let world = World::signed();
    let console = world.console("north");
    let mut steward = browser_of(&console, Role::Steward).await;
    steward.get("/draft").await;
    steward
        .post("/draft/begin", &[("of", "rows"), ("k", "3")])
        .await;
    // Between sites a run is another thing; what a table loses is asked of one party.
    let before = draft(&world).algorithm();
    assert_eq!(
        steward.post("/draft/choose", &[("row", "0")]).await.status,
        400
    );
    assert_eq!(steward.post("/draft/compare", &[]).await.status, 303);
    let page = steward.settled("/draft").await;
    assert!(
        page.contains("recommended") && page.contains("Detail lost"),
        "{page}"
    );
    assert!(!page.contains(PLANTED));
    let row = page
        .split("name=\"row\" value=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .to_owned();
    let text = draft(&world).declared().document().text().to_owned();
    assert_eq!(
        steward.post("/draft/choose", &[("row", &row)]).await.status,
        303
    );
    let after = draft(&world).declared().document().text().to_owned();
    assert_ne!(text, after, "{before}");
}
