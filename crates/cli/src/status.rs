//! `hedgerow status`: the runs of a site, and how far they are.

use std::path::PathBuf;

use hedgerow::Site;

use crate::error::CliError;
use crate::output::Answer;
use crate::progress::Terminal;

/// Show the runs of a site and how far they are.
#[derive(clap::Args)]
#[command(after_help = "Example: hedgerow status --site north.toml")]
pub(crate) struct Arguments {
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let site = Site::open(&arguments.site)?.observer(Terminal::default());
    Ok(Answer::of(&site.status()?, true))
}
