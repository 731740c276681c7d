//! `hedgerow-sql`, the program that has engines for SQL in it: the core does not link them.

use std::path::{Path, PathBuf};

/// The program's file.
const NAME: &str = if cfg!(windows) {
    "hedgerow-sql.exe"
} else {
    "hedgerow-sql"
};

/// What to do where the program is not found.
pub const SQL_HINT: &str = "cargo install --path crates/sql installs it from the source of hedgerow; cargo build --release --manifest-path crates/sql/Cargo.toml builds it";

/// The program beside this one, or on PATH.
pub fn find_sql() -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(std::env::split_paths(&path));
    folders
        .map(|folder| folder.join(NAME))
        .find(|file| file.is_file())
}
