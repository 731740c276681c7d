//! What the verifier says about sites, where the site of each record is known: l-site-diversity as JX09
//! section 3 and TG12 section 6.2 define it, and m-privacy (MPRIV).

use hedgerow_data::Cell;
use rayon::prelude::*;

use crate::classes::{Classes, Histograms};
use crate::collusion::{Members, affordable};
use crate::m_privacy::{self, Strategy, Verified};
use crate::model::{Model, SiteSupport};
use crate::ratio::Ratio;
use crate::requirement::Requirement;

use super::scan::{Failing, Worse, worst};
use super::verdict::{Measure, ModelVerdict, Models, WorstClass};
use super::{Look, QuasiColumn};

/// Adds the verdicts that need the provider column; without the column, demands that need it are not
/// shown to hold.
pub(super) fn judge(look: &Look<'_>, requirement: Option<&Requirement>, models: &mut Models) {
    let demand = look.demands.iter().find_map(|model| match model {
        Model::SiteDiversity {
            l,
            support,
            attributes,
        } => Some((*l, *support, attributes)),
        _ => None,
    });
    let m = requirement.and_then(|requirement| requirement.m);
    let Some(provider) = look.evidence.provider else {
        // Without the sites nobody can tell whether the demand holds or fails.
        models.site_diversity = demand.map(|(l, ..)| unseen(l));
        models.m = m.filter(|m| *m > 0).map(unseen);
        return;
    };

    let (l, support, attributes) = match demand {
        Some((l, support, attributes)) => (Some(l), support, attributes.as_deref()),
        None => (None, SiteSupport::Class, None),
    };
    let is_seen = |name: &str| attributes.is_none_or(|names| names.iter().any(|seen| seen == name));
    let groups = look.evidence.classes_by(is_seen);
    let sites: Vec<u64> = match support {
        SiteSupport::Class => by_class(&groups, &provider.codes),
        SiteSupport::Taxonomy => by_taxonomy(look, &groups, &provider.codes, &is_seen),
    };
    let Some((achieved, group)) = worst(&groups, Worse::Less, |group| sites[group]) else {
        return;
    };
    let describe = |group| look.evidence.describe(&groups, group, is_seen);
    let failing = l.map(|l| Failing::count(&groups, |group| sites[group] >= l));
    // A site may have a value under a cell though its own record is written more coarsely: a release
    // shows that so many sites support a value, and not that no more do.
    let is_bound = support == SiteSupport::Taxonomy;
    let is_short = failing.is_some_and(|failing| failing.classes > 0);
    let failing = failing.filter(|_| !(is_bound && is_short));
    models.site_diversity = Some(ModelVerdict {
        required: l.map(Measure::Whole),
        achieved: Measure::Whole(achieved),
        holds: l.map(|_| !is_short),
        not_shown: is_bound && is_short,
        at_least: is_bound,
        failing_classes: failing.map(|failing| failing.classes),
        failing_records: failing.map(|failing| failing.records),
        worst_class: Some(describe(group)),
        ..ModelVerdict::default()
    });
    if let Some(requirement) = requirement {
        // Site diversity of other groups than the classes is lost to the coalition that takes all
        // sites of the thinnest group but l - 1.
        let of_groups =
            l.filter(|l| *l > 1 && (support == SiteSupport::Taxonomy || attributes.is_some()));
        let breaking = of_groups.map(|l| ((achieved + 1).saturating_sub(l), describe(group)));
        let of_groups = breaking.map(|(least, class)| OfGroups {
            least,
            class,
            is_bound,
        });
        models.m = Some(collusion(look, requirement, &provider.codes, of_groups));
    }
}

fn unseen(required: u64) -> ModelVerdict {
    ModelVerdict {
        required: Some(Measure::Whole(required)),
        achieved: Measure::Unknown,
        holds: Some(false),
        not_shown: true,
        ..ModelVerdict::default()
    }
}

/// JX09: the sites with records in each group.
fn by_class(groups: &Classes, providers: &[u32]) -> Vec<u64> {
    let histograms = Histograms::new(groups, providers);
    let distinct = |group| crate::measure::distinct(histograms.class(group));
    (0..groups.count()).map(distinct).collect()
}

/// TG12 6.2: a generalized value is supported by the sites that have records under it; a group, by
/// the sites that support each of its values. A site need not have a record in the group itself.
fn by_taxonomy(
    look: &Look<'_>,
    groups: &Classes,
    providers: &[u32],
    is_seen: &dyn Fn(&str) -> bool,
) -> Vec<u64> {
    let quasi = look.evidence.quasi.iter();
    let columns: Vec<&QuasiColumn<'_>> = quasi.filter(|column| is_seen(column.name)).collect();
    let supports: Vec<Vec<Vec<u32>>> = columns
        .iter()
        .map(|column| support(column, providers))
        .collect();
    let common = |group: usize| {
        let row = groups.rows(group)[0] as usize;
        let mut sets = columns
            .iter()
            .zip(&supports)
            .map(|(column, supports)| &supports[column.text.codes[row] as usize]);
        let mut common = sets.next().cloned().unwrap_or_default();
        for sites in sets {
            common.retain(|site| sites.binary_search(site).is_ok());
        }
        common.len() as u64
    };
    (0..groups.count()).map(common).collect()
}

