//! Whether a site's node is up, what it serves, and when it heard of its peers.

use hedgerow_node::agreement::Agreement;
use hedgerow_node::journal::{Journal, Up};
use hedgerow_node::site::SiteFile;
use serde_json::{Value, json};

use super::Site;
use super::vitals::{Contact, Vitals, moment};
use crate::error::Error;
use crate::words::aligned;

/// A site's node, as it shows itself. Times are universal, as people read them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NodeStatus {
    /// Whether a node is up.
    pub is_up: bool,
    /// Since when the node is up.
    pub since: Option<String>,
    /// Where the node listens.
    pub address: Option<String>,
    /// The hash of the study that the node serves.
    pub study_hash: Option<String>,
    /// Whether the node serves another study than the file says now.
    pub serves_other: bool,
    /// Whether the node goes by the site's file as it was before a change.
    pub has_older_file: bool,
    /// Why the rows cannot be read, without any value of a record.
    pub unfit_source: Option<String>,
    /// The peers, in the study's order.
    pub peers: Vec<PeerStatus>,
}

/// A peer, as a site's node heard of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerStatus {
    /// The peer.
    pub site: String,
    /// Whether there is a connection.
    pub is_connected: bool,
    /// When the peer was last heard of.
    pub last_contact: Option<String>,
}

impl Site {
    /// Whether this site's node is up, and when it heard of its peers.
    pub fn node(&self) -> Result<NodeStatus, Error> {
        NodeStatus::look(&self.file, &Agreement::open(&self.file.study)?)
    }
}

impl NodeStatus {
    /// Whether a site's node is up and goes by the site's file as it was before a change.
    pub(super) fn has_older_file(site: &SiteFile) -> Result<bool, Error> {
        let vitals = Vitals::read(&site.data).filter(|vitals| vitals.site_file != site.print);
        Ok(vitals.is_some() && Up::is_taken(&site.data)?)
    }

    pub(super) fn look(site: &SiteFile, agreement: &Agreement) -> Result<Self, Error> {
        let is_up = Up::is_taken(&site.data)?;
        // What a process that is gone knew of connections is over.
        let is_at_work = is_up || Journal::is_held(&site.data)?;
        let vitals = Vitals::read(&site.data);
        let names = agreement.study.sites.iter().map(|peer| &peer.name);
        let peers = names.filter(|name| **name != site.name).map(|name| {
            let known = vitals.as_ref().and_then(|vitals| vitals.peers.get(name));
            let is_connected = known.is_some_and(Contact::is_connected);
            PeerStatus {
                site: name.clone(),
                is_connected: is_at_work && is_connected,
                last_contact: known.and_then(|contact| contact.last).map(moment),
            }
        });
        let peers = peers.collect();
        // A node that has just begun has written nothing yet.
        let vitals = vitals.filter(|_| is_up);
        let hash = agreement.hash.to_string();
        Ok(Self {
            is_up,
            since: vitals.as_ref().map(|vitals| moment(vitals.since)),
            serves_other: vitals.as_ref().is_some_and(|one| one.study_hash != hash),
            has_older_file: vitals
                .as_ref()
                .is_some_and(|one| one.site_file != site.print),
            unfit_source: vitals.as_ref().and_then(|one| one.unfit_source.clone()),
            study_hash: vitals.as_ref().map(|one| one.study_hash.clone()),
            address: vitals.map(|vitals| vitals.address),
            peers,
        })
    }

    pub(super) fn lines(&self, agreement: &Agreement) -> String {
        let mut text = match (&self.since, &self.address) {
            (Some(since), Some(address)) => {
                format!("the node is up since {since} UTC, at {address}\n")
            }
            _ if self.is_up => String::from("the node is up\n"),
            _ => String::from("the node is down\n"),
        };
        if let Some(why) = &self.unfit_source {
            let why = why.replace('\n', "\n  ");
            text.push_str(&format!("  the rows cannot be read: {why}\n"));
        }
        if let Some(served) = self.study_hash.as_ref().filter(|_| self.serves_other) {
            text.push_str(&format!(
                "  it serves the study {served}, and this file is {}\n  hint: send the node SIGHUP, and it reads the study anew\n",
                agreement.hash
            ));
        }
        if self.has_older_file {
            text.push_str(
                "  it goes by the site's file as it was before a change\n  hint: send the node SIGHUP, and it reads the file anew\n",
            );
        }
        let row = |peer: &PeerStatus| vec![format!("  {}", peer.site), peer.words()];
        let rows: Vec<Vec<String>> = self.peers.iter().map(row).collect();
        text.push_str(&aligned(&rows));
        text
    }

    pub(super) fn value(&self) -> Value {
        match &self.since {
            Some(since) => json!({
                "up": true,
                "since": since,
                "address": self.address,
                "study_hash": self.study_hash,
                "has_older_file": self.has_older_file,
                "unfit_source": self.unfit_source,
            }),
            None => json!({ "up": self.is_up }),
        }
    }

    pub(super) fn peers_value(&self) -> Vec<Value> {
        let peers = self.peers.iter();
        peers
            .map(|peer| {
                json!({
                    "site": peer.site,
                    "connected": peer.is_connected,
                    "last_contact": peer.last_contact,
                })
            })
            .collect()
    }
}

impl PeerStatus {
    /// When the peer was heard of, in words.
    pub fn words(&self) -> String {
        match &self.last_contact {
            _ if self.is_connected => String::from("connected"),
            Some(last) => format!("last heard of {last} UTC"),
            None => String::from("never heard of"),
        }
    }
}
