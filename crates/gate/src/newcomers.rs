//! Newcomers (Byun et al. 2006, "Secure anonymization for incremental datasets"; Xiao and Tao 2007,
//! "m-Invariance", section 1): the same table is published again with people who came since, and what the later
//! release has beyond the earlier one are they.
//!
//! Attacker: has the releases before and after. Classes that are written alike in both are laid over each
//! other; classes that are not are joined with those of the other release that they overlap, until no class
//! overlaps one outside. A place from which values went has lost people to another: it is joined with those
//! that it overlaps and that changed.
//!
//! Counted: newcomers of a place who all have one sensitive value, of the attribute that shows most; and by the same
//! difference the other way round, people who left a place and all had one. No
//! control: a difference is no guess. Needs an earlier release; of several, the worst counts. Cost: pairs of
//! classes that changed, of which no more than [`MOST_PAIRS`] are looked at.

use std::collections::{HashMap, HashSet};

use hedgerow_data::Cell;

use crate::attack::Attack;
use crate::finding::{Count, Finding, share};
use crate::look::Look;
use crate::subject::Subject;

/// Pairs of changed classes that are looked at.
pub(crate) const MOST_PAIRS: usize = 2_000_000_000;

pub(crate) fn attack(look: &Look<'_>, limit: Option<f64>) -> Finding {
    let subject = look.subject;
    if look.known.earlier.is_empty() {
        return Finding::not_tried(Attack::Newcomers, "--earlier");
    }
    if subject.is_fragmented() {
        return Finding::not_tried(Attack::Newcomers, "releases that are not fragmented");
    }
    let mut worst: Option<Told<'_, '_>> = None;
    for earlier in &look.known.earlier {
        for (after, before, who) in [
            (subject, earlier, "newcomers"),
            (earlier, subject, "people who left"),
        ] {
            let Some(mut places) = Places::of(after, before) else {
                return too_many();
            };
            for ((_, now), (_, then)) in after.sensitive().iter().zip(&before.sensitive()) {
                let Some((at_risk, of)) = places.told((now, then)) else {
                    return too_many();
                };
                let told = Told {
                    in_release: after,
                    who,
                    at_risk,
                    of,
                };
                let is_worse = worst
                    .as_ref()
                    .is_none_or(|worst| told.share() > worst.share());
                if of > 0 && is_worse {
                    worst = Some(told);
                }
            }
        }
    }
    let Some(told) = worst else {
        let because = "nobody came since the earlier release, and nobody left";
        return Finding::nothing(Attack::Newcomers, because);
    };
    let count = Count {
        at_risk: told.at_risk.iter().sum(),
        of: told.of,
        is_sample: false,
        falls: format!("{} whose sensitive value is the difference", told.who),
    };
    let worst = told.in_release.worst(&told.at_risk);
    Finding::of(Attack::Newcomers, count, None, limit, worst)
}

fn too_many() -> Finding {
    let needs = "releases of which fewer classes changed";
    Finding::not_tried(Attack::Newcomers, needs)
}

/// Whom a difference tells.
struct Told<'a, 'r> {
    /// The release in which they are.
    in_release: &'a Subject<'r>,
    who: &'static str,
    /// For each class of the release, those whose value is told.
    at_risk: Vec<u64>,
    /// All whom the difference shows.
    of: u64,
}

impl Told<'_, '_> {
    fn share(&self) -> f64 {
        share(self.at_risk.iter().sum(), self.of)
    }
}

/// Two releases whose classes are laid over each other.
struct Places<'a> {
    subject: &'a Subject<'a>,
    earlier: &'a Subject<'a>,
    now: Vec<Vec<&'a Cell>>,
    before: Vec<Vec<&'a Cell>>,
    /// The place of each class: those of the release first, then those of the earlier one.
    union: Union,
}

/// For each place, how many records of each value it has more than before.
type More = HashMap<usize, HashMap<u32, i64>>;

