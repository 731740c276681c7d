//! What a site says before a run, signed: a commitment to its rows and its seed, the largest share of
//! all records that it lets one site contribute, the day on which the site began the run, and its
//! version of hedgerow.
//!
//! The commitment hides (it is a hash with the run's seed in it, 256 bits that nobody else knows, under
//! a salt that follows from the seed) and binds: whoever sees the seed and the rows later can tell
//! whether the site began with these. All sites' openings together are the run's context: part of its
//! hash is in every frame, so a site that told two peers different things is found out at the first
//! frame after.
//!
//! The day of a run is the latest day that a site began on: the day of the site that came last and
//! started the run for all. No site can set a day before the day on which another site began, and a day
//! that lies more than one day ahead of a site's own clock is refused there. A run that is taken up
//! again has the day that its journal knows.
//!
//! # Discloses
//! To all sites: a random-looking number, a rule of this site, the day on its clock, and its version.

use std::time::SystemTime;

use hedgerow_smc::Seed;

use crate::agreement::StudyHash;
use crate::identity::{PublicKey, Purpose, Secret};
use crate::journal::RunName;

/// How an opening begins; the number is the version.
const MAGIC: [u8; 16] = *b"hedgerow open v2";
/// Parts of the whole that shares are counted in.
pub const WHOLE: u32 = 1_000_000;

/// What a site says before a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// The commitment to its rows and its seed.
    pub commitment: [u8; 32],
    /// The largest share of all records that one site may contribute, in parts of a million.
    pub maximum_share: u32,
    /// The day on which the site began, in days since 1970, in universal time.
    pub day: u32,
    /// The version of hedgerow that the site runs: the signed statement names it, so all sites must run
    /// the same version.
    pub version: Version,
    signature: [u8; 64],
}

impl Opening {
    /// The length of an encoded opening in bytes.
    pub(crate) const BYTES: usize = 16 + 32 + 4 + 4 + 6 + 64;

    /// This site's opening, for a run with this seed.
    pub(crate) fn new(
        secret: &Secret,
        name: &RunName,
        seed: &Seed,
        maximum_share: u32,
        day: u32,
    ) -> Self {
        let mut opening = Self {
            commitment: commitment(name, seed),
            maximum_share,
            day,
            version: Version::OWN,
            signature: [0; 64],
        };
        let digest = opening.digest(name.study, name.number, name.site);
        opening.signature = secret.sign(Purpose::Opening, &digest);
        opening
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Self::BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&self.commitment);
        bytes.extend_from_slice(&self.maximum_share.to_le_bytes());
        bytes.extend_from_slice(&self.day.to_le_bytes());
        bytes.extend_from_slice(&self.version.to_bytes());
        bytes.extend_from_slice(&self.signature);
        bytes
    }

    /// Reads an opening; `None` if the bytes are no opening of that site in this run.
    pub(crate) fn decode(
        bytes: &[u8],
        key: &PublicKey,
        study: StudyHash,
        number: u32,
        site: u16,
    ) -> Option<Self> {
        let bytes: &[u8; Self::BYTES] = bytes.try_into().ok()?;
        let (magic, rest) = bytes.split_first_chunk::<16>()?;
        let (commitment, rest) = rest.split_first_chunk::<32>()?;
        let (share, rest) = rest.split_first_chunk::<4>()?;
        let (day, rest) = rest.split_first_chunk::<4>()?;
        let (version, signature) = rest.split_first_chunk::<6>()?;
        let opening = Self {
            commitment: *commitment,
            maximum_share: u32::from_le_bytes(*share),
            day: u32::from_le_bytes(*day),
            version: Version::from_bytes(version),
            signature: signature.try_into().ok()?,
        };
        let digest = opening.digest(study, number, site);
        let is_whole = *magic == MAGIC
            && (1..=WHOLE).contains(&opening.maximum_share)
            && key.verifies(Purpose::Opening, &digest, &opening.signature);
        is_whole.then_some(opening)
    }

    /// The digest that a site signs in its opening.
    fn digest(&self, study: StudyHash, number: u32, site: u16) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow opening v2");
        hasher
            .update(&study.0)
            .update(&number.to_le_bytes())
            .update(&site.to_le_bytes())
            .update(&self.commitment)
            .update(&self.maximum_share.to_le_bytes())
            .update(&self.day.to_le_bytes())
            .update(&self.version.to_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// Today, in days since 1970, in universal time.
pub(crate) fn today() -> u32 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let days = since.unwrap_or_default().as_secs() / 86_400;
    u32::try_from(days).unwrap_or(u32::MAX)
}

/// Whether a day lies more than one day ahead: clocks and patience differ by no more.
pub(crate) fn is_ahead(day: u32, today: u32) -> bool {
    day > today.saturating_add(1)
}

/// A version of hedgerow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version([u16; 3]);

impl Version {
    /// The version of this program.
    pub const OWN: Self = Self([
        number(env!("CARGO_PKG_VERSION_MAJOR")),
        number(env!("CARGO_PKG_VERSION_MINOR")),
        number(env!("CARGO_PKG_VERSION_PATCH")),
    ]);

