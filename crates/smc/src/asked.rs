//! The question of a call, in public terms, as one word that all sites must share.
//!
//! Every frame of a call carries the word, and every receiver compares it with its own: sites
//! that ask different questions end with an error that names the peer, never with an answer. The
//! word is the beginning of a BLAKE3 hash of the disclosure's name, lengths, bounds, thresholds,
//! domains and trees; it finds mistakes, not forgers.
//!
//! # Discloses
//! Nothing: all of it is public.

use std::ops::RangeInclusive;

use crate::ledger::What;

/// A question while its word is computed.
pub(crate) struct Asking(blake3::Hasher);

impl Asking {
    /// Begins with the name of what is disclosed.
    pub(crate) fn new(what: What) -> Self {
        let name = what.name();
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow question v1");
        hasher
            .update(&(name.len() as u64).to_le_bytes())
            .update(name.as_bytes());
        Self(hasher)
    }

    /// Adds a number.
    pub(crate) fn word(mut self, word: u64) -> Self {
        self.0.update(&word.to_le_bytes());
        self
    }

    /// Adds a list of numbers and its length.
    pub(crate) fn words(mut self, words: impl ExactSizeIterator<Item = u64>) -> Self {
        self = self.word(words.len() as u64);
        for word in words {
            self.0.update(&word.to_le_bytes());
        }
        self
    }

    /// Adds a domain.
    pub(crate) fn domain(self, domain: &RangeInclusive<u64>) -> Self {
        self.word(*domain.start()).word(*domain.end())
    }

    /// The word.
    pub(crate) fn finish(self) -> u64 {
        let mut word = [0; 8];
        word.copy_from_slice(&self.0.finalize().as_bytes()[..8]);
        u64::from_le_bytes(word)
    }
}
