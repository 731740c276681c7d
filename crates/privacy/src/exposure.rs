//! Loss of privacy of a set union (JX08 section 5.2): what an adversary gains from the messages of
//! a run beyond its result, and the bounds that random items buy.
//!
//! Named as in the paper: n nodes, a domain of m values, c items in the result, c_1 of them the
//! node's own, |r| random items.

/// LoP = P(C | IR, R) - P(C | R) (equation 1): how much likelier a claim is with the intermediate
/// results.
pub fn loss(with_intermediate: f64, with_result_only: f64) -> f64 {
    with_intermediate - with_result_only
}

/// Set exposure of the starting node to a successor that knows who started (equation 4).
pub fn set_exposure_of_starter(domain: u64, items: u64, own: u64, random: u64) -> f64 {
    let base = (domain - items + own) as f64 / domain as f64;
    base.powf(random as f64)
}

/// Set exposure when the starting node is drawn at random (equation 5).
pub fn set_exposure(nodes: u64, domain: u64, items: u64, own: u64, random: u64) -> f64 {
    set_exposure_of_starter(domain, items, own, random) / (nodes - 1) as f64
}

/// Bound on the item exposure of the starting node, each node contributing c/n items
/// (equation 7).
pub fn item_exposure_bound(nodes: u64, domain: u64, items: u64, random: u64) -> f64 {
    let share = items as f64 / nodes as f64;
    let others = items as f64 - share;
    let disguise = random as f64 * others / domain as f64;
    2.0 * share / (share + disguise) - 1.0 / (nodes - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_setting() {
        // Figure 11: 20 nodes, domain 100,000, 1,000 items; without random items about 0.05.
        let bound = set_exposure(20, 100_000, 1_000, 50, 0);
        assert!((bound - 1.0 / 19.0).abs() < 1e-12);
        // More random items, less loss.
        assert!(set_exposure(20, 100_000, 1_000, 50, 100) < 0.021);
        assert!(
            item_exposure_bound(20, 100_000, 1_000, 1_000)
                < item_exposure_bound(20, 100_000, 1_000, 10)
        );
        assert!((loss(0.3, 0.1) - 0.2).abs() < 1e-12);
    }
}
