//! The attacks on releases that were broken on purpose, and on good ones; small cases counted again by hand.

// Tests fail by panicking.
#![allow(clippy::unwrap_used)]

mod arrows;
mod beside;
mod made;
mod order;
mod recount;
mod values;
