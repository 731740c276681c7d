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

fn guarded(cell: String) -> String {
    match cell.as_bytes().first() {
        Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r' | b'\'') => format!("'{cell}"),
        _ => cell,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        let cells = ["=1+1", "@x", "-2", "+3", "\tx", "plain", "a,b"];
        let rows = cells.iter().map(|cell| vec![(*cell).to_owned()]);
        let text = String::from_utf8(table(&["what"], rows)).unwrap();
        assert_eq!(text, "what\n'=1+1\n'@x\n'-2\n'+3\n'\tx\nplain\n\"a,b\"\n");
    }
}
