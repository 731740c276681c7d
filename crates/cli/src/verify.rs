//! `hedgerow verify`: an independent check of a release, every model, with the worst class.

use std::path::PathBuf;
use std::sync::Arc;

use hedgerow::privacy::m_privacy::Strategy;
use hedgerow::{Error, Questions, Release, Study, Table};

use crate::error::CliError;
use crate::output::Answer;
use crate::progress::Terminal;

/// Check whether a table that somebody calls anonymous is: every model, pass or fail, with the
/// worst class. Of a release folder also whether it is what its manifest says and, with its study,
/// whether all sites signed it.
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 the requirement holds (or none was given), 1 it does not or that is not shown, 2 bad input.
Examples:
  hedgerow verify release-1
  hedgerow verify release-1 --study study.toml
  hedgerow verify release.csv --study study.toml --against 'k = 20, t = 0.1'
  hedgerow verify table.csv --quasi age,zip --sensitive disease --against 'k = 5, l = 2'
  hedgerow verify table.csv --quasi age,zip --sensitive disease --ignore ward,year --against 'k = 5'"
)]
pub(crate) struct Arguments {
    /// The release: a CSV or Parquet file, or a release folder.
    release: PathBuf,
    /// The study it is a release of: roles, domains, taxonomies, requirement, keys. Without it, a release
    /// folder is held against what its own manifest says.
    #[arg(long)]
    study: Option<PathBuf>,
    /// Another requirement than the study's: a TOML file with a `[require]` table, or a line such as
    /// 'k = 10, l = 3'.
    #[arg(long, value_name = "REQUIREMENT")]
    against: Option<String>,
    /// Quasi-identifiers, for a table without a study.
    #[arg(
        long,
        value_delimiter = ',',
        value_parser = trimmed,
        value_name = "COLUMNS",
        conflicts_with = "study"
    )]
    quasi: Vec<String>,
    /// Sensitive attributes, for a table without a study.
    #[arg(
        long,
        value_delimiter = ',',
        value_parser = trimmed,
        value_name = "COLUMNS",
        conflicts_with = "study"
    )]
    sensitive: Vec<String>,
    /// The rows of a table without a study are counted: its column `records` says how many records each stands
    /// for.
    #[arg(long, conflicts_with = "study", requires = "quasi")]
    counted: bool,
    /// The column that names each record's site: needed for site diversity and m.
    #[arg(long, value_name = "COLUMN")]
    provider_column: Option<String>,
    /// Columns that have no role and may be there all the same: you answer for what they say.
    #[arg(long, value_delimiter = ',', value_parser = trimmed, value_name = "COLUMNS")]
    ignore: Vec<String>,
    /// The original table, for losses that need it (EM, NCP over present values) and uniqueness
    /// before.
    #[arg(long, value_name = "TABLE", requires = "study")]
    original: Option<PathBuf>,
    /// Random queries to ask of the original and the release, for the query error.
    #[arg(long, value_name = "COUNT", default_value_t = 0, requires = "original")]
    queries: usize,
    /// How the queries are drawn.
    #[arg(long, value_enum, default_value = "jx09", requires = "queries")]
    query_kind: QueryKind,
    /// Verify m by one of MPRIV's strategies too, and count its checks: direct, top-down, bottom-up, binary,
    /// adaptive, exact.
    #[arg(long, value_name = "STRATEGY", requires = "provider_column", value_parser = strategy)]
    verification: Option<Strategy>,
    /// A table of the population that the release is a sample of, for journalist risk.
    #[arg(long, value_name = "TABLE", requires = "study")]
    population: Option<PathBuf>,
    /// Another release of the same records: what this and all such views say together (hyperedges, perfect
    /// matchings, possible worlds). May be given several times.
    #[arg(long, value_name = "RELEASE", requires = "study")]
    view: Vec<PathBuf>,
}

/// How random queries are drawn.
#[derive(Clone, Copy, clap::ValueEnum)]
enum QueryKind {
    /// Two attributes, ranges of 0.3 of the domain (JX09).
    Jx09,
    /// Two to half of the attributes, ranges of 0.3 of the domain (MPRIV).
    Mpriv,
}

/// A strategy by its name.
fn strategy(word: &str) -> Result<Strategy, String> {
    let named = Strategy::NAMES.iter().find(|(name, _)| *name == word);
    named.map(|(_, strategy)| *strategy).ok_or_else(|| {
        let names = Strategy::NAMES.map(|(name, _)| name);
        format!("expected one of {}", names.join(", "))
    })
}

/// A name of a list, where spaces may stand around commas.
fn trimmed(name: &str) -> Result<String, std::convert::Infallible> {
    Ok(name.trim().to_owned())
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let study = arguments.study.as_ref().map(Study::open).transpose()?;
    let mut release = Release::open(&arguments.release)?;
    if let Some(study) = study {
        release = release.with_study(study);
    }
    let questions = Questions {
        against: arguments.against.clone(),
        quasi: arguments.quasi.clone(),
        sensitive: arguments.sensitive.clone(),
        counted: arguments.counted,
        passes_over: false,
        provider_column: arguments.provider_column.clone(),
        ignore: arguments.ignore.clone(),
        original: arguments.original.clone().map(Table::file),
        queries: arguments.queries,
        query_kind: match arguments.query_kind {
            QueryKind::Jx09 => hedgerow::QueryKind::Jx09,
            QueryKind::Mpriv => hedgerow::QueryKind::Mpriv,
        },
        population: arguments.population.clone().map(Table::file),
        views: arguments.view.clone(),
        verification: arguments.verification,
        observer: Arc::new(Terminal::default()),
    };
    match hedgerow::verify(&release, &questions) {
        Ok(verdict) => Ok(Answer::of(&verdict, verdict.holds())),
        // Files that differ from what was signed are an answer to the question, not an error.
        Err(Error::Tampered(tampered)) => Ok(Answer::of(&*tampered, false)),
        Err(error) => Err(error.into()),
    }
}
