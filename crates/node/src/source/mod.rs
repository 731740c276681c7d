//! Where a site's rows are: a CSV or Parquet file, or PostgreSQL.
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
//! ```

mod postgres;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::document::{DocumentError, Section};
use hedgerow_data::files::{FileError, Others, Progress, check_columns, read_table};
use hedgerow_data::{Column, Schema, Table};

use crate::aside;

pub use postgres::{Password, Postgres, PostgresError, Rows};

/// Where a site's rows are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The rows lie in a CSV or Parquet file.
    File(PathBuf),
    /// The rows lie in a PostgreSQL database.
    Postgres(Box<Postgres>),
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
}

impl Source {
    /// Reads the `[source]` table; file names are relative to `folder`.
    pub(crate) fn read(section: &Section<'_>, folder: &Path) -> Result<Self, DocumentError> {
        let (file, database) = (section.string("file")?, section.section("postgres")?);
        section.finish()?;
        match (file, database) {
            (Some(file), None) => Ok(Self::File(folder.join(file))),
            (None, Some(database)) => {
                Ok(Self::Postgres(Box::new(Postgres::read(&database, folder)?)))
            }
            (Some(_), Some(_)) => Err(section.wrong(
                "file",
                "`source.file` and `source.postgres` both say where the rows are\nhint: keep one",
            )),
            (None, None) => Err(section.missing("file")),
        }
    }

    /// The source's name in errors about its rows as a whole.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Postgres(_) => String::from("the database's rows"),
        }
    }

    /// The source's name across all studies: the file by its full path; the database, whatever is read
    /// from it.
    pub fn identity(&self) -> String {
        match self {
            Self::File(path) => {
                let real = path.canonicalize().unwrap_or_else(|_| path.clone());
                real.display().to_string()
            }
            Self::Postgres(database) => format!(
                "the database `{}` at {}:{}",
                database.database, database.host, database.port
            ),
        }
    }

    /// Sees that rows can be read: the file or the server is there, and has the study's columns. No value is
    /// looked at.
    pub async fn check(&self, schema: &Arc<Schema>) -> Result<(), SourceError> {
        match self {
            Self::File(path) => Ok(aside(|| check_columns(path, schema, &Others::Refuse))?),
            Self::Postgres(database) => Ok(database.check(schema).await?),
        }
    }

    /// Reads all rows, in an order that is the same each time.
    pub async fn table(
        &self,
        schema: &Arc<Schema>,
        progress: &dyn Progress,
    ) -> Result<Table, SourceError> {
        match self {
            Self::File(path) => Ok(aside(|| {
                read_table(path, schema, &Others::Refuse, progress)
            })?),
            Self::Postgres(database) => Ok(database.table(schema).await?),
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
