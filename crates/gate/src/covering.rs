//! Overlapping classes hide nobody: a person whom several classes cover is in the cheapest of them (TG12
//! section 8.2 counts on overlaps; measured on releases of our own).
//!
//! Attacker: knows everybody's quasi-identifiers, and puts each person into the cheapest class that covers
//! them. Counted: records that are put right, as the classes' own counts show: where a class has fewer records
//! of a sensitive value than people were put there, the rest were put wrong. This bounds from above what is
//! right, and is exact where every wrong one is seen. Needs the rows of all records. No limit: k counts on a
//! class, and not on overlaps. Cost: people are placed once.

use std::collections::HashMap;

use crate::attack::Attack;
use crate::finding::{Count, Finding};
use crate::look::Look;

pub(crate) fn attack(look: &Look<'_>, limit: Option<f64>) -> Finding {
    let subject = look.subject;
    let Some((own, placed)) = look.whole() else {
        return Finding::not_tried(Attack::Covering, "--own with the rows of all records");
    };
    let sensitive = subject.sensitive();
    // Combinations of sensitive values of a class, in the release.
    let mut left: HashMap<(u32, Vec<u32>), u64> = HashMap::new();
    for row in 0..subject.release().rows() {
        let values = sensitive.iter().map(|(_, codes)| codes[row]).collect();
        let class = subject.classes().of_row(row) as u32;
        *left.entry((class, values)).or_default() += subject.weight(row);
    }
    let mut at_risk = vec![0; subject.classes().count()];
    let mut several = 0;
    for (row, one) in placed.boxes.iter().enumerate() {
        if placed.covers[row] > 1 {
            several += own.weight(row);
        }
        let Some(one) = one else { continue };
        let class = subject.class_of_box(*one as usize);
        let values = own.sensitive.iter().map(|codes| codes[row]).collect();
        if let Some(records) = left.get_mut(&(class as u32, values)) {
            let right = own.weight(row).min(*records);
            *records -= right;
            at_risk[class] += right;
        }
    }
    let count = Count {
        at_risk: at_risk.iter().sum(),
        of: own.people(),
        is_sample: false,
        falls: format!("records whose class is found ({several} are covered by several)"),
    };
    Finding::of(Attack::Covering, count, None, limit, Vec::new())
}
