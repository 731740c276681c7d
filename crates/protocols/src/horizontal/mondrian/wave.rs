//! One wave: every open class tries a cut, or all its cuts, and makes the best that is allowed.
//!
//! # Discloses
//! As the module says: medians, then sizes and sensitive counts of the parts, then what the checks
//! and the choice ask.

use hedgerow_data::Taxonomy;
use hedgerow_smc::{Party, Rank, Security, What};
use rayon::prelude::*;

use super::choose::{self, WholeWidths};
use super::open::{Candidate, Open, Tries, Try};
use super::{
    ALL_MEDIANS, AT_MEDIANS, BETWEEN_SITES, CANDIDATES, Choice, Cutting, DATA_RANGES, MEDIANS,
    MEDIANS_IN_NODES, Medians, PARTS, Plan, Quasi, REFUSED, Widths,
};
use crate::error::Error;
use crate::fit::holds_own;
use crate::horizontal::cover::{NOT_AROUND, UnderNode, is_around, lowest_nodes};
use crate::horizontal::requirement::evenness::{self, Contest};
use crate::horizontal::requirement::{Counted, Table};
use crate::horizontal::rows::{Arranged, Cut, Prefix, Stretch};

/// The result of a wave.
pub(super) struct Next {
    pub(super) open: Vec<Open>,
    pub(super) refused: u64,
    pub(super) checks: u64,
    /// Where rows stood in this site's order that were split.
    pub(super) split: Vec<usize>,
}

pub(super) async fn wave(
    party: &mut Party,
    arranged: &mut Arranged<'_>,
    plan: &Plan<'_>,
    table: &Table<'_>,
    widths: &WholeWidths,
    open: Vec<Open>,
    born: &mut u64,
) -> Result<Next, Error> {
    let mut candidates: Vec<(usize, Candidate)> = Vec::with_capacity(open.len());
    for (place, class) in open.iter().enumerate() {
        class.candidates(plan, widths, &mut |candidate| {
            candidates.push((place, candidate));
        });
    }
    let prefixes: Vec<Prefix> = candidates
        .par_iter()
        .map(|(place, candidate)| {
            let (class, attribute) = (&open[*place], candidate.attribute());
            arranged.prefix(attribute, class.stretch, class.bounds[attribute])
        })
        .collect();
    let medians = medians(party, plan, &open, &candidates, &prefixes).await?;
    let mut tries: Vec<Try> = candidates
        .iter()
        .zip(medians)
        .map(|((place, candidate), median)| {
            let (cut, other_side) = open[*place].cut_of(*candidate, median, plan);
            Try {
                class: *place,
                cut,
                other_side,
            }
        })
        .collect();
    if plan.medians == Medians::Relaxed {
        relax(party, arranged, plan, &open, &mut tries, &prefixes).await?;
    }
    let own_sizes: Vec<Vec<u64>> = tries
        .par_iter()
        .zip(&prefixes)
        .map(|(attempt, prefix)| own_sizes(arranged, &open[attempt.class], attempt, prefix))
        .collect();
    let counted = parts(party, arranged, plan, table, &open, &tries, &own_sizes).await?;
    let asked = Tries {
        arranged,
        open: &open,
        tries: &tries,
        counted: &counted,
    };
    note_between_sites(party, plan, asked)?;
    let minds_sites = |place: usize| open[tries[place].class].minds_sites();
    let (allowed, checks) = table
        .allowed(party, &asked, tries.len(), minds_sites)
        .await?;
    let chosen = chosen(party, plan, table, widths, asked, &allowed).await?;
    note_refused(party, asked, &allowed)?;

    let mut open = open;
    let refused = tries.iter().zip(&allowed).filter(|(_, allowed)| !**allowed);
    let refused = refused
        .map(|(attempt, _)| open[attempt.class].refuse(attempt))
        .count() as u64;
    let split = split(arranged, &mut open, &mut tries, &chosen);
    let cuts: Vec<(Stretch, &Cut)> = open
        .iter()
        .zip(&chosen)
        .filter_map(|(class, place)| Some((class.stretch, &tries[(*place)?].cut)))
        .collect();
    let mut own_rows = arranged.cut(&cuts).into_iter();
    let mut next = Next {
        open: Vec::with_capacity(2 * open.len()),
        refused,
        checks,
        split,
    };
    for (class, place) in open.into_iter().zip(chosen) {
        match place {
            None => next.open.push(class),
            Some(place) => class.into_parts(
                &tries[place].cut,
                &counted[place],
                // Rows were counted cut by cut.
                &own_rows.next().unwrap_or_default(),
                born,
                &mut next.open,
            ),
        }
    }
    if plan.widths == Widths::Data {
        narrow(party, arranged, plan, &mut next.open).await?;
    }
    Ok(next)
}

