//! m-privacy inside a run (MPRIV sections II and III): whether every part still satisfies the
//! requirement when the records of any coalition of at most m sites are taken out.
//!
//! The paper assumes a trusted party that sees the sites' counts. Here the counts stay at their sites:
//! what is left without a coalition is a sum over the sites outside it, and the requirement is a set of
//! thresholds on such sums. A coalition that owns the whole part leaves nobody to protect.
//!
//! With the exact strategy, sums over all sites decide first (`sums`): coalitions are asked about only
//! where those leave a part open, and there are few of them.
//!
//! # Discloses
//! To all sites, for each part of each cut that is allowed otherwise and each coalition asked about:
//! whether anything is left without it, and on which side of each threshold it lies (k; for distinct
//! l, for each sensitive value, whether it is left). For closeness, which values are more frequent
//! than in the table. Before that, what `sums` says. Where the study allows it, of each such part which
//! sites have records in it.

use std::collections::BTreeMap;

use hedgerow_privacy::m_privacy::{
    Coalition, Search, Sites, Step, Strategy, WEIGHT_OF_DIVERSITY, fitness_of_counts,
};
use hedgerow_smc::{Party, Site};

use super::sums::{self, Verdict};
use super::thresholds::{Demand, Known, Rule, Threshold, demands};
use super::{COALITIONS, CONTRIBUTORS, Demands, Table, Trials};
use crate::error::Error;
use crate::horizontal::rows::Share;

/// A part that has records, and no site that has any.
const OF_NOBODY: &str = "a part with records of which no site has any";
/// Each site alone says of which parts it has records.
const NOT_SAID: &str =
    "a part of which this site is said to have records and has none, or the reverse";

/// The most thresholds that are asked about at a time.
const MOST_AT_A_TIME: usize = 1 << 18;

/// The most coalitions that are asked about for a part: each is a comparison or more.
const MOST_COALITIONS: u64 = 20_000;

/// Refuses a requirement with more coalitions than can be asked about, where they must be.
pub(super) fn refuse_too_many(demands: &Demands<'_>, sites: usize) -> Result<(), Error> {
    let m = effective(demands.requirement.m.unwrap_or(0), sites);
    if are_few(sites, m) {
        return Ok(());
    }
    let models = &demands.requirement.models;
    let why = match models.iter().find(|model| !model.is_monotone()) {
        None if by_sums(demands, sites) => return Ok(()),
        None => format!(
            "verification is \"{}\" in this study, which asks about coalitions",
            demands.strategy.name()
        ),
        Some(model) => {
            format!("{model} may hold without some sites and fail without fewer of them")
        }
    };
    let largest = (0..m).rev().find(|m| are_few(sites, *m)).unwrap_or(0);
    Err(Error::TooManyCoalitions {
        sites,
        m,
        largest,
        why,
    })
}

/// Whether all coalitions of at most m of some sites can be asked about, one by one.
fn are_few(sites: usize, m: u64) -> bool {
    m == 0 || (sites <= Coalition::MOST_SITES && number(sites, m) <= MOST_COALITIONS)
}

/// Whether sums are asked about before coalitions are.
fn by_sums(demands: &Demands<'_>, sites: usize) -> bool {
    demands.strategy == Strategy::Exact && sums::decide(demands.requirement, sites)
}

/// More colluding sites than all but one leave nobody to protect.
fn effective(m: u64, sites: usize) -> u64 {
    m.min(sites.saturating_sub(1) as u64)
}

/// Coalitions of at most m of some sites.
fn number(sites: usize, m: u64) -> u64 {
    let mut of_size: u64 = 1;
    let mut all: u64 = 1;
    for size in 1..=m {
        of_size = of_size.saturating_mul((sites as u64 + 1).saturating_sub(size)) / size;
        all = all.saturating_add(of_size);
    }
    all
}

/// One part that coalitions might break.
pub(super) struct Candidate {
    /// Place of its try.
    place: usize,
    pub(super) records: u64,
    /// The counts of all sites, one sensitive attribute after the other.
    pub(super) sensitive: Vec<u64>,
    /// Those of the sites whose rows are here, none of them without records.
    pub(super) shares: Vec<Share>,
}

