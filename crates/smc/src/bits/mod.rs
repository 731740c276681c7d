//! All / any: the conjunction and the disjunction of bit vectors.
//!
//! `published`: TG12 Algorithm 2 with hash comparison (section 3.2).
//! `hardened`: with three sites or more, the masked sum of the bits is kept apart between two
//! sites and compared with m by a third, which sees the difference through a random affine map
//! over a prime field: zero, or uniform. With two sites, one oblivious transfer per bit. Three
//! rounds whatever the length. The disjunction is the conjunction of the opposites, opposed.
//!
//! Guarantee: a single site learns the answers and nothing else; in particular not how many bits
//! were set, and a site that held a 0 learns nothing of the others. Two of the three sites with
//! roles, colluding, learn how many bits were set; m - 1 sites learn the last one's bits.
//!
//! # Discloses
//! The answers, to all sites. With two sites the answer tells a site that held a 1 the other's bit, in
//! any protocol.

mod field;
mod published;
mod transferred;

pub(crate) use published::{hash, new_key, receive_key};

use crate::draft::Draft;
use crate::error::Error;
use crate::ideal;
use crate::ledger::{Sealed, To, What};
use crate::network::Site;
use crate::party::{Engine, Joined, Party, Roles};
use crate::random::{Generator, Purpose};
use crate::settings::Security;
use crate::wire::{self, Primitive};
use field::{Element, LARGE, SMALL};

/// In the ledger of every conjunction between two sites.
const TWO_SITES: &str = "with two sites, where one's own bit leaves the answer open, \
                         the answer is the other's bit";
/// In the ledger of every hardened one between three sites or more.
const ROLES: &str = "two of the three sites with roles can learn together how many bits were set";
/// In the ledger of every published conjunction.
const NEIGHBOURS: &str = "the two neighbours of a site on the ring can learn its bits together";

impl Party {
    /// Replaces each bit by whether the bit is set at all sites. After an error all bits are unset.
    pub async fn all(&mut self, what: What, bits: &mut [bool]) -> Result<(), Error> {
        self.join_bits(what, Junction::All, bits).await
    }

    /// Replaces each bit by whether the bit is set at any site. After an error all bits are unset.
    pub async fn any(&mut self, what: What, bits: &mut [bool]) -> Result<(), Error> {
        self.join_bits(what, Junction::Any, bits).await
    }

    async fn join_bits(
        &mut self,
        what: What,
        junction: Junction,
        bits: &mut [bool],
    ) -> Result<(), Error> {
        self.calls += 1;
        if self.sites == 1 {
            return Ok(());
        }
        let asked = self
            .asking(what, &[])?
            .word(junction as u64)
            .word(bits.len() as u64)
            .finish();
        let sealed = self
            .sealed_junction(Primitive::Bits, asked, junction, bits)
            .await?;
        let caveat = self.bits_caveat();
        self.open(what, Primitive::Bits, To::All, caveat, sealed);
        Ok(())
    }

    /// The sealed answers, for a primitive that is built on them and opens them under its own name.
    pub(crate) async fn sealed_junction<'a>(
        &mut self,
        primitive: Primitive,
        asked: u64,
        junction: Junction,
        bits: &'a mut [bool],
    ) -> Result<Sealed<&'a mut [bool]>, Error> {
        match &mut self.engine {
            Engine::Alone => Ok(Sealed::new(bits)),
            Engine::Ideal(chair) => {
                let function = match junction {
                    Junction::All => ideal::all,
                    Junction::Any => ideal::any,
                };
                let answer = chair.ask(primitive, asked, bits.to_vec(), function).await?;
                bits.copy_from_slice(&answer);
                Ok(Sealed::new(bits))
            }
            Engine::Joined(joined) => {
                joined.link.begin(primitive, asked)?;
                let mut draft = Draft::new(bits);
                oppose(junction, &mut draft);
                match (joined.sites, self.settings.security) {
                    (2, _) => joined.transferred_conjunction(&mut draft).await?,
                    (sites, Security::Hardened) if sites < SMALL as usize => {
                        joined.apart_conjunction::<SMALL>(&mut draft).await?;
                    }
                    (_, Security::Hardened) => {
                        joined.apart_conjunction::<LARGE>(&mut draft).await?;
                    }
                    (_, Security::Published) => {
                        joined
                            .published_conjunction(&mut self.generator, &mut draft)
                            .await?;
                    }
                }
                oppose(junction, &mut draft);
                joined.link.opened(&wire::pack_bits(draft.iter().copied()));
                Ok(draft.seal())
            }
        }
    }

    pub(crate) fn bits_caveat(&self) -> Option<&'static str> {
        match self.settings.security {
            _ if self.sites == 2 => Some(TWO_SITES),
            Security::Published => Some(NEIGHBOURS),
            Security::Hardened => Some(ROLES),
        }
    }
}

/// How bits are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Junction {
    All,
    Any,
}

fn oppose(junction: Junction, bits: &mut [bool]) {
    if junction == Junction::Any {
        bits.iter_mut().for_each(|bit| *bit = !*bit);
    }
}

