//! Fields in which one bit of each site is added: of 251 elements for up to 250 sites, of 65,521 for more.
//!
//! The sum of one bit per site minus m is zero exactly if all are set, and stays non-zero under
//! a random non-zero factor: there is no probability of error to make small, so the smallest
//! prime that holds the sum will do. An element is one byte in the small field and two in the large one.
//!
//! # Discloses
//! Nothing: arithmetic.

use std::ops::{Add, Mul, Sub};

use crate::random::Keystream;
use crate::wire::{WireError, exactly};

/// The prime for up to 250 sites: an element is a byte.
pub(super) const SMALL: u32 = 251;
/// The prime for more sites: an element is two bytes.
pub(super) const LARGE: u32 = 65_521;

/// An element of the field of so many elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Element<const PRIME: u32>(u16);

impl<const PRIME: u32> Element<PRIME> {
    /// Bytes on the wire.
    pub(super) const BYTES: usize = if PRIME < 256 { 1 } else { 2 };

    pub(super) const fn from_bit(bit: bool) -> Self {
        Self(bit as u16)
    }

    /// A number of sites, which is below the prime.
    pub(super) const fn from_count(count: usize) -> Self {
        Self((count % PRIME as usize) as u16)
    }

    /// A uniform element.
    pub(super) fn draw(stream: &mut Keystream) -> Self {
        loop {
            let low = u16::from(stream.byte());
            let drawn = match Self::BYTES {
                1 => low,
                _ => low | u16::from(stream.byte()) << 8,
            };
            if u32::from(drawn) < PRIME {
                return Self(drawn);
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

    /// The element of a number of any size.
    const fn of(number: u32) -> Self {
        Self((number % PRIME) as u16)
    }
}

impl<const PRIME: u32> Add for Element<PRIME> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::of(u32::from(self.0) + u32::from(other.0))
    }
}

impl<const PRIME: u32> Sub for Element<PRIME> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::of(u32::from(self.0) + PRIME - u32::from(other.0))
    }
}

impl<const PRIME: u32> Mul for Element<PRIME> {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        // Below 2^32, since both are below 2^16.
        Self::of(u32::from(self.0) * u32::from(other.0))
    }
}

pub(super) fn encode<const PRIME: u32>(elements: &[Element<PRIME>]) -> Vec<u8> {
    if Element::<PRIME>::BYTES == 1 {
        return elements.iter().map(|element| element.0 as u8).collect();
    }
    let bytes = elements.iter().flat_map(|element| element.0.to_le_bytes());
    bytes.collect()
}

/// Reads `count` elements, each below the prime.
pub(super) fn decode<const PRIME: u32>(
    bytes: &[u8],
    count: usize,
) -> Result<Vec<Element<PRIME>>, WireError> {
    exactly(bytes, count * Element::<PRIME>::BYTES)?;
    let numbers: Vec<u16> = match Element::<PRIME>::BYTES {
        1 => bytes.iter().map(|byte| u16::from(*byte)).collect(),
        _ => {
            let pairs = bytes.as_chunks::<2>().0.iter();
            pairs.map(|pair| u16::from_le_bytes(*pair)).collect()
        }
    };
    match numbers
        .iter()
        .position(|&number| u32::from(number) >= PRIME)
    {
        Some(index) => Err(WireError::Range { index }),
        None => Ok(numbers.into_iter().map(Element).collect()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn follows_arithmetic<const PRIME: u32>(left: u32, right: u32) {
        let of = Element::<PRIME>::of;
        let (a, b) = (of(left % PRIME), of(right % PRIME));
        let (wide_a, wide_b) = (u64::from(left % PRIME), u64::from(right % PRIME));
        let prime = u64::from(PRIME);
        for (found, expected) in [
            (a + b, (wide_a + wide_b) % prime),
            (a - b, (wide_a + prime - wide_b) % prime),
            (a * b, wide_a * wide_b % prime),
        ] {
            assert_eq!(u64::from(found.0), expected, "modulo {PRIME}");
        }
        let bytes = encode(&[a, b]);
        assert_eq!(bytes.len(), 2 * Element::<PRIME>::BYTES);
        assert!(decode::<PRIME>(&bytes, 2).is_ok_and(|read| read == [a, b]));
        assert!(decode::<PRIME>(&bytes[1..], 2).is_err());
    }

    proptest! {
        #[test]
        fn both_fields_follow_the_arithmetic_of_whole_numbers(left: u32, right: u32) {
            follows_arithmetic::<SMALL>(left, right);
            follows_arithmetic::<LARGE>(left, right);
        }
    }

    #[test]
    fn numbers_from_the_prime_on_are_refused() {
        assert_eq!(
            decode::<SMALL>(&[250, 251], 2).err(),
            Some(WireError::Range { index: 1 })
        );
        assert_eq!(
            decode::<LARGE>(&[0xf0, 0xff, 0xf1, 0xff], 2).err(),
            Some(WireError::Range { index: 1 })
        );
    }
}
