//! What a command says: text for people, JSON for machines, plain tables.

use std::io::Write as _;

use serde::Serialize;

/// A command's answer, in both forms.
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) json: String,
    /// Whether what was asked holds: decides the exit code.
    pub(crate) holds: bool,
}

impl Answer {
    /// An answer whose JSON form is this value.
    pub(crate) fn new(text: String, value: &impl Serialize, holds: bool) -> Self {
        // Our own types have string keys and finite or null numbers, so this cannot fail.
        let json = serde_json::to_string_pretty(value).unwrap_or_default();
        Self { text, json, holds }
    }
}

/// Prints a result on stdout. A reader that has gone away (`| head`) is no error.
pub(crate) fn print(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = write!(stdout, "{text}{end}").and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Says something on stderr.
pub(crate) fn talk(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Rows as aligned columns, two spaces apart; the last column is not padded.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width + 2 - cell.chars().count()));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A number with its thousands apart: 30,162.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 record`, `2 records`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        thousands(number),
        if number == 1 { one } else { many }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_tables() {
        assert_eq!(thousands(30_162), "30,162");
        assert_eq!(thousands(7), "7");
        assert_eq!(count(1, "class", "classes"), "1 class");
        let rows = [
            vec!["a".into(), "b".into()],
            vec!["long".into(), "c".into()],
        ];
        assert_eq!(aligned(&rows), "a     b\nlong  c\n");
    }
}
