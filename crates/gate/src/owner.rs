//! The order of rows shows whose they are: where sites' rows of a class stand one site after the other, a
//! reader who knows one row of a site knows its neighbours' site (measured on releases of our own).
//!
//! Attacker: a reader who looks at the order of rows. Counted: records of classes with several sites in which
//! rows that are written alike stand site by site, while there are several of a site. Control: the sites of
//! such rows shuffled, by computation: of all orders of a site's and the others' rows, the share that is site
//! by site. Needs the site of each row. Cost: one pass.

use crate::attack::Attack;
use crate::finding::{Control, Count, Finding};
use crate::interval::ln_gamma;
use crate::subject::Subject;

pub(crate) fn attack(subject: &Subject<'_>, limit: Option<f64>) -> Finding {
    let Some(sites) = subject.sites() else {
        return Finding::not_tried(Attack::Owner, "--provider-column");
    };
    let classes = subject.classes();
    // Rows that are written alike, in their order: only those may stand in any order.
    let alike = subject.written_alike();
    let mut at_risk = vec![0; classes.count()];
    let (mut of, mut expected) = (0, 0.0);
    for one in 0..alike.count() {
        let rows = alike.rows(one);
        let mut counts: Vec<(u32, u64)> = Vec::new();
        let mut stretches = 0;
        let mut before = None;
        for row in rows {
            let site = sites[*row as usize];
            stretches += u64::from(before != Some(site));
            before = Some(site);
            match counts.iter_mut().find(|(known, _)| *known == site) {
                Some((_, count)) => *count += 1,
                None => counts.push((site, 1)),
            }
        }
        // Two rows of two sites are site by site whatever their order.
        if counts.len() < 2 || counts.len() == rows.len() {
            continue;
        }
        let records: u64 = rows.iter().map(|row| subject.weight(*row as usize)).sum();
        of += records;
        expected += records as f64 * chance(&counts, rows.len() as u64);
        if stretches == counts.len() as u64 {
            at_risk[classes.of_row(rows[0] as usize)] += records;
        }
    }
    if of == 0 {
        return Finding::nothing(
            Attack::Owner,
            "no rows that are written alike are of several sites",
        );
    }
    let count = Count {
        at_risk: at_risk.iter().sum(),
        of,
        is_sample: true,
        falls: String::from("records whose neighbours are of their own site"),
    };
    let control = Control::expected("the same rows shuffled", expected / of as f64);
    let worst = subject.worst(&at_risk);
    Finding::of(Attack::Owner, count, Some(control), limit, worst)
}

/// The chance that rows in a random order stand site by site.
fn chance(counts: &[(u32, u64)], rows: u64) -> f64 {
    let factorial = |number: u64| ln_gamma(number as f64 + 1.0);
    let same: f64 = counts.iter().map(|(_, count)| factorial(*count)).sum();
    (factorial(counts.len() as u64) + same - factorial(rows)).exp()
}
