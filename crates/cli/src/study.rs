//! `hedgerow study check`: whether a study says what it must, and whether tables fit it.

use std::path::PathBuf;

use hedgerow_data::files::{Others, read_table};
use hedgerow_data::study::{Algorithm, Partition, Security};
use hedgerow_data::{Attribute, Role, Study};
use hedgerow_privacy::{Model, Requirement, Sensitive};
use serde_json::json;

use crate::agreement;
use crate::error::CliError;
use crate::output::{Answer, aligned, count};
use crate::progress::Bar;

/// Set up a study.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Check a study file and the taxonomies it names; with tables, whether they fit.
    Check(CheckArguments),
    /// Make a study file to begin with.
    New(agreement::NewArguments),
    /// Sign a study with this site's key.
    Sign(agreement::SignArguments),
    /// Show a study's hash, who has signed it, and what a run of it may disclose.
    Show(agreement::ShowArguments),
}

#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 the study is sound, 1 a signature of it is void or forged, 2 it is not sound.\nExample: hedgerow study check study.toml north.csv"
)]
pub(crate) struct CheckArguments {
    /// The study file.
    study: PathBuf,
    /// Tables to read under it: every value must be in its domain.
    tables: Vec<PathBuf>,
    /// A column of the tables that names the site and is not part of the study.
    #[arg(long, value_name = "COLUMN")]
    provider_column: Option<String>,
}

pub(crate) fn run(command: &Command) -> Result<Answer, CliError> {
    match command {
        Command::Check(arguments) => check(arguments),
        Command::New(arguments) => agreement::new(arguments),
        Command::Sign(arguments) => agreement::sign(arguments),
        Command::Show(arguments) => agreement::show(arguments),
    }
}

fn check(arguments: &CheckArguments) -> Result<Answer, CliError> {
    let study = Study::open(&arguments.study)?;
    let requirement = Requirement::of_study(&study)?;
    let mut tables = Vec::new();
    for path in &arguments.tables {
        let bar = Bar::reading(path);
        let table = read_table(
            path,
            &study.schema,
            &Others::but(arguments.provider_column.as_deref()),
            &bar,
        )?;
        tables.push((path.display().to_string(), table.rows() as u64));
    }
    let records: u64 = tables.iter().map(|(_, rows)| rows).sum();
    if !tables.is_empty() && requirement.k() > records {
        return Err(CliError::Usage(format!(
            "{}: k = {} cannot be met: the tables hold {}\nhint: the largest k that can be met is {records}",
            arguments.study.display(),
            requirement.k(),
            count(records, "record", "records"),
        )));
    }
    let mut text = text(&study, &requirement, &tables);
    let mut json = json(&study, &requirement, &tables);
    let mut holds = true;
    if let Some((table, is_sound)) = agreement::signatures(&arguments.study)? {
        text.push_str("signatures\n");
        text.push_str(&table);
        json["signatures_hold"] = is_sound.into();
        holds = is_sound;
    }
    Ok(Answer::new(text, &json, holds))
}

fn text(study: &Study, requirement: &Requirement, tables: &[(String, u64)]) -> String {
    let mut text = format!(
        "study `{}` is sound: {}, {}, {}, {}\n",
        study.name,
        partition(study.partition),
        algorithm(study.algorithm),
        security(study.security),
        match study.sites.len() {
            0 => String::from("no sites named"),
            sites => count(sites as u64, "site", "sites"),
        }
    );
    let rows: Vec<Vec<String>> = study
        .schema
        .attributes()
        .iter()
        .map(|attribute| {
            vec![
                String::from(" "),
                attribute.name.clone(),
                role(attribute.role).into(),
                domain(attribute),
            ]
        })
        .collect();
    text.push_str(&aligned(&rows));
    let demands: Vec<String> = requirement.models.iter().map(Model::to_string).collect();
    text.push_str(&format!("requires {}", demands.join(", ")));
    if let Some(m) = requirement.m {
        text.push_str(&format!(
            ", against any {} colluding",
            count(m, "site", "sites")
        ));
    }
    if requirement.sensitive == Sensitive::Product {
        text.push_str(", sensitive attributes taken together");
    }
    text.push('\n');
    for (path, rows) in tables {
        text.push_str(&format!(
            "{path} fits: {}\n",
            count(*rows, "record", "records")
        ));
    }
    text
}

fn json(study: &Study, requirement: &Requirement, tables: &[(String, u64)]) -> serde_json::Value {
    let attributes: Vec<_> = study
        .schema
        .attributes()
        .iter()
        .map(|attribute| json!({ "name": attribute.name, "role": attribute.role, "values": attribute.domain.size() }))
        .collect();
    let mut value = json!({
        "study": study.name,
        "sound": true,
        "partition": partition(study.partition),
        "security": security(study.security),
        "algorithm": algorithm(study.algorithm),
        "sites": study.sites.len(),
        "attributes": attributes,
        "requires": requirement,
    });
    if !tables.is_empty() {
        let tables = tables
            .iter()
            .map(|(path, rows)| json!({ "path": path, "records": rows }));
        value["tables"] = tables.collect();
    }
    value
}

fn partition(partition: Partition) -> &'static str {
    match partition {
        Partition::Horizontal => "horizontal",
        Partition::Vertical => "vertical",
    }
}

pub(crate) fn security(security: Security) -> &'static str {
    match security {
        Security::Published => "published",
        Security::Hardened => "hardened",
    }
}

pub(crate) fn algorithm(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Mondrian => "mondrian",
        Algorithm::Clustering => "clustering",
        Algorithm::ProviderAware => "provider-aware",
        Algorithm::D2pt => "d2pt",
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Quasi => "quasi",
        Role::Sensitive => "sensitive",
        Role::Identifier => "identifier",
        Role::Other => "other",
    }
}

fn domain(attribute: &Attribute) -> String {
    let mut text = attribute.domain.describe();
    if let Some(tree) = attribute.domain.taxonomy()
        && tree.height() > 1
    {
        text.push_str(&format!(", taxonomy of height {}", tree.height()));
    }
    text
}
