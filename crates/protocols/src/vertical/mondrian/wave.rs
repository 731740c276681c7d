//! One wave: for every open class the site with the widest quasi-identifier is found, cuts, and tells who
//! goes left; the sites with sensitive attributes answer whether both parts hold.
//!
//! Four rounds between two sites and among three, five among more: who cuts; who goes left. One more
//! where the requirement speaks of sensitive values: whether parts hold. Where a single site has all
//! sensitive attributes, that site tells its answer, and only of cuts that it did not propose itself; else
//! all sites find the conjunction of their answers, in three rounds.
//!
//! # Discloses
//! As the module says.

use hedgerow_smc::{Party, Site};
use rayon::prelude::*;

use super::open::{Open, Own, has_k};
use super::{CUTTING_SITES, HOLDING_PARTS, LEFT_PEOPLE, Plan, REFUSED_CUTS};
use crate::error::Error;

/// The result of a wave.
pub(super) struct Next {
    /// Classes that may be cut on.
    pub(super) open: Vec<Open>,
    /// Classes for which no site has a cut left.
    pub(super) closed: Vec<Open>,
    /// How many cuts were refused.
    pub(super) refused: u64,
}

/// What all sites know of a class in a wave.
struct Asked {
    class: Open,
    /// The site that cuts.
    site: Site,
    /// Whether each person goes left: nobody where no site has a cut.
    goes_left: Vec<bool>,
}

impl Asked {
    fn is_cut(&self) -> bool {
        self.goes_left.contains(&true)
    }
}

pub(super) async fn wave(
    party: &mut Party,
    plan: &Plan<'_>,
    own: &Own<'_>,
    mut open: Vec<Open>,
) -> Result<Next, Error> {
    open.par_iter_mut().for_each(|class| class.look(own));
    let ranks: Vec<u64> = open.iter().map(Open::rank).collect();
    let mut sites = vec![0; open.len()];
    let contend = plan.sites_that_cut(party);
    let highest = own.scale.highest();
    party
        .greatest(CUTTING_SITES, highest, &contend, &ranks, &mut sites)
        .await?;
    let asked = left_people(party, plan, own, open, &sites).await?;
    let holds = holding(party, plan, own, &asked).await?;
    note_refused(party, &asked, &holds)?;
    let mut next = Next {
        open: Vec::with_capacity(2 * asked.len()),
        closed: Vec::new(),
        refused: 0,
    };
    for (asked, holds) in asked.into_iter().zip(holds) {
        let is_cut = asked.is_cut();
        let mut class = asked.class;
        if !is_cut {
            next.closed.push(class);
        } else if holds {
            let parts = class.into_parts(asked.site, &asked.goes_left);
            next.open.extend(parts);
        } else {
            next.refused += 1;
            class.refuse(asked.site, party.me());
            next.open.push(class);
        }
    }
    Ok(next)
}

/// The sites that cut tell who goes left.
async fn left_people(
    party: &mut Party,
    plan: &Plan<'_>,
    own: &Own<'_>,
    open: Vec<Open>,
    sites: &[u64],
) -> Result<Vec<Asked>, Error> {
    let me = party.me().index() as u64;
    let mut bits: Vec<Vec<u8>> = vec![Vec::new(); party.sites()];
    let mut told = Vec::new();
    for (class, site) in open.iter().zip(sites) {
        let of_site = &mut bits[*site as usize];
        of_site.resize(of_site.len() + class.people.len(), 1);
        if *site == me {
            told.extend(class.goes_left(own).map(u64::from));
        }
    }
    let lengths = bits.iter().map(Vec::len);
    let mut starts: Vec<usize> = lengths
        .scan(0, |start, length| {
            *start += length;
            Some(*start - length)
        })
        .collect();
    let heard = party.tell_each(LEFT_PEOPLE, &bits, &told).await?;
    let mut asked = Vec::with_capacity(open.len());
    for (class, site) in open.into_iter().zip(sites) {
        let start = &mut starts[*site as usize];
        let people = &heard[*start..*start + class.people.len()];
        *start += people.len();
        let goes_left: Vec<bool> = people.iter().map(|bit| *bit == 1).collect();
        let asked_one = Asked {
            class,
            site: Site::new(*site as u16),
            goes_left,
        };
        refuse_impossible(party, plan, own, &asked_one)?;
        asked.push(asked_one);
    }
    Ok(asked)
}

