//! The figures of JX09, anonymity for individuals and for data providers.

mod cities;
mod class_size;
mod histogram;
mod query_error;

use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[
    class_size::FAMILY,
    histogram::FAMILY,
    query_error::ALPHA,
    query_error::BY_K,
    query_error::BY_L,
    query_error::BY_SITES,
];
