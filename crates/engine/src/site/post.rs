//! Where a node stands while it is up: the part that it takes in runs, where it listens, what it serves
//! beside runs, and whether its rows can be read. A node whose site's file or study was read anew turns to
//! the new part between runs, and keeps of the old what did not change.

use std::net::SocketAddr;
use std::sync::Arc;

use hedgerow_node::Entrance;
use hedgerow_node::health::Served;
use hedgerow_node::journal::{Journal, Up};
use hedgerow_node::questions::Serving;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::metrics;
use super::part::Part;
use super::refused::SiteRefused;
use super::vitals::{Keeping, Pulse};
use crate::error::Error;
use crate::observe::{LOOKING_AGAIN, Notice};

/// Where a node stands.
pub(super) struct Post {
    pub(super) part: Part,
    /// Where others come in.
    pub(super) entrance: Entrance,
    /// The port, held from run to run, so that no other process gets it in between.
    port: Option<Arc<TcpListener>>,
    pulse: Arc<Pulse>,
    /// Questions are answered while the node waits, and during runs.
    questions: Option<Serving>,
    metrics: Option<(SocketAddr, Served)>,
    looking: Option<Looking>,
    // Dropped last, and in this order: the file says how the node ended, then the node is down.
    keeping: Keeping,
    up: Up,
}

/// What a part needs that another part did not have.
struct Fresh {
    /// The same address as before has the same port.
    port: Option<Option<Arc<TcpListener>>>,
    /// The same address as before has the same server.
    metrics: Option<Option<(SocketAddr, Served)>>,
    up: Option<Up>,
}

impl Fresh {
    /// Takes everything that is needed, or nothing.
    async fn of(part: &Part, former: Option<&Post>, pulse: &Arc<Pulse>) -> Result<Self, Error> {
        let is_new_folder = former.is_none_or(|post| post.part.site.data != part.site.data);
        let is_new_study =
            former.is_none_or(|post| post.part.agreement.hash != part.agreement.hash);
        if is_new_folder || is_new_study {
            // Makes the data folder, and sees that nobody else is at work in it.
            drop(part.journal()?);
        }
        let is_new_address = match former {
            Some(post) => post.part.listens_at()? != part.listens_at()?,
            None => true,
        };
        let port = match is_new_address {
            true => Some(part.listen().await?),
            false => None,
        };
        let up = match is_new_folder {
            true => Some(Up::take(&part.site.data)?.ok_or_else(|| {
                let data = part.site.data.clone();
                SiteRefused::NodeThere { data }
            })?),
            false => None,
        };
        let before = former.and_then(|post| post.metrics.as_ref().map(|(address, _)| *address));
        let metrics = match part.site.metrics {
            address if former.is_some() && address == before => None,
            None => Some(None),
            Some(address) => {
                let served = metrics::serve(address, &part.site.name, pulse).await?;
                Some(Some((address, served)))
            }
        };
        Ok(Self { port, metrics, up })
    }
}

impl Post {
    /// Takes the post of a part.
    pub(super) async fn take(part: Part, pulse: &Arc<Pulse>) -> Result<Self, Error> {
        let Fresh { port, metrics, up } = Fresh::of(&part, None, pulse).await?;
        let (Some(port), Some(up)) = (port, up) else {
            // Without a former post everything is fresh.
            let data = part.site.data.clone();
            return Err(SiteRefused::NodeThere { data }.into());
        };
        let address = address(&part, port.as_deref())?;
        know(pulse, &part, &address);
        let entrance = part.enter(port.clone())?;
        let mut post = Self {
            questions: part.serve_questions(),
            looking: None,
            keeping: pulse.keep(&part.site.data),
            pulse: Arc::clone(pulse),
            part,
            entrance,
            port,
            metrics: metrics.flatten(),
            up,
        };
        post.say(address);
        post.look_at_rows();
        Ok(post)
    }

