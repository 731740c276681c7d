//! The paths of what all sites send to all: from each to each, through a hub, or along a tree.
//!
//! In a star every site sends to the hub and hears from the hub; in a tree to the site above it and from
//! it; the messages of a call are then linear in sites. A star is a tree of one storey, so both go up and
//! down the same way. What goes to one site alone (the shares of a comparison, a sum for one site) goes
//! there directly in every shape: the messages of such calls are linear anyway.
//!
//! Who passes something on could change it. What that can do, and who notices:
//!
//! * A masked vector looks uniform to everyone without all its masks, so a hub learns from it what every
//!   site learns in a mesh: nothing. A changed vector changes the total that all sites get, as a site's own
//!   summand does; nothing else can be aimed at, since a hub does not know what it changes.
//! * A hub that tells sites different totals parts them: masks follow from all answers so far, so between
//!   sites that heard different ones they no longer cancel, and every later sum of both is random. Every
//!   frame between two such sites is refused (`link`): the first of each bits, comparison or question in
//!   which one of them has a role. Between nodes, the seals at the end compare the answers of all with the
//!   answers of all, so that no release comes of answers that two honest sites heard differently.
//! * What sites tell all comes back to each: one whose own words come back changed ends the run.
//! * Keys of joining go the same way. A hub that puts its own keys in place of a site's would know that
//!   site's masks, so every site holds the keys of all (the session, which is their hash) against those
//!   with whom it shares masks or roles, in a frame that goes there directly (`join`).
//!
//! # Discloses
//! Nothing.

use std::collections::VecDeque;

use crate::error::{Error, Misbehaviour};
use crate::link::Link;
use crate::network::Site;
use crate::settings::{Settings, Shape};

/// Where one site stands in the shape of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paths {
    shape: Shape,
    me: Site,
    sites: usize,
    root: Site,
}

impl Paths {
    /// The paths of a run.
    pub(crate) const fn of(settings: &Settings, me: Site, sites: usize) -> Self {
        Self::to(settings.shape, settings.hub, me, sites)
    }

    /// The paths towards a site.
    pub(crate) const fn to(shape: Shape, root: Site, me: Site, sites: usize) -> Self {
        Self {
            shape,
            me,
            sites,
            root,
        }
    }

    /// Whether every site sends to every other.
    pub(crate) fn is_mesh(&self) -> bool {
        self.shape == Shape::Mesh
    }

    /// The site to which this site passes on what goes up; none for the root.
    pub(crate) fn above(&self) -> Option<Site> {
        let place = self.place(self.me);
        (place > 0).then(|| match self.shape {
            Shape::Tree => self.at((place - 1) / 2),
            Shape::Mesh | Shape::Star => self.root,
        })
    }

    /// The sites from which this site gets what goes up.
    pub(crate) fn below(&self) -> Vec<Site> {
        self.below_of(self.me)
    }

    /// In a star in the order of the sites, which decides in which order they are heard.
    fn below_of(&self, site: Site) -> Vec<Site> {
        let place = self.place(site);
        match self.shape {
            Shape::Tree => {
                let places = 2 * place + 1..(2 * place + 3).min(self.sites);
                places.map(|place| self.at(place)).collect()
            }
            Shape::Mesh | Shape::Star if place == 0 => {
                let all = Site::all(self.sites);
                all.filter(|other| *other != site).collect()
            }
            Shape::Mesh | Shape::Star => Vec::new(),
        }
    }

    /// A site and all sites whose words go through it, in the order in which they stand in a message.
    fn through(&self, site: Site) -> Vec<Site> {
        let mut all = Vec::new();
        let mut open = VecDeque::from([site]);
        while let Some(site) = open.pop_front() {
            all.push(site);
            open.extend(self.below_of(site));
        }
        all
    }

    /// Places are counted from the root on, so that any site can be the root.
    const fn place(&self, site: Site) -> usize {
        (site.index() + self.sites - self.root.index()) % self.sites
    }

    const fn at(&self, place: usize) -> Site {
        Site::new(((place + self.root.index()) % self.sites) as u16)
    }