impl Joined {
    /// Three sites or more: holder and keeper hold the masked sum apart, the judge compares.
    async fn apart_conjunction<const PRIME: u32>(
        &mut self,
        bits: &mut [bool],
    ) -> Result<(), Error> {
        let (me, roles, count) = (self.me, self.roles(), bits.len());
        let mut share: Vec<Element<PRIME>> = self.masked_bits(bits);
        let bytes = count * Element::<PRIME>::BYTES;
        let givers = self.peers().filter(|peer| !roles.hold_shares(*peer));
        let mut given = Vec::new();
        if me == roles.holder {
            for peer in givers {
                let message = self.link.receive(peer, bytes).await?;
                given.extend_from_slice(blake3::hash(&message).as_bytes());
                let others = field::decode(&message, count);
                let others = others.map_err(|source| self.link.invalid(peer, source))?;
                share
                    .iter_mut()
                    .zip(others)
                    .for_each(|(sum, other)| *sum = *sum + other);
            }
            let all = Element::from_count(self.sites);
            share.iter_mut().for_each(|sum| *sum = *sum - all);
            self.send_through_affine_map(roles, &given, &share)?;
        } else if me == roles.keeper {
            for peer in givers {
                given.extend(self.link.receive(peer, blake3::OUT_LEN).await?);
            }
            self.send_through_affine_map(roles, &given, &share)?;
        } else {
            let message = field::encode(&share);
            let hash = blake3::hash(&message);
            self.link.send(roles.holder, &message)?;
            self.link.send(roles.keeper, hash.as_bytes())?;
        }
        if me == roles.judge {
            let left: Vec<Element<PRIME>> = self.receive_elements(roles.holder, count).await?;
            let right = self.receive_elements(roles.keeper, count).await?;
            for (bit, pair) in bits.iter_mut().zip(left.iter().zip(&right)) {
                *bit = pair.0 == pair.1;
            }
            self.link
                .broadcast(&wire::pack_bits(bits.iter().copied()))?;
        } else {
            self.receive_answers(roles.judge, bits).await?;
        }
        Ok(())
    }

    /// This site's bits under masks that cancel over all sites.
    fn masked_bits<const PRIME: u32>(&self, bits: &[bool]) -> Vec<Element<PRIME>> {
        let mut share: Vec<Element<PRIME>> =
            bits.iter().map(|&bit| Element::from_bit(bit)).collect();
        for &peer in &self.masked_with {
            let mut stream = self.stream(peer, Purpose::ApartMask);
            if self.me < peer {
                share
                    .iter_mut()
                    .for_each(|value| *value = *value + Element::draw(&mut stream));
            } else {
                share
                    .iter_mut()
                    .for_each(|value| *value = *value - Element::draw(&mut stream));
            }
        }
        share
    }

    /// Sends a u + b, or b - a u, to the judge: a and b are known to holder and keeper only. The map
    /// follows from the hashes of what the others gave, too: a holder that forgot its shares and is
    /// given other shares must not send a second sum through the same map.
    fn send_through_affine_map<const PRIME: u32>(
        &mut self,
        roles: Roles,
        given: &[u8],
        share: &[Element<PRIME>],
    ) -> Result<(), Error> {
        let is_keeper = self.me == roles.keeper;
        let partner = if is_keeper {
            roles.holder
        } else {
            roles.keeper
        };
        let bound = self.link.bound().and(given);
        let mut stream = self.pair(partner).stream(Purpose::Affine, &bound, 0);
        let mapped: Vec<Element<PRIME>> = share
            .iter()
            .map(|&value| {
                let slope = Element::draw_nonzero(&mut stream);
                let offset = Element::draw(&mut stream);
                if is_keeper {
                    offset - slope * value
                } else {
                    offset + slope * value
                }
            })
            .collect();
        self.link.send(roles.judge, &field::encode(&mapped))
    }

    async fn receive_elements<const PRIME: u32>(
        &mut self,
        peer: Site,
        count: usize,
    ) -> Result<Vec<Element<PRIME>>, Error> {
        let bytes = count * Element::<PRIME>::BYTES;
        let message = self.link.receive(peer, bytes).await?;
        field::decode(&message, count).map_err(|source| self.link.invalid(peer, source))
    }

    /// Receives the answers from the site that found them.
    pub(crate) async fn receive_answers(
        &mut self,
        peer: Site,
        answers: &mut [bool],
    ) -> Result<(), Error> {
        let message = self.link.receive(peer, answers.len().div_ceil(8)).await?;
        let bits = wire::unpack_bits(&message, answers.len());
        let bits = bits.map_err(|source| self.link.invalid(peer, source))?;
        answers
            .iter_mut()
            .zip(bits)
            .for_each(|(answer, bit)| *answer = bit);
        Ok(())
    }

    async fn published_conjunction(
        &mut self,
        generator: &mut Generator,
        bits: &mut [bool],
    ) -> Result<(), Error> {
        published::conjunction(self, generator, bits).await
    }
}
