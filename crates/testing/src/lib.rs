//! What the tests of several crates share: the text of a study ([`StudyText`]), the folder of real
//! tables ([`real_tables`]), a PostgreSQL of the test's own ([`PostgresServer`]), and the list of tests that
//! were skipped ([`skip`]).
//!
//! A development dependency of the other crates, and no part of what is published: it depends on none
//! of them, so that it serves the tests of all.

// Tests fail by panicking.
#![allow(clippy::unwrap_used)]

mod postgres;
mod real_tables;
mod skipped;
mod study_text;

pub use postgres::PostgresServer;
pub use real_tables::{real_table, real_tables};
pub use skipped::skip;
pub use study_text::{StudyText, ZIP_CODES, integer, taxonomy, values};
