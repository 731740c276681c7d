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
            let cells = group.into_iter().filter_map(|one| {
                let cell = subject.cell(one, place)?;
                Some((cell.bounds().0, one, cell))
            });
            let mut cells: Vec<(u32, usize, &Cell)> = cells.collect();
            cells.sort_unstable_by_key(|(least, one, _)| (*least, *one));
            for (least, outer, wide) in &cells {
                let greatest = wide.bounds().1;
                // Only cells that begin within the wide one can lie in it: of cells beside each other, none.
                let first = cells.partition_point(|(begins, _, _)| begins < least);
                let near = cells[first..]
                    .iter()
                    .take_while(|(begins, _, _)| *begins <= greatest);
                let inner = near.filter(|(_, one, narrow)| one != outer && lies_in(narrow, wide));
                pairs.extend(inner.map(|(_, inner, _)| (*outer, *inner)));
            }
        }
    }
    pairs
}

/// Whether a cell covers a part of what another one covers, and not all of it.
fn lies_in(narrow: &Cell, wide: &Cell) -> bool {
    let (least, greatest) = narrow.bounds();
    let (from, to) = wide.bounds();
    if narrow.count() >= wide.count() || least < from || greatest > to {
        return false;
    }
    // A cell that covers all between its ends covers all between other ends within.
    let has_no_gap = u64::from(wide.count()) == u64::from(to) - u64::from(from) + 1;
    has_no_gap
        || (least..=greatest)
            .filter(|code| narrow.contains(*code))
            .all(|code| wide.contains(code))
}

/// Whether classes have as many records as there are people whom their cells cover.
fn full(subject: &Subject<'_>, own: &Rows, classes: &[usize]) -> HashMap<usize, bool> {
    let covered = place::covered(subject, own, classes);
    let each = classes.iter().zip(covered);
    each.map(|(class, people)| (*class, people == subject.size(*class)))
        .collect()
}
