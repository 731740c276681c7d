//! A study as a release describes it: what a reader of the release needs to understand its tables,
//! without naming who made the release and how. From it and the taxonomies in the folder of the release
//! comes a study that reads and verifies the release.
//!
//! A description is the word of whoever published: it passes through the same reader as a study that
//! people write, and names no file but those of the release's own taxonomies.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value};

use super::release_files::{TAXONOMIES, safe_name, taxonomy_files};
use super::{Partition, ReleaseKind, ReleaseRows, Study, StudyError};
use crate::attribute::{Attribute, Recode, Role};
use crate::document::Document;
use crate::domain::Domain;
use crate::taxonomy::{Taxonomy, TaxonomyError};

/// What a release says of its study.
#[derive(Debug, Clone, PartialEq)]
pub struct Described<'a> {
    /// The study's name.
    pub name: &'a str,
    /// Whether sites hold different people or the same people.
    pub partition: Partition,
    /// Whether the table was published, or is what sites know of a virtual database.
    pub release: ReleaseKind,
    /// What a row of the release stands for.
    pub rows: ReleaseRows,
    /// The name of the security level.
    pub security: &'a str,
    /// The name of the algorithm.
    pub algorithm: &'a str,
    /// The name of the setting for text in CSV files.
    pub csv: &'a str,
    /// How classes are written where a column does not name a recoding of its own.
    pub recode: Recode,
    /// Whether the release is fragmented though its algorithm makes tables too.
    pub fragments: bool,
    /// The names of the sites; empty for a release made in one place.
    pub sites: Vec<&'a str>,
    /// The columns.
    pub columns: &'a [DescribedColumn],
    /// The requirement as the lines of a `[require]` table, if there is a requirement.
    pub require: Option<String>,
}

/// A column of a study as a release describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescribedColumn {
    /// The column's name.
    pub name: String,
    /// The column's role for privacy; identifiers are listed here, though no table has them.
    pub role: Role,
    /// The kind of the column's values.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The least and the greatest value, of numbers and days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<DescribedRange>,
    /// The step from one number to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<DescribedStep>,
    /// The text that stands for a missing number or day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Whether the order of categories means something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered: Option<bool>,
    /// The file of the column's taxonomy in the folder of the release, if the column has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taxonomy: Option<String>,
    /// How classes are written, of quasi-identifiers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recode: Option<Recode>,
    /// Of a column of role `other`: whether it may be published though its values single records out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub publish_unique: bool,
}

/// The kind of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Whole numbers of a range.
    Integer,
    /// Decimals of a range.
    Decimal,
    /// Days of a range.
    Date,
    /// The leaves of a taxonomy.
    Category,
    /// Any text.
    Text,
}

/// The least and the greatest value of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DescribedRange {
    /// Whole numbers.
    Numbers([i64; 2]),
    /// Decimals, or days, as a release writes them.
    Texts([String; 2]),
}

/// The step from one number of a column to the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DescribedStep {
    /// Of whole numbers.
    Number(i64),
    /// Of decimals, as text, since numbers of JSON are not exact everywhere.
    Text(String),
}

/// Why a description is of no study.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DescribedError {
    /// A taxonomy whose file is no taxonomy file of a release.
    #[error(
        "column `{column}` has its taxonomy in `{file}`, which is no file of a release's taxonomies"
    )]
    NoTaxonomyFile {
        /// The column.
        column: String,
        /// The file.
        file: String,
    },
    /// The description makes no valid study.
    #[error(transparent)]
    Study(#[from] StudyError),
}

impl DescribedColumn {
    /// The columns of a study, in declared order.
    pub fn of_study(study: &Study) -> Vec<Self> {
        let files = taxonomy_files(&study.schema);
        let attributes = study.schema.attributes().iter().zip(files);
        attributes
            .map(|(attribute, file)| Self::of(attribute, file, study.recode))
            .collect()
    }

