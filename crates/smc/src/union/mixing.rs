//! The hardened union: a cascade of mixes, one per site.
//!
//! Chaum (CACM 1981), as Brickell and Shmatikov (KDD 2006) use it for data collection. A layer is
//! X25519 with a fresh key, HKDF-SHA256, ChaCha20, and a BLAKE3 tag over the result (encrypt then
//! authenticate). Site 0 mixes first; the last site finds the items, drops the blanks that fill up
//! each site's capacity, and tells all.
//!
//! A mix that put in copies of somebody's items for its own would recognize them, since they would stand
//! twice in the answer (Pfitzmann and Pfitzmann, EUROCRYPT 1989). A copy has the same key and ciphertext
//! as its original, and nobody can change these for a layer of another site: every site refuses items
//! that repeat either, before it takes a layer off. In the end every site looks for its own items.
//!
//! m + 1 rounds; 48 bytes per item and layer left.
//!
//! # Discloses
//! The items; to the last site also how many blanks there are, which follows from their number.

use std::collections::HashSet;

use rayon::prelude::*;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::Items;
use crate::error::{Error, Misbehaviour};
use crate::network::Site;
use crate::party::Joined;
use crate::random::{Agreement, Bound, Generator, PairKey, Purpose, Seed};
use crate::wire::{self, WireError};

/// Bytes that a layer adds: a public key and a tag.
pub(super) const LAYER: usize = 48;
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
        let mut own = items.clone();
        own.sort_unstable();
        let onions = self.mixer().wrap(generator, shape, items);
        // Joining refused keys with which anyone could read a layer.
        let onions = onions.map_err(|site| self.link.misbehaved(site, Misbehaviour::WeakKey))?;
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
        let owner = |index: usize| Site::new((index / shape.capacity) as u16);
        if let Some(index) = copied(onions.iter().map(Vec::as_slice)) {
            let problem = Misbehaviour::Copied { index };
            return Err(self.link.misbehaved(self.sender(owner(index)), problem));
        }
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
            let peer = self.sender(owner(index));
            self.link.invalid(peer, source)
        })?;
        generator.shuffle(&mut peeled);
        if self.me != last {
            self.link.send(self.next(), &peeled.concat())?;
            let united = self.receive_union(last, shape).await?;
            if !has_all(&united, &own) {
                return Err(self.link.misbehaved(last, Misbehaviour::Lacking));
            }
            return Ok(united);
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

    /// The site that sends an owner's item to this site: the first mix has the item from its owner.
    pub(super) fn sender(&self, owner: Site) -> Site {
        if self.me.index() == 0 {
            owner
        } else {
            self.previous()
        }
    }

    pub(super) fn mixer(&self) -> Mixer<'_> {
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

/// The place of the first item with the key or the ciphertext of an earlier item.
pub(super) fn copied<'o>(onions: impl Iterator<Item = &'o [u8]>) -> Option<usize> {
    let mut keys: HashSet<&[u8]> = HashSet::new();
    let mut ciphertexts: HashSet<&[u8]> = HashSet::new();
    onions
        .map(|onion| onion.split_at(onion.len().min(32)))
        .position(|(key, rest)| !keys.insert(key) | !ciphertexts.insert(rest))
}

/// Whether a united list has all of a site's own items, as often; both stand in their order.
fn has_all(united: &[Vec<u8>], own: &[Vec<u8>]) -> bool {
    let mut rest = united.iter();
    united.is_sorted() && own.iter().all(|item| rest.any(|other| other == item))
}

/// The keys that a site needs to put layers on and to take its own layer off.
pub(super) struct Mixer<'m> {
    own: &'m Agreement,
    publics: &'m [[u8; 32]],
    session: &'m [u8; 32],
    call: u32,
}

