//! A study as Python holds it: its text, which Python reads and changes key by key, and the folder of its
//! taxonomies. What is run is always read from a file, as the command reads it, so that a release of the same text
//! is the same.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow::{DraftOptions, Fault};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};
use tempfile::TempDir;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use crate::arrow::given;
use crate::error::{in_python, raised, said};
use crate::work::work;

/// The name of a study's file.
const FILE: &str = "study.toml";
/// How deep the values of a key may be nested.
const DEEPEST: usize = 32;

/// A study.
#[pyclass(module = "hedgerow._native")]
pub(crate) struct Study {
    text: String,
    /// Where its taxonomies are.
    folder: PathBuf,
    /// The file that errors name.
    path: PathBuf,
    /// The study as it was read last; nothing once the text has changed.
    read: Option<hedgerow::Study>,
    /// The temporary folders that this study lies in.
    kept: Vec<Arc<TempDir>>,
}

impl Study {
    fn open_file(py: Python<'_>, path: PathBuf, kept: Vec<Arc<TempDir>>) -> PyResult<Self> {
        let read = hedgerow::Study::open(&path).map_err(|error| raised(py, &error))?;
        Ok(Self {
            text: std::fs::read_to_string(&path)?,
            folder: path.parent().unwrap_or(Path::new("")).to_owned(),
            path,
            read: Some(read),
            kept,
        })
    }

    /// The study of a caller as it stands; an error where another thread changes it just now.
    pub(crate) fn of(study: &Bound<'_, Self>) -> PyResult<hedgerow::Study> {
        changed(study)?.ready(study.py())
    }

    /// The study as it stands, read from a file.
    pub(crate) fn ready(&mut self, py: Python<'_>) -> PyResult<hedgerow::Study> {
        if let Some(study) = &self.read {
            return Ok(study.clone());
        }
        let folder = TempDir::new()?;
        self.write(py, folder.path())?;
        let path = folder.path().join(FILE);
        let study = hedgerow::Study::open(&path).map_err(|error| {
            // The file that the person knows.
            let (read, known) = (path.display().to_string(), self.path.display().to_string());
            let message = in_python(&error.to_string().replace(&read, &known));
            let class = match error.fault() {
                Fault::OwnData => "DataError",
                _ => "StudyError",
            };
            said(py, class, message)
        })?;
        self.kept.push(Arc::new(folder));
        self.read = Some(study.clone());
        Ok(study)
    }

    /// Writes the study and the taxonomies that it names into a folder.
    fn write(&self, py: Python<'_>, folder: &Path) -> PyResult<()> {
        for name in self.taxonomies(py)? {
            let to = folder.join(&name);
            if let Some(parent) = to.parent() {
                std::fs::create_dir_all(parent)?;
            }
            // What cannot be read is named when the study is opened.
            if let Ok(bytes) = std::fs::read(self.folder.join(&name)) {
                std::fs::write(to, bytes)?;
            }
        }
        std::fs::write(folder.join(FILE), &self.text)?;
        Ok(())
    }

    /// The files of taxonomies that the text names, inside the study's folder.
    fn taxonomies(&self, py: Python<'_>) -> PyResult<Vec<PathBuf>> {
        let document = self.document(py)?;
        let attributes = document.get("attribute").and_then(Item::as_array_of_tables);
        let files = attributes.into_iter().flatten().filter_map(|attribute| {
            let file = PathBuf::from(attribute.get("taxonomy")?.as_str()?);
            let is_inside = file
                .components()
                .all(|part| matches!(part, std::path::Component::Normal(_)));
            is_inside.then_some(file)
        });
        Ok(files.collect())
    }

    fn document(&self, py: Python<'_>) -> PyResult<DocumentMut> {
        self.text.parse().map_err(|error| {
            said(
                py,
                "StudyError",
                format!("{}: {error}", self.path.display()),
            )
        })
    }
}

