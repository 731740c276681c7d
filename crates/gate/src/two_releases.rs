//! Composition (Ganta et al. 2008, "Composition attacks and auxiliary information in data privacy"): each of two
//! releases of the same people has k, and what they have in common does not.
//!
//! Attacker: has several releases of the same people and knows everybody's quasi-identifiers. Counted: records
//! that share their classes in all releases with fewer than k records. Own rows are put into the cheapest class
//! of each release that covers them and has their sensitive values. People who came since an earlier release may
//! be put into its classes too and seem to be among others: where an earlier class would have more records than
//! it was published with, so many of those that share the classes may not have been there. Records that may so
//! share them with fewer than k are the upper end of the interval. Control: the same by this release alone, which
//! is nothing unless rows are put into wrong classes. Where the rows of one site alone are known, others may share
//! the classes: then the attack can find that nothing is below k, and cannot find what is. Cost: people are
//! placed once for each release.

use hedgerow_data::Cell;
use hedgerow_privacy::classes::Classes;

use crate::attack::Attack;
use crate::finding::{Control, Count, Finding, Verdict, Worst, share};
use crate::interval::Interval;
use crate::look::Look;
use crate::newcomers::{MOST_PAIRS, cells, overlap};
use crate::place;
use crate::subject::Subject;

pub(crate) fn attack(look: &Look<'_>, limit: Option<f64>) -> Finding {
    let subject = look.subject;
    let (Some(found), Some(own)) = (in_common(look), &look.known.own) else {
        return Finding::not_tried(Attack::TwoReleases, "--own and --earlier");
    };
    let slices: Vec<&[u32]> = found.classes.iter().map(Vec::as_slice).collect();
    let rows = slices[0].len();
    if rows == 0 {
        return finding(subject, Common::default(), Vec::new(), limit);
    }
    let common = Classes::group(&slices, rows).counted(Some(&found.people));
    let mut at_risk = vec![0; subject.classes().count()];
    let (mut may_be, mut alone) = (0, 0);
    let k = subject.k();
    for one in 0..common.count() {
        let row = common.rows(one)[0] as usize;
        let size = common.size(one);
        if size < k {
            at_risk[slices[0][row] as usize] += size;
        }
        let each = look
            .known
            .earlier
            .iter()
            .zip(&found.placed[1..])
            .zip(&slices[1..]);
        let is_crowded = |((earlier, placed), classes): ((&Subject<'_>, &Vec<u64>), &&[u32])| {
            let class = classes[row] as usize;
            crowd(earlier.size(class), k).is_none_or(|crowd| placed[class] - size >= crowd)
        };
        if size < k || each.into_iter().any(is_crowded) {
            may_be += size;
        }
        if found.placed[0][slices[0][row] as usize] < k {
            alone += size;
        }
    }
    let counts = Common {
        at_risk: at_risk.iter().sum(),
        may_be,
        of: found.people.iter().sum(),
        alone,
    };
    let finding = finding(subject, counts, subject.worst(&at_risk), limit);
    match finding.verdict {
        Verdict::Falls if !own.are_all_of(subject) => finding.at_best(
            Verdict::CannotTell,
            "others' rows may share the classes: give --own of all sites",
        ),
        _ => finding,
    }
}

/// Of an earlier release's class of this size, k are surely in an intersection unless so many people are put into the
/// class and not into the intersection; nothing where the class has no k records.
pub fn crowd(size: u64, k: u64) -> Option<u64> {
    (size + 1).checked_sub(k).filter(|crowd| *crowd > 0)
}

/// Own rows that all releases cover.
pub struct InCommon {
    /// For each release, this one first, the class of each of these rows: people whom an earlier release does not
    /// cover were not in it.
    pub classes: Vec<Vec<u32>>,
    /// How many people each of these rows stands for.
    pub people: Vec<u64>,
    /// For each release, this one first, how many people of all own rows are put into each of its classes.
    pub placed: Vec<Vec<u64>>,
}

/// Records of all sites that several releases tell apart.
#[derive(Debug, Clone, Copy, Default)]
pub struct Common {
    /// Records that share their classes in all releases with fewer than k.
    pub at_risk: u64,
    /// Records that may, if as many as can were not in an earlier release.
    pub may_be: u64,
    /// Records that all releases cover.
    pub of: u64,
    /// Records of them that share their class of this release with fewer than k.
    pub alone: u64,
}

/// What own rows have in common in all releases; nothing where there are no own rows, or no earlier releases.
pub(crate) fn in_common(look: &Look<'_>) -> Option<InCommon> {
    let earlier = &look.known.earlier;
    let (own, placed) = look.own_by_all().filter(|_| !earlier.is_empty())?;
    let mut columns: Vec<Vec<Option<u32>>> = vec![placed.boxes.clone()];
    for release in earlier {
        columns.push(place::by_all(release, own).boxes);
    }
    let in_all = |row: &usize| columns.iter().all(|column| column[*row].is_some());
    let rows: Vec<usize> = (0..own.len()).filter(in_all).collect();
    let all = || std::iter::once(look.subject).chain(earlier).zip(&columns);
    let classes = all().map(|(release, column)| {
        let boxes = rows.iter().filter_map(|row| column[*row]);
        boxes
            .map(|one| release.class_of_box(one as usize) as u32)
            .collect()
    });
    let placed = all().map(|(release, column)| {
        let mut placed = vec![0; release.classes().count()];
        for (row, one) in column.iter().enumerate() {
            if let Some(one) = one {
                placed[release.class_of_box(*one as usize)] += own.weight(row);
            }
        }
        placed
    });
    let people = rows.iter().map(|row| own.weight(*row));
    Some(InCommon {
        classes: classes.collect(),
        people: people.collect(),
        placed: placed.collect(),
    })
}

/// The finding of records that several releases tell apart.
pub(crate) fn finding(
    subject: &Subject<'_>,
    common: Common,
    worst: Vec<Worst>,
    limit: Option<f64>,
) -> Finding {
    if common.of == 0 {
        return Finding::nothing(Attack::TwoReleases, "the releases have nobody in common");
    }
    let part = |records| share(records, common.of);
    let interval = Interval {
        low: part(common.at_risk),
        high: part(common.may_be.max(common.at_risk)),
    };
    let control = Control::expected("this release alone", part(common.alone));
    let count = Count {
        at_risk: common.at_risk,
        of: common.of,
        is_sample: false,
        falls: format!("records joined with fewer than k = {}", subject.k()),
    };
    let attack = Attack::TwoReleases;
    let finding = Finding::within(attack, count, interval, Some(control), limit, worst);
    match finding.verdict {
        Verdict::CannotTell => finding.at_best(
            Verdict::CannotTell,
            "of people who came since an earlier release some cannot be told from those who were in it",
        ),
        _ => finding,
    }
}

/// All intersections of classes of releases in which somebody could be: for each the class in each release. Every two
/// of these classes overlap. Nothing where there are more than `most`.
pub(crate) fn intersections(releases: &[&Subject<'_>], most: usize) -> Option<Vec<Vec<u32>>> {
    let [first, others @ ..] = releases else {
        return Some(Vec::new());
    };
    // Boxes first, and the classes that they belong to in the end.
    let mut found: Vec<Vec<u32>> = (0..first.boxes().count() as u32)
        .map(|one| vec![one])
        .collect();
    let mut known = vec![written(first)];
    for release in others {
        let boxes = written(release);
        let mut longer = Vec::new();
        if found.len().saturating_mul(boxes.len()) > MOST_PAIRS {
            return None;
        }
        for tuple in &found {
            for (one, cells) in boxes.iter().enumerate() {
                let mut members = tuple.iter().zip(&known);
                if members.all(|(member, of)| overlap(&of[*member as usize], cells)) {
                    longer.push([&tuple[..], &[one as u32]].concat());
                }
            }
            if longer.len() > most {
                return None;
            }
        }
        known.push(boxes);
        found = longer;
    }
    for tuple in &mut found {
        for (member, release) in tuple.iter_mut().zip(releases) {
            *member = release.class_of_box(*member as usize) as u32;
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// The cells of each box of a release.
fn written<'a>(release: &'a Subject<'_>) -> Vec<Vec<&'a Cell>> {
    let boxes = 0..release.boxes().count();
    boxes.map(|one| cells(release, one)).collect()
}
