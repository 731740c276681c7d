//! The tree against a look at every cluster.

use hedgerow_data::{Domain, Recode, Taxonomy};
use proptest::prelude::*;

use super::*;
use crate::clustering::measure::Growth;
use crate::clustering::shape::{Loss, Shape};
use crate::horizontal::cover::Writing;

/// Three attributes: a tree of two levels, numbers that may be missing, and values of which sets are written.
fn domains() -> [Domain; 3] {
    let lines = "a;low;*\nb;low;*\nc;high;*\nd;high;*\ne;high;*\n";
    let tree = Taxonomy::from_text(lines, "tree.csv").unwrap();
    [
        Domain::category(tree, false),
        Domain::integer(0, 8, 1).unwrap().with_missing("NA".into()),
        Domain::integer(0, 5, 1).unwrap(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The tree finds what a look at every cluster finds, also after clusters changed and went.
    #[test]
    fn as_a_look_at_every_cluster(
        clusters_of in proptest::collection::vec(
            proptest::collection::vec((0..5u32, 0..10u32, 0..6u32), 1..5), 1..30),
        changed in proptest::collection::vec((any::<usize>(), any::<usize>()), 0..10),
        wanted in (0..5u32, 0..10u32, 0..6u32),
        loss in 0..2usize, most in 1..6usize, below in 1..u64::MAX, left_out in any::<usize>(),
    ) {
        let domains = domains();
        let loss = [Loss::Lm, Loss::Ncp][loss];
        let recodes = [Recode::Node, Recode::Range, Recode::Set];
        let shapes: Vec<Shape<'_>> = domains.iter().zip(recodes).map(|(domain, recode)| {
            let counts = vec![1; domain.size() as usize];
            Shape::new(Writing { domain, recode }, loss, &counts)
        }).collect();
        let shapes = Shapes::new(shapes);
        let record = |(a, b, c): (u32, u32, u32)| vec![a, b, c];
        let mut clusters = Clusters::new(shapes.width(), 0);
        for records in &clusters_of {
            let cluster = clusters.push();
            let records: Vec<Vec<u32>> = records.iter().map(|codes| record(*codes)).collect();
            let closure = shapes.of_records(records.iter().map(Vec::as_slice)).unwrap();
            clusters.sizes[cluster] = records.len() as u64;
            clusters.set_closure(&shapes, cluster, &closure);
        }
        let mut search = Search::new(&shapes, &clusters);
        for (one, other) in changed {
            let (one, other) = (one % clusters.len(), other % clusters.len());
            let closure = clusters.closure(other).to_vec();
            clusters.sizes[one] = if one == other { 0 } else { clusters.sizes[other] + 1 };
            clusters.set_closure(&shapes, one, &closure);
            search.put(&shapes, &clusters, one);
        }
        let left_out = left_out % clusters.len();
        let living = || clusters.living().filter(|cluster| *cluster != left_out);
        let nearest = |measured: Vec<(u64, usize)>| {
            let mut near: Vec<(u64, usize)> =
                measured.into_iter().filter(|(measure, _)| *measure < below).collect();
            near.sort_unstable();
            near.truncate(most);
            near
        };
        let may_be = |cluster: usize| cluster != left_out;
        let bounds = (most, below);

        let wanted = record(wanted);
        let growth = Growth::new(&shapes, &wanted);
        let found = search.nearest((&shapes, &clusters), &growth, bounds, may_be);
        prop_assert_eq!(found, nearest(living()
            .map(|cluster| (clusters.growth(&shapes, cluster, &wanted), cluster)).collect()));

        let closure = clusters.closure(left_out).to_vec();
        let common = search.common(&shapes, &closure);
        let found = search.nearest((&shapes, &clusters), &common, bounds, may_be);
        prop_assert_eq!(found, nearest(living().map(|cluster| {
            (shapes.common_cost(&closure, clusters.closure(cluster)), cluster)
        }).collect()));

        if clusters.sizes[left_out] > 0 {
            let united = search.united(&shapes, &clusters, left_out);
            let found = search.nearest((&shapes, &clusters), &united, bounds, may_be);
            prop_assert_eq!(found, nearest(living().map(|cluster| {
                let apart = clusters.loss_of(left_out) + clusters.loss_of(cluster);
                (clusters.loss_united(&shapes, left_out, cluster) - apart, cluster)
            }).collect()));
        }

        let mut met = Vec::new();
        search.meeting((&shapes, &clusters), &closure, &mut |cluster| met.push(cluster));
        met.sort_unstable();
        let meets = |cluster: &usize| shapes.meet(clusters.closure(*cluster), &closure);
        prop_assert_eq!(met, clusters.living().filter(meets).collect::<Vec<usize>>());
    }
}