/// Splits the rows that chosen cuts go through, and moves the open classes to where their rows stand then.
fn split(
    arranged: &mut Arranged<'_>,
    open: &mut [Open],
    tries: &mut [Try],
    chosen: &[Option<usize>],
) -> Vec<usize> {
    let stretches = chosen.iter().zip(&*open);
    let mut stretch_of: Vec<Option<Stretch>> = vec![None; tries.len()];
    for (place, class) in stretches {
        if let Some(place) = place {
            stretch_of[*place] = Some(class.stretch);
        }
    }
    let cuts = tries.iter_mut().zip(stretch_of);
    let mut cuts: Vec<(Stretch, &mut Cut)> = cuts
        .filter_map(|(attempt, stretch)| Some((stretch?, &mut attempt.cut)))
        .collect();
    let split = arranged.split(&mut cuts);
    if !split.is_empty() {
        open.iter_mut()
            .for_each(|class| class.stretch = class.stretch.behind(&split));
    }
    split
}

/// The medians of all cuts that are tried for the first time.
async fn medians(
    party: &mut Party,
    plan: &Plan<'_>,
    open: &[Open],
    candidates: &[(usize, Candidate)],
    prefixes: &[Prefix],
) -> Result<Vec<Option<u32>>, Error> {
    let needs_median = |candidate: Candidate| match candidate {
        // A cut between sites is at their median too.
        Candidate::Fresh { attribute } => plan
            .quasi
            .get(attribute)
            .is_none_or(|quasi| matches!(quasi.cutting, Cutting::Median)),
        Candidate::BelowMedian { .. } => false,
    };
    let asked: Vec<usize> = (0..candidates.len())
        .filter(|index| needs_median(candidates[*index].1))
        .collect();
    let mut medians = vec![None; candidates.len()];
    if asked.is_empty() {
        return Ok(medians);
    }
    let questions: Vec<Rank> = asked
        .iter()
        .map(|index| {
            let (place, candidate) = candidates[*index];
            let (least, greatest) = open[place].bounds[candidate.attribute()];
            Rank {
                rank: open[place].size.div_ceil(2),
                domain: u64::from(least)..=u64::from(greatest),
            }
        })
        .collect();
    let sizes: Vec<u64> = asked
        .iter()
        .map(|index| open[candidates[*index].0].size)
        .collect();
    // Values are codes, which fit.
    let at_most = |question: usize, value: u64| prefixes[asked[question]].at_most(value as u32);
    let mut answers = vec![None; questions.len()];
    let what = match plan.choice {
        Choice::Width if plan.is_coarsened() => MEDIANS_IN_NODES,
        Choice::Width => MEDIANS,
        _ => ALL_MEDIANS,
    };
    party
        .kth(what, sizes.as_slice(), &questions, at_most, &mut answers)
        .await?;
    for (index, answer) in asked.into_iter().zip(answers) {
        party.fit(
            what,
            answer.is_some(),
            "a class has fewer records than it has",
        )?;
        medians[index] = answer.map(|code| code as u32);
    }
    Ok(medians)
}

