//! A release that was written, and what a stranger finds in it.

use std::path::PathBuf;

use hedgerow_data::Recode;
use hedgerow_privacy::utility::Utility;
use hedgerow_privacy::verify::Verdict;

use crate::joint::TriedAttack;

/// A release that was written, and what a stranger finds in it.
pub(crate) struct Published {
    pub(crate) folder: PathBuf,
    pub(crate) verdict: Verdict,
    pub(crate) utility: Utility,
    pub(crate) recode: Recode,
    /// The attacks that were tried on it before.
    pub(crate) gate: Vec<TriedAttack>,
}
