//! The ways between sites: who the peers of a site are, where they listen or through which hub they are
//! reached, and how a site tells them that it does not take its part.

use std::sync::Arc;

use hedgerow_data::Study;
use hedgerow_node::knock::Door;
use hedgerow_node::site::SiteFile;
use hedgerow_node::{End, Entrance, Relay, Star, Uplink, Visit};
use hedgerow_smc::settings::Shape;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::part::Part;
use super::refused::SiteRefused;
use crate::error::Error;
use crate::study::ready::Ready;

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

    /// Where a waiting node hears of a run, and this site knocks. In a star, a process that others do not call
    /// reaches them through the hub all the same.
    pub(crate) fn door(&self) -> Door {
        let star = self.star.get().cloned();
        Door {
            me: self.place,
            study: self.agreement.hash,
            secret: Arc::clone(&self.secret),
            keys: self.keys.clone(),
            questions: self.questions.get().cloned(),
            // Without a way to the hub there is none to anybody, which every attempt says.
            star: star.or_else(|| self.uplink(false).ok().flatten()),
        }
    }

    /// The hub of the study's star by its place; none where each site has a way to each.
    pub(crate) fn hub(&self) -> Option<u16> {
        hub_of(&self.ready)
    }

    /// The hub's name, where this site is a leaf.
    pub(crate) fn through(&self) -> Option<&str> {
        let hub = self.hub().filter(|hub| *hub != self.place);
        hub.map(|hub| self.name_of(hub))
    }

    /// The way to a site; empty where it leads through the hub.
    pub(crate) fn address(&self, place: u16) -> Result<String, Error> {
        match self.hub() {
            Some(hub) if hub != place => Ok(String::new()),
            _ => way_to(&self.site, &self.agreement.study, place.into()),
        }
    }

    /// Where this site listens; a leaf of a star may listen nowhere.
    pub(crate) fn listens_at(&self) -> Result<Option<&str>, Error> {
        let place = self.place.into();
        listens_at(&self.site, &self.agreement.study, place, self.hub())
    }

    /// Takes this site's port, if it has one.
    pub(crate) async fn listen(&self) -> Result<Option<Arc<TcpListener>>, Error> {
        let Some(listen) = self.listens_at()? else {
            return Ok(None);
        };
        let listener = TcpListener::bind(listen).await.map_err(|source| {
            let address = listen.to_owned();
            SiteRefused::CannotListen { address, source }
        })?;
        Ok(Some(Arc::new(listener)))
    }

    /// Where others come in from now on: at the port, and through the hub of a star.
    pub(crate) fn enter(&self, port: Option<Arc<TcpListener>>) -> Result<Entrance, Error> {
        let star = match self.hub() {
            Some(hub) if hub == self.place => {
                let sites = self.agreement.study.sites.iter();
                let names = sites.map(|site| site.name.clone()).collect();
                Some(Star::Hub(Relay::new(hub, self.agreement.hash, names)))
            }
            Some(_) => self.uplink(true)?,
            None => None,
        };
        let entrance = Entrance::new(port, star.as_ref());
        if let Some(star) = star {
            // A part is entered once.
            let _ = self.star.set(star);
        }
        Ok(entrance)
    }

    /// A connection with the hub of a star, if its address is known. A command beside the hub's own node
    /// speaks with the leaves through that node.
    fn uplink(&self, awaits: bool) -> Result<Option<Star>, Error> {
        let Some(hub) = self.hub() else {
            return Ok(None);
        };
        let address = match self.listens_at()? {
            Some(own) if hub == self.place => here(own),
            _ => self.address(hub)?,
        };
        Ok(Some(Star::Leaf(Uplink::start(Visit {
            me: self.place,
            hub,
            name: self.name_of(hub).to_owned(),
            address,
            study: self.agreement.hash,
            secret: Arc::clone(&self.secret),
            keys: self.keys.clone(),
            awaits,
        }))))
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

/// Where the site at this place listens; only a leaf of a star may listen nowhere.
pub(super) fn listens_at<'s>(
    file: &'s SiteFile,
    study: &'s Study,
    place: usize,
    hub: Option<u16>,
) -> Result<Option<&'s str>, Error> {
    let own = &study.sites[place];
    let listen = file.listen.as_ref().or(own.address.as_ref());
    let is_leaf = hub.is_some_and(|hub| usize::from(hub) != place);
    if listen.is_none() && !is_leaf {
        let site = own.name.clone();
        return Err(SiteRefused::NoOwnAddress { site }.into());
    }
    Ok(listen.map(String::as_str))
}

/// The hub of the star that a study's nodes make, by its place.
pub(super) fn hub_of(ready: &Ready) -> Option<u16> {
    let settings = ready.settings();
    // A study has at most 1,000 sites that can run.
    (settings.shape == Shape::Star).then(|| settings.hub.index() as u16)
}

/// An address for all interfaces is no address to go to.
pub(super) fn here(address: &str) -> String {
    let address = address.replace("0.0.0.0:", "127.0.0.1:");
    address.replace("[::]:", "[::1]:")
}
