//! What is true of the workspace as a whole.

// Tests fail by panicking.
#![allow(clippy::unwrap_used)]

mod dependencies;
