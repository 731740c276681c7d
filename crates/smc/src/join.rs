//! Joining a run: sites commit themselves to fresh public keys, send them, and agree on a key for each
//! pair; two sites also prepare their oblivious transfers.
//!
//! Every site's hash comes before anybody's keys (Blum 1983), so the last to speak cannot choose the run's
//! public randomness, from which roles are drawn.
//!
//! # Discloses
//! Nothing: fresh public keys.

use std::sync::Arc;

use crate::error::{Error, Misbehaviour};
use crate::link::Link;
use crate::network::Site;
use crate::party::Joined;
use crate::random::{Agreement, Generator, Seed};
use crate::ring;
use crate::settings::{Probabilistic, Settings};
use crate::transfer::{BASE_BYTES, BaseReceiver, BaseSender};

impl Joined {
    /// Agrees on keys with all other sites.
    pub(crate) async fn agree(
        mut link: Link,
        me: Site,
        sites: usize,
        settings: &Settings,
        generator: &mut Generator,
    ) -> Result<Self, Error> {
        let agreed = agreed_digest(sites, settings);
        let (masking, mixing) = (Agreement::new(generator), Agreement::new(generator));
        let base_sender = (sites == 2 && me.index() == 1).then(|| BaseSender::new(generator));

        let own = Hello {
            agreed,
            masking: masking.public(),
            mixing: mixing.public(),
        };
        link.broadcast(&own.commitment())?;
        let mut committed = Vec::with_capacity(sites);
        for peer in Site::all(sites) {
            committed.push(if peer == me {
                own.commitment().to_vec()
            } else {
                link.receive(peer, blake3::OUT_LEN).await?
            });
        }
        link.broadcast(&own.encode())?;
        if let (Some(base), 2) = (&base_sender, sites) {
            link.send(Site::new(0), &base.public())?;
        }
        let mut hellos = Vec::with_capacity(sites);
        for peer in Site::all(sites) {
            if peer == me {
                hellos.push(own.clone());
                continue;
            }
            let bytes = link.receive(peer, Hello::BYTES).await?;
            let hello = Hello::decode(&bytes);
            if committed[peer.index()] != hello.commitment() {
                return Err(link.misbehaved(peer, Misbehaviour::OtherHello));
            }
            if hello.agreed != agreed {
                return Err(link.misbehaved(peer, Misbehaviour::OtherSettings));
            }
            hellos.push(hello);
        }

        let mut hasher = blake3::Hasher::new_derive_key("hedgerow session v1");
        for hello in &hellos {
            hasher.update(&hello.encode());
        }
        let session = *hasher.finalize().as_bytes();
        link.opened(&session);
        let mut pairs = Vec::with_capacity(sites);
        for (peer, hello) in Site::all(sites).zip(&hellos) {
            pairs.push(if peer == me {
                None
            } else {
                let key = masking.derive(&hello.masking, &session, b"hedgerow pair v1");
                // A key that is weak for one secret is weak for every secret.
                let layer = mixing.derive(&hello.mixing, &session, b"hedgerow pair v1");
                let strong = key.filter(|_| layer.is_some());
                Some(strong.ok_or_else(|| link.misbehaved(peer, Misbehaviour::WeakKey))?)
            });
        }
        let transfer = match base_sender {
            _ if sites != 2 => None,
            Some(base) => {
                let bytes = link.receive(Site::new(0), BASE_BYTES).await?;
                let answer = base.finish(&bytes);
                Some(answer.map_err(|source| link.invalid(Site::new(0), source))?)
            }
            None => {
                let peer = Site::new(1);
                let public = link.receive(peer, 32).await?;
                let (base, reply) = BaseReceiver::answer(&public, generator)
                    .map_err(|source| link.invalid(peer, source))?;
                link.send(peer, &reply)?;
                Some(base)
            }
        };
        let mut order: Vec<Site> = Site::all(sites).collect();
        Generator::new(&Seed::new(session)).shuffle(&mut order);
        let ring = ring::draw(sites, &session);
        let mixing_publics = hellos.iter().map(|hello| hello.mixing).collect();
        Ok(Self {
            me,
            sites,
            link,
            pairs,
            session,
            order,
            ring,
            mixing: Arc::new(mixing),
            mixing_publics,
            transfer: transfer.map(Arc::new),
        })
    }
}

/// The first message of a run, to every peer.
#[derive(Clone)]
struct Hello {
    agreed: [u8; 32],
    masking: [u8; 32],
    mixing: [u8; 32],
}

impl Hello {
    const BYTES: usize = 96;

    /// The hash that is sent before the keys: the keys are random, so the hash hides them.
    fn commitment(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow hello commitment v1");
        hasher.update(&self.encode());
        *hasher.finalize().as_bytes()
    }

    fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..32].copy_from_slice(&self.agreed);
        bytes[32..64].copy_from_slice(&self.masking);
        bytes[64..].copy_from_slice(&self.mixing);
        bytes
    }

    /// Decodes a message whose length the link has checked.
    fn decode(bytes: &[u8]) -> Self {
        let mut hello = Self {
            agreed: [0; 32],
            masking: [0; 32],
            mixing: [0; 32],
        };
        let (agreed, keys) = bytes.split_at(32);
        let (masking, mixing) = keys.split_at(32);
        hello.agreed.copy_from_slice(agreed);
        hello.masking.copy_from_slice(masking);
        hello.mixing.copy_from_slice(mixing);
        hello
    }
}

/// Names the settings that all sites must share.
fn agreed_digest(sites: usize, settings: &Settings) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("hedgerow settings v3");
    let &Settings {
        security,
        topology,
        ring,
        union,
        probabilistic:
            Probabilistic {
                start,
                dampening,
                laps,
            },
        fan_out,
        at_once,
        decoys,
        roles,
    } = settings;
    for word in [
        sites as u64,
        security as u64,
        topology as u64,
        // One word for both, so that a run with the secure union is named as before.
        ring as u64 + ((union as u64) << 8),
        start.to_bits(),
        dampening.to_bits(),
        u64::from(laps),
        // So is a search that never asks for all at once.
        (fan_out as u64).wrapping_add((at_once as u64) << 32),
        decoys as u64,
        roles as u64,
    ] {
        hasher.update(&word.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}
