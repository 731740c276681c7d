//! Why rows cannot be spread over sites as asked.

use hedgerow_data::study::SplitError;
use hedgerow_smc::MAXIMUM_SITES;

use crate::words::{count, thousands};

/// Why rows cannot be spread over sites as asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SplitRefused {
    /// A run needs a site.
    #[error("--sites is 0, expected 1 or more")]
    NoSites,
    /// More sites than a run can have.
    #[error("{} sites are too many for one process\nhint: the most is {}", thousands(*sites as u64), thousands(MAXIMUM_SITES as u64))]
    TooManySites {
        /// The number of sites that was asked for.
        sites: usize,
    },
    /// The column that names each record's site is not there.
    #[error("{table}:1: there is no column `{column}`\nhint: {hint}")]
    NoColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The columns that the table has.
        hint: String,
    },
    /// A table without records names no site.
    #[error("{table}: the table has no records, so column `{column}` names no site")]
    NoRecords {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A record without a site.
    #[error(
        "{table}:{line}: column `{column}` names no site\nhint: every record belongs to a site"
    )]
    Nameless {
        /// The table.
        table: String,
        /// The line of the record.
        line: u64,
        /// The column.
        column: String,
    },
    /// Rows that are equal in columns stay together, and no column is named.
    #[error(
        "--split column does not say by which\nhint: name columns of the study, e.g. --by zip or --by zip,age"
    )]
    ByNothing,
    /// Rows are to stay together by a column that the study does not have.
    #[error("--by: the study has no column `{column}`\nhint: {hint}")]
    ByUnknown {
        /// The column.
        column: String,
        /// The columns that the study has.
        hint: String,
    },
    /// Rows are to stay together by a column of text.
    #[error(
        "--by: column `{column}` is text, whose values have no order\nhint: name a column with declared values"
    )]
    ByText {
        /// The column.
        column: String,
    },
    /// Bands that begin nowhere.
    #[error(
        "--split bands does not say where bands begin\nhint: name ascending whole numbers, e.g. --by region,age --at 25,56"
    )]
    AtNothing,
    /// Bands of a column whose values are no whole numbers.
    #[error(
        "--by: column `{column}` has the value `{value}`, and bands are of whole numbers\nhint: name a column of integers second, e.g. --by region,age"
    )]
    NoNumber {
        /// The column.
        column: String,
        /// The value that is no number.
        value: String,
    },
    /// The columns of the sites do not go together.
    #[error("--columns: {0}")]
    Columns(SplitError),
    /// Counted rows with the site of each.
    #[error(
        "counted rows do not say whose each record is\nhint: give rows of one record each, with the column that names their sites"
    )]
    CountedOwners,
    /// Columns of each site were given for a study in which every site has all.
    #[error(
        "--columns is for vertical studies: in this one every site has all columns\nhint: --sites says among how many the rows are split"
    )]
    HasAllColumns,
    /// Owners of records were given for a study whose sites hold the same people.
    #[error(
        "--provider-column is for horizontal studies: the sites of this one hold the same people\nhint: leave it out"
    )]
    HasNoOwners,
    /// One party with all rows has no sites that could run alone.
    #[error(
        "one party with all rows has no sites to run alone\nhint: simulate runs several sites, and each alone beside them"
    )]
    OneParty,
    /// Earlier releases were given to a study whose gate does not look at them.
    #[error(
        "--earlier is for a study whose [gate] limits two_releases or newcomers\nhint: leave it out, or write a limit into the study"
    )]
    NothingEarlier,
    /// A time was given for work that ends after counted steps.
    #[error(
        "--time is for clusters that one party finds at the hardened level, without --provider-column: everything else ends after counted steps, so that sites take the same\nhint: leave it out; for clusters between sites, `effort` of [algorithm] says how long they are refined"
    )]
    HasNoTime,
    /// Who owns which record was said twice.
    #[error(
        "the options of a simulation name a column of owners, `{column}`\nhint: Sites::Named says which column names each record's site"
    )]
    OwnersTwice {
        /// The column.
        column: String,
    },
    /// A question that only sites with rows of their own can answer.
    #[error(
        "--independent and --by are for horizontal studies: a site of this one has no rows to itself\nhint: leave them out"
    )]
    HasNoRows,
    /// Local anonymized data sets were asked of a study whose sites hold the same people.
    #[error(
        "--local is for horizontal studies: the sites of this one hold the same people, so no record is one site's\nhint: leave it out"
    )]
    HasNoLocal,
    /// The number of sites contradicts the columns, which say how many sites there are.
    #[error("--sites does not go with a vertical study, whose columns stand at {}\nhint: leave it out", count(*sites as u64, "site", "sites"))]
    SitesOfColumns {
        /// How many sites have columns.
        sites: usize,
    },
    /// The number of tables is not the number of sites with columns in the study.
    #[error("there are {}, and the columns of the study stand at {}\nhint: give a table for each site, in the study's order", count(*tables as u64, "table", "tables"), count(*sites as u64, "site", "sites"))]
    TablesOfColumns {
        /// How many tables were given.
        tables: usize,
        /// How many sites have columns.
        sites: usize,
    },
}
