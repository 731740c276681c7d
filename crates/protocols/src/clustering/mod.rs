//! The parts of sequential clustering that do not depend on which site holds which data (TG12 section
//! 2): closures and their cost, clusters, and the search for a record's best cluster. All of it is
//! public arithmetic on public numbers; questions to other sites stand with the protocols.

pub(crate) mod clusters;
pub(crate) mod cost;
pub(crate) mod measure;
pub(crate) mod numbers;
mod search;
pub(crate) mod searched;
pub(crate) mod settings;
pub(crate) mod shape;
pub(crate) mod shapes;
mod tree;

pub use settings::{ClusteringSettings, Loss};

/// The most iterations of a clustering.
pub(crate) const MOST_ITERATIONS: u32 = 20;

/// Why iterations over the records ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The last iteration moved no record, so that another would ask the same again.
    NothingMoved,
    /// The last iteration moved records, but the loss fell by too little for another.
    SmallGain,
    /// As many iterations were made as the plan allows.
    Bound,
}
