//! `hedgerow ledger`: what each other site has learned through this one's runs, since the beginning.

use std::path::PathBuf;

use hedgerow::Site;

use crate::error::CliError;
use crate::output::Answer;
use crate::progress::Terminal;

/// Add up what each other site has learned in all runs of a site.
#[derive(clap::Args)]
#[command(
    after_help = "The ledger holds names and counts, never a value. The summary of one run is in its manifest.\nExample: hedgerow ledger --site north.toml"
)]
pub(crate) struct Arguments {
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let site = Site::open(&arguments.site)?.observer(Terminal::default());
    Ok(Answer::of(&site.ledger()?, true))
}