#[pymethods]
impl Study {
    /// Reads a study and the taxonomies that it names.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::open_file(py, path, Vec::new())
    }

    /// Reads the text of a study; files that it names lie in `folder`.
    #[staticmethod]
    fn parse(py: Python<'_>, text: String, folder: PathBuf) -> PyResult<Self> {
        let mut study = Self {
            text,
            path: folder.join(FILE),
            folder,
            read: None,
            kept: Vec::new(),
        };
        study.ready(py)?;
        Ok(study)
    }

    /// Another study that says the same.
    fn copy(&self) -> Self {
        Self {
            text: self.text.clone(),
            folder: self.folder.clone(),
            path: self.path.clone(),
            read: self.read.clone(),
            kept: self.kept.clone(),
        }
    }

    /// The text of the study.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// What the study demands, publishes and discloses, in plain words.
    fn shown(&mut self, py: Python<'_>) -> PyResult<String> {
        Ok(self
            .ready(py)?
            .shown()
            .map_err(|error| raised(py, &error))?
            .to_string())
    }

    /// The names of the columns.
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let document = self.document(py)?;
        let attributes = document.get("attribute").and_then(Item::as_array_of_tables);
        let names = attributes
            .into_iter()
            .flatten()
            .filter_map(|attribute| attribute.get("name")?.as_str());
        Ok(names.map(str::to_owned).collect())
    }

    /// The value of a key; `section` is the name of a table, or `attribute` with the name of a column.
    #[pyo3(signature = (section, column, key))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        section: &str,
        column: Option<&str>,
        key: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let document = self.document(py)?;
        let item = table(&document, section, column).and_then(|table| table.get(key));
        item.map(|item| to_python(py, item)).transpose()
    }

    /// The keys of a section.
    #[pyo3(signature = (section, column))]
    fn keys(&self, py: Python<'_>, section: &str, column: Option<&str>) -> PyResult<Vec<String>> {
        let document = self.document(py)?;
        let table = table(&document, section, column);
        let keys = table
            .into_iter()
            .flat_map(|table| table.iter().map(|(key, _)| key.to_owned()));
        Ok(keys.collect())
    }

    /// Sets the value of a key, or takes the key out where there is no value.
    #[pyo3(signature = (section, column, key, value))]
    fn set(
        study: &Bound<'_, Self>,
        section: &str,
        column: Option<&str>,
        key: &str,
        value: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = study.py();
        // Values are read before the study is held: reading them may run code of the caller.
        let value = value.map(|value| to_toml(value, DEEPEST)).transpose()?;
        let mut study = changed(study)?;
        let mut document = study.document(py)?;
        let table = table_mut(&mut document, section, column).ok_or_else(|| {
            let column = column.unwrap_or_default();
            said(
                py,
                "StudyError",
                format!("the study has no column `{column}`"),
            )
        })?;
        match value {
            None => {
                table.remove(key);
            }
            Some(mut value) => {
                // A comment behind the old value stays.
                if let Some(old) = table.get(key).and_then(Item::as_value) {
                    *value.decor_mut() = old.decor().clone();
                }
                table.insert(key, Item::Value(value));
            }
        }
        study.text = document.to_string();
        study.read = None;
        Ok(())
    }

    /// Writes `study.toml` and the taxonomies that it names into a folder; files that are there are kept.
    fn save(&mut self, py: Python<'_>, folder: PathBuf) -> PyResult<PathBuf> {
        self.ready(py)?;
        let mut files = self.taxonomies(py)?;
        files.push(PathBuf::from(FILE));
        if let Some(file) = files
            .iter()
            .map(|file| folder.join(file))
            .find(|file| file.symlink_metadata().is_ok())
        {
            return Err(said(
                py,
                "StudyError",
                format!(
                    "{}: the file is there already, and is kept\nhint: name another folder",
                    file.display()
                ),
            ));
        }
        std::fs::create_dir_all(&folder)?;
        self.write(py, &folder)?;
        Ok(folder.join(FILE))
    }

    /// Sees that tables fit the study: every value in its domain, enough records.
    #[pyo3(signature = (tables, provider_column))]
    fn check(
        study: &Bound<'_, Self>,
        tables: Vec<Bound<'_, PyAny>>,
        provider_column: Option<String>,
    ) -> PyResult<String> {
        let py = study.py();
        let study = Self::of(study)?;
        let tables = tables.iter().map(|table| Ok(given(table)?.table()));
        let tables = tables.collect::<PyResult<Vec<_>>>()?;
        work(py, None, move |observer| {
            let column = provider_column.as_deref();
            let checked = study.check_as(&tables, column, None, &*observer)?;
            Ok(checked.to_string())
        })
    }
}

/// Drafts a study of a table; gives the study, and what is guessed as JSON and as text.
#[pyfunction]
#[pyo3(signature = (data, k, quasi, sensitive, provider_column, hierarchies, show))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn draft(
    py: Python<'_>,
    data: &Bound<'_, PyAny>,
    k: Option<u64>,
    quasi: Vec<String>,
    sensitive: Vec<String>,
    provider_column: Option<String>,
    hierarchies: Option<PathBuf>,
    show: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Study, String, String)> {
    let table = given(data)?.table();
    let options = DraftOptions {
        k,
        quasi,
        sensitive,
        provider_column,
        hierarchies,
        share: false,
    };
    let drafted = work(py, show, move |observer| {
        hedgerow::Study::draft_of(&table, &options, &*observer)
    })?;
    let folder = Arc::new(TempDir::new()?);
    let path = folder.path().join(FILE);
    drafted
        .save(folder.path())
        .map_err(|error| raised(py, &error))?;
    let mut study = Study::open_file(py, path, vec![folder])?;
    // Nobody knows the temporary folder.
    study.path = PathBuf::from(FILE);
    // Our own types have string keys and finite or null numbers, so this cannot fail.
    let json = serde_json::to_string(&drafted).unwrap_or_default();
    Ok((study, json, drafted.to_string()))
}

