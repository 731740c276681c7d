//! What the verifier says of whole tables.

// Tests fail by panicking, and say why they were skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod golden;
mod mistakes;
mod models;

use hedgerow_data::{TextColumn, TextTable};

/// A table from rows of words separated by commas, the first its header.
fn table(text: &str) -> TextTable {
    let mut lines = text.lines().map(|line| line.split(',').map(str::trim));
    let names: Vec<String> = lines.next().unwrap().map(str::to_owned).collect();
    let mut columns = vec![TextColumn::default(); names.len()];
    for (row, line) in lines.enumerate() {
        for (column, word) in columns.iter_mut().zip(line) {
            column.push(word, row as u64 + 2);
        }
    }
    TextTable {
        counts: None,
        file: "golden".into(),
        names,
        columns,
    }
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
