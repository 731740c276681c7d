//! `hedgerow console`: pages for the steward and the officer, served beside the node; `console user`: who may
//! use them.

use std::io::{BufRead as _, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use hedgerow::Site;
use hedgerow::words::aligned;
use hedgerow_console::{ConsoleSettings, Listening, Role, USUAL, Users, address};
use serde_json::json;

use crate::error::{CliError, Usage};
use crate::output::{Answer, talk};
use crate::runtime::block_on;

/// Serve pages for the steward and the officer.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Where nobody may use the pages yet, a link is printed that makes the first user, once.\nOther machines are served over TLS alone: certificate and key stand in [console] of the site's file.\nExamples:\n  hedgerow console --site north.toml\n  hedgerow console user add anna --role officer --site north.toml"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// This site's file.
    #[arg(long, value_name = "FILE", required = true)]
    site: Option<PathBuf>,
    /// Where pages are served; what [console] of the site's file says, or 127.0.0.1:7480, if not given.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Say who may use the pages.
    #[command(subcommand)]
    User(User),
}

#[derive(clap::Subcommand)]
enum User {
    /// Add a user; the password is asked for, or read from standard input.
    Add(AddArguments),
    /// List the users.
    List(SiteArguments),
    /// Take a user away; whoever is signed in by that name is signed out.
    Remove(RemoveArguments),
}

#[derive(clap::Args)]
#[command(
    after_help = "A password has 12 characters or more.\nExamples:\n  hedgerow console user add anna --role officer --site north.toml\n  hedgerow console user add ben --role analyst --site north.toml < password"
)]
struct AddArguments {
    /// The name that the person signs in with.
    name: String,
    /// What the person may do: steward, officer, analyst or auditor.
    #[arg(long, value_parser = role, value_name = "ROLE")]
    role: Role,
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
}

#[derive(clap::Args)]
struct SiteArguments {
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
}

#[derive(clap::Args)]
struct RemoveArguments {
    /// The user's name.
    name: String,
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
}

fn role(word: &str) -> Result<Role, String> {
    Role::named(word).ok_or_else(|| {
        let names = Role::ALL.map(Role::name).join(", ");
        format!("expected one of {names}")
    })
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    match &arguments.command {
        Some(Command::User(User::Add(arguments))) => add(arguments),
        Some(Command::User(User::List(arguments))) => list(&arguments.site),
        Some(Command::User(User::Remove(arguments))) => remove(arguments),
        None => serve(arguments),
    }
}

fn serve(arguments: &Arguments) -> Result<Answer, CliError> {
    let path = arguments.site.as_ref().ok_or(Usage::NoSite)?;
    let site = Site::open(path)?;
    let settings = settings(&site, arguments.listen.as_deref())?;
    let stopped = || {
        let text = String::from("the console has stopped; the node goes on without it\n");
        Ok(Answer::new(text, &json!({ "stopped": true }), true))
    };
    block_on::<_, CliError>(
        async {
            let listening = Listening::bind(path.clone(), settings).await?;
            let console = listening.console();
            talk(&format!(
                "pages for `{}` are at {}",
                site.file().name,
                console.address()
            ));
            if let Some(link) = console.first_link()? {
                talk(&format!(
                    "nobody may use them yet; this link makes the first user, once, within an hour:\n{link}"
                ));
            }
            match listening.serve().await {}
        },
        stopped,
    )
}

/// Where pages are served: at the address that was given, or as the site's file says.
fn settings(site: &Site, listen: Option<&str>) -> Result<ConsoleSettings, CliError> {
    let said = site.file().console.clone();
    let Some(listen) = listen else {
        // An address that was written here is one.
        let usual = || {
            address(USUAL)
                .map(ConsoleSettings::at)
                .map_err(Usage::NoAddress)
        };
        return Ok(said.map_or_else(usual, Ok)?);
    };
    let listen = address(listen).map_err(Usage::NoAddress)?;
    Ok(match said {
        Some(said) => ConsoleSettings { listen, ..said },
        None => ConsoleSettings::at(listen),
    })
}

fn add(arguments: &AddArguments) -> Result<Answer, CliError> {
    let AddArguments { name, role, site } = arguments;
    let users = users(site)?;
    let password = password(name)?;
    users.add(name, *role, &password, (&whoever(), "shell"))?;
    let text = format!(
        "{}: `{name}` is added, and {}\n",
        users.path().display(),
        role.words()
    );
    Ok(Answer::new(
        text,
        &json!({ "added": name, "role": role }),
        true,
    ))
}

fn list(site: &Path) -> Result<Answer, CliError> {
    let users = users(site)?.all()?;
    let rows: Vec<Vec<String>> = users
        .iter()
        .map(|user| {
            vec![
                user.name.clone(),
                user.role.to_string(),
                format!("since {} UTC", user.added),
            ]
        })
        .collect();
    let text = match rows.is_empty() {
        true => String::from(
            "nobody\nhint: hedgerow console user add NAME --role officer --site … adds somebody\n",
        ),
        false => aligned(&rows),
    };
    let value: Vec<_> = users
        .iter()
        .map(|user| json!({ "name": user.name, "role": user.role, "added": user.added }))
        .collect();
    Ok(Answer::new(text, &json!({ "users": value }), true))
}

fn remove(arguments: &RemoveArguments) -> Result<Answer, CliError> {
    let name = &arguments.name;
    users(&arguments.site)?.remove(name, (&whoever(), "shell"))?;
    let text = format!("`{name}` may not use the pages any more\n");
    Ok(Answer::new(text, &json!({ "removed": name }), true))
}

/// The users of a site whose file can be read.
fn users(site: &Path) -> Result<Users, CliError> {
    Site::open(site)?;
    Ok(Users::beside(site))
}

/// A password from a prompt that shows nothing, or the first line of standard input.
fn password(name: &str) -> Result<String, CliError> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return typed(name);
    }
    let mut line = String::new();
    // Longer than any password.
    stdin
        .lock()
        .take(4_096)
        .read_line(&mut line)
        .map_err(CliError::NoInput)?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

fn typed(name: &str) -> Result<String, CliError> {
    let ask = |prompt: String| {
        ::console::Term::stderr()
            .write_str(&prompt)
            .map_err(CliError::NoInput)?;
        ::console::Term::stderr()
            .read_secure_line()
            .map_err(CliError::NoInput)
    };
    let first = ask(format!("password of {name}: "))?;
    if first != ask(String::from("the same again: "))? {
        return Err(Usage::TwoPasswords.into());
    }
    Ok(first)
}

/// Who types, as far as the shell says.
fn whoever() -> String {
    std::env::var("USER").unwrap_or_else(|_| String::from("somebody"))
}
