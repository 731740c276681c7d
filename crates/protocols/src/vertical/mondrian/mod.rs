//! Top-down cuts of a table whose columns stand at several sites: Mondrian (LeFevre et al. 2006) for the same
//! people at every site. Ours: no paper prints it.
//!
//! All sites hold the same people, so the members of classes are known to all, and each site knows what its own
//! columns say of a class, as in TG12's Algorithm 4. Everything open is asked together, in waves. For each
//! open class every site has a score, the width of its widest quasi-identifier that can be cut, and the
//! sites find who has the greatest, without opening a score ([`wave`](self)). That site cuts at its own median and tells
//! all who goes left, a bit for each person; nobody goes left where no site has a cut. A site proposes only
//! cuts both of whose parts have k people and satisfy the requirement on its own sensitive attributes; the other
//! sites that hold sensitive attributes answer for theirs. A class whose cut is refused tries its next one
//! in the wave in which others make theirs.
//!
//! Widths are shares of the values that lie between the least and the greatest of the class, relative to
//! the whole table, as horizontal Mondrian has them with `widths = "data"`; of equals the first attribute of the
//! study is cut (`scale`). Records at the median go left, or right where that is refused. One party with all columns gets
//! the same classes, and so does horizontal Mondrian with the same rows.
//!
//! # Discloses
//! To all sites: whether all records together satisfy a requirement beyond k and t ([`MET_REQUIREMENT`]); how many values each
//! quasi-identifier ranges over in the whole table ([`WIDTHS`]); for each class, which site cuts it
//! ([`CUTTING_SITES`]) and who goes left ([`LEFT_PEOPLE`], TG12 sections 5 and 8.3: clusters are public); whether the parts satisfy
//! the requirement at the other sites ([`HOLDING_PARTS`]); who would have gone left in a cut that was refused
//! ([`REFUSED_CUTS`]), which no class of the release shows; and the release ([`CELLS`], [`VALUES`]). Which attribute was cut, where,
//! and how wide attributes are stay at their site until the release.

mod assembly;
mod checks;
mod open;
mod plan;
mod scale;
pub(crate) mod settings;
mod wave;

use hedgerow_data::{Cell, Codes, Role};
use hedgerow_privacy::Reference;
use hedgerow_smc::{Party, What};

use super::own::{Demand, OwnColumn};
use crate::error::Error;
pub use assembly::{CELLS, VALUES, assemble, fragment};
use checks::Checks;
use open::{Open, Own};
pub use plan::Plan;
use scale::Scale;

/// Whether all records together satisfy the requirement.
pub const MET_REQUIREMENT: What = What::new(
    "whether the whole table satisfies the requirement at every site",
    "the release",
);
/// How many values each quasi-identifier ranges over.
pub const WIDTHS: What = What::new(
    "how many values each quasi-identifier ranges over in the whole table",
    "the study: widths are compared as shares of the whole table's",
);
/// The site that cuts each class.
pub const CUTTING_SITES: What = What::new(
    "sites that cut classes, by who has the widest quasi-identifier",
    "the study: the site with the widest quasi-identifier cuts",
);
/// The people of a class who go left.
pub const LEFT_PEOPLE: What = What::new(
    "people of classes who go left in a cut",
    "TG12 section 5: clusters are public",
);
/// Whether both parts of a cut satisfy the requirement.
pub const HOLDING_PARTS: What = What::new(
    "whether the parts of cuts satisfy the requirement at every site",
    "TG12 section 6.1",
);
/// The people who would have gone left in a cut that was refused: the ledger names them a second time,
/// because no class of the release shows them.
pub const REFUSED_CUTS: What = What::new(
    "people who would have gone left in cuts that were refused",
    "the study: cuts are checked once they are proposed",
);

/// The classes that were found, at one site.
#[derive(Debug)]
pub struct Found {
    /// The records of each class by their place in the common order, ascending.
    pub classes: Vec<Vec<u32>>,
    /// How each class is written in this site's quasi-identifiers.
    pub cells: Vec<Vec<Cell>>,
    /// How many waves there were.
    pub waves: u32,
    /// How many cuts were refused after all sites had seen them.
    pub refused: u64,
}

/// Cuts the joint table into classes that satisfy the requirement. `columns` are this site's columns by
/// their position in the study's schema, `rows` the places in them of the records that all sites hold, in
/// their common order. `each_wave` is told the number of the wave and of open classes, for people who
/// wait.
pub async fn partition(
    party: &mut Party,
    plan: &Plan<'_>,
    columns: &[(usize, &Codes)],
    rows: &[u32],
    mut each_wave: impl FnMut(u32, usize),
) -> Result<Found, Error> {
    let held = plan.held();
    held.refuse(rows.len())?;
    let own = |role| held.own_columns(party, role, columns, rows);
    let (quasi, sensitive) = (own(Role::Quasi)?, own(Role::Sensitive)?);
    let references: Vec<Reference> = sensitive.iter().map(OwnColumn::reference).collect();
    let demand = Demand::new(plan.requirement, &sensitive, &references);
    demand
        .refuse_unmeetable(party, MET_REQUIREMENT, rows.len())
        .await?;
    let own = Own {
        scale: Scale::agree(party, plan, &quasi).await?,
        places: plan.places(&quasi),
        checks: Checks::new(plan.requirement, &sensitive, &references),
        quasi: &quasi,
        k: plan.requirement.k(),
    };
    let mut found = Found {
        classes: Vec::new(),
        cells: Vec::new(),
        waves: 0,
        refused: 0,
    };
    let everybody = (0..rows.len() as u32).collect();
    let mut open = vec![Open::new(everybody, quasi.len(), party.sites())];
    loop {
        let mut going = Vec::with_capacity(open.len());
        for class in open {
            match class.may_be_cut(own.k) && own.scale.has_cuts() {
                true => going.push(class),
                false => found.classes.push(class.into_people()),
            }
        }
        if going.is_empty() {
            break;
        }
        found.waves += 1;
        each_wave(found.waves, going.len());
        let next = wave::wave(party, plan, &own, going).await?;
        found.refused += next.refused;
        let closed = next.closed.into_iter().map(Open::into_people);
        found.classes.extend(closed);
        open = next.open;
    }
    found.cells = plan.cells(&quasi, &found.classes);
    Ok(found)
}
