//! `hedgerow verify`: an independent check of a release, every model, with the worst class.

use std::path::{Path, PathBuf};

use hedgerow_data::document::Document;
use hedgerow_data::files::{read_table, read_text};
use hedgerow_data::{Cell, Codes, Release, Role, Study, Table, TextTable};
use hedgerow_privacy::classes::Classes;
use hedgerow_privacy::query_error::{Queries, query_error};
use hedgerow_privacy::risk::{self, Risk};
use hedgerow_privacy::utility::{Measured, Utility, utility};
use hedgerow_privacy::verify::{Evidence, Verdict, verify};
use hedgerow_privacy::{Requirement, Scope, Sensitive};
use serde::Serialize;

use crate::error::CliError;
use crate::output::Answer;
use crate::progress::Bar;

mod text;

/// Check whether a table that somebody calls anonymous is: every model, pass or fail, with the
/// worst class.
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 the requirement holds (or none was given), 1 it does not, 2 bad input.
Examples:
  hedgerow verify release.csv --study study.toml
  hedgerow verify release.csv --study study.toml --against 'k = 20, t = 0.1'
  hedgerow verify table.csv --quasi age,zip --sensitive disease --against 'k = 5, l = 2'"
)]
pub(crate) struct Arguments {
    /// The release: a CSV or Parquet file, or a release folder.
    release: PathBuf,
    /// The study it is a release of: roles, domains, taxonomies, requirement.
    #[arg(long)]
    study: Option<PathBuf>,
    /// Another requirement than the study's: a TOML file with [require], or one line such as
    /// 'k = 10, l = 3'.
    #[arg(long, value_name = "REQUIREMENT")]
    against: Option<String>,
    /// Quasi-identifiers, for a table without a study.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "COLUMNS",
        conflicts_with = "study"
    )]
    quasi: Vec<String>,
    /// Sensitive attributes, for a table without a study.
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "COLUMNS",
        conflicts_with = "study"
    )]
    sensitive: Vec<String>,
    /// The column that names each record's site: needed for site diversity and m.
    #[arg(long, value_name = "COLUMN")]
    provider_column: Option<String>,
    /// The original table, for losses that need it (EM, NCP over present values) and uniqueness
    /// before.
    #[arg(long, value_name = "TABLE", requires = "study")]
    original: Option<PathBuf>,
    /// Random queries to ask of the original and the release, for the query error.
    #[arg(long, value_name = "COUNT", default_value_t = 0, requires = "original")]
    queries: usize,
    /// A table of the population that the release is a sample of, for journalist risk.
    #[arg(long, value_name = "TABLE", requires = "study")]
    population: Option<PathBuf>,
}

/// Everything that is said, as JSON.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    utility: Option<Utility>,
    risk: Risk,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let path = release_file(&arguments.release);
    let table = read_text(&path, &Bar::reading(&path))?;
    let report = match &arguments.study {
        Some(study) => with_study(arguments, &Study::open(study)?, &table)?,
        None => without_study(arguments, &table)?,
    };
    let holds = report.verdict.holds.unwrap_or(true);
    Ok(Answer::new(text::text(&path, &report), &report, holds))
}

/// A release folder holds `release.parquet` and `release.csv`.
fn release_file(path: &Path) -> PathBuf {
    if path.is_dir() {
        let parquet = path.join("release.parquet");
        return if parquet.exists() {
            parquet
        } else {
            path.join("release.csv")
        };
    }
    path.to_owned()
}

fn with_study(arguments: &Arguments, study: &Study, table: &TextTable) -> Result<Report, CliError> {
    let provider = arguments.provider_column.as_deref();
    let ignore: Vec<&str> = provider.into_iter().collect();
    let release = Release::from_text(table, &study.schema, &ignore)?;
    let evidence = Evidence::of_release(table, &release, provider)?;
    let scope = Scope {
        sites: evidence.scope().sites,
        ..Scope::of_study(study)
    };
    let requirement = match &arguments.against {
        Some(against) => Some(stated(against, &scope)?),
        None if study.document().root().has("require") => {
            Some(Requirement::of_document(study.document(), &scope)?)
        }
        None => None,
    };
    let classes = evidence.classes();
    let evidence = in_view(evidence, requirement.as_ref());
    let verdict = verify(&evidence, requirement.as_ref());

    let original = arguments
        .original
        .as_deref()
        .map(|path| original(path, study, provider))
        .transpose()?;
    let mut risk = risk::risk(&classes);
    let mut utility = losses(
        study,
        &release,
        &classes,
        original.as_ref(),
        requirement.as_ref(),
    );
    let quasi = study.schema.with_role(Role::Quasi);
    if let Some(original) = &original {
        let columns: Vec<Vec<u32>> = quasi
            .iter()
            .filter_map(|attribute| original.codes(*attribute))
            .map(|codes| codes.iter().collect())
            .collect();
        let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        risk.uniqueness.before = Some(risk::uniqueness(&Classes::group(&slices, original.rows())));
        if arguments.queries > 0 {
            let queries = Queries {
                count: arguments.queries,
                attributes: (2, 2),
                width: 0.3,
                seed: 1,
            };
            utility.query_error = query_error(original, &release, &classes, &quasi, &queries);
        }
    }
    if let Some(path) = &arguments.population {
        let columns = population(path, study, &quasi)?;
        let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        let closures: Vec<Vec<&Cell>> = (0..classes.count())
            .map(|class| {
                let row = classes.rows(class)[0] as usize;
                let cells = quasi
                    .iter()
                    .filter_map(|attribute| release.generalized(*attribute));
                cells
                    .map(|column| &column.cells[column.codes[row] as usize])
                    .collect()
            })
            .collect();
        let sizes: Vec<u64> = classes.sizes().collect();
        let (journalist, marketer) = risk::against_population(&closures, &sizes, &slices);
        risk.journalist = Some(journalist);
        risk.marketer = marketer;
    }
    Ok(Report {
        verdict,
        utility: Some(utility),
        risk,
    })
}

