//! Synthetic tables: sizes, names, weighted draws.

use super::random::{Choice, Random};
use super::sites::sizes;
use super::*;

#[test]
fn a_choice_keeps_to_its_weights() {
    let weights = [5, 0, 1, 40, 4, 0, 50];
    let choice = Choice::new(weights);
    let mut random = Random::for_block(1, "test", 0, 0);
    let mut counts = [0u64; 7];
    for _ in 0..200_000 {
        counts[choice.draw(&mut random)] += 1;
    }
    for (count, weight) in counts.iter().zip(weights) {
        // Six standard deviations of the most variable of them.
        assert!(count.abs_diff(weight * 2000) < 1350, "{counts:?}");
        assert!(weight > 0 || *count == 0, "{counts:?}");
    }
    let only = Choice::new([0, 7, 0]);
    assert!((0..1000).all(|_| only.draw(&mut random) == 1));
    let equal = Choice::new([0, 0, 0]);
    assert!((0..1000).any(|_| equal.draw(&mut random) == 2));
}

#[test]
fn blocks_sites_kinds_and_seeds_have_randomness_of_their_own() {
    let first = |seed, kind, site, block| Random::for_block(seed, kind, site, block).bits();
    let draws = [
        first(1, "hospital", 0, 0),
        first(2, "hospital", 0, 0),
        first(1, "census", 0, 0),
        first(1, "hospital", 1, 0),
        first(1, "hospital", 0, 1),
    ];
    for (place, draw) in draws.iter().enumerate() {
        assert!(!draws[..place].contains(draw));
    }
    assert_eq!(draws[0], first(1, "hospital", 0, 0));
}

#[test]
fn site_sizes_add_up_and_fall() {
    for (rows, sites) in [
        (1, 1),
        (4, 4),
        (5, 4),
        (10_000, 4),
        (99, 40),
        (100_000_000, 1000),
    ] {
        let sizes = sizes(rows, sites).unwrap();
        assert_eq!(sizes.len(), sites);
        assert_eq!(sizes.iter().sum::<u64>(), rows);
        assert!(sizes.iter().all(|size| *size > 0));
        assert!(sizes.is_sorted_by(|one, next| one >= next));
    }
    let sizes = sizes(10_000, 4).unwrap();
    assert!(sizes[0] > sizes[3] * 3 / 2, "{sizes:?}");
}

#[test]
fn site_names_are_distinct() {
    let names: Vec<String> = (0..100).map(site_name).collect();
    assert_eq!(names[..4], ["north", "south", "east", "west"]);
    assert_eq!(names[16], "site-17");
    for (place, name) in names.iter().enumerate() {
        assert!(!names[..place].contains(name));
    }
}

#[test]
fn taxonomies_read_back() {
    for kind in [Kind::Hospital, Kind::Census, Kind::Institutions] {
        for (name, tree) in kind.taxonomies().unwrap() {
            assert_eq!(Taxonomy::from_rows(&tree.to_rows(), name).unwrap(), tree);
        }
    }
}
