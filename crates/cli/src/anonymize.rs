//! `hedgerow anonymize`: one table, one party; the same protocol as between many.

use std::path::PathBuf;
use std::time::Duration;

use hedgerow::{DEFAULT_SEED, Options, Study};

use crate::draft;
use crate::error::CliError;
use crate::output::Answer;
use crate::progress::Terminal;
use crate::table::TableArguments;

/// Anonymize one table: the protocol with one party.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow anonymize --study study.toml patients.csv --out release
  hedgerow anonymize patients.csv --k 10 --quasi age,zip,sex --sensitive diagnosis
  hedgerow anonymize --study study.toml patients.csv --time 30s
  hedgerow anonymize --study study.toml --engine local --memory 4GB patients
  hedgerow anonymize --study study.toml --provider-column site pooled.csv --out release

While clusters are sought, Ctrl-C once writes the best release so far; Ctrl-C again writes none.")]
pub(crate) struct Arguments {
    /// The study: attributes, requirement, algorithm. Without it one is drafted of the table, with the
    /// columns that --quasi and --sensitive name.
    #[arg(long, conflicts_with_all = ["k", "quasi", "sensitive", "hierarchies", "draft"])]
    study: Option<PathBuf>,
    #[command(flatten)]
    columns: draft::Columns,
    /// The folder of the drafted study; beside the release, with `-study` behind its name, if not given.
    #[arg(long, value_name = "DIR")]
    draft: Option<PathBuf>,
    #[command(flatten)]
    table: TableArguments,
    /// The column that names each record's site, where that makes a difference.
    #[arg(long, value_name = "COLUMN")]
    provider_column: Option<String>,
    /// The same seed gives the same release, where the algorithm draws at random.
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// An earlier release of the same people, for the attacks on several releases that the study's [gate] limits.
    /// May be given several times.
    #[arg(long, value_name = "RELEASE")]
    earlier: Vec<PathBuf>,
    /// How long clusters are sought, such as 10s or 2m, instead of the study's effort: what is found then
    /// depends on the machine.
    #[arg(long, value_name = "TIME", value_parser = crate::time::time)]
    time: Option<Duration>,
    /// The folder of the release.
    #[arg(long, value_name = "DIR", default_value = "release")]
    out: PathBuf,
    /// Write over a release that lies in that folder.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let mut options = Options::new()
        .seed(arguments.seed)
        .out(&arguments.out)
        .force(arguments.force)
        .beside()
        .observer(Terminal::default());
    if let Some(column) = &arguments.provider_column {
        options = options.provider_column(column);
    }
    for release in &arguments.earlier {
        options = options.earlier(release);
    }
    if let Some(time) = arguments.time {
        options = options.time(time);
    }
    let table = arguments.table.table()?;
    let study = match &arguments.study {
        Some(study) => Study::open(study)?,
        None => {
            // Beside the release.
            let mut beside = arguments.out.components().as_path().as_os_str().to_owned();
            beside.push("-study");
            let out = arguments.draft.clone().unwrap_or_else(|| beside.into());
            let column = arguments.provider_column.as_deref();
            arguments.columns.drafted(&table, column, &out)?
        }
    };
    let outcome = hedgerow::anonymize(&study, &table, &options)?;
    Ok(Answer::of(&outcome.summary, outcome.summary.holds))
}