fn without_study(arguments: &Arguments, table: &TextTable) -> Result<Report, CliError> {
    if arguments.quasi.is_empty() {
        return Err(CliError::Usage(String::from(
            "nothing says which columns are quasi-identifiers\nhint: give --study study.toml, or --quasi age,zip --sensitive disease",
        )));
    }
    let provider = arguments.provider_column.as_deref();
    let evidence = Evidence::of_table(table, &arguments.quasi, &arguments.sensitive, provider)?;
    let scope = evidence.scope();
    let requirement = arguments
        .against
        .as_ref()
        .map(|against| stated(against, &scope))
        .transpose()?;
    let classes = evidence.classes();
    let evidence = in_view(evidence, requirement.as_ref());
    let verdict = verify(&evidence, requirement.as_ref());
    Ok(Report {
        verdict,
        utility: None,
        risk: risk::risk(&classes),
    })
}

/// Sensitive attributes each on its own, or together, as the requirement says.
fn in_view<'a>(evidence: Evidence<'a>, requirement: Option<&Requirement>) -> Evidence<'a> {
    match requirement.map(|requirement| requirement.sensitive) {
        Some(Sensitive::Product) => evidence.with_product(),
        _ => evidence,
    }
}

/// A requirement given on the command line: a file, or the line itself.
fn stated(against: &str, scope: &Scope) -> Result<Requirement, CliError> {
    let path = Path::new(against);
    if path
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        return Ok(Requirement::of_document(&Document::open(path)?, scope)?);
    }
    Ok(Requirement::of_line(against, scope)?)
}

fn original(path: &Path, study: &Study, provider: Option<&str>) -> Result<Table, CliError> {
    Ok(read_table(
        path,
        &study.schema,
        provider,
        &Bar::reading(path),
    )?)
}

fn losses(
    study: &Study,
    release: &Release,
    classes: &Classes,
    original: Option<&Table>,
    requirement: Option<&Requirement>,
) -> Utility {
    let quasi = study.schema.with_role(Role::Quasi);
    let counts: Vec<Option<Vec<u64>>> = quasi
        .iter()
        .map(|attribute| {
            let size = study.schema.attributes()[*attribute].domain.size();
            Some(histogram(original?.codes(*attribute)?, size))
        })
        .collect();
    let measured: Vec<Measured<'_>> = quasi
        .iter()
        .zip(&counts)
        .filter_map(|(attribute, counts)| {
            let declared = &study.schema.attributes()[*attribute];
            Some(Measured {
                name: &declared.name,
                domain: &declared.domain,
                column: release.generalized(*attribute)?,
                original: counts.as_deref(),
            })
        })
        .collect();
    utility(&measured, classes, requirement.map_or(1, Requirement::k))
}

fn histogram(codes: &Codes, size: u32) -> Vec<u64> {
    let mut counts = vec![0; size as usize];
    for code in codes.iter() {
        counts[code as usize] += 1;
    }
    counts
}

/// The population's quasi-identifiers as codes. It need not have the study's other columns.
fn population(path: &Path, study: &Study, quasi: &[usize]) -> Result<Vec<Vec<u32>>, CliError> {
    let attributes = quasi
        .iter()
        .map(|index| study.schema.attributes()[*index].clone())
        .collect();
    let people = std::sync::Arc::new(hedgerow_data::Schema::new(attributes));
    let text = read_text(path, &Bar::reading(path))?;
    let others: Vec<&str> = text
        .names
        .iter()
        .map(String::as_str)
        .filter(|name| people.position(name).is_none())
        .collect();
    // A table of people is a release in which nothing is generalized.
    let table = Release::from_text(&text, &people, &others)?;
    let columns = (0..quasi.len()).filter_map(|attribute| {
        let column = table.generalized(attribute)?;
        Some(
            column
                .codes
                .iter()
                .map(|code| column.cells[*code as usize].bounds().0)
                .collect(),
        )
    });
    Ok(columns.collect())
}
