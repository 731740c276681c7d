//! What the verifier says about sites, where it knows whose each record is: l-site-diversity as
//! JX09 section 3 and TG12 section 6.2 define it, and m-privacy (MPRIV).

use rayon::prelude::*;

use crate::classes::{Classes, Histograms};
use crate::collusion::{Members, affordable};
use crate::model::{Model, SiteSupport};
use crate::ratio::Ratio;
use crate::requirement::Requirement;

use super::Look;
use super::scan::{Scan, Worse, scan};
use super::verdict::{Measure, ModelVerdict, Models};

/// Adds the verdicts that need the provider column; demands that need it and lack it fail.
pub(super) fn judge(look: &Look<'_>, requirement: Option<&Requirement>, models: &mut Models) {
    let demand = requirement.and_then(|requirement| {
        requirement.models.iter().find_map(|model| match model {
            Model::SiteDiversity {
                l,
                support,
                attributes,
            } => Some((*l, *support, attributes)),
            _ => None,
        })
    });
    let m = requirement.and_then(|requirement| requirement.m);
    let Some(provider) = look.evidence.provider else {
        // Nobody can tell without the sites: demanded and unseen is not fulfilled.
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
    let found = match support {
        SiteSupport::Class => by_class(&groups, &provider.codes, l),
        SiteSupport::Taxonomy => by_taxonomy(look, &groups, &provider.codes, l, &is_seen),
    };
    models.site_diversity = found.worst.map(|(achieved, class)| ModelVerdict {
        required: l.map(Measure::Whole),
        achieved: Measure::Whole(achieved),
        holds: l.map(|_| found.failing_classes == 0),
        failing_classes: l.map(|_| found.failing_classes),
        failing_records: l.map(|_| found.failing_records),
        worst_class: Some(look.evidence.describe(&groups, class)),
        ..ModelVerdict::default()
    });
    if let Some(requirement) = requirement {
        models.m = Some(collusion(look, requirement, &provider.codes));
    }
}

fn unseen(required: u64) -> ModelVerdict {
    ModelVerdict {
        required: Some(Measure::Whole(required)),
        achieved: Measure::Whole(0),
        holds: Some(false),
        ..ModelVerdict::default()
    }
}

fn by_class(groups: &Classes, providers: &[u32], l: Option<u64>) -> Scan<u64> {
    let histograms = Histograms::new(groups, providers);
    scan(
        groups,
        Worse::Less,
        |class| crate::measure::distinct(histograms.class(class)),
        |sites| l.is_none_or(|l| *sites >= l),
    )
}

/// TG12 6.2: a generalized value is supported by the sites that have records with it; a class, by
/// the sites that support each of its values. A site need not have a record in the class itself.
fn by_taxonomy(
    look: &Look<'_>,
    groups: &Classes,
    providers: &[u32],
    l: Option<u64>,
    is_seen: &dyn Fn(&str) -> bool,
) -> Scan<u64> {
    // For each quasi-identifier and each of its cells, the sites with it, ascending.
    let columns = look.evidence.quasi.iter().filter(|(name, _)| is_seen(name));
    let supports: Vec<(&[u32], Vec<Vec<u32>>)> = columns
        .map(|(_, column)| {
            let cells = Classes::from_assignment(column.codes.clone(), column.dictionary.len());
            let sites = Histograms::new(&cells, providers);
            let by_cell = (0..cells.count())
                .map(|cell| sites.class(cell).iter().map(|(site, _)| site).collect())
                .collect();
            (column.codes.as_slice(), by_cell)
        })
        .collect();
    scan(
        groups,
        Worse::Less,
        |class| {
            let row = groups.rows(class)[0] as usize;
            let mut common: Option<Vec<u32>> = None;
            for (codes, by_cell) in &supports {
                let sites = &by_cell[codes[row] as usize];
                common = Some(match common {
                    None => sites.clone(),
                    Some(mut common) => {
                        common.retain(|site| sites.binary_search(site).is_ok());
                        common
                    }
                });
            }
            common.map_or(0, |common| common.len() as u64)
        },
        |sites| l.is_none_or(|l| *sites >= l),
    )
}

fn collusion(look: &Look<'_>, requirement: &Requirement, providers: &[u32]) -> ModelVerdict {
    // Site diversity over other attributes than the class's own is not the class's to lose.
    let models: Vec<Model> = requirement
        .models
        .iter()
        .filter(|model| {
            !matches!(
                model,
                Model::SiteDiversity {
                    support: SiteSupport::Taxonomy,
                    ..
                } | Model::SiteDiversity {
                    attributes: Some(_),
                    ..
                }
            )
        })
        .cloned()
        .collect();
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
            let limit = requirement.m.unwrap_or_else(|| affordable(members.sites()));
            Found {
                least_breaking: members.least_breaking(&models, look.table, limit),
                sites,
                // Coalitions of all the class's sites but one are all that matter to it.
                tried: if limit + 1 < sites { limit } else { most },
            }
        })
        .collect();
    let breaking = found.iter().enumerate();
    let worst = breaking
        .filter_map(|(class, found)| Some((found.least_breaking?, class)))
        .min();
    let tried = found.iter().map(|found| found.tried).min().unwrap_or(most);
    let achieved = match worst {
        Some((0, _)) => None,
        Some((least, _)) => Some(least - 1),
        None => Some(requirement.m.map_or(tried, |m| m.min(most))),
    };
    let failing = || {
        found
            .iter()
            .enumerate()
            .filter(|(_, found)| found.least_breaking.is_some())
    };
    let required = requirement.m;
    ModelVerdict {
        required: required.map(Measure::Whole),
        achieved: achieved.map_or(Measure::Fraction(Ratio::new(1, 0)), Measure::Whole),
        holds: required.map(|_| worst.is_none()),
        failing_classes: required.map(|_| failing().count() as u64),
        failing_records: required
            .map(|_| failing().map(|(class, _)| look.classes.size(class)).sum()),
        emptied_classes: achieved
            .map(|m| found.iter().filter(|found| found.sites <= m).count() as u64),
        at_least: worst.is_none() && achieved.is_some_and(|m| m < most),
        worst_class: worst.map(|(_, class)| look.worst_class(class)),
        ..ModelVerdict::default()
    }
}

/// What was found about one class.
struct Found {
    least_breaking: Option<u64>,
    sites: u64,
    tried: u64,
}
