//! `hedgerow query` and `hedgerow sql`: words that are handed over to `hedgerow-sql`, a program of its own so
//! that the command builds without an SQL engine.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use clap::Args;
use hedgerow::node::program::find_sql;

use crate::error::CliError;

/// Words for the other program.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Arguments {
    /// Words for hedgerow-sql; --help has them.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "WORDS"
    )]
    words: Vec<OsString>,
}

/// Hands the words over, and ends as the other program ends.
pub(crate) fn hand_over(
    verb: Option<&str>,
    json: bool,
    arguments: &Arguments,
) -> Result<ExitCode, CliError> {
    let program = find_sql().ok_or(CliError::NoSql)?;
    let mut command = Command::new(&program);
    command.args(verb).args(json.then_some("--json"));
    command.args(&arguments.words);
    // In this program's place, so that a signal to a server finds it.
    #[cfg(unix)]
    {
        let error = std::os::unix::process::CommandExt::exec(&mut command);
        Err(CliError::SqlStopped { program, error })
    }
    #[cfg(not(unix))]
    {
        let status = command.status();
        let status = status.map_err(|error| CliError::SqlStopped { program, error })?;
        // A program that was ended from outside has no code.
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(ExitCode::from(code.unwrap_or(2)))
    }
}
