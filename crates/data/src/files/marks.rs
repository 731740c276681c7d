//! Marks: what the columns of a Parquet release say of themselves in the metadata of their Arrow
//! fields. Every column has its role, its type and how it is written; a column of bounds also says
//! which bound of which column.
//!
//! Metadata is read by programs and seen by nobody, so a reader holds every word of it against the
//! study: a mark that differs from the study, or an unknown key beside the marks, is reported.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::ARROW_SCHEMA_META_KEY;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::FileError;
use super::bounds::{self, Bound};
use crate::attribute::{Attribute, Recode, Role, Schema};
use crate::domain::Domain;

/// The beginning of all keys of marks.
const PREFIX: &str = "hedgerow:";

/// The marks of one column, as Arrow has them.
pub(super) type Marks = HashMap<String, String>;

/// The marks of an attribute's column, or of one of its columns of bounds.
pub(super) fn marks(attribute: &Attribute, recode: Recode, bound: Option<Bound>) -> Marks {
    let written = match attribute.role {
        Role::Quasi => attribute.recode_or(recode).name(),
        _ => "verbatim",
    };
    let mut marks = vec![
        ("role", attribute.role.name()),
        ("type", type_name(&attribute.domain)),
        ("recode", written),
    ];
    if let Some(bound) = bound {
        marks.extend([("bound", bound.name()), ("of", &attribute.name)]);
    }
    let marks = marks.into_iter();
    marks
        .map(|(key, value)| (format!("{PREFIX}{key}"), value.to_owned()))
        .collect()
}

/// What kind of values a domain has, in a word.
fn type_name(domain: &Domain) -> &'static str {
    match domain {
        Domain::Integer(_) => "integer",
        Domain::Decimal(_) => "decimal",
        Domain::Date(_) => "date",
        Domain::Category(_) => "category",
        Domain::Text => "text",
    }
}

/// The metadata at the head of a Parquet file.
pub(super) struct Head {
    schema: SchemaRef,
    /// Keys of the file's own metadata, except the key that every Arrow file has.
    others: Vec<String>,
}

impl Head {
    pub(super) fn read(path: &Path) -> Result<Self, FileError> {
        let unreadable = |reason: String| FileError::Unreadable {
            file: path.display().to_string(),
            reason,
        };
        let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
        let builder = ParquetRecordBatchReaderBuilder::try_new(file)
            .map_err(|error| unreadable(error.to_string()))?;
        let words = builder.metadata().file_metadata().key_value_metadata();
        let words = words.into_iter().flatten().map(|word| word.key.clone());
        Ok(Self {
            schema: builder.schema().clone(),
            others: words.filter(|key| key != ARROW_SCHEMA_META_KEY).collect(),
        })
    }

    /// The types of the columns.
    pub(super) fn types(&self) -> Vec<DataType> {
        let fields = self.schema.fields().iter();
        fields.map(|field| field.data_type().clone()).collect()
    }

    /// The metadata that is wrong, in a file where any column has marks. A file without marks was not
    /// written as a release, so its metadata is not checked.
    pub(super) fn strange(&self, schema: &Schema, recode: Recode) -> Vec<String> {
        let fields = self.schema.fields();
        let has_marks = |marks: &Marks| marks.keys().any(|key| key.starts_with(PREFIX));
        if !fields.iter().any(|field| has_marks(field.metadata())) {
            return Vec::new();
        }
        let expected = expected(schema, recode);
        let mut strange = Vec::new();
        for field in fields {
            // A column that is not in the study is reported elsewhere.
            let Some(expected) = expected.get(field.name().as_str()) else {
                continue;
            };
            let found = field.metadata();
            let keys = expected.keys().chain(found.keys());
            let mut differ: Vec<&str> = keys
                .filter(|key| expected.get(*key) != found.get(*key))
                .map(String::as_str)
                .collect();
            differ.sort_unstable();
            if let Some(key) = differ.first() {
                strange.push(format!(
                    "the metadata of `{}` is not the study's: `{}`",
                    field.name(),
                    key.escape_debug()
                ));
            }
        }
        let others = self.others.iter().chain(self.schema.metadata().keys());
        let mut others: Vec<&String> = others.collect();
        others.sort_unstable();
        others.dedup();
        strange.extend(others.iter().map(|key| {
            format!(
                "the file has metadata that no release has: `{}`",
                key.escape_debug()
            )
        }));
        strange
    }
}

/// The marks of every column that a release of a schema can have, by name.
fn expected(schema: &Schema, recode: Recode) -> HashMap<String, Marks> {
    let mut all = HashMap::new();
    for (attribute, names) in schema.attributes().iter().zip(bounds::names(schema)) {
        all.insert(attribute.name.clone(), marks(attribute, recode, None));
        for (bound, name) in Bound::BOTH.into_iter().zip(names.into_iter().flatten()) {
            all.insert(name, marks(attribute, recode, Some(bound)));
        }
    }
    all
}