fn table<'d>(document: &'d DocumentMut, section: &str, column: Option<&str>) -> Option<&'d Table> {
    let item = document.get(section)?;
    let Some(column) = column else {
        return item.as_table();
    };
    item.as_array_of_tables()?
        .iter()
        .find(|table| is_of(table, column))
}

fn table_mut<'d>(
    document: &'d mut DocumentMut,
    section: &str,
    column: Option<&str>,
) -> Option<&'d mut Table> {
    let Some(column) = column else {
        let section = document
            .entry(section)
            .or_insert_with(|| Item::Table(Table::new()));
        return section.as_table_mut();
    };
    let tables = document.get_mut(section)?.as_array_of_tables_mut()?;
    tables.iter_mut().find(|table| is_of(table, column))
}

fn is_of(table: &Table, column: &str) -> bool {
    table.get("name").and_then(Item::as_str) == Some(column)
}

fn to_python<'py>(py: Python<'py>, item: &Item) -> PyResult<Bound<'py, PyAny>> {
    match item {
        Item::Value(value) => value_to_python(py, value),
        Item::Table(table) => {
            let found = PyDict::new(py);
            for (key, item) in table {
                found.set_item(key, to_python(py, item)?)?;
            }
            Ok(found.into_any())
        }
        Item::None | Item::ArrayOfTables(_) => Ok(py.None().into_bound(py)),
    }
}

fn value_to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => PyString::new(py, text.value()).into_any(),
        Value::Integer(number) => number.value().into_pyobject(py)?.into_any(),
        Value::Float(number) => PyFloat::new(py, *number.value()).into_any(),
        Value::Boolean(flag) => PyBool::new(py, *flag.value()).to_owned().into_any(),
        Value::Datetime(day) => PyString::new(py, &day.value().to_string()).into_any(),
        Value::Array(values) => {
            let values = values.iter().map(|value| value_to_python(py, value));
            PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::InlineTable(table) => {
            let found = PyDict::new(py);
            for (key, value) in table {
                found.set_item(key, value_to_python(py, value)?)?;
            }
            found.into_any()
        }
    })
}

/// A study that may change; an error where somebody else holds it.
fn changed<'py>(study: &Bound<'py, Study>) -> PyResult<PyRefMut<'py, Study>> {
    study.try_borrow_mut().map_err(|_| {
        said(
            study.py(),
            "StudyError",
            String::from(
                "the study is being used elsewhere just now\nhint: give each thread a study of its own: study.copy()",
            ),
        )
    })
}

/// A value of Python as a study says it; lists and dicts in each other at most so deep.
fn to_toml(value: &Bound<'_, PyAny>, deep: usize) -> PyResult<Value> {
    let refused = |words: &str| {
        let words = format!(
            "a study cannot say {words}\nhint: use text, numbers, True and False, lists and dicts"
        );
        Err(said(value.py(), "StudyError", words))
    };
    if deep == 0 {
        return refused("what is nested as deep as that");
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(value.extract::<bool>()?.into());
    }
    if value.is_instance_of::<PyInt>() {
        return match value.extract::<i64>() {
            Ok(number) => Ok(number.into()),
            Err(_) => refused("a number as large as that"),
        };
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(value.extract::<f64>()?.into());
    }
    if value.is_instance_of::<PyString>() {
        return match value.extract::<String>() {
            Ok(text) => Ok(text.into()),
            Err(_) => refused("a text that is not Unicode"),
        };
    }
    if let Ok(entries) = value.cast::<PyDict>() {
        let mut table = InlineTable::new();
        for (key, value) in entries {
            let Ok(key) = key.extract::<String>() else {
                return refused("a dict whose keys are no text");
            };
            table.insert(&key, to_toml(&value, deep - 1)?);
        }
        return Ok(table.into());
    }
    if let Ok(values) = value.try_iter() {
        let values = values.map(|value| to_toml(&value?, deep - 1));
        return Ok(values.collect::<PyResult<Array>>()?.into());
    }
    // numpy's numbers.
    if let Ok(number) = value.extract::<i64>() {
        return Ok(number.into());
    }
    let kind = value.get_type().qualname()?;
    refused(&format!("a {kind}"))
}
