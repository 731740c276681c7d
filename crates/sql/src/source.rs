//! What answers questions: a release folder, or the table that sites hold together, through a site's node.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use hedgerow::query::Released;
use hedgerow::{JointTable, Release, Site};
use hedgerow_data::Schema;
use hedgerow_protocols::query::{Answered, Question};

use crate::error::SqlError;

/// A table that answers questions.
#[async_trait]
pub trait Source: fmt::Debug + Send + Sync {
    /// The table's name, which is the study's.
    fn name(&self) -> &str;

    /// The columns of the study.
    fn schema(&self) -> &Arc<Schema>;

    /// Whether the table has a column of the study.
    fn has(&self, position: usize) -> bool;

    /// Whether the table says which values of these columns stand in one row: not so where they are in
    /// different tables of a fragmented release.
    fn is_joined(&self, positions: &[usize]) -> bool;

    /// Answers a question.
    async fn ask(&self, question: Question) -> Result<Answered, SqlError>;
}

/// A release folder as a source.
#[derive(Debug, Clone)]
pub struct ReleaseSource(Arc<Released>);

impl ReleaseSource {
    /// Reads the folder of a release.
    pub fn open(path: impl AsRef<Path>) -> Result<Arc<dyn Source>, SqlError> {
        let release = Release::open(path.as_ref()).map_err(Box::new)?;
        let released = Released::open(&release, &()).map_err(Box::new)?;
        Ok(Arc::new(Self(Arc::new(released))))
    }
}

#[async_trait]
impl Source for ReleaseSource {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema(&self) -> &Arc<Schema> {
        self.0.schema()
    }

    fn has(&self, position: usize) -> bool {
        self.0.has(position)
    }

    fn is_joined(&self, positions: &[usize]) -> bool {
        self.0.is_joined(positions)
    }

    async fn ask(&self, question: Question) -> Result<Answered, SqlError> {
        let released = Arc::clone(&self.0);
        let asked = tokio::task::spawn_blocking(move || released.ask(&question)).await;
        match asked {
            Ok(answered) => answered.map_err(unanswered),
            Err(error) => Err(SqlError::Running {
                reason: error.to_string(),
            }),
        }
    }
}

/// The table that sites hold together since a run, asked through the node of one of them. Whether the run
/// published a release makes no difference.
#[derive(Debug, Clone)]
pub struct SiteSource(Arc<JointTable>);

impl SiteSource {
    /// The table of a site's file; of its last run, where none is named.
    pub fn open(site: impl AsRef<Path>, run: Option<u32>) -> Result<Arc<dyn Source>, SqlError> {
        let site = Site::open(site.as_ref()).map_err(Box::new)?;
        let table = site.joint_table(run).map_err(Box::new)?;
        Ok(Arc::new(Self(Arc::new(table))))
    }
}

#[async_trait]
impl Source for SiteSource {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema(&self) -> &Arc<Schema> {
        self.0.schema()
    }

    fn has(&self, position: usize) -> bool {
        self.0.has(position)
    }

    fn is_joined(&self, _positions: &[usize]) -> bool {
        true
    }

    async fn ask(&self, question: Question) -> Result<Answered, SqlError> {
        self.0.ask(&question).await.map_err(unanswered)
    }
}

/// Why a question has no answer.
fn unanswered(error: hedgerow::Error) -> SqlError {
    match error {
        hedgerow::Error::Ask(refused) => SqlError::Refused(refused),
        error => SqlError::Table(Box::new(error)),
    }
}
