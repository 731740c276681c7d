//! Downcoding (Cohen 2022, "Attacks on deidentification's defenses"): a class that covers more than another one
//! has nobody in the other's place, so its cells stand for less than is written.
//!
//! Attacker: knows everybody's quasi-identifiers. Where one class lies in another and both are written alike
//! but in one attribute, and the lesser has as many records as there are people whom its cells cover, nobody of
//! the greater is there: the greater's cell of that attribute is narrowed. Counted: records of classes with a
//! narrowed cell. Needs the rows of all records, since only they show that a narrowing is right. No control:
//! it is. Cost: for each attribute, classes that are alike in all others.

use std::collections::HashMap;

use hedgerow_data::Cell;

use crate::attack::Attack;
use crate::finding::{Count, Finding};
use crate::known::Rows;
use crate::look::Look;
use crate::place;
use crate::subject::Subject;

pub(crate) fn attack(look: &Look<'_>, limit: Option<f64>) -> Finding {
    let subject = look.subject;
    let Some((own, _)) = look.whole() else {
        return Finding::not_tried(Attack::Downcoding, "--own with the rows of all records");
    };
    if subject.is_fragmented() {
        return Finding::nothing(Attack::Downcoding, "groups do not stand for places");
    }
    let pairs = within(subject);
    let mut inner: Vec<usize> = pairs.iter().map(|(_, inner)| *inner).collect();
    inner.sort_unstable();
    inner.dedup();
    let is_full = full(subject, own, &inner);
    let mut at_risk = vec![0; subject.classes().count()];
    for (outer, inner) in &pairs {
        if is_full.get(inner).copied().unwrap_or(false) {
            at_risk[*outer] = subject.size(*outer);
        }
    }
    let count = Count {
        at_risk: at_risk.iter().sum(),
        of: subject.records(),
        is_sample: false,
        falls: String::from("records with a cell that stands for less than is written"),
    };
    let worst = subject.worst(&at_risk);
    Finding::of(Attack::Downcoding, count, None, limit, worst)
}

/// Pairs of classes of which the second lies in the first and is written alike but in one attribute.
fn within(subject: &Subject<'_>) -> Vec<(usize, usize)> {
    let places = subject.quasi().len();
    let mut pairs = Vec::new();
    for place in 0..places {
        let mut alike: HashMap<Vec<&Cell>, Vec<usize>> = HashMap::new();
        for one in 0..subject.boxes().count() {
            let others = (0..places).filter(|other| *other != place);
            let others = others
                .filter_map(|other| subject.cell(one, other))
                .collect();
            alike.entry(others).or_default().push(one);
        }
        for group in alike.into_values().filter(|group| group.len() > 1) {
            for outer in &group {
                for inner in &group {
                    let (Some(wide), Some(narrow)) =
                        (subject.cell(*outer, place), subject.cell(*inner, place))
                    else {
                        continue;
                    };
                    let (least, greatest) = narrow.bounds();
                    let lies_in = narrow.count() < wide.count()
                        && (least..=greatest)
                            .filter(|code| narrow.contains(*code))
                            .all(|code| wide.contains(code));
                    if outer != inner && lies_in {
                        pairs.push((*outer, *inner));
                    }
                }
            }
        }
    }
    pairs
}

/// Whether classes have as many records as there are people whom their cells cover.
fn full(subject: &Subject<'_>, own: &Rows, classes: &[usize]) -> HashMap<usize, bool> {
    let covered = place::covered(subject, own, classes);
    let each = classes.iter().zip(covered);
    each.map(|(class, people)| (*class, people == subject.size(*class)))
        .collect()
}