/// For each cell of a column, the sites with records whose value lies in it, ascending.
fn support(column: &QuasiColumn<'_>, providers: &[u32]) -> Vec<Vec<u32>> {
    let texts = &column.text.dictionary;
    let rows = Classes::from_assignment(column.text.codes.clone(), texts.len());
    let histograms = Histograms::new(&rows, providers);
    let covers = |above: usize, below: usize| match column.cells {
        Some(cells) => is_within(&cells[below], &cells[above]),
        // Without a study a cell is its text, and a star is everything.
        None => above == below || &*texts[above] == "*",
    };
    (0..texts.len())
        .into_par_iter()
        .map(|above| {
            let mut sites: Vec<u32> = (0..texts.len())
                .filter(|below| covers(above, *below))
                .flat_map(|below| histograms.class(below).iter().map(|(site, _)| site))
                .collect();
            sites.sort_unstable();
            sites.dedup();
            sites
        })
        .collect()
}

fn is_within(cell: &Cell, cover: &Cell) -> bool {
    match cell {
        Cell::Interval(least, greatest) => cover.overlap(*least, *greatest) == cell.count(),
        Cell::Set(codes) => codes.iter().all(|code| cover.contains(*code)),
    }
}

/// How many sites it takes to break the site diversity of groups other than the classes.
struct OfGroups {
    /// The least coalition.
    least: u64,
    /// The group that the removal breaks.
    class: WorstClass,
    /// Whether more sites may be needed: a release shows only a lower bound on the sites that support a
    /// group.
    is_bound: bool,
}

/// What was found about one class.
struct Found {
    least_breaking: Option<u64>,
    sites: u64,
    tried: u64,
    /// What the strategy found that was named, where it could.
    verified: Option<Verified>,
}

fn collusion(
    look: &Look<'_>,
    requirement: &Requirement,
    providers: &[u32],
    of_groups: Option<OfGroups>,
) -> ModelVerdict {
    let is_of_groups =
        |model: &Model| matches!(model, Model::SiteDiversity { .. }) && of_groups.is_some();
    let models: Vec<Model> = requirement
        .models
        .iter()
        .filter(|model| !is_of_groups(model))
        .cloned()
        .collect();
    let all = look
        .evidence
        .provider
        .map_or(0, |column| column.dictionary.len() as u64);
    // No more than all sites but one can collude against somebody.
    let most = all.saturating_sub(1);
    let required = requirement.m;
    let found: Vec<Found> = (0..look.classes.count())
        .into_par_iter()
        .map(|class| {
            let rows = look.classes.rows(class);
            let pick = |codes: &[u32]| {
                rows.iter()
                    .map(|row| codes[*row as usize])
                    .collect::<Vec<_>>()
            };
            let columns: Vec<Vec<u32>> = look
                .evidence
                .sensitive
                .iter()
                .map(|column| pick(&column.codes))
                .collect();
            let members = Members::new(&pick(providers), columns.iter().map(Vec::as_slice));
            let sites = members.sites() as u64;
            let limit = required.unwrap_or_else(|| affordable(members.sites()));
            let by_strategy = look.verification.zip(required).and_then(|(strategy, m)| {
                m_privacy::verify(strategy, &members, &models, look.table, m).ok()
            });
            let breach = by_strategy.and_then(|verified| verified.breach);
            let least_breaking = members.least_breaking(&models, look.table, limit);
            Found {
                // Both find the same; where one of them did not, the class is not called private.
                least_breaking: least_breaking.or(breach.map(|breach| breach.size() as u64)),
                verified: by_strategy,
                sites,
                // Only coalitions of all the class's sites but one matter to the class.
                tried: if limit + 1 < sites { limit } else { most },
            }
        })
        .collect();
    let in_classes = found
        .iter()
        .enumerate()
        .filter_map(|(class, found)| Some((found.least_breaking?, class)))
        .min();
    // A class that fails for certain is told before a group that may not.
    let of_groups = of_groups
        .filter(|groups| groups.least <= required.unwrap_or(most))
        .filter(|groups| !groups.is_bound || in_classes.is_none());
    let is_open = of_groups.as_ref().is_some_and(|groups| groups.is_bound);
    let worst = match (in_classes, of_groups) {
        (Some((breaking, class)), groups)
            if groups
                .as_ref()
                .is_none_or(|groups| breaking <= groups.least) =>
        {
            let class = look.evidence.describe(look.classes, class, |_| true);
            Some((breaking, class))
        }
        (_, groups) => groups.map(|groups| (groups.least, groups.class)),
    };
    let tried = found.iter().map(|found| found.tried).min().unwrap_or(most);
    let achieved = match &worst {
        Some((0, _)) => None,
        Some((least, _)) => Some(least - 1),
        None => Some(required.map_or(tried, |m| m.min(most))),
    };
    let failing = Failing::count(look.classes, |class| found[class].least_breaking.is_none());
    let failing = required.map(|_| failing).filter(|_| !is_open);
    let none_would_do = match is_open {
        true => Measure::Unknown,
        false => Measure::Fraction(Ratio::new(1, 0)),
    };
    let costs = found
        .iter()
        .map(|found| found.verified.map(|verified| verified.cost()));
    ModelVerdict {
        verification: look.verification.map(Strategy::name),
        checks: look.verification.and(costs.sum()),
        required: required.map(Measure::Whole),
        achieved: achieved.map_or(none_would_do, Measure::Whole),
        holds: required.map(|_| worst.is_none()),
        not_shown: is_open && required.is_some(),
        failing_classes: failing.map(|failing| failing.classes),
        failing_records: failing.map(|failing| failing.records),
        emptied_classes: achieved
            .map(|m| found.iter().filter(|found| found.sites <= m).count() as u64),
        at_least: (worst.is_none() || is_open) && achieved.is_some_and(|m| m < most),
        worst_class: worst.map(|(_, class)| class),
        ..ModelVerdict::default()
    }
}
