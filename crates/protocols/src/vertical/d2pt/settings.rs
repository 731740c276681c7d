//! How groups of the same people at several sites are found and written (D2PT), as `[algorithm]` of a
//! study says.

use hedgerow_data::document::{DocumentError, Section};

use super::anonymizer::{Anonymizer, Datafly};
use super::optimal::Optimal;
use super::synchronizer::Synchronizer;

/// How a site generalizes its own columns (D2PT section 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnonymizerChoice {
    /// Datafly: one level up at a time, with the attribute that has the most values.
    #[default]
    Datafly,
    /// The levels that lose least.
    Optimal,
}

impl AnonymizerChoice {
    /// Both settings, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::Datafly.name(), Self::Datafly),
        (Self::Optimal.name(), Self::Optimal),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Datafly => "datafly",
            Self::Optimal => "optimal",
        }
    }

    /// The algorithm.
    pub fn anonymizer(self) -> &'static dyn Anonymizer {
        match self {
            Self::Datafly => &Datafly,
            Self::Optimal => &Optimal::BY_CELLS,
        }
    }
}

/// How groups of the same people at several sites are found and written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct D2ptSettings {
    /// How a site generalizes.
    pub anonymizer: AnonymizerChoice,
    /// How sites find groups.
    pub synchronizer: Synchronizer,
    /// The share of its records that a site may write as `*` in every cell.
    pub suppression: f64,
    /// Whether the release has original quasi-identifiers inside groups.
    pub restore: bool,
}

impl Default for D2ptSettings {
    fn default() -> Self {
        Self {
            anonymizer: AnonymizerChoice::Datafly,
            synchronizer: Synchronizer::Merge,
            suppression: 0.0,
            restore: false,
        }
    }
}

/// The keys of `[algorithm]` that speak of groups of the same people.
pub(crate) const KEYS: [&str; 4] = ["anonymizer", "synchronizer", "suppression", "restore"];

impl D2ptSettings {
    /// Reads the keys of `[algorithm]` that speak of groups of the same people.
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, DocumentError> {
        let defaults = Self::default();
        if section.has("recode") {
            let message = "`algorithm.recode` has no meaning for `d2pt`, which writes nodes of taxonomies\nhint: leave it out; restore = true writes original values inside groups";
            return Err(section.wrong("recode", message));
        }
        let suppression = section.number("suppression")?;
        let suppression = suppression.unwrap_or(defaults.suppression);
        if !(0.0..=1.0).contains(&suppression) {
            let message = format!(
                "`algorithm.suppression` is {suppression}, expected a share of the records from 0 to 1"
            );
            return Err(section.wrong("suppression", message));
        }
        let anonymizer = section.word("anonymizer", &AnonymizerChoice::NAMES)?;
        let synchronizer = section.word("synchronizer", &Synchronizer::NAMES)?;
        Ok(Self {
            anonymizer: anonymizer.unwrap_or(defaults.anonymizer),
            synchronizer: synchronizer.unwrap_or(defaults.synchronizer),
            suppression,
            restore: section.boolean("restore")?.unwrap_or(defaults.restore),
        })
    }
}
