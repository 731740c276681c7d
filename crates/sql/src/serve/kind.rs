//! Of which kind a statement is: a question to the study's table, a look at the catalog, something that drivers
//! send, or something that is refused by name.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{ObjectName, Statement as Sql, visit_relations};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, Tokenizer};
use pgwire::error::PgWireError;

use super::control::Control;
use super::refusal::{code, error};
use crate::error::SqlError;

/// Statements that write; the table is for reading.
const WRITES: [&str; 20] = [
    "ALTER", "ANALYZE", "CLUSTER", "COMMENT", "CREATE", "DELETE", "DROP", "GRANT", "IMPORT",
    "INSERT", "MERGE", "REASSIGN", "REFRESH", "REINDEX", "REPLACE", "REVOKE", "SECURITY",
    "TRUNCATE", "UPDATE", "VACUUM",
];
/// Statements of PostgreSQL that there is nothing for here.
const NOTHING: [&str; 20] = [
    "ATTACH",
    "CALL",
    "CHECKPOINT",
    "CLOSE",
    "COPY",
    "DECLARE",
    "DETACH",
    "DISCARD",
    "DO",
    "FETCH",
    "INSTALL",
    "LISTEN",
    "LOAD",
    "LOCK",
    "MOVE",
    "NOTIFY",
    "PRAGMA",
    "SAVEPOINT",
    "UNLISTEN",
    "RELEASE",
];
/// What is answered, for who asks for something else.
const ANSWERED: &str = "SELECT, WITH, EXPLAIN, SHOW, PREPARE, EXECUTE and SET hedgerow.answer = 'estimate' | 'certain' | 'possible' | 'bounds' are answered; this server only reads";

/// Of which kind a statement is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Nothing but spaces and comments.
    Empty,
    Control(Control),
    /// A query of the catalog, or of no table.
    Catalog,
    /// A query of the study's table, or what a session answers beside.
    Query,
    /// `PREPARE`: a name, and the statement.
    Prepare(String, String),
    /// `EXECUTE`: a name, and values as text.
    Execute(String, Vec<Option<String>>),
}

impl Kind {
    /// The kind of one statement.
    pub(super) fn read(sql: &str) -> Result<Self, PgWireError> {
        let Ok(words) = words(sql) else {
            // The session says what is wrong.
            return Ok(Self::Query);
        };
        let Some(first) = words.first() else {
            return Ok(Self::Empty);
        };
        if let Some(control) = Control::read(&words) {
            return Ok(Self::Control(control));
        }
        let verb = first.to_ascii_uppercase();
        let named = |code| {
            let message = format!("{verb} is not answered\nhint: {ANSWERED}");
            Err(error(code, &message))
        };
        match verb.as_str() {
            verb if WRITES.contains(&verb) => return named(code::READ_ONLY),
            verb if NOTHING.contains(&verb) => return named(code::NOT_SUPPORTED),
            // Of settings there are those of drivers, and the session's own.
            "SET" | "RESET" | "SHOW" => return Ok(Self::Query),
            _ => {}
        }
        // What is too long or too deep is refused before the parser sees it.
        hedgerow::query::tokens(sql).map_err(SqlError::Refused)?;
        let Ok(statements) = Parser::parse_sql(&PostgreSqlDialect {}, sql) else {
            return Ok(Self::Query);
        };
        match statements.as_slice() {
            [Sql::Query(_)] => of_tables(&statements[0]),
            [
                Sql::Prepare {
                    name, statement, ..
                },
            ] => {
                let name = super::control::folded(&name.to_string());
                Ok(Self::Prepare(name, statement.to_string()))
            }
            [
                Sql::Execute {
                    name: Some(name),
                    parameters,
                    using,
                    ..
                },
            ] if using.is_empty() => {
                let values = parameters.iter().map(super::parameters::written);
                let values = values.collect::<Option<Vec<_>>>().ok_or_else(|| {
                    error(
                        code::NOT_SUPPORTED,
                        "EXECUTE takes constants\nhint: EXECUTE name(30, 'text', NULL)",
                    )
                })?;
                Ok(Self::Execute(
                    super::control::folded(&name.to_string()),
                    values,
                ))
            }
            _ => Ok(Self::Query),
        }
    }
}