/// Has records at the median distributed so that the parts are about equal: each site leaves the same
/// share of its own records on the left.
async fn relax(
    party: &mut Party,
    arranged: &Arranged<'_>,
    plan: &Plan<'_>,
    open: &[Open],
    tries: &mut [Try],
    prefixes: &[Prefix],
) -> Result<(), Error> {
    let is_median = |attempt: &Try| {
        let quasi = plan.quasi.get(attempt.cut.attribute);
        // The records of a site stay together: a cut between sites leaves each site on one side.
        quasi.is_some_and(|quasi| matches!(quasi.cutting, Cutting::Median))
    };
    let mut counts: Vec<u64> = Vec::new();
    for (attempt, prefix) in tries
        .iter()
        .zip(prefixes)
        .filter(|(attempt, _)| is_median(attempt))
    {
        let median = attempt.cut.ends[0];
        let below = median.checked_sub(1).map_or(0, |code| prefix.at_most(code));
        counts.extend([below, prefix.at_most(median) - below]);
    }
    if counts.is_empty() {
        // Every attribute is cut into children, and all sites know that.
        return Ok(());
    }
    let own = counts.clone();
    party.sum(AT_MEDIANS, &mut counts).await?;
    party.fit(
        AT_MEDIANS,
        holds_own(&counts, &own),
        "fewer records than this site alone has",
    )?;
    let mut answers = counts.chunks_exact(2);
    for attempt in tries.iter_mut().filter(|attempt| is_median(attempt)) {
        let Some([below, at]) = answers.next() else {
            break;
        };
        let class = &open[attempt.class];
        let is_within = below
            .checked_add(*at)
            .is_some_and(|up_to| up_to <= class.size);
        party.fit(AT_MEDIANS, is_within, "more records than the class has")?;
        // At the median the left half is reached, so the left part takes some of these records and not
        // more than all.
        let wanted = class.size.div_ceil(2).saturating_sub(*below).min(*at);
        let (attribute, median) = (attempt.cut.attribute, attempt.cut.ends[0]);
        let left = arranged.left_of_median(attribute, class.stretch, median, (wanted, *at));
        attempt.cut.left_at_end = Some(left);
    }
    Ok(())
}

/// This site's rows in each part of a cut.
fn own_sizes(arranged: &Arranged<'_>, class: &Open, attempt: &Try, prefix: &Prefix) -> Vec<u64> {
    if attempt.cut.left_at_end.is_some() {
        return arranged.sizes(class.stretch, &attempt.cut);
    }
    let mut before = 0;
    let ends = attempt.cut.ends.iter().map(|end| prefix.at_most(*end));
    ends.map(|up_to| up_to - std::mem::replace(&mut before, up_to))
        .collect()
}

/// The sizes and sensitive counts of all parts of each cut, summed over all sites. The last part's
/// follow from the class and are not asked.
async fn parts(
    party: &mut Party,
    arranged: &Arranged<'_>,
    plan: &Plan<'_>,
    table: &Table<'_>,
    open: &[Open],
    tries: &[Try],
    own_sizes: &[Vec<u64>],
) -> Result<Vec<Counted>, Error> {
    let mut asked: Vec<u64> = Vec::new();
    let mut own: Vec<Counted> = Vec::with_capacity(tries.len());
    let width: usize = table.sensitive().map(|(_, size)| size).sum();
    for (attempt, sizes) in tries.iter().zip(own_sizes) {
        let stretch = open[attempt.class].stretch;
        let (parts, asked_parts) = (attempt.cut.parts(), attempt.cut.parts() - 1);
        asked.extend_from_slice(&sizes[..asked_parts]);
        let mut of_parts = vec![0; parts * width];
        let mut from = 0;
        for (sensitive, size) in table.sensitive() {
            let counts = arranged.sensitive_in_parts(sensitive, stretch, &attempt.cut);
            asked.extend_from_slice(&counts[..asked_parts * size]);
            for (part, counts) in counts.chunks_exact(size).enumerate() {
                let at = part * width + from;
                of_parts[at..at + size].copy_from_slice(counts);
            }
            from += size;
        }
        own.push(Counted {
            sizes: sizes.clone(),
            sensitive: of_parts,
        });
    }
    let what = if plan.choice == Choice::Width {
        PARTS
    } else {
        CANDIDATES
    };
    party.sum(what, &mut asked).await?;
    let mut answers = asked.as_slice();
    let counted = tries.iter().zip(&own).map(|(attempt, own)| {
        let class = &open[attempt.class];
        let whole = (class.size, class.sensitive.as_slice());
        table.counted((party, what), whole, own, &mut answers)
    });
    counted.collect()
}

