//! `hedgerow completions`: what a shell completes when somebody types the command.

use clap::{CommandFactory as _, ValueEnum};
use clap_complete::aot;
use serde_json::json;

use crate::error::CliError;
use crate::output::Answer;

/// Print the completions of a shell.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow completions bash > ~/.local/share/bash-completion/completions/hedgerow
  hedgerow completions zsh > ~/.zfunc/_hedgerow
  hedgerow completions fish > ~/.config/fish/completions/hedgerow.fish")]
pub(crate) struct Arguments {
    /// The shell.
    shell: Shell,
}

/// A shell that completes.
#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let shell = match arguments.shell {
        Shell::Bash => aot::Shell::Bash,
        Shell::Zsh => aot::Shell::Zsh,
        Shell::Fish => aot::Shell::Fish,
    };
    let mut script = Vec::new();
    aot::generate(
        shell,
        &mut crate::Arguments::command(),
        "hedgerow",
        &mut script,
    );
    let script = String::from_utf8_lossy(&script).into_owned();
    let value = json!({ "shell": shell.to_string(), "script": script });
    Ok(Answer::new(script, &value, true))
}
