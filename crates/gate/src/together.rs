//! Attacks that sites count together, each on its own rows: what a site adds to a joint count, and the finding
//! that follows from the sums. Every function here is one that the attack itself is made of, so that a joint
//! count finds what the attack finds on the rows of all sites.

use std::collections::HashMap;

use crate::attack::Attack;
use crate::ends::{self, Ends, Ordered, Rare};
use crate::finding::{Count, Finding};
use crate::known::{Known, Rows};
use crate::look::Look;
use crate::place::Placed;
use crate::subject::Subject;
use crate::subtraction;
use crate::two_releases;

pub use crate::two_releases::{Common, InCommon, crowd};

/// A site's own rows beside a release.
pub struct Part<'a> {
    look: Look<'a>,
    /// For each quasi-identifier, how many people of own rows have each value or a lesser one.
    at_most: Vec<Vec<u64>>,
}

impl<'a> Part<'a> {
    /// The rows that are known beside a release; the attacks below count nothing where none are.
    pub fn new(subject: &'a Subject<'a>, known: &'a Known<'a>) -> Self {
        let attributes = subject.release().schema().attributes();
        let quasi = known
            .own
            .as_ref()
            .map_or(&[][..], |own| own.quasi.as_slice());
        let sized = quasi.iter().zip(subject.quasi());
        let at_most = sized.map(|(codes, position)| {
            let mut counts = vec![0; attributes[*position].domain.size() as usize];
            for (row, code) in codes.iter().enumerate() {
                counts[*code as usize] += known.own.as_ref().map_or(0, |own| own.weight(row));
            }
            let running = counts.iter_mut().scan(0, |sum, count: &mut u64| {
                *sum += *count;
                Some(*sum)
            });
            running.collect()
        });
        Self {
            at_most: at_most.collect(),
            look: Look::new(subject, known),
        }
    }

    /// How many people of own rows have a value of an ordered quasi-identifier or a lesser one.
    pub fn at_most(&self, ordered: Ordered, value: u32) -> u64 {
        let counts = self.at_most.get(ordered.place);
        let count = counts.and_then(|counts| counts.get(value as usize));
        count.copied().unwrap_or(0)
    }

    /// How many people of own rows have a value of an ordered quasi-identifier or a greater one, and none missing.
    pub fn at_least(&self, ordered: Ordered, value: u32) -> u64 {
        let below = value.checked_sub(1);
        let below = below.map_or(0, |below| self.at_most(ordered, below));
        self.at_most(ordered, ordered.values - 1) - below
    }

    /// What a site counts of rare values at the ends of classes.
    pub fn ends(&self, rare: Rare) -> Ends {
        let subject = self.look.subject;
        let counted = |people: Option<(&Rows, &Placed)>| {
            let ends = people.map(|(people, placed)| rare.ends(subject, people, placed).0);
            ends.unwrap_or_default()
        };
        Ends {
            rare,
            own: counted(self.look.own()),
            strangers: counted(self.look.holdout()),
        }
    }

    /// What own rows have in common in all releases; nothing without earlier releases.
    pub fn in_common(&self) -> Option<InCommon> {
        two_releases::in_common(&self.look)
    }
}

/// The finding of sums of what each site counted at the ends of classes, over the rows of all records; `lacking`
/// are attributes of which too few records have a value for any to be rare.
pub fn found_at_ends(
    subject: &Subject<'_>,
    sums: &[Ends],
    lacking: &[Ordered],
    limit: Option<f64>,
) -> Finding {
    let found = sums.iter().map(|ends| (*ends, Vec::new()));
    ends::finding(subject, found.collect(), lacking, true, limit)
}

/// Of all others' records, those in classes of which fewer than k others are left once these are taken away; and all
/// others'. `taken` has the attackers' own records of each class.
pub fn left_below(subject: &Subject<'_>, taken: &[u64]) -> (u64, u64) {
    let at_risk = subtraction::left_below(subject, |class| taken[class]);
    let of = subject.records().saturating_sub(taken.iter().sum());
    (at_risk.iter().sum(), of)
}

/// Records of each class of a release, by the class's number.
pub fn sizes(subject: &Subject<'_>) -> Vec<u64> {
    let classes = 0..subject.classes().count();
    classes.map(|class| subject.size(class)).collect()
}

/// The number of the class in which records with these cells are, in the order of the quasi-identifiers.
pub fn classes_by_cells<'s>(
    subject: &'s Subject<'_>,
) -> HashMap<Vec<&'s hedgerow_data::Cell>, usize> {
    let boxes = 0..subject.boxes().count();
    let cells = |one: usize| -> Vec<&hedgerow_data::Cell> {
        let places = 0..subject.quasi().len();
        places
            .filter_map(|place| subject.cell(one, place))
            .collect()
    };
    boxes
        .map(|one| (cells(one), subject.class_of_box(one)))
        .collect()
}

/// The finding where the worst attackers get this share of others' records below k, in millionths, or at most
/// this share where it `is_step` of a few that were asked about.
pub fn found_left(
    attack: Attack,
    subject: &Subject<'_>,
    (millionths, is_step): (u64, bool),
    limit: Option<f64>,
) -> Finding {
    let count = Count {
        at_risk: millionths,
        of: 1_000_000,
        is_sample: false,
        falls: format!(
            "{}records of others, fewer than k = {} left of their class",
            if is_step {
                "at most this share of "
            } else {
                ""
            },
            subject.k()
        ),
    };
    Finding::of(attack, count, None, limit, Vec::new())
}

/// An attack that has nothing to attack in a run.
pub fn found_nothing(attack: Attack, because: &str) -> Finding {
    Finding::nothing(attack, because)
}

/// An attack that cannot be tried in a run.
pub fn not_tried(attack: Attack, needs: &str) -> Finding {
    Finding::not_tried(attack, needs)
}

/// The finding of sums over all sites of records that several releases tell apart.
pub fn found_in_common(subject: &Subject<'_>, common: Common, limit: Option<f64>) -> Finding {
    two_releases::finding(subject, common, Vec::new(), limit)
}

/// All intersections of classes of releases in which somebody could be: for each the class in each release. Nothing
/// where there are more than `most`.
pub fn intersections(releases: &[&Subject<'_>], most: usize) -> Option<Vec<Vec<u32>>> {
    two_releases::intersections(releases, most)
}
