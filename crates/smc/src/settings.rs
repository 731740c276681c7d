//! How a run goes: the security level, and the knobs that change cost but not answers.
//!
//! # Discloses
//! Nothing by itself; the level decides what the primitives disclose.

use std::fmt;

use serde::Serialize;

use crate::network::Site;

/// A place in which the published level is not as its paper prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// What is not as printed, and where it is printed.
    pub of: &'static str,
    /// What a run does instead.
    pub here: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// Every primitive that the published level does not run as printed.
pub const DIFFERENCES: [Difference; 9] = [
    Difference {
        of: "every primitive",
        here: "many questions in one message",
        reason: "else as many rounds as questions",
    },
    Difference {
        of: "ring sums (TG12 Algorithm 1, JX08 4.2)",
        here: "modulo 2^64",
        reason: "one size for all sums; no sum reaches it",
    },
    Difference {
        of: "conjunction, threshold (TG12 3.2)",
        here: "a keyed hash of place and number, not h(r + u)",
        reason: "equal sums at two places would look equal",
    },
    Difference {
        of: "the same between two sites",
        here: "oblivious transfer, garbled comparator",
        reason: "the printed form needs a third site",
    },
    Difference {
        of: "extremes (JX08 Algorithm 3)",
        here: "the last lap is exact",
        reason: "a release cannot carry a wrong answer",
    },
    Difference {
        of: "kth element (JX08 Algorithm 4)",
        here: "the least value with k records up to it, over the public domain",
        reason: "with ties the printed search may not end",
    },
    Difference {
        of: "union (JX08 Algorithm 5)",
        here: "a public number of random items, so equation 4 bounds the loss",
        reason: "a run follows from its study",
    },
    Difference {
        of: "alignment (D2PT)",
        here: "exponentiation modulo the prime of RFC 3526",
        reason: "no cipher is printed",
    },
    Difference {
        of: "whether one of several thresholds holds (verification = \"exact\")",
        here: "the hardened form",
        reason: "no paper has it",
    },
];

/// The security level: which form of each primitive a run uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Security {
    /// Each primitive as its paper prints it but for [`DIFFERENCES`], with its known attacks; for
    /// reproduction.
    Published,
    /// Pairwise-masked sums, comparisons that open one bit, union by mixing.
    #[default]
    Hardened,
}

impl Security {
    /// Both levels, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::Hardened.name(), Self::Hardened),
        (Self::Published.name(), Self::Published),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Hardened => "hardened",
        }
    }
}

impl fmt::Display for Security {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The paths of what all sites send to all: the masked vectors of hardened sums, what sites tell each
/// other, and the keys of joining. See [`crate::paths`] for what each promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// Each site to each other: one round, m (m - 1) messages.
    #[default]
    Mesh,
    /// All send to the hub, which sends back: two rounds, 2 (m - 1) messages.
    Star,
    /// Up a binary tree and down again: 2 log2 m rounds, 2 (m - 1) messages, no site with more
    /// than three neighbours.
    Tree,
}

impl Shape {
    /// All shapes, by their names in studies.
    pub const NAMES: [(&'static str, Self); 3] = [
        (Self::Mesh.name(), Self::Mesh),
        (Self::Star.name(), Self::Star),
        (Self::Tree.name(), Self::Tree),
    ];

    /// The most sites that send from all to all if nobody says otherwise. A choice and no measured turning
    /// point: a mesh takes a round less for every sum, and among 16 sites eight times as many messages
    /// for it. `scripts/bench.sh sites` has the costs on both sides.
    pub const LARGEST_MESH: usize = 16;

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mesh => "mesh",
            Self::Star => "star",
            Self::Tree => "tree",
        }
    }

    /// The shape of a run of so many sites if nobody says otherwise.
    pub const fn of(sites: usize) -> Self {
        if sites <= Self::LARGEST_MESH {
            Self::Mesh
        } else {
            Self::Star
        }
    }
}

/// The ring sum that the published level uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ring {
    /// TG12 Algorithm 1: every site masks, a second lap takes the masks off.
    #[default]
    TwoPasses,
    /// JX08 section 4.2: the first site of a ring that is drawn for the run masks, one lap.
    OneMask,
}

impl Ring {
    /// Both rings, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::TwoPasses.name(), Self::TwoPasses),
        (Self::OneMask.name(), Self::OneMask),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TwoPasses => "two-passes",
            Self::OneMask => "one-mask",
        }
    }
}

/// The union that the published level uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Uniting {
    /// JX08 Algorithm 5: a leader whom nobody knows beforehand adds random items.
    #[default]
    Secure,
    /// JX08 section 5.1, the naive approach: the first site of the ring sends its items, each site adds
    /// its own. The baseline: what the first site has is known to the second for certain.
    Naive,
}

impl Uniting {
    /// Both unions, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::Secure.name(), Self::Secure),
        (Self::Naive.name(), Self::Naive),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Secure => "secure",
            Self::Naive => "naive",
        }
    }
}

/// JX08 Algorithm 3: the probability of a false value in lap r is `start * dampening^(r - 1)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probabilistic {
    /// p0 of the paper.
    pub start: f64,
    /// d of the paper.
    pub dampening: f64,
    /// The number of laps. In the last lap every site puts in its own value, so the answer is exact: the
    /// paper leaves a remaining probability of error, which a release cannot carry.
    pub laps: u32,
}

impl Default for Probabilistic {
    fn default() -> Self {
        Self {
            start: 1.0,
            dampening: 0.5,
            laps: 8,
        }
    }
}

/// Who has roles in comparisons of sums that leave sites out; see [`crate::compare`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RoleChoice {
    /// The three sites that have all roles of the run.
    #[default]
    Drawn,
    /// The sites that are left out, with others in turn; of four sites or more.
    Spread,
}

impl RoleChoice {
    /// Both choices, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::Drawn.name(), Self::Drawn),
        (Self::Spread.name(), Self::Spread),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drawn => "drawn",
            Self::Spread => "spread",
        }
    }
}

/// What the sites of a run agree on beforehand; the same at every site.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The form of each primitive.
    pub security: Security,
    /// Paths of what all sites send to all; of the hardened level.
    pub shape: Shape,
    /// The hub of a star and the root of a tree.
    pub hub: Site,
    /// The ring sum of the published level.
    pub ring: Ring,
    /// The union of the published level.
    pub union: Uniting,
    /// Laps of the published minimum and maximum.
    pub probabilistic: Probabilistic,
    /// Parts into which one step of the comparison-only search cuts what is left of the domain.
    /// A fan-out above the size of a domain answers in one step, with one comparison per value.
    pub fan_out: usize,
    /// The most values about which one step of that search asks, over all its questions, where it then
    /// needs no further step, whatever the fan-out.
    pub at_once: usize,
    /// Random items that the leader of the published union adds; see [`crate::union::loss`].
    pub decoys: usize,
    /// Who has roles in comparisons of sums that leave sites out.
    pub roles: RoleChoice,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            security: Security::default(),
            shape: Shape::default(),
            hub: Site::new(0),
            ring: Ring::default(),
            union: Uniting::default(),
            probabilistic: Probabilistic::default(),
            fan_out: 16,
            at_once: 0,
            decoys: 100,
            roles: RoleChoice::default(),
        }
    }
}

impl Settings {
    /// The published level, all else by default.
    pub fn published() -> Self {
        Self {
            security: Security::Published,
            ..Self::default()
        }
    }

    /// The hardened level, all else by default.
    pub fn hardened() -> Self {
        Self::default()
    }
}
