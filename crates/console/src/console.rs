//! A site's console: what its pages share.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use hedgerow::node::console::ConsoleSettings;
use hedgerow::{Error, Site};
use tokio::runtime::Handle;

use crate::attempts::Attempts;
use crate::decisions::Decisions;
use crate::drafts::Drafts;
use crate::error::ConsoleError;
use crate::events::Changes;
use crate::hosts::Hosts;
use crate::html::failure::Failure;
use crate::jobs::Jobs;
use crate::links::{For, Links};
use crate::questions::QuestionsKept;
use crate::record::{Entry, Record};
use crate::sessions::Sessions;
use crate::streams::Streams;
use crate::users::Users;
use crate::versions::Versions;

/// The console of one site.
pub struct Console {
    /// The site's file.
    site: PathBuf,
    pub(crate) settings: ConsoleSettings,
    pub(crate) hosts: Hosts,
    pub(crate) users: Users,
    pub(crate) record: Record,
    pub(crate) versions: Versions,
    pub(crate) drafts: Drafts,
    pub(crate) questions: QuestionsKept,
    pub(crate) sessions: Sessions,
    pub(crate) attempts: Attempts,
    pub(crate) links: Links,
    pub(crate) changes: Changes,
    pub(crate) streams: Streams,
    pub(crate) jobs: Jobs,
    pub(crate) decisions: Decisions,
    /// Held while an officer decides about a run.
    pub(crate) deciding: tokio::sync::Mutex<()>,
}

impl Console {
    /// The console of the site whose file this is, served at an address. Refused where other machines would
    /// reach it without TLS, and where the site's file, or the file of users, cannot be read.
    pub fn new(
        site: impl Into<PathBuf>,
        settings: ConsoleSettings,
        at: SocketAddr,
    ) -> Result<Arc<Self>, ConsoleError> {
        let site = site.into();
        if let Some(why) = settings.missing() {
            return Err(ConsoleError::Closed(why));
        }
        Site::open(&site)?;
        let users = Users::beside(&site);
        users.all()?;
        let folder = users.path().parent().unwrap_or(Path::new("."));
        let (record, versions) = (Record::in_folder(folder), Versions::in_folder(folder));
        let (drafts, questions) = (Drafts::in_folder(folder), QuestionsKept::in_folder(folder));
        let decisions = Decisions::in_folder(folder);
        Ok(Arc::new(Self {
            hosts: Hosts::of(&settings, at),
            users,
            record,
            versions,
            drafts,
            questions,
            decisions,
            sessions: Sessions::default(),
            attempts: Attempts::default(),
            links: Links::default(),
            changes: Changes::new(),
            streams: Streams::default(),
            jobs: Jobs::default(),
            deciding: tokio::sync::Mutex::default(),
            settings,
            site,
        }))
    }

    /// Where people find the console.
    pub fn address(&self) -> String {
        self.hosts.address()
    }

    /// An address that makes the first user, once; nothing where there are users, or where other machines
    /// reach the console: there `hedgerow console user add` makes the first user.
    pub fn first_link(&self) -> Result<Option<String>, ConsoleError> {
        if !self.settings.listen.ip().is_loopback() || !self.has_nobody()? {
            return Ok(None);
        }
        let token = self.links.make(For::First, Instant::now())?;
        Ok(Some(format!("{}/first/{token}", self.address())))
    }

    /// Whether nobody may use the pages yet.
    pub fn has_nobody(&self) -> Result<bool, ConsoleError> {
        Ok(self.users.all()?.is_empty())
    }

    /// The site's file.
    pub(crate) fn path(&self) -> &Path {
        &self.site
    }

    pub(crate) const fn is_tls(&self) -> bool {
        self.settings.tls.is_some()
    }

    /// Asks the site something that waits for a disk.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Site) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Failure> {
        let path = self.site.clone();
        let asked = tokio::task::spawn_blocking(move || question(&Site::open(path)?));
        Ok(asked.await.map_err(|_| Failure::mistake())??)
    }

    /// Has the site do something that waits for other machines.
    pub(crate) async fn act<T: Send + 'static>(
        &self,
        act: impl AsyncFnOnce(&Site) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Failure> {
        let path = self.site.clone();
        let handle = Handle::current();
        let done = tokio::task::spawn_blocking(move || {
            let site = Site::open(path)?;
            handle.block_on(act(&site))
        });
        Ok(done.await.map_err(|_| Failure::mistake())??)
    }

    /// Writes down what somebody did.
    pub(crate) async fn note(&self, entry: Entry) -> Result<(), ConsoleError> {
        let record = self.record.clone();
        let failed = ConsoleError::NoRecord {
            file: record.path().to_owned(),
            reason: String::from("the program could not wait for the disk"),
        };
        tokio::task::spawn_blocking(move || record.add(&entry))
            .await
            .unwrap_or(Err(failed))
    }

    /// Writes down what somebody did who is not signed in.
    pub(crate) async fn note_stranger(
        &self,
        who: &str,
        from: IpAddr,
        (what, result): (&str, &str),
    ) -> Result<(), ConsoleError> {
        let mut entry = Entry::now(who, &from.to_string(), what);
        entry.result = result.to_owned();
        self.note(entry).await
    }
}
