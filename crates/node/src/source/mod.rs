//! Where a site's rows are: a file or a folder of files, PostgreSQL, or files whose records an engine counts.
//!
//! Rows are coded under the study's schema as they are read; a value outside its domain stops
//! the site before anything leaves it. The digest of the coded rows goes into the journal, so that
//! a source that changed between a run and its resumption is found.
//!
//! ```toml
//! [source.postgres]
//! host = "127.0.0.1"              # a name, an address, or a folder with a socket
//! port = 5432
//! database = "clinic"
//! user = "hedgerow"
//! password_file = "db.password"   # or password_variable = "PGPASSWORD"; never the password itself
//! tls = "authorities.pem"         # encrypted, and only with a server that they vouch for; where
//!                                 # the host is not this machine, needed unless it says "off"
//! table = "public.patients"       # or query = "select … from …"
//! count = false                   # the default; true has the database count
//! ```

mod engine;
mod postgres;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_data::files::{
    FileError, Others, Progress, check_columns, check_counted_columns, count_table, is_address,
    read_table,
};
use hedgerow_data::{Column, Schema, Table};

use crate::aside;

pub use engine::{Counted, Engine, EngineError, bytes};
pub use postgres::{Password, Postgres, PostgresError, Rows};

/// Where a site's rows are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The rows lie in a file, or in the files of a folder.
    File(PathBuf),
    /// The rows lie in a PostgreSQL database.
    Postgres(Box<Postgres>),
    /// The rows lie in files, and an engine counts them there.
    Engine(Box<Counted>),
}

/// Why rows could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A file, or a value in it, cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// A database.
    #[error(transparent)]
    Postgres(#[from] PostgresError),
    /// An engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Source {
    /// Reads the `[source]` table; file names are relative to `folder`.
    pub(crate) fn read(section: &Section<'_>, folder: &Path) -> Result<Self, DocumentError> {
        let file = section.string("file")?;
        let database = section.section("postgres")?;
        let engine = section.section("engine")?;
        section.finish()?;
        match (file, database, engine) {
            (Some(file), None, None) => Ok(Self::File(folder.join(file))),
            (None, Some(database), None) => {
                Ok(Self::Postgres(Box::new(Postgres::read(&database, folder)?)))
            }
            (None, None, Some(engine)) => {
                Ok(Self::Engine(Box::new(Counted::read(&engine, folder)?)))
            }
            (None, None, None) => Err(section.missing("file")),
            (file, database, _) => {
                let key = match (&file, &database) {
                    (Some(_), _) => "file",
                    _ => "postgres",
                };
                let one = "`source.file`, `source.postgres` and `source.engine` each say where the rows are\nhint: keep one";
                Err(section.wrong(key, one))
            }
        }
    }

    /// The source's name in errors about its rows as a whole.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Postgres(_) => String::from("the database's rows"),
            Self::Engine(counted) => counted.name(),
        }
    }

    /// The source's name across all studies: the file by its full path, whoever reads or counts it; the
    /// database, whatever is read from it.
    pub fn identity(&self) -> String {
        let real = |path: &PathBuf| {
            if is_address(path) {
                let address = path.display().to_string();
                return address.trim_end_matches('/').to_owned();
            }
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            real.display().to_string()
        };
        match self {
            Self::File(path) => real(path),
            Self::Engine(counted) => {
                let paths: Vec<String> = counted.paths.iter().map(real).collect();
                paths.join(", ")
            }
            Self::Postgres(database) => format!(
                "the database `{}` at {}:{}",
                database.database, database.host, database.port
            ),
        }
    }

    /// Sees that rows can be read: the file or the server is there, and has the study's columns. No value is
    /// looked at.
    pub async fn check(&self, schema: &Arc<Schema>, is_counted: bool) -> Result<(), SourceError> {
        match self {
            Self::File(path) => Ok(aside(|| match is_counted {
                true => check_counted_columns(path, schema),
                false => check_columns(path, schema, &Others::Refuse),
            })?),
            Self::Postgres(database) => Ok(database.check(schema).await?),
            Self::Engine(counted) => Ok(aside(|| counted.check(schema))?),
        }
    }

    /// Reads all rows, in an order that is the same each time. Where the study counts rows (`is_counted`), they
    /// are counted as they are read.
    pub async fn table(
        &self,
        schema: &Arc<Schema>,
        is_counted: bool,
        progress: &dyn Progress,
    ) -> Result<Table, SourceError> {
        match self {
            Self::File(path) => Ok(aside(|| match is_counted {
                true => count_table(path, schema, &Others::Refuse, progress),
                false => read_table(path, schema, &Others::Refuse, progress),
            })?),
            Self::Postgres(database) => {
                let table = database.table(schema).await?;
                Ok(match is_counted {
                    true => table.into_counted().map_err(FileError::from)?,
                    false => table,
                })
            }
            Self::Engine(counted) => Ok(counted.table_meanwhile(schema, progress).await?),
        }
    }
}

/// Names the rows of a table, their order included.
pub fn digest(table: &Table) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("hedgerow rows v1");
    let attributes = table.schema().attributes();
    hasher.update(&(table.rows() as u64).to_le_bytes());
    for (position, attribute) in attributes.iter().enumerate() {
        let mut text = |text: &str| {
            hasher
                .update(&(text.len() as u64).to_le_bytes())
                .update(text.as_bytes());
        };
        text(&attribute.name);
        match table.column(position) {
            Column::Text(texts) => texts.iter().for_each(text),
            Column::Absent(_) => {}
            Column::Coded(codes) => {
                for code in codes.iter() {
                    hasher.update(&code.to_le_bytes());
                }
            }
        }
    }
    if let Some(counts) = table.counts() {
        hasher.update(b"records");
        for count in counts {
            hasher.update(&count.to_le_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}
