//! What may not be asked is refused by name, and the connection goes on.

use super::Served;

#[test]
fn what_may_not_be_asked_is_refused_and_the_connection_goes_on() {
    let served = Served::new(Default::default());
    let client = served.connect();
    let file = served.ward.release.display().to_string();
    let planted = served.folder.path().join("planted.csv");
    let planted = planted.display().to_string();
    let mut wrong = Vec::new();
    for (sql, expected) in [
        ("COPY ward TO STDOUT", "0A000"),
        ("COPY ward FROM STDIN", "0A000"),
        (&format!("COPY ward TO '{planted}'"), "0A000"),
        (
            &format!("COPY (SELECT * FROM ward) TO '{planted}'"),
            "0A000",
        ),
        ("COPY ward TO PROGRAM 'id'", "0A000"),
        ("DROP TABLE ward", "25006"),
        ("DELETE FROM ward", "25006"),
        ("UPDATE ward SET age = 1", "25006"),
        ("TRUNCATE ward", "25006"),
        ("INSERT INTO ward VALUES (1)", "25006"),
        ("/* SELECT */ INSERT INTO ward SELECT * FROM ward", "25006"),
        (
            "WITH x AS (INSERT INTO ward VALUES (1) RETURNING 1) SELECT * FROM x",
            "0A000",
        ),
        ("SELECT * INTO t FROM ward", "0A000"),
        ("SELECT * INTO t FROM pg_class", "0A000"),
        ("CREATE TABLE t AS SELECT * FROM ward", "25006"),
        ("CREATE FUNCTION f() RETURNS int AS 'x' LANGUAGE c", "25006"),
        (
            &format!("CREATE EXTERNAL TABLE t STORED AS CSV LOCATION '{file}'"),
            "25006",
        ),
        ("ALTER USER anna PASSWORD 'x'", "25006"),
        ("DO $$ BEGIN END $$", "0A000"),
        ("CALL f()", "0A000"),
        ("LISTEN x", "0A000"),
        ("LOCK TABLE ward", "0A000"),
        ("DECLARE c CURSOR FOR SELECT 1", "0A000"),
        ("EXPLAIN ANALYZE DELETE FROM ward", "0A000"),
        ("PREPARE p AS DELETE FROM ward", "25006"),
        ("SET datafusion.execution.batch_size = 1", "0A000"),
        ("SET ROLE postgres", "0A000"),
        ("SET client_encoding = 'LATIN1'", "0A000"),
        ("BEGIN; DROP TABLE ward", "25006"),
        ("ROLLBACK; DROP TABLE ward", "25006"),
        (
            &format!("SELECT * FROM read_csv('{file}/release.csv')"),
            "0A000",
        ),
        (&format!("SELECT * FROM read_parquet('{file}')"), "0A000"),
        (&format!("SELECT * FROM '{file}/release.csv'"), "42P01"),
        ("SELECT * FROM 'https://example.org/x.parquet'", "42P01"),
        ("SELECT * FROM \"/etc/passwd\"", "42P01"),
        ("SELECT pg_read_file('/etc/passwd')", "42000"),
        ("SELECT pg_read_file('/etc/passwd') FROM ward", "42000"),
        ("SELECT lo_import('/etc/passwd')", "42000"),
        ("SELECT pg_sleep(10)", "42000"),
        ("SELECT * FROM generate_series(1, 1000000000)", "0A000"),
        ("SELECT * FROM pg_catalog.pg_authid", "42P01"),
        ("SELECT * FROM pg_shadow", "42P01"),
        ("SELECT * FROM information_schema.df_settings", "42P01"),
        ("SELECT relname, age FROM pg_class, ward", "0A000"),
        ("SELECT patient FROM ward", "0A000"),
        ("SELECT nobody FROM ward", "42703"),
        ("SELECT * FROM other", "42P01"),
        ("SELEC 1", "42601"),
        ("SELECT 'open", "42601"),
    ] {
        let found = served.code(&client, sql);
        if found != expected {
            wrong.push(format!("{sql}: {found}, expected {expected}"));
        }
        served.first(&client, "ROLLBACK").unwrap();
        // Prepared statements are refused in the same way, now or when they are described.
        if served.runtime.block_on(client.prepare(sql)).is_ok() && !sql.contains("PREPARE") {
            wrong.push(format!("{sql}: is prepared"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!std::path::Path::new(&planted).exists());
    let left = served.first(&client, "SELECT count(*) FROM ward");
    assert_eq!(left.unwrap(), "120");
}

#[test]
fn refusals_say_what_would_be_answered() {
    let served = Served::new(Default::default());
    let client = served.connect();
    for (sql, message, hint) in [
        (
            "DROP TABLE ward",
            "DROP is not answered",
            "this server only reads",
        ),
        ("SELECT agee FROM ward", "no column `agee`", "`age`"),
    ] {
        let refused = served.first(&client, sql).unwrap_err();
        let refused = refused.as_db_error().unwrap();
        let said = refused.hint().unwrap_or_default();
        assert!(refused.message().contains(message), "{refused:?}");
        assert!(said.contains(hint), "{refused:?}");
    }
}
