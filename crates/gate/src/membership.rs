//! Membership (Nergiz et al. 2007, "Hiding the presence of individuals from shared databases"; Homer et al. 2008
//! for the measure): sets of values and tight ranges cover the people of the table, and few others.
//!
//! Attacker: asks whether a person is in the table whose quasi-identifiers nobody else has, and says yes where
//! a class covers the person. Counted: such people of the table. Control: such people who are not in the
//! table. The difference is the attacker's advantage: 0 where everybody is covered, 1 where only the table's
//! own people are. Needs own rows and people who are not in the table, of one population. Cost: people are
//! placed once.

use hedgerow_privacy::classes::Classes;

use crate::attack::Attack;
use crate::finding::{Control, Count, Finding};
use crate::known::Rows;
use crate::look::Look;
use crate::place::Placed;

pub(crate) fn attack(look: &Look<'_>, limit: Option<f64>) -> Finding {
    let subject = look.subject;
    let (Some((own, own_placed)), Some((holdout, holdout_placed))) = (look.own(), look.holdout())
    else {
        return Finding::not_tried(Attack::Membership, "--own and --holdout");
    };
    let both: Vec<Vec<u32>> = own
        .quasi
        .iter()
        .zip(&holdout.quasi)
        .map(|(own, others)| own.iter().chain(others).copied().collect())
        .collect();
    let columns: Vec<&[u32]> = both.iter().map(Vec::as_slice).collect();
    let counts = [own, holdout].into_iter().flat_map(|people| {
        let weights = 0..people.len();
        weights.map(|row| people.weight(row))
    });
    let counts: Vec<u64> = counts.collect();
    let alike = Classes::group(&columns, counts.len()).counted(Some(&counts));
    let is_unique = |row: usize| alike.size(alike.of_row(row)) == 1;
    let said_yes = |people: &Rows, placed: &Placed, from: usize| {
        let unique = (0..people.len()).filter(|row| is_unique(from + row));
        let (mut covered, mut all) = (Vec::new(), 0);
        for row in unique {
            all += 1;
            covered.extend(placed.boxes[row]);
        }
        (covered, all)
    };
    let (members, of) = said_yes(own, own_placed, 0);
    let (strangers, tried) = said_yes(holdout, holdout_placed, own.len());
    if of == 0 || tried == 0 {
        let because = "nobody has quasi-identifiers of their own";
        return Finding::nothing(Attack::Membership, because);
    }
    let mut at_risk = vec![0; subject.classes().count()];
    for one in &members {
        at_risk[subject.class_of_box(*one as usize)] += 1;
    }
    let count = Count {
        at_risk: members.len() as u64,
        of,
        is_sample: true,
        falls: String::from(
            "people with quasi-identifiers of their own who are seen to be covered",
        ),
    };
    let found = strangers.len() as u64;
    let control = Control::counted("people not in the table", found, tried);
    let worst = subject.worst(&at_risk);
    Finding::of(Attack::Membership, count, Some(control), limit, worst)
}
