//! A release asked in SQL from the pages: who may, what is kept, and what is said where `hedgerow-sql` is not there.

use hedgerow::node::program::find_sql;
use hedgerow::{Options, Study, Table};
use hedgerow_console::Role;

use crate::world::{PLANTED, USERS, World, browser_of};

fn released(world: &World) {
    let study = Study::open(world.path("study.toml")).unwrap();
    let table = Table::file(world.path("north/rows.csv"));
    std::fs::create_dir_all(world.path("north/data")).unwrap();
    let options = Options::new().out(world.path("north/data/release-1"));
    hedgerow::anonymize(&study, &table, &options).unwrap();
}

#[tokio::test]
async fn a_release_is_asked_or_the_page_says_what_is_missing() {
    let world = World::signed();
    let console = world.console("north");
    let mut analyst = browser_of(&console, Role::Analyst).await;
    let page = analyst.get("/query").await.text();
    assert!(page.contains("No release yet"), "{page}");
    released(&world);
    let page = analyst.get("/query").await.text();
    assert!(
        page.contains("age_low") && !page.contains("person"),
        "{page}"
    );
    let sql = "SELECT disease, count(*) FROM ward GROUP BY disease";
    let fields = [("release", "1"), ("sql", sql), ("answer", "bounds")];
    let answer = analyst.post("/query", &fields).await;
    match find_sql() {
        None => {
            assert!(
                page.contains("hedgerow-sql is not there") && !page.contains("id=\"sql\""),
                "{page}"
            );
            assert_eq!(answer.status, 400);
            assert!(answer.text().contains("hedgerow-sql is not there"));
        }
        Some(_) => {
            assert_eq!(answer.status, 200);
            assert!(answer.text().contains("count_low"), "{}", answer.text());
        }
    }
    assert!(!answer.text().contains(PLANTED));
    for (fields, why) in [
        (
            vec![("release", "7"), ("sql", sql), ("answer", "bounds")],
            "no release",
        ),
        (
            vec![("release", "x"), ("sql", sql), ("answer", "bounds")],
            "which release",
        ),
        (
            vec![("release", "1"), ("sql", " "), ("answer", "bounds")],
            "nothing is asked",
        ),
        (
            vec![("release", "1"), ("sql", sql), ("answer", "king")],
            "what totals answer",
        ),
    ] {
        let answer = analyst.post("/query", &fields).await;
        assert!(
            answer.status >= 400 && answer.text().contains(why),
            "{why} {}",
            answer.text()
        );
    }
    let long = "x".repeat(17 << 10);
    let fields = [("release", "1"), ("sql", &*long), ("answer", "bounds")];
    assert_eq!(analyst.post("/query", &fields).await.status, 400);
    let mut auditor = browser_of(&console, Role::Auditor).await;
    let page = auditor.get("/query").await.text();
    assert!(
        page.contains("This role reads") && !page.contains("action=\"/query"),
        "{page}"
    );
    let fields = [("release", "1"), ("sql", sql), ("answer", "bounds")];
    assert_eq!(auditor.post("/query", &fields).await.status, 403);
}

#[tokio::test]
async fn each_user_keeps_questions_of_their_own() {
    let world = World::signed();
    released(&world);
    let console = world.console("north");
    for (name, role) in USERS.into_iter().filter(|(_, role)| *role != Role::Auditor) {
        let mut browser = browser_of(&console, role).await;
        let sql = format!("SELECT '{name}<script>' AS who");
        browser.get("/query").await;
        let fields = [
            ("release", "1"),
            ("sql", &*sql),
            ("answer", "certain"),
            ("name", "of <b>mine"),
        ];
        assert_eq!(
            browser.post("/query/keep", &fields).await.status,
            303,
            "{role}"
        );
        let page = browser.get("/query").await.text();
        assert!(page.contains(&format!("{name}&lt;script&gt;")), "{page}");
        assert!(
            page.contains("of &lt;b&gt;mine")
                && !page.contains("<b>mine")
                && !page.contains("<script>")
        );
        for (other, _) in USERS.iter().filter(|(other, _)| *other != name) {
            assert!(
                !page.contains(&format!("SELECT '{other}")),
                "{role} {other}"
            );
        }
    }
    let mut analyst = browser_of(&console, Role::Analyst).await;
    analyst.get("/query?kept=0").await;
    for name in [String::new(), "x".repeat(101), String::from("a\nb")] {
        let fields = [("sql", "SELECT 1"), ("answer", "bounds"), ("name", &*name)];
        assert_eq!(
            analyst.post("/query/keep", &fields).await.status,
            400,
            "{name}"
        );
    }
    assert_eq!(
        analyst
            .post("/query/remove", &[("name", "of <b>mine")])
            .await
            .status,
        303
    );
    assert!(analyst.get("/query").await.text().contains("None yet"));
    let kept = std::fs::read_to_string(world.path("north/console.questions.json")).unwrap();
    assert!(!kept.contains("anna") && kept.contains("otto"), "{kept}");
}
