//! The figures of TG12, sequential clustering.

use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[];
