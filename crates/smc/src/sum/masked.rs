//! The hardened sum: pairwise masks that cancel, in one round.
//!
//! After Bonawitz et al., "Practical secure aggregation" (CCS 2017), without dropouts: of each pair of
//! sites the first adds the pair's stream and the second takes it off. What a site sends looks uniform
//! to everyone who does not know all its masks; as long as two sites do not collude, their common mask
//! hides how the sum of both is split between them.
//!
//! # Discloses
//! The sum, nothing else, to any m - 2 colluding sites.

use crate::error::Error;
use crate::network::Site;
use crate::party::Joined;
use crate::random::Purpose;
use crate::settings::Topology;
use crate::wire;

impl Joined {
    pub(super) async fn masked_sum(
        &mut self,
        topology: Topology,
        pivot: Option<Site>,
        values: &mut [u64],
    ) -> Result<(), Error> {
        add_masks(self, Purpose::SumMask, values);
        match (topology, pivot) {
            (Topology::AllToAll, None) => {
                let message = encode(values);
                self.link.broadcast(&message)?;
                for peer in self.peers() {
                    self.receive_and_add(peer, values).await?;
                }
            }
            (Topology::Tree, pivot) => self.tree(pivot, values).await?,
            (Topology::AllToAll, Some(pivot)) => self.star(pivot, true, values).await?,
            (Topology::Star, pivot) => {
                self.star(pivot.unwrap_or(Site::new(0)), pivot.is_some(), values)
                    .await?;
            }
        }
        Ok(())
    }

    /// Sends all vectors to `hub`, and the sum back unless `hub` keeps it.
    async fn star(&mut self, hub: Site, keeps: bool, values: &mut [u64]) -> Result<(), Error> {
        if self.me == hub {
            for peer in self.peers() {
                self.receive_and_add(peer, values).await?;
            }
            if !keeps {
                self.link.broadcast(&encode(values))?;
            }
            return Ok(());
        }
        self.link.send(hub, &encode(values))?;
        if keeps {
            values.fill(0);
            return Ok(());
        }
        self.receive_into(hub, values).await
    }

    /// Sums up a binary tree whose root is the pivot or site 0, and sends the sum down again unless a
    /// pivot keeps it. Places in the tree are counted from the root on, so that any site can be the
    /// root.
    async fn tree(&mut self, pivot: Option<Site>, values: &mut [u64]) -> Result<(), Error> {
        let root = pivot.map_or(0, Site::index);
        let sites = self.sites;
        let site_at = |place: usize| Site::new(((place + root) % sites) as u16);
        let place = (self.me.index() + sites - root) % sites;
        let children = [2 * place + 1, 2 * place + 2]
            .into_iter()
            .filter(|&child| child < sites);
        for child in children.clone() {
            self.receive_and_add(site_at(child), values).await?;
        }
        if place > 0 {
            let parent = site_at((place - 1) / 2);
            self.link.send(parent, &encode(values))?;
            if pivot.is_some() {
                values.fill(0);
                return Ok(());
            }
            self.receive_into(parent, values).await?;
        }
        if pivot.is_none() {
            let message = encode(values);
            for child in children {
                self.link.send(site_at(child), &message)?;
            }
        }
        Ok(())
    }

    async fn receive_and_add(&mut self, peer: Site, values: &mut [u64]) -> Result<(), Error> {
        let message = self.link.receive(peer, values.len() * 8).await?;
        let words = wire::unpack(&message, values.len(), 8);
        for (value, word) in values
            .iter_mut()
            .zip(words.map_err(|e| self.link.invalid(peer, e))?)
        {
            *value = value.wrapping_add(word);
        }
        Ok(())
    }

    pub(super) async fn receive_into(
        &mut self,
        peer: Site,
        values: &mut [u64],
    ) -> Result<(), Error> {
        values.fill(0);
        self.receive_and_add(peer, values).await
    }
}

/// Adds this site's masks: with each peer one stream, added by the first of the two and taken off by the
/// second. Over all sites the masks cancel.
pub(crate) fn add_masks(joined: &Joined, purpose: Purpose, values: &mut [u64]) {
    for peer in joined.peers() {
        let stream = joined.stream(peer, purpose);
        if joined.me < peer {
            stream.over(values, u64::wrapping_add);
        } else {
            stream.over(values, u64::wrapping_sub);
        }
    }
}

pub(super) fn encode(values: &[u64]) -> Vec<u8> {
    let mut message = Vec::with_capacity(values.len() * 8);
    wire::pack(values.iter().copied(), 8, &mut message);
    message
}
