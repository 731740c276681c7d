//! What the verifier says about sites, where the site of each record is known: l-site-diversity as JX09
//! section 3 defines it (the number of sites, entropy and recursive (c,l)), as TG12 section 6.2 does, and
//! m-privacy (MPRIV).

use hedgerow_data::Cell;
use rayon::prelude::*;

use crate::classes::{Classes, Histograms};
use crate::collusion::{Members, affordable};
use crate::m_privacy::{self, Strategy, Verified};
use crate::measure;
use crate::model::{Model, SiteSupport, Spread, TableView};
use crate::ratio::Ratio;
use crate::requirement::Requirement;

use super::scan::{Failing, Worse, worst};
use super::verdict::{Measure, ModelVerdict, Models, WorstClass};
use super::{Look, QuasiColumn};

/// What the requirement demands of sites.
struct Demand<'a> {
    /// The model, where one is demanded.
    model: Option<&'a Model>,
    support: SiteSupport,
    /// The attributes that may betray a site; all where none are named.
    attributes: Option<&'a [String]>,
}

impl<'a> Demand<'a> {
    fn of(models: &'a [Model]) -> Self {
        let model = models.iter().find(|model| model.speaks_of_sites());
        let (support, attributes) = match model {
            Some(Model::SiteDiversity {
                support,
                attributes,
                ..
            }) => (*support, attributes.as_deref()),
            Some(Model::SiteSpread { attributes, .. }) => {
                (SiteSupport::Class, attributes.as_deref())
            }
            _ => (SiteSupport::Class, None),
        };
        Self {
            model,
            support,
            attributes,
        }
    }

    /// The number of sites that is demanded.
    fn number(&self) -> Option<u64> {
        match self.model {
            Some(Model::SiteDiversity { l, .. }) => Some(*l),
            _ => None,
        }
    }

    /// How evenly records must be spread over sites.
    fn spread(&self) -> Option<Spread> {
        match self.model {
            Some(Model::SiteSpread { spread, .. }) => Some(*spread),
            _ => None,
        }
    }

    /// Whether the demand is about other groups of records than the classes.
    fn is_of_groups(&self) -> bool {
        let is_other = self.support == SiteSupport::Taxonomy || self.attributes.is_some();
        is_other && self.model.is_some_and(Model::demands_sites)
    }
}

/// Adds the verdicts that need the provider column; without the column, demands that need it are not
/// shown to hold.
pub(super) fn judge(look: &Look<'_>, requirement: Option<&Requirement>, models: &mut Models) {
    let demand = Demand::of(look.demands);
    let m = requirement.and_then(|requirement| requirement.m);
    let Some(provider) = look.evidence.provider else {
        // Without the sites nobody can tell whether the demand holds or fails.
        models.site_diversity = demand.number().map(|l| unseen(Measure::Whole(l)));
        match demand.spread() {
            Some(Spread::Entropy { l }) => {
                models.site_entropy = Some(unseen(Measure::Fraction(l)));
            }
            Some(Spread::Recursive { c, l }) => {
                models.site_recursive = Some(ModelVerdict {
                    l: Some(l),
                    ..unseen(Measure::Fraction(c))
                });
            }
            None => {}
        }
        models.m = m.filter(|m| *m > 0).map(|m| unseen(Measure::Whole(m)));
        return;
    };

    let attributes = demand.attributes;
    let is_seen = |name: &str| attributes.is_none_or(|names| names.iter().any(|seen| seen == name));
    let groups = look.evidence.classes_by(is_seen);
    let histograms = Histograms::new(&groups, &provider.codes);
    let sites: Vec<u64> = match demand.support {
        SiteSupport::Class => (0..groups.count())
            .map(|group| measure::distinct(histograms.class(group)))
            .collect(),
        SiteSupport::Taxonomy => by_taxonomy(look, &groups, &provider.codes, &is_seen),
    };
    let Some((achieved, group)) = worst(&groups, Worse::Less, |group| sites[group]) else {
        return;
    };
    let describe = |group| look.evidence.describe(&groups, group, is_seen);
    let l = demand.number();
    let failing = l.map(|l| Failing::count(&groups, |group| sites[group] >= l));
    // A site may have a value under a cell though its own record is written more coarsely: a release
    // shows that so many sites support a value, and not that no more do.
    let is_bound = demand.support == SiteSupport::Taxonomy;
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
    spread(&groups, &histograms, demand.spread(), &describe, models);
    if let Some(requirement) = requirement {
        // Site diversity of other groups than the classes is lost to the coalition that takes all
        // sites of the thinnest group but l - 1.
        let is_of_groups = demand.is_of_groups();
        let of_groups = match (is_of_groups, demand.spread()) {
            (false, _) => None,
            (true, None) => Some(OfGroups {
                least: (achieved + 1).saturating_sub(l.unwrap_or(1)),
                class: describe(group),
                is_bound,
            }),
            (true, Some(spread)) => least_of_groups(&groups, &histograms, (spread, m), &describe),
        };
        let asked: Vec<Model> = requirement
            .models
            .iter()
            .filter(|model| !(is_of_groups && model.speaks_of_sites()))
            .cloned()
            .collect();
        models.m = Some(collusion(look, (&asked, m), &provider.codes, of_groups));
    }
}

