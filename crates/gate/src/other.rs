//! Columns that are published as they are lead to records (Narayanan and Shmatikov 2008, "Robust
//! de-anonymization of large sparse datasets"; here: one value, known exactly).
//!
//! Attacker: knows a person's quasi-identifiers and one published value, such as what a bill came to. Counted:
//! records whose sensitive value is then certain, by the column that shows most. Control: records whose
//! sensitive value the class alone makes certain. In a fragmented release nothing joins the columns of a
//! group. Cost: one pass for each column.

use hedgerow_privacy::classes::Classes;

use crate::attack::Attack;
use crate::certain::at_risk;
use crate::finding::{Control, Count, Finding, share};
use crate::subject::Subject;

pub(crate) fn attack(subject: &Subject<'_>, limit: Option<f64>) -> Finding {
    let others = subject.other();
    if others.is_empty() {
        return Finding::nothing(Attack::Other, "the release has no column of role other");
    }
    if subject.is_fragmented() {
        return Finding::nothing(Attack::Other, "nothing joins the columns of a group");
    }
    let sensitive = subject.sensitive();
    let rows = subject.release().rows();
    let class_of: Vec<u32> = (0..rows)
        .map(|row| subject.classes().of_row(row) as u32)
        .collect();
    // Without a sensitive attribute, to be found is all there is to lose.
    let alone = |found: &Classes| {
        let lone = |one: &usize| {
            let rows = found.rows(*one);
            rows.len() == 1 && subject.weight(rows[0] as usize) == 1
        };
        (0..found.count()).filter(lone).count() as u64
    };
    let mut shown: Vec<(u64, u64, usize, Vec<u64>)> = Vec::new();
    for (position, codes) in &others {
        let found = Classes::group(&[&class_of, codes], rows);
        let mut at_risk = vec![0; subject.classes().count()];
        for one in 0..found.count() {
            let rows = found.rows(one);
            let is_certain = |codes: &Vec<u32>| {
                rows.iter()
                    .all(|row| codes[*row as usize] == codes[rows[0] as usize])
            };
            let is_alone = rows.len() == 1 && subject.weight(rows[0] as usize) == 1;
            let is_told = match sensitive.is_empty() {
                true => is_alone,
                false => sensitive.iter().any(|(_, codes)| is_certain(codes)),
            };
            if is_told {
                let records: u64 = rows.iter().map(|row| subject.weight(*row as usize)).sum();
                at_risk[class_of[rows[0] as usize] as usize] += records;
            }
        }
        shown.push((at_risk.iter().sum(), alone(&found), *position, at_risk));
    }
    let Some((total, alone, position, risk)) = shown.into_iter().max_by_key(|one| one.0) else {
        return Finding::nothing(Attack::Other, "the release has no column of role other");
    };
    // What the class alone makes certain, of any attribute.
    let mut of_class = vec![0u64; subject.classes().count()];
    for (_, codes) in &sensitive {
        let counted = subject.counted(codes);
        for (class, found) in at_risk(subject, &counted, |top, size| top == size)
            .into_iter()
            .enumerate()
        {
            of_class[class] = of_class[class].max(found);
        }
    }
    let control = share(of_class.iter().sum(), subject.records());
    let name = &subject.release().schema().attributes()[position].name;
    let count = Count {
        at_risk: total,
        of: subject.records(),
        is_sample: false,
        falls: format!("records certain for who knows `{name}` ({alone} found alone)"),
    };
    let control = Control::expected("without that value", control);
    Finding::of(
        Attack::Other,
        count,
        Some(control),
        limit,
        subject.worst(&risk),
    )
}
