//! Composition (Ganta et al. 2008, "Composition attacks and auxiliary information in data privacy"): each of two
//! releases of the same people has k, and what they have in common does not.
//!
//! Attacker: has several releases of the same people and knows everybody's quasi-identifiers. Counted: records
//! that share their classes in all releases with fewer than k records. Own rows are put into the cheapest class
//! of each release that covers them and has their sensitive values. Control: the same by this release alone,
//! which is nothing unless rows are put into wrong classes. Where the rows of one site
//! alone are known, others may share the classes: then the attack can find that nothing is below k, and cannot
//! find what is. Cost: people are placed once for each release.

use hedgerow_data::Cell;
use hedgerow_privacy::classes::Classes;

use crate::attack::Attack;
use crate::finding::{Control, Count, Finding, Verdict, Worst, share};
use crate::look::Look;
use crate::newcomers::{cells, overlap};
use crate::place;
use crate::subject::Subject;

pub(crate) fn attack(look: &Look<'_>, limit: Option<f64>) -> Finding {
    let subject = look.subject;
    let (Some((classes, people)), Some(own)) = (classes_in_all(look), &look.known.own) else {
        return Finding::not_tried(Attack::TwoReleases, "--own and --earlier");
    };
    let slices: Vec<&[u32]> = classes.iter().map(Vec::as_slice).collect();
    let rows = slices[0].len();
    if rows == 0 {
        return finding(subject, [0; 3], Vec::new(), limit);
    }
    let group = |slices: &[&[u32]]| Classes::group(slices, rows).counted(Some(&people));
    let common = group(&slices);
    let mut at_risk = vec![0; subject.classes().count()];
    let by_this = group(&slices[..1]);
    let few: u64 = by_this.sizes().filter(|size| *size < subject.k()).sum();
    for one in 0..common.count() {
        let size = common.size(one);
        if size < subject.k() {
            at_risk[slices[0][common.rows(one)[0] as usize] as usize] += size;
        }
    }
    let counts = [at_risk.iter().sum(), people.iter().sum(), few];
    let finding = finding(subject, counts, subject.worst(&at_risk), limit);
    match finding.verdict {
        Verdict::Falls if !own.are_all_of(subject) => finding.at_best(
            Verdict::CannotTell,
            "others' rows may share the classes: give --own of all sites",
        ),
        _ => finding,
    }
}

/// For each release, this one first, the classes of the own rows that all of them cover, and how many people each
/// of these rows stands for: people whom an earlier release does not cover were not in it. Nothing where there are no own rows, or no earlier releases.
pub(crate) fn classes_in_all(look: &Look<'_>) -> Option<(Vec<Vec<u32>>, Vec<u64>)> {
    let earlier = &look.known.earlier;
    let (own, placed) = look.own_by_all().filter(|_| !earlier.is_empty())?;
    let mut columns: Vec<Vec<Option<u32>>> = vec![placed.boxes.clone()];
    for release in earlier {
        columns.push(place::by_all(release, own).boxes);
    }
    let in_all = |row: &usize| columns.iter().all(|column| column[*row].is_some());
    let rows: Vec<usize> = (0..own.len()).filter(in_all).collect();
    let all = std::iter::once(look.subject).chain(earlier).zip(&columns);
    let classes = all.map(|(release, column)| {
        let boxes = rows.iter().filter_map(|row| column[*row]);
        boxes
            .map(|one| release.class_of_box(one as usize) as u32)
            .collect()
    });
    let people = rows.iter().map(|row| own.weight(*row));
    Some((classes.collect(), people.collect()))
}

/// The finding of records that share their classes in all releases with fewer than k, of records that are in all
/// releases, and of those of them that share their class of this release with fewer than k.
pub(crate) fn finding(
    subject: &Subject<'_>,
    [at_risk, of, few]: [u64; 3],
    worst: Vec<Worst>,
    limit: Option<f64>,
) -> Finding {
    if of == 0 {
        return Finding::nothing(Attack::TwoReleases, "the releases have nobody in common");
    }
    let control = Control::expected("this release alone", share(few, of));
    let count = Count {
        at_risk,
        of,
        is_sample: false,
        falls: format!("records joined with fewer than k = {}", subject.k()),
    };
    Finding::of(Attack::TwoReleases, count, Some(control), limit, worst)
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
