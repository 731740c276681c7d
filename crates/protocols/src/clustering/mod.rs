//! The parts of sequential clustering that do not depend on which site holds which data (TG12 section
//! 2): closures and their cost, clusters, and the search for a record's best cluster. All of it is
//! public arithmetic on public numbers; questions to other sites stand with the protocols.

pub(crate) mod clusters;
pub(crate) mod cost;
pub(crate) mod measure;
pub(crate) mod neighbours;
pub(crate) mod numbers;
mod search;
pub(crate) mod searched;
pub(crate) mod settings;
pub(crate) mod shape;
pub(crate) mod shapes;
pub(crate) mod stop;
mod tree;

pub use settings::{ClusteringSettings, CountsChoice, Loss};
pub use stop::{CIRCLES, Stop};

/// Why iterations over the records ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The last iteration moved no record, so that another would ask the same again.
    NothingMoved,
    /// The last iteration moved records, but the loss fell by too little for another.
    SmallGain,
    /// Records still moved, but the loss had not fallen for [`CIRCLES`] iterations.
    Circling,
    /// As many iterations were made as the plan allows, and the last of them moved records.
    Bound,
    /// The effort or the time was spent.
    Effort,
}
