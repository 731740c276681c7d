//! The smallest coalition that breaches, for the verifier of releases: the exact strategy for
//! growing m, and every coalition of every size where the requirement is not monotone. Coalitions
//! are lists of sites here, so a class may have any number of them.

use std::sync::Arc;

use super::exact::{Bounds, Exact};
use super::sites::is_monotone;
use super::sweep::Sweep;
use crate::collusion::{Members, Remainder};
use crate::model::{Model, TableView};

impl Members {
    /// The smallest coalition, of at most `limit` sites, whose records' removal breaks one of the
    /// models: 0 if the whole class breaks a model, `None` if no coalition does.
    pub fn least_breaking(
        &self,
        models: &[Model],
        table: &TableView<'_>,
        limit: u64,
    ) -> Option<u64> {
        // All sites together leave nobody.
        let most = self.sites().saturating_sub(1);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX).min(most);
        let mut remainder = Remainder::of(self, models, table);
        let least = if is_monotone(models) {
            let bounds = Arc::new(Bounds::new(self, models));
            least(limit, |m| {
                let mut worst = Exact::new(Arc::clone(&bounds), m);
                worst.any(|gone| remainder.is_broken_without(gone))
            })
        } else {
            let mut all = Sweep::new(self.sites(), 0, limit);
            let breach = all.find(|gone| remainder.is_broken_without(gone.iter().copied()));
            breach.map(|gone| gone.len())
        };
        least.map(|size| size as u64)
    }
}

/// The least m up to `limit` for which the class is breached, where it is breached for all greater m
/// too. From below in growing steps: the greater m, the longer the search may take.
fn least(limit: usize, mut is_breached: impl FnMut(usize) -> bool) -> Option<usize> {
    let (mut low, mut high) = (0, 0);
    while !is_breached(high) {
        if high == limit {
            return None;
        }
        low = high + 1;
        high = (2 * high + 1).min(limit);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if is_breached(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::coalition::OfSize;
    use super::*;
    use crate::counts::Counts;
    use crate::measure;
    use crate::model::ClassView;
    use crate::ratio::Ratio;

    const NO_TABLE: TableView<'_> = TableView {
        references: &[],
        movers: Vec::new(),
    };

    #[test]
    fn the_least_of_every_limit() {
        for limit in 0..40 {
            for first in 0..42 {
                let found = least(limit, |m| m >= first);
                assert_eq!(found, (first <= limit).then_some(first), "{limit} {first}");
            }
        }
    }

    /// The search for few values keeps almost all sites, one below the other.
    #[test]
    fn thousands_of_sites() {
        let sites: Vec<u32> = (0..2000).collect();
        let class = Members::new(&sites, [&sites[..]]);
        let breaking = |models: &[Model], limit| class.least_breaking(models, &NO_TABLE, limit);
        let l = Model::DistinctDiversity { l: 1996 };
        assert_eq!(breaking(std::slice::from_ref(&l), 5), Some(5));
        assert_eq!(breaking(&[l, Model::KAnonymity { k: 1997 }], 5), Some(4));
        let k = [Model::KAnonymity { k: 2 }];
        assert_eq!(breaking(&k, u64::MAX), Some(1999));
        assert_eq!(breaking(&k, 1998), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// More sites than a coalition of the strategies can name, each with a record or more.
        #[test]
        fn more_sites_than_a_coalition_can_name(
            codes in proptest::collection::vec(0..60u32, 129..150),
            more in proptest::collection::vec((0..129u32, 0..60u32), 0..40),
            lost in 0..4u64,
            thousandths in 950..1000u32,
        ) {
            let firsts = codes.into_iter().enumerate().map(|(site, code)| (site as u32, code));
            let records: Vec<(u32, u32)> = firsts.chain(more).collect();
            let (sites, codes): (Vec<u32>, Vec<u32>) = records.iter().copied().unzip();
            let class = Members::new(&sites, [&codes[..]]);
            let values: Vec<u32> = (0..60).collect();
            let left = |gone: &[usize]| {
                let mut counts = vec![0; values.len()];
                for (site, code) in &records {
                    counts[*code as usize] += u64::from(!gone.contains(&(*site as usize)));
                }
                counts
            };
            let whole = left(&[]);
            let whole = Counts::new(&values, &whole);
            let entropy = measure::entropy_diversity(whole) * f64::from(thousandths);
            let diverse = Model::DistinctDiversity { l: measure::distinct(whole) - lost };
            let large = Model::KAnonymity { k: whole.size() - 2 * lost };
            let even = Model::EntropyDiversity { l: Ratio::new(entropy as u128, 1000) };
            for models in [vec![diverse.clone()], vec![diverse, large], vec![even]] {
                let breaks = |gone: &Vec<usize>| {
                    let counts = left(gone);
                    let sensitive = [Counts::new(&values, &counts)];
                    let view = ClassView { size: sensitive[0].size(), sensitive: &sensitive, sites: None };
                    !models.iter().all(|model| model.holds(&view, &NO_TABLE))
                };
                let mut all = (0..=2).flat_map(|size| OfSize::new(class.sites(), size));
                let expected = all.find(breaks).map(|gone| gone.len() as u64);
                prop_assert_eq!(class.least_breaking(&models, &NO_TABLE, 2), expected, "{:?}", models);
            }
        }
    }
}
