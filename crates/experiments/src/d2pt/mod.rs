//! The figures of D2PT, vertical fragmentation with t-closeness: how often two sites begin with the same
//! classes, how often they synchronize, and what discernibility is left (figure 4).

mod runs;
mod synchronizing;

use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[synchronizing::FAMILY];