impl Mixer<'_> {
    /// Own items and blanks, under a layer for each site: the last site's inmost. Fails with the
    /// site whose key is too weak for a layer.
    pub(super) fn wrap(
        &self,
        generator: &mut Generator,
        shape: &Items<'_>,
        items: Vec<Vec<u8>>,
    ) -> Result<Vec<Vec<u8>>, Site> {
        let blanks = shape.capacity - items.len();
        let mut onions: Vec<(Vec<u8>, [u8; 32])> = Vec::with_capacity(shape.capacity);
        for item in items {
            onions.push(([&[1], item.as_slice()].concat(), [0; 32]));
        }
        onions.extend((0..blanks).map(|_| (vec![0; shape.width + 1], [0; 32])));
        onions.iter_mut().for_each(|(_, seed)| generator.fill(seed));
        onions.par_iter_mut().try_for_each(|(onion, seed)| {
            let mut fresh = Generator::new(&Seed::new(*seed));
            seed.zeroize();
            for (site, public) in self.publics.iter().enumerate().rev() {
                let layer = self.add_layer(public, &mut fresh, onion);
                layer.ok_or(Site::new(site as u16))?;
            }
            Ok(())
        })?;
        Ok(onions.into_iter().map(|(onion, _)| onion).collect())
    }

    /// Puts a layer on; `None` if anyone could take the layer off with this key.
    fn add_layer(
        &self,
        theirs: &[u8; 32],
        generator: &mut Generator,
        onion: &mut Vec<u8>,
    ) -> Option<()> {
        let fresh = Agreement::new(generator);
        let public = fresh.public();
        let key = fresh.derive(theirs, self.session, LABEL)?;
        key.stream(Purpose::Item, &Bound::ONCE, self.call)
            .apply(onion);
        let tag = tag(&key, self.call, &public, onion);
        onion.splice(..0, public);
        onion.extend_from_slice(&tag);
        Some(())
    }

    /// Takes this site's layer off; `None` if the item was changed.
    pub(super) fn peel(&self, onion: &[u8]) -> Option<Vec<u8>> {
        let (public, rest) = onion.split_first_chunk::<32>()?;
        let (inner, given) = rest.split_last_chunk::<TAG>()?;
        let key = self.own.derive(public, self.session, LABEL)?;
        if !bool::from(tag(&key, self.call, public, inner).ct_eq(given)) {
            return None;
        }
        let mut inner = inner.to_vec();
        key.stream(Purpose::Item, &Bound::ONCE, self.call)
            .apply(&mut inner);
        Some(inner)
    }
}

