//! Randomness of a site: its own generator, and the streams it shares with one peer each.
//!
//! Own randomness is ChaCha20 from a 32-byte seed and every frame received so far, so a run is a pure
//! function of own values, seed and inbound messages, and a site that forgot what it received (a journal
//! from an old backup) and is then told something else draws other numbers. Pair keys come from X25519
//! and HKDF-SHA256 (RFC 5869) once per run; a pair's streams are ChaCha20 (RFC 8439) under a key of
//! their own each, a BLAKE3 hash under the pair's key of purpose, part and the answers that all sites
//! have seen when the call began (`Bound`). So no two calls share a stream, nor do two repetitions of
//! one call after different answers.
//!
//! # Discloses
//! Nothing. A pair's streams are known to its two sites and pseudorandom to all others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};
use hkdf::Hkdf;
use rand_core::{CryptoRng, Rng, SeedableRng};
use sha2::Sha256;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// The 32 bytes from which all randomness of one site in one run follows.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Takes a seed: from the operating system in production, fixed in tests.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes, for a journal that must outlive the process.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The seed of one site in a simulation with a number as seed.
    pub fn for_site(seed: u64, site: usize) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow simulation seed v1");
        hasher
            .update(&seed.to_le_bytes())
            .update(&(site as u64).to_le_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    /// A seed for one purpose, which reveals nothing of this seed, nor of seeds for other purposes or
    /// numbers.
    pub fn derive(&self, purpose: &'static str, number: u64) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(purpose);
        hasher.update(&self.0).update(&number.to_le_bytes());
        let derived = Self(*hasher.finalize().as_bytes());
        hasher.zeroize();
        derived
    }
}

/// Every frame that a site received, as one running hash. The site's link adds to the hash; the site's
/// generator follows from it.
#[derive(Default)]
pub(crate) struct Heard {
    frames: AtomicU64,
    digest: Mutex<[u8; 32]>,
}

impl Heard {
    /// Adds the hash of a frame.
    pub(crate) fn add(&self, frame: &[u8; 32]) {
        let mut digest = self.digest.lock().unwrap_or_else(PoisonError::into_inner);
        *digest = *blake3::Hasher::new_derive_key("hedgerow heard v1")
            .update(&*digest)
            .update(frame)
            .finalize()
            .as_bytes();
        self.frames.fetch_add(1, Ordering::Release);
    }
}

/// A site's own cryptographic generator.
pub struct Generator {
    stream: chacha20::ChaCha20Rng,
    seed: Seed,
    /// The running hash of what the site has received, once the site has a link.
    heard: Option<Arc<Heard>>,
    /// How many frames the stream follows from.
    frames: u64,
}

impl Generator {
    /// The generator that a seed determines.
    pub fn new(seed: &Seed) -> Self {
        Self {
            stream: chacha20::ChaCha20Rng::from_seed(seed.0),
            seed: seed.clone(),
            heard: None,
            frames: 0,
        }
    }

    /// From now on, the generator follows from every frame received too.
    pub(crate) fn follow(&mut self, heard: Arc<Heard>) {
        self.heard = Some(heard);
    }

    /// The stream that follows from everything received so far.
    fn stream(&mut self) -> &mut chacha20::ChaCha20Rng {
        if let Some(heard) = &self.heard {
            let frames = heard.frames.load(Ordering::Acquire);
            if frames != self.frames {
                let digest = heard.digest.lock().unwrap_or_else(PoisonError::into_inner);
                let seed = Seed(*blake3::keyed_hash(&self.seed.0, &*digest).as_bytes());
                self.stream = chacha20::ChaCha20Rng::from_seed(seed.0);
                self.frames = frames;
            }
        }
        &mut self.stream
    }

    /// A uniform word.
    pub fn next_u64(&mut self) -> u64 {
        self.stream().next_u64()
    }

