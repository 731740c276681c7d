//! `hedgerow study check`: whether a study says what it must, and whether tables fit it.

use std::path::PathBuf;

use hedgerow::{Study, Table};

use crate::agreement;
use crate::draft;
use crate::error::CliError;
use crate::output::{Answer, talk};
use crate::progress::Terminal;
use crate::table::table;

/// Set up a study.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Check a study file and the taxonomies it names; with tables, whether they fit.
    Check(CheckArguments),
    /// Draft a study of a table: what its columns hold, and which role they seem to have.
    Draft(draft::DraftArguments),
    /// Join the drafts that sites made of their own tables into one.
    Merge(draft::MergeArguments),
    /// Make a study file to begin with.
    New(agreement::NewArguments),
    /// Sign a study with this site's key.
    Sign(agreement::SignArguments),
    /// Show a study's hash, who has signed it, and what a run of it may disclose.
    Show(agreement::ShowArguments),
}

#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 the study is sound, 1 a signature of it is void or forged, 2 it is not sound.\nExample: hedgerow study check study.toml north.csv"
)]
pub(crate) struct CheckArguments {
    /// The study file.
    study: PathBuf,
    /// Tables to read under it: every value must be in its domain. `-` is CSV from standard input.
    tables: Vec<PathBuf>,
    /// A column of the tables that names the site and is not part of the study.
    #[arg(long, value_name = "COLUMN")]
    provider_column: Option<String>,
    /// The site of a vertical study whose tables these are: they have its columns only.
    #[arg(long, value_name = "NAME")]
    site: Option<String>,
}

pub(crate) fn run(command: &Command) -> Result<Answer, CliError> {
    match command {
        Command::Check(arguments) => check(arguments),
        Command::Draft(arguments) => draft::draft(arguments),
        Command::Merge(arguments) => draft::merge(arguments),
        Command::New(arguments) => agreement::new(arguments),
        Command::Sign(arguments) => agreement::sign(arguments),
        Command::Show(arguments) => agreement::show(arguments),
    }
}

fn check(arguments: &CheckArguments) -> Result<Answer, CliError> {
    let study = Study::open(&arguments.study)?;
    let tables = arguments.tables.iter().map(|path| table(path));
    let tables: Vec<Table> = tables.collect::<Result<_, _>>()?;
    let checked = study.check_as(
        &tables,
        arguments.provider_column.as_deref(),
        arguments.site.as_deref(),
        &Terminal::default(),
    )?;
    for warning in &checked.warnings {
        talk(&format!("warning: {warning}"));
    }
    Ok(Answer::of(&checked, checked.holds()))
}
