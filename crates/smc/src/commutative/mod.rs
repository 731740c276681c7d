//! Commutative encryption: ciphertexts that do not depend on the order of the keys.
//!
//! `published`: the exponentiation cipher of Pohlig and Hellman (1978), as Shamir, Rivest and
//! Adleman's mental poker and Agrawal, Evfimievski and Srikant (SIGMOD 2003) use it: modulo the
//! safe prime of RFC 3526, group 14.
//! `hardened`: the same on ristretto255: SHA-512 of an identifier, mapped to the group, times a
//! secret scalar. A fresh key per run.
//!
//! Guarantee: under the decisional Diffie-Hellman assumption, with the hash as a random oracle,
//! ciphertexts under a key that one does not know say nothing but whether identifiers are equal.
//!
//! # Discloses
//! Equality of identifiers, to whoever holds two ciphertexts under the same keys.

mod pohlig_hellman;
mod ristretto;

pub use pohlig_hellman::PohligHellmanKey;
pub use ristretto::RistrettoKey;
