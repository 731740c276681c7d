//! m-privacy inside a run (MPRIV sections II and III): whether every part still satisfies the
//! requirement when the records of any coalition of at most m sites are taken out.
//!
//! The paper assumes a trusted party that sees the sites' counts. Here the counts stay at their sites:
//! what is left without a coalition is a sum over the sites outside it, and the requirement is a set of
//! thresholds on such sums. A coalition that owns the whole part leaves nobody to protect.
//!
//! # Discloses
//! To all sites, for each part of each cut that is allowed otherwise and each coalition asked about:
//! whether anything is left without the coalition, and on which side of each threshold the rest lies (k;
//! for distinct l, for each sensitive value, whether it is left). For closeness, which values are more
//! frequent than in the table.

use std::collections::BTreeMap;

use hedgerow_privacy::Requirement;
use hedgerow_smc::{Party, Site};

use super::thresholds::{Demand, Rule, Threshold, demands};
use super::{COALITIONS, Table, Trials};
use crate::error::Error;
use crate::horizontal::rows::Share;
use hedgerow_privacy::m_privacy::{
    Coalition, Search, Sites, Step, WEIGHT_OF_DIVERSITY, fitness_of_counts,
};

/// The most thresholds that are asked about at a time.
const MOST_AT_A_TIME: usize = 1 << 18;

/// The most coalitions that are asked about for a part: each is a comparison or more.
const MOST_COALITIONS: u64 = 20_000;

/// Refuses a requirement with more coalitions than can be asked about.
pub(super) fn refuse_too_many(requirement: &Requirement, sites: usize) -> Result<(), Error> {
    let m = effective(requirement.m.unwrap_or(0), sites);
    if m == 0 {
        return Ok(());
    }
    let coalitions = number(sites, m);
    if coalitions > MOST_COALITIONS || sites > Coalition::MOST_SITES {
        let largest = (0..m).rev().find(|m| number(sites, *m) <= MOST_COALITIONS);
        let largest = largest.filter(|_| sites <= Coalition::MOST_SITES);
        return Err(Error::TooManyCoalitions {
            sites,
            m,
            largest: largest.unwrap_or(0),
        });
    }
    Ok(())
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

/// A part whose coalitions are searched.
struct Part {
    /// The place of the part's try.
    place: usize,
    records: u64,
    shares: Vec<Share>,
    demands: Vec<Demand>,
    search: Search,
    asked: Vec<Coalition>,
}

/// Forbids the cuts that have a part which some coalition of at most m sites breaks. Gives the
/// number of coalitions that were checked.
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
    let mut parts = parts(table, m, tries, allowed)?;
    let mut checks = 0;
    loop {
        for part in &mut parts {
            part.asked.clear();
            if !allowed[part.place] {
                // Another part of the cut settled the try.
                continue;
            }
            match part.search.ask() {
                Step::Check(coalitions) => part.asked = coalitions,
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
                    // A coalition that is too large and leaves nobody says nothing of the coalitions
                    // within it.
                    Left::Nobody => gone.size() as u64 > m,
                    Left::Records { holds } => !holds,
                })
                .collect();
            part.search.answer(&answers);
        }
    }
}

fn parts(
    table: &Table<'_>,
    m: u64,
    tries: &impl Trials,
    allowed: &[bool],
) -> Result<Vec<Part>, Error> {
    let models = &table.demands().requirement.models;
    let view = table.view();
    let sensitive: Vec<usize> = table.sensitive().map(|(index, _)| index).collect();
    let mut parts = Vec::new();
    for place in (0..allowed.len()).filter(|place| allowed[*place]) {
        let counted = tries.counted(place);
        let shares = tries.shares(&sensitive, place);
        for (part, shares) in shares.into_iter().enumerate() {
            let records = counted.sizes[part];
            if records == 0 {
                continue;
            }
            let each = records / table.sites() as u64;
            let average = fitness_of_counts(models, each, None, WEIGHT_OF_DIVERSITY);
            let sites = Sites::hidden(table.sites(), average, models)?;
            parts.push(Part {
                place,
                records,
                shares,
                demands: demands(
                    table.demands(),
                    &view,
                    (records, counted.of_part(part)),
                    table.sites(),
                ),
                search: Search::new(table.demands().strategy, &sites, m, usize::MAX),
                asked: Vec::new(),
            });
        }
    }
    Ok(parts)
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
    let somebody = Threshold::somebody();
    let asked = || {
        parts
            .iter()
            .flat_map(|part| part.asked.iter().map(move |gone| (part, *gone)))
            // The whole part was looked at before coalitions were.
            .filter(|(_, gone)| !gone.is_empty())
    };
    let mut questions = Questions::new(table);
    for (part, gone) in asked() {
        questions.add(part, gone, &somebody)?;
        let mut demands = part.demands.iter().flat_map(|demand| &demand.questions);
        demands.try_for_each(|threshold| questions.add(part, gone, threshold))?;
    }
    let mut answers = questions.ask(party).await?.into_iter();
    let mut next = |count: usize| -> Vec<bool> { answers.by_ref().take(count).collect() };

    let mut found = Vec::new();
    let mut last = Questions::new(table);
    for (part, gone) in asked() {
        let is_anybody = next(1) == [true];
        let mut holds = true;
        let mut close = Vec::new();
        for demand in &part.demands {
            let bits = next(demand.questions.len());
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
                    close.push(demanded.question(&bits, part.records, table.sites()));
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
    bound: u64,
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
            bound: 1,
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
        let posed = threshold.pose(part.records, shares, speaks_for, outside)?;
        self.own.push(posed.own);
        self.thresholds.push(posed.threshold);
        // There are at most as many coalitions as are checked for a part.
        let next = self.coalitions.len() as u32;
        self.without
            .push(*self.coalitions.entry(gone).or_insert(next));
        self.bound = self.bound.max(posed.bound);
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
        for (((own, thresholds), without), answers) in
            chunks.zip(answers.chunks_mut(MOST_AT_A_TIME))
        {
            party
                .at_least_without(
                    COALITIONS,
                    self.bound,
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
