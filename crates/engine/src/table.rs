//! A table as a caller has it: a file or a folder of files, the text of a file, Arrow record batches in memory, or
//! files whose records an engine counts.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use hedgerow_data::files::{
    Others, count_batches, count_csv, count_table, read_batches, read_columns,
    read_columns_of_batches, read_counted_batches, read_counted_csv, read_counted_table, read_csv,
    read_table, read_text, read_text_batches, read_text_csv,
};
use hedgerow_data::{Schema, TextTable};
use hedgerow_node::source::{Counted, EngineError, SourceError};

use crate::error::Error;
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
pub struct Table {
    kind: Kind,
    is_counted: bool,
}

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
    Engine(Box<Counted>),
}

impl Table {
    /// A CSV, Parquet or Excel file, or a folder of CSV or of Parquet files.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Kind::File(path.into()).into()
    }

    /// The text of a CSV file, such as standard input has; errors call the table by this name.
    pub fn csv(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        let (name, bytes) = (name.into(), bytes.into());
        Kind::Csv { name, bytes }.into()
    }

    /// Record batches of one schema; errors call the table by this name.
    pub fn batches(name: impl Into<String>, batches: Vec<RecordBatch>) -> Self {
        let name = name.into();
        Kind::Batches { name, batches }.into()
    }

    /// Files whose records an engine counts, none of which passes through this process.
    pub fn by_engine(counted: Counted) -> Self {
        Self {
            kind: Kind::Engine(Box::new(counted)),
            is_counted: true,
        }
    }

    /// The same table, of counted rows: its column `records` says how many records each row stands for.
    #[must_use]
    pub fn counted(self) -> Self {
        Self {
            is_counted: true,
            ..self
        }
    }

    /// Whether a column says how many records each row stands for.
    pub(crate) fn is_counted(&self) -> bool {
        self.is_counted
    }

    /// The name that errors carry.
    pub fn name(&self) -> String {
        match &self.kind {
            Kind::File(path) => path.display().to_string(),
            Kind::Csv { name, .. } | Kind::Batches { name, .. } => name.clone(),
            Kind::Engine(counted) => counted.name(),
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
        let Kind::Batches { batches, .. } = &self.kind else {
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
    ) -> Result<hedgerow_data::Table, Error> {
        if self.is_counted {
            return self.count(schema, others, observer);
        }
        Ok(match &self.kind {
            Kind::File(path) => {
                let watch = observer.begin(Work::Reading(path));
                read_table(path, schema, others, &*watch)?
            }
            Kind::Csv { name, bytes } => read_csv(name, bytes, schema, others)?,
            Kind::Batches { name, batches } => {
                let watch = observer.begin(Work::Reading(Path::new(name)));
                read_batches(name, batches, schema, others, &*watch)?
            }
            Kind::Engine(counted) => counted_by_engine(counted, schema, observer)?,
        })
    }

    /// The table under a schema of a study of counted rows: where it has no column `records`, its rows are
    /// single records and are counted.
    pub(crate) fn count(
        &self,
        schema: &Arc<Schema>,
        others: &Others,
        observer: &dyn Observer,
    ) -> Result<hedgerow_data::Table, Error> {
        Ok(match (&self.kind, self.is_counted) {
            (Kind::File(path), is_counted) => {
                let watch = observer.begin(Work::Reading(path));
                match is_counted {
                    true => read_counted_table(path, schema, others, &*watch)?,
                    false => count_table(path, schema, others, &*watch)?,
                }
            }
            (Kind::Csv { name, bytes }, true) => read_counted_csv(name, bytes, schema, others)?,
            (Kind::Csv { name, bytes }, false) => count_csv(name, bytes, schema, others)?,
            (Kind::Batches { name, batches }, true) => {
                let watch = observer.begin(Work::Reading(Path::new(name)));
                let batches = batches.iter().cloned().map(Ok::<_, Infallible>);
                read_counted_batches(name, batches, schema, &*watch)?
            }
            (Kind::Batches { name, batches }, false) => {
                let watch = observer.begin(Work::Reading(Path::new(name)));
                count_batches(name, batches, schema, others, &*watch)?
            }
            (Kind::Engine(counted), _) => counted_by_engine(counted, schema, observer)?,
        })
    }

    /// The table as text; `expected` are names that the table's header is likely to hold.
    pub(crate) fn read_text(
        &self,
        expected: &[String],
        observer: &dyn Observer,
    ) -> Result<TextTable, Error> {
        Ok(match &self.kind {
            Kind::File(path) => {
                let watch = observer.begin(Work::Reading(path));
                read_text(path, expected, &*watch)?
            }
            Kind::Csv { name, bytes } => read_text_csv(name, bytes, expected)?,
            Kind::Batches { name, batches } => {
                let watch = observer.begin(Work::Reading(Path::new(name)));
                read_text_batches(name, batches, expected, &*watch)?
            }
            Kind::Engine(_) => return Err(SourceError::from(EngineError::NoRecords).into()),
        })
    }

    /// Some columns of the table as text; the other columns are passed over, whatever they hold.
    pub(crate) fn read_columns(
        &self,
        columns: &[String],
        observer: &dyn Observer,
    ) -> Result<TextTable, Error> {
        Ok(match &self.kind {
            Kind::File(path) => {
                let watch = observer.begin(Work::Reading(path));
                read_columns(path, columns, &*watch)?
            }
            Kind::Batches { name, batches } => {
                let watch = observer.begin(Work::Reading(Path::new(name)));
                read_columns_of_batches(name, batches, columns, &*watch)?
            }
            Kind::Csv { .. } | Kind::Engine(_) => self.read_text(columns, observer)?,
        })
    }
}

/// What an engine counts, under a schema.
fn counted_by_engine(
    counted: &Counted,
    schema: &Arc<Schema>,
    observer: &dyn Observer,
) -> Result<hedgerow_data::Table, SourceError> {
    let watch = observer.begin(Work::Counting(&counted.paths));
    Ok(counted.table(schema, &*watch)?)
}

impl From<Kind> for Table {
    fn from(kind: Kind) -> Self {
        Self {
            kind,
            is_counted: false,
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
