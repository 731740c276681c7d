//! What the known attacks bring down of a release, counted by all sites together: each site knows what its own
//! rows add, and sums and thresholds over sites say what that comes to. A site that counted alone would cry wolf:
//! what only its rows show to be alone is often shared by others' rows.
//!
//! The attacks themselves are no part of this: whoever calls knows the release and what of its rows falls.
//! Every opened number is held against a public bound, the number of records, before it is used.
//!
//! # Discloses
//! To all sites, what each attack that the study limits asks for: see [`Asked::discloses`].

mod common;
mod ends;
mod left;

use hedgerow_smc::order::CANDIDATES;
use hedgerow_smc::{Party, Security, What};

use crate::error::Error;
use crate::fit::holds_own;

pub use common::{ALONE, COMMON, CROWDED, JOINED, RELEASES, enough, have_all};
pub use ends::{RARE, ranked};
pub use left::{LEFT, LEFT_BY_ONE, LEFT_BY_TWO, STEPS, by_one, by_two};

/// How many records have a rare value that ends their class, and how many have a rare value.
pub const AT_ENDS: What = What::new(
    "records with rare values, and those of them that end their class",
    "the study: [gate]",
);

/// More or fewer records than there can be.
const IMPOSSIBLE: &str = "more records than there are, or fewer than this site has";

/// The attacks that a study limits and that sites count together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// Rare values at the ends of classes.
    pub ends: bool,
    /// What is left without one site.
    pub one_site: bool,
    /// What is left without two sites.
    pub two_sites: bool,
    /// Classes of several releases laid over each other.
    pub two_releases: bool,
    /// What a release has beyond earlier ones.
    pub newcomers: bool,
}

impl Asked {
    /// Everything that the joint counts may disclose, at this level of security.
    pub fn discloses(&self, security: Security) -> Vec<What> {
        let mut all = Vec::new();
        if self.ends {
            all.push(RARE);
            if security == Security::Published {
                all.push(CANDIDATES);
            }
            all.push(AT_ENDS);
        }
        if self.one_site {
            all.push(LEFT_BY_ONE);
        }
        if self.two_sites {
            all.extend([LEFT, LEFT_BY_TWO]);
        }
        if self.two_releases || self.newcomers {
            all.push(RELEASES);
        }
        if self.two_releases {
            all.extend([COMMON, CROWDED, ALONE, JOINED]);
        }
        all
    }
}

/// The sums of all sites' numbers, none of which can be more than this.
///
/// # Discloses
/// To all sites: the sums.
pub async fn sums(
    party: &mut Party,
    what: What,
    own: &[u64],
    most: u64,
) -> Result<Vec<u64>, Error> {
    let mut sums = own.to_vec();
    party.sum(what, &mut sums).await?;
    let fits = holds_own(&sums, own) && sums.iter().all(|sum| *sum <= most);
    party.fit(what, fits, IMPOSSIBLE)?;
    Ok(sums)
}
