//! A table as text, some of its rows, and tables and studies made of them.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use hedgerow::Study;
use hedgerow::words::{count, thousands};
use hedgerow_data::files::{Others, read_batches, write_table};
use hedgerow_data::{TextColumn, TextTable};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use tempfile::{TempDir, TempPath};

use super::forms::Forms;
use super::study::StudyOf;
use crate::error::Error;

/// Some rows of a table; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Dataset {
    name: &'static str,
    is_real: bool,
    text: Arc<TextTable>,
    rows: Arc<[usize]>,
    /// Columns that a figure added: name and values, one for each of `rows`.
    added: Vec<(String, Arc<[String]>)>,
    forms: Forms,
    shelf: Arc<TempDir>,
}

impl Dataset {
    pub(super) fn new(
        name: &'static str,
        is_real: bool,
        text: TextTable,
        forms: Forms,
        shelf: Arc<TempDir>,
    ) -> Self {
        Self {
            name,
            is_real,
            rows: (0..text.rows()).collect(),
            text: Arc::new(text),
            added: Vec::new(),
            forms,
            shelf,
        }
    }

    /// What the data are, how many, and whom they are due to: what a plot must say.
    pub(crate) fn words(&self) -> String {
        let due = match self.is_real {
            true => ". Source: UCI Machine Learning Repository",
            false => ", made from a seed: no real person",
        };
        let records = count(self.rows() as u64, "record", "records");
        format!("{}, {records}{due}", self.name)
    }

    /// Whether the records are real, and not made from a seed.
    pub(crate) fn is_real(&self) -> bool {
        self.is_real
    }

    /// What the data are called in a sentence.
    pub(crate) fn called(&self) -> &'static str {
        match self.is_real {
            true => self.name.split(',').next().unwrap_or(self.name),
            false => "the synthetic census",
        }
    }

    /// The same rows by another name, such as that of the part which they are; a synthetic table has one
    /// name alone.
    pub(crate) fn named(mut self, name: &'static str) -> Self {
        if self.is_real {
            self.name = name;
        }
        self
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is a column of this name.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.text.column(column).is_some() || self.added(column).is_some()
    }

    /// The values of a column, row by row.
    pub(crate) fn values(&self, column: &str) -> Result<Vec<&str>, Error> {
        if let Some(values) = self.added(column) {
            return Ok(values.iter().map(String::as_str).collect());
        }
        let found = self.column(column)?;
        Ok(self.rows.iter().map(|row| found.get(*row)).collect())
    }

    /// The first rows; all where there are fewer.
    pub(crate) fn first(&self, rows: usize) -> Self {
        let rows: Vec<usize> = (0..rows.min(self.rows())).collect();
        self.picked(&rows)
    }

    /// So many rows drawn at random, without repetition; all where there are fewer.
    pub(crate) fn sample(&self, rows: usize, seed: u64) -> Self {
        let mut order: Vec<usize> = (0..self.rows()).collect();
        order.shuffle(&mut rand_chacha::ChaCha12Rng::seed_from_u64(seed));
        order.truncate(rows);
        self.picked(&order)
    }

    /// These rows, in this order.
    pub(crate) fn picked(&self, rows: &[usize]) -> Self {
        let added = self.added.iter().map(|(name, values)| {
            let values = rows.iter().map(|row| values[*row].clone());
            (name.clone(), values.collect())
        });
        Self {
            rows: rows.iter().map(|row| self.rows[*row]).collect(),
            added: added.collect(),
            ..self.clone()
        }
    }

    /// With one more column, such as a site's name or an identifier.
    pub(crate) fn with_column(
        mut self,
        name: &str,
        values: impl IntoIterator<Item = String>,
    ) -> Self {
        self.added
            .push((name.to_owned(), values.into_iter().collect()));
        self
    }

    /// With a column `id` that numbers the rows: what vertical studies know people by.
    pub(crate) fn with_identifiers(self) -> Self {
        let rows = self.rows();
        self.with_column("id", (0..rows).map(|row| format!("p{row:06}")))
    }

    /// With another form of an attribute in studies: lines below `[[attribute]]`.
    pub(crate) fn with_form(mut self, attribute: &str, lines: &str) -> Self {
        self.forms.set(attribute, lines);
        self
    }

    /// A study of this table, to be said more about.
    pub(crate) fn study(&self, name: &str) -> StudyOf<'_> {
        StudyOf::new(&self.forms, self.shelf.path(), name)
    }

    /// The columns that a study declares, as the library takes a table.
    pub(crate) fn table(&self, study: &Study) -> Result<hedgerow::Table, Error> {
        self.table_with(study, &[])
    }

    /// The columns that a study declares, and more, such as the column that names sites.
    pub(crate) fn table_with(
        &self,
        study: &Study,
        more: &[&str],
    ) -> Result<hedgerow::Table, Error> {
        let batch = self.batch(study, more)?;
        Ok(hedgerow::Table::batches(self.name, vec![batch]))
    }

    /// The table as columns of codes, for figures about a protocol or a primitive itself.
    pub(crate) fn coded(&self, study: &Study) -> Result<hedgerow_data::Table, Error> {
        let batch = self.batch(study, &[])?;
        let schema = &study.declared().schema;
        Ok(read_batches(
            self.name,
            &[batch],
            schema,
            &Others::Refuse,
            &(),
        )?)
    }

    /// The columns that a study declares as a CSV file, which goes when the path is dropped.
    pub(crate) fn file(&self, study: &Study) -> Result<TempPath, Error> {
        let file = tempfile::Builder::new()
            .suffix(".csv")
            .tempfile_in(self.shelf.path())
            .map_err(|error| Error::Unusable {
                folder: self.shelf.path().to_owned(),
                reason: error.to_string(),
            })?;
        let path = file.into_temp_path();
        write_table(&path, &self.coded(study)?, &())?;
        Ok(path)
    }

    fn batch(&self, study: &Study, more: &[&str]) -> Result<RecordBatch, Error> {
        let attributes = study.declared().schema.attributes().iter();
        let names = attributes.map(|attribute| attribute.name.as_str());
        let names: Vec<&str> = names.chain(more.iter().copied()).collect();
        let columns = names.iter().map(|name| {
            let values = StringArray::from_iter_values(self.values(name)?);
            Ok((*name, Arc::new(values) as ArrayRef))
        });
        let columns: Vec<(&str, ArrayRef)> = columns.collect::<Result<_, Error>>()?;
        RecordBatch::try_from_iter(columns).map_err(|_| Error::NoColumn {
            table: format!("{} of {} records", self.name, thousands(self.rows() as u64)),
            column: names.join(", "),
        })
    }

    fn added(&self, column: &str) -> Option<&[String]> {
        let found = self.added.iter().find(|(name, _)| name == column);
        found.map(|(_, values)| &**values)
    }

    fn column(&self, column: &str) -> Result<&TextColumn, Error> {
        self.text.column(column).ok_or_else(|| Error::NoColumn {
            table: self.name.to_owned(),
            column: column.to_owned(),
        })
    }
}
