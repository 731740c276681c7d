//! The figures of JX08, distributed anonymization and querying.

use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[];
