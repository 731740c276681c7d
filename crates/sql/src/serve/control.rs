//! Statements that drivers send beside questions: transactions, which are nothing where nothing is written, and a
//! few settings that change no answer.

use std::collections::HashMap;

/// What PostgreSQL's tools are told that they speak with.
pub(super) const VERSION: &str = "16.0";
/// Words of a transaction's kind.
const KINDS: [&str; 13] = [
    "TRANSACTION",
    "WORK",
    "ISOLATION",
    "LEVEL",
    "READ",
    "ONLY",
    "WRITE",
    "COMMITTED",
    "UNCOMMITTED",
    "REPEATABLE",
    "SERIALIZABLE",
    "NOT",
    "DEFERRABLE",
];

/// A statement that asks nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Control {
    /// A transaction begins.
    Begin,
    /// A transaction ends, with this word for it.
    End(&'static str),
    /// A setting has a new value.
    Set(String, String),
    /// A setting is shown, under this name.
    Show(String),
    /// Nothing is done, with this word for it.
    Nothing(&'static str),
}

impl Control {
    /// Reads a statement, if it is one of these.
    pub(super) fn read(sql: &str) -> Option<Self> {
        let text = sql.trim().trim_end_matches(';').trim_end();
        if text.len() > 256 || text.contains(';') {
            return None;
        }
        let spaced = text.replace('=', " = ").replace(',', " , ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let upper: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
        let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
        let is_kind = |rest: &[&str]| rest.iter().all(|word| KINDS.contains(word) || *word == ",");
        match upper.as_slice() {
            ["BEGIN", rest @ ..] | ["START", "TRANSACTION", rest @ ..] if is_kind(rest) => {
                Some(Self::Begin)
            }
            ["COMMIT" | "END"] | ["COMMIT" | "END", "TRANSACTION" | "WORK"] => {
                Some(Self::End("COMMIT"))
            }
            ["ROLLBACK" | "ABORT"] | ["ROLLBACK" | "ABORT", "TRANSACTION" | "WORK"] => {
                Some(Self::End("ROLLBACK"))
            }
            ["DISCARD", "ALL"] => Some(Self::Nothing("DISCARD ALL")),
            ["SET", "TRANSACTION", rest @ ..]
            | [
                "SET",
                "SESSION",
                "CHARACTERISTICS",
                "AS",
                "TRANSACTION",
                rest @ ..,
            ] if is_kind(rest) => Some(Self::Nothing("SET")),
            ["SET", "SESSION" | "LOCAL", _, "=" | "TO", ..] => set(words[2], &words[4..]),
            ["SET", "SESSION" | "LOCAL", "TIME", "ZONE", ..] => set("TimeZone", &words[4..]),
            ["SET", "TIME", "ZONE", ..] => set("TimeZone", &words[3..]),
            ["SET", "NAMES", ..] => set("client_encoding", &words[2..]),
            ["SET", _, "=" | "TO", ..] => set(words[1], &words[3..]),
            ["SHOW", "TRANSACTION", "ISOLATION", "LEVEL"] => {
                Some(Self::Show(String::from("transaction_isolation")))
            }
            ["SHOW", "TIME", "ZONE"] => Some(Self::Show(String::from("TimeZone"))),
            ["SHOW", _] => {
                let name = known(words[1])?;
                Some(Self::Show(name.to_owned()))
            }
            _ => None,
        }
    }
}

/// `SET` of a setting that drivers set, to a value that is understood.
fn set(name: &str, value: &[&str]) -> Option<Control> {
    let name = known(name)?;
    let value = value.join(" ").replace(" , ", ", ");
    let value = value.trim_matches('\'').to_owned();
    let lower = value.to_ascii_lowercase();
    let is_taken = match name {
        "client_encoding" => matches!(lower.as_str(), "utf8" | "utf-8" | "unicode"),
        "DateStyle" => lower.starts_with("iso"),
        "standard_conforming_strings" => matches!(lower.as_str(), "on" | "true" | "1"),
        "application_name" | "extra_float_digits" | "TimeZone" | "client_min_messages" => true,
        _ => false,
    };
    is_taken.then(|| Control::Set(name.to_owned(), value))
}

/// A setting's name as PostgreSQL spells it.
fn known(name: &str) -> Option<&'static str> {
    let mut names = SETTINGS.iter().map(|(name, _)| *name);
    names.find(|own| own.eq_ignore_ascii_case(name.trim_matches('"')))
}

/// Settings with their values where nothing else is set.
const SETTINGS: [(&str, &str); 14] = [
    ("server_version", VERSION),
    ("server_encoding", "UTF8"),
    ("client_encoding", "UTF8"),
    ("DateStyle", "ISO, YMD"),
    ("TimeZone", "UTC"),
    ("standard_conforming_strings", "on"),
    ("integer_datetimes", "on"),
    ("extra_float_digits", "1"),
    ("application_name", ""),
    ("client_min_messages", "notice"),
    ("search_path", "public"),
    ("transaction_isolation", "repeatable read"),
    ("transaction_read_only", "on"),
    ("default_transaction_read_only", "on"),
];

/// A session's settings.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings(HashMap<String, String>);

impl Settings {
    pub(super) fn set(&mut self, name: String, value: String) {
        self.0.insert(name, value);
    }

    /// The value of a setting.
    pub(super) fn get(&self, name: &str) -> String {
        let usual = || SETTINGS.iter().find(|(own, _)| *own == name);
        let own = self.0.get(name).cloned();
        own.unwrap_or_else(|| usual().map_or(String::new(), |(_, value)| (*value).to_owned()))
    }

    /// What clients are told when they connect.
    pub(super) fn told() -> impl Iterator<Item = (&'static str, &'static str)> {
        let is_told = |name: &str| !name.starts_with("transaction") && !name.starts_with("extra");
        SETTINGS.into_iter().filter(move |(name, _)| is_told(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_drivers_send_is_understood_and_nothing_else() {
        let set = |name: &str, value: &str| Some(Control::Set(name.into(), value.into()));
        for (sql, read) in [
            ("BEGIN", Some(Control::Begin)),
            (
                "begin transaction isolation level repeatable read, read only;",
                Some(Control::Begin),
            ),
            ("START TRANSACTION READ ONLY", Some(Control::Begin)),
            ("COMMIT ;", Some(Control::End("COMMIT"))),
            ("rollback", Some(Control::End("ROLLBACK"))),
            ("SET extra_float_digits = 3", set("extra_float_digits", "3")),
            ("set datestyle to 'ISO'", set("DateStyle", "ISO")),
            (
                "SET client_encoding='utf-8'",
                set("client_encoding", "utf-8"),
            ),
            (
                "SET SESSION TimeZone TO 'Europe/Berlin'",
                set("TimeZone", "Europe/Berlin"),
            ),
            ("SET TIME ZONE 'UTC'", set("TimeZone", "UTC")),
            (
                "SHOW transaction isolation level",
                Some(Control::Show("transaction_isolation".into())),
            ),
            ("show DATESTYLE", Some(Control::Show("DateStyle".into()))),
            ("SET client_encoding = 'LATIN1'", None),
            ("SET DateStyle = 'German'", None),
            ("SET server_version = '1'", None),
            ("SET hedgerow.answer = 'certain'", None),
            ("SET datafusion.execution.batch_size = 1", None),
            ("BEGIN; DROP TABLE ward", None),
            ("BEGIN DROP", None),
            ("SHOW hedgerow.answer", None),
            ("", None),
        ] {
            assert_eq!(Control::read(sql), read, "{sql}");
        }
    }
}
