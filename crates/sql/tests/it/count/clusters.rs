//! What a cluster of real processes counts, also when one of them dies.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use hedgerow_data::Table;
use hedgerow_sql::count::Engine;
use tempfile::TempDir;

use super::cluster::Cluster;
use super::{as_read, counted, schema, write_parquet};

const STUDY: &str = "[study]
name = \"ward\"
partition = \"horizontal\"

[[attribute]]
name = \"place\"
role = \"quasi\"
type = \"integer\"
range = [0, 999]

[[attribute]]
name = \"ill\"
role = \"sensitive\"
values = [\"yes\", \"no\"]
";

/// How long a count may take on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(300);

fn on(cluster: &Cluster) -> Engine {
    Engine::Scheduler {
        address: cluster.address(),
        anywhere: false,
    }
}

/// A folder of so many files of so many records, and the records of each combination, counted as they are made.
fn folder(files: usize, records: usize) -> (TempDir, HashMap<(i64, bool), u64>) {
    let folder = tempfile::tempdir().unwrap();
    let mut counts = HashMap::new();
    let mut state = 1_u64;
    for file in 0..files {
        let drawn = (0..records).map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            ((state >> 33) as i64 % 1000, (state >> 50).is_multiple_of(3))
        });
        let rows: Vec<(i64, bool)> = drawn.collect();
        for row in &rows {
            *counts.entry(*row).or_default() += 1;
        }
        let ill: Vec<&str> = rows
            .iter()
            .map(|(_, ill)| if *ill { "yes" } else { "no" })
            .collect();
        let places: Vec<i64> = rows.iter().map(|(place, _)| *place).collect();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("place", Arc::new(Int64Array::from(places))),
            ("ill", Arc::new(StringArray::from(ill))),
        ];
        write_parquet(
            &folder.path().join(format!("part-{file:03}.parquet")),
            columns,
        );
    }
    std::fs::write(folder.path().join("_SUCCESS"), "").unwrap();
    (folder, counts)
}

/// The combinations of a table as a hash map.
fn combinations(table: &Table) -> HashMap<(i64, bool), u64> {
    let (places, ill) = (table.codes(0).unwrap(), table.codes(1).unwrap());
    let yes = table.schema().attributes()[1]
        .domain
        .encode(b"yes")
        .unwrap();
    let counts = table.counts().unwrap().iter().enumerate();
    counts
        .map(|(row, count)| ((i64::from(places.get(row)), ill.get(row) == yes), *count))
        .collect()
}

fn paths(folder: &Path) -> Vec<PathBuf> {
    vec![folder.to_owned()]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_counts_what_the_files_hold() {
    let (folder, counts) = folder(8, 5000);
    let schema = schema(STUDY);
    let cluster = Cluster::start(2);
    let (table, said) = counted(on(&cluster), &paths(folder.path()), &schema)
        .await
        .unwrap();
    assert_eq!(said.records, 40_000);
    assert_eq!(combinations(&table), counts);
    assert_eq!(table, as_read(folder.path(), &schema).unwrap());
}

/// Whether the count is taken up by the other executor or given up, nothing wrong is counted, and the cluster
/// counts again.
#[tokio::test(flavor = "multi_thread")]
async fn an_executor_that_dies_midway_leaves_nothing_uncounted() {
    let (folder, counts) = folder(48, 20_000);
    let schema = schema(STUDY);
    let mut cluster = Cluster::start(2);
    let counting = {
        let (engine, paths, schema) = (on(&cluster), paths(folder.path()), Arc::clone(&schema));
        tokio::spawn(async move { counted(engine, &paths, &schema).await })
    };
    tokio::time::sleep(Duration::from_millis(700)).await;
    let was_midway = !counting.is_finished();
    cluster.kill(0);
    let within = tokio::time::timeout(PATIENCE, counting);
    match within.await.unwrap().unwrap() {
        Ok((table, _)) => assert_eq!(combinations(&table), counts),
        Err(error) => {
            assert!(was_midway, "{error}");
            assert!(error.starts_with("df://127.0.0.1:"), "{error}");
            assert!(error.contains("\nhint: see that its "), "{error}");
        }
    }
    let paths = paths(folder.path());
    let again = counted(on(&cluster), &paths, &schema);
    let (table, _) = tokio::time::timeout(PATIENCE, again)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(combinations(&table), counts);
}

/// A scheduler that dies takes the count with it, at once and in words.
#[tokio::test(flavor = "multi_thread")]
async fn a_scheduler_that_dies_midway_ends_the_count() {
    let (folder, counts) = folder(48, 20_000);
    let schema = schema(STUDY);
    let mut cluster = Cluster::start(1);
    let address = cluster.address();
    let counting = {
        let (engine, paths, schema) = (on(&cluster), paths(folder.path()), Arc::clone(&schema));
        tokio::spawn(async move { counted(engine, &paths, &schema).await })
    };
    tokio::time::sleep(Duration::from_millis(500)).await;
    let was_midway = !counting.is_finished();
    cluster.kill_scheduler();
    let within = tokio::time::timeout(PATIENCE, counting);
    match within.await.unwrap().unwrap() {
        // The counts lay ready before the scheduler died.
        Ok((table, _)) => assert_eq!(combinations(&table), counts),
        Err(error) => {
            assert!(was_midway, "{error}");
            assert!(error.starts_with(&address), "{error}");
            assert!(error.contains("\nhint: see that its "), "{error}");
        }
    }
}

/// A file that only the executors cannot read any more.
#[tokio::test(flavor = "multi_thread")]
async fn what_executors_cannot_read_is_said_in_their_words() {
    let (folder, _) = folder(2, 100);
    let schema = schema(STUDY);
    let cluster = Cluster::start(1);
    let file = folder.path().join("part-001.parquet");
    // The head and the end are whole, what is between is not.
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[4..200].fill(0xff);
    std::fs::write(&file, bytes).unwrap();
    let error = counted(on(&cluster), &paths(folder.path()), &schema)
        .await
        .unwrap_err();
    assert!(error.starts_with("df://127.0.0.1:"), "{error}");
    assert!(error.contains("the cluster did not count: "), "{error}");
}
