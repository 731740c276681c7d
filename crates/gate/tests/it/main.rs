//! The attacks on releases that were broken on purpose, and on good ones; small cases counted again by hand.

mod arrows;
mod beside;
mod made;
mod order;
mod recount;
mod values;
