//! The hardened union: a cascade of mixes, one per site.
//!
//! Chaum (CACM 1981), as Brickell and Shmatikov (KDD 2006) use it for data collection. A layer is
//! X25519 with a fresh key, HKDF-SHA256, ChaCha20, and a BLAKE3 tag over the result (encrypt then
//! authenticate). Site 0 mixes first; the last site finds the items, drops the blanks that fill up
//! each site's capacity, and tells all.
//!
//! m + 1 rounds; 48 bytes per item and layer left.
//!
//! # Discloses
//! The items; to the last site also how many blanks there are, which follows from their number.

use rayon::prelude::*;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::Items;
use crate::error::{Error, Misbehaviour};
use crate::network::Site;
use crate::party::Joined;
use crate::random::{Agreement, Generator, PairKey, Purpose, Seed};
use crate::wire::{self, WireError};

/// Bytes that a layer adds: a public key and a tag.
const LAYER: usize = 48;
const TAG: usize = 16;
const LABEL: &[u8] = b"hedgerow mixing layer v1";

impl Joined {
    pub(super) async fn mix(
        &mut self,
        generator: &mut Generator,
        shape: &Items<'_>,
        items: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let (first, last) = (Site::new(0), Site::new(self.sites as u16 - 1));
        let onions = self.mixer().wrap(generator, shape, items);
        let plain = shape.width + 1;
        let onions = if self.me == first {
            let mut all = onions;
            for peer in self.peers() {
                let bytes = plain + self.sites * LAYER;
                all.extend(
                    self.link
                        .receive(peer, shape.capacity * bytes)
                        .await?
                        .chunks_exact(bytes)
                        .map(<[u8]>::to_vec),
                );
            }
            all
        } else {
            self.link.send(first, &onions.concat())?;
            let previous = self.previous();
            let bytes = plain + (self.sites - self.me.index()) * LAYER;
            let message = self
                .link
                .receive(previous, self.sites * shape.capacity * bytes)
                .await?;
            message.chunks_exact(bytes).map(<[u8]>::to_vec).collect()
        };
        let mixer = self.mixer();
        let peeled: Result<Vec<Vec<u8>>, (usize, WireError)> = onions
            .par_iter()
            .enumerate()
            .map(|(index, onion)| {
                mixer
                    .peel(onion)
                    .ok_or((index, WireError::Forged { index }))
            })
            .collect();
        let mut peeled = peeled.map_err(|(index, source)| {
            let first_owner = || Site::new((index / shape.capacity) as u16);
            let peer = if self.me == first {
                first_owner()
            } else {
                self.previous()
            };
            self.link.invalid(peer, source)
        })?;
        generator.shuffle(&mut peeled);
        if self.me != last {
            self.link.send(self.next(), &peeled.concat())?;
            return self.receive_union(last, shape).await;
        }
        let mut united: Vec<Vec<u8>> = peeled
            .into_iter()
            .filter(|item| item[0] == 1)
            .map(|item| item[1..].to_vec())
            .collect();
        united.sort_unstable();
        self.link.broadcast(&(united.len() as u64).to_le_bytes())?;
        self.link.broadcast(&united.concat())?;
        Ok(united)
    }

    fn mixer(&self) -> Mixer<'_> {
        Mixer {
            own: &self.mixing,
            publics: &self.mixing_publics,
            session: &self.session,
            call: self.link.call(),
        }
    }

    async fn receive_union(
        &mut self,
        last: Site,
        shape: &Items<'_>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let message = self.link.receive(last, 8).await?;
        let count = wire::unpack(&message, 1, 8).map(|mut words| words.next().unwrap_or(0));
        let count = count.map_err(|source| self.link.invalid(last, source))?;
        if count > (self.sites * shape.capacity) as u64 {
            return Err(self.link.misbehaved(last, Misbehaviour::Inconsistent));
        }
        let message = self
            .link
            .receive(last, count as usize * shape.width)
            .await?;
        if shape.width == 0 {
            return Ok(vec![Vec::new(); count as usize]);
        }
        Ok(message
            .chunks_exact(shape.width)
            .map(<[u8]>::to_vec)
            .collect())
    }
}

/// What a site needs to put layers on and to take its own off.
struct Mixer<'m> {
    own: &'m Agreement,
    publics: &'m [[u8; 32]],
    session: &'m [u8; 32],
    call: u32,
}

