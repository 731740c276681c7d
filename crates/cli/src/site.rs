//! `hedgerow site new` and `site check`: a site's own file, and whether the site accepts a study, before
//! anybody signs.

use std::path::PathBuf;

use hedgerow::words::count;
use hedgerow::{Site, SiteDraft, Study};
use serde_json::json;

use crate::error::CliError;
use crate::output::Answer;
use crate::progress::Terminal;
use crate::runtime::block_on;

/// Set up a site.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Draft a site's file for a study, with all that the study needs closed until somebody agrees.
    New(NewArguments),
    /// Test whether a site would take part in a run of a study, before anybody signs.
    Check(CheckArguments),
}

#[derive(clap::Args)]
#[command(
    after_help = "An untouched draft accepts nothing. A line that begins with # and no space is a rule or a listed word:\nthe privacy officer reads the words above it and takes the # away.\nExample: hedgerow site new --study study.toml --site north --rows patients.csv"
)]
pub(crate) struct NewArguments {
    /// The study.
    #[arg(long, value_name = "FILE")]
    study: PathBuf,
    /// The site's name in the study; the site whose key --key is, if not given.
    #[arg(long, visible_alias = "name", value_name = "NAME")]
    site: Option<String>,
    /// The site's secret key; NAME.key beside the site's file, if not given.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The file with the site's rows.
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    /// The file to make; one that is there is kept.
    #[arg(long, value_name = "FILE", default_value = "site.toml")]
    out: PathBuf,
    /// Write over a file that is there.
    #[arg(long)]
    force: bool,
}

#[derive(clap::Args)]
#[command(
    after_help = "Everything that a run would refuse at its gate is told at once: rules, key, addresses, rows, earlier runs.\nNothing is written or sent.\nExit codes: 0 the site would take part, 1 it would not, 2 a file cannot be read.\nExample: hedgerow site check site.toml --study study.toml"
)]
pub(crate) struct CheckArguments {
    /// The site's file.
    site: PathBuf,
    /// The study; the one that the site's file names, if not given.
    #[arg(long, value_name = "FILE")]
    study: Option<PathBuf>,
}

pub(crate) fn run(command: &Command) -> Result<Answer, CliError> {
    match command {
        Command::New(arguments) => new(arguments),
        Command::Check(arguments) => check(arguments),
    }
}

fn new(arguments: &NewArguments) -> Result<Answer, CliError> {
    let options = SiteDraft {
        site: arguments.site.clone(),
        key: arguments.key.clone(),
        rows: arguments.rows.clone(),
    };
    let study = Study::open(&arguments.study)?;
    let drafted = study.draft_site(&arguments.out, &options)?;
    drafted.save(arguments.force)?;
    let file = drafted.file.display();
    let mut text = format!(
        "{file}: drafted for `{}`; {} wait for the privacy officer behind a #, and nothing is accepted yet\n",
        drafted.site,
        count(drafted.closed as u64, "line", "lines")
    );
    for todo in &drafted.todo {
        text.push_str(&format!("to fill in: {todo}\n"));
    }
    text.push_str(&format!(
        "hint: read the words above each line, take the # away to agree, then hedgerow site check {file}\n"
    ));
    let value = json!({
        "file": drafted.file, "site": drafted.site, "closed": drafted.closed, "todo": drafted.todo,
    });
    Ok(Answer::new(text, &value, true))
}

fn check(arguments: &CheckArguments) -> Result<Answer, CliError> {
    let site = Site::open(&arguments.site)?.observer(Terminal::default());
    let stopped = || Err(CliError::Stopped("stopped before everything was looked at"));
    let found = block_on(site.check(arguments.study.as_deref()), stopped)?;
    let mut text = found.to_string();
    if found.accepted {
        text.push_str(&format!(
            "hint: hedgerow study sign --site {} signs\n",
            arguments.site.display()
        ));
    }
    Ok(Answer::new(text, &found, found.accepted))
}
