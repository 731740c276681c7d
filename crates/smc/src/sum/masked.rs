//! The hardened sum: pairwise masks that cancel, in one round of a mesh and two of a star.
//!
//! After Bonawitz et al., "Practical secure aggregation" (CCS 2017), without dropouts: of each pair of
//! sites the first adds the pair's stream and the second takes it off. What a site sends looks uniform
//! to everyone who does not know all its masks; as long as two sites do not collude, their common mask
//! hides how the sum of both is split between them. Among many sites not every two share a mask
//! ([`crate::masking`]). Whichever way vectors go ([`crate::paths`]), nobody sees less than all of a
//! vector's masks on it: partial sums on their way are masked by all masks that have not cancelled.
//!
//! # Discloses
//! The sum, nothing else, to any m - 2 colluding sites; of more than 128 sites to any 59, and to any half
//! of all sites but with a probability below 2^-40.

use crate::error::Error;
use crate::network::Site;
use crate::party::Joined;
use crate::paths::Paths;
use crate::random::Purpose;
use crate::settings::{Settings, Shape};
use crate::wire;

/// The bytes of a value modulo 2^64.
pub(super) const WIDEST: usize = 8;

impl Joined {
    pub(super) async fn masked_sum(
        &mut self,
        settings: &Settings,
        pivot: Option<Site>,
        width: usize,
        values: &mut [u64],
    ) -> Result<(), Error> {
        add_masks(self, Purpose::SumMask, values);
        let (shape, hub) = (settings.shape, settings.hub);
        match (shape, pivot) {
            (Shape::Mesh, None) => {
                let message = encode_in(values, width);
                self.link.broadcast(&message)?;
                for peer in self.peers() {
                    self.receive_and_add(peer, width, values).await?;
                }
                Ok(())
            }
            (shape, pivot) => {
                let paths = Paths::to(shape, pivot.unwrap_or(hub), self.me, self.sites);
                self.up_and_down(&paths, pivot.is_some(), width, values)
                    .await
            }
        }
    }

    /// Sums up to the root, and sends the sum down again unless the root `keeps` it.
    async fn up_and_down(
        &mut self,
        paths: &Paths,
        keeps: bool,
        width: usize,
        values: &mut [u64],
    ) -> Result<(), Error> {
        let below = paths.below();
        for &peer in &below {
            self.receive_and_add(peer, width, values).await?;
        }
        if let Some(above) = paths.above() {
            self.link.send(above, &encode_in(values, width))?;
            values.fill(0);
            if keeps {
                return Ok(());
            }
            self.receive_and_add(above, width, values).await?;
        }
        if !keeps && !below.is_empty() {
            self.link.send_to(below, &encode_in(values, width))?;
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
    for &peer in &joined.masked_with {
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
