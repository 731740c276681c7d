//! Linkage by quasi-identifiers as they are printed (Sweeney 2002, "k-anonymity: a model for protecting
//! privacy").
//!
//! Attacker: knows everybody's quasi-identifiers. Counted: records whose printed quasi-identifiers fewer than
//! k records share. In a whole release these are classes below k. In a fragmented release the verdict is
//! about groups, and where quasi-identifiers are restored (D2PT section 3.6), the table of quasi-identifiers
//! can single out people whose group has k. No control: either others are printed alike, or not. Cost: one
//! pass.

use hedgerow_privacy::classes::Classes;

use crate::attack::Attack;
use crate::finding::{Count, Finding};
use crate::subject::Subject;

pub(crate) fn attack(subject: &Subject<'_>, limit: Option<f64>) -> Finding {
    let release = subject.release();
    let columns: Vec<&[u32]> = subject
        .quasi()
        .iter()
        .filter_map(|place| Some(release.generalized(*place)?.codes.as_slice()))
        .collect();
    let alike = Classes::group(&columns, release.rows());
    let mut at_risk = vec![0; subject.classes().count()];
    let mut alone = 0;
    for one in 0..alike.count() {
        let rows = alike.rows(one);
        let records: u64 = rows.iter().map(|row| subject.weight(*row as usize)).sum();
        if records >= subject.k() {
            continue;
        }
        alone += u64::from(records == 1);
        for row in rows {
            let row = *row as usize;
            at_risk[subject.classes().of_row(row)] += subject.weight(row);
        }
    }
    let count = Count {
        at_risk: at_risk.iter().sum(),
        of: subject.records(),
        is_sample: false,
        falls: format!(
            "records printed like fewer than k = {} ({alone} like no other)",
            subject.k()
        ),
    };
    Finding::of(Attack::Printed, count, None, limit, subject.worst(&at_risk))
}