    /// Uniform bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        self.stream().fill_bytes(bytes);
    }

    /// A uniform number below `bound`, which must not be 0 (Lemire 2019, without bias).
    pub fn below(&mut self, bound: u64) -> u64 {
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// A uniform permutation of a slice (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// The generator in the form that the curve crates take.
    pub(crate) fn inner(&mut self) -> &mut impl CryptoRng {
        self.stream()
    }
}

/// A secret for key agreement with every peer, fresh per run.
pub(crate) struct Agreement(StaticSecret);

impl Agreement {
    pub(crate) fn new(generator: &mut Generator) -> Self {
        Self(StaticSecret::random_from_rng(generator.inner()))
    }

    pub(crate) fn public(&self) -> [u8; 32] {
        PublicKey::from(&self.0).to_bytes()
    }

    /// The key shared with the owner of `public`; `None` if anyone could compute the key.
    pub(crate) fn derive(&self, public: &[u8; 32], salt: &[u8], label: &[u8]) -> Option<PairKey> {
        let shared = self.0.diffie_hellman(&PublicKey::from(*public));
        if !shared.was_contributory() {
            return None;
        }
        let mut key = [0; 32];
        // 32 bytes are within the 255 hash lengths that HKDF can give.
        Hkdf::<Sha256>::new(Some(salt), shared.as_bytes())
            .expand(label, &mut key)
            .ok()?;
        Some(PairKey(key))
    }
}

/// A key that two sites share for one run.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct PairKey([u8; 32]);

impl PairKey {
    pub(crate) const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    pub(crate) const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The key of the pair in one question, whose public randomness is `session`.
    pub(crate) fn of_question(&self, session: &[u8; 32]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow pair of a question v1");
        hasher.update(&self.0).update(session);
        let key = Self(*hasher.finalize().as_bytes());
        hasher.zeroize();
        key
    }

    /// The stream for one purpose and part of a call that follows from what was opened.
    pub(crate) fn stream(&self, purpose: Purpose, bound: &Bound, part: u32) -> Keystream {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher
            .update(&bound.0)
            .update(&[purpose as u8])
            .update(&part.to_le_bytes());
        let mut key = *hasher.finalize().as_bytes();
        hasher.zeroize();
        let stream = Keystream::new(&key);
        key.zeroize();
        stream
    }
}

/// The answers that sites have seen opened when a call begins, or on its way: the streams of the call
/// follow from them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound(pub(crate) [u8; 32]);

impl Bound {
    /// The bound for a key that is used once.
    pub(crate) const ONCE: Self = Self([0; 32]);

    /// Bound to these bytes too, which both sites have seen.
    pub(crate) fn and(self, bytes: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow bound too v1");
        hasher.update(&self.0).update(bytes);
        Self(*hasher.finalize().as_bytes())
    }
}

/// What a pair's stream is for; each purpose has streams of its own.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// Masks that cancel in a sum.
    SumMask = 1,
    /// Masks that cancel in a sum kept apart.
    ApartMask = 2,
    /// The affine map of `all`.
    Affine = 3,
    /// A comparison dealer's mask and root seeds.
    Dealer = 4,
    /// The bit that hides the opened shares from the dealer.
    Opening = 5,
    /// A column of the oblivious transfer extension.
    Column = 6,
    /// The single use of a key made for one item.
    Item = 7,
    /// The key of the digests by which shares are held against each other.
    Digest = 8,
}

/// A ChaCha20 key stream, read in words or bytes.
pub(crate) struct Keystream {
    cipher: ChaCha20,
    buffer: [u8; BUFFER],
    used: usize,
}

const BUFFER: usize = 1024;

impl Keystream {
    /// Each key is used for one stream, so the nonce is fixed.
    fn new(key: &[u8; 32]) -> Self {
        Self {
            cipher: ChaCha20::new(&(*key).into(), &[0; 12].into()),
            buffer: [0; BUFFER],
            used: BUFFER,
        }
    }

    fn refill(&mut self) {
        self.buffer.fill(0);
        self.cipher.apply_keystream(&mut self.buffer);
        self.used = 0;
    }

