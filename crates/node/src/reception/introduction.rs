//! A word in the first bytes of a connection by which a site of the study is told from strangers
//! before anything is computed for it.
//!
//! Two sites that know each other's keys share a secret (Diffie-Hellman over the curve of their signing
//! keys), and a caller writes a number and its keyed hash into the name of the protocol that it offers
//! (ALPN, RFC 7301). To check it costs one hash. The word proves nothing that a connection depends on:
//! TLS proves the key afterwards. It only decides which callers wait among strangers, so a flood cannot
//! keep out a site that shares its address with the flood.
//!
//! Each number is good once and must be greater than the numbers before, so whoever recorded a word
//! gains nothing by sending it again. The number is the caller's time in nanoseconds; a caller whose
//! clock was set back waits among strangers until its time has come, and no longer than that.
//!
//! # Discloses
//! To whoever watches the line: the caller's place in the study and its time. To peers nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use zeroize::Zeroizing;

use crate::identity::{PublicKey, Secret};

/// Place, number and hash.
const BYTES: usize = 2 + 8 + blake3::OUT_LEN;

/// The last number that this process has used.
static LAST: AtomicU64 = AtomicU64::new(0);

/// The word by which the site at a place introduces itself to another.
pub(crate) fn introduce(secret: &Secret, place: u16, to: &PublicKey) -> Vec<u8> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // Nanoseconds fit until the year 2554; a clock before 1970 counts on from the number that was used
    // last.
    let now = since.map_or(0, |since| since.as_nanos() as u64);
    let advance = |last: u64| Some(now.max(last.saturating_add(1)));
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, advance);
    let number = now.max(last.unwrap_or_else(|last| last).saturating_add(1));
    let key = key(secret, to, &secret.public(), to);
    word(&key, place, number)
}

/// Knows the words of the sites that may come.
pub(crate) struct Introductions {
    /// The key of each site by its place; `None` for a site that does not come here.
    keys: Vec<Option<Zeroizing<[u8; 32]>>>,
    /// The greatest number that each has used.
    greatest: Mutex<Vec<u64>>,
}

impl Introductions {
    /// For a site that any of `places` may call.
    pub(crate) fn new(secret: &Secret, keys: &[PublicKey], places: &[u16]) -> Self {
        let of = |(place, from): (usize, &PublicKey)| {
            let comes = places.iter().any(|one| usize::from(*one) == place);
            comes.then(|| key(secret, from, from, &secret.public()))
        };
        Self {
            keys: keys.iter().enumerate().map(of).collect(),
            greatest: Mutex::new(vec![0; keys.len()]),
        }
    }

    /// The place of the site that wrote this word, if the word is valid and new.
    pub(crate) fn site_of(&self, found: &[u8]) -> Option<u16> {
        let found: &[u8; BYTES] = found.try_into().ok()?;
        let (place, rest) = found.split_first_chunk()?;
        let (number, hash) = rest.split_first_chunk()?;
        let (place, number) = (u16::from_le_bytes(*place), u64::from_le_bytes(*number));
        let key = self.keys.get(usize::from(place))?.as_ref()?;
        let hash: [u8; blake3::OUT_LEN] = hash.try_into().ok()?;
        // In constant time, as the library compares.
        if self::hash(key, place, number) != hash {
            return None;
        }
        // The number changes in one step, so a panic elsewhere leaves it whole.
        let mut greatest = self.greatest.lock().unwrap_or_else(PoisonError::into_inner);
        let last = greatest.get_mut(usize::from(place))?;
        if number <= *last {
            return None;
        }
        *last = number;
        Some(place)
    }
}

/// The key for words from one site to another.
fn key(secret: &Secret, peer: &PublicKey, from: &PublicKey, to: &PublicKey) -> Zeroizing<[u8; 32]> {
    let mut hasher = blake3::Hasher::new_derive_key("hedgerow introduction v1");
    hasher.update(&*secret.agree(peer));
    hasher.update(from.as_bytes()).update(to.as_bytes());
    Zeroizing::new(*hasher.finalize().as_bytes())
}

fn hash(key: &[u8; 32], place: u16, number: u64) -> blake3::Hash {
    let mut text = [0; 10];
    text[..2].copy_from_slice(&place.to_le_bytes());
    text[2..].copy_from_slice(&number.to_le_bytes());
    blake3::keyed_hash(key, &text)
}

fn word(key: &[u8; 32], place: u16, number: u64) -> Vec<u8> {
    let mut word = Vec::with_capacity(BYTES);
    word.extend_from_slice(&place.to_le_bytes());
    word.extend_from_slice(&number.to_le_bytes());
    word.extend_from_slice(hash(key, place, number).as_bytes());
    word
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secrets() -> Vec<Secret> {
        (1..5).map(|site| Secret::from_bytes(&[site; 32])).collect()
    }

    fn keys() -> Vec<PublicKey> {
        secrets().iter().map(Secret::public).collect()
    }

    #[test]
    fn a_word_is_good_once_and_for_one_listener() {
        let (secrets, keys) = (secrets(), keys());
        let at = |place: usize| Introductions::new(&secrets[place], &keys, &[0, 1, 2]);
        let (here, elsewhere) = (at(1), at(2));
        let first = introduce(&secrets[0], 0, &keys[1]);
        let second = introduce(&secrets[0], 0, &keys[1]);
        assert_eq!(elsewhere.site_of(&first), None);
        assert_eq!(here.site_of(&first), Some(0));
        assert_eq!(here.site_of(&first), None);
        assert_eq!(here.site_of(&second), Some(0));
        assert_eq!(here.site_of(&first), None);
        // To its own node a site introduces itself too.
        assert_eq!(here.site_of(&introduce(&secrets[1], 1, &keys[1])), Some(1));
        // A site that does not come here, a site that claims another place, a site that nobody knows.
        assert_eq!(here.site_of(&introduce(&secrets[3], 3, &keys[1])), None);
        assert_eq!(here.site_of(&introduce(&secrets[0], 2, &keys[1])), None);
        let stranger = Secret::from_bytes(&[77; 32]);
        assert_eq!(here.site_of(&introduce(&stranger, 0, &keys[1])), None);
        assert_eq!(here.site_of(&introduce(&secrets[0], 900, &keys[1])), None);
    }

    /// A word from one site to another is no word in the other direction.
    #[test]
    fn a_word_does_not_turn_back() {
        let (secrets, keys) = (secrets(), keys());
        let dialer = Introductions::new(&secrets[0], &keys, &[0, 1]);
        let mut word = introduce(&secrets[0], 0, &keys[1]);
        assert_eq!(dialer.site_of(&word), None);
        word[0] = 1;
        assert_eq!(dialer.site_of(&word), None);
    }

    proptest! {
        #[test]
        fn arbitrary_and_changed_words_are_none(
            bytes in any::<Vec<u8>>(),
            place in 0..BYTES,
            change in 1..=u8::MAX,
        ) {
            let (secrets, keys) = (secrets(), keys());
            let here = Introductions::new(&secrets[1], &keys, &[0, 2]);
            prop_assert_eq!(here.site_of(&bytes), None);
            let mut word = introduce(&secrets[0], 0, &keys[1]);
            word[place] ^= change;
            prop_assert_eq!(here.site_of(&word), None);
        }
    }
}
