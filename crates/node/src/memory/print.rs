//! The marks by which a memory recognizes rows: their source, the bytes of a file, and their codes in
//! any order.

use std::path::Path;

use hedgerow_data::files::files_of;
use hedgerow_data::study::Partition;
use hedgerow_data::{Column, Role, Table};
use rusqlite::params;

use super::{Memory, MemoryError};
use crate::aside;
use crate::identity::random;
use crate::source::Source;

/// The marks by which a memory recognizes rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Print {
    /// The name of the rows' source.
    pub source: String,
    /// Digest of the file.
    pub bytes: Option<[u8; 32]>,
    /// Digest of the coded rows, in any order.
    pub rows: [u8; 32],
    /// The number of rows.
    pub records: u64,
}

impl Memory {
    /// The marks of rows and their source. Where sites hold the same people, whose record it is belongs to a row;
    /// elsewhere identifiers are of no use to a run, and rows that an engine counts come without them.
    pub fn print(
        &self,
        source: &Source,
        table: &Table,
        partition: Partition,
    ) -> Result<Print, MemoryError> {
        let key = self.key()?;
        let bytes = match source {
            Source::File(path) => Some(self.digest_of(path, &key)?),
            // Their files may be larger than anyone should read twice.
            Source::Postgres(_) | Source::Engine(_) => None,
        };
        Ok(Print {
            source: source.identity(),
            bytes,
            rows: rows_digest(table, partition, &key),
            records: table.records(),
        })
    }

    /// The key of this memory's digests, drawn at the first use.
    fn key(&self) -> Result<[u8; 32], MemoryError> {
        let fresh = random().map_err(|error| self.failed("has no key", &error))?;
        self.change("cannot be set up", |connection| {
            connection.execute(
                "INSERT INTO digest_key (bytes)
                 SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM digest_key)",
                params![fresh.as_slice()],
            )?;
            connection.query_row("SELECT bytes FROM digest_key", [], |row| row.get(0))
        })
    }

    fn digest_of(&self, path: &Path, key: &[u8; 32]) -> Result<[u8; 32], MemoryError> {
        let mut hasher = blake3::Hasher::new_keyed(key);
        let mut read = |file: &Path| {
            let file = std::fs::File::open(file)?;
            hasher.update_reader(file).map(|_| ())
        };
        let files = files_of(path).map_err(std::io::Error::other);
        let read = files.and_then(|files| aside(|| files.iter().try_for_each(|file| read(file))));
        read.map_err(|error| MemoryError::Failed {
            file: path.display().to_string(),
            step: "needs the rows once more, which cannot be read",
            reason: error.to_string(),
        })?;
        Ok(*hasher.finalize().as_bytes())
    }
}

/// The coded records in any order, told one by one or counted: the sum of a keyed digest of each. Nobody who does not
/// have the key can find records with a given sum.
fn rows_digest(table: &Table, partition: Partition, key: &[u8; 32]) -> [u8; 32] {
    let attributes = table.schema().attributes();
    let is_told = |role: Role| role != Role::Identifier || partition == Partition::Vertical;
    let told = (0..attributes.len()).filter(|position| is_told(attributes[*position].role));
    let told: Vec<usize> = told.collect();
    let mut head = blake3::Hasher::new_keyed(key);
    head.update(&table.records().to_le_bytes());
    for attribute in told.iter().map(|position| &attributes[*position]) {
        head.update(&(attribute.name.len() as u64).to_le_bytes());
        head.update(attribute.name.as_bytes());
    }
    let mut sum = [0u64; 4];
    let mut line = Vec::new();
    for row in 0..table.rows() {
        line.clear();
        for position in &told {
            match table.column(*position) {
                Column::Text(texts) => {
                    let text = texts.get(row);
                    line.extend_from_slice(&(text.len() as u64).to_le_bytes());
                    line.extend_from_slice(text.as_bytes());
                }
                Column::Coded(codes) => line.extend_from_slice(&codes.get(row).to_le_bytes()),
                Column::Absent(_) => {}
            }
        }
        let records = table.counts().map_or(1, |counts| counts[row]);
        let digest = blake3::keyed_hash(key, &line);
        for (sum, word) in sum.iter_mut().zip(digest.as_bytes().chunks_exact(8)) {
            let word = word.try_into().map_or(0, u64::from_le_bytes);
            *sum = sum.wrapping_add(word.wrapping_mul(records));
        }
    }
    for word in sum {
        head.update(&word.to_le_bytes());
    }
    *head.finalize().as_bytes()
}
