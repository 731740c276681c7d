//! D2Pt: t-close fragments of a table whose columns stand at several sites (D2PT, for any number of
//! sites; Jiang and Clifton 2005 for DPP2GA).
//!
//! After [alignment](super::align) every site generalizes its own columns until its classes satisfy the
//! requirement ([`Anonymizer`]): k, and what is asked of its own sensitive attributes. Then the sites
//! find groups that are the same everywhere ([`Synchronizer`]) from how their classes cut each other, on
//! tags under all sites' keys; where they find no groups, every site generalizes further and tells which
//! of its classes it joined. Each site checks the groups on its own sensitive attributes, whether a
//! class was cut or joined. The release is fragmented: a table of quasi-identifiers and one of each
//! other attribute, joined by the number of a group.
//!
//! A site without quasi-identifiers brings no classes; it is told the groups of its records and checks
//! them like all other sites. A site without sensitive attributes asks for k alone. Where a site's
//! records are one class it generalizes no further, though others may.
//!
//! The papers' Table 1b keeps person 5 alone with (123**, [50-59]); [`Datafly`] goes one step further
//! there.
//!
//! # Discloses
//! To all sites: whether all records together satisfy a requirement beyond k and t ([`MET_REQUIREMENT`]); how many
//! records lie in each combination of classes of the first anonymizations ([`CLASSES`]), and which
//! classes a site joined later and how many sites could ([`JOINED_CLASSES`]), neither for a person (D2PT Theorem
//! 1); whether groups hold at every site ([`HOLDING_GROUPS`]), and the sizes of groups that did not
//! ([`REFUSED_GROUPS`]); and the release ([`CELLS`] or [`RESTORED`], [`VALUES`]). With
//! [`Synchronizer::Dpp2ga`], the cuts person by person: the cuts that are its groups, and before them
//! the cuts that were refused ([`CLASS_CUTS`]). To each site, the group of each of its own people, which the
//! release does not say ([`OWN_GROUPS`]), also in groups that were refused: a site without
//! quasi-identifiers is told its groups ([`GROUPS`]); the others know theirs from public numbers and
//! their own classes.

mod anonymizer;
pub(super) mod fragments;
mod lattice;
mod optimal;
mod plan;
pub(crate) mod settings;
mod state;
mod synchronizer;

use hedgerow_data::{Codes, Role};
use hedgerow_privacy::Reference;
use hedgerow_privacy::classes::Classes;
use hedgerow_smc::{Party, What};

use super::own::{Demand, OwnColumn};
use crate::error::Error;
use state::{Common, OwnClasses};
use synchronizer::Decision;

pub use super::own::columns_of;
pub use anonymizer::{Anonymizer, Datafly};
pub use fragments::{CELLS, Fragments, RESTORED, VALUES};
pub use lattice::{Lattice, Levels};
pub use optimal::{Loss, Optimal};
pub use plan::Plan;
pub use settings::{AnonymizerChoice, D2ptSettings, Suppression};
pub use synchronizer::Synchronizer;

/// Whether all records together satisfy the requirement.
pub const MET_REQUIREMENT: What = What::new(
    "whether the whole table satisfies the requirement at every site",
    "the release",
);
/// How the first classes of all sites cut each other.
pub const CLASSES: What = What::new(
    "sizes of classes and of their overlaps",
    "D2PT Theorem 1: not for a person",
);
/// The classes that a site joined.
pub const JOINED_CLASSES: What = What::new(
    "classes that sites join to synchronize again",
    "D2PT Theorem 1: not for a person",
);
/// The cuts of classes, person by person.
pub const CLASS_CUTS: What = What::new(
    "cuts of classes, person by person, also those that are refused",
    "the study: DPP2GA shows cuts to all sites",
);
/// The groups of a site's records, where it has no quasi-identifiers.
pub const GROUPS: What = What::new(
    "groups of the records of a site without quasi-identifiers",
    "the study: every site knows the groups of its own people",
);
/// The groups of a site's own people, which the site knows only through its own data.
pub const OWN_GROUPS: What = What::new(
    "groups of a site's own people, also those that are refused",
    "the study: every site knows the groups of its own people",
);
/// Whether groups satisfy the requirement at every site.
pub const HOLDING_GROUPS: What = What::new(
    "whether the groups satisfy the requirement at every site",
    "the release",
);
/// What was opened of groups that did not satisfy the requirement; the ledger names it a second time.
pub const REFUSED_GROUPS: What = What::new(
    "groups, with their sizes, that did not satisfy the requirement",
    "the study: groups are checked once they are found",
);

/// One synchronization: when the sites compared their classes, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// How many classes this site had.
    pub classes: usize,
    /// How many groups were set aside by then, this time included.
    pub aside: usize,
    /// What came of it.
    pub outcome: Compared,
}

/// The outcome of a synchronization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// The classes make no groups yet, and the sites generalized further.
    NotYet,
    /// They make groups, which do not satisfy the requirement at every site.
    Refused,
    /// They make the groups of the release.
    Groups,
}

/// The result of a run of D2Pt.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// The release, the same at every site.
    pub fragments: Fragments,
    /// How often the sites synchronized.
    pub synchronizations: u32,
    /// Each time they did, in turn.
    pub attempts: Vec<Attempt>,
    /// Whether the sites' first classes were the same.
    pub same_at_first: bool,
    /// For each record in common order, the number of its group in the release.
    pub group_of: Vec<u32>,
    /// The last levels of this site's quasi-identifiers.
    pub levels: Levels,
    /// For each record in common order, whether this site wrote it as `*` altogether.
    pub suppressed: Vec<bool>,
}

