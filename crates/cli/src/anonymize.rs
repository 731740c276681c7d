//! `hedgerow anonymize`: one table, one party; the same protocol as between many.

use std::path::PathBuf;
use std::time::Duration;

use hedgerow::{DEFAULT_SEED, Options, Study, Table};
use jiff::SignedDuration;

use crate::error::CliError;
use crate::output::Answer;
use crate::progress::Terminal;

/// Anonymize one table: the protocol with one party.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow anonymize --study study.toml patients.csv --out release
  hedgerow anonymize --study study.toml patients.csv --time 30s
  hedgerow anonymize --study study.toml --provider-column site pooled.csv --out release

While clusters are sought, Ctrl-C once writes the best release so far; Ctrl-C again writes none.")]
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
    /// How long clusters are sought, such as 10s or 2m, instead of the study's effort: what is found then
    /// depends on the machine.
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<Duration>,
    /// The folder of the release.
    #[arg(long, value_name = "DIR", default_value = "release")]
    out: PathBuf,
    /// Write over a release that lies in that folder.
    #[arg(long)]
    force: bool,
}

/// A time such as `10s`, `2m` or `1h 30m`.
fn time(words: &str) -> Result<Duration, String> {
    let time = words.parse::<SignedDuration>();
    let time = time.ok().and_then(|time| Duration::try_from(time).ok());
    time.filter(|time| !time.is_zero())
        .ok_or_else(|| String::from("expected a time above nothing, such as 10s, 2m or 1h 30m"))
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let mut options = Options::new()
        .seed(arguments.seed)
        .out(&arguments.out)
        .force(arguments.force)
        .observer(Terminal::default());
    if let Some(column) = &arguments.provider_column {
        options = options.provider_column(column);
    }
    if let Some(time) = arguments.time {
        options = options.time(time);
    }
    let study = Study::open(&arguments.study)?;
    let outcome = hedgerow::anonymize(&study, &Table::file(&arguments.table), &options)?;
    Ok(Answer::of(&outcome.summary, outcome.summary.holds))
}