/// One part whose coalitions are searched.
struct Part {
    /// The place of the part's try.
    place: usize,
    records: u64,
    sensitive: Vec<u64>,
    shares: Vec<Share>,
    /// The most sites that collude.
    m: u64,
    /// The sites among which coalitions are searched.
    sites: Vec<usize>,
    /// What is asked about the rest that a coalition leaves.
    questions: Vec<Threshold>,
    /// That anything is left; then what the models demand of the rest.
    demands: Vec<Demand>,
    search: Search,
    asked: Vec<Coalition>,
}

impl Part {
    fn known(&self) -> Known<'_> {
        Known {
            records: self.records,
            sensitive: &self.sensitive,
        }
    }
}

/// Whether what is asked about coalitions tells that a part has records of enough sites: some coalition
/// leaves somebody, and whoever is left has enough sites. Where only coalitions of those with records are
/// looked at, a site that has all of them is left out alone.
pub(super) fn tell_of_sites(demands: &Demands<'_>, sites: usize) -> bool {
    let m = effective(demands.requirement.m.unwrap_or(0), sites);
    m > 0 && demands.strategy == Strategy::Exact && !demands.contributors
}

/// Forbids the cuts that have a part which some coalition of at most m sites breaks. Gives the
/// number of coalitions that were checked; a part that is asked about by sums counts as one.
pub(super) async fn check(
    party: &mut Party,
    table: &Table<'_>,
    m: u64,
    tries: &impl Trials,
    allowed: &mut [bool],
) -> Result<u64, Error> {
    let m = effective(m, table.sites());
    if m == 0 {
        return Ok(0);
    }
    let mut candidates = candidates(table, tries, allowed);
    let mut checks = 0;
    if by_sums(table.demands(), table.sites()) {
        checks += candidates.len() as u64;
        let verdicts = sums::verdicts(party, table, m, &candidates).await?;
        // Where sites say of which parts they have records, that may leave few coalitions.
        let may_be_few = are_few(table.sites(), m)
            || (table.demands().contributors && table.sites() <= Coalition::MOST_SITES);
        for (candidate, verdict) in candidates.iter().zip(&verdicts) {
            allowed[candidate.place] &= match verdict {
                Verdict::Withstands => true,
                Verdict::Breaks => false,
                Verdict::Open => may_be_few,
            };
        }
        let mut verdicts = verdicts.into_iter();
        candidates
            .retain(|candidate| verdicts.next() == Some(Verdict::Open) && allowed[candidate.place]);
    }
    let sites = contributors(party, table, &candidates).await?;
    let mut searched = Vec::with_capacity(candidates.len());
    for (candidate, sites) in candidates.into_iter().zip(sites) {
        if are_few(sites.len(), effective(m, sites.len())) {
            searched.push((candidate, sites));
        } else {
            allowed[candidate.place] = false;
        }
    }
    let mut parts = parts(table, m, searched)?;
    loop {
        for part in &mut parts {
            part.asked.clear();
            if !allowed[part.place] {
                // Another part of the cut settled the try.
                continue;
            }
            match part.search.ask() {
                Step::Check(coalitions) => {
                    let named = |places: Coalition| -> Coalition {
                        places.sites().map(|place| part.sites[place]).collect()
                    };
                    part.asked = coalitions.into_iter().map(named).collect();
                }
                Step::Private => {}
                Step::Breached(_) => allowed[part.place] = false,
            }
        }
        parts.retain(|part| !part.asked.is_empty() && allowed[part.place]);
        if parts.is_empty() {
            return Ok(checks);
        }
        checks += parts
            .iter()
            .map(|part| part.asked.len() as u64)
            .sum::<u64>();
        let remainders = remainders(party, table, &parts).await?;
        let mut remainders = remainders.into_iter();
        for part in &mut parts {
            let answers: Vec<bool> = part
                .asked
                .iter()
                .zip(&mut remainders)
                .map(|(gone, left)| match left {
                    // A coalition that is too large and leaves nobody says nothing of those in it.
                    Left::Nobody => gone.size() as u64 > part.m,
                    Left::Records { holds } => !holds,
                })
                .collect();
            part.search.answer(&answers);
        }
    }
}

