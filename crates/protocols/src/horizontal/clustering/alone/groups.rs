//! Which clusters are rebuilt together: neighbours, by what both would lose in a common closure. Neighbours are
//! looked for in a window of an order of all clusters that is another one each time, so that the cost for
//! each cluster does not grow with their number.

use hedgerow_smc::{Generator, Seed};
use rayon::prelude::*;

use super::build::Kind;
use super::built::Built;
use super::quick::Quick;

/// The least and the greatest number of clusters in a group.
const LEAST: u64 = 2;
const GREATEST: u64 = 4;
/// Clusters of a group in which one is opened.
const WIDE: usize = 10;
/// Clusters of a window.
const WINDOW: usize = 300;

/// All clusters in groups of neighbours.
pub(super) fn groups(
    quick: &Quick<'_>,
    clusters: &[Built],
    kind: Kind,
    generator: &mut Generator,
) -> Vec<Vec<usize>> {
    let mut attributes: Vec<usize> = (0..quick.shapes().attributes()).collect();
    generator.shuffle(&mut attributes);
    let size = match kind {
        Kind::Grown => (LEAST + generator.below(GREATEST - LEAST + 1)) as usize,
        Kind::Opened => WIDE,
    };
    let mut order: Vec<usize> = (0..clusters.len()).collect();
    order.par_sort_by(|one, other| {
        let parts = |place: &usize| {
            let closure = &clusters[*place].closure;
            let attributes = attributes.iter();
            attributes.flat_map(move |attribute| quick.shapes().part(*attribute, closure))
        };
        parts(one).cmp(parts(other)).then(one.cmp(other))
    });
    // Windows begin elsewhere each time.
    let first = generator.below(WINDOW as u64) as usize;
    let (first, rest) = order.split_at(first.min(order.len()));
    let mut bytes = [0; 32];
    generator.fill(&mut bytes);
    let seed = Seed::new(bytes);
    let windows: Vec<&[usize]> = std::iter::once(first).chain(rest.chunks(WINDOW)).collect();
    let groups = windows.par_iter().enumerate().map(|(number, window)| {
        let mut generator = Generator::new(&seed.derive("a window of clusters", number as u64));
        neighbours(quick, clusters, (window, size), &mut generator)
    });
    groups.flatten_iter().collect()
}

/// The clusters of a window in groups, each around a random cluster.
fn neighbours(
    quick: &Quick<'_>,
    clusters: &[Built],
    (window, size): (&[usize], usize),
    generator: &mut Generator,
) -> Vec<Vec<usize>> {
    let mut left = window.to_vec();
    generator.shuffle(&mut left);
    let mut groups = Vec::with_capacity(left.len() / size + 1);
    let mut near: Vec<(u64, usize)> = Vec::new();
    while let Some(centre) = left.pop() {
        let closure = &clusters[centre].closure;
        near.clear();
        near.extend(left.iter().enumerate().map(|(place, other)| {
            let other = &clusters[*other];
            let common = quick.common_cost(closure, &other.closure);
            // What the other cluster loses by the common closure, and what the first does: so among
            // clusters that would cost the same together, those that cost much come first.
            ((2 * common).saturating_sub(other.cost), place)
        }));
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
