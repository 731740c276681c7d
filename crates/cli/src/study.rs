//! `hedgerow study check`: whether a study says what it must, and whether tables fit it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::files::{FileError, Others, read_table};
use hedgerow_data::study::{Partition, Site};
use hedgerow_data::{Attribute, Role, Schema, Study};
use hedgerow_privacy::{Model, Requirement, Sensitive, SingledOut, Suspect};
use hedgerow_protocols::RunSettings;
use hedgerow_smc::Security;
use serde_json::json;

use crate::agreement;
use crate::error::CliError;
use crate::joint::{refuse_singled_out, see_people};
use crate::output::{Answer, aligned, count, talk};
use crate::progress::Bar;
use crate::verify::text::other as singled_out;

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
    /// The site of a vertical study whose tables these are: they have its columns only.
    #[arg(long, value_name = "NAME")]
    site: Option<String>,
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
    let run = RunSettings::of_study(&study)?;
    let requirement = Requirement::of_study(&study)?;
    let schema = match &arguments.site {
        Some(site) => columns_of(&study, site, &arguments.study)?,
        None => Arc::clone(&study.schema),
    };
    // Everything that is wrong is said at once.
    let mut errors = Vec::new();
    let mut tables = Vec::new();
    let mut warnings = Vec::new();
    for path in &arguments.tables {
        match look(&study, &schema, path, arguments, &mut errors) {
            Ok((fitting, suspects)) => {
                tables.push(fitting);
                warnings.extend(suspects);
            }
            Err(error) => errors.push(error),
        }
    }
    if tables.is_empty() {
        let named = schema.attributes().iter();
        let named = named.filter(|attribute| attribute.role != Role::Identifier);
        warnings.extend(named.filter_map(|attribute| Suspect::by_name(&attribute.name)));
    }
    let mut said: Vec<String> = Vec::new();
    for warning in warnings.iter().map(Suspect::to_string) {
        if !said.contains(&warning) {
            talk(&format!("warning: {warning}"));
            said.push(warning);
        }
    }
    let rows = tables.iter().map(|table| table.records);
    let records = match study.partition {
        Partition::Horizontal => rows.sum(),
        // The same people in each.
        Partition::Vertical => rows.min().unwrap_or(0),
    };
    // Of tables that could not be read nobody knows how much they hold.
    if !tables.is_empty() && tables.len() == arguments.tables.len() && requirement.k() > records {
        errors.push(CliError::Usage(format!(
            "{}: k = {} cannot be met: the tables hold {}\nhint: the largest k that can be met is {records}",
            arguments.study.display(),
            requirement.k(),
            count(records, "record", "records"),
        )));
    }
    CliError::all(errors)?;
    let mut text = text(&study, run.security, &requirement, &tables);
    let mut json = json(&study, run.security, &requirement, &tables);
    if !said.is_empty() {
        json["warnings"] = said.into();
    }
    let mut holds = true;
    if let Some((table, is_sound)) = agreement::signatures(&arguments.study)? {
        text.push_str("signatures\n");
        text.push_str(&table);
        json["signatures_hold"] = is_sound.into();
        holds = is_sound;
    }
    Ok(Answer::new(text, &json, holds))
}

/// A table that can be read under a study.
struct Fitting {
    path: String,
    records: u64,
    other: SingledOut,
}

/// Reads a table under a study. What would stop a run is an error, whatever else is wrong.
fn look(
    study: &Study,
    schema: &Arc<Schema>,
    path: &Path,
    arguments: &CheckArguments,
    errors: &mut Vec<CliError>,
) -> Result<(Fitting, Vec<Suspect>), CliError> {
    let provider = arguments.provider_column.as_deref();
    let table = read_table(path, schema, &Others::but(provider), &Bar::reading(path));
    let table = table.map_err(|error| match error {
        FileError::MissingColumn { .. } if study.split.is_some() && arguments.site.is_none() => {
            CliError::Usage(format!(
                "{error}\nhint: --site NAME checks a table that has one site's columns"
            ))
        }
        other => other.into(),
    })?;
    let path = path.display().to_string();
    if study.partition == Partition::Vertical {
        // People who cannot be told apart.
        errors.extend(see_people(study, &table, &path).err());
    }
    errors.extend(refuse_singled_out(study, &table, &path).err());
    let fitting = Fitting {
        records: table.rows() as u64,
        other: SingledOut::of_table(&table, study.is_fragmented()),
        path,
    };
    Ok((fitting, Suspect::of_table(&table)))
}

