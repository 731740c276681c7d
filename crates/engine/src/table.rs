//! A table as a caller has it: a file, the text of one, or Arrow record batches in memory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use hedgerow_data::files::{
    FileError, Others, read_batches, read_csv, read_table, read_text, read_text_batches,
    read_text_csv,
};
use hedgerow_data::{Schema, TextTable};

use crate::observe::{Observer, Work};

/// A table: a CSV (compressed by extension), Parquet or Excel file, the text of a CSV file, or Arrow record
/// batches.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{Int64Array, RecordBatch, StringArray};
/// use hedgerow::Table;
///
/// let ages = Arc::new(Int64Array::from(vec![31, 44]));
/// let diseases = Arc::new(StringArray::from(vec!["flu", "ulcer"]));
/// let batch = RecordBatch::try_from_iter([
///     ("age", ages as arrow_array::ArrayRef),
///     ("disease", diseases as arrow_array::ArrayRef),
/// ])?;
/// let patients = Table::batches("patients", vec![batch]);
/// let more = Table::from("north.csv");
/// # assert_eq!((patients.name(), more.name()), ("patients".into(), "north.csv".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Table(Kind);

#[derive(Debug, Clone)]
enum Kind {
    File(PathBuf),
    Csv {
        name: String,
        bytes: Arc<[u8]>,
    },
    Batches {
        name: String,
        batches: Vec<RecordBatch>,
    },
}

impl Table {
    /// A CSV, Parquet or Excel file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Kind::File(path.into()))
    }

    /// The text of a CSV file, such as standard input has; errors call the table by this name.
    pub fn csv(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self(Kind::Csv {
            name: name.into(),
            bytes: bytes.into(),
        })
    }

    /// Record batches of one schema; errors call the table by this name.
    pub fn batches(name: impl Into<String>, batches: Vec<RecordBatch>) -> Self {
        Self(Kind::Batches {
            name: name.into(),
            batches,
        })
    }

    /// The name that errors carry.
    pub fn name(&self) -> String {
        match &self.0 {
            Kind::File(path) => path.display().to_string(),
            Kind::Csv { name, .. } | Kind::Batches { name, .. } => name.clone(),
        }
    }

    /// The table's name without folders, which say nothing to others.
    pub(crate) fn file_name(&self) -> String {
        let name = self.name();
        let file = Path::new(&name).file_name();
        file.map_or_else(|| name.clone(), |file| file.to_string_lossy().into_owned())
    }

    /// The types of the columns, of record batches.
    pub(crate) fn types(&self) -> Vec<DataType> {
        let Kind::Batches { batches, .. } = &self.0 else {
            return Vec::new();
        };
        let schema = batches.first().map(RecordBatch::schema);
        let fields = schema.iter().flat_map(|schema| schema.fields().iter());
        fields.map(|field| field.data_type().clone()).collect()
    }

    /// The table under a schema.
    pub(crate) fn read(
        &self,
        schema: &Arc<Schema>,
        others: &Others,
        observer: &dyn Observer,
    ) -> Result<hedgerow_data::Table, FileError> {
        match &self.0 {
            Kind::File(path) => {
                let watch = observer.begin(Work::Reading(path));
                read_table(path, schema, others, &*watch)
            }
            Kind::Csv { name, bytes } => read_csv(name, bytes, schema, others),
            Kind::Batches { name, batches } => read_batches(name, batches, schema, others),
        }
    }

    /// The table as text; `expected` are names that the table's header is likely to hold.
    pub(crate) fn read_text(
        &self,
        expected: &[String],
        observer: &dyn Observer,
    ) -> Result<TextTable, FileError> {
        match &self.0 {
            Kind::File(path) => {
                let watch = observer.begin(Work::Reading(path));
                read_text(path, expected, &*watch)
            }
            Kind::Csv { name, bytes } => read_text_csv(name, bytes, expected),
            Kind::Batches { name, batches } => read_text_batches(name, batches, expected),
        }
    }
}

impl From<PathBuf> for Table {
    fn from(path: PathBuf) -> Self {
        Self::file(path)
    }
}

impl From<&Path> for Table {
    fn from(path: &Path) -> Self {
        Self::file(path)
    }
}

impl From<&str> for Table {
    fn from(path: &str) -> Self {
        Self::file(path)
    }
}
