//! The tree against a look at every cluster, through the one way in which clusters are changed.

use hedgerow_data::{Domain, Recode, Taxonomy};
use proptest::prelude::*;

use super::*;
use crate::clustering::Loss;
use crate::clustering::measure::Growth;
use crate::clustering::shape::Shape;
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
        changed in proptest::collection::vec((any::<usize>(), any::<usize>(), any::<bool>()), 0..10),
        wanted in (0..5u32, 0..10u32, 0..6u32),
        loss in 0..2usize, most in 1..6usize, below in 1..u64::MAX, left_out in any::<usize>(),
        is_renumbered in any::<bool>(),
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
        let mut clusters = Searched::new(&shapes, 0);
        for records in &clusters_of {
            let cluster = clusters.push();
            let records: Vec<Vec<u32>> = records.iter().map(|codes| record(*codes)).collect();
            let closure = shapes.of_records(records.iter().map(Vec::as_slice)).unwrap();
            clusters.change(|change| {
                *change.size_mut(cluster) = records.len() as u64;
                change.set_closure(cluster, &closure);
            });
        }
        let number = |any: usize| Cluster::at(any % clusters_of.len());
        for batch in changed.chunks(3) {
            clusters.change(|change| {
                for (one, other, is_placed) in batch {
                    let (one, other) = (number(*one), number(*other));
                    let closure = change.closure(other).to_vec();
                    *change.size_mut(one) = if one == other { 0 } else { change.size(other) + 1 };
                    change.set_closure(one, &closure);
                    if *is_placed {
                        change.place(one);
                    }
                }
            });
        }
        if is_renumbered && clusters.living().next().is_some() {
            clusters.renumber();
        }
        let left_out = Cluster::at(left_out % clusters.len());
        let living = || clusters.living().filter(|cluster| *cluster != left_out);
        let nearest = |measured: Vec<(u64, Cluster)>| {
            let mut near: Vec<(u64, Cluster)> =
                measured.into_iter().filter(|(measure, _)| *measure < below).collect();
            near.sort_unstable();
            near.truncate(most);
            near
        };
        let may_be = |cluster: Cluster| cluster != left_out;
        let bounds = (most, below);

        let wanted = record(wanted);
        let growth = Growth::new(&shapes, &wanted);
        let found = clusters.nearest(&growth, bounds, may_be);
        prop_assert_eq!(found, nearest(living()
            .map(|cluster| (clusters.growth(&shapes, cluster, &wanted), cluster)).collect()));

        let closure = clusters.closure(left_out).to_vec();
        let common = clusters.common(&closure);
        let found = clusters.nearest(&common, bounds, may_be);
        prop_assert_eq!(found, nearest(living().map(|cluster| {
            (shapes.common_cost(&closure, clusters.closure(cluster)), cluster)
        }).collect()));

        if clusters.size(left_out) > 0 {
            let united = clusters.united(left_out);
            let found = clusters.nearest(&united, bounds, may_be);
            prop_assert_eq!(found, nearest(living().map(|cluster| {
                let apart = clusters.loss_of(left_out) + clusters.loss_of(cluster);
                (clusters.loss_united(&shapes, left_out, cluster) - apart, cluster)
            }).collect()));
        }

        let mut met = Vec::new();
        clusters.meeting(&closure, &mut |cluster| met.push(cluster));
        met.sort_unstable();
        let meets = |cluster: &Cluster| shapes.meet(clusters.closure(*cluster), &closure);
        prop_assert_eq!(met, clusters.living().filter(meets).collect::<Vec<Cluster>>());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Entropy may fall as closures widen: the tree still finds the cluster whose loss grows least, and of
    /// equal clusters the first.
    #[test]
    fn as_a_look_at_every_cluster_by_entropy(
        clusters_of in proptest::collection::vec(
            proptest::collection::vec((0..5u32, 0..10u32, 0..6u32), 1..5), 1..120),
        heavy in (0..5usize, 0..10usize, 0..6usize),
        weight in 1..200u64,
        sizes in proptest::collection::vec(1..40u64, 1..9),
        changed in proptest::collection::vec((any::<usize>(), any::<usize>()), 0..20),
        wanted in (0..5u32, 0..10u32, 0..6u32),
        below in prop_oneof![Just(i128::MAX), -1_000_000_000..1_000_000_000i128],
        left_out in any::<usize>(),
    ) {
        let domains = domains();
        let recodes = [Recode::Node, Recode::Range, Recode::Set];
        let heavy = [heavy.0, heavy.1, heavy.2];
        let shapes = domains.iter().zip(recodes).zip(heavy).map(|((domain, recode), heavy)| {
            let mut counts = vec![1; domain.size() as usize];
            counts[heavy] = weight;
            Shape::new(Writing { domain, recode }, Loss::Em, &counts)
        });
        let shapes = Shapes::new(shapes.collect());
        let mut clusters = Searched::new(&shapes, 0);
        for (place, records) in clusters_of.iter().enumerate() {
            let cluster = clusters.push();
            let records: Vec<[u32; 3]> = records.iter().map(|(a, b, c)| [*a, *b, *c]).collect();
            let closure = shapes.of_records(records.iter().map(<[u32; 3]>::as_slice)).unwrap();
            clusters.change(|change| {
                *change.size_mut(cluster) = sizes[place % sizes.len()];
                change.set_closure(cluster, &closure);
            });
        }
        for (one, other) in changed {
            let (one, other) = (one % clusters_of.len(), other % clusters_of.len());
            clusters.change(|change| {
                let closure = change.closure(Cluster::at(other)).to_vec();
                change.set_closure(Cluster::at(one), &closure);
                *change.size_mut(Cluster::at(one)) = (other % 7) as u64;
            });
        }
        let wanted = [wanted.0, wanted.1, wanted.2];
        let left_out = Cluster::at(left_out % clusters.len());
        let living = clusters.living().filter(|cluster| *cluster != left_out);
        let grown = living.map(|cluster| {
            let joined = i128::from(shapes.joined_cost(clusters.closure(cluster), &wanted));
            let size = i128::from(clusters.size(cluster));
            ((size + 1) * joined - i128::from(clusters.loss_of(cluster)), cluster)
        });
        let least = grown.filter(|(grown, _)| *grown < below).min();
        let found = clusters.least_grown(&wanted, below, |cluster| cluster != left_out);
        prop_assert_eq!(found, least.map(|(_, cluster)| cluster));
    }
}
