//! Demands on the sites behind a part: how many there are (JX09 equation 1).
//!
//! Site diversity is asked of every class, except for clusters that satisfy it by support
//! (`clustering::support`), and except where questions about coalitions tell (`coalitions`). Where it is declared for some attributes only, or as support by the taxonomy
//! (TG12 6.2), this question demands more than the requirement: a union of classes has the sites of
//! each, and a site with records in a class supports every value that covers them.
//!
//! # Discloses
//! To all sites, whether a part has records of at least l sites: one bit, and not how many sites or
//! which (less than JX09 Theorem 2, 3).

use hedgerow_privacy::Model;
use hedgerow_smc::Party;

use super::{SITES, Table, Trials};
use crate::error::Error;

/// The greatest number of sites that is demanded, and by which model.
pub(super) fn demanded<'t>(table: &Table<'t>) -> Option<(u64, &'t Model)> {
    let models = table.demands().requirement.models.iter();
    let demands = models.filter_map(|model| match model {
        Model::SiteDiversity { l, .. } if *l > 1 => Some((*l, model)),
        _ => None,
    });
    demands.max_by_key(|(l, _)| *l)
}

/// Forbids the cuts that have a part with records of too few sites.
pub(super) async fn check(
    party: &mut Party,
    table: &Table<'_>,
    tries: &impl Trials,
    allowed: &mut [bool],
) -> Result<(), Error> {
    let Some((l, _)) = demanded(table) else {
        return Ok(());
    };
    let asked: Vec<usize> = (0..allowed.len()).filter(|place| allowed[*place]).collect();
    if asked.is_empty() {
        return Ok(());
    }
    let mut present: Vec<u64> = Vec::new();
    for place in &asked {
        let owners = tries.owners(*place);
        let parts = owners.chunks(table.sites().max(1));
        present.extend(parts.map(|part| part.iter().filter(|count| **count > 0).count() as u64));
    }
    let thresholds = vec![l; present.len()];
    let mut enough = vec![false; present.len()];
    party
        .at_least(
            SITES,
            table.sites() as u64,
            &present,
            &thresholds,
            &mut enough,
        )
        .await?;
    let mut answers = enough.into_iter();
    for place in asked {
        for size in &tries.counted(place).sizes {
            // A part without records needs no sites.
            allowed[place] &= answers.next().unwrap_or(false) || *size == 0;
        }
    }
    Ok(())
}
