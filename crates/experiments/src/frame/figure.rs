//! A figure: its name, the claim it stands for, and the rule that decides; a family: figures that come
//! of the same runs.

use serde::{Deserialize, Serialize};

use super::bench::Bench;
use super::measured::Measured;
use super::rule::Check;
use crate::error::Error;

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Paper {
    /// Distributed anonymization and querying.
    JX08,
    /// Anonymity for individuals and for data providers.
    JX09,
    /// Sequential clustering.
    TG12,
    /// Vertical fragmentation with t-closeness.
    D2PT,
    /// m-privacy.
    MPRIV,
    /// No paper: a figure of our own.
    #[serde(rename = "ours")]
    Ours,
}

impl Paper {
    /// The name that figures and pages carry.
    pub const fn name(self) -> &'static str {
        match self {
            Self::JX08 => "JX08",
            Self::JX09 => "JX09",
            Self::TG12 => "TG12",
            Self::D2PT => "D2PT",
            Self::MPRIV => "MPRIV",
            Self::Ours => "ours",
        }
    }
}

/// A figure or table that can be measured.
#[derive(Debug)]
#[non_exhaustive]
pub struct Figure {
    /// `jx09-fig6`.
    pub name: &'static str,
    /// The paper.
    pub paper: Paper,
    /// What the figure shows.
    pub title: &'static str,
    /// The paper's claim in our words, with the numbers that it prints.
    pub claim: &'static str,
    /// What decides whether the claim holds: the checks of what was measured.
    pub(crate) rule: fn(&Measured) -> Vec<Check>,
}

/// Figures that come of the same runs.
pub(crate) struct Family {
    /// The figures.
    pub(crate) figures: &'static [Figure],
    /// Measures once, and gives what each figure shows, in the order of `figures`.
    pub(crate) measure: fn(&Bench<'_>) -> Result<Vec<Measured>, Error>,
}

impl Family {
    /// The names of its figures, for people.
    pub(crate) fn names(&self) -> String {
        let names: Vec<&str> = self.figures.iter().map(|figure| figure.name).collect();
        names.join(", ")
    }
}
