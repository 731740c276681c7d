//! Everything that can stop a command: what the engine says, and arguments that do not go together.

use std::path::PathBuf;

use hedgerow::data::document::DocumentError;
use hedgerow::data::files::FileError;
use hedgerow::data::quoted_list;
use hedgerow::data::synthetic::SyntheticError;
use hedgerow::data::taxonomy::{MakeError, TaxonomyError};
use hedgerow::node::agreement::AgreementError;
use hedgerow::node::identity::IdentityError;
use hedgerow::node::program::SQL_HINT;

/// Bad input, or a file that cannot be read or written: exit code 2.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum CliError {
    #[error(transparent)]
    Engine(#[from] hedgerow::Error),
    #[error(transparent)]
    Usage(#[from] Usage),
    #[error(transparent)]
    Console(#[from] hedgerow_console::ConsoleError),
    #[error(transparent)]
    Demo(#[from] DemoError),
    #[error(transparent)]
    Experiment(#[from] hedgerow_experiments::Error),
    /// Somebody stopped the command.
    #[error("{0}")]
    Stopped(&'static str),
    /// The program for SQL is not there.
    #[error(
        "SQL is answered by hedgerow-sql, which is neither beside hedgerow nor on PATH\nhint: {SQL_HINT}"
    )]
    NoSql,
    /// The program for SQL cannot be run.
    #[error("{} cannot be run: {error}", program.display())]
    SqlStopped {
        program: PathBuf,
        error: std::io::Error,
    },
    #[error("standard input cannot be read: {0}")]
    NoInput(std::io::Error),
    #[error("no threads can be had: {0}")]
    NoThreads(std::io::Error),
    #[error("no signals can be had: {0}")]
    NoSignals(std::io::Error),
}

/// Arguments that do not go together, or say what cannot be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Usage {
    #[error("--site is missing")]
    NoSite,
    #[error("{0}")]
    NoAddress(String),
    #[error("the two passwords are not the same\nhint: nobody was added; type the command again")]
    TwoPasswords,
    #[error(
        "several tables are named\nhint: put files of the same columns into one folder and name the folder, or give --engine local"
    )]
    SeveralTables,
    #[error("an engine reads files, not standard input\nhint: name a file or a folder")]
    EngineOfInput,
    #[error(
        "--memory and --spill are for --engine local: the executors of a cluster have limits of their own\nhint: leave them out"
    )]
    LimitOfCluster,
    #[error(
        "--engine-anywhere is said of a scheduler\nhint: leave it out, or give --engine df://host:port"
    )]
    AnywhereIsLocal,
    #[error("{}: is there already and is something else, so it is kept\nhint: choose another name", file.display())]
    SomethingElse { file: PathBuf },
    #[error("nothing says which study is signed\nhint: name it, or give --site")]
    NoStudyToSign,
    #[error("nothing says with which key\nhint: give --key, or --site with this site's file")]
    NoKeyToSign,
    #[error("{} is another key than {}, which the site's file names\nhint: leave --key out", key.display(), site.display())]
    TwoKeys { key: PathBuf, site: PathBuf },
    #[error(
        "nothing says what the columns mean\nhint: give --study, or --quasi with the columns that others may know of a person; hedgerow study draft proposes a study"
    )]
    NoStudy,
    #[error("`list` and `all` stand alone\nhint: name figures, or say `all`")]
    NamesAndAll,
    #[error(
        "--by is for --split column and --split bands only\nhint: add --split column, or leave --by out"
    )]
    ByWithoutColumn,
    #[error(
        "--split bands needs two columns\nhint: name the column whose values share the sites, and the column of the bands, e.g. --by region,age --at 25,56"
    )]
    BandsOfTwo,
    #[error("--at is for --split bands only\nhint: add --split bands, or leave --at out")]
    AtWithoutBands,
    #[error(
        "nothing says how many sites there are\nhint: give --sites, or --provider-column with the column that names each record's site"
    )]
    NoSites,
    #[error(
        "--partition is {said}, the study says partition = \"{written}\"\nhint: a release is of its study; write partition = \"{said}\" there"
    )]
    OtherPartition {
        said: &'static str,
        written: &'static str,
    },
    #[error("--integers is `{range}`, expected a range such as 0..120")]
    NoRange { range: String },
    #[error("--step is {step}, expected 1 or more")]
    NoStep { step: i64 },
    #[error(
        "nothing to make a taxonomy from\nhint: give a file, --integers, --prefix or --pairs; see hedgerow taxonomy --help"
    )]
    NoTaxonomy,
    #[error("{}:1: there is no column `{column}`\nhint: the file has {}", table.display(), quoted_list(names))]
    NoColumn {
        table: PathBuf,
        column: String,
        names: Vec<String>,
    },
}

/// Why a demo came to no end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum DemoError {
    #[error("{}: is not empty, and is left alone\nhint: choose another folder by --keep DIR, or leave nothing by --remove", .0.display())]
    NotEmpty(PathBuf),
    #[error("{}: {error}\nhint: --keep DIR names another folder, and --remove leaves nothing", folder.display())]
    NoFolder {
        folder: PathBuf,
        error: std::io::Error,
    },
    #[error("no free port on 127.0.0.1: {0}")]
    NoPort(std::io::Error),
    #[error("this program cannot be found: {0}")]
    NoProgram(std::io::Error),
    #[error("{name}: cannot be started: {error}")]
    NotStarted { name: String, error: std::io::Error },
    #[error("{name} has ended early; it said:\n{said}")]
    EndedEarly { name: String, said: String },
    #[error("{name} does not answer\nhint: {} says more", log.display())]
    NoAnswer { name: String, log: PathBuf },
    #[error("{name} does not take the rows")]
    NoRows { name: String },
    #[error("psql cannot be started: {0}")]
    NoPsql(std::io::Error),
    #[error("the sites are not done after {seconds} s")]
    TooLong { seconds: u64 },
    #[error("{name}: {words}")]
    RunFailed { name: String, words: String },
    #[error("{}: {what}\nhint: this is a mistake in hedgerow; please report it", release.display())]
    Wrong {
        release: PathBuf,
        what: &'static str,
    },
}

/// Error types that go through the engine.
macro_rules! through_the_engine {
    ($($error:ty),*) => {$(
        impl From<$error> for CliError {
            fn from(error: $error) -> Self {
                Self::Engine(error.into())
            }
        }
    )*};
}

through_the_engine!(
    AgreementError,
    DocumentError,
    FileError,
    hedgerow::DraftRefused,
    hedgerow::StudyRefused,
    IdentityError,
    MakeError,
    SyntheticError,
    TaxonomyError
);