/// How evenly the records of groups are spread over sites (JX09 section 3), by both stronger kinds. Where
/// no l is demanded of the recursive kind, c is given for the l that every group has.
fn spread(
    groups: &Classes,
    histograms: &Histograms,
    demand: Option<Spread>,
    describe: &(dyn Fn(usize) -> WorstClass + Sync),
    models: &mut Models,
) {
    let verdict = |required: Option<Measure>, achieved: Measure, group: usize| {
        let failing = required
            .and(demand)
            .map(|spread| Failing::count(groups, |group| spread.holds(histograms.class(group))));
        ModelVerdict {
            required,
            achieved,
            holds: failing.map(|failing| failing.classes == 0),
            failing_classes: failing.map(|failing| failing.classes),
            failing_records: failing.map(|failing| failing.records),
            worst_class: Some(describe(group)),
            ..ModelVerdict::default()
        }
    };
    let (entropy_l, recursive) = match demand {
        Some(Spread::Entropy { l }) => (Some(Measure::Fraction(l)), None),
        Some(Spread::Recursive { c, l }) => (None, Some((Measure::Fraction(c), l))),
        None => (None, None),
    };
    let entropy = |group| measure::entropy_diversity(histograms.class(group));
    models.site_entropy =
        worst(groups, Worse::Less, entropy).map(|(achieved, group)| ModelVerdict {
            floor: Some(achieved.floor() as u64),
            ..verdict(entropy_l, Measure::Real(achieved), group)
        });
    let common = worst(groups, Worse::Less, |group| {
        measure::distinct(histograms.class(group))
    });
    let l = recursive.map_or(common.map_or(1, |(sites, _)| sites), |(_, l)| l);
    let bound = |group| measure::recursive_bound(histograms.class(group), l);
    models.site_recursive = worst(groups, Worse::Greater, bound).map(|(achieved, group)| {
        let required = recursive.map(|(c, _)| c);
        ModelVerdict {
            l: Some(l),
            ..verdict(required, Measure::Fraction(achieved), group)
        }
    });
}

/// The least coalition, of at most m sites, without which the records of some group are not spread as
/// demanded. Every coalition is looked at: records that are spread evenly without some sites may not be
/// without fewer of them.
fn least_of_groups(
    groups: &Classes,
    histograms: &Histograms,
    (spread, m): (Spread, Option<u64>),
    describe: &(dyn Fn(usize) -> WorstClass + Sync),
) -> Option<OfGroups> {
    let models = [Model::SiteSpread {
        spread,
        attributes: None,
    }];
    let table = TableView {
        references: &[],
        movers: Vec::new(),
    };
    let least = |group: usize| {
        let (sites, records): (Vec<u32>, Vec<u64>) = histograms.class(group).iter().unzip();
        let members = Members::counted(&sites, std::iter::empty(), &records);
        let limit = m.unwrap_or_else(|| affordable(members.sites()));
        let breaking = members.least_breaking(&models, &table, limit);
        breaking.unwrap_or(u64::MAX)
    };
    let (least, group) = worst(groups, Worse::Less, least)?;
    (least < u64::MAX).then(|| OfGroups {
        least,
        class: describe(group),
        is_bound: false,
    })
}

fn unseen(required: Measure) -> ModelVerdict {
    ModelVerdict {
        required: Some(required),
        achieved: Measure::Unknown,
        holds: Some(false),
        not_shown: true,
        ..ModelVerdict::default()
    }
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
    (models, required): (&[Model], Option<u64>),
    providers: &[u32],
    of_groups: Option<OfGroups>,
) -> ModelVerdict {
    let all = look
        .evidence
        .provider
        .map_or(0, |column| column.dictionary.len() as u64);
    // No more than all sites but one can collude against somebody.
    let most = all.saturating_sub(1);
    let found: Vec<Found> = (0..look.classes.count())
        .into_par_iter()
        .map(|class| {
            let rows = look.classes.rows(class);
            let pick = |codes: &[u32]| -> Vec<u32> {
                rows.iter().map(|row| codes[*row as usize]).collect()
            };
            let columns: Vec<Vec<u32>> = look
                .evidence
                .sensitive
                .iter()
                .map(|column| pick(&column.codes))
                .collect();
            let columns = columns.iter().map(Vec::as_slice);
            let sites = pick(providers);
            let members = match look.evidence.counts {
                None => Members::new(&sites, columns),
                Some(counts) => {
                    let counts = rows.iter().map(|row| counts[*row as usize]);
                    Members::counted(&sites, columns, &counts.collect::<Vec<_>>())
                }
            };
            let sites = members.sites() as u64;
            let limit = required.unwrap_or_else(|| affordable(members.sites()));
            let by_strategy = look.verification.zip(required).and_then(|(strategy, m)| {
                m_privacy::verify(strategy, &members, models, look.table, m).ok()
            });
            let breach = by_strategy.and_then(|verified| verified.breach);
            let least_breaking = members.least_breaking(models, look.table, limit);
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
