//! What can stop a protocol, and through whose fault.

/// The most records that a site may have where shares of all records are asked about.
pub const MOST_RECORDS: u64 = hedgerow_data::Table::MOST_RECORDS;

/// Why a run ended without a release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A peer, the line, or this site's own configuration.
    #[error(transparent)]
    Party(#[from] hedgerow_smc::Error),
    /// The whole table does not satisfy the requirement, so no part of it can.
    #[error(
        "the requirement cannot be met: all {records} records together do not satisfy {model}\nhint: {best}"
    )]
    Unmeetable {
        /// Records of all sites.
        records: u64,
        /// The model that fails, in words.
        model: String,
        /// The strongest demand that could be met, as a sentence.
        best: String,
    },
    /// Attributes that may betray a site have too many combinations of values to ask about.
    #[error(
        "the attributes that may betray a site have more than {most} combinations of values\nhint: name fewer of them in `require.site_diversity.attributes`, or ask for support by class"
    )]
    TooManyCombinations {
        /// The most that are asked about.
        most: usize,
    },
    /// How evenly the records of sites are spread that some coalition leaves.
    #[error(
        "{model} cannot be held against colluders: what is left without them would have to be counted site by site\nhint: write m = 0, or site_diversity of kind \"class\""
    )]
    SpreadWithColluders {
        /// The model.
        model: String,
    },
    /// No record that all sites hold.
    #[error(
        "no person is known to all sites: none of this site's {records} records is held by every other site\nhint: do all sites use the same identifier, and does [identity] make its forms the same?"
    )]
    NobodyInCommon {
        /// Records of this site.
        records: usize,
    },
    /// Identifiers of this site that cannot be compared with others'.
    #[error(transparent)]
    Identity(#[from] hedgerow_data::study::IdentityError),
    /// A requirement that sites with different columns cannot check.
    #[error(
        "{model} cannot be asked of sites that hold different columns of the same people\nhint: state k, and l or t of each sensitive attribute on its own"
    )]
    NotVertical {
        /// The model that cannot be checked.
        model: String,
    },
    /// A column that the study says this site holds.
    #[error("this site has no column `{column}`, which the study says it holds")]
    NoColumn {
        /// The column.
        column: String,
    },
    /// A column of free text, which has no codes that mean the same everywhere.
    #[error(
        "column `{column}` is free text, which a release of different columns of the same people cannot hold\nhint: give it `values`, a `taxonomy` or a `type`, or leave it out of the study"
    )]
    FreeText {
        /// The column.
        column: String,
    },
    /// No site has quasi-identifiers.
    #[error(
        "no site has a quasi-identifier, so there is nothing to generalize\nhint: quasi-identifiers are what others may know about a person, such as age or zip"
    )]
    NoQuasi,
    /// More coalitions than can be asked about.
    #[error(
        "m = {m} among {sites} sites makes more coalitions than can be asked about, and {why}\nhint: the largest m that can be asked about is {largest}; k, distinct l and site diversity need no coalitions with verification = \"exact\""
    )]
    TooManyCoalitions {
        /// Sites of the run.
        sites: usize,
        /// The m demanded.
        m: u64,
        /// The largest m that can be asked about.
        largest: u64,
        /// Why they must be asked about.
        why: String,
    },
    /// Demands that cannot be held where sensitive counts stay hidden.
    #[error(
        "counts = \"hidden\" cannot be held {why}\nhint: take counts = \"opened\", or change what is named"
    )]
    HiddenCounts {
        /// What cannot be decided without counts, and what can.
        why: String,
    },
    /// A threshold too large for the comparison, which cannot happen since thresholds are rounded to
    /// fit.
    #[error("this is a mistake in hedgerow, not in your input: a threshold is out of range")]
    Threshold,
    /// A share of all records that cannot be asked about.
    #[error(
        "whether a site holds at most {numerator}/{denominator} of all records cannot be asked of {records} records\nhint: expected a share above 0 and at most 1 with six digits or fewer, and at most {} records",
        MOST_RECORDS
    )]
    Share {
        /// The share.
        numerator: u64,
        /// The denominator of the share.
        denominator: u64,
        /// This site's records.
        records: u64,
    },
    /// A share that the level of security has no way to ask about.
    #[error(
        "what share of all records a site holds cannot be asked of three sites or more at the published level\nhint: take security = \"hardened\", or leave accept.maximum_share out"
    )]
    ShareUnasked,
    /// Values that are published as they are, too fine for so many records.
    #[error(
        "the release of {records} records finds no room: column `{column}` has so many values that {classes} classes take {} counters, expected at most {most}, and at most {mixed} records can be mixed instead\nhint: give `{column}` coarser values, such as a step, a list or a taxonomy, or leave the column out of the study; a larger k makes fewer classes", classes.saturating_mul(*combinations)
    )]
    TooFine {
        /// The column with most values.
        column: String,
        /// Combinations of values of all columns that are published as they are.
        combinations: u64,
        /// Classes that there are at least.
        classes: u64,
        /// Records of all sites that are known.
        records: u64,
        /// The most counters.
        most: u64,
        /// The most records that are mixed.
        mixed: u64,
    },
    /// Medians that cut counted rows into too many classes.
    #[error(
        "medians = \"relaxed\" cuts counted rows as often as their records allow: {records} records may make {classes} classes, expected at most {most}\nhint: take medians = \"strict\", which cuts no row, or a larger k"
    )]
    TooManyParts {
        /// Records of all sites that are known.
        records: u64,
        /// Classes that they may make.
        classes: u64,
        /// The most.
        most: u64,
    },
    /// A question that cannot be asked.
    #[error(transparent)]
    Question(#[from] crate::query::QuestionError),
    /// A search among coalitions that cannot be made.
    #[error(transparent)]
    Coalitions(#[from] hedgerow_privacy::m_privacy::Error),
}
