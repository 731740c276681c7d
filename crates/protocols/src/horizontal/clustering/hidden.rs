//! Sensitive counts that nobody sees on the way to the release (TG12 section 8.2.2).
//!
//! Where demands bound how often each value may occur in a class, it is enough to know whether the counts of
//! a cluster are dominated by a vector of bounds, all of them, in every sensitive attribute: the vector
//! dominance problem. The sums of all sites' counts are compared with the bounds that follow from the
//! cluster's size, and whether one of them is exceeded is opened, not which
//! ([`any_at_least`](hedgerow_smc::Party::any_at_least)).
//!
//! All sites keep one bit for each cluster. A site that would move a record asks about the cluster that the
//! record would leave and the cluster that it would join, as they would then be; each cluster is in one move
//! of a batch at most, so that the answers do not depend on each other. A record that may not leave stays
//! (section 6.1); a record that may not join tries the next best cluster. Flattening (sections 6.1.1 and
//! 6.1.2) needs the counts, so each site only deals its own values evenly. Clusters that do not satisfy the
//! demands at the end are united with their nearest, and asked about again.
//!
//! # Discloses
//! To all sites, of a clustering: whether each cluster satisfies the demands on sensitive values; of a turn:
//! that the site still looks at records, which clusters would lose or gain a record, and whether they would
//! then satisfy the demands. No count of a sensitive value.

use std::collections::HashSet;

use hedgerow_privacy::{Model, Ratio, Requirement};
use hedgerow_smc::{Party, What};

use super::merge::nearest;
use super::work::Work;
use crate::clustering::CountsChoice;
use crate::clustering::numbers::{Cluster, Row};
use crate::error::Error;
use crate::horizontal::rows::OwnRows;

/// Whether clusters satisfy the demands on sensitive values.
pub const DIVERSE_CLUSTERS: What = What::new(
    "whether clusters satisfy the demands on sensitive values, as they are or would be",
    "TG12 section 8.2.2",
);
/// Sizes of clusters whose sensitive counts stay hidden.
pub const SIZES_ALONE: What = What::new("sizes of clusters", "TG12 Proposition 8.9");
/// The clusters that would lose or gain a record.
pub const TOUCHED_CLUSTERS: What = What::new(
    "clusters that would lose or gain a record",
    "TG12 section 8.2.2: hidden counts",
);

/// The most comparisons that are asked about at a time.
const MOST_AT_A_TIME: usize = 1 << 18;

/// What a site keeps where counts are hidden.
pub(super) struct Hidden {
    /// The demands on sensitive values.
    models: Vec<Model>,
    /// For each row, the places of its sensitive values among all values.
    values: Vec<u32>,
    /// Sensitive attributes.
    width: usize,
    /// Values of all sensitive attributes.
    counters: usize,
    /// For each cluster, whether it satisfies the demands: known to all sites.
    holds: Vec<bool>,
}

impl Hidden {
    /// What is kept for a plan with hidden counts, where demands speak of sensitive values.
    pub(super) fn of(
        rows: &OwnRows<'_>,
        work_models: &[Model],
        counts: CountsChoice,
    ) -> Option<Self> {
        let is_of_values = |model: &&Model| {
            !matches!(
                model,
                Model::KAnonymity { .. } | Model::SiteDiversity { .. }
            )
        };
        let models: Vec<Model> = work_models.iter().filter(is_of_values).cloned().collect();
        if counts == CountsChoice::Opened || models.is_empty() {
            return None;
        }
        let mut values = Vec::with_capacity(rows.count * rows.sensitive.len());
        for row in 0..rows.count {
            let mut from = 0;
            for column in &rows.sensitive {
                values.push(from + column.codes.get(row));
                from += column.size;
            }
        }
        let sizes = rows.sensitive.iter().map(|column| column.size as usize);
        Some(Self {
            models,
            values,
            width: rows.sensitive.len(),
            counters: sizes.sum(),
            holds: Vec::new(),
        })
    }

    /// The places of a row's sensitive values among all values.
    pub(super) fn values(&self, row: Row) -> &[u32] {
        &self.values[row.index() * self.width..(row.index() + 1) * self.width]
    }

    pub(super) fn open(&mut self) {
        self.holds.push(true);
    }

    pub(super) fn holds(&self, cluster: Cluster) -> bool {
        self.holds[cluster.index()]
    }

