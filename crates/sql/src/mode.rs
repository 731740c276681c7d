//! What a plain total answers: an estimate, what is certain, what is possible, or all of them.

use std::fmt;
use std::str::FromStr;

/// What a plain `count(*)`, `sum(x)` or `avg(x)` answers, and which rows a plain `SELECT` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Mode {
    /// Every value of a cell equally likely, columns independent; rows that are possible, with their share.
    #[default]
    Estimate,
    /// The least that it can be; rows that are certain.
    Certain,
    /// The most that it can be; rows that are possible.
    Possible,
    /// Four columns: the least, the estimate, the most, and the error of the estimate; rows as an estimate
    /// has them.
    Bounds,
}

impl Mode {
    /// Every mode, by its name.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("estimate", Self::Estimate),
        ("certain", Self::Certain),
        ("possible", Self::Possible),
        ("bounds", Self::Bounds),
    ];

    /// The name, as `SET hedgerow.answer` takes it.
    pub fn name(self) -> &'static str {
        let mut names = Self::NAMES.iter();
        names
            .find(|(_, mode)| *mode == self)
            .map_or("", |(name, _)| name)
    }

    /// Whether an answer may have an estimate in it.
    pub const fn is_model(self) -> bool {
        matches!(self, Self::Estimate | Self::Bounds)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::NAMES
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(text));
        known
            .map(|(_, mode)| *mode)
            .ok_or_else(|| format!("`{text}` is none of estimate, certain, possible, bounds"))
    }
}
