//! The catalog that tools look at: the table is found, and nothing else is there.

use super::{PASSWORD, Served};

#[test]
fn tools_find_the_table_and_its_columns() {
    let served = Served::new(Default::default());
    let client = served.connect();
    let columns = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position";
    let rows = served
        .runtime
        .block_on(client.query(columns, &[&"ward"]))
        .unwrap();
    let found: Vec<(&str, &str)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert!(found.contains(&("age", "text")), "{found:?}");
    assert!(found.contains(&("age_low", "bigint")), "{found:?}");
    assert!(found.contains(&("seen_low", "date")), "{found:?}");
    for (sql, answer) in [
        (
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
            "ward",
        ),
        ("SELECT count(*) FROM information_schema.tables", "1"),
        ("SELECT count(*) FROM pg_index", "0"),
        ("SELECT datname FROM pg_database", "ward"),
        ("SELECT rolname FROM pg_roles", "hedgerow"),
        ("SELECT 'ward'::regclass::oid", "16384"),
        ("SELECT c.oid::regclass::text FROM pg_class c", "ward"),
        (
            "SELECT pg_catalog.format_type(atttypid, atttypmod) FROM pg_attribute WHERE attname = 'age_low'",
            "bigint",
        ),
        // As SQLAlchemy, JDBC and others ask.
        (
            "SELECT relname FROM pg_class WHERE relkind = ANY (ARRAY['r', 'v']) AND pg_catalog.pg_table_is_visible(oid)",
            "ward",
        ),
        (
            "SELECT nspname FROM pg_namespace WHERE nspname <> ALL (ARRAY['pg_catalog', 'information_schema'])",
            "public",
        ),
        (
            "SELECT n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname = ANY (current_schemas(false))",
            "public",
        ),
        (
            "SELECT t.typname FROM pg_type t WHERE t.oid = 1043",
            "varchar",
        ),
        ("select version() like 'PostgreSQL 16%'", "t"),
        (
            "SELECT (SELECT adbin FROM pg_attrdef d WHERE d.adrelid = c.oid) IS NULL FROM pg_class c",
            "t",
        ),
        (
            "SELECT NOT EXISTS (SELECT 1 FROM pg_inherits i WHERE i.inhrelid = c.oid) FROM pg_class c",
            "t",
        ),
    ] {
        let found = served.first(&client, sql);
        let found = found.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        assert_eq!(found, answer, "{sql}");
    }
}

#[test]
fn nobody_sees_the_names_of_others() {
    let served = Served::new(Default::default());
    let client = served
        .try_connect(&served.config("bert", PASSWORD))
        .unwrap();
    for sql in [
        "SELECT rolname FROM pg_roles WHERE rolname IN ('anna', 'bert')",
        "SELECT current_user FROM pg_roles WHERE rolname = 'anna'",
    ] {
        assert_eq!(served.first(&client, sql).unwrap(), "", "{sql}");
    }
    assert_eq!(
        served.first(&client, "SELECT current_user").unwrap(),
        "bert"
    );
}
