//! SQL on releases: answers held against raw rows and against the engine's own reader, shapes of statements
//! that tools send, and what is refused.

// Tests fail by panicking.
#![allow(clippy::unwrap_used)]

mod answers;
mod attacks;
mod fragments;
mod laws;
mod parameters;
mod refusals;
mod ward;
