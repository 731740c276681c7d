//! The figures of D2PT, vertical fragmentation with t-closeness.

use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[];