    pub(crate) fn byte(&mut self) -> u8 {
        if self.used == BUFFER {
            self.refill();
        }
        let byte = self.buffer[self.used];
        self.used += 1;
        byte
    }

    pub(crate) fn word(&mut self) -> u64 {
        if self.used + 8 > BUFFER {
            self.refill();
        }
        let mut word = [0; 8];
        word.copy_from_slice(&self.buffer[self.used..self.used + 8]);
        self.used += 8;
        u64::from_le_bytes(word)
    }

    pub(crate) fn block(&mut self) -> u128 {
        u128::from(self.word()) | u128::from(self.word()) << 64
    }

    /// Combines each value with a word of its own; uses up the stream.
    pub(crate) fn over(mut self, values: &mut [u64], combine: impl Fn(u64, u64) -> u64) {
        for chunk in values.chunks_mut(BUFFER / 8) {
            self.refill();
            for (value, word) in chunk.iter_mut().zip(self.buffer.as_chunks::<8>().0) {
                *value = combine(*value, u64::from_le_bytes(*word));
            }
        }
    }

    /// The exclusive or of `bytes` with the stream, for streams read in bytes only.
    pub(crate) fn apply(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte ^= self.byte();
        }
    }
}

impl Drop for Keystream {
    fn drop(&mut self) {
        self.buffer.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_derived_seed_is_the_same_again_and_another_for_anything_else() {
        let seeds = [
            Seed::for_site(1, 0),
            Seed::for_site(1, 0).derive("one", 0),
            Seed::for_site(1, 0).derive("one", 1),
            Seed::for_site(1, 0).derive("two", 0),
            Seed::for_site(1, 1).derive("one", 0),
            Seed::for_site(1, 0).derive("one", 0).derive("one", 0),
        ];
        for (place, seed) in seeds.iter().enumerate() {
            for other in &seeds[..place] {
                assert_ne!(seed.as_bytes(), other.as_bytes(), "{place}");
            }
        }
        let again = Seed::for_site(1, 0).derive("one", 1);
        assert_eq!(again.as_bytes(), seeds[2].as_bytes());
    }

    /// The numbers that a generator draws after these frames were received.
    fn drawn(frames: &[[u8; 32]]) -> (u64, u64) {
        let mut generator = Generator::new(&Seed::new([3; 32]));
        let heard = Arc::new(Heard::default());
        generator.follow(Arc::clone(&heard));
        let before = generator.next_u64();
        frames.iter().for_each(|frame| heard.add(frame));
        (before, generator.next_u64())
    }

    #[test]
    fn own_randomness_follows_from_every_frame_received() {
        let told = [
            &[[1; 32]][..],
            &[[2; 32]],
            &[[1; 32], [2; 32]],
            &[[2; 32], [1; 32]],
        ];
        let draws: Vec<(u64, u64)> = told.iter().map(|frames| drawn(frames)).collect();
        for (place, draw) in draws.iter().enumerate() {
            assert_eq!(*draw, drawn(told[place]), "the same again");
            assert_eq!(draw.0, draws[0].0, "nothing was heard yet");
            for other in &draws[..place] {
                assert_ne!(draw.1, other.1, "{place}");
            }
        }
    }

    #[test]
    fn streams_of_a_pair_differ_by_purpose_part_and_what_both_have_seen() {
        let key = PairKey::new([9; 32]);
        let word = |purpose, bound: &Bound, part| key.stream(purpose, bound, part).word();
        let bound = Bound([1; 32]);
        let words = [
            word(Purpose::SumMask, &bound, 0),
            word(Purpose::ApartMask, &bound, 0),
            word(Purpose::SumMask, &bound, 1),
            word(Purpose::SumMask, &Bound([2; 32]), 0),
            word(Purpose::SumMask, &bound.and(&[]), 0),
            word(Purpose::SumMask, &bound.and(&[7]), 0),
        ];
        for (place, word) in words.iter().enumerate() {
            assert!(!words[..place].contains(word), "{place}");
        }
        assert_eq!(words[0], word(Purpose::SumMask, &bound, 0));
    }
}