    fn of(attribute: &Attribute, taxonomy: Option<String>, recode: Recode) -> Self {
        let mut column = Self {
            name: attribute.name.clone(),
            role: attribute.role,
            kind: Kind::Text,
            range: None,
            step: None,
            missing: None,
            ordered: None,
            taxonomy,
            recode: (attribute.role == Role::Quasi).then(|| attribute.recode_or(recode)),
            publish_unique: attribute.publish_unique,
        };
        // The form of identifiers is left out, since identifiers are in no table.
        if attribute.role == Role::Identifier {
            return column;
        }
        let domain = &attribute.domain;
        let last = |count: u32| count - 1 - u32::from(domain.missing_code().is_some());
        match domain {
            Domain::Integer(numbers) => {
                let ends = [0, last(domain.size())].map(|code| numbers.value(code));
                column.kind = Kind::Integer;
                column.range = Some(DescribedRange::Numbers(ends));
                column.step = Some(DescribedStep::Number(numbers.step()));
            }
            Domain::Decimal(decimals) => {
                let ends = [0, last(domain.size())].map(|code| decimals.value(code).to_string());
                column.kind = Kind::Decimal;
                column.range = Some(DescribedRange::Texts(ends));
                column.step = Some(DescribedStep::Text(decimals.step().to_string()));
            }
            Domain::Date(days) => {
                let ends = [0, last(domain.size())].map(|code| days.day(code).to_string());
                column.kind = Kind::Date;
                column.range = Some(DescribedRange::Texts(ends));
            }
            Domain::Category(_) => {
                column.kind = Kind::Category;
                column.ordered = Some(domain.is_ordered());
            }
            Domain::Text => {}
        }
        if matches!(
            domain,
            Domain::Integer(_) | Domain::Decimal(_) | Domain::Date(_)
        ) {
            let missing = domain.missing_code();
            column.missing = missing.map(|code| domain.label(code).into_owned());
        }
        column
    }

    /// The column as an `[[attribute]]` table.
    fn to_table(&self, has_nodes: bool) -> Table {
        let mut table = Table::new();
        let mut put = |key: &str, value: Value| {
            table.insert(key, Item::Value(value));
        };
        put("name", self.name.as_str().into());
        put("role", self.role.name().into());
        match self.kind {
            Kind::Integer => put("type", "integer".into()),
            Kind::Decimal => put("type", "decimal".into()),
            Kind::Date => put("type", "date".into()),
            Kind::Text => put("type", "text".into()),
            // The taxonomy gives the values.
            Kind::Category => {}
        }
        match &self.range {
            Some(DescribedRange::Numbers(ends)) => {
                put("range", ends.iter().copied().collect::<Array>().into());
            }
            Some(DescribedRange::Texts(ends)) if self.kind == Kind::Decimal => {
                put("range", ends.iter().map(number).collect::<Array>().into());
            }
            Some(DescribedRange::Texts(ends)) => {
                put("range", ends.iter().collect::<Array>().into());
            }
            None => {}
        }
        let step = self.step.as_ref().map(|step| match step {
            DescribedStep::Number(step) => Value::from(*step),
            DescribedStep::Text(step) => number(step),
        });
        let optional = [
            ("step", step),
            ("missing", self.missing.as_deref().map(Value::from)),
            ("ordered", self.ordered.map(Value::from)),
            ("taxonomy", self.taxonomy.as_deref().map(Value::from)),
            // D2Pt always writes nodes of taxonomies, so its study may not name a recoding.
            (
                "recode",
                self.recode
                    .filter(|_| !has_nodes)
                    .map(|recode| recode.name().into()),
            ),
            ("publish_unique", self.publish_unique.then(|| true.into())),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                put(key, value);
            }
        }
        table
    }
}

/// A number as its text stands; what is no number stays text, which the reader of studies refuses.
fn number(text: &String) -> Value {
    let value = text.parse::<Value>().ok();
    let is_number = |value: &Value| value.is_float() || value.is_integer();
    value.filter(is_number).unwrap_or_else(|| text.into())
}

