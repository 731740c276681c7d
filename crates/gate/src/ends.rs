//! Tight ends: where a range ends at the greatest value of its class, that value is somebody's, and whoever has
//! a rare value knows whose (Samarati and Sweeney 1998 generalize to a public grid, which does not show it).
//!
//! Attacker: knows who has one of the rarest values at an end of an ordered attribute, such as the oldest
//! people. Counted: own rows with such a value whose class ends exactly there, or lists it in a set. An end of the domain tells
//! nothing and is not counted. Control: people who are not in the table, with such values. Needs own rows.
//! Cost: people are placed once.

use hedgerow_data::Cell;

use crate::attack::Attack;
use crate::finding::{Control, Count, Finding, share};
use crate::known::Rows;
use crate::look::Look;
use crate::place::Placed;
use crate::subject::Subject;

/// Of so many people, at most one has a value as rare.
const ONE_IN: u64 = 300;

/// Rare values of an attribute: all up to the first, all from the second on.
struct Rare {
    place: usize,
    low: Option<u32>,
    high: Option<u32>,
    last: u32,
}

pub(crate) fn attack(look: &Look<'_>, limit: Option<f64>) -> Finding {
    let subject = look.subject;
    let Some((own, placed)) = look.own() else {
        return Finding::not_tried(Attack::Ends, "--own");
    };
    let attributes = subject.release().schema().attributes();
    let mut worst: Option<(usize, Vec<u64>, u64, Option<Control>)> = None;
    for (place, position) in subject.quasi().iter().enumerate() {
        let domain = &attributes[*position].domain;
        // A missing value stands after all others and is no end.
        let size = domain.size() - u32::from(domain.missing_code() == Some(domain.size() - 1));
        if !domain.is_ordered() || size < 3 {
            continue;
        }
        let rare = Rare::of(own, place, size);
        let (at_risk, of) = rare.ends(subject, own, placed);
        if of == 0 {
            continue;
        }
        let control = look.holdout().and_then(|(people, placed)| {
            let (found, tried) = rare.ends(subject, people, placed);
            let found = found.iter().sum();
            (tried > 0).then(|| Control::counted("people not in the table", found, tried))
        });
        let part = |at_risk: &[u64], of| share(at_risk.iter().sum(), of);
        let is_worse = worst
            .as_ref()
            .is_none_or(|(_, known, all, _)| part(&at_risk, of) > part(known, *all));
        if is_worse {
            worst = Some((*position, at_risk, of, control));
        }
    }
    let Some((position, at_risk, of, control)) = worst else {
        return Finding::nothing(
            Attack::Ends,
            "no ordered quasi-identifier has rare values at its ends",
        );
    };
    let name = &attributes[position].name;
    let count = Count {
        at_risk: at_risk.iter().sum(),
        of,
        is_sample: true,
        falls: format!("records with a rare `{name}` that is written exactly"),
    };
    Finding::of(Attack::Ends, count, control, limit, subject.worst(&at_risk))
}

impl Rare {
    /// The rarest values at both ends, as rows have them.
    fn of(people: &Rows, place: usize, size: u32) -> Self {
        let mut counts = vec![0u64; size as usize];
        let codes = people.quasi[place].iter().enumerate();
        for (row, code) in codes.filter(|(_, code)| **code < size) {
            counts[*code as usize] += people.weight(row);
        }
        let most = people.people() / ONE_IN;
        let reach = |order: &mut dyn Iterator<Item = u32>| {
            let (mut sum, mut end) = (0, None);
            for code in order {
                sum += counts[code as usize];
                if sum > most {
                    break;
                }
                end = (sum > 0).then_some(code);
            }
            end
        };
        Self {
            place,
            low: reach(&mut (0..size)),
            high: reach(&mut (0..size).rev()),
            last: size - 1,
        }
    }

    /// People of each class whose rare value is the class's end; and how many people have a rare value.
    fn ends(&self, subject: &Subject<'_>, people: &Rows, placed: &Placed) -> (Vec<u64>, u64) {
        let mut at_risk = vec![0; subject.classes().count()];
        let mut of = 0;
        for (row, code) in people.quasi[self.place].iter().enumerate() {
            let is_low = self.low.is_some_and(|low| *code <= low);
            let is_high = self
                .high
                .is_some_and(|high| *code >= high && *code <= self.last);
            if !is_low && !is_high {
                continue;
            }
            of += people.weight(row);
            let Some(one) = placed.boxes[row] else {
                continue;
            };
            let Some(cell) = subject.cell(one as usize, self.place) else {
                continue;
            };
            let (least, greatest) = cell.bounds();
            let is_listed = matches!(cell, Cell::Set(_));
            let is_end = is_listed
                || (is_low && *code == least && least > 0)
                || (is_high && *code == greatest && greatest < self.last);
            if is_end {
                at_risk[subject.class_of_box(one as usize)] += people.weight(row);
            }
        }
        (at_risk, of)
    }
}