    pub(super) fn set(&mut self, cluster: Cluster, holds: bool) {
        self.holds[cluster.index()] = holds;
    }

    /// How often each value occurs among some rows.
    fn counts(&self, rows: impl Iterator<Item = Row>) -> Vec<u64> {
        let mut counts = vec![0; self.counters];
        for row in rows {
            for value in self.values(row) {
                counts[*value as usize] += 1;
            }
        }
        counts
    }

    /// For each part, with its size and this site's counts, whether no value occurs too often.
    async fn ask(&self, party: &mut Party, parts: &[(u64, Vec<u64>)]) -> Result<Vec<bool>, Error> {
        let mut all = Vec::with_capacity(parts.len());
        // Some at a time, so that memory is bounded.
        for parts in parts.chunks((MOST_AT_A_TIME / self.counters.max(1)).max(1)) {
            let bound = parts.iter().map(|(size, _)| *size).max().unwrap_or(0);
            let own: Vec<u64> = parts
                .iter()
                .flat_map(|(_, counts)| counts)
                .copied()
                .collect();
            let thresholds = parts.iter().flat_map(|(size, _)| {
                let most = self
                    .models
                    .iter()
                    .filter_map(|model| most(model, *size))
                    .min();
                std::iter::repeat_n(most.unwrap_or(*size) + 1, self.counters)
            });
            let thresholds: Vec<u64> = thresholds.collect();
            let groups = vec![self.counters; parts.len()];
            let mut exceeded = vec![false; parts.len()];
            party
                .any_at_least(
                    DIVERSE_CLUSTERS,
                    bound,
                    &own,
                    &thresholds,
                    &groups,
                    &mut exceeded,
                )
                .await?;
            all.extend(exceeded.into_iter().map(|exceeded| !exceeded));
        }
        Ok(all)
    }
}

/// The most records with one value that a class of this size may have; `None` where a model is not such a
/// bound on every value.
fn most(model: &Model, size: u64) -> Option<u64> {
    let share = |count: u64| Ratio::new(u128::from(count), u128::from(size));
    let holds: Box<dyn Fn(u64) -> bool> = match model {
        Model::Alpha { alpha } => Box::new(|count| share(count) <= *alpha),
        // A class without the value is diverse, however large l is.
        Model::FrequencyDiversity { l } => {
            Box::new(|count| count == 0 || Ratio::new(u128::from(size), u128::from(count)) >= *l)
        }
        Model::DistinctDiversity { l } if *l <= 2 => {
            Box::new(|count| *l < 2 || count < size || size == 0)
        }
        _ => return None,
    };
    // The greatest count that holds: between 0, which does, and one above the size.
    let (mut least, mut beyond) = (0, size + 1);
    while beyond - least > 1 {
        let middle = least + (beyond - least) / 2;
        if holds(middle) {
            least = middle;
        } else {
            beyond = middle;
        }
    }
    Some(least)
}

/// Refuses what cannot be decided without counts.
pub(super) fn refuse(requirement: &Requirement, sites: usize) -> Result<(), Error> {
    match undecided(requirement, Some(sites as u64)) {
        Some(why) => Err(Error::HiddenCounts { why }),
        None => Ok(()),
    }
}

/// Why a requirement cannot be decided without counts among so many sites, all reasons at once.
pub(crate) fn undecided(requirement: &Requirement, sites: Option<u64>) -> Option<String> {
    let of_values = |model: &&Model| {
        !matches!(
            model,
            Model::KAnonymity { .. } | Model::SiteDiversity { .. }
        )
    };
    let of_values: Vec<&Model> = requirement.models.iter().filter(of_values).collect();
    let mut why = Vec::new();
    if sites == Some(2) && !of_values.is_empty() {
        why.push(String::from(
            "among two sites, which would learn of each value whether it occurs too often; expected one site, or three or more",
        ));
    }
    if requirement.m.is_some_and(|m| m > 0) {
        why.push(String::from(
            "with m, which asks about values without the records of a coalition",
        ));
    }
    for model in of_values {
        if most(model, 1).is_none() {
            why.push(format!(
                "with {model}; expected alpha, l of kind \"frequency\", or l = 2 of kind \"distinct\", which bound how often each value may occur"
            ));
        }
    }
    (!why.is_empty()).then(|| why.join("; and "))
}

