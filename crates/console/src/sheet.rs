//! Tables that people open in a spreadsheet: cells that a spreadsheet would run as a formula get a `'` in front.

/// A table as CSV.
pub(crate) fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Memory takes whatever is written, and all rows have the head's length.
    let _ = writer.write_record(head);
    for row in rows {
        let _ = writer.write_record(row.into_iter().map(guarded));
    }
    writer.into_inner().unwrap_or_default()
}

/// A cell with a `'` before everything that a spreadsheet could take for the beginning of a formula: at the start,
/// and where a program that splits cells elsewhere than at commas would begin another.
fn guarded(cell: String) -> String {
    let mut text = String::with_capacity(cell.len() + 1);
    let mut is_start = true;
    for letter in cell.chars() {
        let is_first = text.is_empty();
        let is_sign = matches!(
            letter,
            '=' | '+' | '-' | '@' | '\u{ff1d}' | '\u{ff0b}' | '\u{ff0d}' | '\u{ff20}'
        );
        if (is_start && is_sign) || (is_first && matches!(letter, '\t' | '\r' | '\n' | '\'')) {
            text.push('\'');
        }
        text.push(letter);
        is_start = match letter {
            ';' | '\t' | '\r' | '\n' => true,
            // What comes before a formula and is not seen.
            _ => is_start && letter.is_whitespace(),
        };
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        let cells = [
            "=1+1",
            "@x",
            "-2",
            "+3",
            "\tx",
            "plain",
            "a,b",
            "'x",
            " =1",
            "a;=1",
            "a; @b;c",
            "a\t-b",
            "a-b",
            "\u{ff1d}1+1",
            "x;\u{ff0b}1",
        ];
        let rows = cells.iter().map(|cell| vec![(*cell).to_owned()]);
        let text = String::from_utf8(table(&["what"], rows)).unwrap();
        assert_eq!(
            text,
            "what\n'=1+1\n'@x\n'-2\n'+3\n'\tx\nplain\n\"a,b\"\n''x\n '=1\na;'=1\na; '@b;c\na\t'-b\na-b\n'\u{ff1d}1+1\nx;'\u{ff0b}1\n"
        );
        let lines = table(&["what"], [vec![String::from("a\n=1")]].into_iter());
        assert_eq!(lines, b"what\n\"a\n'=1\"\n");
    }
}
