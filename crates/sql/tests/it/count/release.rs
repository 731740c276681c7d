//! The whole path: what is anonymized from an engine's counts is what is anonymized from the file, byte for byte.

use std::path::{Path, PathBuf};

use hedgerow::{Options, Study, Table, anonymize, simulate};
use hedgerow_data::synthetic::{Kind, Plan, TableFormat, generate};
use hedgerow_node::source::{Counted, Engine};

use super::cluster::Cluster;

/// The program lies beside the one that starts it, as it does where both are installed.
fn install() {
    let beside = std::env::current_exe().unwrap();
    let beside = beside.with_file_name("hedgerow-sql");
    let program = env!("CARGO_BIN_EXE_hedgerow-sql");
    if !beside.exists() {
        // Another test may be faster.
        let _ = std::os::unix::fs::symlink(program, &beside);
    }
    assert!(beside.exists());
}

/// A table in parts, and its study with rows of one kind.
fn table(folder: &Path, rows: &str) -> (Study, PathBuf) {
    let plan = Plan {
        kind: Kind::Census,
        rows: 3000,
        sites: 1,
        seed: 5,
        format: TableFormat::Parquet,
        pooled: false,
        parts: Some(4),
    };
    let written = generate(&plan, &folder.join(rows), &()).unwrap();
    let text = std::fs::read_to_string(&written.study).unwrap();
    let text = text.replace(
        "partition = \"horizontal\"\n",
        &format!("partition = \"horizontal\"\nrows = \"{rows}\"\n"),
    );
    std::fs::write(&written.study, text).unwrap();
    let (_, parts, _) = &written.tables[0];
    (Study::open(&written.study).unwrap(), parts.clone())
}

fn by(engine: Engine, path: &Path) -> Table {
    Table::by_engine(Counted {
        engine,
        paths: vec![path.to_owned()],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_release_is_the_same_whoever_counted() {
    install();
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(2);
    let scheduler = Engine::Scheduler {
        address: cluster.address(),
        anywhere: false,
    };
    for rows in ["single", "counted"] {
        let (study, path) = table(folder.path(), rows);
        let release = |table: &Table, name: &str| {
            let out = folder.path().join(format!("{rows}-{name}"));
            let outcome = anonymize(&study, table, &Options::new().out(&out)).unwrap();
            assert!(outcome.summary.holds);
            assert_eq!(outcome.summary.records, 3000);
            ["release.csv", "release.parquet"].map(|file| std::fs::read(out.join(file)).unwrap())
        };
        let expected = release(&Table::file(&path), "file");
        let local = release(&by(Engine::local(), &path), "local");
        assert!(local == expected, "{rows}: DataFusion");
        let ballista = release(&by(scheduler.clone(), &path), "ballista");
        assert!(ballista == expected, "{rows}: Ballista");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_each_record_is_no_engine_says() {
    install();
    let folder = tempfile::tempdir().unwrap();
    let (study, path) = table(folder.path(), "counted");
    let table = by(Engine::local(), &path);
    let options = Options::new().provider_column("sex");
    let error = anonymize(&study, &table, &options).unwrap_err().to_string();
    assert!(error.starts_with("an engine counts records"), "{error}");
    // All records are dealt.
    let sites = hedgerow::Sites::Dealt {
        table,
        sites: 3,
        deal: hedgerow::Deal::RoundRobin,
    };
    match simulate(&study, &sites, &Options::new()) {
        Ok(simulation) => assert_eq!(simulation.outcome.summary.records, 3000),
        Err(error) => assert!(error.to_string().contains("hint: "), "{error}"),
    }
}
