//! `hedgerow man`: the manual pages, one for each command.

use std::path::PathBuf;

use clap::CommandFactory as _;
use hedgerow::data::files::FileError;
use serde_json::json;

use crate::error::CliError;
use crate::output::Answer;

/// Write the manual pages: one for each command.
#[derive(clap::Args)]
#[command(after_help = "Example: hedgerow man --out ~/.local/share/man/man1")]
pub(crate) struct Arguments {
    /// The folder of the pages, which is made if it is missing.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let out = &arguments.out;
    let written = std::fs::create_dir_all(out)
        .and_then(|()| clap_mangen::generate_to(crate::Arguments::command(), out));
    written.map_err(|error| FileError::Unwritable {
        file: out.display().to_string(),
        reason: error.to_string(),
    })?;
    let text = format!(
        "{}: the manual pages\nhint: man {0}/hedgerow.1 shows the first\n",
        out.display()
    );
    Ok(Answer::new(text, &json!({ "pages": out }), true))
}
