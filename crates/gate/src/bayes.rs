//! Values are guessed from all that a release teaches (Kifer 2009, "Attacks on privacy and deFinetti's theorem";
//! Cormode 2011 for the naive form): how quasi-identifiers go with sensitive values is learned from all
//! classes, and decides within a person's class.
//!
//! Attacker: knows people's quasi-identifiers. A naive Bayes classifier learns from the release, a cell's
//! records spread evenly over the values that it covers; a person's value is the likeliest among those of the
//! person's class. Counted: own rows that are guessed right, of the attribute where most is gained. Control:
//! people who are not in the table, by the same guess, which is what the release teaches of everybody. Needs
//! own rows and people who are not in the table. Cost: people times values times attributes.

use crate::attack::Attack;
use crate::finding::{Control, Count, Finding, share};
use crate::known::Rows;
use crate::look::Look;
use crate::place::Placed;
use crate::subject::{Counted, Subject};

pub(crate) fn attack(look: &Look<'_>, limit: Option<f64>) -> Finding {
    let subject = look.subject;
    let (Some((own, own_placed)), Some((others, others_placed))) = (look.own(), look.holdout())
    else {
        return Finding::not_tried(Attack::Bayes, "--own and --holdout");
    };
    let attributes = subject.release().schema().attributes();
    let mut most: Option<(f64, Finding)> = None;
    for (number, (position, codes)) in subject.sensitive().iter().enumerate() {
        let counted = subject.counted(codes);
        let learned = Learned::of(subject, &counted);
        let right = |people: &Rows, placed: &Placed| {
            let found = placed.boxes.iter().enumerate().filter(|(row, one)| {
                let guess = learned.guess(subject, &counted, one.as_ref(), |place| {
                    people.quasi[place][*row]
                });
                guess == Some(people.sensitive[number][*row])
            });
            found.map(|(row, _)| people.weight(row)).sum::<u64>()
        };
        let (found, strangers) = (right(own, own_placed), right(others, others_placed));
        let of = own.people();
        let gained = share(found, of) - share(strangers, others.people());
        let count = Count {
            at_risk: found,
            of,
            is_sample: true,
            falls: format!(
                "records whose `{}` is guessed right",
                attributes[*position].name
            ),
        };
        let control = Control::counted("people not in the table", strangers, others.people());
        let finding = Finding::of(Attack::Bayes, count, Some(control), limit, Vec::new());
        if most.as_ref().is_none_or(|(known, _)| gained > *known) {
            most = Some((gained, finding));
        }
    }
    let nothing = || Finding::nothing(Attack::Bayes, "the release has no sensitive attribute");
    most.map_or_else(nothing, |(_, finding)| finding)
}

/// How quasi-identifiers go with the values of a sensitive attribute.
struct Learned {
    /// The logarithm of each value's share.
    prior: Vec<f64>,
    /// For each quasi-identifier, value of it and sensitive value: the logarithm of the former's chance among
    /// records with the latter.
    chances: Vec<Vec<f64>>,
}

impl Learned {
    fn of(subject: &Subject<'_>, counted: &Counted) -> Self {
        let values = counted.size();
        let totals = counted.totals(values);
        let attributes = subject.release().schema().attributes();
        let chances = subject.quasi().iter().enumerate().map(|(place, position)| {
            let size = attributes[*position].domain.size() as usize;
            let mut mass = vec![0.0; size * values];
            let boxes = subject.boxes();
            // Records of a class lie in its boxes by the boxes' rows.
            for one in 0..boxes.count() {
                let class = subject.class_of_box(one);
                let part = boxes.size(one) as f64 / subject.classes().size(class) as f64;
                let Some(cell) = subject.cell(one, place) else {
                    continue;
                };
                let spread = part / f64::from(cell.count());
                let (least, greatest) = cell.bounds();
                for code in (least..=greatest).filter(|code| cell.contains(*code)) {
                    for (value, records) in counted.class(class) {
                        mass[code as usize * values + value as usize] += records as f64 * spread;
                    }
                }
            }
            for (index, mass) in mass.iter_mut().enumerate() {
                let total = totals[index % values] as f64;
                *mass = ((*mass + 1.0 / size as f64) / (total + 1.0)).ln();
            }
            mass
        });
        Self {
            chances: chances.collect(),
            prior: totals.iter().map(|total| (*total as f64).ln()).collect(),
        }
    }

    /// The likeliest value of a person in a box, or of a person whom no box covers.
    fn guess(
        &self,
        subject: &Subject<'_>,
        counted: &Counted,
        one: Option<&u32>,
        quasi: impl Fn(usize) -> u32,
    ) -> Option<u32> {
        let values = self.prior.len();
        let likely = |value: u32, prior: f64| {
            let each = self.chances.iter().enumerate();
            let chances = each
                .map(|(place, chances)| chances[quasi(place) as usize * values + value as usize]);
            (value, prior + chances.sum::<f64>())
        };
        let greater =
            |best: (u32, f64), next: (u32, f64)| if next.1 > best.1 { next } else { best };
        let best = match one {
            Some(one) => {
                let of_class = counted.class(subject.class_of_box(*one as usize));
                let all = of_class.map(|(value, records)| likely(value, (records as f64).ln()));
                all.reduce(greater)
            }
            None => (0..values as u32)
                .map(|value| likely(value, self.prior[value as usize]))
                .reduce(greater),
        };
        best.map(|(value, _)| value)
    }
}
