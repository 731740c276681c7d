//! `hedgerow-sql`: SQL on a release, reached as `hedgerow query` and `hedgerow sql`.

mod commands;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Parser, Subcommand};
use commands::{Count, Serve, User, say};
use hedgerow_sql::{Limits, Mode, ReleaseSource, Reply, Session, SiteSource, Source, SqlError};

/// SQL on an anonymous table: what is certain, what is possible, and an estimate.
#[derive(Debug, Parser)]
#[command(name = "hedgerow-sql", bin_name = "hedgerow", version)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Ask a release, or the table that sites hold together, in SQL
    Query(Query),
    /// Serve a release, or the table that sites hold together, to PostgreSQL's clients, as [sql] of site.toml says
    #[command(override_usage = "hedgerow sql serve --site <FILE> [RELEASE | --run <N>]")]
    Serve(Serve),
    /// Make a user: asks for a password, and adds its verifier to site.toml
    #[command(override_usage = "hedgerow sql user <NAME> [--site <FILE>]")]
    User(User),
    /// Count records where they lie, for a program that reads the counts from standard output
    #[command(hide = true)]
    Count(Count),
}

#[derive(Debug, Args)]
struct Query {
    /// The folder of the release, unless --site is given; then the statement, whose table is named like the
    /// study
    #[arg(num_args = 1..=2, required = true, value_name = "[RELEASE] SQL")]
    words: Vec<String>,
    /// Ask the table that sites hold together, through the node of the site with this file
    #[arg(long, value_name = "FILE")]
    site: Option<PathBuf>,
    /// The run whose table is asked; the last, where none is named
    #[arg(long, value_name = "N", requires = "site")]
    run: Option<u32>,
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
        Verb::Serve(words) => runtime.block_on(words.run()),
        Verb::User(words) => words.run(),
        // What it has to say, it has said.
        Verb::Count(words) => {
            let is_done = runtime.block_on(words.run());
            runtime.shutdown_background();
            return ExitCode::from(if is_done { 0 } else { 2 });
        }
    };
    // Nobody waits for what was stopped.
    runtime.shutdown_background();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

async fn ask(query: &Query) -> Result<(), String> {
    let (source, sql) = match (query.words.as_slice(), &query.site) {
        ([release, sql], None) => (ReleaseSource::open(release), sql),
        ([sql], Some(site)) => (SiteSource::open(site, query.run), sql),
        ([_], None) => {
            return Err(String::from(
                "which table is asked?\nhint: name a release folder before the statement, or give --site with a site's file",
            ));
        }
        _ => {
            return Err(String::from(
                "a release folder and --site are two tables\nhint: leave one of them out",
            ));
        }
    };
    let reply = async { answer(query, source?, sql).await };
    let reply = reply.await.map_err(|error| error.to_string())?;
    show(query, &reply).map_err(|error| error.to_string())?;
    // JSON has the note inside.
    if let Some(note) = reply.note().filter(|_| !query.json) {
        say(&format!("note: {note}"));
    }
    Ok(())
}

async fn answer(query: &Query, source: Arc<dyn Source>, sql: &str) -> Result<Reply, SqlError> {
    let mut session = Session::new(source, Limits::default())?;
    session.set_mode(query.answer);
    session.run(sql).await
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
