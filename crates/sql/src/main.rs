//! `hedgerow-sql`: SQL on a release, reached as `hedgerow query` and `hedgerow sql`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use hedgerow_sql::{Limits, Mode, ReleaseSource, Reply, Session, SqlError};

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
    let Command {
        verb: Verb::Query(query),
    } = Command::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.to_string()),
    };
    let answered = runtime.block_on(answer(&query));
    // Nobody waits for what was stopped.
    runtime.shutdown_background();
    let shown = answered.and_then(|reply| show(&query, &reply).map(|()| reply));
    match shown {
        Ok(reply) => {
            // JSON has the note inside.
            if let Some(note) = reply.note().filter(|_| !query.json) {
                say(&format!("note: {note}"));
            }
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error.to_string()),
    }
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
