//! What a person is to a site, and so what the person may do on its pages.

use serde::{Deserialize, Serialize};

/// A role. Nobody has two: who sets a study up does not sign it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sets studies up and starts runs; does not sign, and does not decide about runs.
    Steward,
    /// Signs studies, decides about runs, and says who may use the pages.
    Officer,
    /// Sees releases and asks them; nothing of runs.
    Analyst,
    /// Reads everything and changes nothing.
    Auditor,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Steward, Self::Officer, Self::Analyst, Self::Auditor];

    /// The role's word in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steward => "steward",
            Self::Officer => "officer",
            Self::Analyst => "analyst",
            Self::Auditor => "auditor",
        }
    }

    /// What the role may do, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Steward => "sets studies up and starts runs; does not sign",
            Self::Officer => "signs studies, decides about runs, says who may use these pages",
            Self::Analyst => "sees releases and asks them",
            Self::Auditor => "reads everything and changes nothing",
        }
    }

    /// The role of a word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == word)
    }

    /// The first page of somebody with this role.
    pub const fn home(self) -> &'static str {
        match self {
            Self::Analyst => "/releases",
            _ => "/",
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
