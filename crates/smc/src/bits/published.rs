//! The published conjunction: TG12 Algorithm 2 with the hash comparison of section 3.2.
//!
//! A ring sum modulo m + 1 up to one step before its end; sites m - 2 and m - 1 then send keyed
//! hashes of u and v to site 0, which compares them. The paper's h(r + u) becomes a keyed BLAKE3
//! of the place and u, so that equal sums at different places do not look equal.
//!
//! # Discloses
//! The answers; to two colluding neighbours on the ring the bits of the site between them; to
//! site 0 together with site m - 2 or m - 1 the number of bits set.

use subtle::ConstantTimeEq;

use crate::error::Error;
use crate::network::Site;
use crate::party::Joined;
use crate::random::Generator;
use crate::sum::apart;
use crate::wire;

/// Bytes of a hash on the wire.
const HASH: usize = 16;

pub(super) async fn conjunction(
    joined: &mut Joined,
    generator: &mut Generator,
    bits: &mut [bool],
) -> Result<(), Error> {
    let sites = joined.sites as u64;
    let modulus = sites + 1;
    let mut values: Vec<u64> = bits.iter().map(|&bit| u64::from(bit)).collect();
    apart(joined, generator, modulus, &mut values).await?;

    let judge = Site::new(0);
    let last = Site::new(joined.sites as u16 - 1);
    let before_last = Site::new(joined.sites as u16 - 2);
    if joined.me == last {
        let key = new_key(generator);
        joined.link.send(before_last, &key)?;
        let hashes = hash_all(&key, values.iter().map(|mask| (sites + mask) % modulus));
        joined.link.send(judge, &hashes)?;
    } else if joined.me == before_last {
        let key = receive_key(joined, last).await?;
        joined
            .link
            .send(judge, &hash_all(&key, values.into_iter()))?;
    }
    if joined.me == judge {
        let left = joined.link.receive(before_last, bits.len() * HASH).await?;
        let right = joined.link.receive(last, bits.len() * HASH).await?;
        let pairs = left.chunks_exact(HASH).zip(right.chunks_exact(HASH));
        for (bit, (left, right)) in bits.iter_mut().zip(pairs) {
            *bit = left.ct_eq(right).into();
        }
        joined
            .link
            .broadcast(&wire::pack_bits(bits.iter().copied()))
    } else {
        joined.receive_answers(judge, bits).await
    }
}

/// The random number on which sites m - 2 and m - 1 agree.
pub(crate) fn new_key(generator: &mut Generator) -> [u8; 32] {
    let mut key = [0; 32];
    generator.fill(&mut key);
    key
}

pub(crate) async fn receive_key(joined: &mut Joined, from: Site) -> Result<[u8; 32], Error> {
    let mut key = [0; 32];
    key.copy_from_slice(&joined.link.receive(from, 32).await?);
    Ok(key)
}

pub(crate) fn hash(key: &[u8; 32], place: usize, value: u64) -> [u8; HASH] {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher
        .update(&(place as u64).to_le_bytes())
        .update(&value.to_le_bytes());
    let mut short = [0; HASH];
    short.copy_from_slice(&hasher.finalize().as_bytes()[..HASH]);
    short
}

fn hash_all(key: &[u8; 32], values: impl Iterator<Item = u64>) -> Vec<u8> {
    values
        .enumerate()
        .flat_map(|(place, value)| hash(key, place, value))
        .collect()
}
