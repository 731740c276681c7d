//! A class with many combinations of several sensitive attributes may have one value of one of them: models of
//! the product (MPRIV section II: attributes as one) do not see that.
//!
//! Attacker: knows a person's quasi-identifiers, and takes the one value of one attribute. Counted: records of
//! classes in which an attribute has one value and the combinations of all have several, of the attribute that
//! shows most beyond its control. Control: what is expected if each attribute's values were dealt to the classes
//! at random. Cost: one pass for each attribute.

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
    let each = sensitive.iter().map(|(_, codes)| {
        let counted = subject.counted(codes);
        let at_risk = at_risk(subject, &counted, is_all);
        (at_risk, dealt(subject, &counted, is_all))
    });
    let found: Vec<(Vec<u64>, Vec<f64>)> = each.collect();
    let each = sensitive.iter().enumerate().map(|(number, (position, _))| {
        let others = || {
            found
                .iter()
                .enumerate()
                .filter(move |(other, _)| *other != number)
                .map(|(_, found)| found)
        };
        let (own, expected) = &found[number];
        let classes = 0..own.len();
        // One combination: no model of the product misses that.
        let is_joint = |class: usize| others().all(|(at_risk, _)| at_risk[class] > 0);
        let at_risk: Vec<u64> = classes
            .clone()
            .map(|class| if is_joint(class) { 0 } else { own[class] })
            .collect();
        // The chance that all others have one value too, each dealt by itself.
        let joint = |class: usize| -> f64 {
            let size = subject.size(class).max(1) as f64;
            others()
                .map(|(_, expected)| expected[class] / size)
                .product()
        };
        let expected: f64 = classes
            .map(|class| expected[class] * (1.0 - joint(class)))
            .sum();
        let share = expected / subject.records().max(1) as f64;
        let name = &subject.release().schema().attributes()[*position].name;
        let count = Count {
            at_risk: at_risk.iter().sum(),
            of: subject.records(),
            is_sample: false,
            falls: format!("records with one value of `{name}`, though the product differs"),
        };
        let control = Control::expected("the same values dealt at random", share);
        let worst = subject.worst(&at_risk);
        Finding::of(Attack::Product, count, Some(control), limit, worst)
    });
    each.reduce(Finding::worse).unwrap_or_else(|| {
        Finding::nothing(Attack::Product, "the release has no sensitive attribute")
    })
}