/// Ends the run where a site told what no table of its own gives. So the number of waves is bounded too,
/// whatever a site tells: by the values of the quasi-identifiers, and by twice their number for each class.
fn refuse_impossible(
    party: &Party,
    plan: &Plan<'_>,
    own: &Own<'_>,
    asked: &Asked,
) -> Result<(), Error> {
    let Asked {
        class,
        site,
        goes_left,
    } = asked;
    let of_site = class.of_site(*site);
    let is_cut = asked.is_cut();
    // Two cuts of each attribute, at the median: its records on the left, then on the right.
    let most_refused = 2 * plan.quasi_at(party, *site) as u64;
    let problems = [
        (
            is_cut && !has_k(goes_left, own.k),
            "a part of a cut has fewer than k people",
        ),
        (
            !is_cut && class.rank() > 0,
            "the site with the widest attribute has no cut, and another has one",
        ),
        (
            is_cut && of_site.cuts >= own.scale.most_cuts(*site),
            "a class is cut more often than the site's attributes have values",
        ),
        (
            is_cut && of_site.refused >= most_refused,
            "more cuts of a class are proposed than the site's attributes have",
        ),
    ];
    for (is_wrong, problem) in problems {
        party.fit_told(*site, LEFT_PEOPLE, !is_wrong, problem)?;
    }
    Ok(())
}

/// For each class, whether both parts of its cut satisfy the requirement at every site; false where it
/// has no cut.
async fn holding(
    party: &mut Party,
    plan: &Plan<'_>,
    own: &Own<'_>,
    asked: &[Asked],
) -> Result<Vec<bool>, Error> {
    let mut holds: Vec<bool> = asked.iter().map(Asked::is_cut).collect();
    let answering = plan.sites_that_answer(party);
    // Who proposes a cut has looked at its own sensitive attributes.
    let is_open = |place: &usize| {
        let site = asked[*place].site;
        holds[*place] && answering.iter().any(|other| *other != site)
    };
    let places: Vec<usize> = (0..asked.len()).filter(is_open).collect();
    if places.is_empty() {
        return Ok(holds);
    }
    let answer = |place: &usize| {
        let Asked {
            class, goes_left, ..
        } = &asked[*place];
        own.checks.hold(&class.people, |person| goes_left[person])
    };
    let mut answers: Vec<bool> = places.par_iter().map(answer).collect();
    match answering.as_slice() {
        [only] => {
            let mut bits = vec![Vec::new(); party.sites()];
            bits[only.index()] = vec![1; answers.len()];
            let told: Vec<u64> = match *only == party.me() {
                true => answers.iter().map(|answer| u64::from(*answer)).collect(),
                false => Vec::new(),
            };
            let heard = party.tell_each(HOLDING_PARTS, &bits, &told).await?;
            answers = heard.iter().map(|bit| *bit == 1).collect();
        }
        _ => party.all(HOLDING_PARTS, &mut answers).await?,
    }
    for (place, answer) in places.into_iter().zip(answers) {
        holds[place] = answer;
    }
    Ok(holds)
}

/// Names who would have gone left in refused cuts a second time.
fn note_refused(party: &mut Party, asked: &[Asked], holds: &[bool]) -> Result<(), Error> {
    let refused = asked.iter().zip(holds);
    let refused = refused.filter(|(asked, holds)| !**holds && asked.is_cut());
    let people = refused.flat_map(|(asked, _)| &asked.goes_left);
    let people: Vec<u64> = people.map(|left| u64::from(*left)).collect();
    if !people.is_empty() {
        party.note(REFUSED_CUTS, &people)?;
    }
    Ok(())
}
