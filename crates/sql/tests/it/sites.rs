//! The table that sites hold together, asked in SQL through a site's node: every statement has the answer that
//! the release of the same study gives, and refusals name who refuses.

use std::sync::Arc;

use hedgerow::{Options, Sites, Study, Table, simulate};
use hedgerow_node::sql::{SqlSettings, SqlUser};
use hedgerow_sql::{Limits, Mode, ReleaseSource, Server, Session, SiteSource, Source};
use tokio_postgres::SimpleQueryMessage;

use crate::serve::{PASSWORD, VERIFIER};
use crate::world::{BOTH, OPEN, SITES, World};

const STATEMENTS: [&str; 12] = [
    "SELECT count(*) FROM ward",
    "SELECT * FROM ward ORDER BY 1, 2, 3, 4, 5, 6",
    "SELECT disease, count(*) AS n, avg(days) FROM ward WHERE age < 30 GROUP BY disease ORDER BY disease",
    "SELECT place, sum(days) FROM ward WHERE age BETWEEN 20 AND 61 OR place = 'west' GROUP BY place ORDER BY 1",
    "WITH t AS (SELECT age, count(*) AS n FROM ward WHERE NOT age < 40 GROUP BY age) SELECT max(n) FROM t",
    "SELECT * FROM ward WHERE age > 70 ORDER BY 1, 2, 3, 4, 5, 6",
    "SELECT sum(share(age < 30)), count(*) FROM ward",
    "SELECT count(*) FROM ward WHERE certain(age < 50) AND disease IN ('flu', 'ulcer')",
    "SELECT disease, count(*) FROM ward GROUP BY disease HAVING count(*) > 20 ORDER BY 2 DESC, 1",
    "SELECT disease, days, rank() OVER (ORDER BY days, disease) FROM ward WHERE days > 30 ORDER BY 1, 2, 3",
    "SELECT (SELECT count(*) FROM ward WHERE age < 10) * 1.0 / count(*) FROM ward",
    "SELECT min(age_low), max(age_high) FROM ward WHERE disease = 'flu'",
];

async fn answers(source: &Arc<dyn Source>, mode: Mode, sql: &str) -> Result<String, String> {
    let mut session = Session::new(Arc::clone(source), Limits::default()).unwrap();
    session.set_mode(mode);
    let reply = session.run(sql).await.map_err(|error| error.to_string())?;
    reply.csv().map_err(|error| error.to_string())
}

/// The release of the same study and rows, where the sites themselves publish nothing.
fn published(world: &World, folder: &std::path::Path) -> Arc<dyn Source> {
    let text = std::fs::read_to_string(world.path("study.toml")).unwrap();
    let text = text.replace("release = \"virtual\"", "release = \"published\"");
    let study = Study::parse(text, world.path("")).unwrap();
    let tables = SITES.map(|site| Table::file(world.path(&format!("{site}.csv"))));
    let sites = Sites::Tables(tables.into());
    simulate(&study, &sites, &Options::new().out(folder)).unwrap();
    ReleaseSource::open(folder).unwrap()
}

#[test]
fn a_virtual_database_answers_sql_as_the_release_would() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::of("hardened", "virtual", BOTH, [OPEN; 3]);
    let release = published(&world, &folder.path().join("release"));
    world.ask(async || {
        for (number, sql) in STATEMENTS.iter().enumerate() {
            let file = world.path(&format!("{}.toml", SITES[number % 3]));
            let site = SiteSource::open(file, None).unwrap();
            for mode in [Mode::Estimate, Mode::Bounds] {
                let expected = answers(&release, mode, sql).await;
                let found = answers(&site, mode, sql).await;
                assert_eq!(found, expected, "{mode:?} {sql}");
                assert!(mode != Mode::Estimate || found.is_ok(), "{sql}: {found:?}");
            }
        }
    });
    // A statement that totals answer moves no rows.
    let log = world.log("south");
    let totals = log.iter().filter(|line| line["totals"].is_u64()).count();
    assert!(totals > 10, "{log:?}");
}

