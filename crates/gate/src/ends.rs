//! Tight ends: where a range ends at the greatest value of its class, that value is somebody's, and whoever has
//! a rare value knows whose (Samarati and Sweeney 1998 generalize to a public grid, which does not show it).
//!
//! Attacker: knows who has one of the rarest values at an end of an ordered attribute, such as the oldest
//! people. Counted: own rows with such a value whose class ends exactly there, or lists it in a set, of the
//! attribute that shows most beyond its control. An end of the domain tells nothing and is not counted. Control:
//! people who are not in the table, with such values. Needs own rows.
//! Cost: people are placed once.

use hedgerow_data::Cell;

use crate::attack::Attack;
use crate::finding::{Control, Count, Finding, Verdict, Worst};
use crate::known::Rows;
use crate::look::Look;
use crate::place::Placed;
use crate::subject::Subject;

/// Of so many people, at most one has a value as rare.
const ONE_IN: u64 = 300;

/// An ordered quasi-identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ordered {
    /// The place among quasi-identifiers.
    pub(crate) place: usize,
    /// The position in the schema.
    position: usize,
    /// The number of values; a missing one, which stands after all others and is no end, apart.
    pub values: u32,
}

/// The rarest values at both ends of an ordered quasi-identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rare {
    of: Ordered,
    /// All values below are rare.
    least: u32,
    /// All values above are rare.
    greatest: u32,
}

/// People with rare values: at the low end those whose class shows theirs, and all; the same at the high end.
pub(crate) type AtEnds = [u64; 4];

/// What was counted of an attribute: people of the table, then people who are not in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// The attribute's rare values.
    pub rare: Rare,
    /// People of the table.
    pub own: AtEnds,
    /// People who are not in the table.
    pub strangers: AtEnds,
}

pub(crate) fn attack(look: &Look<'_>, limit: Option<f64>) -> Finding {
    let subject = look.subject;
    let Some((own, placed)) = look.own() else {
        return Finding::not_tried(Attack::Ends, "--own");
    };
    let (mut found, mut lacking) = (Vec::new(), Vec::new());
    for ordered in Ordered::of(subject) {
        let Some(rare) = Rare::of(own, subject.k(), ordered) else {
            lacking.push(ordered);
            continue;
        };
        let (own, at_risk) = rare.ends(subject, own, placed);
        let strangers = look.holdout();
        let strangers = strangers.map(|(people, placed)| rare.ends(subject, people, placed).0);
        let ends = Ends {
            rare,
            own,
            strangers: strangers.unwrap_or_default(),
        };
        found.push((ends, subject.worst(&at_risk)));
    }
    finding(subject, found, &lacking, own.are_all_of(subject), limit)
}

/// The finding of what was counted of each attribute, with the worst classes; `lacking` are attributes of which
/// too few people have a value for any to be rare.
pub(crate) fn finding(
    subject: &Subject<'_>,
    found: Vec<(Ends, Vec<Worst>)>,
    lacking: &[Ordered],
    are_all: bool,
    limit: Option<f64>,
) -> Finding {
    let rare = found
        .into_iter()
        .filter(|(ends, _)| ends.own[1] + ends.own[3] > 0);
    let each = rare.map(|(ends, worst)| of_attribute(subject, ends, worst, are_all, limit));
    let worst = each.reduce(Finding::worse);
    let Some(first) = lacking.first() else {
        let because = "no ordered quasi-identifier has rare values at its ends";
        return worst.unwrap_or_else(|| Finding::nothing(Attack::Ends, because));
    };
    // Of an attribute that cannot be looked at nobody can say that its ends tell nothing.
    let name = &subject.release().schema().attributes()[first.position].name;
    let needs = format!("more records with a `{name}`, to tell rare values from others");
    match worst {
        Some(worst) if worst.verdict == Verdict::Falls => worst,
        Some(worst) => worst.at_best(Verdict::CannotTell, &format!("the attack needs {needs}")),
        None => Finding::not_tried(Attack::Ends, &needs),
    }
}

