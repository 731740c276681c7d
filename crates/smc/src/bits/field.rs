//! The field of 251 elements, in which bits of up to 250 sites are added.
//!
//! The sum of one bit per site minus m is zero exactly if all are set, and stays non-zero under
//! a random non-zero factor: there is no probability of error to make small, so the smallest
//! prime that holds the sum will do, and an element is one byte.
//!
//! # Discloses
//! Nothing: arithmetic.

use std::ops::{Add, Mul, Sub};

use crate::random::Keystream;
use crate::wire::{WireError, exactly};

const PRIME: u16 = 251;

/// An element of the field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element(u8);

impl Element {
    pub(super) const fn from_bit(bit: bool) -> Self {
        Self(bit as u8)
    }

    /// A number of sites, which is below the prime.
    pub(super) const fn from_count(count: usize) -> Self {
        Self((count % PRIME as usize) as u8)
    }

    /// A uniform element.
    pub(super) fn draw(stream: &mut Keystream) -> Self {
        loop {
            let byte = stream.byte();
            if u16::from(byte) < PRIME {
                return Self(byte);
            }
        }
    }

    /// A uniform element other than zero.
    pub(super) fn draw_nonzero(stream: &mut Keystream) -> Self {
        loop {
            let element = Self::draw(stream);
            if element.0 != 0 {
                return element;
            }
        }
    }
}

impl Add for Element {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(((u16::from(self.0) + u16::from(other.0)) % PRIME) as u8)
    }
}

impl Sub for Element {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(((u16::from(self.0) + PRIME - u16::from(other.0)) % PRIME) as u8)
    }
}

impl Mul for Element {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self((u16::from(self.0) * u16::from(other.0) % PRIME) as u8)
    }
}

pub(super) fn encode(elements: &[Element]) -> Vec<u8> {
    elements.iter().map(|element| element.0).collect()
}

/// Reads `count` elements, each below the prime.
pub(crate) fn decode(bytes: &[u8], count: usize) -> Result<Vec<Element>, WireError> {
    exactly(bytes, count)?;
    match bytes.iter().position(|&byte| u16::from(byte) >= PRIME) {
        Some(index) => Err(WireError::Range { index }),
        None => Ok(bytes.iter().map(|&byte| Element(byte)).collect()),
    }
}
