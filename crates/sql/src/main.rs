//! `hedgerow-sql`: SQL on a release, reached as `hedgerow query` and `hedgerow sql`.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use hedgerow_node::site::SiteFile;
use hedgerow_sql::{Limits, Mode, ReleaseSource, Reply, Server, Session, SqlError, Verifier};
use zeroize::Zeroizing;

/// The fewest characters of a password.
const SHORTEST: usize = 8;

/// SQL on an anonymous table: what is certain, what is possible, and an estimate.
#[derive(Debug, Parser)]
#[command(name = "hedgerow-sql", bin_name = "hedgerow", version)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Ask a release in SQL
    Query(Query),
    /// Serve a release to PostgreSQL's clients, as [sql] of site.toml says
    Serve(Serve),
    /// Make a user: asks for a password, and prints what site.toml needs
    User(User),
}

#[derive(Debug, Args)]
struct Serve {
    /// The site's file
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
    /// The folder of the release
    #[arg(long, value_name = "FOLDER")]
    release: PathBuf,
}

#[derive(Debug, Args)]
struct User {
    /// The user's name
    name: String,
}

#[derive(Debug, Args)]
struct Query {
    /// The folder of the release
    release: PathBuf,
    /// The statement; the table is named like the study
    sql: String,
    /// What plain totals answer: estimate, certain, possible or bounds
    #[arg(long, default_value_t)]
    answer: Mode,
    /// Print JSON
    #[arg(long, conflicts_with_all = ["csv", "parquet"])]
    json: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "parquet")]
    csv: bool,
    /// Write a Parquet file
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
}

fn main() -> ExitCode {
    let Command { verb } = Command::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.to_string()),
    };
    let done = match verb {
        Verb::Query(query) => runtime.block_on(ask(&query)),
        Verb::Serve(words) => runtime.block_on(serve(&words)),
        Verb::User(words) => user(&words.name),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

async fn ask(query: &Query) -> Result<(), String> {
    let reply = answer(query).await.map_err(|error| error.to_string())?;
    show(query, &reply).map_err(|error| error.to_string())?;
    // JSON has the note inside.
    if let Some(note) = reply.note().filter(|_| !query.json) {
        say(&format!("note: {note}"));
    }
    Ok(())
}

/// Serves until a signal ends the program.
async fn serve(words: &Serve) -> Result<(), String> {
    let site = SiteFile::open(&words.site).map_err(|error| error.to_string())?;
    for warning in &site.warnings {
        say(&format!("warning: {warning}"));
    }
    let settings = site.sql.ok_or_else(|| {
        let file = words.site.display();
        format!("{file}: there is no [sql]\nhint: [sql] says where the server listens, with which certificate, and for whom")
    })?;
    let source = ReleaseSource::open(&words.release).map_err(|error| error.to_string())?;
    let name = source.name().to_owned();
    let server = Server::bind(&settings, source, Limits::default()).await;
    let server = server.map_err(|error| error.to_string())?;
    say(&format!("`{name}` is served at {}", server.address()));
    server.run().await;
    Ok(())
}

/// Makes a user; the password goes nowhere but into the verifier.
fn user(name: &str) -> Result<(), String> {
    if name.trim().is_empty() || name.contains(|letter: char| letter.is_control()) {
        return Err(String::from(
            "the name is empty, or has control characters in it",
        ));
    }
    let unreadable = |error: std::io::Error| format!("the password cannot be read: {error}");
    let password = match std::io::stdin().is_terminal() {
        true => {
            let first = rpassword::prompt_password("password: ").map_err(unreadable)?;
            let first = Zeroizing::new(first);
            let second = rpassword::prompt_password("again: ").map_err(unreadable)?;
            if *first != *Zeroizing::new(second) {
                return Err(String::from("the two are not the same"));
            }
            first
        }
        false => {
            let mut line = Zeroizing::new(String::new());
            std::io::stdin().read_line(&mut line).map_err(unreadable)?;
            Zeroizing::new(line.trim_end_matches(['\n', '\r']).to_owned())
        }
    };
    if password.chars().count() < SHORTEST {
        return Err(format!("the password has fewer than {SHORTEST} characters"));
    }
    let verifier = Verifier::of(&password).map_err(|error| error.to_string())?;
    let name = hedgerow_data::document::quoted(name);
    let text = format!("[[sql.user]]\nname = {name}\nverifier = \"{verifier}\"\n");
    std::io::stdout()
        .write_all(text.as_bytes())
        .map_err(|error| format!("the output cannot be written: {error}"))
}

async fn answer(query: &Query) -> Result<Reply, SqlError> {
    let source = ReleaseSource::open(&query.release)?;
    let mut session = Session::new(source, Limits::default())?;
    session.set_mode(query.answer);
    session.run(&query.sql).await
}

fn show(query: &Query, reply: &Reply) -> Result<(), SqlError> {
    let text = if let Some(file) = &query.parquet {
        reply.write_parquet(file)?;
        format!("wrote {}\n", file.display())
    } else if query.json {
        format!("{}\n", reply.json()?)
    } else if query.csv {
        reply.csv()?
    } else {
        reply.table()?
    };
    let written = std::io::stdout().write_all(text.as_bytes());
    match written {
        // Whoever reads may have read enough.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(SqlError::Unwritable {
            file: String::from("the output"),
            reason: error.to_string(),
        }),
        _ => Ok(()),
    }
}

fn failed(error: &str) -> ExitCode {
    say(&format!("error: {error}"));
    ExitCode::from(2)
}

fn say(text: &str) {
    // Nobody may be listening.
    let _ = writeln!(std::io::stderr(), "{text}");
}
