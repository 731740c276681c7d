//! One site's part in the protocol of a run, the same for one party, for a simulation and between
//! machines: classes or groups, how they are written, and the joint release.

pub(crate) mod convergence;
pub(crate) mod gate;
mod one_party;
mod people;
mod same_people;

pub use convergence::{ChangePhase, Convergence, Ended, LossMeasure, Step};
pub use gate::TriedAttack;
pub(crate) use one_party::{gate_alone, one_party};

use hedgerow_data::Release;
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::mondrian::Partition;
use hedgerow_protocols::vertical::d2pt::Attempt;
use hedgerow_smc::Party;

use crate::release::recount;
use crate::study::plan::Draws;
use crate::study::ready::{Contribution, Ready};

/// What a site has when a run is over.
pub(crate) struct Joint {
    /// This site's rows by class, where sites hold different people.
    pub(crate) partition: Option<Partition>,
    pub(crate) release: Release,
    /// How the loss fell, where classes were found by clustering.
    pub(crate) convergence: Option<Convergence>,
    /// What no clusters of k records lose less than, where one site has all records. For its own eyes.
    pub(crate) least_loss: Option<f64>,
    /// How groups were found, in a run that makes groups.
    pub(crate) groups: Option<Groups>,
    /// What the release is counted by before it is signed.
    pub(crate) opened: recount::Opened,
}

/// How groups of the same people were found.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    /// How often the sites synchronized.
    pub(crate) synchronizations: u32,
    /// What came of it each time.
    pub(crate) attempts: Vec<Attempt>,
    /// Whether their first classes were the same.
    pub(crate) same_at_first: bool,
    /// For each record in common order, whether this site wrote it as `*` altogether; empty at a site
    /// without quasi-identifiers.
    pub(crate) suppressed: Vec<bool>,
}

/// When a search that can end at any time ends. Between sites it takes counted steps.
#[derive(Clone, Copy)]
pub(crate) struct Pace<'p> {
    /// The share of the time that has been used; 1 ends the search.
    pub(crate) used: &'p (dyn Fn() -> f64 + Sync),
    /// Whether time alone ends the search, whatever effort the study asks for.
    pub(crate) is_timed: bool,
    /// Whether to find what no clusters lose less than.
    pub(crate) finds_least: bool,
}

impl Pace<'static> {
    /// By the study's effort alone.
    pub(crate) const COUNTED: Self = Self {
        used: &|| 0.0,
        is_timed: false,
        finds_least: false,
    };
}

impl Ready {
    /// A site's part in a run.
    pub(crate) async fn take_part(
        &self,
        party: &mut Party,
        contribution: &Contribution,
        owners: (Owner<'_>, usize),
        (draws, pace): (&Draws, Pace<'_>),
        each_step: impl FnMut(Step),
    ) -> Result<Joint, hedgerow_protocols::Error> {
        match contribution {
            Contribution::People(columns) => {
                self.with_people(party, columns, owners, (draws, pace), each_step)
                    .await
            }
            Contribution::Columns(table) => self.with_columns(party, table, draws, each_step).await,
        }
    }
}
