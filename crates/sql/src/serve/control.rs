//! Statements that drivers send beside questions: transactions, which are nothing where nothing is written, and
//! settings that change no answer.

use std::collections::HashMap;

/// What PostgreSQL's tools are told that they speak with.
pub(super) const VERSION: &str = "16.0";
/// Words of a transaction's kind.
const KINDS: [&str; 14] = [
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
    ",",
];

/// A statement that asks nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Control {
    /// A transaction begins.
    Begin,
    /// A transaction ends, with this word for it.
    End(&'static str),
    /// A transaction goes back to a point, and goes on.
    BackTo,
    /// A setting has a new value.
    Set(&'static str, String),
    /// A setting has its first value again; none for all of them.
    Reset(Option<&'static str>),
    /// A setting is shown, under this name.
    Show(&'static str),
    /// Prepared statements are forgotten: one, or all.
    Deallocate(Option<String>),
    /// All of a session is forgotten.
    Discard,
    /// Nothing is done, with this word for it.
    Nothing(&'static str),
}

impl Control {
    /// Reads a statement from its words, if it is one of these.
    pub(super) fn read(words: &[String]) -> Option<Self> {
        let upper: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
        let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
        let is_kind = |rest: &[&str]| rest.iter().all(|word| KINDS.contains(word));
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
            ["SAVEPOINT", _] => Some(Self::Nothing("SAVEPOINT")),
            ["RELEASE", _] | ["RELEASE", "SAVEPOINT", _] => Some(Self::Nothing("RELEASE")),
            ["ROLLBACK", "TO", _] | ["ROLLBACK", "TO", "SAVEPOINT", _] => Some(Self::BackTo),
            ["DISCARD", "ALL"] => Some(Self::Discard),
            ["DISCARD", "PLANS" | "TEMP" | "TEMPORARY" | "SEQUENCES"] => {
                Some(Self::Nothing("DISCARD"))
            }
            ["DEALLOCATE", "ALL"] | ["DEALLOCATE", "PREPARE", "ALL"] => {
                Some(Self::Deallocate(None))
            }
            ["DEALLOCATE", _] | ["DEALLOCATE", "PREPARE", _] => words
                .last()
                .map(|name| Self::Deallocate(Some(folded(name)))),
            ["RESET", "ALL"] => Some(Self::Reset(None)),
            ["RESET", _] => Some(Self::Reset(Some(known(&words[1])?))),
            ["SET", "TRANSACTION", rest @ ..] if is_kind(rest) => Some(Self::Nothing("SET")),
            [
                "SET",
                "SESSION",
                "CHARACTERISTICS",
                "AS",
                "TRANSACTION",
                rest @ ..,
            ] if is_kind(rest) => Some(Self::Nothing("SET")),
            ["SET", "SESSION" | "LOCAL", _, "=" | "TO", ..] => set(&words[2], &words[4..]),
            ["SET", "SESSION" | "LOCAL", "TIME", "ZONE", ..] => set("TimeZone", &words[4..]),
            ["SET", "TIME", "ZONE", ..] => set("TimeZone", &words[3..]),
            ["SET", "NAMES", ..] => set("client_encoding", &words[2..]),
            ["SET", _, "=" | "TO", ..] => set(&words[1], &words[3..]),
            ["SHOW", "TRANSACTION", "ISOLATION", "LEVEL"] => {
                Some(Self::Show("transaction_isolation"))
            }
            ["SHOW", "TIME", "ZONE"] => Some(Self::Show("TimeZone")),
            ["SHOW", _] => Some(Self::Show(known(&words[1])?)),
            _ => None,
        }
    }
}

/// A name as SQL folds it: small, unless it is in quotes.
pub(super) fn folded(name: &str) -> String {
    match name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'))
    {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => name.to_ascii_lowercase(),
    }
}

/// `SET` of a setting that drivers set, to a value that is understood.
fn set(name: &str, value: &[String]) -> Option<Control> {
    let value: Vec<&str> = value.iter().map(|word| word.trim_matches('\'')).collect();
    setting(
        name,
        &value.join(" ").replace(" , ", ", ").replace("- ", "-"),
    )
}

/// A setting that drivers set, with a value that is understood.
pub(super) fn setting(name: &str, value: &str) -> Option<Control> {
    let name = known(name)?;
    let lower = value.to_ascii_lowercase();
    let is_one = |all: &[&str]| all.contains(&lower.as_str());
    let is_taken = lower == "default"
        || match name {
            // SQL_ASCII means that nothing is translated: the bytes are UTF-8.
            "client_encoding" => is_one(&["utf8", "utf-8", "unicode", "sql_ascii"]),
            "DateStyle" => lower.starts_with("iso"),
            "bytea_output" => lower == "hex",
            "IntervalStyle" => is_one(&["postgres", "iso_8601"]),
            "standard_conforming_strings" => is_one(&["on", "true", "1"]),
            "transaction_read_only" | "default_transaction_read_only" => {
                is_one(&["on", "true", "1"])
            }
            "server_version"
            | "server_version_num"
            | "server_encoding"
            | "integer_datetimes"
            | "is_superuser"
            | "session_authorization"
            | "max_identifier_length" => false,
            _ => true,
        };
    let value = match lower == "default" {
        true => usual(name).to_owned(),
        false => value.to_owned(),
    };
    // What is kept of it is short.
    (is_taken && value.len() <= 256).then_some(Control::Set(name, value))
}

/// A setting's name as PostgreSQL spells it.
pub(super) fn known(name: &str) -> Option<&'static str> {
    let mut names = SETTINGS.iter().map(|(name, _)| *name);
    names.find(|own| own.eq_ignore_ascii_case(name.trim_matches('"')))
}

fn usual(name: &str) -> &'static str {
    let found = SETTINGS.iter().find(|(own, _)| *own == name);
    found.map_or("", |(_, value)| value)
}

/// Settings with their values where nothing else is set.
pub(super) const SETTINGS: [(&str, &str); 28] = [
    ("server_version", VERSION),
    ("server_version_num", "160000"),
    ("server_encoding", "UTF8"),
    ("client_encoding", "UTF8"),
    ("DateStyle", "ISO, YMD"),
    ("IntervalStyle", "postgres"),
    ("TimeZone", "UTC"),
    ("standard_conforming_strings", "on"),
    ("integer_datetimes", "on"),
    ("is_superuser", "off"),
    ("session_authorization", ""),
    ("extra_float_digits", "1"),
    ("application_name", ""),
    ("client_min_messages", "notice"),
    ("search_path", "public"),
    ("bytea_output", "hex"),
    ("statement_timeout", "0"),
    ("lock_timeout", "0"),
    ("idle_in_transaction_session_timeout", "0"),
    ("row_security", "on"),
    ("jit", "off"),
    ("geqo", "on"),
    ("transaction_isolation", "repeatable read"),
    ("transaction_read_only", "on"),
    ("default_transaction_isolation", "repeatable read"),
    ("default_transaction_read_only", "on"),
    ("max_identifier_length", "63"),
    ("in_hot_standby", "off"),
];
/// The settings that clients are told when they connect, as PostgreSQL has it.
const TOLD: [&str; 13] = [
    "server_version",
    "server_encoding",
    "client_encoding",
    "DateStyle",
    "IntervalStyle",
    "TimeZone",
    "standard_conforming_strings",
    "integer_datetimes",
    "is_superuser",
    "session_authorization",
    "application_name",
    "default_transaction_read_only",
    "in_hot_standby",
];

/// A session's settings.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings(HashMap<&'static str, String>);

impl Settings {
    pub(super) fn set(&mut self, name: &'static str, value: String) {
        self.0.insert(name, value);
    }

    /// Takes a setting back, or all of them but who is there.
    pub(super) fn reset(&mut self, name: Option<&'static str>) {
        self.0.retain(|own, _| match name {
            Some(name) => *own != name,
            None => *own == "session_authorization",
        });
    }

    /// The value of a setting.
    pub(super) fn get(&self, name: &str) -> String {
        let own = self.0.get(name).cloned();
        own.unwrap_or_else(|| usual(name).to_owned())
    }

    /// Whether clients are told of a new value.
    pub(super) fn is_told(name: &str) -> bool {
        TOLD.contains(&name)
    }

    /// What clients are told when they connect.
    pub(super) fn told(&self) -> impl Iterator<Item = (&'static str, String)> {
        TOLD.into_iter().map(|name| (name, self.get(name)))
    }
}
