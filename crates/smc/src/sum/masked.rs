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

/// The bytes of a value modulo 2^64.
pub(super) const WIDEST: usize = 8;

impl Joined {
    pub(super) async fn masked_sum(
        &mut self,
        topology: Topology,
        pivot: Option<Site>,
        width: usize,
        values: &mut [u64],
    ) -> Result<(), Error> {
        add_masks(self, Purpose::SumMask, values);
        match (topology, pivot) {
            (Topology::AllToAll, None) => {
                let message = encode_in(values, width);
                self.link.broadcast(&message)?;
                for peer in self.peers() {
                    self.receive_and_add(peer, width, values).await?;
                }
            }
            (Topology::Tree, pivot) => self.tree(pivot, width, values).await?,
            (Topology::AllToAll, Some(pivot)) => self.star(pivot, true, width, values).await?,
            (Topology::Star, pivot) => {
                let hub = pivot.unwrap_or(Site::new(0));
                self.star(hub, pivot.is_some(), width, values).await?;
            }
        }
        Ok(())
    }

    /// Sends all vectors to `hub`, and the sum back unless `hub` keeps it.
    async fn star(
        &mut self,
        hub: Site,
        keeps: bool,
        width: usize,
        values: &mut [u64],
    ) -> Result<(), Error> {
        if self.me == hub {
            for peer in self.peers() {
                self.receive_and_add(peer, width, values).await?;
            }
            if !keeps {
                self.link.broadcast(&encode_in(values, width))?;
            }
            return Ok(());
        }
        self.link.send(hub, &encode_in(values, width))?;
        values.fill(0);
        if keeps {
            return Ok(());
        }
        self.receive_and_add(hub, width, values).await
    }

    /// Sums up a binary tree whose root is the pivot or site 0, and sends the sum down again unless a
    /// pivot keeps it. Places in the tree are counted from the root on, so that any site can be the
    /// root.
    async fn tree(
        &mut self,
        pivot: Option<Site>,
        width: usize,
        values: &mut [u64],
    ) -> Result<(), Error> {
        let root = pivot.map_or(0, Site::index);
        let sites = self.sites;
        let site_at = |place: usize| Site::new(((place + root) % sites) as u16);
        let place = (self.me.index() + sites - root) % sites;
        let children = [2 * place + 1, 2 * place + 2]
            .into_iter()
            .filter(|&child| child < sites);
        for child in children.clone() {
            self.receive_and_add(site_at(child), width, values).await?;
        }
        if place > 0 {
            let parent = site_at((place - 1) / 2);
            self.link.send(parent, &encode_in(values, width))?;
            values.fill(0);
            if pivot.is_some() {
                return Ok(());
            }
            self.receive_and_add(parent, width, values).await?;
        }
        if pivot.is_none() {
            let message = encode_in(values, width);
            for child in children {
                self.link.send(site_at(child), &message)?;
            }
        }
        Ok(())
    }

    async fn receive_and_add(
        &mut self,
        peer: Site,
        width: usize,
        values: &mut [u64],
    ) -> Result<(), Error> {
        let message = self.link.receive(peer, values.len() * width).await?;
        let words = wire::unpack(&message, values.len(), width);
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
        self.receive_and_add(peer, WIDEST, values).await
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

pub(crate) fn encode(values: &[u64]) -> Vec<u8> {
    encode_in(values, WIDEST)
}

/// The low `width` bytes of each value.
fn encode_in(values: &[u64], width: usize) -> Vec<u8> {
    let mut message = Vec::with_capacity(values.len() * width);
    wire::pack(values.iter().copied(), width, &mut message);
    message
}
