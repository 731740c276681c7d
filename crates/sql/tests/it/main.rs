//! SQL on releases: answers held against raw rows and against the engine's own reader, shapes of statements
//! that tools send, and what is refused.

// Tests fail by panicking.
#![allow(clippy::unwrap_used)]

mod answers;
mod fragments;
mod laws;
mod refusals;
mod serve;
mod ward;