/// Whether a query is for the catalog or for the study's table: its tables say so.
fn of_tables(statement: &Sql) -> Result<Kind, PgWireError> {
    let (mut catalog, mut others) = (0, 0);
    let _ = visit_relations(statement, |name| {
        match is_catalog(name) {
            true => catalog += 1,
            false => others += 1,
        }
        ControlFlow::<()>::Continue(())
    });
    Ok(match (catalog, others) {
        (0, 0) => Kind::Catalog,
        (0, _) => Kind::Query,
        // Names of WITH queries are others, too; the catalog knows what it has not.
        _ => Kind::Catalog,
    })
}

/// Whether a table is one of PostgreSQL's own.
pub(super) fn is_catalog(name: &ObjectName) -> bool {
    let parts: Vec<String> = name
        .0
        .iter()
        .filter_map(|part| part.as_ident())
        .map(|part| part.value.to_ascii_lowercase())
        .collect();
    match parts.as_slice() {
        [.., schema, _] => matches!(schema.as_str(), "pg_catalog" | "information_schema"),
        [table] => table.starts_with("pg_"),
        [] => false,
    }
}

/// The words of a statement, without spaces, comments and a last semicolon.
fn words(sql: &str) -> Result<Vec<String>, ()> {
    let tokens = Tokenizer::new(&PostgreSqlDialect {}, sql).tokenize();
    let tokens = tokens.map_err(|_| ())?;
    let meant = tokens
        .iter()
        .filter(|token| !matches!(token, Token::Whitespace(_) | Token::SemiColon));
    Ok(meant.map(ToString::to_string).collect())
}

