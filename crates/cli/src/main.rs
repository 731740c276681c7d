//! The `hedgerow` command: what a person types, and what they read.
//!
//! Results go to stdout (one JSON object with `--json`), talk and progress bars to stderr. Exit
//! codes: 0 done and what was asked holds, 1 it does not hold, 2 bad input.

mod agreement;
mod anonymize;
mod audit;
mod chart;
mod compare;
mod completions;
mod console;
mod decide;
mod demo;
mod draft;
mod error;
mod experiment;
mod gate;
mod generate;
mod keygen;
mod ledger;
mod log;
mod man;
mod node;
mod node_log;
mod output;
mod progress;
mod report;
mod run;
mod runtime;
mod simulate;
mod site;
mod sql;
mod status;
mod stop;
mod study;
mod table;
mod taxonomy;
mod time;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use error::CliError;
use output::Answer;

/// Institutions that may not show each other their records publish one anonymous table together.
#[derive(Parser)]
#[command(
    name = "hedgerow",
    version,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done and what was asked holds, 1 it does not hold, 2 bad input."
)]
struct Arguments {
    /// Print one JSON object instead of text.
    #[arg(long, global = true)]
    json: bool,
    /// Show no progress bars, and say nothing but warnings and errors beside the result.
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// See it work: four invented hospitals, real connections, one release.
    Demo(demo::Arguments),
    /// Anonymize one table: the protocol with one party.
    Anonymize(anonymize::Arguments),
    /// Compare which algorithm and which recoding serve a table best.
    Compare(compare::Arguments),
    /// Run all sites in one process and count rounds, messages and bytes.
    Simulate(simulate::Arguments),
    /// Check whether a table that somebody calls anonymous is.
    Verify(verify::Arguments),
    /// Write a report of a release for the privacy officer: one HTML file.
    Report(report::Arguments),
    /// Attack a release before it goes out.
    Gate(gate::Arguments),
    /// Ask a release in SQL: what is certain, what is possible, an estimate.
    Query(sql::Arguments),
    /// Serve SQL to the tools that analysts have.
    Sql(sql::Arguments),
    /// Make synthetic tables with their taxonomies and a study.
    Generate(generate::Arguments),
    /// Make, check and print taxonomies.
    Taxonomy(taxonomy::Arguments),
    /// Measure the figures of the papers again and say whether their claims hold.
    Experiment(experiment::Arguments),
    /// Set up a study.
    #[command(subcommand)]
    Study(study::Command),
    /// Make a site's key.
    Keygen(keygen::Arguments),
    /// Set up a site: draft its file, and test what it accepts before anybody signs.
    #[command(subcommand)]
    Site(site::Command),
    /// Start a run of a study, or go on with one.
    Run(run::Arguments),
    /// Wait for runs of the study and take part in them, until stopped.
    Node(node::Arguments),
    /// Serve pages for the steward and the officer, and say who may use them.
    Console(console::Arguments),
    /// Show the runs of a site and how far they are.
    Status(status::Arguments),
    /// Add up what each other site has learned in all runs of a site.
    Ledger(ledger::Arguments),
    /// Do a site's part in a run again and say whether it was as it should be.
    Audit(audit::Arguments),
    /// Print the completions of a shell.
    Completions(completions::Arguments),
    /// Write the manual pages.
    Man(man::Arguments),
}

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        node_log::fail(&format!(
            "this is a mistake in hedgerow, not in your input: {panic}\nhint: please report it with the command you typed"
        ));
    }));
    let arguments = Arguments::parse();
    if arguments.quiet {
        output::be_quiet();
    }
    let handed = match &arguments.command {
        Command::Query(words) => Some((Some("query"), words)),
        Command::Sql(words) => Some((None, words)),
        _ => None,
    };
    if let Some((verb, words)) = handed {
        return match sql::hand_over(verb, arguments.json, words) {
            Ok(code) => code,
            Err(error) => {
                output::talk(&format!("error: {error}"));
                ExitCode::from(2)
            }
        };
    }
    // The hook has reported a panic already; the panic ends the command with an exit code.
    let result = std::panic::catch_unwind(|| run(&arguments));
    match result {
        Ok(Ok(answer)) => {
            let text = if arguments.json {
                &answer.json
            } else {
                &answer.text
            };
            if let Err(error) = output::print(text) {
                output::talk(&format!("error: the result cannot be printed: {error}"));
                return ExitCode::from(2);
            }
            if answer.holds {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(1)
            }
        }
        Ok(Err(error)) => {
            node_log::fail(&error.to_string());
            ExitCode::from(2)
        }
        Err(_) => ExitCode::from(101),
    }
}

fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    match &arguments.command {
        Command::Demo(arguments) => demo::run(arguments),
        Command::Anonymize(arguments) => anonymize::run(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Simulate(arguments) => simulate::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
        Command::Report(arguments) => report::run(arguments),
        Command::Gate(arguments) => gate::run(arguments),
        // Handed over before.
        Command::Query(_) | Command::Sql(_) => Err(CliError::NoSql),
        Command::Generate(arguments) => generate::run(arguments),
        Command::Taxonomy(arguments) => taxonomy::run(arguments),
        Command::Experiment(arguments) => experiment::run(arguments),
        Command::Study(command) => study::run(command),
        Command::Keygen(arguments) => keygen::run(arguments),
        Command::Site(command) => site::run(command),
        Command::Run(words) => run::run(words, arguments.json),
        Command::Node(words) => node::run(words, arguments.json),
        Command::Console(arguments) => console::run(arguments),
        Command::Status(arguments) => status::run(arguments),
        Command::Ledger(arguments) => ledger::run(arguments),
        Command::Audit(arguments) => audit::run(arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
    }
}
