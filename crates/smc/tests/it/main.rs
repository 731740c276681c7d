//! The integration tests of `hedgerow-smc`, as one binary.

#![allow(clippy::unwrap_used, missing_docs)]

mod agreement;
mod allowed;
mod alone;
mod any_at_least;
mod corners;
mod corpus;
mod cover;
mod exposure;
mod greatest;
mod harness;
mod hostile;
mod ledger;
mod loss;
mod network;
mod questions;
mod rollback;
mod security;
mod seen;
mod shapes;
mod standing;
mod vectors;
mod without;