/// The statements of a text, one after the other.
pub(super) fn statements(sql: &str) -> Vec<&str> {
    let Ok(tokens) = Tokenizer::new(&PostgreSqlDialect {}, sql).tokenize_with_location() else {
        // Whoever reads it says what is wrong.
        return vec![sql];
    };
    let ends = tokens
        .iter()
        .filter(|token| token.token == Token::SemiColon);
    let mut ends = ends.map(|token| token.span.start).peekable();
    let (mut all, mut start) = (Vec::new(), 0);
    // Lines and columns are counted from 1, in characters.
    let mut here = Location::new(1, 1);
    for (place, letter) in sql.char_indices() {
        if ends.next_if_eq(&here).is_some() {
            all.push(&sql[start..place]);
            start = place + 1;
        }
        here = match letter {
            '\n' => Location::new(here.line + 1, 1),
            _ => Location::new(here.line, here.column + 1),
        };
    }
    all.push(&sql[start..]);
    all.retain(|statement| !matches!(words(statement).as_deref(), Ok([])));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_split_at_semicolons_outside_of_text() {
        for (sql, expected) in [
            ("", vec![]),
            (" ; -- nothing\n;", vec![]),
            ("SELECT 1", vec!["SELECT 1"]),
            (
                "SELECT ';é', \"a;b\" /* ; */; SET x = 1\n;SELECT $$;$$",
                vec![
                    "SELECT ';é', \"a;b\" /* ; */",
                    " SET x = 1\n",
                    "SELECT $$;$$",
                ],
            ),
            ("SELECT 'open; SELECT 2", vec!["SELECT 'open; SELECT 2"]),
        ] {
            assert_eq!(statements(sql), expected, "{sql}");
        }
    }

    #[test]
    fn what_drivers_send_is_understood_and_nothing_else() {
        let set = |name, value: &str| Some(Control::Set(name, value.into()));
        for (sql, read) in [
            ("BEGIN", Some(Control::Begin)),
            (
                "begin transaction isolation level repeatable read, read only;",
                Some(Control::Begin),
            ),
            ("/* x */ START TRANSACTION READ ONLY", Some(Control::Begin)),
            ("COMMIT ;", Some(Control::End("COMMIT"))),
            ("rollback -- it", Some(Control::End("ROLLBACK"))),
            ("ROLLBACK TO SAVEPOINT \"s 1\"", Some(Control::BackTo)),
            ("DEALLOCATE ALL", Some(Control::Deallocate(None))),
            (
                "DEALLOCATE \"_pg3_0\"",
                Some(Control::Deallocate(Some("_pg3_0".into()))),
            ),
            ("DISCARD ALL", Some(Control::Discard)),
            ("RESET ALL", Some(Control::Reset(None))),
            ("SET extra_float_digits = 3", set("extra_float_digits", "3")),
            (
                "SET extra_float_digits = -1",
                set("extra_float_digits", "-1"),
            ),
            ("set datestyle to 'ISO'", set("DateStyle", "ISO")),
            ("set datestyle = ISO, MDY", set("DateStyle", "ISO, MDY")),
            (
                "SET client_encoding='utf-8'",
                set("client_encoding", "utf-8"),
            ),
            (
                "SET SESSION TimeZone TO 'Europe/Berlin'",
                set("TimeZone", "Europe/Berlin"),
            ),
            ("SET TIME ZONE 'UTC'", set("TimeZone", "UTC")),
            ("SET search_path = DEFAULT", set("search_path", "public")),
            (
                "SHOW transaction isolation level",
                Some(Control::Show("transaction_isolation")),
            ),
            ("show DATESTYLE", Some(Control::Show("DateStyle"))),
            ("SET client_encoding = 'LATIN1'", None),
            ("SET DateStyle = 'German'", None),
            ("SET server_version = '1'", None),
            ("SET default_transaction_read_only = off", None),
            ("SET hedgerow.answer = 'certain'", None),
            ("SET datafusion.execution.batch_size = 1", None),
            ("SHOW hedgerow.answer", None),
        ] {
            let expected = read.map_or(Kind::Query, Kind::Control);
            assert_eq!(Kind::read(sql).ok(), Some(expected), "{sql}");
        }
        for (sql, kind) in [
            ("", Kind::Empty),
            (" -- x", Kind::Empty),
            ("SELECT 1", Kind::Catalog),
            ("SELECT relname FROM pg_class", Kind::Catalog),
            ("SELECT count(*) AS pg_n FROM ward", Kind::Query),
            ("(SELECT count(*) FROM ward)", Kind::Query),
            ("SELEC 1", Kind::Query),
            (
                "PREPARE \"P\" AS SELECT 1",
                Kind::Prepare("P".into(), "SELECT 1".into()),
            ),
            (
                "EXECUTE p(1, -2, 'x', NULL)",
                Kind::Execute(
                    "p".into(),
                    vec![Some("1".into()), Some("-2".into()), Some("x".into()), None],
                ),
            ),
        ] {
            assert_eq!(Kind::read(sql).ok(), Some(kind), "{sql}");
        }
    }

    #[test]
    fn known_statements_are_refused_by_name() {
        for (sql, expected) in [
            ("COPY ward TO STDOUT", "0A000"),
            ("LISTEN x", "0A000"),
            ("DO $$ BEGIN END $$", "0A000"),
            ("DECLARE c CURSOR FOR SELECT 1", "0A000"),
            ("DROP TABLE ward", "25006"),
            ("CREATE EXTENSION x", "25006"),
            ("VACUUM FULL", "25006"),
            ("GRANT ALL ON ward TO x", "25006"),
            ("  /* hidden */ insert into ward values (1)", "25006"),
        ] {
            match Kind::read(sql) {
                Err(PgWireError::UserError(info)) => assert_eq!(info.code, expected, "{sql}"),
                other => panic!("{sql}: {other:?}"),
            }
        }
    }
}
