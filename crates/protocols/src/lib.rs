//! The protocols, each written once as the code of one party: a centralized run is the same code
//! run by a party of one.

pub mod horizontal;
