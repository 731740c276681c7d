//! How the primitives of JX08 run at the published level, as `[algorithm]` of a study says: its sum with
//! one mask (section 4.2), its extremes (Algorithm 3), its union (section 5).
//!
//! What differs from print, each with its reason: the sum is modulo 2^64 and not modulo a bound of it,
//! which no sum reaches either way; in the last lap of extremes every site puts in its own value, because
//! a release cannot carry the paper's remaining probability of a wrong range; the kth element is the
//! smallest value with enough records at or below it, because the paper's search does not end with ties;
//! the number of random items is public, as all settings are.

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_data::study::Algorithm;
use hedgerow_smc::settings::{Probabilistic, Ring, Uniting};
use hedgerow_smc::{Security, Settings};

/// The keys, each with what the hardened level has instead.
const KEYS: [(&str, &str); 6] = [
    (
        "sum",
        "the hardened sum is masked by every pair of sites and goes around no ring",
    ),
    (
        "p0",
        "the hardened level finds extremes by comparisons, without random values",
    ),
    (
        "dampening",
        "the hardened level finds extremes by comparisons, without random values",
    ),
    (
        "laps",
        "the hardened level finds extremes by comparisons, without laps",
    ),
    ("union", "the hardened union is by mixing"),
    (
        "random_items",
        "the hardened union is by mixing, without random items",
    ),
];

/// The most laps of extremes, and the most random items of a union.
const MOST_LAPS: i64 = 1_000;
const MOST_RANDOM_ITEMS: i64 = 1_000_000;

/// How the primitives of JX08 run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedSettings {
    /// The ring sum.
    pub sum: Ring,
    /// The laps of extremes.
    pub extremes: Probabilistic,
    /// The union.
    pub union: Uniting,
    /// Random items that the leader of a union adds.
    pub random_items: usize,
}

impl Default for PublishedSettings {
    fn default() -> Self {
        Self::of(Algorithm::default())
    }
}

impl PublishedSettings {
    /// As the papers of an algorithm have it: JX08 and JX09, whose cuts are top-down, sum with one mask,
    /// TG12 in two passes.
    pub(crate) fn of(algorithm: Algorithm) -> Self {
        let sum = match algorithm {
            Algorithm::Mondrian | Algorithm::ProviderAware => Ring::OneMask,
            Algorithm::Clustering | Algorithm::D2pt => Ring::TwoPasses,
        };
        let Settings {
            probabilistic,
            union,
            decoys,
            ..
        } = Settings::published();
        Self {
            sum,
            extremes: probabilistic,
            union,
            random_items: decoys,
        }
    }

    /// Reads the keys of `[algorithm]` that speak of the published level, and refuses them at the
    /// hardened level.
    pub(crate) fn read(
        section: &Section<'_>,
        security: Security,
        algorithm: Algorithm,
    ) -> Result<Self, DocumentError> {
        if security == Security::Hardened {
            for (key, instead) in KEYS {
                if section.has_misplaced(key) {
                    let message = format!(
                        "`algorithm.{key}` is for security = \"published\": {instead}\nhint: leave it out, or write security = \"published\" under [study]"
                    );
                    return Err(section.wrong(key, message));
                }
            }
        }
        let defaults = Self::of(algorithm);
        let probability = |key: &'static str, default: f64| {
            let said = section.number(key)?.unwrap_or(default);
            if !(0.0..=1.0).contains(&said) {
                let message = format!("`algorithm.{key}` is {said}, expected a number from 0 to 1");
                return Err(section.wrong(key, message));
            }
            Ok(said)
        };
        let whole = |key: &'static str, default: i64, least: i64, most: i64| {
            let said = section.integer(key)?.unwrap_or(default);
            if !(least..=most).contains(&said) {
                let message = format!(
                    "`algorithm.{key}` is {said}, expected a number from {least} to {most}"
                );
                return Err(section.wrong(key, message));
            }
            Ok(said)
        };
        let Probabilistic {
            start,
            dampening,
            laps,
        } = defaults.extremes;
        let random_items = defaults.random_items as i64;
        Ok(Self {
            sum: section.word("sum", &Ring::NAMES)?.unwrap_or(defaults.sum),
            extremes: Probabilistic {
                start: probability("p0", start)?,
                dampening: probability("dampening", dampening)?,
                laps: whole("laps", i64::from(laps), 1, MOST_LAPS)? as u32,
            },
            union: section
                .word("union", &Uniting::NAMES)?
                .unwrap_or(defaults.union),
            random_items: whole("random_items", random_items, 0, MOST_RANDOM_ITEMS)? as usize,
        })
    }

    /// The settings that the parties of a run agree on.
    pub(crate) fn of_parties(&self) -> Settings {
        Settings {
            ring: self.sum,
            probabilistic: self.extremes,
            union: self.union,
            decoys: self.random_items,
            ..Settings::published()
        }
    }
}
