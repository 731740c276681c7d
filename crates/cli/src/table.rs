//! A table as the command line names it: a file, or `-` for standard input.

use std::io::Read as _;
use std::path::Path;

use hedgerow::Table;

use crate::error::CliError;

/// The table of a path. Standard input is CSV; it is read whole, since lines are found by reading again.
pub(crate) fn table(path: &Path) -> Result<Table, CliError> {
    if path != Path::new("-") {
        return Ok(Table::file(path));
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(CliError::NoInput)?;
    Ok(Table::csv("standard input", bytes))
}