    /// Turns to another part, which is this site's from now on, or stays at the post with an error.
    pub(super) async fn turn_to(&mut self, part: Part) -> Result<(), Error> {
        let fresh = Fresh::of(&part, Some(self), &self.pulse).await?;
        let port = fresh.port.unwrap_or_else(|| self.port.clone());
        let address = address(&part, port.as_deref())?;
        self.entrance = part.enter(port.clone())?;
        self.port = port;
        // The socket of front ends is closed before it is opened again.
        self.questions = None;
        if let Some(metrics) = fresh.metrics {
            self.metrics = metrics;
        }
        know(&self.pulse, &part, &address);
        if let Some(up) = fresh.up {
            self.keeping = self.pulse.keep(&part.site.data);
            self.up = up;
        }
        self.part = part;
        self.pulse.change(|vitals| vitals.reloads += 1);
        self.questions = self.part.serve_questions();
        self.say(address);
        self.look_at_rows();
        Ok(())
    }

    /// Looks whether the rows can be read, and says so.
    pub(super) fn look_at_rows(&mut self) {
        self.looking = Some(Looking::at(&self.part));
    }

    /// The run that stands in the way of a part: a run under way of another study, or in another folder.
    pub(super) fn in_the_way_of(&self, part: &Part) -> Result<Option<u32>, Error> {
        let is_same_study = self.part.agreement.hash == part.agreement.hash;
        if is_same_study && self.part.site.data == part.site.data {
            return Ok(None);
        }
        let mut entries = Journal::look(&self.part.site.data)?.into_iter();
        let under_way =
            entries.find(|entry| entry.study == self.part.agreement.hash && !entry.is_over);
        Ok(under_way.map(|entry| entry.number))
    }

    fn say(&self, address: String) {
        let part = &self.part;
        let metrics = self.metrics.as_ref();
        part.observer.notice(Notice::Serving {
            site: part.site.name.clone(),
            study: part.agreement.study.name.clone(),
            hash: part.agreement.hash.to_string(),
            address,
            metrics: metrics.map(|(_, served)| served.address().to_string()),
        });
    }
}

/// Where a part is reached, in words.
fn address(part: &Part, port: Option<&TcpListener>) -> Result<String, SiteRefused> {
    let address = port.map(TcpListener::local_addr).transpose();
    let address = address.map_err(SiteRefused::Listener)?;
    let address = address.map(|address| address.to_string());
    Ok(match (address, part.through()) {
        (Some(address), Some(hub)) => format!("{address}, and through the hub `{hub}`"),
        (None, Some(hub)) => format!("no port, but through the hub `{hub}`"),
        (address, None) => address.unwrap_or_default(),
    })
}

/// From now on the node is this part's.
fn know(pulse: &Pulse, part: &Part, address: &str) {
    pulse.set_peers(&part.site.data, part.peers().map(|(_, name)| name));
    pulse.change(|vitals| {
        vitals.study_hash = part.agreement.hash.to_string();
        vitals.site_file.clone_from(&part.site.print);
        address.clone_into(&mut vitals.address);
    });
}

/// Looks whether rows can be read, again and again until they can, or until this value is dropped.
struct Looking(JoinHandle<()>);

impl Looking {
    fn at(part: &Part) -> Self {
        let source = part.site.source.clone();
        let schema = part.ready.study.schema_at(usize::from(part.place));
        let is_counted = part.ready.study.is_counted();
        let observer = Arc::clone(&part.observer);
        Self(tokio::spawn(async move {
            let mut said = None;
            while let Err(error) = source.check(&schema, is_counted).await {
                let why = Error::from(error).without_values();
                if said.as_ref() != Some(&why) {
                    observer.notice(Notice::SourceUnfit(why.clone()));
                    said = Some(why);
                }
                tokio::time::sleep(LOOKING_AGAIN).await;
            }
            observer.notice(Notice::SourceFits(source.name()));
        }))
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.0.abort();
    }
}
