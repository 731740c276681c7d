//! A site of a study: its own file, its part in runs, and what is known of these runs.

mod audit;
mod decide;
mod due;
mod folder;
mod gate;
mod ledger;
mod part;
mod play;
pub(crate) mod refused;
mod rejoin;
mod serve;
mod standing;
mod status;
mod watch;
mod ways;

pub use audit::Audit;
pub use decide::CarriedOut;
pub use ledger::{LearnedInAll, SiteLedger};
pub use rejoin::Rejoined;
pub use standing::{Standing, State};
pub use status::Status;
pub use watch::RunSummary;

use std::path::PathBuf;
use std::sync::Arc;

use hedgerow_node::site::SiteFile;

use crate::error::Error;
use crate::observe::{Observer, SharedObserver};
use part::Part;

/// One site of a study, opened from its own file.
///
/// Methods that take part in a run are asynchronous and need a tokio runtime with time and network.
///
/// ```no_run
/// # async fn steward() -> Result<(), hedgerow::Error> {
/// use hedgerow::Site;
///
/// let site = Site::open("north.toml")?;
/// println!("{}", site.status()?);
/// let summary = site.run(1, None).await?;
/// println!("{}", summary.text);
/// println!("{}", site.ledger()?);
/// println!("{}", site.audit(1, None, None).await?);
/// # Ok(())
/// # }
/// ```
pub struct Site {
    path: PathBuf,
    file: SiteFile,
    observer: SharedObserver,
}

impl Site {
    /// Reads a site's file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        Ok(Self {
            file: SiteFile::open(&path)?,
            path,
            observer: Arc::new(()),
        })
    }

    /// The observer that hears how the work goes on.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Arc::new(observer);
        self
    }

    /// What the site's file says.
    pub const fn file(&self) -> &SiteFile {
        &self.file
    }

    /// The site's part in runs, if the study is signed by all and accepted here.
    fn part(&self) -> Result<Part, Error> {
        Part::open(&self.path, &self.observer)
    }
}
