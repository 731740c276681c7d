//! Composition (Ganta et al. 2008, "Composition attacks and auxiliary information in data privacy"): each of two
//! releases of the same people has k, and what they have in common does not.
//!
//! Attacker: has several releases of the same people and knows everybody's quasi-identifiers. Counted: records
//! that share their classes in all releases with fewer than k records. Own rows are put into the cheapest class
//! of each release that covers them and has their sensitive values. Control: the same by this release alone,
//! which is nothing unless rows are put into wrong classes. Where the rows of one site
//! alone are known, others may share the classes: then the attack can find that nothing is below k, and cannot
//! find what is. Cost: people are placed once for each release.

use hedgerow_privacy::classes::Classes;

use crate::attack::Attack;
use crate::finding::{Control, Count, Finding, Verdict, share};
use crate::look::Look;
use crate::place;

pub(crate) fn attack(look: &Look<'_>, limit: Option<f64>) -> Finding {
    let subject = look.subject;
    let earlier = &look.known.earlier;
    let Some((own, placed)) = look.own_by_all().filter(|_| !earlier.is_empty()) else {
        return Finding::not_tried(Attack::TwoReleases, "--own and --earlier");
    };
    let mut columns: Vec<Vec<Option<u32>>> = vec![placed.boxes.clone()];
    for release in earlier {
        columns.push(place::by_all(release, own).boxes);
    }
    // People whom an earlier release does not cover were not in it.
    let in_all = |row: &usize| columns.iter().all(|column| column[*row].is_some());
    let rows: Vec<usize> = (0..own.len()).filter(in_all).collect();
    if rows.is_empty() {
        return Finding::nothing(Attack::TwoReleases, "the releases have nobody in common");
    }
    let all = std::iter::once(subject).chain(earlier).zip(&columns);
    let joined: Vec<Vec<u32>> = all
        .map(|(release, column)| {
            let boxes = rows.iter().filter_map(|row| column[*row]);
            boxes
                .map(|one| release.class_of_box(one as usize) as u32)
                .collect()
        })
        .collect();
    let slices: Vec<&[u32]> = joined.iter().map(Vec::as_slice).collect();
    let counts: Vec<u64> = rows.iter().map(|row| own.weight(*row)).collect();
    let people = counts.iter().sum();
    let classes = |slices| Classes::group(slices, rows.len()).counted(Some(&counts));
    let common = classes(&slices);
    let mut at_risk = vec![0; subject.classes().count()];
    let by_this = classes(&slices[..1]);
    let few: u64 = by_this.sizes().filter(|size| *size < subject.k()).sum();
    let control = Control::expected("this release alone", share(few, people));
    let mut alone = 0;
    for one in 0..common.count() {
        let size = common.size(one);
        if size < subject.k() {
            alone += u64::from(size == 1);
            at_risk[joined[0][common.rows(one)[0] as usize] as usize] += size;
        }
    }
    let count = Count {
        at_risk: at_risk.iter().sum(),
        of: people,
        is_sample: false,
        falls: format!(
            "records joined with fewer than k = {} ({alone} with nobody)",
            subject.k()
        ),
    };
    let worst = subject.worst(&at_risk);
    let finding = Finding::of(Attack::TwoReleases, count, Some(control), limit, worst);
    match finding.verdict {
        Verdict::Falls if !own.are_all_of(subject) => finding.at_best(
            Verdict::CannotTell,
            "others' rows may share the classes: give --own of all sites",
        ),
        _ => finding,
    }
}
