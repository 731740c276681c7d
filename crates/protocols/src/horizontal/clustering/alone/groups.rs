//! Which clusters are rebuilt together: neighbours, other ones each time.

use hedgerow_smc::{Generator, Seed};

use super::build::Kind;
use super::built::Built;
use super::quick::Quick;
use crate::clustering::neighbours::{Grouping, apart};

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
    // Windows begin elsewhere each time.
    let first = generator.below(WINDOW as u64) as usize;
    let mut bytes = [0; 32];
    generator.fill(&mut bytes);
    let grouping = Grouping {
        attributes: &attributes,
        window: WINDOW,
        first,
        size,
        seed: &Seed::new(bytes),
    };
    let closure = |place: usize| clusters[place].closure.as_ref();
    let apart = |centre, other: usize| {
        let common = quick.common_cost(closure(centre), closure(other));
        apart(common, clusters[other].cost)
    };
    grouping.groups(
        quick.shapes(),
        (0..clusters.len()).collect(),
        closure,
        apart,
    )
}