    /// The peer from which this site has what `site` said: the site itself in a mesh.
    pub(crate) fn heard_from(&self, site: Site) -> Site {
        if self.is_mesh() {
            return site;
        }
        let below = self.below();
        let below = below.into_iter();
        let mut below = below.filter(|below| self.through(*below).contains(&site));
        below.next().or(self.above()).unwrap_or(site)
    }

    /// The first part of [`Paths::gather`]: what a mesh sends before it waits.
    pub(crate) fn say(&self, link: &mut Link, own: &[u8]) -> Result<(), Error> {
        if self.is_mesh() && !own.is_empty() {
            link.broadcast(own)?;
        }
        Ok(())
    }

    /// The second part of [`Paths::gather`].
    pub(crate) async fn hear(
        &self,
        link: &mut Link,
        own: Vec<u8>,
        length: impl Fn(Site) -> usize,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let mut said: Vec<Vec<u8>> = vec![Vec::new(); self.sites];
        said[self.me.index()] = own;
        if self.is_mesh() {
            for peer in Site::all(self.sites).filter(|peer| *peer != self.me) {
                if length(peer) > 0 {
                    said[peer.index()] = link.receive(peer, length(peer)).await?;
                }
            }
            return Ok(said);
        }
        let below = self.below();
        for peer in &below {
            self.receive(link, *peer, &self.through(*peer), &length, &mut said)
                .await?;
        }
        let all: Vec<Site> = Site::all(self.sites).collect();
        if let Some(above) = self.above() {
            let own = said[self.me.index()].clone();
            let up = self.through(self.me).into_iter();
            let up: Vec<&[u8]> = up.map(|site| said[site.index()].as_slice()).collect();
            let up = up.concat();
            if !up.is_empty() {
                link.send(above, &up)?;
            }
            self.receive(link, above, &all, &length, &mut said).await?;
            if said[self.me.index()] != own {
                return Err(link.misbehaved(above, Misbehaviour::Lacking));
            }
        }
        let is_something = said.iter().any(|said| !said.is_empty());
        if is_something && !below.is_empty() {
            link.send_to(below, &said.concat())?;
        }
        Ok(said)
    }

    /// What each site says to all, in the order of the sites; `length` is public, and a site that has
    /// nothing to say sends nothing. An error names the site from which bytes came, which may have passed
    /// on what another sent.
    pub(crate) async fn gather(
        &self,
        link: &mut Link,
        own: Vec<u8>,
        length: impl Fn(Site) -> usize,
    ) -> Result<Vec<Vec<u8>>, Error> {
        self.say(link, &own)?;
        self.hear(link, own, length).await
    }

    /// Takes one message with the words of these sites.
    async fn receive(
        &self,
        link: &mut Link,
        peer: Site,
        of: &[Site],
        length: impl Fn(Site) -> usize,
        said: &mut [Vec<u8>],
    ) -> Result<(), Error> {
        let all = of.iter().map(|site| length(*site)).sum();
        if all == 0 {
            return Ok(());
        }
        let message = link.receive(peer, all).await?;
        let mut rest = message.as_slice();
        for site in of {
            let (own, behind) = rest.split_at(length(*site));
            said[site.index()] = own.to_vec();
            rest = behind;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_site_is_reached_once_and_knows_both_ends_of_its_lines(
            sites in 2usize..60,
            root in any::<proptest::sample::Index>(),
            shape in proptest::sample::select(vec![Shape::Star, Shape::Tree]),
        ) {
            let root = Site::new(root.index(sites) as u16);
            let paths = |me| Paths::to(shape, root, me, sites);
            let mut through = paths(root).through(root);
            through.sort_unstable();
            prop_assert!(through.into_iter().eq(Site::all(sites)));
            for me in Site::all(sites) {
                prop_assert_eq!(paths(me).above().is_none(), me == root);
                for below in paths(me).below() {
                    prop_assert_eq!(paths(below).above(), Some(me));
                    for site in paths(root).through(below) {
                        prop_assert_eq!(paths(me).heard_from(site), below);
                    }
                }
                if shape == Shape::Tree {
                    prop_assert!(paths(me).below().len() <= 2);
                }
            }
        }
    }
}
