//! The figures of JX09, anonymity for individuals and for data providers.

mod class_size;

use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[class_size::FAMILY];
