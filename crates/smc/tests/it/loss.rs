//! The loss of privacy of the published union, measured against JX08's bounds.
//!
//! m = 20 sites, a domain of 100,000, 1,000 items: the paper's Table 1. The mixing union's loss is
//! measured in `src/union/mixing.rs`.

use hedgerow_smc::settings::Uniting;
use hedgerow_smc::union::loss::Setting;

use crate::exposure::{DOMAIN, Measured, SHARE, SITES, measure, measure_of};

const UNIONS: usize = 120;

#[test]
fn the_published_union_keeps_the_paper_s_bounds() {
    let setting = Setting::even(SITES as u32, DOMAIN as f64, (SITES * SHARE) as f64);
    let by_chance = 1.0 / (SITES as f64 - 1.0);
    for decoys in [0, 100, 200] {
        let Measured {
            whole_sets,
            blind_sets,
            items,
            library,
        } = measure(decoys, UNIONS);
        // Four standard deviations of a frequency over the trials.
        let slack = 4.0 * (0.25 / UNIONS as f64).sqrt();
        let library = library.expect("unions were made");
        assert_eq!((library.unions, library.random_items), (120, decoys as u64));
        assert!((library.leader_set - whole_sets).abs() < 1e-9);
        // Over all sites, of which the last loses nothing to a leader that knows better.
        assert!((library.set - blind_sets * 19.0 / 20.0).abs() < 1e-9);
        assert!(library.set <= library.set_bound + slack * by_chance);
        assert!((library.leader_item - (items - by_chance)).abs() < 1e-9);
        let bounds = [
            (
                library.leader_set_bound,
                setting.set_exposure_known_leader(decoys),
            ),
            (library.set_bound, setting.set_exposure(decoys)),
            (
                library.leader_item_bound,
                setting.item_exposure_worst(decoys),
            ),
        ];
        assert!(
            bounds
                .iter()
                .all(|(found, paper)| (found - paper).abs() < 1e-9)
        );
        // Section 6.3: about 100 random items for a LoP of 0.02.
        assert_eq!(library.items_for_set, Some(102));
        let bound = setting.set_exposure_known_leader(decoys);
        assert!(
            (whole_sets - bound).abs() <= slack,
            "equation 4, {decoys}: {whole_sets} against {bound}"
        );
        // Who ignores the list's length does not know the leader.
        let bound = setting.set_exposure(decoys);
        assert!(
            (blind_sets - bound).abs() <= slack * by_chance,
            "equation 5, {decoys}: {blind_sets} against {bound}"
        );
        let bound = setting.item_exposure_worst(decoys);
        assert!(
            items - by_chance <= bound,
            "equation 7, {decoys}: {items} against {bound}"
        );
    }
}

#[test]
fn the_naive_union_gives_its_first_site_away() {
    // Section 5.1: the starting node has provable exposure to its successor.
    let library = measure_of(Uniting::Naive, 100, 3).library.expect("unions");
    assert_eq!(library.random_items, 0);
    assert_eq!(library.leader_set, 1.0);
    assert!((library.leader_item - 18.0 / 19.0).abs() < 1e-9);
}

#[test]
fn item_exposure_is_bounded_where_the_bound_says_something() {
    let setting = Setting::even(SITES as u32, DOMAIN as f64, (SITES * SHARE) as f64);
    let by_chance = 1.0 / (SITES as f64 - 1.0);
    let (decoys, unions) = (10_000, 4);
    let bound = setting.item_exposure_worst(decoys);
    assert!((bound - 0.637).abs() < 1e-3, "{bound}");
    let items = measure(decoys, unions).items;
    assert!(items - by_chance <= bound, "equation 7: {items}");
    // From below: the leader's 50 items among 95 of the others' that were drawn by chance, so
    // that a measurement which finds nothing is noticed. Four deviations of four unions.
    assert!((items - 50.0 / 145.0).abs() < 0.09, "{items}");
}