    fn to_bytes(self) -> [u8; 6] {
        let [[a, b], [c, d], [e, f]] = self.0.map(u16::to_le_bytes);
        [a, b, c, d, e, f]
    }

    fn from_bytes([a, b, c, d, e, f]: &[u8; 6]) -> Self {
        Self([[*a, *b], [*c, *d], [*e, *f]].map(u16::from_le_bytes))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [major, minor, patch] = self.0;
        write!(formatter, "{major}.{minor}.{patch}")
    }
}

/// The digits of a part of the version, which the build tool has seen to.
const fn number(digits: &str) -> u16 {
    let (digits, mut place, mut number) = (digits.as_bytes(), 0, 0);
    while place < digits.len() {
        number = number * 10 + (digits[place] - b'0') as u16;
        place += 1;
    }
    number
}

/// A hash that commits a site to its rows and seed in a run, and hides them.
pub(crate) fn commitment(name: &RunName, seed: &Seed) -> [u8; 32] {
    let salt = seed.derive("hedgerow commitment salt v1", 0);
    let mut hasher = blake3::Hasher::new_keyed(salt.as_bytes());
    hasher
        .update(b"hedgerow commitment v1")
        .update(&name.study.0)
        .update(&name.number.to_le_bytes())
        .update(&name.site.to_le_bytes())
        .update(&name.rows)
        .update(seed.as_bytes());
    *hasher.finalize().as_bytes()
}

/// The context of a run: the study, the run's number and the openings of all sites, in the study's
/// order.
pub(crate) fn context(study: StudyHash, number: u32, openings: &[Opening]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("hedgerow context v2");
    hasher.update(&study.0).update(&number.to_le_bytes());
    for opening in openings {
        hasher
            .update(&opening.commitment)
            .update(&opening.maximum_share.to_le_bytes())
            .update(&opening.day.to_le_bytes())
            .update(&opening.version.to_bytes());
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAME: RunName = RunName {
        study: StudyHash([1; 32]),
        number: 3,
        site: 2,
        sites: 4,
        rows: [5; 32],
    };

    fn opening() -> (Secret, Opening) {
        let secret = Secret::from_bytes(&[8; 32]);
        let opening = Opening::new(&secret, &NAME, &Seed::new([6; 32]), 400_000, 20_000);
        (secret, opening)
    }

    #[test]
    fn a_commitment_is_to_the_rows_the_seed_and_the_run() {
        let seed = Seed::new([6; 32]);
        let own = commitment(&NAME, &seed);
        let others = [
            commitment(
                &RunName {
                    rows: [4; 32],
                    ..NAME
                },
                &seed,
            ),
            commitment(&RunName { number: 4, ..NAME }, &seed),
            commitment(&RunName { site: 1, ..NAME }, &seed),
            commitment(
                &RunName {
                    study: StudyHash([2; 32]),
                    ..NAME
                },
                &seed,
            ),
            commitment(&NAME, &Seed::new([7; 32])),
        ];
        assert!(!others.contains(&own));
        assert_eq!(own, commitment(&NAME, &seed));
    }

    #[test]
    fn an_opening_is_of_one_site_in_one_run() {
        let (secret, opening) = opening();
        let bytes = opening.encode();
        let read = |key: &Secret, study, number, site| {
            Opening::decode(&bytes, &key.public(), StudyHash(study), number, site)
        };
        assert_eq!(read(&secret, [1; 32], 3, 2), Some(opening));
        assert_eq!(read(&secret, [2; 32], 3, 2), None);
        assert_eq!(read(&secret, [1; 32], 4, 2), None);
        assert_eq!(read(&secret, [1; 32], 3, 1), None);
        assert_eq!(read(&Secret::from_bytes(&[9; 32]), [1; 32], 3, 2), None);
    }

    #[test]
    fn a_day_ahead_of_the_clock_is_seen() {
        assert!(!is_ahead(20_000, 20_000));
        assert!(!is_ahead(20_001, 20_000));
        assert!(is_ahead(20_002, 20_000));
        assert!(!is_ahead(0, 20_000));
        assert!(!is_ahead(u32::MAX, u32::MAX));
        assert!((20_000..100_000).contains(&today()));
    }

    #[test]
    fn the_own_version_is_the_one_of_this_build() {
        assert_eq!(Version::OWN.to_string(), env!("CARGO_PKG_VERSION"));
        let other = Version([1, 513, 65_535]);
        assert_eq!(Version::from_bytes(&other.to_bytes()), other);
    }

    proptest! {
        #[test]
        fn what_is_no_opening_is_refused(bytes in any::<Vec<u8>>(), at in 0..Opening::BYTES) {
            let (secret, opening) = opening();
            let key = secret.public();
            prop_assert!(Opening::decode(&bytes, &key, NAME.study, 3, 2).is_none());
            let mut changed = opening.encode();
            changed[at] ^= 1;
            prop_assert!(Opening::decode(&changed, &key, NAME.study, 3, 2).is_none());
        }
    }
}
