//! The order of rows shows cuts that the cells hide. Where two classes of a run are written alike, readers take
//! them for one; rows that stand in the order of the run tell them apart again (measured on releases of our
//! own; the remedy is an order that follows from what is written).
//!
//! Attacker: a reader who looks at the order of rows. Counted: records that stand beside one of their own class
//! while their class stands in several places, unless what is written says which place is whose: rows that are
//! written alike stand in several of these places. Control: the same rows shuffled. An order that follows from
//! what is written counts nothing. Cost: one pass, and a few for the control.

use hedgerow_privacy::classes::Classes;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use crate::attack::Attack;
use crate::finding::{Control, Count, Finding, share};
use crate::subject::Subject;

/// How often rows are shuffled for the control.
const SHUFFLES: u64 = 3;

pub(crate) fn attack(subject: &Subject<'_>, limit: Option<f64>) -> Finding {
    if subject.is_fragmented() {
        return Finding::nothing(
            Attack::Order,
            "rows of a fragmented release stand in the order of their groups",
        );
    }
    let alike = subject.written_alike();
    let mut order: Vec<u32> = (0..subject.release().rows() as u32).collect();
    let at_risk = shown(subject, &alike, &order);
    let total: u64 = at_risk.iter().sum();
    let control = (total > 0).then(|| {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let shuffled = (0..SHUFFLES).map(|_| {
            order.shuffle(&mut random);
            shown(subject, &alike, &order).iter().sum::<u64>()
        });
        let found: u64 = shuffled.sum();
        Control::expected(
            "the same rows shuffled",
            share(found, SHUFFLES * subject.records()),
        )
    });
    let count = Count {
        at_risk: total,
        of: subject.records(),
        is_sample: false,
        falls: String::from("records whose place tells more than their cells"),
    };
    Finding::of(
        Attack::Order,
        count,
        control,
        limit,
        subject.worst(&at_risk),
    )
}

/// Records of each class that an order tells apart.
fn shown(subject: &Subject<'_>, alike: &Classes, order: &[u32]) -> Vec<u64> {
    let classes = subject.classes();
    let class_at = |place: usize| classes.of_row(order[place] as usize);
    // Stretches of rows of one class, numbered; and for rows written alike, the stretch of the first.
    let mut stretches = vec![0u32; classes.count()];
    let mut stretch_of = vec![u32::MAX; alike.count()];
    let mut is_apart = vec![false; classes.count()];
    for (place, row) in order.iter().enumerate() {
        let class = class_at(place);
        if place == 0 || class_at(place - 1) != class {
            stretches[class] += 1;
        }
        let first = &mut stretch_of[alike.of_row(*row as usize)];
        match *first {
            u32::MAX => *first = stretches[class],
            stretch if stretch != stretches[class] => is_apart[class] = true,
            _ => {}
        }
    }
    let mut at_risk = vec![0; classes.count()];
    for (place, row) in order.iter().enumerate() {
        let class = class_at(place);
        let beside = (place > 0 && class_at(place - 1) == class)
            || (place + 1 < order.len() && class_at(place + 1) == class);
        if is_apart[class] && beside {
            at_risk[class] += subject.weight(*row as usize);
        }
    }
    at_risk
}