/// The table that no folder has, asked by a client of PostgreSQL's.
#[test]
fn a_virtual_database_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::of("hardened", "virtual", BOTH, [OPEN; 3]);
    let release = published(&world, &folder.path().join("release"));
    world.ask(async || {
        let settings = SqlSettings {
            listen: "127.0.0.1:0".into(),
            tls: None,
            is_plaintext_on_loopback: true,
            users: vec![SqlUser {
                name: "anna".into(),
                verifier: VERIFIER.into(),
            }],
        };
        let source = SiteSource::open(world.path("east.toml"), None).unwrap();
        let server = Server::bind(&settings, source, Limits::default(), None);
        let server = server.await.unwrap();
        let port = server.address().port();
        let serving = tokio::spawn(server.run());
        let mut config = tokio_postgres::Config::new();
        config
            .host("127.0.0.1")
            .port(port)
            .user("anna")
            .password(PASSWORD);
        let (client, connection) = config
            .dbname("ward")
            .connect(tokio_postgres::NoTls)
            .await
            .unwrap();
        let connection = tokio::spawn(connection);
        for sql in [STATEMENTS[0], STATEMENTS[2], STATEMENTS[8]] {
            let expected = answers(&release, Mode::Estimate, sql).await.unwrap();
            let rows = client.simple_query(sql).await.unwrap();
            let found: Vec<Vec<Option<String>>> = rows
                .iter()
                .filter_map(|message| match message {
                    SimpleQueryMessage::Row(row) => {
                        let cell = |at| row.get(at).map(str::to_owned);
                        Some((0..row.len()).map(cell).collect())
                    }
                    _ => None,
                })
                .collect();
            let expected: Vec<&str> = expected.lines().skip(1).collect();
            assert_eq!(found.len(), expected.len(), "{sql}");
            for (found, expected) in found.iter().zip(&expected) {
                for (found, expected) in found.iter().zip(expected.split(',')) {
                    let number = |text: &str| text.parse::<f64>().ok();
                    let found = found.as_deref().unwrap_or_default();
                    match (number(found), number(expected)) {
                        (Some(found), Some(expected)) => assert_eq!(found, expected, "{sql}"),
                        _ => assert_eq!(found, expected, "{sql}"),
                    }
                }
            }
        }
        let error = client.simple_query("SELECT min(age) FROM ward").await;
        let error = error.unwrap_err();
        assert!(
            error.as_db_error().unwrap().message().contains("age"),
            "{error:?}"
        );
        serving.abort();
        connection.abort();
    });
}

#[test]
fn a_site_that_refuses_or_is_away_is_named() {
    let closed = "[accept.query]\nfrom = [\"north\", \"south\", \"east\"]\nanswers = [\"totals\"]\ncolumns = [\"age\", \"disease\"]";
    let world = World::of("hardened", "virtual", BOTH, [OPEN, OPEN, closed]);
    world.ask(async || {
        let site = SiteSource::open(world.path("north.toml"), Some(1)).unwrap();
        let sql = "SELECT count(*) FROM ward WHERE age < 30 AND disease = 'flu'";
        answers(&site, Mode::Estimate, sql).await.unwrap();
        for (sql, word) in [
            ("SELECT * FROM ward", "such answers"),
            ("SELECT sum(days) FROM ward", "days"),
        ] {
            let error = answers(&site, Mode::Estimate, sql).await.unwrap_err();
            assert!(error.contains("`east`") && error.contains(word), "{error}");
        }
        // What has no sound answer is refused before anybody is asked.
        let before = world.log("east").len();
        let error = answers(&site, Mode::Estimate, "SELECT min(age) FROM ward").await;
        assert!(error.unwrap_err().contains("age_low"));
        assert_eq!(world.log("east").len(), before);
    });
    // The nodes have ended.
    let site = SiteSource::open(world.path("north.toml"), None).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let error = runtime.block_on(answers(&site, Mode::Estimate, STATEMENTS[0]));
    let error = error.unwrap_err();
    assert!(error.contains("hedgerow node"), "{error}");
    let error = SiteSource::open(world.path("none.toml"), None).unwrap_err();
    assert!(error.to_string().contains("none.toml"), "{error}");
}
