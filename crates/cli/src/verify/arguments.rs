//! What `hedgerow verify` is asked, and what it cannot be asked of a release.

use std::path::{Path, PathBuf};

use hedgerow_data::document::Document;
use hedgerow_data::{Study, TextTable, quoted_list};
use hedgerow_privacy::query_error::Queries;
use hedgerow_privacy::{Requirement, Scope};

use crate::error::CliError;
use crate::opened::Opened;

/// Check whether a table that somebody calls anonymous is: every model, pass or fail, with the
/// worst class. With a release folder and its study also whether it is what all sites signed.
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 the requirement holds (or none was given), 1 it does not or that is not shown, 2 bad input.
Examples:
  hedgerow verify release-1 --study study.toml
  hedgerow verify release.csv --study study.toml --against 'k = 20, t = 0.1'
  hedgerow verify table.csv --quasi age,zip --sensitive disease --against 'k = 5, l = 2'
  hedgerow verify table.csv --quasi age,zip --sensitive disease --ignore ward,year --against 'k = 5'"
)]
pub(crate) struct Arguments {
    /// The release: a CSV or Parquet file, or a release folder.
    pub(super) release: PathBuf,
    /// The study it is a release of: roles, domains, taxonomies, requirement.
    #[arg(long)]
    pub(super) study: Option<PathBuf>,
    /// Another requirement than the study's: a TOML file with a `[require]` table, or a line such as
    /// 'k = 10, l = 3'.
    #[arg(long, value_name = "REQUIREMENT")]
    pub(super) against: Option<String>,
    /// Quasi-identifiers, for a table without a study.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "COLUMNS",
        conflicts_with = "study"
    )]
    pub(super) quasi: Vec<String>,
    /// Sensitive attributes, for a table without a study.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "COLUMNS",
        conflicts_with = "study"
    )]
    pub(super) sensitive: Vec<String>,
    /// The column that names each record's site: needed for site diversity and m.
    #[arg(long, value_name = "COLUMN")]
    pub(super) provider_column: Option<String>,
    /// Columns that have no role and may be there all the same: you answer for what they say.
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    pub(super) ignore: Vec<String>,
    /// The original table, for losses that need it (EM, NCP over present values) and uniqueness
    /// before.
    #[arg(long, value_name = "TABLE", requires = "study")]
    pub(super) original: Option<PathBuf>,
    /// Random queries to ask of the original and the release, for the query error.
    #[arg(long, value_name = "COUNT", default_value_t = 0, requires = "original")]
    pub(super) queries: usize,
    /// How the queries are drawn.
    #[arg(long, value_enum, default_value = "jx09", requires = "queries")]
    pub(super) query_kind: QueryKind,
    /// A table of the population that the release is a sample of, for journalist risk.
    #[arg(long, value_name = "TABLE", requires = "study")]
    pub(super) population: Option<PathBuf>,
}

/// How random queries are drawn.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum QueryKind {
    /// Two attributes, ranges of 0.3 of the domain (JX09).
    Jx09,
    /// Two to half of the attributes, ranges of 0.3 of the domain (MPRIV).
    Mpriv,
}

impl QueryKind {
    pub(super) fn queries(self, count: usize, attributes: usize) -> Queries {
        let attributes = match self {
            Self::Jx09 => (2, 2),
            Self::Mpriv => (2, (attributes / 2).max(2)),
        };
        Queries {
            count,
            attributes,
            width: 0.3,
            seed: 1,
        }
    }
}

impl Arguments {
    /// Everything about the release in a folder, of a study that has been read.
    pub(crate) fn of_folder(folder: &Path, original: Option<&Path>) -> Self {
        Self {
            release: folder.to_owned(),
            study: None,
            against: None,
            quasi: Vec::new(),
            sensitive: Vec::new(),
            provider_column: None,
            ignore: Vec::new(),
            original: original.map(Path::to_owned),
            queries: 0,
            query_kind: QueryKind::Jx09,
            population: None,
        }
    }

    /// What a fragmented release does not show: sites, and one closure for all records of a group whose
    /// quasi-identifiers were restored.
    pub(super) fn refuse_of_tables(&self, opened: &Opened) -> Result<(), CliError> {
        let study = &opened.study;
        let refuse = |what: &str| Err(CliError::Usage(what.to_owned()));
        if study.is_fragmented() && self.provider_column.is_some() {
            return refuse(
                "--provider-column: the sites of a vertical study hold the same people, so no record is of one site\nhint: leave it out",
            );
        }
        if study.is_fragmented()
            && opened.run.d2pt.restore
            && (self.queries > 0 || self.population.is_some())
        {
            return refuse(
                "--queries and --population ask what records of a group look like, and with restore = true they differ\nhint: leave them out",
            );
        }
        Ok(())
    }

    /// A column that is to be ignored is there, and has no role: otherwise somebody else is meant.
    pub(super) fn refuse_ignored(&self, table: &TextTable, study: &Study) -> Result<(), CliError> {
        let refuse = |name: &str, what: &str| {
            Err(CliError::Usage(format!("--ignore: column `{name}` {what}")))
        };
        for name in &self.ignore {
            if study.schema.position(name).is_some() {
                return refuse(
                    name,
                    "has a role in the study\nhint: only a column without one can be ignored",
                );
            }
            if self.provider_column.as_ref() == Some(name) {
                return refuse(name, "is named twice\nhint: a column has one role");
            }
        }
        self.refuse_absent(table)
    }

    /// A column that is to be ignored is there.
    pub(super) fn refuse_absent(&self, table: &TextTable) -> Result<(), CliError> {
        match self.ignore.iter().find(|name| table.column(name).is_none()) {
            Some(name) => Err(CliError::Usage(format!(
                "{}: there is no column `{name}` to ignore\nhint: the file has {}",
                table.file,
                quoted_list(&table.names)
            ))),
            None => Ok(()),
        }
    }

    /// A column has one role.
    pub(super) fn refuse_double_roles(&self) -> Result<(), CliError> {
        let mut named: Vec<&String> = self
            .quasi
            .iter()
            .chain(&self.sensitive)
            .chain(&self.provider_column)
            .chain(&self.ignore)
            .collect();
        named.sort_unstable();
        match named.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(CliError::Usage(format!(
                "column `{}` is named twice\nhint: a column has one role",
                pair[0]
            ))),
            None => Ok(()),
        }
    }
}

/// A requirement given on the command line: a file, or the line itself.
pub(super) fn stated(against: &str, scope: &Scope) -> Result<Requirement, CliError> {
    let path = Path::new(against);
    if path
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        return Ok(Requirement::of_document(&Document::open(path)?, scope)?);
    }
    Ok(Requirement::of_line(against, scope)?)
}