impl Described<'_> {
    /// The study of this description, its taxonomies read from the folder of the release. `file` is
    /// what errors call the description.
    pub fn study(&self, folder: &Path, file: &str) -> Result<Study, DescribedError> {
        let is_own = |file: &str| {
            let inside = file
                .strip_prefix(TAXONOMIES)
                .and_then(|rest| rest.strip_prefix('/'));
            let stem = inside.and_then(|name| name.strip_suffix(".csv"));
            stem.is_some_and(|stem| !stem.is_empty() && stem == safe_name(stem))
        };
        for column in self.columns {
            if let Some(file) = column.taxonomy.as_ref().filter(|file| !is_own(file)) {
                return Err(DescribedError::NoTaxonomyFile {
                    column: column.name.clone(),
                    file: file.clone(),
                });
            }
        }
        let document = Document::parse(self.to_toml(), &PathBuf::from(file));
        let document = document.map_err(StudyError::from)?;
        let open =
            |name: &str| -> Result<Taxonomy, TaxonomyError> { Taxonomy::of_release(folder, name) };
        Ok(Study::read_with(document, &open)?)
    }

    /// The description as the text of a study file.
    fn to_toml(&self) -> String {
        let text = |value: &str| Item::Value(value.into());
        let mut study = Table::new();
        study.insert("name", text(self.name));
        study.insert("partition", text(self.partition.name()));
        study.insert("security", text(self.security));
        study.insert("csv", text(self.csv));
        if !self.release.is_published() {
            study.insert("release", text(self.release.name()));
        }
        if !self.rows.is_single() {
            study.insert("rows", text(self.rows.name()));
        }
        let has_nodes = self.algorithm == super::Algorithm::D2pt.name();
        let mut algorithm = Table::new();
        algorithm.insert("name", text(self.algorithm));
        if !has_nodes {
            algorithm.insert("recode", text(self.recode.name()));
        }
        if self.fragments {
            algorithm.insert("fragments", Item::Value(true.into()));
        }
        let mut sites = ArrayOfTables::new();
        for name in &self.sites {
            let mut site = Table::new();
            site.insert("name", text(name));
            sites.push(site);
        }
        let mut attributes = ArrayOfTables::new();
        for column in self.columns {
            attributes.push(column.to_table(has_nodes));
        }
        let mut document = DocumentMut::new();
        document.insert("study", Item::Table(study));
        document.insert("algorithm", Item::Table(algorithm));
        if !sites.is_empty() {
            document.insert("site", Item::ArrayOfTables(sites));
        }
        document.insert("attribute", Item::ArrayOfTables(attributes));
        match &self.require {
            Some(require) => format!("{document}\n[require]\n{require}\n"),
            None => document.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv_text::CsvText;

    const STUDY: &str = r#"
[study]
name = "a \"study\"\u0007"
partition = "horizontal"
security = "published"
[algorithm]
name = "clustering"
recode = "range"
[[attribute]]
name = "who"
role = "identifier"
type = "integer"
range = [0, 5]
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [-9, 90]
step = 3
missing = "n\na"
recode = "set"
[[attribute]]
name = "width"
role = "quasi"
type = "integer"
range = [0, 99]
widths = [5, 10]
[[attribute]]
name = "fever"
role = "quasi"
type = "decimal"
range = [-1.0, 100]
step = 0.10
missing = "?"
[[attribute]]
name = "came"
role = "quasi"
type = "date"
format = "%d.%m.%Y %H:%M"
range = ["2024-01-01", "2024-12-31"]
missing = ["", "NA"]
[[attribute]]
name = "smokes"
role = "quasi"
type = "boolean"
missing = ["?", "NA"]
[[attribute]]
name = "lactate"
role = "quasi"
type = "decimal"
range = [0.0, 9.5]
step = 0.5
widths = [1.0, 5.0]
[[attribute]]
name = "born"
role = "quasi"
type = "date"
range = ["1960-02-29", "2024-01-01"]
missing = ""
[[attribute]]
name = "a/b"
role = "sensitive"
values = ["parent", "", "c"]
ordered = true
[[attribute]]
name = "ward"
role = "other"
publish_unique = true
[require]
k = 2
"#;

    fn open(text: &str) -> Study {
        let document = Document::parse(text.into(), Path::new("study.toml")).unwrap();
        Study::read(document, Path::new("")).unwrap()
    }

    fn described<'a>(
        study: &'a Study,
        columns: &'a [DescribedColumn],
        algorithm: &'a str,
    ) -> Described<'a> {
        Described {
            name: &study.name,
            partition: study.partition,
            release: study.release,
            rows: study.rows,
            security: "published",
            algorithm,
            csv: study.csv.name(),
            recode: study.recode,
            fragments: study.asks_for_fragments(),
            sites: Vec::new(),
            columns,
            require: Some(String::from("k = 2")),
        }
    }

    fn folder_of(study: &Study) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(TAXONOMIES)).unwrap();
        let files = taxonomy_files(&study.schema);
        for (attribute, file) in study.schema.attributes().iter().zip(files) {
            if let Some(file) = file {
                let tree = attribute.domain.taxonomy().unwrap();
                std::fs::write(folder.path().join(file), tree.to_rows()).unwrap();
            }
        }
        folder
    }

    /// What a release says of its columns, through JSON, is the study's schema again, apart from what
    /// identifiers look like and that recoding is said of each column.
    #[test]
    fn a_study_comes_back_from_its_description() {
        let vertical = STUDY
            .replace("horizontal", "vertical")
            .replace("\"clustering\"\nrecode = \"range\"", "\"d2pt\"")
            .replace("recode = \"set\"\n", "")
            .replace("a/b", "a b");
        for (text, algorithm) in [(STUDY, "clustering"), (&vertical, "d2pt")] {
            let study = open(text);
            let folder = folder_of(&study);
            let columns = DescribedColumn::of_study(&study);
            let json = serde_json::to_string(&columns).unwrap();
            let columns: Vec<DescribedColumn> = serde_json::from_str(&json).unwrap();
            let again = described(&study, &columns, algorithm);
            let again = again.study(folder.path(), "manifest.json").unwrap();
            assert_eq!(again.name, study.name);
            assert_eq!(again.algorithm, study.algorithm);
            assert_eq!(
                (again.partition, again.csv),
                (study.partition, CsvText::Guarded)
            );
            assert_eq!(again.release_files(), study.release_files());
            assert_eq!(DescribedColumn::of_study(&again), columns);
            let pairs = study
                .schema
                .attributes()
                .iter()
                .zip(again.schema.attributes());
            for (was, is) in pairs.skip(1) {
                assert_eq!(
                    (&was.name, was.role, &was.domain),
                    (&is.name, is.role, &is.domain)
                );
                assert_eq!(was.recode_or(study.recode), is.recode_or(again.recode));
            }
            assert!(again.document().root().has("require"));
        }
    }

    #[test]
    fn a_description_reads_no_other_file() {
        let study = open(STUDY);
        let folder = folder_of(&study);
        std::fs::write(folder.path().join("x.csv"), "a;*\n").unwrap();
        for file in [
            "x.csv",
            "taxonomies/../x.csv",
            "/etc/hostname",
            "taxonomies/.csv",
            "taxonomies/a b.csv",
        ] {
            let mut columns = DescribedColumn::of_study(&study);
            columns[8].taxonomy = Some(file.to_owned());
            let again = described(&study, &columns, "clustering");
            let error = again.study(folder.path(), "manifest.json").unwrap_err();
            assert!(
                matches!(error, DescribedError::NoTaxonomyFile { .. }),
                "{file}"
            );
        }
        let unknown = serde_json::from_str::<DescribedColumn>(
            r#"{ "name": "a", "role": "quasi", "type": "text", "rang": [1, 2] }"#,
        );
        assert!(unknown.unwrap_err().to_string().contains("`rang`"));
    }
}
