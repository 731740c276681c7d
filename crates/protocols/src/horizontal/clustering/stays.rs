//! Which records stayed in their clusters when their site last looked at them.
//!
//! As printed, a site looks at every record in every iteration (TG12 Algorithm 3). A record that stayed goes
//! on staying until its own cluster changes or some changed cluster has become better, so only clusters that
//! changed since then are looked at: the moves are the same.
//!
//! # Discloses
//! Nothing.

use crate::clustering::Loss;
use crate::clustering::numbers::{Cluster, Row};
use crate::clustering::searched::Searched;

/// The most changed clusters that are looked at one by one, for a loss that only grows as closures widen: the
/// tree of clusters needs about as many looks.
const FEW: usize = 48;
/// By entropy the tree needs more looks: the part of all clusters that may have changed.
const PART: usize = 4;

/// For each row, when it was last found to stay.
pub(super) struct Stays {
    at: Vec<Option<u64>>,
    /// The least size of clusters for which that was found.
    least: u64,
}

impl Stays {
    pub(super) fn new(rows: usize) -> Self {
        Self {
            at: vec![None; rows],
            least: 0,
        }
    }

    /// Forgets everything: clusters have other numbers, or sizes other bounds.
    pub(super) fn clear(&mut self) {
        self.at.fill(None);
    }

    /// Notes that a row stays in its cluster, where clusters have this least size.
    pub(super) fn note(&mut self, row: Row, least: u64, clusters: &Searched<'_>) {
        if self.least != least {
            self.clear();
            self.least = least;
        }
        self.at[row.index()] = Some(clusters.moment());
    }

    /// The clusters that changed since a row was found to stay; `None` where all clusters are to be looked
    /// at.
    pub(super) fn changed<'c>(
        &self,
        row: Row,
        from: Cluster,
        (least, loss): (u64, Loss),
        clusters: &'c Searched<'_>,
    ) -> Option<&'c [Cluster]> {
        let at = self.at[row.index()].filter(|_| self.least == least)?;
        let changed = clusters.changed_since(at);
        let most = match loss {
            Loss::Em => clusters.len() / PART,
            Loss::Lm | Loss::Ncp => FEW,
        };
        let is_few = changed.len() <= most;
        (is_few && !changed.contains(&from)).then_some(changed)
    }
}
