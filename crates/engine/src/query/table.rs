//! The answer to a statement, as a table for people and for machines.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::words::aligned;

/// The answer to a statement.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answers {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows: text, numbers, and nothing where there is no value.
    pub rows: Vec<Vec<Value>>,
}

impl Serialize for Answers {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = |row: &Vec<Value>| {
            let cells = self.columns.iter().cloned().zip(row.iter().cloned());
            Value::Object(cells.collect::<Map<String, Value>>())
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        json!({"columns": self.columns, "rows": rows, "answer": "bounds"}).serialize(serializer)
    }
}

impl std::fmt::Display for Answers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let cell = |value: &Value| match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => whole.to_string(),
                None => format!("{:.2}", number.as_f64().unwrap_or_default()),
            },
            other => other.to_string(),
        };
        let head = std::iter::once(self.columns.clone());
        let rows = self.rows.iter().map(|row| row.iter().map(cell).collect());
        let rows: Vec<Vec<String>> = head.chain(rows).collect();
        f.write_str(&aligned(&rows))
    }
}
