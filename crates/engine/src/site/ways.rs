//! The ways between sites: who the peers of a site are, where they listen, and how a site tells them
//! that it does not take its part.

use std::sync::Arc;

use hedgerow_data::Study;
use hedgerow_node::End;
use hedgerow_node::knock::Door;
use hedgerow_node::site::SiteFile;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::part::Part;
use super::refused::SiteRefused;
use crate::error::Error;

impl Part {
    /// Tells the peers that this site does not take its part, so that the peers do not wait for this
    /// site.
    pub(crate) async fn decline(&self, number: u32, end: End) {
        let door = Arc::new(self.door());
        let mut telling = JoinSet::new();
        for (peer, _) in self.peers() {
            if let Ok(address) = self.address(peer) {
                let door = Arc::clone(&door);
                telling.spawn(async move { door.decline(peer, &address, number, end).await });
            }
        }
        telling.join_all().await;
    }

    /// The other sites, by place and name.
    pub(crate) fn peers(&self) -> impl Iterator<Item = (u16, &str)> {
        let sites = self.agreement.study.sites.iter().enumerate();
        // A study has at most 1,000 sites that can run.
        sites
            .map(|(place, site)| (place as u16, site.name.as_str()))
            .filter(|(place, _)| *place != self.place)
    }

    /// Where a waiting node hears of a run, and this site knocks.
    pub(crate) fn door(&self) -> Door {
        Door {
            me: self.place,
            study: self.agreement.hash,
            secret: Arc::clone(&self.secret),
            keys: self.keys.clone(),
            questions: self.questions.get().cloned(),
        }
    }

    /// The way to a site.
    pub(crate) fn address(&self, place: u16) -> Result<String, Error> {
        way_to(&self.site, &self.agreement.study, place.into())
    }

    /// Where this site listens.
    pub(crate) fn listens_at(&self) -> Result<&str, Error> {
        listens_at(&self.site, &self.agreement.study, self.place.into())
    }

    pub(crate) async fn listen(&self) -> Result<TcpListener, Error> {
        let listen = self.listens_at()?;
        TcpListener::bind(listen).await.map_err(|source| {
            let address = listen.to_owned();
            SiteRefused::CannotListen { address, source }.into()
        })
    }

    /// The name of a site.
    pub(crate) fn name_of(&self, place: u16) -> &str {
        &self.agreement.study.sites[usize::from(place)].name
    }
}

/// The way from a site to the peer at this place.
pub(super) fn way_to(file: &SiteFile, study: &Study, place: usize) -> Result<String, Error> {
    let site = &study.sites[place];
    let way = file.peers.iter().find(|(name, _)| *name == site.name);
    let way = way.map(|(_, address)| address).or(site.address.as_ref());
    way.cloned().ok_or_else(|| {
        let site = site.name.clone();
        SiteRefused::NoAddress { site }.into()
    })
}

/// Where the site at this place listens.
pub(super) fn listens_at<'s>(
    file: &'s SiteFile,
    study: &'s Study,
    place: usize,
) -> Result<&'s str, Error> {
    let own = &study.sites[place];
    let listen = file.listen.as_ref().or(own.address.as_ref());
    listen.map(String::as_str).ok_or_else(|| {
        let site = own.name.clone();
        SiteRefused::NoOwnAddress { site }.into()
    })
}