/// The parts with records of what is allowed so far.
fn candidates(table: &Table<'_>, tries: &impl Trials, allowed: &[bool]) -> Vec<Candidate> {
    let sensitive: Vec<usize> = table.sensitive().map(|(index, _)| index).collect();
    let mut candidates = Vec::new();
    for place in (0..allowed.len()).filter(|place| allowed[*place]) {
        let counted = tries.counted(place);
        let shares = tries.shares(&sensitive, place);
        for (part, shares) in shares.into_iter().enumerate() {
            let records = counted.sizes[part];
            if records > 0 {
                candidates.push(Candidate {
                    place,
                    records,
                    sensitive: counted.of_part(part).to_vec(),
                    shares,
                });
            }
        }
    }
    candidates
}

/// For each part, the sites whose coalitions are looked at: all of them, or, where the study allows it to
/// be known, those with records in the part (n_G of MPRIV section III.A).
async fn contributors(
    party: &mut Party,
    table: &Table<'_>,
    candidates: &[Candidate],
) -> Result<Vec<Vec<usize>>, Error> {
    let sites = table.sites();
    if !table.demands().contributors || candidates.is_empty() {
        return Ok(vec![(0..sites).collect(); candidates.len()]);
    }
    let mut bits = vec![false; candidates.len() * sites];
    for (candidate, bits) in candidates.iter().zip(bits.chunks_mut(sites)) {
        for share in &candidate.shares {
            bits[share.site as usize] = true;
        }
    }
    let own = bits.clone();
    party.any(CONTRIBUTORS, &mut bits).await?;
    // Whoever leaves a site out leaves out the coalitions that the site is in.
    let is_said =
        (0..bits.len()).all(|place| !table.speaks_of(place % sites) || own[place] == bits[place]);
    party.fit(CONTRIBUTORS, is_said, NOT_SAID)?;
    let parts = bits.chunks(sites);
    let found: Vec<Vec<usize>> = parts
        .map(|bits| (0..sites).filter(|site| bits[*site]).collect())
        .collect();
    // A part with records has them from somebody.
    let fits = found.iter().all(|sites| !sites.is_empty());
    party.fit(CONTRIBUTORS, fits, OF_NOBODY)?;
    Ok(found)
}

fn parts(
    table: &Table<'_>,
    m: u64,
    candidates: Vec<(Candidate, Vec<usize>)>,
) -> Result<Vec<Part>, Error> {
    let models = &table.demands().requirement.models;
    let view = table.view();
    let part = |(candidate, among): (Candidate, Vec<usize>)| {
        let Candidate {
            place,
            records,
            sensitive,
            shares,
        } = candidate;
        let m = effective(m, among.len());
        let each = records / among.len() as u64;
        let average = fitness_of_counts(models, each, None, WEIGHT_OF_DIVERSITY);
        let sites = Sites::hidden(among.len(), average, models)?;
        let known = Known {
            records,
            sensitive: &sensitive,
        };
        let (asked, demands) = demands(table.demands(), &view, &known, table.sites());
        Ok(Part {
            place,
            records,
            sensitive,
            shares,
            m,
            sites: among,
            questions: asked.questions,
            demands,
            search: Search::new(table.demands().strategy, &sites, m, usize::MAX),
            asked: Vec::new(),
        })
    };
    candidates.into_iter().map(part).collect()
}

/// What a coalition leaves of a part.
enum Left {
    Nobody,
    Records { holds: bool },
}

