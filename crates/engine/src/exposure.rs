//! The loss of privacy of a simulated run at the published level in words, for summaries and reports.

use hedgerow_smc::exposure::{Extremes, LEVEL, LossOfPrivacy, Unions};

use crate::words::{count, thousands};

/// What the loss is, in a sentence.
pub(crate) const MEANING: &str = "How much more often a site that keeps what passes along the ring is right about its predecessor than one that has the result alone (JX08 equation 1), counted on this run's transcript.";

/// What was measured, and how much it is.
pub(crate) fn rows(loss: &LossOfPrivacy) -> Vec<[String; 2]> {
    let extremes = loss.extremes.iter().flat_map(of_extremes);
    extremes
        .chain(loss.unions.iter().flat_map(of_unions))
        .collect()
}

fn of_extremes(extremes: &Extremes) -> Vec<[String; 2]> {
    let laps = extremes.by_lap.iter().zip(1..);
    let worst = laps.max_by(|(one, _), (other, _)| one.total_cmp(other));
    let (worst, lap) = worst.unwrap_or((&0.0, 0));
    let row = |what: &str, value: String| [what.to_owned(), value];
    vec![
        row(
            "extremes: values that sites held",
            thousands(extremes.values),
        ),
        row(
            "extremes: right claims that a value is what passed",
            format!(
                "{} of {}",
                thousands(extremes.right),
                thousands(extremes.claims)
            ),
        ),
        row(
            "extremes: LoP of the worst lap",
            format!("{worst:.4} (lap {lap})"),
        ),
        row(
            "extremes: mean LoP of a lap",
            format!("{:.4}", extremes.mean),
        ),
    ]
}

fn of_unions(unions: &Unions) -> Vec<[String; 2]> {
    let row = |what: &str, measured: f64, bound: f64, equation: u8| {
        let value = format!(
            "{measured:.4}, over draws of random items expected at most {bound:.4} (equation {equation})"
        );
        [what.to_owned(), value]
    };
    let for_set = match unions.items_for_set {
        Some(items) => thousands(items),
        None => String::from("no number is enough"),
    };
    let enough = format!(
        "{} in {}; for a LoP of {LEVEL}, {for_set} by equation 9 and {} by equation 10",
        thousands(unions.random_items),
        count(unions.unions, "union", "unions"),
        thousands(unions.items_for_item),
    );
    vec![
        row(
            "union: LoP of the leader's set, the leader known",
            unions.leader_set,
            unions.leader_set_bound,
            4,
        ),
        row(
            "union: LoP of a site's set",
            unions.set,
            unions.set_bound,
            5,
        ),
        row(
            "union: LoP of the leader's item, the leader known",
            unions.leader_item,
            unions.leader_item_bound,
            7,
        ),
        [String::from("union: random items"), enough],
    ]
}