/// For each class, the place of the try that is made.
async fn chosen(
    party: &mut Party,
    plan: &Plan<'_>,
    table: &Table<'_>,
    widths: &WholeWidths,
    asked: Tries<'_>,
    allowed: &[bool],
) -> Result<Vec<Option<usize>>, Error> {
    let Tries {
        open,
        tries,
        counted,
        ..
    } = asked;
    let of_class = |is_in: &dyn Fn(usize) -> bool| {
        let mut of_class: Vec<Vec<usize>> = vec![Vec::new(); open.len()];
        for place in (0..tries.len()).filter(|place| is_in(*place)) {
            of_class[tries[place].class].push(place);
        }
        of_class
    };
    let width = |class: usize, place: usize| widths.share(&open[class], tries[place].cut.attribute);
    if let Choice::Diversity { alpha } = plan.choice {
        // As printed, equation 3 is relative to the best of all attributes, also of those whose cuts are
        // not allowed; at the hardened level nothing is asked about those.
        let is_printed = party.settings().security == Security::Published;
        let contest = |(class, places): (usize, Vec<usize>)| {
            let widths = places.iter().map(|place| width(class, *place)).collect();
            let may_win = places.iter().map(|place| allowed[*place]).collect();
            Contest::new(places, may_win, widths)
        };
        let of_class = of_class(&|place| allowed[place] || is_printed);
        let contests: Vec<Contest> = of_class.into_iter().enumerate().map(contest).collect();
        return evenness::best(party, table, &asked, alpha, contests).await;
    }
    let of_class = of_class(&|place| allowed[place]);
    let Choice::Fitness { weight } = plan.choice else {
        // Each class tries one cut, which is made if allowed.
        return Ok(of_class
            .into_iter()
            .map(|places| places.first().copied())
            .collect());
    };
    let view = table.view();
    let fittest = |(class, places): (usize, Vec<usize>)| {
        let scores: Vec<(f64, f64)> = places
            .iter()
            .map(|place| {
                let fitness = choose::fitness(table, &view, &counted[*place], weight);
                (fitness, width(class, *place))
            })
            .collect();
        choose::best(&scores).map(|best| places[best])
    };
    Ok(of_class.into_iter().enumerate().map(fittest).collect())
}

/// Names what was opened about groups of sites a second time in the ledger: how many records of a class
/// the first sites have.
fn note_between_sites(party: &mut Party, plan: &Plan<'_>, asked: Tries<'_>) -> Result<(), Error> {
    let mut values = Vec::new();
    for (attempt, counted) in asked.tries.iter().zip(asked.counted) {
        if attempt.cut.attribute == plan.quasi.len() {
            values.extend(attempt.cut.ends.first().map(|site| u64::from(*site)));
            values.extend_from_slice(&counted.sizes);
            values.extend_from_slice(&counted.sensitive);
        }
    }
    if !values.is_empty() {
        party.note(BETWEEN_SITES, &values)?;
    }
    Ok(())
}

