//! m-privacy verification (MPRIV section III): is a class still private after any coalition of at
//! most m of its sites takes its own records out?
//!
//! A [`Search`] only decides which coalitions are checked and what follows from the answers. It
//! sees no record: a centralized run answers from the class itself ([`verify`]), a secure one by
//! thresholds on sums over the sites outside the coalition, many classes in one question. The
//! verifier of releases asks for the smallest coalition that breaches
//! ([`Members::least_breaking`]); it follows the exact strategy, for any number of sites.
//!
//! Of n_G sites with records in the class at most n_G - 1 can attack somebody, so m is at most
//! that. Constraints that stay satisfied when records are added (k, distinct l, site diversity)
//! need only coalitions of exactly m sites (observation 2.3). For all others (entropy l, t and the
//! rest) neither that nor any pruning is valid: **whatever the strategy, every coalition of every
//! size from 0 to m is checked**, smallest first.
//!
//! # Discloses
//! Every answer says of one coalition whether it breaches. [`Strategy::Direct`] on a private class
//! learns nothing that "private" does not say; the pruning strategies also learn about coalitions
//! larger than m. [`Strategy::Exact`] needs each site's counts, so it is for those who hold them.
//!
//! ```
//! use hedgerow_privacy::m_privacy::{Strategy, verify};
//! use hedgerow_privacy::{Model, TableView, collusion::Members};
//!
//! // Three sites with two records each.
//! let class = Members::new(&[0, 0, 1, 1, 2, 2], [&[0, 1, 0, 2, 1, 2][..]]);
//! let models = [Model::KAnonymity { k: 3 }, Model::DistinctDiversity { l: 2 }];
//! let table = TableView { references: &[], movers: vec![] };
//! let verified = |m| verify(Strategy::Adaptive, &class, &models, &table, m);
//! assert!(verified(1)?.is_private());
//! assert_eq!(verified(2)?.breach.map(|coalition| coalition.size()), Some(2));
//! # Ok::<(), hedgerow_privacy::m_privacy::Error>(())
//! ```

mod binary;
mod coalition;
mod exact;
mod fitness;
mod least;
mod safe;
mod search;
mod sites;
mod sweep;
#[cfg(test)]
mod tests;
mod top_down;

use crate::collusion::{Members, Remainder};
use crate::model::{Model, TableView};

pub use coalition::Coalition;
pub use fitness::{
    LIKELY_BREACHED, WEIGHT_OF_DIVERSITY, fitness, fitness_of_class, fitness_of_counts,
};
pub use search::{Search, Step};
pub use sites::Sites;

/// In which order coalitions are checked, and which are pruned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// All coalitions of m sites, in the order of the sites.
    Direct,
    /// From coalitions of n_G - 1 sites down: a coalition that does not breach settles all coalitions
    /// within it.
    TopDown,
    /// From the empty coalition up to m sites: a coalition that breaches settles the class.
    BottomUp,
    /// From both ends to the border between breaching and other coalitions (algorithm 1).
    Binary,
    /// Binary where average fitness is below [`LIKELY_BREACHED`], top-down elsewhere.
    Adaptive,
    /// Bounds from the sites' counts instead of enumeration; not in the paper.
    Exact,
}

impl Strategy {
    /// All six by the names that studies have for them; the paper's five come first.
    pub const NAMES: [(&'static str, Self); 6] = [
        (Self::Direct.name(), Self::Direct),
        (Self::TopDown.name(), Self::TopDown),
        (Self::BottomUp.name(), Self::BottomUp),
        (Self::Binary.name(), Self::Binary),
        (Self::Adaptive.name(), Self::Adaptive),
        (Self::Exact.name(), Self::Exact),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::TopDown => "top-down",
            Self::BottomUp => "bottom-up",
            Self::Binary => "binary",
            Self::Adaptive => "adaptive",
            Self::Exact => "exact",
        }
    }

    /// All six; the paper's five come first.
    pub const ALL: [Self; 6] = [
        Self::Direct,
        Self::TopDown,
        Self::BottomUp,
        Self::Binary,
        Self::Adaptive,
        Self::Exact,
    ];
}

/// Why a class cannot be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// More sites than a coalition can name.
    #[error(
        "the class has {sites} sites; m-privacy is verified for at most {}",
        Coalition::MOST_SITES
    )]
    TooManySites {
        /// Sites of the class.
        sites: usize,
    },
}

/// The result of a verification, and its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// A coalition that breaches, if one does.
    pub breach: Option<Coalition>,
    /// Privacy checks: evaluations of the requirement on the records outside one coalition.
    pub checks: u64,
    /// Bounds evaluated from the sites' counts: nodes of the exact strategy's branch and bound, cut
    /// nodes too. 0 for all other strategies.
    pub bounds: u64,
}

impl Verified {
    /// Whether no coalition breaches.
    pub fn is_private(&self) -> bool {
        self.breach.is_none()
    }

    /// Checks and bounds together, as if each bound cost as much as a check.
    pub fn cost(&self) -> u64 {
        self.checks + self.bounds
    }
}

/// Verifies a class whose records are at hand, one coalition after the other.
pub fn verify(
    strategy: Strategy,
    class: &Members,
    models: &[Model],
    table: &TableView<'_>,
    m: u64,
) -> Result<Verified, Error> {
    let sites = Sites::known(class, models, table)?;
    let mut remainder = Remainder::of(class, models, table);
    let mut search = Search::new(strategy, &sites, m, 1);
    let breach = loop {
        match search.ask() {
            Step::Private => break None,
            Step::Breached(coalition) => break Some(coalition),
            Step::Check(coalitions) => {
                let breaches: Vec<bool> = coalitions
                    .iter()
                    .map(|gone| remainder.is_broken_without(gone.sites()))
                    .collect();
                search.answer(&breaches);
            }
        }
    };
    Ok(Verified {
        breach,
        checks: search.checks(),
        bounds: search.bounds(),
    })
}
