//! Sites that hold the same people: alignment and D2Pt on whole tables.

mod adult;
mod clustering;
mod columns;
mod example;
mod laws;
mod liars;
mod lines;
mod mistakes;
mod mondrian;
mod people;
mod verdict;
