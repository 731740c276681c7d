//! Figures of our own.

use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[];