/// Names what was opened about refused cuts a second time.
fn note_refused(party: &mut Party, asked: Tries<'_>, allowed: &[bool]) -> Result<(), Error> {
    let mut values = Vec::new();
    let refused = (0..allowed.len()).filter(|place| !allowed[*place]);
    for place in refused {
        values.push(place as u64);
        values.extend(
            asked.tries[place]
                .cut
                .ends
                .first()
                .map(|end| u64::from(*end)),
        );
        values.extend_from_slice(&asked.counted[place].sizes);
        values.extend_from_slice(&asked.counted[place].sensitive);
    }
    if !values.is_empty() {
        party.note(REFUSED, &values)?;
    }
    Ok(())
}

/// Narrows the bounds of new classes to the values that occur.
async fn narrow(
    party: &mut Party,
    arranged: &Arranged<'_>,
    plan: &Plan<'_>,
    open: &mut [Open],
) -> Result<(), Error> {
    let classes: Vec<(Stretch, &[(u32, u32)])> = open
        .iter()
        .filter(|class| class.is_new())
        .map(|class| (class.stretch, &class.bounds[..plan.quasi.len()]))
        .collect();
    let found = ranges(party, DATA_RANGES, arranged, plan, &classes).await?;
    let new = open.iter_mut().filter(|class| class.is_new());
    for (class, found) in new.zip(found) {
        class.bounds[..found.len()].copy_from_slice(&found);
    }
    Ok(())
}

/// For each class, the first and last value of each quasi-identifier that occurs in it, within its
/// bounds; for a quasi-identifier that is cut along a tree, the ends of the lowest node above these
/// values, and nothing finer is asked, since its values may be written as nodes. Where there are no
/// records the bounds stay.
pub(super) async fn ranges(
    party: &mut Party,
    what: What,
    arranged: &Arranged<'_>,
    plan: &Plan<'_>,
    classes: &[(Stretch, &[(u32, u32)])],
) -> Result<Vec<Vec<(u32, u32)>>, Error> {
    let trees: Vec<Option<&Taxonomy>> = plan.quasi.iter().map(Quasi::tree).collect();
    let mut found: Vec<Vec<(u32, u32)>> =
        classes.iter().map(|(_, bounds)| bounds.to_vec()).collect();
    // Class by class, attribute by attribute.
    let (in_order, in_trees): (Vec<_>, Vec<_>) = (0..classes.len())
        .flat_map(|class| (0..trees.len()).map(move |attribute| (class, attribute)))
        .partition(|(_, attribute)| trees[*attribute].is_none());
    let own = |(class, attribute): &(usize, usize)| arranged.range(*attribute, classes[*class].0);

    let mut ends: Vec<Option<(u64, u64)>> = in_order.iter().map(own).collect();
    if !ends.is_empty() {
        let domain = |question: usize| {
            let (class, attribute) = in_order[question];
            let (least, greatest) = classes[class].1[attribute];
            u64::from(least)..=u64::from(greatest)
        };
        party.ranges(what, domain, &mut ends).await?;
    }
    for (question, ends) in in_order.iter().zip(ends) {
        party.fit(what, is_around(ends, own(question)), NOT_AROUND)?;
        let (class, attribute) = question;
        if let Some((least, greatest)) = ends {
            // Codes fit.
            found[*class][*attribute] = (least as u32, greatest as u32);
        }
    }

    let asked: Vec<UnderNode<'_>> = in_trees
        .iter()
        .filter_map(|(class, attribute)| {
            let own = own(&(*class, *attribute));
            Some(UnderNode {
                tree: trees[*attribute]?,
                attribute: *attribute,
                bounds: classes[*class].1[*attribute],
                own: own.map(|(least, greatest)| (least as u32, greatest as u32)),
            })
        })
        .collect();
    if !asked.is_empty() {
        let nodes = lowest_nodes(party, what, &asked).await?;
        for ((class, attribute), (question, node)) in in_trees.iter().zip(asked.iter().zip(nodes)) {
            if let Some(node) = node {
                found[*class][*attribute] = question.tree.interval(node);
            }
        }
    }
    Ok(found)
}