impl Mixer<'_> {
    /// Own items and blanks, under a layer for each site: the last site's inmost.
    fn wrap(
        &self,
        generator: &mut Generator,
        shape: &Items<'_>,
        items: Vec<Vec<u8>>,
    ) -> Vec<Vec<u8>> {
        let blanks = shape.capacity - items.len();
        let mut onions: Vec<(Vec<u8>, [u8; 32])> = Vec::with_capacity(shape.capacity);
        for item in items {
            onions.push(([&[1], item.as_slice()].concat(), [0; 32]));
        }
        onions.extend((0..blanks).map(|_| (vec![0; shape.width + 1], [0; 32])));
        onions.iter_mut().for_each(|(_, seed)| generator.fill(seed));
        onions.par_iter_mut().for_each(|(onion, seed)| {
            let mut fresh = Generator::new(&Seed::new(*seed));
            for public in self.publics.iter().rev() {
                self.add_layer(public, &mut fresh, onion);
            }
            seed.zeroize();
        });
        onions.into_iter().map(|(onion, _)| onion).collect()
    }

    fn add_layer(&self, theirs: &[u8; 32], generator: &mut Generator, onion: &mut Vec<u8>) {
        let fresh = Agreement::new(generator);
        let public = fresh.public();
        // Joining refused keys with which anyone could read a layer.
        if let Some(key) = fresh.derive(theirs, self.session, LABEL) {
            key.stream(Purpose::Item, self.call).apply(onion);
            let tag = tag(&key, &public, onion);
            onion.splice(..0, public);
            onion.extend_from_slice(&tag);
        }
    }

    /// Takes this site's layer off; `None` if it was changed.
    fn peel(&self, onion: &[u8]) -> Option<Vec<u8>> {
        let (public, rest) = onion.split_first_chunk::<32>()?;
        let (inner, given) = rest.split_last_chunk::<TAG>()?;
        let key = self.own.derive(public, self.session, LABEL)?;
        if !bool::from(tag(&key, public, inner).ct_eq(given)) {
            return None;
        }
        let mut inner = inner.to_vec();
        key.stream(Purpose::Item, self.call).apply(&mut inner);
        Some(inner)
    }
}

fn tag(key: &PairKey, public: &[u8; 32], body: &[u8]) -> [u8; TAG] {
    let own = blake3::derive_key("hedgerow mixing tag v1", key.bytes());
    let mut hasher = blake3::Hasher::new_keyed(&own);
    hasher.update(public).update(body);
    let mut tag = [0; TAG];
    tag.copy_from_slice(&hasher.finalize().as_bytes()[..TAG]);
    tag
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cascade in which all sites but 1 and 2 collude: they know their own permutations and see
    /// everything that passes. Returns how often following positions names the right one of the
    /// two honest owners.
    fn followed(honest_shuffle: bool) -> f64 {
        let (sites, capacity, session) = (5usize, 40usize, [3; 32]);
        let mut generator = Generator::new(&Seed::new([8; 32]));
        let keys: Vec<Agreement> = (0..sites).map(|_| Agreement::new(&mut generator)).collect();
        let publics: Vec<[u8; 32]> = keys.iter().map(Agreement::public).collect();
        let mixer = |own: usize| Mixer {
            own: &keys[own],
            publics: &publics,
            session: &session,
            call: 1,
        };
        let shape = Items {
            width: 1,
            capacity,
            decoy: &|_| Vec::new(),
        };
        let (mut right, mut told) = (0, 0);
        for _ in 0..12 {
            // Each onion with its true owner, and with the owner that the colluders follow.
            let mut onions: Vec<(Vec<u8>, usize)> = Vec::new();
            for owner in [1, 2] {
                let items = vec![vec![owner as u8]; capacity];
                let wrapped = mixer(owner).wrap(&mut generator, &shape, items);
                onions.extend(wrapped.into_iter().map(|onion| (onion, owner)));
            }
            let mut believed: Vec<usize> = onions.iter().map(|(_, owner)| *owner).collect();
            for site in 0..sites {
                let mut order: Vec<usize> = (0..onions.len()).collect();
                if honest_shuffle || ![1, 2].contains(&site) {
                    generator.shuffle(&mut order);
                }
                let peel = |&at: &usize| {
                    (
                        mixer(site).peel(&onions[at].0).expect("whole"),
                        onions[at].1,
                    )
                };
                let next = order.iter().map(peel).collect();
                if ![1, 2].contains(&site) {
                    believed = order.iter().map(|&at| believed[at]).collect();
                }
                onions = next;
            }
            for ((plain, owner), believed) in onions.iter().zip(&believed) {
                assert_eq!(usize::from(plain[1]), *owner);
                right += usize::from(believed == owner);
                told += 1;
            }
        }
        right as f64 / told as f64
    }

    #[test]
    fn mixing_loses_no_privacy() {
        // LoP = P(claim | view) - P(claim | result); by the result alone the two are alike.
        let loss = followed(true) - 0.5;
        // 960 claims: four standard deviations are 0.065.
        assert!(loss.abs() < 0.065, "{loss}");
        // Without the honest sites' shuffles the same attack names every owner.
        assert_eq!(followed(false), 1.0);
    }
}
