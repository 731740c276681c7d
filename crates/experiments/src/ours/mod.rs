//! Figures of our own.

mod latency;

use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[latency::FAMILY];