/// The columns of a site's own table.
fn columns_of(study: &Study, site: &str, path: &Path) -> Result<Arc<Schema>, CliError> {
    let names: Vec<&str> = study.sites.iter().map(|site| site.name.as_str()).collect();
    let Some(place) = names.iter().position(|name| *name == site) else {
        let hint = match hedgerow_data::nearest(site, names.iter().copied(), 1).first() {
            Some(best) => format!("did you mean `{best}`?"),
            None => format!("it has {}", hedgerow_data::quoted_list(&names)),
        };
        return Err(CliError::Usage(format!(
            "{}: the study has no site `{site}`\nhint: {hint}",
            path.display()
        )));
    };
    Ok(study.schema_at(place))
}

fn text(
    study: &Study,
    security: Security,
    requirement: &Requirement,
    tables: &[Fitting],
) -> String {
    let mut text = format!(
        "study `{}` is sound: {}, {}, {}, {}\n",
        study.name,
        study.partition.name(),
        study.algorithm.name(),
        security.name(),
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
                attribute.role.name().into(),
                domain(attribute),
            ]
        })
        .collect();
    text.push_str(&aligned(&rows));
    text.push_str(&holders(study));
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
    for table in tables {
        let records = count(table.records, "record", "records");
        text.push_str(&format!("{} fits: {records}\n", table.path));
        text.push_str(&aligned(&singled_out(&table.other)));
    }
    text
}

/// Which site holds which columns of the same people, a line for each.
pub(crate) fn holders(study: &Study) -> String {
    let Some(split) = &study.split else {
        return String::new();
    };
    let sites = study.sites.iter().enumerate();
    let line = |(place, site): (usize, &Site)| {
        let columns = split.names(&study.schema, place).join(", ");
        format!("`{}` holds {columns}\n", site.name)
    };
    sites.map(line).collect()
}

fn json(
    study: &Study,
    security: Security,
    requirement: &Requirement,
    tables: &[Fitting],
) -> serde_json::Value {
    let attributes: Vec<_> = study
        .schema
        .attributes()
        .iter()
        .map(|attribute| {
            let mut value = json!({ "name": attribute.name, "role": attribute.role, "values": attribute.domain.size() });
            if attribute.publish_unique {
                value["publish_unique"] = true.into();
            }
            value
        })
        .collect();
    let mut value = json!({
        "study": study.name,
        "sound": true,
        "partition": study.partition.name(),
        "security": security.name(),
        "algorithm": study.algorithm.name(),
        "sites": study.sites.len(),
        "attributes": attributes,
        "requires": requirement,
    });
    if let Some(split) = &study.split {
        let sites = study.sites.iter().enumerate();
        let columns = sites.map(|(place, site)| {
            json!({ "site": site.name, "columns": split.names(&study.schema, place) })
        });
        value["columns"] = columns.collect();
    }
    if !tables.is_empty() {
        let tables = tables.iter().map(|table| {
            let mut value = json!({ "path": table.path, "records": table.records });
            if !table.other.is_empty() {
                value["other"] = json!(table.other);
            }
            value
        });
        value["tables"] = tables.collect();
    }
    value
}

fn domain(attribute: &Attribute) -> String {
    let mut text = attribute.domain.describe();
    if let Some(tree) = attribute.domain.taxonomy()
        && tree.height() > 1
    {
        text.push_str(&format!(", taxonomy of height {}", tree.height()));
    }
    if attribute.publish_unique {
        text.push_str(", published though it may single records out");
    }
    text
}
