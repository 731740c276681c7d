//! `hedgerow keygen`: a site's own key, made once and kept.

use std::path::PathBuf;

use hedgerow::node::identity::Secret;
use serde_json::json;

use crate::error::CliError;
use crate::output::Answer;

/// Make a site's key.
#[derive(clap::Args)]
#[command(
    after_help = "The file holds the secret half; only its owner may read it. What is printed is public and belongs\ninto this site's [[site]] of the study.\nExample: hedgerow keygen --out north.key"
)]
pub(crate) struct Arguments {
    /// The file to make; one that is there is kept.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let secret = Secret::generate()?;
    secret.write_new(&arguments.out)?;
    let key = secret.public().to_string();
    let value = json!({ "key": key, "file": arguments.out });
    Ok(Answer::new(format!("key = \"{key}\"\n"), &value, true))
}
