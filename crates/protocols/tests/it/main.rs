//! The protocols on whole tables.

// Tests fail by panicking, and say why they were skipped.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]

#[path = "../../../data/tests/it/adult.rs"]
mod adult;
mod adversary;
mod attacked;
mod clustering;
mod colluders;
mod counted;
mod delta;
mod discloses;
mod figures;
mod fragments;
mod hidden;
mod inverter;
mod liars;
mod many_colluders;
mod missing;
mod mondrian;
mod order;
mod proposition;
mod query;
mod runs;
mod shapes;
mod shares;
mod site_spread;
mod tables;
mod theorem;
mod vertical;
