//! The integration tests of `hedgerow-smc`, as one binary.

#![allow(clippy::unwrap_used, missing_docs)]

mod agreement;
mod alone;
mod harness;
mod loss;
mod security;
