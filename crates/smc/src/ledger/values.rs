//! Answers as the ledger counts them, and writes them down where a test asks for values.

/// Values that can be counted, and written down where a test asks for values.
pub trait Values {
    /// How many values.
    fn count(&self) -> usize;
    /// The values as words, for tests.
    fn words(&self) -> Vec<u64>;
}

impl<T: Word> Values for &mut [T] {
    fn count(&self) -> usize {
        self.len()
    }

    fn words(&self) -> Vec<u64> {
        self.iter().map(Word::word).collect()
    }
}

impl<T: Word> Values for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn words(&self) -> Vec<u64> {
        self.iter().map(Word::word).collect()
    }
}

/// A value that fits a word of the ledger.
pub trait Word {
    /// The value as a word.
    fn word(&self) -> u64;
}

impl Word for u64 {
    fn word(&self) -> u64 {
        *self
    }
}

impl Word for bool {
    fn word(&self) -> u64 {
        u64::from(*self)
    }
}

impl Word for Option<u64> {
    fn word(&self) -> u64 {
        self.unwrap_or(u64::MAX)
    }
}

impl Word for Option<u32> {
    fn word(&self) -> u64 {
        self.map_or(u64::MAX, u64::from)
    }
}

impl Word for Vec<u8> {
    fn word(&self) -> u64 {
        let hash = blake3::hash(self);
        let mut word = [0; 8];
        word.copy_from_slice(&hash.as_bytes()[..8]);
        u64::from_le_bytes(word)
    }
}
