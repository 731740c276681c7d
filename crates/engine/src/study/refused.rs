//! Why a study cannot be run, or why a table does not fit its study.

use std::path::PathBuf;

use hedgerow_data::files::FileError;
use hedgerow_data::study::IdentityError;
use hedgerow_privacy::{Model, SingledOutError};

use crate::words::{count, thousands};

/// Why a study that can be read cannot be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyRefused {
    /// A vertical study that is to be signed does not say of every site which columns the site holds.
    #[error("{}: the study does not say which site holds which column\nhint: write columns = [\"…\"] below each [[site]]", study.display())]
    NoHolders {
        /// The study.
        study: PathBuf,
    },
    /// A vertical study to be simulated: neither study nor caller says which site holds which column.
    #[error("{}: the study does not say which site holds which column\nhint: give --columns, e.g. --columns 'age,sex|zip,disease', or write columns = [\"…\"] below each [[site]]", study.display())]
    NoColumns {
        /// The study.
        study: PathBuf,
    },
    /// Sensitive attributes that count as one have too many combinations of values.
    #[error("{}: sensitive attributes that count together make {combinations} combinations of values, at most {most} can be counted\nhint: use sensitive = \"each\"", study.display())]
    Combinations {
        /// The study.
        study: PathBuf,
        /// The number of combinations.
        combinations: u64,
        /// The greatest number of combinations allowed.
        most: u64,
    },
    /// A column of text would stand in the release as each site wrote it.
    #[error("{}: column `{column}` is text, which a joint release cannot carry\nhint: declare its values, or give it role = \"identifier\"", study.display())]
    Text {
        /// The study.
        study: PathBuf,
        /// The column.
        column: String,
    },
    /// A virtual database that nobody may ask.
    #[error("{}: release = \"virtual\" publishes nothing, and without [query] nobody may ask\nhint: write [query] and answers = [\"totals\"], or [\"totals\", \"rows\"]", study.display())]
    NoQuestions {
        /// The study.
        study: PathBuf,
    },
    /// A virtual database of one party, who has the whole table.
    #[error("{}: release = \"virtual\" is for several sites, who keep a virtual database together; one party has the whole table\nhint: leave it out to anonymize the table, or give --sites to hedgerow simulate", study.display())]
    OneParty {
        /// The study.
        study: PathBuf,
    },
    /// The requirement speaks of sites, which the table of one party does not show.
    #[error("{}: {model} speaks of sites, and the table does not say whose its records are\nhint: give --provider-column, the column that names each record's site", study.display())]
    OfSites {
        /// The study.
        study: PathBuf,
        /// The model that speaks of sites.
        model: String,
    },
    /// The file to be made exists already, and is kept.
    #[error("{}: is there already and is kept\nhint: choose another name", study.display())]
    Kept {
        /// The study.
        study: PathBuf,
    },
    /// The study has no site of a name.
    #[error("{}: the study has no site `{site}`\nhint: {hint}", file.display())]
    UnknownSite {
        /// The file that names the site.
        file: PathBuf,
        /// The name.
        site: String,
        /// The names that the study has.
        hint: String,
    },
    /// A study without a file cannot be signed.
    #[error(
        "the study was not read from a file, so sites cannot sign it\nhint: write it to a file and open that"
    )]
    NoFile,
}

impl StudyRefused {
    /// A requirement that speaks of sites.
    pub(crate) fn of_sites(study: PathBuf, model: Option<&Model>, m: Option<u64>) -> Option<Self> {
        let model = model
            .map(Model::to_string)
            .or(m.map(|m| format!("m = {m}")))?;
        Some(Self::OfSites { study, model })
    }
}

/// Why a table is not fit for a study.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableRefused {
    /// Sites that hold the same people need people.
    #[error(
        "{table}: has no records, so there is nobody whom all sites know\nhint: is this the whole table?"
    )]
    NoPeople {
        /// The table.
        table: String,
    },
    /// People who cannot be told apart.
    #[error("{table}: {source}")]
    Identity {
        /// The table.
        table: String,
        /// Why people cannot be told apart.
        source: IdentityError,
    },
    /// A column that is published as it is singles out too many records.
    #[error("{table}: {refusal}")]
    SingledOut {
        /// The table.
        table: String,
        /// The column, and how many records it singles out.
        refusal: SingledOutError,
    },
    /// Counted rows where each person's row is needed.
    #[error(
        "{table}: its rows are counted, and this study needs a row for each person\nhint: counted rows are for horizontal studies with [algorithm] name = \"mondrian\" or \"provider-aware\""
    )]
    Counted {
        /// The table.
        table: String,
    },
    /// More sensitive values than can be counted in every class.
    #[error("{table}: column `{column}` may have {} different values, and a run counts them in each of up to {}, which takes more memory than a run should\nhint: give the column a list of the values that occur, as hedgerow study draft does, or a larger step; or another role", thousands(*values), count(*classes, "class", "classes"))]
    TooManyCounts {
        /// The table.
        table: String,
        /// The sensitive column with most values.
        column: String,
        /// The values that the column may have.
        values: u64,
        /// The classes that the records may make.
        classes: u64,
    },
    /// Fewer records than a class must have.
    #[error("{}: k = {k} cannot be met: the tables hold {}\nhint: the largest k that can be met is {records}", study.display(), count(*records, "record", "records"))]
    TooFew {
        /// The study.
        study: PathBuf,
        /// The k that the study requires.
        k: u64,
        /// Records of all tables.
        records: u64,
    },
    /// A table that has one site's columns was held against all columns.
    #[error("{source}\nhint: --site NAME checks a table that has one site's columns")]
    OneSites {
        /// The error about the missing column.
        source: FileError,
    },
}
