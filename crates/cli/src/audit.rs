//! `hedgerow audit`: does a site's part in a run again and says whether every frame was as it should be.

use std::path::PathBuf;

use hedgerow::Site;

use crate::error::CliError;
use crate::output::Answer;
use crate::progress::Terminal;
use crate::runtime::block_on;

/// Do a site's part in a run again and say whether it was as it should be.
#[derive(clap::Args)]
#[command(
    after_help = "A study that says audit = \"90 days\" has every site keep its journal for so long. The command runs at the\nsite, with its files: peers see nothing. Exit codes: 0 as it should be, 1 not, 2 it cannot be told.\nExamples:\n  hedgerow audit --site site.toml --run 1\n  hedgerow audit --site site.toml --run 1 --auditor auditor.key"
)]
pub(crate) struct Arguments {
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
    /// Which run of the study.
    #[arg(long, value_name = "N")]
    run: u32,
    /// The secret key of the auditor whom the study names: signs the outcome.
    #[arg(long, value_name = "FILE")]
    auditor: Option<PathBuf>,
    /// Where the signed outcome goes, if not into the folder of the release.
    #[arg(long, value_name = "FILE", requires = "auditor")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let site = Site::open(&arguments.site)?.observer(Terminal::default());
    let (auditor, out) = (arguments.auditor.as_deref(), arguments.out.as_deref());
    let stopped = || Err(CliError::Stopped("the audit was stopped before its end"));
    let audit = block_on(site.audit(arguments.run, auditor, out), stopped)?;
    Ok(Answer::of(&audit, audit.holds()))
}
