//! `hedgerow anonymize`: one table, one party; the same protocol as between many.

use std::path::PathBuf;

use hedgerow::{DEFAULT_SEED, Options, Study, Table};

use crate::error::CliError;
use crate::output::Answer;
use crate::progress::Terminal;

/// Anonymize one table: the protocol with one party.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow anonymize --study study.toml patients.csv --out release
  hedgerow anonymize --study study.toml --provider-column site pooled.csv --out release")]
pub(crate) struct Arguments {
    /// The study: attributes, requirement, algorithm.
    #[arg(long)]
    study: PathBuf,
    /// The table.
    table: PathBuf,
    /// The column that names each record's site, where that makes a difference.
    #[arg(long, value_name = "COLUMN")]
    provider_column: Option<String>,
    /// The same seed gives the same release, where the algorithm draws at random.
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// The folder of the release.
    #[arg(long, value_name = "DIR", default_value = "release")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let mut options = Options::new()
        .seed(arguments.seed)
        .out(&arguments.out)
        .observer(Terminal::default());
    if let Some(column) = &arguments.provider_column {
        options = options.provider_column(column);
    }
    let study = Study::open(&arguments.study)?;
    let outcome = hedgerow::anonymize(&study, &Table::file(&arguments.table), &options)?;
    Ok(Answer::of(&outcome.summary, outcome.summary.holds))
}
