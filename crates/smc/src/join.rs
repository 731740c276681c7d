//! Joining a run: sites commit themselves to fresh public keys, send them, and agree on a key for each
//! pair; two sites also prepare their oblivious transfers.
//!
//! Every site's hash comes before anybody's keys (Blum 1983), so the last to speak cannot choose the run's
//! public randomness, from which roles are drawn, and the circle along which masks are shared.
//!
//! In a star or a tree hashes and keys go through the hub ([`crate::paths`]), which could put keys of its own
//! in place of a site's. So each site then sends the hash of all keys (the session) to those with whom it
//! shares masks or roles, directly. A hub that told a site other keys is noticed unless all of these
//! collude with the hub; and which sites these are follows from keys that the site had not yet shown when the
//! hub bound itself to its own. By [`crate::masking`] honest sites stay connected, so all honest sites have
//! the same keys, and each of them has seen that its own are among them.
//!
//! # Discloses
//! Nothing: fresh public keys.

use std::sync::Arc;

use crate::error::{Error, Misbehaviour};
use crate::link::Link;
use crate::masking::masked_with;
use crate::network::Site;
use crate::pairs::{Pairs, is_weak};
use crate::party::Joined;
use crate::paths::Paths;
use crate::random::{Agreement, Generator, Seed};
use crate::ring;
use crate::settings::{Probabilistic, RoleChoice, Settings, Shape};
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
        // Two sites have one line, whatever the shape.
        let paths = match sites {
            2 => Paths::to(Shape::Mesh, me, me, sites),
            _ => Paths::of(settings, me, sites),
        };
        let committed = paths.gather(&mut link, own.commitment().to_vec(), |_| blake3::OUT_LEN);
        let committed = committed.await?;
        let hello = own.encode();
        paths.say(&mut link, &hello)?;
        if let (Some(base), 2) = (&base_sender, sites) {
            link.send(Site::new(0), &base.public())?;
        }
        let said = paths.hear(&mut link, hello.to_vec(), |_| Hello::BYTES);
        let said = said.await?;
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow session v1");
        let mut masking_publics = Vec::with_capacity(sites);
        let mut mixing_publics = Vec::with_capacity(sites);
        for (site, (hello, committed)) in Site::all(sites).zip(said.iter().zip(&committed)) {
            let hello = Hello::decode(hello);
            let problem = if *committed != hello.commitment() {
                Some(Misbehaviour::OtherHello)
            } else if hello.agreed != agreed {
                Some(Misbehaviour::OtherSettings)
            } else if is_weak(&hello.masking) || is_weak(&hello.mixing) {
                Some(Misbehaviour::WeakKey)
            } else {
                None
            };
            if let Some(problem) = problem {
                return Err(link.misbehaved(paths.heard_from(site), problem));
            }
            hasher.update(&hello.encode());
            masking_publics.push(hello.masking);
            mixing_publics.push(hello.mixing);
        }
        let session = *hasher.finalize().as_bytes();
        link.opened(&session);
        let mut order: Vec<Site> = Site::all(sites).collect();
        Generator::new(&Seed::new(session)).shuffle(&mut order);
        let masked_with = masked_with(me, sites, &session);
        if !paths.is_mesh() {
            let is_role = |site: Site| order[..3].contains(&site);
            let peers = Site::all(sites).filter(|peer| *peer != me);
            let held_against: Vec<Site> = peers
                .filter(|peer| {
                    settings.roles == RoleChoice::Spread
                        || (is_role(me) && is_role(*peer))
                        || masked_with.binary_search(peer).is_ok()
                })
                .collect();
            hold_against(&mut link, held_against, &session).await?;
        }
        let pairs = Pairs::new(masking, masking_publics, session);
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
        let ring = ring::draw(sites, &session);
        Ok(Self {
            me,
            sites,
            link,
            pairs,
            masked_with,
            session,
            order,
            ring,
            mixing: Arc::new(mixing),
            mixing_publics,
            transfer: transfer.map(Arc::new),
        })
    }
}

/// Sees that these peers were told the same keys of all sites, in frames that go there directly.
async fn hold_against(link: &mut Link, peers: Vec<Site>, session: &[u8; 32]) -> Result<(), Error> {
    link.send_to(peers.clone(), session)?;
    for peer in peers {
        if link.receive(peer, session.len()).await? != session {
            return Err(link.misbehaved(peer, Misbehaviour::OtherKeys));
        }
    }
    Ok(())
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
        shape,
        hub,
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
        // One word for both, so that a run whose hub is the first site is named as before.
        shape as u64 + ((hub.index() as u64) << 8),
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
