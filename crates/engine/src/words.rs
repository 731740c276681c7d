//! Numbers, names and small tables as people read them.
//!
//! Names and values come from files that others wrote, and a terminal obeys what stands in them:
//! [`visible`] and [`one_line`] write control characters, and characters that turn the direction of
//! text, as `\u001b`. JSON writes them in the same way, so JSON output is unchanged.

use std::borrow::Cow;
use std::fmt::Write as _;

use hedgerow_privacy::SingledOut;

/// What the ledger of a virtual database means by the release.
pub const NO_RELEASE: &str = "where the release allows something, the table is meant that sites hold together: nothing is published, but it may be asked";

/// Text that a terminal only shows. Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| {
        is_obeyed(letter) && !matches!(letter, '\n' | '\t')
    })
}

/// The same for a name or value that must not look like several lines.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed)
}

/// Whether a terminal does something else with the character than to show it.
fn is_obeyed(letter: char) -> bool {
    // Control characters are those of ASCII, delete, and their eight-bit forms.
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_escaped(letter) {
            // A string takes whatever is written.
            let _ = write!(shown, "\\u{:04x}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// A name short enough for a line among others.
pub(crate) fn short(name: &str) -> String {
    const MOST: usize = 60;
    match name.char_indices().nth(MOST) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

/// Rows as aligned columns, two spaces apart; the last column is not padded.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let shown = |row: &Vec<String>| row.iter().map(|cell| one_line(cell).into_owned()).collect();
    let rows: Vec<Vec<String>> = rows.iter().map(shown).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in &rows {
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
pub fn thousands(number: u64) -> String {
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
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        thousands(number),
        if number == 1 { one } else { many }
    )
}

/// A share of the whole: `12.50 %`.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

/// A row of a table.
pub(crate) fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// How many records are singled out by columns that are published as they are.
pub(crate) fn singled_out(other: &SingledOut) -> Vec<Vec<String>> {
    if other.is_empty() {
        return Vec::new();
    }
    let share = |unique: u64| format!("{} ({})", thousands(unique), percent(other.share(unique)));
    let mut rows = vec![cells([
        "singled out by what is published as it is",
        "",
        "",
        "",
    ])];
    for column in &other.columns {
        let name = format!("  {}", column.name);
        let allowed = if column.publish_unique {
            "publish_unique"
        } else {
            ""
        };
        rows.push(cells([&name, "", &share(column.unique), allowed]));
    }
    if let Some(unique) = other.together {
        rows.push(cells(["  all of these together", "", &share(unique), ""]));
    }
    rows
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_tables() {
        assert_eq!(thousands(30_162), "30,162");
        assert_eq!(thousands(7), "7");
        assert_eq!(count(1, "class", "classes"), "1 class");
        assert_eq!(percent(0.125), "12.50 %");
        let rows = [
            vec!["a".into(), "b".into()],
            vec!["long".into(), "c".into()],
        ];
        assert_eq!(aligned(&rows), "a     b\nlong  c\n");
        let rows = [
            vec!["a\n\u{9b}".into(), "b".into()],
            vec!["c".into(), "d".into()],
        ];
        assert_eq!(aligned(&rows), "a\\u000a\\u009b  b\nc              d\n");
    }

    #[test]
    fn long_names_end_in_a_sign_that_says_so() {
        assert_eq!(short("ä"), "ä");
        let most = "ä".repeat(60);
        assert_eq!(short(&most), most);
        assert_eq!(short(&format!("{most}bc")), format!("{most}…"));
    }

    #[test]
    fn nothing_that_a_terminal_obeys() {
        let text = "\u{1b}]0;x\u{7} \u{9b}2J \r \u{7f} \u{202e}txt \u{2066}";
        let shown = "\\u001b]0;x\\u0007 \\u009b2J \\u000d \\u007f \\u202etxt \\u2066";
        assert_eq!(visible(text), shown);
        assert_eq!(visible("zwölf\t12\n…"), "zwölf\t12\n…");
        assert_eq!(one_line("a\nb"), "a\\u000ab");
        // JSON stays JSON with the same meaning.
        let json = serde_json::to_string_pretty(&[text, "\\\u{9b}"]).unwrap();
        assert!(!visible(&json).contains(|letter| is_obeyed(letter) && letter != '\n'));
        let again: [String; 2] = serde_json::from_str(&visible(&json)).unwrap();
        assert_eq!(again, [text, "\\\u{9b}"]);
    }
}