/// The finding of what was counted of one attribute.
fn of_attribute(
    subject: &Subject<'_>,
    ends: Ends,
    worst: Vec<Worst>,
    are_all: bool,
    limit: Option<f64>,
) -> Finding {
    // Strangers are tried where somebody of the table is.
    let mut control = (0, 0);
    for end in [0, 2] {
        if ends.own[end + 1] > 0 {
            control.0 += ends.strangers[end];
            control.1 += ends.strangers[end + 1];
        }
    }
    let control =
        (control.1 > 0).then(|| Control::counted("people not in the table", control.0, control.1));
    let name = &subject.release().schema().attributes()[ends.rare.of.position].name;
    let count = Count {
        at_risk: ends.own[0] + ends.own[2],
        of: ends.own[1] + ends.own[3],
        is_sample: !are_all,
        falls: format!("records with a rare `{name}` that is written exactly"),
    };
    Finding::of(Attack::Ends, count, control, limit, worst)
}

/// The rank of the first value that is not rare, from either end, among so many people: of 300 people one
/// has a rarer value, or as many as are less than k, so that the value with this rank stands for k people. Nothing
/// where people are too few.
pub fn rank(people: u64, k: u64) -> Option<u64> {
    let rank = (people / ONE_IN + 1).max(k).max(2);
    (2 * (rank - 1) <= people).then_some(rank)
}

impl Ordered {
    /// The ordered quasi-identifiers of a release.
    pub fn of(subject: &Subject<'_>) -> Vec<Self> {
        let attributes = subject.release().schema().attributes();
        let ordered = subject.quasi().iter().enumerate();
        let ordered = ordered.filter_map(|(place, position)| {
            let domain = &attributes[*position].domain;
            let missing = domain.missing_code() == Some(domain.size() - 1);
            let values = domain.size() - u32::from(missing);
            let is_ordered = domain.is_ordered() && values >= 3;
            is_ordered.then_some(Self {
                place,
                position: *position,
                values,
            })
        });
        ordered.collect()
    }
}

impl Rare {
    /// The values below and above these two; nothing where they overlap, so that nearly everybody's value is
    /// missing.
    pub fn beyond(of: Ordered, least: u32, greatest: u32) -> Option<Self> {
        (least <= greatest).then_some(Self {
            of,
            least,
            greatest,
        })
    }

    /// The rarest values at both ends, as rows have them.
    fn of(people: &Rows, k: u64, of: Ordered) -> Option<Self> {
        let rank = rank(people.people(), k)?;
        let mut counts = vec![0u64; of.values as usize];
        let codes = people.quasi[of.place].iter().enumerate();
        for (row, code) in codes.filter(|(_, code)| **code < of.values) {
            counts[*code as usize] += people.weight(row);
        }
        let ranked = |order: &mut dyn Iterator<Item = u32>| {
            let mut sum = 0;
            for code in order {
                sum += counts[code as usize];
                if sum >= rank {
                    return Some(code);
                }
            }
            None
        };
        let least = ranked(&mut (0..of.values))?;
        let greatest = ranked(&mut (0..of.values).rev())?;
        Self::beyond(of, least, greatest)
    }

    /// People with rare values, and for each class how many of them its end shows.
    pub(crate) fn ends(
        &self,
        subject: &Subject<'_>,
        people: &Rows,
        placed: &Placed,
    ) -> (AtEnds, Vec<u64>) {
        let mut at_risk = vec![0; subject.classes().count()];
        let mut ends = AtEnds::default();
        let (place, last) = (self.of.place, self.of.values - 1);
        for (row, code) in people.quasi[place].iter().enumerate() {
            let end = match *code {
                code if code < self.least => 0,
                code if code > self.greatest && code <= last => 2,
                _ => continue,
            };
            ends[end + 1] += people.weight(row);
            let Some(one) = placed.boxes[row] else {
                continue;
            };
            let Some(cell) = subject.cell(one as usize, place) else {
                continue;
            };
            let (least, greatest) = cell.bounds();
            let is_shown = match (cell, end) {
                (Cell::Set(_), _) => true,
                (_, 0) => *code == least && least > 0,
                _ => *code == greatest && greatest < last,
            };
            if is_shown {
                ends[end] += people.weight(row);
                at_risk[subject.class_of_box(one as usize)] += people.weight(row);
            }
        }
        (ends, at_risk)
    }
}