impl<'a> Places<'a> {
    /// Nothing where too many classes changed.
    fn of(subject: &'a Subject<'a>, earlier: &'a Subject<'a>) -> Option<Self> {
        let cells = |release: &'a Subject<'a>| -> Vec<Vec<&'a Cell>> {
            (0..release.boxes().count())
                .map(|one| cells(release, one))
                .collect()
        };
        let (now, before) = (cells(subject), cells(earlier));
        let mut places = Self {
            union: Union::new(now.len() + before.len()),
            subject,
            earlier,
            now,
            before,
        };
        let written = places.before.iter().enumerate();
        let known: HashMap<&Vec<&Cell>, usize> = written.map(|(one, cells)| (cells, one)).collect();
        let mut is_kept = vec![false; places.before.len()];
        let mut changed = Vec::new();
        for (one, cells) in places.now.iter().enumerate() {
            match known.get(cells) {
                Some(same) => {
                    places.union.join(one, places.now.len() + same);
                    is_kept[*same] = true;
                }
                None => changed.push(one),
            }
        }
        let gone: Vec<usize> = (0..is_kept.len()).filter(|one| !is_kept[*one]).collect();
        places.lay_over(&changed, &gone)?;
        Some(places)
    }

    /// Joins classes of the release with those of the earlier one that they overlap; nothing where these are too
    /// many.
    fn lay_over(&mut self, now: &[usize], before: &[usize]) -> Option<()> {
        if now.len().saturating_mul(before.len()) > MOST_PAIRS {
            return None;
        }
        for one in now {
            for other in before {
                if overlap(&self.now[*one], &self.before[*other]) {
                    self.union.join(*one, self.now.len() + other);
                }
            }
        }
        Some(())
    }

    /// The differences of all places, none of which has fewer of a value than before, unless all are one. Nothing
    /// where too many changed.
    fn more(&mut self, (values, earlier): (&[u32], &[u32])) -> Option<More> {
        loop {
            let more = self.differences((values, earlier));
            let less = |place: &usize| more[place].values().any(|more| *more < 0);
            let broken: HashSet<usize> = more.keys().copied().filter(less).collect();
            if broken.is_empty() || more.len() == 1 {
                return Some(more);
            }
            let differs = |place: usize| more[&place].values().any(|more| *more != 0);
            let now: Vec<usize> = (0..self.now.len())
                .filter(|one| differs(self.union.find(*one)))
                .collect();
            let before: Vec<usize> = (0..self.before.len())
                .filter(|one| broken.contains(&self.union.find(self.now.len() + one)))
                .collect();
            self.lay_over(&now, &before)?;
            if self.differences((values, earlier)).len() == more.len() {
                // Nothing overlaps: people went, and there is nothing to join.
                return Some(more);
            }
        }
    }

    fn differences(&mut self, (values, earlier): (&[u32], &[u32])) -> More {
        let mut more = More::new();
        for (row, value) in values.iter().enumerate() {
            let place = self.union.find(self.subject.classes().of_row(row));
            let records = self.subject.weight(row) as i64;
            *more.entry(place).or_default().entry(*value).or_default() += records;
        }
        for (row, value) in earlier.iter().enumerate() {
            let one = self.now.len() + self.earlier.classes().of_row(row);
            let place = self.union.find(one);
            let records = self.earlier.weight(row) as i64;
            *more.entry(place).or_default().entry(*value).or_default() -= records;
        }
        more
    }

    /// For each class, the newcomers whose value is told; and how many newcomers the places show.
    fn told(&mut self, codes: (&[u32], &[u32])) -> Option<(Vec<u64>, u64)> {
        let more = self.more(codes)?;
        let came = more.values().flat_map(HashMap::values);
        let came = came.filter_map(|more| u64::try_from(*more).ok()).sum();
        Some((self.single(&more), came))
    }

    /// For each class, what came to its place where all that came has one value.
    fn single(&mut self, more: &More) -> Vec<u64> {
        let mut told = vec![0; self.subject.classes().count()];
        let mut seen: HashSet<usize> = HashSet::new();
        for (one, told) in told.iter_mut().enumerate() {
            let place = self.union.find(one);
            let Some(values) = more.get(&place).filter(|_| seen.insert(place)) else {
                continue;
            };
            let mut came = values.values().filter(|more| **more > 0);
            if let (Some(came), None) = (came.next(), came.next()) {
                *told = came.unsigned_abs();
            }
        }
        told
    }
}

/// The cells of a class.
pub(crate) fn cells<'a>(subject: &'a Subject<'_>, one: usize) -> Vec<&'a Cell> {
    let places = 0..subject.quasi().len();
    places
        .filter_map(|place| subject.cell(one, place))
        .collect()
}

/// Whether somebody could be in both.
pub(crate) fn overlap(one: &[&Cell], other: &[&Cell]) -> bool {
    one.iter()
        .zip(other)
        .all(|(one, other)| match (one, other) {
            (Cell::Set(codes), other) | (other, Cell::Set(codes)) => {
                codes.iter().any(|code| other.contains(*code))
            }
            (one, other) => {
                let (least, greatest) = other.bounds();
                one.overlap(least, greatest) > 0
            }
        })
}

/// Numbers that are joined.
struct Union(Vec<usize>);

impl Union {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn find(&mut self, mut one: usize) -> usize {
        while self.0[one] != one {
            self.0[one] = self.0[self.0[one]];
            one = self.0[one];
        }
        one
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.find(one), self.find(other));
        self.0[other] = one;
    }
}
