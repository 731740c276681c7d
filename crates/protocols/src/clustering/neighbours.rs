//! Groups of neighbouring clusters, by what both would lose in a common closure. Neighbours are looked for
//! in a window of an order of all clusters that is another order each time, so that the cost for each
//! cluster does not grow with their number.

use hedgerow_smc::{Generator, Seed};
use rayon::prelude::*;

use super::shapes::Shapes;

/// How clusters come into groups.
pub(crate) struct Grouping<'a> {
    /// Attributes by whose parts of closures clusters are ordered.
    pub(crate) attributes: &'a [usize],
    /// Clusters of a window, and of the first window.
    pub(crate) window: usize,
    pub(crate) first: usize,
    /// Clusters of a group.
    pub(crate) size: usize,
    /// From which the middles of groups are drawn.
    pub(crate) seed: &'a Seed,
}

impl Grouping<'_> {
    /// All clusters in groups. `closure` says what is written for a cluster's records, and `apart` how far
    /// another cluster is from the first.
    pub(crate) fn groups<'c, C>(
        &self,
        shapes: &Shapes<'_>,
        mut clusters: Vec<C>,
        closure: impl Fn(C) -> &'c [u64] + Sync,
        apart: impl Fn(C, C) -> u64 + Sync,
    ) -> Vec<Vec<C>>
    where
        C: Copy + Ord + Send + Sync,
    {
        let parts = |cluster: C| {
            let closure = closure(cluster);
            let attributes = self.attributes.iter();
            attributes.flat_map(move |attribute| shapes.part(*attribute, closure))
        };
        clusters.par_sort_by(|one, other| parts(*one).cmp(parts(*other)).then(one.cmp(other)));
        let (first, rest) = clusters.split_at(self.first.min(clusters.len()));
        let rest = rest.chunks(self.window);
        let windows: Vec<&[C]> = std::iter::once(first).chain(rest).collect();
        let groups = windows.par_iter().enumerate().map(|(number, window)| {
            let seed = self.seed.derive("a window of clusters", number as u64);
            neighbours(window, self.size, &apart, &mut Generator::new(&seed))
        });
        groups.flatten_iter().collect()
    }
}

/// The clusters of a window in groups, each around a random cluster.
fn neighbours<C: Copy>(
    window: &[C],
    size: usize,
    apart: &impl Fn(C, C) -> u64,
    generator: &mut Generator,
) -> Vec<Vec<C>> {
    let mut left = window.to_vec();
    generator.shuffle(&mut left);
    let mut groups = Vec::with_capacity(left.len() / size + 1);
    let mut near: Vec<(u64, usize)> = Vec::new();
    while let Some(centre) = left.pop() {
        near.clear();
        let others = left.iter().enumerate();
        near.extend(others.map(|(place, other)| (apart(centre, *other), place)));
        if near.len() >= size {
            near.select_nth_unstable(size - 2);
            near.truncate(size - 1);
        }
        // From behind, so that the places of the others stay.
        near.sort_unstable_by_key(|(_, place)| std::cmp::Reverse(*place));
        let mut group = vec![centre];
        group.extend(near.iter().map(|(_, place)| left.swap_remove(*place)));
        groups.push(group);
    }
    groups
}

/// How far a cluster is from another: what both lose in their common closure, but for what the other
/// loses now. Among clusters that would cost the same together, those that cost much come first.
pub(crate) fn apart(common: u64, cost: u64) -> u64 {
    (2 * common).saturating_sub(cost)
}
