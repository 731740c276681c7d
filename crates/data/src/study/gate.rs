//! What a study says of the gate: of each attack that is tried on a release before any site signs it, the share
//! of records that may fall. The names are those of the crate `gate`. An attack that is not named is not tried.

use serde::{Serialize, Serializer};

use super::mistakes::Mistakes;
use super::{Partition, ReleaseKind};
use crate::document::{DocumentError, Section};

/// The attacks that need the release alone.
const OF_RELEASE: [&str; 6] = ["printed", "order", "certain", "skew", "product", "other"];
/// The attacks that sites with different people count together on their rows, or on earlier releases too.
const OF_ROWS: [&str; 5] = [
    "ends",
    "below_k_without_one_site",
    "below_k_without_two_sites",
    "two_releases",
    "newcomers",
];
/// The attacks that no run tries, and why not.
const UNTRIED: [(&str, &str); 5] = [
    ("owner", "a run does not show whose rows are whose"),
    (
        "covering",
        "sites would have to show in which class each record lies",
    ),
    (
        "downcoding",
        "sites would have to show in which class each record lies",
    ),
    (
        "membership",
        "people who are not in the table are needed beside it",
    ),
    (
        "bayes",
        "people who are not in the table are needed beside it",
    ),
];

/// The share of records that may fall to an attack, in millionths, so that shares are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

impl Share {
    /// So many in a million.
    pub const MILLION: u32 = 1_000_000;

    /// The share of a number from 0 to 1 with six digits or fewer.
    fn of(number: f64) -> Option<Self> {
        let millionths = number * f64::from(Self::MILLION);
        let whole = millionths.round();
        let fits = (0.0..=1.0).contains(&number) && (millionths - whole).abs() < 1e-6;
        fits.then_some(Self(whole as u32))
    }

    /// In millionths.
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// The share as a number.
    pub fn number(self) -> f64 {
        f64::from(self.0) / f64::from(Self::MILLION)
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.number().serialize(serializer)
    }
}

/// The attacks that are tried, each with the share that may fall.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gate {
    limits: Vec<(&'static str, Share)>,
}

impl Gate {
    /// The names of all attacks that can be limited, in the order in which they are told.
    pub fn names() -> impl Iterator<Item = &'static str> {
        OF_RELEASE.into_iter().chain(OF_ROWS)
    }

    /// The limits, in the order of the names.
    pub fn limits(&self) -> impl Iterator<Item = (&'static str, Share)> + '_ {
        self.limits.iter().copied()
    }

    /// The share that may fall to an attack.
    pub fn limit(&self, attack: &str) -> Option<Share> {
        let mut limits = self.limits();
        limits.find(|(name, _)| *name == attack).map(|one| one.1)
    }

    /// Whether no attack is named.
    pub fn is_empty(&self) -> bool {
        self.limits.is_empty()
    }

    /// Reads limits: those that can be read, and everything that is wrong.
    pub fn read(section: &Section<'_>) -> (Self, Vec<DocumentError>) {
        let (mut gate, mut errors) = (Self::default(), Vec::new());
        for name in Self::names() {
            match section.number(name) {
                Ok(None) => {}
                Ok(Some(number)) => match Share::of(number) {
                    Some(share) => gate.limits.push((name, share)),
                    None => errors.push(section.wrong(
                        name,
                        format!(
                            "`{}` is {number}, expected a share from 0 to 1 with six digits or fewer",
                            section.path(name)
                        ),
                    )),
                },
                Err(error) => errors.push(error),
            }
        }
        for (name, why) in UNTRIED {
            if section.has_misplaced(name) {
                let message = format!(
                    "`{}` is an attack that no run tries: {why}\nhint: leave it out; hedgerow gate tries it on a release",
                    section.path(name)
                );
                errors.push(section.wrong(name, message));
            }
        }
        errors.extend(section.unknown());
        (gate, errors)
    }
}

/// Reads `[gate]`; without it, no attack is tried.
pub(super) fn read(
    root: &Section<'_>,
    (partition, release): (Partition, ReleaseKind),
) -> Result<Option<Gate>, super::StudyError> {
    let Some(section) = root.section("gate")? else {
        return Ok(None);
    };
    let (gate, mut errors) = Gate::read(&section);
    for name in OF_ROWS {
        if partition == Partition::Vertical && gate.limit(name).is_some() {
            let message = format!(
                "`gate.{name}` is for horizontal studies: sites that hold the same people have no rows of their own to count\nhint: leave it out"
            );
            errors.push(section.wrong(name, message));
        }
    }
    if release == ReleaseKind::Virtual {
        errors.push(section.wrong_section("[gate] holds back releases, and release = \"virtual\" publishes none\nhint: leave [gate] out"));
    } else if gate.is_empty() && errors.is_empty() {
        let names: Vec<&str> = Gate::names().collect();
        errors.push(section.wrong_section(format!(
            "[gate] limits no attack\nhint: write certain = 0.01 for one record in a hundred; the attacks are {}",
            crate::quoted_list(&names)
        )));
    }
    Mistakes::all(errors)?;
    Ok(Some(gate))
}
