//! `datapackage.json`: the CSV files of a release as a Frictionless Data Package (version 1, profile
//! `tabular-data-package`), so that programs that never heard of releases read them with the right
//! types. Generalized columns are text; columns that are published as they are have their own type.
//!
//! The signed description stands in the manifest; this description is for programs that read tables.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::marks::{Marks, marks};
use super::open::unwritable;
use super::{CsvText, FileError};
use crate::attribute::{Attribute, Role};
use crate::domain::Domain;
use crate::release::{Release, ReleaseColumn, cell_of};
use crate::study::{
    CSV_FILE, GROUP, PACKAGE_FILE, QUASI_FILE, RECORDS, Study, fragment_files, safe_name,
    taxonomy_files,
};

/// A column that is published verbatim lists its values in the package if it has at most so many.
const MOST_LISTED: u32 = 64;

/// How the tables of a fragmented release go together, for readers of the package and of the report.
pub const HOW_FRAGMENTS_JOIN: &str = "The tables are of the same people, and nothing but the column `group` goes from one to another. \
    Records that share a group number are of the same group of people; nothing says which of them are of the same person. \
    Join group totals (how often each value stands in a group), never rows: a join of rows by `group` would pair every record of a group with every other.";

/// The text of the package of a release whose tables are written.
pub(super) fn describe(
    folder: &Path,
    release: &Release,
    study: &Study,
) -> Result<String, FileError> {
    let mut resources = Vec::new();
    if study.is_fragmented() {
        let quasi = study.schema.with_role(Role::Quasi);
        resources.push(resource(folder, (release, study), QUASI_FILE, &quasi)?);
        for (position, file) in fragment_files(&study.schema) {
            if release.columns()[position] != ReleaseColumn::Absent {
                resources.push(resource(folder, (release, study), &file, &[position])?);
            }
        }
    } else {
        let all: Vec<usize> = (0..release.columns().len()).collect();
        resources.push(resource(folder, (release, study), CSV_FILE, &all)?);
    }
    let package = Package {
        profile: "tabular-data-package",
        name: safe_name(&study.name).to_lowercase(),
        title: &study.name,
        description: description(study),
        resources,
    };
    let path = folder.join(PACKAGE_FILE);
    let text = serde_json::to_string_pretty(&package).map_err(|error| unwritable(&path, &error))?;
    Ok(text + "\n")
}

fn description(study: &Study) -> String {
    let mut text = String::from(
        "An anonymous table: identifiers are gone, quasi-identifiers are generalized, other columns are as they were. \
         manifest.json says what the table satisfies; taxonomies/ has the trees that generalized labels come from.",
    );
    if study.is_fragmented() {
        text.push(' ');
        text.push_str(HOW_FRAGMENTS_JOIN);
    }
    if study.is_counted() {
        text.push_str(
            " Records that are written alike are one row; its column `records` says how many there are.",
        );
    }
    if study.csv == CsvText::Guarded {
        text.push_str(
            " Text that a spreadsheet would run as a formula has an apostrophe before it that is not part of the value.",
        );
    }
    text
}

#[derive(Serialize)]
struct Package<'a> {
    profile: &'static str,
    name: String,
    title: &'a str,
    description: String,
    resources: Vec<Resource<'a>>,
}

#[derive(Serialize)]
struct Resource<'a> {
    name: String,
    path: String,
    profile: &'static str,
    format: &'static str,
    mediatype: &'static str,
    encoding: &'static str,
    bytes: u64,
    hash: String,
    dialect: Dialect,
    schema: TableSchema<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Dialect {
    delimiter: &'static str,
    line_terminator: &'static str,
    quote_char: &'static str,
    double_quote: bool,
    header: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TableSchema<'a> {
    fields: Vec<Field<'a>>,
    missing_values: Vec<String>,
}

#[derive(Serialize)]
struct Field<'a> {
    name: String,
    r#type: &'static str,
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    constraints: Option<Constraints<'a>>,
    /// The marks of the column, as in Parquet, by key.
    #[serde(flatten)]
    marks: std::collections::BTreeMap<String, String>,
}

#[derive(Serialize, Default)]
struct Constraints<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    minimum: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maximum: Option<Limit>,
    #[serde(rename = "enum", skip_serializing_if = "Vec::is_empty")]
    values: Vec<std::borrow::Cow<'a, str>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Limit {
    Number(i64),
    /// A decimal or a day.
    Text(String),
}

