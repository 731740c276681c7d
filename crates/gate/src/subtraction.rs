//! Subtraction (MPRIV section I, example of the insider; Jiang and Clifton 2006): a site takes its own rows away
//! from the release, and what is left of a class are fewer than k records of others.
//!
//! Attacker: a site, or two that collude, with their own rows. Counted: records of others in classes of which
//! fewer than k others are left, for the worst site or pair. Whose rows a class has is exact where the release
//! names the site of each row; else own rows are put into the cheapest class that covers them and has their
//! sensitive values; where a class covers own rows that may be in another one, that is a guess, and only other
//! classes can make the release fall. No control: others' records are below k or not. Needs the sites of rows, or `--own` of one
//! site (of two for pairs). Cost: classes times pairs of their sites; of more than [`MOST_SITES`] sites, those
//! with most records.

use crate::attack::Attack;
use crate::finding::{Count, Finding, Verdict, share};
use crate::look::Look;
use crate::subject::Subject;

/// Sites whose pairs are tried.
const MOST_SITES: usize = 64;

/// For each class, the records of each of some sites; and the records of each site.
struct Shares {
    of_class: Vec<Vec<(u32, u64)>>,
    records: Vec<u64>,
    /// For each class, whether its shares are a guess: own rows that it covers may be in another class.
    is_guess: Vec<bool>,
}

pub(crate) fn attack(attack: Attack, look: &Look<'_>, limit: Option<f64>) -> Finding {
    let subject = look.subject;
    let colluders = if attack == Attack::OneSite { 1 } else { 2 };
    let shares = match (subject.sites(), &look.known.own) {
        (Some(sites), _) => Shares::of_release(subject, sites),
        (None, Some(own)) if own.sites >= colluders => Shares::of_own(look),
        (None, _) if colluders == 1 => {
            return Finding::not_tried(attack, "--own, or --provider-column");
        }
        (None, _) => {
            return Finding::not_tried(attack, "--own of two sites, or --provider-column");
        }
    };
    let present = shares.present().len();
    if present < colluders || (subject.sites().is_some() && present <= colluders) {
        return Finding::nothing(attack, "the release has no other sites");
    }
    let mut worst: Option<(Vec<u64>, u64)> = None;
    for coalition in shares.coalitions(colluders) {
        let at_risk = shares.below(subject, &coalition);
        let taken: u64 = coalition
            .iter()
            .map(|site| shares.records[*site as usize])
            .sum();
        let of = subject.records().saturating_sub(taken);
        let part = |at_risk: &[u64], of| share(at_risk.iter().sum(), of);
        let is_worse = worst
            .as_ref()
            .is_none_or(|(known, all)| part(&at_risk, of) > part(known, *all));
        if is_worse {
            worst = Some((at_risk, of));
        }
    }
    let Some((at_risk, of)) = worst.filter(|(_, of)| *of > 0) else {
        return Finding::nothing(attack, "all records are the attacker's own");
    };
    let count = Count {
        at_risk: at_risk.iter().sum(),
        of,
        is_sample: false,
        falls: format!(
            "records of others, fewer than k = {} left of their class",
            subject.k()
        ),
    };
    let sure: u64 = at_risk
        .iter()
        .zip(&shares.is_guess)
        .filter_map(|(records, is_guess)| (!is_guess).then_some(*records))
        .sum();
    let is_guess = shares.is_guess.contains(&true);
    let finding = Finding::of(attack, count, None, limit, subject.worst(&at_risk));
    let falls_surely = limit.is_some_and(|limit| share(sure, of) > limit);
    match finding.verdict {
        Verdict::Holds | Verdict::Falls if is_guess && !falls_surely => finding.at_best(
            Verdict::CannotTell,
            "own rows may be in several classes: give --provider-column",
        ),
        _ => finding,
    }
}

impl Shares {
    fn of_release(subject: &Subject<'_>, sites: &[u32]) -> Self {
        let count = sites.iter().max().map_or(0, |most| *most as usize + 1);
        let rows = (0..sites.len()).map(|row| {
            (
                subject.classes().of_row(row),
                sites[row],
                subject.weight(row),
            )
        });
        Self::of(subject, count, rows)
    }

    /// Own rows in the classes that they fall into.
    fn of_own(look: &Look<'_>) -> Self {
        let Some((own, placed)) = look.own_by_all() else {
            return Self::of(look.subject, 0, std::iter::empty());
        };
        let rows =
            placed
                .boxes
                .iter()
                .zip(&own.site)
                .enumerate()
                .filter_map(|(row, (one, site))| {
                    let class = look.subject.class_of_box((*one)? as usize);
                    Some((class, *site, own.weight(row)))
                });
        let mut shares = Self::of(look.subject, own.sites, rows);
        for (one, is_shared) in placed.shared.iter().enumerate() {
            shares.is_guess[look.subject.class_of_box(one)] |= is_shared;
        }
        shares
    }

    fn of(
        subject: &Subject<'_>,
        sites: usize,
        rows: impl Iterator<Item = (usize, u32, u64)>,
    ) -> Self {
        let mut shares = Self {
            of_class: vec![Vec::new(); subject.classes().count()],
            records: vec![0; sites],
            is_guess: vec![false; subject.classes().count()],
        };
        for (class, site, records) in rows {
            shares.records[site as usize] += records;
            let of_class = &mut shares.of_class[class];
            match of_class.iter_mut().find(|(known, _)| *known == site) {
                Some((_, sum)) => *sum += records,
                None => of_class.push((site, records)),
            }
        }
        shares
    }

    /// The sites that have records.
    fn present(&self) -> Vec<u32> {
        let sites = 0..self.records.len() as u32;
        sites
            .filter(|site| self.records[*site as usize] > 0)
            .collect()
    }

    /// All sites, or all pairs of those with most records.
    fn coalitions(&self, colluders: usize) -> Vec<Vec<u32>> {
        let all = self.present();
        if colluders == 1 {
            return all.into_iter().map(|site| vec![site]).collect();
        }
        let mut large = all;
        large.sort_by_key(|site| std::cmp::Reverse(self.records[*site as usize]));
        large.truncate(MOST_SITES);
        let pairs = large.iter().enumerate().flat_map(|(place, one)| {
            let others = large[place + 1..].iter();
            others.map(move |other| vec![*one, *other])
        });
        pairs.collect()
    }

    /// For each class, records of others of which fewer than k are left.
    fn below(&self, subject: &Subject<'_>, coalition: &[u32]) -> Vec<u64> {
        left_below(subject, |class| {
            let of_class = self.of_class[class].iter();
            let taken = of_class.filter(|(site, _)| coalition.contains(site));
            taken.map(|(_, records)| records).sum()
        })
    }
}

/// For each class, what is left of it where it is fewer than k records and so many are taken away.
pub(crate) fn left_below(subject: &Subject<'_>, taken: impl Fn(usize) -> u64) -> Vec<u64> {
    let left = |class: usize| {
        let left = subject.size(class).saturating_sub(taken(class));
        if left < subject.k() { left } else { 0 }
    };
    (0..subject.classes().count()).map(left).collect()
}
