//! A site of a study: its own file, its part in runs, and what is known of these runs.

mod acceptance;
mod audit;
mod check;
mod decide;
mod draft;
mod due;
mod folder;
mod gate;
mod ledger;
mod local;
mod metrics;
mod part;
mod past;
mod play;
mod post;
mod questions;
pub(crate) mod refused;
mod rejoin;
mod releases;
mod runs;
mod serve;
mod sign;
mod standing;
mod status;
mod up;
mod vitals;
mod watch;
mod ways;

pub use audit::Audit;
pub use check::{Change, SiteCheck, SiteFault, SiteLine};
pub use decide::CarriedOut;
pub use draft::{DraftedSite, SiteDraft};
pub use ledger::{LearnedInAll, SiteLedger};
pub use questions::JointTable;
pub use rejoin::Rejoined;
pub use releases::ReleaseOf;
pub use runs::{PeerFrames, RunList, RunState, RunStatus};
pub use sign::Signing;
pub use standing::{Standing, State};
pub use status::Status;
pub use up::{NodeStatus, PeerStatus};
pub use watch::RunSummary;

use std::path::PathBuf;
use std::sync::Arc;

use hedgerow_node::site::SiteFile;
use tokio::sync::Notify;

use crate::error::Error;
use crate::observe::{Observer, SharedObserver};
use part::Part;

/// One site of a study, opened from its own file.
///
/// Methods that take part in a run are asynchronous and need a tokio runtime with time and network.
///
/// ```
/// use hedgerow::Site;
/// # use hedgerow::{Draft, Study, node::identity::Secret};
/// # use std::os::unix::fs::PermissionsExt as _;
/// # let folder = tempfile::tempdir()?;
/// # std::env::set_current_dir(&folder)?;
/// # let mut study = Study::draft(Draft::Horizontal).to_owned();
/// # for name in ["north", "south"] {
/// #     let secret = Secret::generate()?;
/// #     secret.write_new(format!("{name}.key").as_ref())?;
/// #     study.push_str(&format!("[[site]]\nname = \"{name}\"\nkey = \"{}\"\n", secret.public()));
/// # }
/// # std::fs::write("study.toml", study)?;
/// # std::fs::write("north.toml", "site = \"north\"\nstudy = \"study.toml\"\nkey = \"north.key\"\ndata = \"data\"\n[source]\nfile = \"north.csv\"\n[accept]\nminimum_k = 10\n")?;
/// # std::fs::set_permissions("north.toml", std::fs::Permissions::from_mode(0o600))?;
///
/// let site = Site::open("north.toml")?;
/// assert!(site.status()?.runs.is_empty());
/// assert!(site.ledger()?.sites.is_empty());
///
/// # let _never = async {
/// // Between machines: start a run, or wait for runs that others start.
/// let summary = site.run(1, None).await?;
/// println!("{}", summary.text);
/// println!("{}", site.audit(1, None, None).await?);
/// site.serve().await
/// # };
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Site {
    path: PathBuf,
    file: SiteFile,
    observer: SharedObserver,
    reload: Notify,
}

impl Site {
    /// Reads a site's file.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        Ok(Self {
            file: SiteFile::open(&path)?,
            path,
            observer: Arc::new(()),
            reload: Notify::new(),
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
