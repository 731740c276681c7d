//! The protocols on whole tables.

// Tests fail by panicking, and say why they were skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod mondrian;
mod tables;