/// For each coalition asked about in each part, what the coalition leaves.
async fn remainders(
    party: &mut Party,
    table: &Table<'_>,
    parts: &[Part],
) -> Result<Vec<Left>, Error> {
    let asked = || {
        parts
            .iter()
            .flat_map(|part| part.asked.iter().map(move |gone| (part, *gone)))
            // The whole part was looked at before coalitions were.
            .filter(|(_, gone)| !gone.is_empty())
    };
    let mut questions = Questions::new(table);
    for (part, gone) in asked() {
        let mut asked = part.questions.iter();
        asked.try_for_each(|threshold| questions.add(part, gone, threshold))?;
    }
    let mut answers = questions.ask(party).await?.into_iter();
    let mut next = |count: usize| -> Vec<bool> { answers.by_ref().take(count).collect() };

    let mut found = Vec::new();
    let mut last = Questions::new(table);
    for (part, gone) in asked() {
        let answers = next(part.questions.len());
        let mut of_demands = part.demands.iter().map(|demand| {
            let bits = demand.answers.iter().map(|answer| answer.of(&answers));
            (bits.collect::<Vec<bool>>(), demand)
        });
        let is_anybody = of_demands.next().is_some_and(|(bits, _)| bits == [true]);
        let mut holds = true;
        let mut close = Vec::new();
        for (bits, demand) in of_demands {
            match &demand.rule {
                Rule::All => holds &= bits.iter().all(|bit| *bit),
                Rule::Some(least) => {
                    holds &= bits.iter().filter(|bit| **bit).count() as u64 >= *least;
                }
                Rule::AllOrOne { other_ways } => {
                    let (ways, others) = bits.split_at(bits.len() - other_ways);
                    holds &= ways.iter().all(|bit| *bit) || others.iter().any(|bit| *bit);
                }
                Rule::Close(demanded) => {
                    close.push(demanded.question(&bits, &part.known(), table.sites()));
                }
            }
        }
        if !is_anybody || !holds {
            close.clear();
        }
        close
            .iter()
            .try_for_each(|threshold| last.add(part, gone, threshold))?;
        found.push((is_anybody, holds, close.len()));
    }
    let mut answers = last.ask(party).await?.into_iter();
    let mut found = found.into_iter();
    let left = parts.iter().flat_map(|part| &part.asked).map(|gone| {
        if gone.is_empty() {
            return Left::Records { holds: true };
        }
        let (is_anybody, holds, close) = found.next().unwrap_or((true, false, 0));
        // All answers are taken, also after a negative one, since the answers for the next coalition
        // follow.
        let is_close: Vec<bool> = answers.by_ref().take(close).collect();
        if is_anybody {
            let holds = holds && is_close.iter().all(|bit| *bit);
            Left::Records { holds }
        } else {
            Left::Nobody
        }
    });
    Ok(left.collect())
}

/// Thresholds that are asked together.
struct Questions<'t> {
    table: &'t Table<'t>,
    bounds: Vec<u64>,
    own: Vec<u64>,
    thresholds: Vec<u64>,
    /// The coalitions that are left out, numbered by their first appearance; and for each threshold which.
    coalitions: BTreeMap<Coalition, u32>,
    without: Vec<u32>,
}

impl<'t> Questions<'t> {
    fn new(table: &'t Table<'_>) -> Self {
        Self {
            table,
            bounds: Vec::new(),
            own: Vec::new(),
            thresholds: Vec::new(),
            coalitions: BTreeMap::new(),
            without: Vec::new(),
        }
    }

    fn add(&mut self, part: &Part, gone: Coalition, threshold: &Threshold) -> Result<(), Error> {
        let outside = self.table.sites() - gone.size();
        let shares = part
            .shares
            .iter()
            .filter(|share| !gone.contains(share.site as usize));
        let speaks_for = self.table.speaks_for(gone);
        let posed = threshold.pose(&part.known(), shares, speaks_for, outside)?;
        self.own.push(posed.own);
        self.thresholds.push(posed.threshold);
        // There are at most as many coalitions as are checked for a part.
        let next = self.coalitions.len() as u32;
        self.without
            .push(*self.coalitions.entry(gone).or_insert(next));
        self.bounds.push(posed.bound);
        Ok(())
    }

    /// Asks all comparisons. Without comparisons nothing is asked, at any site.
    async fn ask(self, party: &mut Party) -> Result<Vec<bool>, Error> {
        let mut answers = vec![false; self.own.len()];
        let mut coalitions = vec![Vec::new(); self.coalitions.len()];
        for (gone, number) in &self.coalitions {
            let sites = Site::all(self.table.sites());
            let sites = sites.filter(|site| gone.contains(site.index()));
            coalitions[*number as usize] = sites.collect();
        }
        // Only some comparisons are made at a time, so that memory is bounded.
        let chunks = self.own.chunks(MOST_AT_A_TIME);
        let chunks = chunks.zip(self.thresholds.chunks(MOST_AT_A_TIME));
        let chunks = chunks.zip(self.without.chunks(MOST_AT_A_TIME));
        let chunks = chunks.zip(self.bounds.chunks(MOST_AT_A_TIME));
        for ((((own, thresholds), without), bounds), answers) in
            chunks.zip(answers.chunks_mut(MOST_AT_A_TIME))
        {
            party
                .at_least_without(
                    COALITIONS,
                    bounds,
                    own,
                    thresholds,
                    (&coalitions, without),
                    answers,
                )
                .await?;
        }
        Ok(answers)
    }
}
