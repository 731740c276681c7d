//! A class with many combinations of several sensitive attributes may have one value of one of them: models of
//! the product (MPRIV section II: attributes as one) do not see that.
//!
//! Attacker: knows a person's quasi-identifiers, and takes the one value of one attribute. Counted: records of
//! classes in which an attribute has one value and the combinations of all have several. Control: what is
//! expected if each attribute's values were dealt to the classes at random. Cost: one pass for each attribute.

use crate::attack::Attack;
use crate::certain::{at_risk, dealt};
use crate::finding::{Control, Count, Finding};
use crate::subject::Subject;

pub(crate) fn attack(subject: &Subject<'_>, limit: Option<f64>) -> Finding {
    if !subject.joins_sensitive() {
        return Finding::nothing(
            Attack::Product,
            "each sensitive attribute is held to the models",
        );
    }
    let sensitive = subject.sensitive();
    let is_all = |top: u64, size: u64| top == size;
    let mut certain = vec![0u64; subject.classes().count()];
    let mut is_joint = vec![0usize; subject.classes().count()];
    let mut spared = 1.0;
    for (_, codes) in &sensitive {
        let counted = subject.counted(codes);
        for (class, found) in at_risk(subject, &counted, is_all).into_iter().enumerate() {
            certain[class] = certain[class].max(found);
            is_joint[class] += usize::from(found > 0);
        }
        spared *= 1.0 - dealt(subject, &counted, is_all);
    }
    for (class, records) in certain.iter_mut().enumerate() {
        // One combination: no model of the product misses that.
        if is_joint[class] == sensitive.len() {
            *records = 0;
        }
    }
    let count = Count {
        at_risk: certain.iter().sum(),
        of: subject.records(),
        is_sample: false,
        falls: String::from("records with one value of one attribute, though the product differs"),
    };
    let control = Control::expected("the same values dealt at random", 1.0 - spared);
    let worst = subject.worst(&certain);
    Finding::of(Attack::Product, count, Some(control), limit, worst)
}
