//! The census: its taxonomies and its joint structure.

use super::*;

/// The model counts values in the order of its lists, the study in leaf order: they agree only if
/// no list comes back to a node it has left.
#[test]
fn leaf_order_is_list_order() {
    let trees = taxonomies().unwrap();
    let values = |place: usize| trees[place].1.values();
    assert!(values(0).eq(MARITAL.iter().map(|(label, _)| *label)));
    assert!(values(1).eq(LEVELS.iter().map(|one| one.label)));
    assert!(values(2).eq(COUNTRIES.iter().map(|one| one.label)));
    assert!(values(3).eq(FORMS.iter().map(|one| one.label)));
    assert!(values(4).eq(OCCUPATIONS.iter().map(|one| one.label)));
    assert!(values(5).eq(SALARIES.iter().map(|(label, _, _)| *label)));
}

#[test]
fn points_never_exceed_the_most() {
    let most = |points: &mut dyn Iterator<Item = usize>| points.max().unwrap_or(0);
    let sum = most(&mut FORMS.iter().map(|one| one.pay))
        + most(&mut LEVELS.iter().map(|one| one.pay))
        + most(&mut OCCUPATIONS.iter().map(|one| one.pay))
        + most(&mut AGE_PAY.into_iter())
        + 3;
    assert!(sum as u64 <= MOST_POINTS);
}
