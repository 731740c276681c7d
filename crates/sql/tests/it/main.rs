//! SQL on releases: answers held against raw rows and against the engine's own reader, shapes of statements
//! that tools send, and what is refused.

// Tests fail by panicking.
#![allow(clippy::unwrap_used)]

mod answers;
mod attacks;
mod count;
mod fragments;
mod laws;
mod parameters;
mod refusals;
mod serve;
mod sites;
mod ward;

/// Three sites with their nodes, as the tests of the library have them.
#[allow(dead_code)]
#[path = "../../../engine/tests/it/ward.rs"]
mod world;
