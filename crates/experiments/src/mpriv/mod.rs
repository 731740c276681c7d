//! The figures of MPRIV, m-privacy.

use crate::frame::prelude::*;

/// The figures.
pub(crate) const FAMILIES: &[Family] = &[];
