//! Records counted by engines: the same table as the files give, whatever the values look like and whoever counts,
//! and a clear word where nothing can be counted.

mod bucket;
mod cluster;
mod clusters;
mod laws;
mod limits;
mod program;
mod refusals;
mod release;
mod stores;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::ipc::reader::StreamReader;
use hedgerow_data::files::{Others, read_counted_batches, read_table};
use hedgerow_data::{Schema, Study, Table};
use hedgerow_sql::count::{CountError, Counted, Engine, Limit, Request, Watch, count};
use parquet::arrow::ArrowWriter;
use tempfile::TempDir;

/// Memory in which every small table is counted.
const ENOUGH: u64 = 256 << 20;

struct Nobody;

impl Watch for Nobody {
    fn read(&self, _: u64, _: Option<u64>) {}
}

/// This process, with a folder of its own for what does not fit.
fn local(memory: u64, spill: &Path) -> Engine {
    Engine::Local(Limit {
        memory,
        spill: spill.to_owned(),
    })
}

/// The columns of a study that are counted.
fn columns(schema: &Schema) -> Vec<String> {
    let attributes = schema.attributes().iter();
    attributes.map(|attribute| attribute.name.clone()).collect()
}

/// What an engine counts, as the table of a study.
async fn counted(
    engine: Engine,
    paths: &[PathBuf],
    schema: &Arc<Schema>,
) -> Result<(Table, Counted), String> {
    let request = Request {
        engine,
        columns: columns(schema),
        paths: paths.to_vec(),
    };
    let mut stream = Vec::new();
    let counted = count(&request, &mut stream, Arc::new(Nobody)).await;
    let counted = counted.map_err(|error: CountError| error.to_string())?;
    let batches = StreamReader::try_new(stream.as_slice(), None).unwrap();
    let table = read_counted_batches("the engine", batches, schema, &());
    Ok((table.map_err(|error| error.to_string())?, counted))
}

/// What is counted in this process with enough memory.
async fn counted_here(paths: &[PathBuf], schema: &Arc<Schema>) -> Result<Table, String> {
    let spill = tempfile::tempdir().unwrap();
    let (table, said) = counted(local(ENOUGH, spill.path()), paths, schema).await?;
    assert_eq!(table.records(), said.records);
    Ok(table)
}

/// What a file or a folder of files gives without any engine.
fn as_read(path: &Path, schema: &Arc<Schema>) -> Result<Table, String> {
    let read = read_table(path, schema, &Others::Refuse, &());
    let read = read.map_err(|error| error.to_string())?;
    Ok(read.into_counted().unwrap())
}

fn schema(study: &str) -> Arc<Schema> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("study.toml");
    std::fs::write(&path, study).unwrap();
    Study::open(&path).unwrap().schema
}

fn write_parquet(path: &Path, columns: Vec<(&str, ArrayRef)>) {
    let columns = columns
        .into_iter()
        .map(|(name, values)| (name, values, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A folder that holds one file.
fn folder_with(name: &str, text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    (folder, path)
}
