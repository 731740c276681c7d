//! How a run in one process is to be done.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::observe::{Observer, SharedObserver};
use crate::simulate::baselines::DEFAULT_SEED;

/// How [`anonymize`](crate::anonymize()), [`simulate`](crate::simulate()) and [`compare`](crate::compare()) are to run.
///
/// ```
/// use hedgerow::Options;
///
/// let options = Options::new().seed(7).out("release");
/// ```
#[derive(Clone)]
pub struct Options {
    pub(crate) seed: u64,
    pub(crate) out: Option<PathBuf>,
    pub(crate) force: bool,
    pub(crate) local: Option<PathBuf>,
    pub(crate) provider_column: Option<String>,
    pub(crate) earlier: Vec<PathBuf>,
    pub(crate) independent: bool,
    pub(crate) time: Option<Duration>,
    pub(crate) limit: Option<Duration>,
    pub(crate) beside: bool,
    pub(crate) observer: SharedObserver,
}

impl Options {
    /// Seed 1, a temporary folder, nobody who watches.
    pub fn new() -> Self {
        Self {
            seed: DEFAULT_SEED,
            out: None,
            force: false,
            local: None,
            provider_column: None,
            earlier: Vec::new(),
            independent: false,
            time: None,
            limit: None,
            beside: false,
            observer: Arc::new(()),
        }
    }

    /// The same seed gives the same run.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The folder of the release. Without one the release lies in a temporary folder, which goes when
    /// the last [`Release`](crate::Release) of it is dropped.
    #[must_use]
    pub fn out(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out = Some(folder.into());
        self
    }

    /// Whether a release that lies in the folder of [`Options::out`] is written over; otherwise it is an error.
    #[must_use]
    pub const fn force(mut self, force: bool) -> Self {
        self.force = force;
        self
    }

    /// The folder into which each simulated site's local anonymized data set goes, as `site-0.csv` and
    /// so on: the site's own rows as the joint classes write them (a_i of JX08), where sites hold
    /// different people. A folder beside that of the release, since a local data set says whose records
    /// are whose.
    #[must_use]
    pub fn local(mut self, folder: impl Into<PathBuf>) -> Self {
        self.local = Some(folder.into());
        self
    }

    /// The column of the one table that names each record's site: for site diversity and m.
    #[must_use]
    pub fn provider_column(mut self, column: impl Into<String>) -> Self {
        self.provider_column = Some(column.into());
        self
    }

    /// An earlier release of the same people, in addition to those that were named: the attacks of two releases that
    /// the study's `[gate]` limits are tried with each.
    #[must_use]
    pub fn earlier(mut self, release: impl Into<PathBuf>) -> Self {
        self.earlier.push(release.into());
        self
    }

    /// Also run each simulated site alone, and one party with all rows: what each loses is in
    /// [`Summary::baselines`](crate::Summary::baselines).
    #[must_use]
    pub const fn independent(mut self) -> Self {
        self.independent = true;
        self
    }

    /// How long [`anonymize`](crate::anonymize()) searches for clusters, instead of the study's effort; how long
    /// [`compare`](crate::compare()) takes for all choices together. What is found then depends on the machine.
    #[must_use]
    pub const fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// A search for clusters that is not over by then ends with the best that it has found; one that is over
    /// finds what it would without a limit.
    #[must_use]
    pub(crate) const fn limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Also find what [`anonymize`](crate::anonymize()) would have lost by cuts, where it finds clusters and cuts
    /// take little beside that: [`Summary::instead`](field@crate::Summary::instead).
    #[must_use]
    pub const fn beside(mut self) -> Self {
        self.beside = true;
        self
    }

    /// The observer that hears how the work goes on.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Arc::new(observer);
        self
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}