/// One table: the columns at these positions, after the group where the release has groups.
fn resource<'a>(
    folder: &Path,
    (release, study): (&Release, &'a Study),
    file: &str,
    positions: &[usize],
) -> Result<Resource<'a>, FileError> {
    let (bytes, hash) = fingerprint(&folder.join(file))?;
    let attributes = study.schema.attributes();
    let trees = taxonomy_files(&study.schema);
    let mut fields = Vec::new();
    let mut missing_values = vec![String::new()];
    if release.groups().is_some() {
        fields.push(Field {
            name: GROUP.to_owned(),
            r#type: "integer",
            description: String::from(
                "The number of the group. Records of other tables with the same number are of the same group of people, and none of them is of one person more than of another.",
            ),
            constraints: Some(Constraints {
                minimum: Some(Limit::Number(1)),
                ..Constraints::default()
            }),
            marks: Marks::new().into_iter().collect(),
        });
    }
    for position in positions {
        let attribute = &attributes[*position];
        let (r#type, description, constraints) = match &release.columns()[*position] {
            ReleaseColumn::Absent => continue,
            ReleaseColumn::Generalized(_) => {
                ("string", generalized(trees[*position].as_deref()), None)
            }
            ReleaseColumn::Verbatim(_) => {
                let marker = marker(&attribute.domain);
                let is_typed = match &marker {
                    Some(marker) => !stands_elsewhere(marker, release, positions, *position),
                    None => true,
                };
                if let Some(marker) = marker.filter(|_| is_typed) {
                    let marker = study.csv.written(&marker).into_owned();
                    if !missing_values.contains(&marker) {
                        missing_values.push(marker);
                    }
                }
                let description = String::from("Published as it was.");
                let (name, constraints) = verbatim(&attribute.domain, study.csv, is_typed);
                (name, description, constraints)
            }
        };
        fields.push(Field {
            name: study.csv.written(&attribute.name).into_owned(),
            r#type,
            description,
            constraints,
            marks: marks(attribute, study.recode, None).into_iter().collect(),
        });
    }
    if study.is_counted() {
        fields.push(Field {
            name: RECORDS.to_owned(),
            r#type: "integer",
            description: String::from("How many records the row stands for."),
            constraints: Some(Constraints {
                minimum: Some(Limit::Number(1)),
                ..Constraints::default()
            }),
            marks: Marks::new().into_iter().collect(),
        });
    }
    Ok(Resource {
        name: safe_name(file.strip_suffix(".csv").unwrap_or(file)).to_lowercase(),
        path: file.to_owned(),
        profile: "tabular-data-resource",
        format: "csv",
        mediatype: "text/csv",
        encoding: "utf-8",
        bytes,
        hash,
        dialect: Dialect {
            delimiter: ",",
            line_terminator: "\n",
            quote_char: "\"",
            double_quote: true,
            header: true,
        },
        schema: TableSchema {
            fields,
            missing_values,
        },
    })
}

fn generalized(tree: Option<&str>) -> String {
    let label = match tree {
        Some(file) => format!("a label of {file}, "),
        None => String::new(),
    };
    format!(
        "Generalized: a value, {label}a range of values in [], a set of values in {{}}, or * for every value."
    )
}

/// The type of a column that is published verbatim, and the constraints on its values.
fn verbatim<'a>(
    domain: &'a Domain,
    csv: CsvText,
    is_typed: bool,
) -> (&'static str, Option<Constraints<'a>>) {
    let last = domain.size() - domain.size().min(1) - u32::from(marker(domain).is_some());
    let between = |minimum, maximum| Constraints {
        minimum: Some(minimum),
        maximum: Some(maximum),
        values: Vec::new(),
    };
    match domain {
        Domain::Integer(numbers) if is_typed => {
            let number = |code| Limit::Number(numbers.value(code));
            ("integer", Some(between(number(0), number(last))))
        }
        Domain::Decimal(decimals) if is_typed => {
            let number = |code| Limit::Text(decimals.value(code).to_string());
            ("number", Some(between(number(0), number(last))))
        }
        Domain::Date(days) if is_typed => {
            let day = |code| Limit::Text(days.day(code).to_string());
            ("date", Some(between(day(0), day(last))))
        }
        Domain::Category(categories) if domain.size() <= MOST_LISTED => {
            let values = categories.taxonomy().values();
            // Empty text is a missing value to readers of packages.
            let values = values.filter(|value| !value.is_empty());
            let constraints = Constraints {
                values: values.map(|value| csv.written(value)).collect(),
                ..Constraints::default()
            };
            ("string", Some(constraints))
        }
        _ => ("string", None),
    }
}

/// The text that stands for a missing number or day.
fn marker(domain: &Domain) -> Option<String> {
    let code = match domain {
        Domain::Integer(_) | Domain::Decimal(_) | Domain::Date(_) => domain.missing_code()?,
        Domain::Category(_) | Domain::Text => return None,
    };
    Some(domain.label(code).into_owned())
}

/// Whether text that means a missing value in one column may be a value of another column of the same
/// table: a package names the missing text for a table as a whole.
fn stands_elsewhere(text: &str, release: &Release, positions: &[usize], own: usize) -> bool {
    let is_value = |position: usize| {
        let Attribute { domain, .. } = &release.schema().attributes()[position];
        match &release.columns()[position] {
            ReleaseColumn::Absent => false,
            _ if *domain == Domain::Text => !text.is_empty(),
            ReleaseColumn::Generalized(_) => cell_of(text, domain).is_ok_and(|cell| {
                domain
                    .missing_code()
                    .is_none_or(|code| !(cell.count() == 1 && cell.contains(code)))
            }),
            ReleaseColumn::Verbatim(_) => domain
                .encode(text.as_bytes())
                .is_some_and(|code| Some(code) != domain.missing_code()),
        }
    };
    let is_group = release.groups().is_some() && text.parse::<u32>().is_ok();
    let mut others = positions.iter().filter(|position| **position != own);
    is_group || others.any(|position| is_value(*position))
}

/// The length of a file, and its hash in the form that packages use.
fn fingerprint(path: &Path) -> Result<(u64, String), FileError> {
    let unreadable = |error: std::io::Error| FileError::Unreadable {
        file: path.display().to_string(),
        reason: error.to_string(),
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        let count = file.read(&mut buffer).map_err(unreadable)?;
        if count == 0 {
            break;
        }
        hasher.update(&buffer[..count]);
        bytes += count as u64;
    }
    let digits = hasher.finalize();
    let digits = digits.iter().map(|byte| format!("{byte:02x}"));
    Ok((bytes, format!("sha256:{}", digits.collect::<String>())))
}
