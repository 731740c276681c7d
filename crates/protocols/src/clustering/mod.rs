//! What sequential clustering is made of, whoever holds what (TG12 section 2): closures and their
//! cost, clusters, and the search for a record's best cluster. It is public arithmetic on public
//! numbers; what is asked of other sites stands with the protocols.

pub(crate) mod clusters;
pub(crate) mod cost;
pub(crate) mod measure;
pub(crate) mod numbers;
mod search;
pub(crate) mod searched;
mod settings;
pub(crate) mod shape;
pub(crate) mod shapes;
mod tree;

pub use settings::ClusteringSettings;
pub use shape::Loss;

/// The most iterations of a clustering.
pub(crate) const MOST_ITERATIONS: u32 = 20;

/// Why iterations over the records ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The last one moved no record, so that another would ask the same again.
    NothingMoved,
    /// The last one moved records, but the loss fell by too little for another.
    SmallGain,
    /// As many were made as the plan allows.
    Bound,
}