/// Runs D2Pt. `columns` are this site's columns by their position in the study's schema, `rows` the
/// places in them of the records that all sites hold, in their common order. `each_time` is told the
/// number of the synchronization and how many classes this site has, for people who wait.
pub async fn anonymize(
    party: &mut Party,
    plan: &Plan<'_>,
    columns: &[(usize, &Codes)],
    rows: &[u32],
    mut each_time: impl FnMut(u32, usize),
) -> Result<Joint, Error> {
    let held = plan.held();
    held.refuse(rows.len())?;
    let own = |role| held.own_columns(party, role, columns, rows);
    let (quasi, sensitive) = (own(Role::Quasi)?, own(Role::Sensitive)?);
    let others = own(Role::Other)?;
    let references: Vec<Reference> = sensitive.iter().map(OwnColumn::reference).collect();
    let demand = Demand::new(plan.requirement, &sensitive, &references);
    demand
        .refuse_unmeetable(party, MET_REQUIREMENT, rows.len())
        .await?;

    let lattice = Lattice::new(&demand, &quasi, rows.len(), plan.suppression);
    let mut classes = OwnClasses::new(lattice, plan.anonymizer);
    let overlaps = party
        .overlaps(CLASSES, rows.len(), classes.class_of())
        .await?;
    let has_classes = |(site, count): (usize, &u32)| {
        let is_split = party.sites() > 1;
        let has_quasi = !held.columns_at(party, site, Role::Quasi).is_empty();
        !is_split || (*count > 0) == has_quasi
    };
    let fits = overlaps.classes.iter().enumerate().all(has_classes);
    party.fit(
        CLASSES,
        fits,
        "a site has classes without quasi-identifiers, or none with them",
    )?;
    classes.list(&overlaps.own);
    let mut common = Common::new(overlaps);
    let mut synchronizations = 0;
    let mut attempts = Vec::new();
    let same_at_first = matches!(
        Synchronizer::Identity.decide(&common.open_cells(), 1),
        Decision::Groups(_)
    );
    let group_of = loop {
        synchronizations += 1;
        let count = classes.count();
        each_time(synchronizations, count);
        let mut attempt = |common: &Common, outcome| {
            attempts.push(Attempt {
                classes: count,
                aside: common.sizes.len(),
                outcome,
            });
        };
        match plan
            .synchronizer
            .decide(&common.open_cells(), plan.requirement.k())
        {
            Decision::Groups(found) => {
                let tried = common.with(&found);
                let group_of = own_groups(party, plan, &common, &tried, &classes).await?;
                let own: Vec<u64> = group_of.iter().map(|group| u64::from(*group)).collect();
                party.note_own(OWN_GROUPS, &own)?;
                let records: Vec<u32> = (0..rows.len() as u32).collect();
                let grouped = Classes::from_assignment(group_of.clone(), tried.sizes.len());
                let holds = demand.holds(&grouped, &records);
                let mut holds = [holds.iter().all(|holds| *holds)];
                party.all(HOLDING_GROUPS, &mut holds).await?;
                if holds[0] {
                    attempt(&common, Compared::Groups);
                    common = tried;
                    break group_of;
                }
                attempt(&common, Compared::Refused);
                party.note(REFUSED_GROUPS, &tried.sizes)?;
            }
            Decision::NotYet(aside) => {
                common.set_aside(&aside);
                attempt(&common, Compared::NotYet);
            }
        }
        let went_on = classes.generalize(plan.anonymizer, &common, party.me());
        if !common.join(party, classes.joined(), went_on).await? {
            return Err(Error::Unmeetable {
                records: rows.len() as u64,
                model: format!(
                    "the requirement in groups found by {}",
                    plan.synchronizer.name()
                ),
                best: String::from(
                    "use the synchronizer merge, or a requirement that a union of classes keeps, such as k, l and t",
                ),
            });
        }
    };
    let cells = classes.group_cells(&group_of, common.sizes.len(), &quasi);
    let verbatim: Vec<&OwnColumn<'_>> = sensitive.iter().chain(&others).collect();
    let own = fragments::Own {
        quasi: &quasi,
        cells: &cells,
        verbatim: &verbatim,
    };
    let (fragments, number) =
        fragments::fragment(party, plan, &group_of, &common.sizes, &own).await?;
    Ok(Joint {
        fragments,
        synchronizations,
        attempts,
        same_at_first,
        group_of: group_of
            .iter()
            .map(|group| number[*group as usize])
            .collect(),
        levels: classes.levels().clone(),
        suppressed: classes.suppressed(),
    })
}

/// The group of each of this site's records, in groups that were found.
async fn own_groups(
    party: &mut Party,
    plan: &Plan<'_>,
    common: &Common,
    tried: &Common,
    classes: &OwnClasses<'_>,
) -> Result<Vec<u32>, Error> {
    if plan.synchronizer.cuts() {
        let mut labels = common.labels_by_record(party, classes);
        party.sum(CLASS_CUTS, &mut labels).await?;
        let groups = tried.groups_of_labels(common, &labels);
        return tried.see(party, CLASS_CUTS, groups);
    }
    let own = tried.groups_of_classes(party, classes);
    for site in tried.without_classes() {
        let mut told = vec![0u64; tried.records()];
        if tried.tells(party)
            && let Some(own) = &own
        {
            told = own.iter().map(|group| u64::from(*group)).collect();
        }
        party.sum_to(GROUPS, site, &mut told).await?;
        if site == party.me() {
            return tried.see(party, GROUPS, tried.read_groups(&told));
        }
    }
    tried.see(party, CLASSES, own)
}
