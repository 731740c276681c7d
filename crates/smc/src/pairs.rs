//! The keys that a site shares with its peers: one for each pair, made when it is first needed.
//!
//! Among many sites most pairs never need a key ([`crate::masking`]), and an agreement costs more than
//! most calls. What could go wrong with one is looked at when keys are heard, without an agreement:
//! [`is_weak`].
//!
//! # Discloses
//! Nothing.

use std::sync::{Arc, OnceLock};

use crate::network::Site;
use crate::random::{Agreement, PairKey};

const LABEL: &[u8] = b"hedgerow pair v1";

/// The keys of one site.
pub(crate) struct Pairs {
    agreed: Arc<Agreed>,
    /// The public randomness of the question, where keys are those of a question.
    question: Option<[u8; 32]>,
    keys: Vec<OnceLock<PairKey>>,
}

/// What sites agreed on when they joined.
struct Agreed {
    own: Agreement,
    publics: Vec<[u8; 32]>,
    session: [u8; 32],
    keys: Vec<OnceLock<PairKey>>,
}

impl Agreed {
    fn key(&self, peer: Site) -> &PairKey {
        self.keys[peer.index()].get_or_init(|| {
            let public = &self.publics[peer.index()];
            match self.own.derive(public, &self.session, LABEL) {
                Some(key) => key,
                // `is_weak` knows every public key for which there is none, and joining asks it.
                None => unreachable!("joining refuses weak keys"),
            }
        })
    }
}

impl Pairs {
    /// Of a joining: the public keys of all sites in order, none of them weak.
    pub(crate) fn new(own: Agreement, publics: Vec<[u8; 32]>, session: [u8; 32]) -> Self {
        let keys = empty(publics.len());
        Self {
            keys: empty(publics.len()),
            agreed: Arc::new(Agreed {
                own,
                publics,
                session,
                keys,
            }),
            question: None,
        }
    }

    /// The keys of a question with this public randomness.
    pub(crate) fn of_question(&self, session: [u8; 32]) -> Self {
        Self {
            agreed: Arc::clone(&self.agreed),
            question: Some(session),
            keys: empty(self.keys.len()),
        }
    }

    /// The key shared with a peer.
    pub(crate) fn with(&self, peer: Site) -> &PairKey {
        match &self.question {
            None => self.agreed.key(peer),
            Some(session) => {
                self.keys[peer.index()].get_or_init(|| self.agreed.key(peer).of_question(session))
            }
        }
    }
}

fn empty(sites: usize) -> Vec<OnceLock<PairKey>> {
    (0..sites).map(|_| OnceLock::new()).collect()
}

/// Whether everybody could compute what is agreed on with the owner of this public key: whether its point
/// has a small order. There are five such points on the curve and its twist, seven ways to write one
/// below 2^255, and X25519 does not look at the highest bit (RFC 7748, section 5).
pub(crate) fn is_weak(public: &[u8; 32]) -> bool {
    let mut point = *public;
    point[31] &= 0x7f;
    SMALL_ORDER.contains(&point)
}

/// 0, 1, the two coordinates of order 8, p - 1, p and p + 1.
const SMALL_ORDER: [[u8; 32]; 7] = [
    [0; 32],
    near(0, 0x01, 0x00),
    [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4,
        0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49,
        0xb8, 0x00,
    ],
    [
        0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef,
        0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f,
        0x11, 0x57,
    ],
    near(0xff, 0xec, 0x7f),
    near(0xff, 0xed, 0x7f),
    near(0xff, 0xee, 0x7f),
];

/// Bytes that are alike but for the first and the last.
const fn near(between: u8, first: u8, last: u8) -> [u8; 32] {
    let mut bytes = [between; 32];
    bytes[0] = first;
    bytes[31] = last;
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::{Generator, Seed};

    fn agreement(seed: u8) -> Agreement {
        Agreement::new(&mut Generator::new(&Seed::new([seed; 32])))
    }

    #[test]
    fn every_weak_key_is_one_with_which_nothing_can_be_agreed() {
        for mut public in SMALL_ORDER {
            for bit in [0, 0x80] {
                public[31] |= bit;
                assert!(is_weak(&public));
                assert!(agreement(1).derive(&public, &[0; 32], LABEL).is_none());
            }
        }
    }

    proptest! {
        #[test]
        fn with_every_other_key_something_can_be_agreed(public: [u8; 32], odd in 0usize..7, by in 1u8..9) {
            let mut near = SMALL_ORDER[odd];
            near[0] = near[0].wrapping_add(by);
            for public in [public, near] {
                let agreed = agreement(1).derive(&public, &[0; 32], LABEL);
                prop_assert_eq!(agreed.is_none(), is_weak(&public));
            }
        }
    }

    #[test]
    fn both_sites_of_a_pair_have_its_key_and_another_for_each_question() {
        let sites = [1, 2].map(|seed| agreement(seed).public());
        let own = |seed| Pairs::new(agreement(seed), sites.to_vec(), [7; 32]);
        let (one, two) = (own(1), own(2));
        let (peer, me) = (Site::new(1), Site::new(0));
        assert_eq!(one.with(peer).bytes(), two.with(me).bytes());
        let (of_one, of_two) = (one.of_question([8; 32]), two.of_question([8; 32]));
        assert_eq!(of_one.with(peer).bytes(), of_two.with(me).bytes());
        assert_ne!(of_one.with(peer).bytes(), one.with(peer).bytes());
        let other = one.of_question([9; 32]);
        assert_ne!(of_one.with(peer).bytes(), other.with(peer).bytes());
    }
}
