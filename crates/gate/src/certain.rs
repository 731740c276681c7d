//! Homogeneity and skew (Machanavajjhala et al. 2006, "l-Diversity: privacy beyond k-anonymity", section 2.1;
//! Li et al. 2007, "t-Closeness", section 3).
//!
//! Attacker: knows a person's quasi-identifiers, comes to the person's class and takes its most frequent
//! sensitive value, where all of the class have that value (`certain`) or nine in ten (`skew`). Counted: records
//! for which this is right, of the attribute that shows most beyond its control. Control: what is expected if the same values were
//! dealt to the classes at random, by computation. Where own rows and people who are not in the table are
//! given, own rows are counted and these people are the control, both by the cheapest class that covers them:
//! what is as sure of strangers is what the population teaches. Cost: one pass over classes; people are placed
//! once.

use std::collections::HashMap;

use crate::attack::Attack;
use crate::finding::{Control, Count, Finding};
use crate::interval::ln_gamma;
use crate::known::Rows;
use crate::look::Look;
use crate::place::Placed;
use crate::subject::{Counted, Subject};

/// Skew: at least so many of ten.
const SKEWED: u64 = 9;

pub(crate) fn attack(attack: Attack, look: &Look<'_>, limit: Option<f64>) -> Finding {
    let sensitive = look.subject.sensitive();
    let each = sensitive
        .iter()
        .enumerate()
        .map(|(number, (position, codes))| {
            of_attribute(attack, look, limit, (number, *position, codes.as_slice()))
        });
    let worst = each.reduce(Finding::worse);
    worst.unwrap_or_else(|| Finding::nothing(attack, "the release has no sensitive attribute"))
}

/// The attack on one sensitive attribute: its number among those, its position, and its codes row by row.
fn of_attribute(
    attack: Attack,
    look: &Look<'_>,
    limit: Option<f64>,
    (number, position, codes): (usize, usize, &[u32]),
) -> Finding {
    let subject = look.subject;
    let is_right = |top: u64, size: u64| match attack {
        Attack::Certain => top == size,
        _ => 10 * top >= SKEWED * size,
    };
    let counted = subject.counted(codes);
    let right = |people: &Rows, placed: &Placed| -> Vec<u64> {
        let mut right = vec![0; subject.classes().count()];
        let places = placed.boxes.iter().zip(&people.sensitive[number]);
        for (row, (one, value)) in places.enumerate() {
            let Some(one) = one else { continue };
            let class = subject.class_of_box(*one as usize);
            let top = counted.top(class);
            if top.is_some_and(|(most, top)| most == *value && is_right(top, subject.size(class))) {
                right[class] += people.weight(row);
            }
        }
        right
    };
    // Where strangers are attacked, so are own rows, by the same guess.
    let (at_risk, of, control) = match (look.own(), look.holdout()) {
        (Some((own, placed)), Some((strangers, others))) if !strangers.is_empty() => {
            let found = right(strangers, others).iter().sum();
            let tried = strangers.people();
            let control = Control::counted("people not in the table", found, tried);
            (right(own, placed), Some(own.people()), control)
        }
        _ => {
            let expected: f64 = dealt(subject, &counted, is_right).iter().sum();
            let share = expected / subject.records().max(1) as f64;
            let control = Control::expected("the same values dealt at random", share);
            (at_risk(subject, &counted, is_right), None, control)
        }
    };
    let name = &subject.release().schema().attributes()[position].name;
    let count = Count {
        at_risk: at_risk.iter().sum(),
        of: of.unwrap_or_else(|| subject.records()),
        is_sample: of.is_some(),
        falls: match attack {
            Attack::Certain => format!("records whose `{name}` is certain"),
            _ => format!("records whose `{name}` is 90 % sure, and right"),
        },
    };
    Finding::of(attack, count, Some(control), limit, subject.worst(&at_risk))
}

/// Records of each class of which the most frequent value is right.
pub(crate) fn at_risk(
    subject: &Subject<'_>,
    counted: &Counted,
    is_right: impl Fn(u64, u64) -> bool,
) -> Vec<u64> {
    let of_class = |class: usize| match counted.top(class) {
        Some((_, top)) if is_right(top, subject.size(class)) => top,
        _ => 0,
    };
    (0..subject.classes().count()).map(of_class).collect()
}

/// For each class, the records that are expected to be at risk where the table's values are dealt to classes of
/// these sizes at random (hypergeometric).
pub(crate) fn dealt(
    subject: &Subject<'_>,
    counted: &Counted,
    is_right: impl Fn(u64, u64) -> bool,
) -> Vec<f64> {
    let totals = counted.totals(counted.size());
    let records = subject.records();
    let ways = |of: u64, taken: u64| {
        ln_gamma(of as f64 + 1.0)
            - ln_gamma(taken as f64 + 1.0)
            - ln_gamma((of - taken) as f64 + 1.0)
    };
    let expected = |size: u64| -> f64 {
        let all = ways(records, size);
        let least = least_right(size, &is_right);
        let mut sum = 0.0;
        for total in &totals {
            // Further from the mode than this, what is left of the sum is less than its rounding.
            let share = *total as f64 / records.max(1) as f64;
            let mode = (size as f64 * share) as u64;
            let reach = 40 * ((size as f64 * share * (1.0 - share)).sqrt() as u64 + 1);
            let from = least.max(mode.saturating_sub(reach));
            let to = size.min(*total).min(least.max(mode) + reach);
            for top in from..=to {
                if size - top <= records - total {
                    let ln = ways(*total, top) + ways(records - total, size - top) - all;
                    sum += top as f64 * ln.exp();
                }
            }
        }
        sum
    };
    let mut of_size: HashMap<u64, f64> = HashMap::new();
    let classes = 0..subject.classes().count();
    let each = classes.map(|class| {
        let size = subject.size(class);
        *of_size.entry(size).or_insert_with(|| expected(size))
    });
    each.collect()
}

/// The fewest records of a class of this size that make its most frequent value right: more of them do too.
fn least_right(size: u64, is_right: &impl Fn(u64, u64) -> bool) -> u64 {
    let (mut least, mut greatest) = (1, size.max(1));
    while least < greatest {
        let middle = least + (greatest - least) / 2;
        match is_right(middle, size) {
            true => greatest = middle,
            false => least = middle + 1,
        }
    }
    greatest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_is_right_is_found_among_billions() {
        let skewed = |top: u64, size: u64| 10 * top >= SKEWED * size;
        for size in 1..200 {
            let found = (1..=size).find(|top| skewed(*top, size));
            assert_eq!(Some(least_right(size, &skewed)), found);
        }
        assert_eq!(least_right(4_000_000_000, &skewed), 3_600_000_000);
        assert_eq!(
            least_right(4_000_000_000, &|top, size| top == size),
            4_000_000_000
        );
    }
}
