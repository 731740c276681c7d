//! What `data` promises about files, seen from outside.

// Tests fail by panicking, and say why they were skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

mod adult;
mod bad_input;
mod counted;
mod described;
mod folders;
mod round_trip;
mod shared_data;
mod synthetic;
mod types;
