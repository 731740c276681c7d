//! How groups of the same people at several sites are found and written (D2PT), as `[algorithm]` of a
//! study says.

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_data::nearest;

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

/// Which of its records a site may write as `*` in every cell, in a class of their own that satisfies the
/// requirement too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Suppression {
    /// Classes that do not satisfy the requirement, up to this share of the records.
    Share(f64),
    /// As Datafly was published (Sweeney 1997): once classes with fewer than k records have k records
    /// together at most, these are suppressed, and single records of other classes with them where they
    /// are fewer than k. D2PT section 2.1 has the basic version, without suppression.
    Outliers,
}

impl Suppression {
    /// No record: the basic version of Datafly that D2PT section 2.1 describes.
    pub const NONE: Self = Self::Share(0.0);

    /// The name of Datafly's own rule in a study, beside a share.
    const NAMES: [(&'static str, Self); 1] = [("outliers", Self::Outliers)];

    fn read(section: &Section<'_>) -> Result<Self, DocumentError> {
        const KEY: &str = "suppression";
        let expected = |found: &str| {
            format!(
                "`algorithm.suppression` is {found}, expected a number from 0 to 1, the share of the records, or \"outliers\""
            )
        };
        if section.is_string(KEY) {
            let word = section.string(KEY)?.unwrap_or_default();
            let found = Self::NAMES.iter().find(|(name, _)| *name == word);
            return found.map(|(_, rule)| *rule).ok_or_else(|| {
                let mut message = expected(&format!("\"{word}\""));
                let names = Self::NAMES.iter().map(|(name, _)| *name);
                if word.trim().parse::<f64>().is_ok() {
                    message.push_str("\nhint: write the number without quotes");
                } else if let Some(best) = nearest(&word, names, 1).first() {
                    message.push_str(&format!("\nhint: did you mean `{best}`?"));
                }
                section.wrong(KEY, message)
            });
        }
        let share = section.number(KEY)?.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&share) {
            return Err(section.wrong(KEY, expected(&share.to_string())));
        }
        Ok(Self::Share(share))
    }
}

/// How groups of the same people at several sites are found and written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct D2ptSettings {
    /// How a site generalizes.
    pub anonymizer: AnonymizerChoice,
    /// How sites find groups.
    pub synchronizer: Synchronizer,
    /// Which of its records a site may write as `*` in every cell.
    pub suppression: Suppression,
    /// Whether the release has original quasi-identifiers inside groups.
    pub restore: bool,
}

impl Default for D2ptSettings {
    fn default() -> Self {
        Self {
            anonymizer: AnonymizerChoice::Datafly,
            synchronizer: Synchronizer::Merge,
            suppression: Suppression::NONE,
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
        if section.has_misplaced("recode") {
            let message = "`algorithm.recode` has no meaning for `d2pt`, which writes nodes of taxonomies\nhint: leave it out; restore = true writes original values inside groups";
            return Err(section.wrong("recode", message));
        }
        let anonymizer = section.word("anonymizer", &AnonymizerChoice::NAMES)?;
        let synchronizer = section.word("synchronizer", &Synchronizer::NAMES)?;
        Ok(Self {
            anonymizer: anonymizer.unwrap_or(defaults.anonymizer),
            synchronizer: synchronizer.unwrap_or(defaults.synchronizer),
            suppression: Suppression::read(section)?,
            restore: section.boolean("restore")?.unwrap_or(defaults.restore),
        })
    }
}