/// The tag covers the call too, so that no item passes for an item of another call.
fn tag(key: &PairKey, call: u32, public: &[u8; 32], body: &[u8]) -> [u8; TAG] {
    let own = blake3::derive_key("hedgerow mixing tag v1", key.bytes());
    let mut hasher = blake3::Hasher::new_keyed(&own);
    hasher.update(&call.to_le_bytes());
    hasher.update(public).update(body);
    let mut tag = [0; TAG];
    tag.copy_from_slice(&hasher.finalize().as_bytes()[..TAG]);
    tag
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::What;
    use crate::memory::Simulation;
    use crate::party::Engine;
    use crate::wire::{HEADER_BYTES, Header};

    const SITES: usize = 5;
    const CAPACITY: usize = 60;

    /// The onions that one site got from another, in their order.
    fn onions(frames: &[(Site, Vec<u8>)], from: usize, bytes: usize) -> Vec<Vec<u8>> {
        let from = frames.iter().filter(|(site, _)| site.index() == from);
        let message: Vec<u8> = from.flat_map(|(_, payload)| payload.clone()).collect();
        message.chunks_exact(bytes).map(<[u8]>::to_vec).collect()
    }

    /// Runs a union and plays all sites but two, which pool their keys and what they got. The colluders
    /// follow an item's place from its owner on: through a colluding site by its key, through an honest
    /// site as if that site kept the order. Counts right claims, and claims, about which of the two
    /// honest sites owns an item.
    fn followed(seed: u64, honest: [usize; 2]) -> (usize, usize) {
        let outcome = Simulation::new(SITES, seed)
            .recording()
            .run(|mut party| async move {
                let me = party.me().index();
                let mut items = vec![vec![me as u8]; CAPACITY];
                let shape = Items {
                    width: 1,
                    capacity: CAPACITY,
                    domain: 256.0,
                    decoy: &|_| vec![0],
                };
                let what = What::new("items", "the test");
                party.union(what, &shape, &mut items).await?;
                let Engine::Joined(joined) = party.engine else {
                    unreachable!("five sites are joined")
                };
                Ok::<_, Error>((joined.session, joined.mixing_publics, joined.link.call()))
            });
        let views: Vec<Vec<(Site, Vec<u8>)>> = Site::all(SITES)
            .map(|site| {
                let view = outcome.view(site);
                let after_join = view.iter().filter(|frame| {
                    Header::decode(&frame.bytes).is_ok_and(|header| header.call > 0)
                });
                after_join
                    .map(|frame| (frame.from, frame.bytes[HEADER_BYTES..].to_vec()))
                    .collect()
            })
            .collect();
        let values = outcome.into_values().expect("no faults");
        let (session, publics, call) = &values[0];
        // The second key agreement that a site draws is for its layers.
        let keys: Vec<Agreement> = (0..SITES)
            .map(|site| {
                let mut generator = Generator::new(&Seed::for_site(seed, site));
                let _masking = Agreement::new(&mut generator);
                Agreement::new(&mut generator)
            })
            .collect();
        let peel = |site: usize, onion: &[u8]| {
            assert_eq!(keys[site].public(), publics[site]);
            let mixer = Mixer {
                own: &keys[site],
                publics,
                session,
                call: *call,
            };
            mixer.peel(onion).expect("whole")
        };
        let bytes = |site: usize| 2 + (SITES - site) * LAYER;
        // Site 0 takes the sites' items one site after the other.
        let mut believed: Vec<usize> = (0..SITES * CAPACITY).map(|at| at / CAPACITY).collect();
        let mut into: Vec<Vec<u8>> = (1..SITES)
            // After these the last site sends the answer.
            .flat_map(|peer| onions(&views[0], peer, bytes(0)).into_iter().take(CAPACITY))
            .collect();
        // Site 0's own items go nowhere before they are mixed, so they are on no line.
        let mut missing = CAPACITY;
        for site in 0..SITES - 1 {
            let out_of = onions(&views[site + 1], site, bytes(site + 1));
            assert_eq!(out_of.len(), SITES * CAPACITY);
            if !honest.contains(&site) {
                let peeled: Vec<Vec<u8>> = into.iter().map(|onion| peel(site, onion)).collect();
                let owner = |onion: &Vec<u8>| {
                    let at = peeled.iter().position(|peeled| peeled == onion);
                    at.map_or(0, |at| believed[at + missing])
                };
                believed = out_of.iter().map(owner).collect();
            }
            (into, missing) = (out_of, 0);
        }
        let plain = into
            .iter()
            .map(|onion| usize::from(peel(SITES - 1, onion)[1]));
        let claims: Vec<bool> = plain
            .zip(&believed)
            .filter(|(owner, believed)| honest.contains(owner) && honest.contains(believed))
            .map(|(owner, believed)| owner == *believed)
            .collect();
        (claims.iter().filter(|&&right| right).count(), claims.len())
    }

    #[test]
    fn layers_belong_to_their_call_and_need_a_strong_key() {
        let mut generator = Generator::new(&Seed::new([8; 32]));
        let own = Agreement::new(&mut generator);
        let shape = Items {
            width: 1,
            capacity: 1,
            domain: 256.0,
            decoy: &|_| vec![0],
        };
        let publics = [own.public()];
        let mixer = |call| Mixer {
            own: &own,
            publics: &publics,
            session: &[3; 32],
            call,
        };
        let onions = mixer(1).wrap(&mut generator, &shape, vec![vec![7]]);
        let onion = onions.expect("a strong key").swap_remove(0);
        assert_eq!(mixer(1).peel(&onion), Some(vec![1, 7]));
        assert_eq!(mixer(2).peel(&onion), None);
        // With the neutral element as key the shared secret is 0.
        let weak = Mixer {
            publics: &[own.public(), [0; 32]],
            ..mixer(1)
        };
        assert_eq!(
            weak.wrap(&mut generator, &shape, vec![vec![7]]),
            Err(Site::new(1))
        );
    }

    #[test]
    fn mixing_loses_no_privacy() {
        let (mut right, mut claims) = (0, 0);
        for seed in 0..5 {
            for honest in [[1, 2], [0, 1], [0, 3], [1, 3]] {
                let (more_right, more_claims) = followed(seed, honest);
                right += more_right;
                claims += more_claims;
            }
        }
        // LoP = P(claim | view) - P(claim | result); by the result alone the two are alike. Without
        // the shuffles every claim is right.
        assert!(claims > 500, "{claims}");
        let loss = right as f64 / claims as f64 - 0.5;
        let deviation = (0.25 / claims as f64).sqrt();
        assert!(loss.abs() < 4.0 * deviation, "{loss} in {claims} claims");
    }
}
