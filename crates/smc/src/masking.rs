//! Which sites share masks: every two of a few, or each with its neighbours on a circle.
//!
//! Masks that every two sites share cost each site a stream for every other site and every vector. Bell,
//! Bonawitz, Gascón, Lepoint and Raykova, "Secure single-server aggregation with (poly)logarithmic
//! overhead" (CCS 2020), section 3, mask along the edges of a sparse graph instead: what colluding sites
//! learn is the sum of each part into which the honest sites fall when the colluding ones are taken out of
//! the graph. Where the honest sites stay connected, that is the sum of all of them, as with masks between
//! every two.
//!
//! Up to [`FULL`] sites the graph is full. Beyond, all sites stand on a circle, in an order drawn from the
//! run's public randomness, which follows from keys that every site had bound itself to before it saw
//! another's; each shares masks with the [`REACH`] sites before it and the [`REACH`] behind it (the Harary
//! graph of the paper, HGD(n, 2 REACH), without its dropouts).
//!
//! Guarantee: in the full graph, any m - 2 colluding sites learn the sum alone. On the circle, honest sites
//! fall apart only where two runs of at least REACH colluding sites each stand between them. So
//!
//! * any 2 REACH - 1 = 59 colluding sites learn the sum alone, whatever the order;
//! * sites that agreed to collude before the run began, up to half of all, learn the sum alone but with a
//!   probability below 2^-40: by the union bound over the places at which two runs can begin, n (n - 1) / 2
//!   times the probability that 2 REACH places have colluding sites. (A third of all sites: below 2^-75.)
//!
//! # Discloses
//! Nothing: the graph is public.

use crate::network::Site;
use crate::random::{Generator, Seed};

/// The most sites of which every two share masks.
pub const FULL: usize = 128;

/// The sites on each side of a site on the circle with which it shares masks, in runs of more sites.
pub const REACH: usize = 30;

/// The sites with which a site shares masks, in order.
pub(crate) fn masked_with(me: Site, sites: usize, session: &[u8; 32]) -> Vec<Site> {
    if sites <= FULL {
        return Site::all(sites).filter(|&peer| peer != me).collect();
    }
    let mut circle: Vec<Site> = Site::all(sites).collect();
    let seed = Seed::new(*session).derive("hedgerow circle of masks v1", 0);
    Generator::new(&seed).shuffle(&mut circle);
    let own = circle.iter().position(|&site| site == me).unwrap_or(0);
    let at = |steps: usize| circle[(own + steps) % sites];
    // There are more than 2 REACH other sites, so none stands on both sides.
    let near = (1..=REACH).flat_map(|steps| [at(steps), at(sites - steps)]);
    let mut near: Vec<Site> = near.collect();
    near.sort_unstable();
    near
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::MAXIMUM_SITES;

    /// How many parts honest sites fall into.
    fn parts(sites: usize, session: &[u8; 32], colluding: &[bool]) -> usize {
        let near: Vec<Vec<Site>> = Site::all(sites)
            .map(|site| masked_with(site, sites, session))
            .collect();
        let mut seen = colluding.to_vec();
        let mut parts = 0;
        for first in 0..sites {
            if seen[first] {
                continue;
            }
            parts += 1;
            seen[first] = true;
            let mut open = vec![first];
            while let Some(site) = open.pop() {
                for peer in &near[site] {
                    if !std::mem::replace(&mut seen[peer.index()], true) {
                        open.push(peer.index());
                    }
                }
            }
        }
        parts
    }

    /// The circle, read off the graph of no colluders: a test's own way to the order.
    fn circle(sites: usize, session: &[u8; 32]) -> Vec<Site> {
        let mut circle: Vec<Site> = Site::all(sites).collect();
        let seed = Seed::new(*session).derive("hedgerow circle of masks v1", 0);
        Generator::new(&seed).shuffle(&mut circle);
        circle
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn both_of_two_sites_know_that_they_share_masks(
            sites in (2usize..400),
            session: [u8; 32],
        ) {
            let near: Vec<Vec<Site>> = Site::all(sites)
                .map(|site| masked_with(site, sites, &session))
                .collect();
            let degree = if sites <= FULL { sites - 1 } else { 2 * REACH };
            for site in Site::all(sites) {
                prop_assert_eq!(near[site.index()].len(), degree);
                prop_assert!(near[site.index()].is_sorted_by(|one, two| one < two));
                for peer in &near[site.index()] {
                    prop_assert!(*peer != site && near[peer.index()].contains(&site));
                }
            }
        }

        #[test]
        fn any_59_colluding_sites_leave_the_others_together(
            sites in (FULL + 1..300),
            session: [u8; 32],
            cuts in any::<[proptest::sample::Index; 2]>(),
            first in 0..2 * REACH,
        ) {
            // The worst that so few can do is to stand in two runs.
            let circle = circle(sites, &session);
            let mut colluding = vec![false; sites];
            let mut left = 2 * REACH - 1;
            for (cut, length) in cuts.iter().zip([first, 2 * REACH]) {
                for step in 0..length.min(left) {
                    colluding[circle[(cut.index(sites) + step) % sites].index()] = true;
                }
                left -= length.min(left);
            }
            prop_assert_eq!(parts(sites, &session, &colluding), 1);
        }

        #[test]
        fn half_of_all_sites_leave_the_others_together(
            sites in (FULL + 1..=MAXIMUM_SITES),
            session: [u8; 32],
        ) {
            // Chosen without the order.
            let colluding: Vec<bool> = (0..sites).map(|site| site % 2 == 1).collect();
            prop_assert_eq!(parts(sites, &session, &colluding), 1);
        }
    }

    #[test]
    fn two_full_runs_cut_the_circle() {
        let (sites, session) = (200, [3; 32]);
        let circle = circle(sites, &session);
        let mut colluding = vec![false; sites];
        for step in (10..10 + REACH).chain(100..100 + REACH) {
            colluding[circle[step].index()] = true;
        }
        assert_eq!(parts(sites, &session, &colluding), 2);
    }

    #[test]
    fn the_probability_that_is_promised_follows_from_the_union_bound() {
        for sites in FULL + 1..=MAXIMUM_SITES {
            let bound = |colluding: usize| {
                let places = (sites * (sites - 1) / 2) as f64;
                // Without so many colluding sites there are no two runs: the logarithm of zero.
                let taken = (0..2 * REACH).map(|at| {
                    let (left, of) = (colluding.saturating_sub(at), sites - at);
                    (left as f64 / of as f64).log2()
                });
                places.log2() + taken.sum::<f64>()
            };
            assert!(bound(sites / 2) < -40.0, "{sites}: {}", bound(sites / 2));
            assert!(bound(sites / 3) < -75.0, "{sites}: {}", bound(sites / 3));
        }
    }
}
