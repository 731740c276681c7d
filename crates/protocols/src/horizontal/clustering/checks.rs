//! Whether clusters satisfy what the requirement asks beyond what follows from their counts.
//!
//! # Discloses
//! What the checks in `requirement` disclose.

use hedgerow_smc::Party;

use super::super::requirement::{Counted, Trials};
use super::super::rows::Share;
use super::work::Work;
use crate::clustering::numbers::{Cluster, Row};
use crate::error::Error;

impl Work<'_> {
    /// Refuses what not even the whole table satisfies.
    pub(super) async fn refuse_unmeetable(&mut self, party: &mut Party) -> Result<u64, Error> {
        let everything = Row::first(self.rows.count).collect();
        let whole = Parts {
            work: self,
            parts: vec![vec![everything]],
            counted: vec![self.whole()],
        };
        self.table.refuse_unmeetable(party, &whole).await
    }

    /// Of clusters that satisfy the requirement by their counts, which satisfy the demands about sites
    /// too.
    pub(super) async fn check_sites(
        &mut self,
        party: &mut Party,
        trials: &[Vec<Cluster>],
        allowed: &mut [bool],
    ) -> Result<(), Error> {
        if !self.table.speaks_of_sites() {
            return Ok(());
        }
        let rows = |trial: &Vec<Cluster>| {
            let clusters = trial.iter();
            clusters
                .map(|cluster| self.members(*cluster).to_vec())
                .collect()
        };
        let counted = trials.iter().map(|trial| self.known_counts(trial));
        let parts = Parts {
            work: self,
            parts: trials.iter().map(rows).collect(),
            counted: counted.collect(),
        };
        let checks = self.table.check_sites(party, &parts, allowed).await?;
        self.checks += checks;
        Ok(())
    }
}

/// Parts that are tried, as lists of rows.
struct Parts<'w, 'a> {
    work: &'w Work<'a>,
    parts: Vec<Vec<Vec<Row>>>,
    counted: Vec<Counted>,
}

impl Trials for Parts<'_, '_> {
    fn counted(&self, place: usize) -> &Counted {
        &self.counted[place]
    }

    fn owners(&self, place: usize) -> Vec<u64> {
        let sites = self.work.rows.sites;
        let mut counts = vec![0; self.parts[place].len() * sites];
        for (part, rows) in self.parts[place].iter().enumerate() {
            for row in rows {
                counts[part * sites + self.work.owner_of(*row) as usize] += 1;
            }
        }
        counts
    }

    fn shares(&self, sensitive: &[usize], place: usize) -> Vec<Vec<Share>> {
        let parts = self.parts[place].iter();
        parts
            .map(|rows| {
                self.work
                    .rows
                    .shares(sensitive, Row::numbers(rows).map(|row| (row, 1)))
            })
            .collect()
    }
}
