//! A driver gets the answers of a session.

use hedgerow_sql::Mode;
use tokio_postgres::types::Type;

use super::{PASSWORD, Served};

#[test]
fn a_driver_gets_the_answers_of_a_session() {
    let served = Served::new(Default::default());
    let client = served.connect();
    let count = "SELECT count(*) FROM ward WHERE age < 30";
    let expected = served.ward.ask(Mode::Estimate, count)[0][0]
        .as_f64()
        .unwrap();
    let plain = served.first(&client, count).unwrap();
    let plain: f64 = plain.parse().unwrap();
    assert!((plain - expected).abs() < 1e-9, "{plain} {expected}");

    // Prepared, with the type that the server says, and again with another value.
    let sql = "SELECT count(*) FROM ward WHERE age < $1";
    let statement = served.runtime.block_on(client.prepare(sql)).unwrap();
    assert_eq!(statement.params(), [Type::INT8]);
    let prepared = served
        .runtime
        .block_on(client.query_one(&statement, &[&30_i64]))
        .unwrap();
    assert!((prepared.get::<_, f64>(0) - expected).abs() < 1e-9);
    // All values satisfy this, so that the session would answer with a whole number.
    let all = served
        .runtime
        .block_on(client.query_one(&statement, &[&120_i64]))
        .unwrap();
    assert!(all.get::<_, f64>(0) > expected);
    let disease = &served.ward.diseases[0][0];
    let sql = "SELECT disease, \"Days\", age, age_low, seen_low FROM ward WHERE disease = $1";
    let rows = served
        .runtime
        .block_on(client.query(sql, &[disease]))
        .unwrap();
    let truth = served.ward.raw.iter();
    let truth = truth.filter(|raw| raw.disease == *disease).count();
    assert_eq!(rows.len(), truth);
    for row in &rows {
        assert_eq!(row.get::<_, &str>(0), disease);
        assert!((-5..=40).contains(&row.get::<_, i64>(1)));
    }
}

#[test]
fn the_setting_is_the_clients_own() {
    let served = Served::new(Default::default());
    let client = served.connect();
    let other = served.config("bert", PASSWORD);
    let other = served.try_connect(&other).unwrap();
    let count = "SELECT count(*) FROM ward WHERE age < 30";
    served
        .first(&client, "SET hedgerow.answer = 'certain'")
        .unwrap();
    let shown = |client| served.first(client, "SHOW hedgerow.answer").unwrap();
    assert_eq!(shown(&client), "certain");
    assert_eq!(shown(&other), "estimate");
    let expected = &served.ward.ask(Mode::Certain, count)[0][0];
    assert_eq!(served.first(&client, count).unwrap(), expected.to_string());
    served.first(&client, "RESET ALL").unwrap();
    assert_eq!(shown(&client), "estimate");

    // As an option of the connection, too.
    let mut config = served.config("anna", PASSWORD);
    config.options("-c hedgerow.answer=bounds");
    let client = served.try_connect(&config).unwrap();
    assert_eq!(shown(&client), "bounds");
    let row = served
        .runtime
        .block_on(client.query_one(count, &[]))
        .unwrap();
    let names: Vec<&str> = row.columns().iter().map(|column| column.name()).collect();
    assert_eq!(names, ["count_low", "count", "count_high", "count_error"]);
}

#[test]
fn what_drivers_send_is_answered() {
    let served = Served::new(Default::default());
    let client = served.connect();
    for (sql, answer) in [
        ("BEGIN", ""),
        ("SELECT count(*) FROM ward", "120"),
        ("SAVEPOINT one", ""),
        ("RELEASE SAVEPOINT one", ""),
        ("COMMIT", ""),
        ("SET extra_float_digits = 3", ""),
        ("SHOW extra_float_digits", "3"),
        ("SHOW transaction isolation level", "repeatable read"),
        ("SET client_encoding TO 'UTF8'", ""),
        ("SET search_path = public, pg_catalog", ""),
        ("SET application_name = 'a''b'", ""),
        ("DEALLOCATE ALL", ""),
        ("DISCARD ALL", ""),
        ("SELECT 1", "1"),
        ("SELECT current_user", "anna"),
        ("SELECT current_database()", "ward"),
        ("select current_schema()", "public"),
        (
            "SELECT pg_catalog.current_setting('server_version_num')",
            "160000",
        ),
        (";", ""),
        ("-- nothing", ""),
        // Several at once, as psql -c sends them.
        (
            "SET hedgerow.answer = 'certain'; SHOW hedgerow.answer",
            "certain",
        ),
        (
            "PREPARE p AS SELECT count(*) FROM ward WHERE \"Days\" >= $1",
            "",
        ),
        ("EXECUTE p(-5)", "120"),
        ("DEALLOCATE p", ""),
        (
            "WITH t AS (SELECT sex, n FROM (SELECT 'x' AS sex, count(*) AS n FROM ward) u) SELECT n FROM t",
            "120",
        ),
    ] {
        let found = served.first(&client, sql);
        assert_eq!(
            found.unwrap_or_else(|error| panic!("{sql}: {error:?}")),
            answer,
            "{sql}"
        );
    }
    let plan = served.first(&client, "EXPLAIN SELECT count(*) FROM ward");
    assert_eq!(plan.unwrap(), "logical_plan");
}

#[test]
fn a_transaction_that_failed_answers_nothing_until_it_ends() {
    let served = Served::new(Default::default());
    let client = served.connect();
    served.first(&client, "BEGIN").unwrap();
    assert_eq!(served.code(&client, "SELECT nobody FROM ward"), "42703");
    assert_eq!(served.code(&client, "SELECT 1"), "25P02");
    served.first(&client, "ROLLBACK").unwrap();
    assert_eq!(served.first(&client, "SELECT 1").unwrap(), "1");
}

#[test]
fn what_is_asked_is_written_down() {
    let served = Served::new(Default::default());
    let client = served.connect();
    let sql = "SELECT count(*) FROM ward WHERE disease = $1";
    let disease = &served.ward.diseases[0][0];
    served
        .runtime
        .block_on(client.query_one(sql, &[disease]))
        .unwrap();
    assert_eq!(served.code(&client, "SELECT nobody FROM ward"), "42703");
    let log = served.log();
    let lines: Vec<serde_json::Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(lines.iter().all(|line| line["user"] == "anna"), "{log}");
    assert!(lines.iter().all(|line| line["time"].is_string()), "{log}");
    let events: Vec<&str> = lines
        .iter()
        .map(|line| line["event"].as_str().unwrap())
        .collect();
    let expected = ["connected", "asked", "answered", "asked", "refused"];
    assert_eq!(events, expected, "{log}");
    assert_eq!(lines[1]["statement"], sql);
    assert_eq!(lines[1]["values"][0], disease.as_str());
    assert_eq!(lines[2]["rows"], 1);
    assert_eq!(lines[4]["code"], "42703");
    assert!(!log.contains(PASSWORD));
    let found = std::fs::metadata(served.folder.path().join("sql.log")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions());
    assert_eq!(mode & 0o777, 0o600);
}
