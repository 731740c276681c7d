//! The attacks by their names, and how one is tried.

use serde::{Serialize, Serializer};

use crate::finding::Finding;
use crate::known::Known;
use crate::limits::Limits;
use crate::look::Look;
use crate::subject::Subject;
use crate::{
    bayes, certain, covering, downcoding, ends, membership, newcomers, order, other, owner,
    printed, product, subtraction, two_releases,
};

/// An attack on a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attack {
    /// The order of rows shows cuts that the cells hide.
    Order,
    /// The order of rows shows whose they are.
    Owner,
    /// A class has one sensitive value.
    Certain,
    /// Nine in ten of a class have one sensitive value.
    Skew,
    /// A class with many combinations of sensitive values has one value of one attribute.
    Product,
    /// A person's class is found among those that cover the person.
    Covering,
    /// Whether somebody is in the table.
    Membership,
    /// An end of a range is somebody's rare value.
    Ends,
    /// A site takes its own rows away.
    OneSite,
    /// Two sites take their rows away.
    TwoSites,
    /// Two releases of one table are laid over each other.
    TwoReleases,
    /// A release is taken away from a later one.
    Newcomers,
    /// A column that is published as it is leads to a record.
    Other,
    /// Quasi-identifiers as they are printed.
    Printed,
    /// Values are guessed from all that the release teaches.
    Bayes,
    /// A cell is narrowed by what other classes cover.
    Downcoding,
}

impl Attack {
    /// All attacks, in the order in which they are told.
    pub const ALL: [Self; 16] = [
        Self::Printed,
        Self::Order,
        Self::Owner,
        Self::Certain,
        Self::Skew,
        Self::Product,
        Self::Other,
        Self::Covering,
        Self::Downcoding,
        Self::Membership,
        Self::Ends,
        Self::OneSite,
        Self::TwoSites,
        Self::TwoReleases,
        Self::Newcomers,
        Self::Bayes,
    ];

    /// The name in limits, options and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Owner => "owner",
            Self::Certain => "certain",
            Self::Skew => "skew",
            Self::Product => "product",
            Self::Covering => "covering",
            Self::Membership => "membership",
            Self::Ends => "ends",
            Self::OneSite => "below_k_without_one_site",
            Self::TwoSites => "below_k_without_two_sites",
            Self::TwoReleases => "two_releases",
            Self::Newcomers => "newcomers",
            Self::Other => "other",
            Self::Printed => "printed",
            Self::Bayes => "bayes",
            Self::Downcoding => "downcoding",
        }
    }

    /// The attack with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|attack| attack.name() == name)
    }

    /// Who attacks, and with what.
    pub const fn attacker(self) -> &'static str {
        match self {
            Self::Order | Self::Owner => "a reader who looks at the order of rows",
            Self::Certain | Self::Skew | Self::Product => "who knows a person's quasi-identifiers",
            Self::Other => "who also knows a published value of the person",
            Self::Covering | Self::Downcoding | Self::Printed => {
                "who knows everybody's quasi-identifiers"
            }
            Self::Membership => "who asks whether a person is in the table",
            Self::Ends => "who knows who has a rare value",
            Self::OneSite => "a site, with its own rows",
            Self::TwoSites => "two sites, with their rows",
            Self::TwoReleases => "who has two releases of the same people",
            Self::Newcomers => "who has the releases before and after people came",
            Self::Bayes => "who learns from the whole release",
        }
    }

    /// What setting makes the attack weaker.
    pub const fn helps(self) -> &'static str {
        match self {
            Self::Order | Self::Owner => "publish by hedgerow, which sorts rows by what is written",
            Self::Certain => "demand l, or t",
            Self::Skew | Self::Bayes => "demand a lower t",
            Self::Product => "demand each sensitive attribute too (sensitive = \"both\")",
            Self::Other => "make the column coarser, sensitive, or leave it out",
            Self::Covering => "k counts on a class, and not on classes that overlap",
            Self::Downcoding => {
                "recode = \"range\" with covers = \"box\", whose classes do not overlap"
            }
            Self::Membership => {
                "recode = \"node\", or covers = \"box\", instead of sets and tight ranges"
            }
            Self::Ends => "recode = \"node\", or covers = \"box\"",
            Self::OneSite => "demand m = 1",
            Self::TwoSites => "demand m = 2",
            Self::TwoReleases => "publish one release of a table",
            Self::Newcomers => "wait for more newcomers, or demand t",
            Self::Printed => "restore = false",
        }
    }
}

impl Serialize for Attack {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Tries one attack.
pub fn attack(
    attack: Attack,
    subject: &Subject<'_>,
    known: &Known<'_>,
    limits: &Limits,
) -> Finding {
    tried(attack, &Look::new(subject, known), limits)
}

/// Tries all attacks, in the order of [`Attack::ALL`].
pub fn attack_all(subject: &Subject<'_>, known: &Known<'_>, limits: &Limits) -> Vec<Finding> {
    let look = Look::new(subject, known);
    let each = Attack::ALL.into_iter();
    each.map(|one| tried(one, &look, limits)).collect()
}

fn tried(attack: Attack, look: &Look<'_>, limits: &Limits) -> Finding {
    let limit = limits.of(attack);
    let subject = look.subject;
    match attack {
        Attack::Order => order::attack(subject, limit),
        Attack::Owner => owner::attack(subject, limit),
        Attack::Certain | Attack::Skew => certain::attack(attack, look, limit),
        Attack::Product => product::attack(subject, limit),
        Attack::Covering => covering::attack(look, limit),
        Attack::Membership => membership::attack(look, limit),
        Attack::Ends => ends::attack(look, limit),
        Attack::OneSite | Attack::TwoSites => subtraction::attack(attack, look, limit),
        Attack::TwoReleases => two_releases::attack(look, limit),
        Attack::Newcomers => newcomers::attack(look, limit),
        Attack::Other => other::attack(subject, limit),
        Attack::Printed => printed::attack(subject, limit),
        Attack::Bayes => bayes::attack(look, limit),
        Attack::Downcoding => downcoding::attack(look, limit),
    }
}