impl Work<'_> {
    /// Asks again which of some clusters satisfy the demands on sensitive values.
    pub(super) async fn ask_hidden(
        &mut self,
        party: &mut Party,
        clusters: &[Cluster],
    ) -> Result<(), Error> {
        let Some(hidden) = &self.hidden else {
            return Ok(());
        };
        let parts = clusters.iter().map(|cluster| {
            let own = self.members(*cluster).iter().copied();
            (self.clusters.size(*cluster), hidden.counts(own))
        });
        let parts: Vec<(u64, Vec<u64>)> = parts.collect();
        if parts.is_empty() {
            return Ok(());
        }
        let holds = hidden.ask(party, &parts).await?;
        self.calls += parts.len() as u64;
        if let Some(hidden) = &mut self.hidden {
            let clusters = clusters.iter().zip(holds);
            clusters.for_each(|(cluster, holds)| hidden.set(*cluster, holds));
        }
        Ok(())
    }

    /// Asks whether clusters would satisfy the demands with so many records: this site's part of a cluster
    /// is `own`.
    pub(super) async fn ask_trials(
        &mut self,
        party: &mut Party,
        trials: &[(u64, Vec<Row>)],
    ) -> Result<Vec<bool>, Error> {
        let Some(hidden) = &self.hidden else {
            return Ok(vec![true; trials.len()]);
        };
        let parts = trials
            .iter()
            .map(|(size, own)| (*size, hidden.counts(own.iter().copied())));
        let parts: Vec<(u64, Vec<u64>)> = parts.collect();
        self.calls += parts.len() as u64;
        hidden.ask(party, &parts).await
    }

    /// Refuses demands on sensitive values that not even the whole table satisfies.
    pub(super) async fn refuse_hidden(&mut self, party: &mut Party) -> Result<(), Error> {
        let Some(hidden) = &self.hidden else {
            return Ok(());
        };
        let (records, own) = (self.table.records(), Row::first(self.rows.count));
        if records == 0 {
            return Ok(());
        }
        let holds = hidden.ask(party, &[(records, hidden.counts(own))]).await?;
        if holds == [true] {
            return Ok(());
        }
        let models: Vec<String> = hidden.models.iter().map(ToString::to_string).collect();
        Err(Error::Unmeetable {
            records,
            model: models.join(" and "),
            best: String::from("the sensitive values of the whole table are too unequal for it"),
        })
    }

    /// Unites clusters that do not satisfy the demands on sensitive values with their nearest until all do.
    pub(super) async fn unite_lacking(&mut self, party: &mut Party) -> Result<(), Error> {
        loop {
            let Some(hidden) = &self.hidden else {
                return Ok(());
            };
            let lacking = self
                .clusters
                .living()
                .filter(|cluster| !hidden.holds(*cluster));
            let lacking: Vec<Cluster> = lacking.collect();
            let mut united: HashSet<Cluster> = HashSet::new();
            for cluster in lacking {
                if self.clusters.size(cluster) == 0 || united.contains(&cluster) {
                    continue;
                }
                // The whole table satisfies the demands, so the last cluster does.
                if let Some(into) = nearest(self, cluster) {
                    self.unite(cluster, into);
                    united.remove(&cluster);
                    united.insert(into);
                }
            }
            if united.is_empty() {
                return Ok(());
            }
            let mut asked: Vec<Cluster> = united.into_iter().collect();
            asked.sort_unstable();
            self.ask_hidden(party, &asked).await?;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A count may be as large as the bound and no larger, as the models themselves say.
        #[test]
        fn bounds_are_those_of_the_models(size in 1u64..400, tenths in 10u64..60, count in 0u64..400) {
            let count = count.min(size);
            let l = Ratio::new(u128::from(tenths), 10);
            let frequency = most(&Model::FrequencyDiversity { l }, size);
            prop_assert_eq!(Some(true), frequency.map(|most| (count <= most) == (count * tenths <= 10 * size)));
            let alpha = Ratio::new(10, u128::from(tenths));
            prop_assert_eq!(most(&Model::Alpha { alpha }, size), frequency);
            prop_assert_eq!(most(&Model::DistinctDiversity { l: 2 }, size), Some(size - 1));
            prop_assert_eq!(most(&Model::DistinctDiversity { l: 3 }, size), None);
        }
    }
}
