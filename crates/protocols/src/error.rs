//! What can stop a protocol, and whose fault it is.

/// Why a run ended without a release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A peer, the line, or this site's own configuration.
    #[error(transparent)]
    Party(#[from] hedgerow_smc::Error),
    /// The whole table does not satisfy the requirement, so no part of it can be asked to.
    #[error(
        "the requirement cannot be met: all {records} records together do not satisfy {model}\nhint: {best}"
    )]
    Unmeetable {
        /// Records of all sites.
        records: u64,
        /// The model that fails, in words.
        model: String,
        /// What could be met, as a sentence.
        best: String,
    },
    /// A united record that is none: a site sent what is no row of this study.
    #[error("a site sent a record that is no row of this study")]
    NoRow,
    /// A closure that is none: a site sent what no cluster of this study has.
    #[error("a site sent a closure that no cluster of this study can have")]
    NoClosure,
    /// More coalitions than can be asked about.
    #[error(
        "m = {m} among {sites} sites makes more coalitions than can be asked about\nhint: the largest m that can be asked about is {largest}"
    )]
    TooManyCoalitions {
        /// Sites of the run.
        sites: usize,
        /// The m demanded.
        m: u64,
        /// The largest that could be.
        largest: u64,
    },
    /// A threshold that does not fit the numbers it is asked in, which are made to fit.
    #[error("this is a mistake in hedgerow, not in your input: a threshold is out of range")]
    Threshold,
    /// A search among coalitions that cannot be made.
    #[error(transparent)]
    Coalitions(#[from] hedgerow_privacy::m_privacy::Error),
}
