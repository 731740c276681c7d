//! The published commutative encryption: exponentiation modulo a safe prime.
//!
//! Pohlig and Hellman (1978); Agrawal, Evfimievski and Srikant (SIGMOD 2003, section 3.2). The
//! modulus is the 2048-bit safe prime of RFC 3526, group 14; identifiers are hashed to squares,
//! so that quadratic residuosity says nothing; exponents are odd and 256 bits long. Kept for
//! reproduction: ciphertexts are eight times as long as on ristretto255.
//!
//! # Discloses
//! See [`crate::commutative`].

use crypto_bigint::modular::ConstMontyForm;
use crypto_bigint::{U256, U2048, const_monty_params};
use rayon::prelude::*;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::random::Generator;
use crate::wire::{WireError, exactly};

const_monty_params!(
    Group14,
    U2048,
    "\
     FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74\
          020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437\
          4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED\
          EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF05\
          98DA48361C55D39A69163FA8FD24CF5F83655D23DCA3AD961C62F356208552BB\
          9ED529077096966D670C354E4ABC9804F1746C08CA18217C32905E462E36CE3B\
          E39E772C180E86039B2783A2EC07A28FB5C55DF06F4C52C9DE2BCBF695581718\
          3995497CEA956AE515D2261898FA051015728E5A8AACAA68FFFFFFFFFFFFFFFF",
    "The safe prime of RFC 3526, group 14."
);

type Residue = ConstMontyForm<Group14, { U2048::LIMBS }>;

/// A secret exponent.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct PohligHellmanKey(U256);

impl PohligHellmanKey {
    /// Bytes of a ciphertext.
    pub const BYTES: usize = 256;

    /// A fresh key.
    pub fn new(generator: &mut Generator) -> Self {
        let mut bytes = [0; 32];
        generator.fill(&mut bytes);
        // Odd and below half the prime, hence prime to p - 1 = 2 q.
        bytes[0] |= 1;
        let key = U256::from_le_slice(&bytes);
        bytes.zeroize();
        Self(key)
    }

    /// Ciphertexts of identifiers, one after the other.
    pub fn encrypt(&self, identifiers: &[&[u8]]) -> Vec<u8> {
        let ciphertexts = identifiers.par_iter().map(|identifier| {
            let mut wide = [0; Self::BYTES];
            let mut hasher =
                blake3::Hasher::new_derive_key("hedgerow Pohlig-Hellman identifier v1");
            hasher.update(identifier).finalize_xof().fill(&mut wide);
            let square = Residue::new(&U2048::from_le_slice(&wide)).square();
            self.raise(&square)
        });
        ciphertexts.flatten_iter().collect()
    }

    /// Encrypts `count` ciphertexts once more. Each must be a residue other than 0, 1 and -1.
    pub fn encrypt_again(&self, ciphertexts: &[u8], count: usize) -> Result<Vec<u8>, WireError> {
        exactly(ciphertexts, count.saturating_mul(Self::BYTES))?;
        let raised: Result<Vec<Vec<u8>>, WireError> = ciphertexts
            .par_chunks(Self::BYTES)
            .enumerate()
            .map(|(index, bytes)| Ok(self.raise(&residue(bytes, index)?)))
            .collect();
        Ok(raised?.concat())
    }

    fn raise(&self, base: &Residue) -> Vec<u8> {
        let power = base.pow(&self.0).retrieve().to_le_bytes();
        power.as_ref().to_vec()
    }
}

/// Reads a residue, which must be reduced and neither 0, 1 nor -1.
fn residue(bytes: &[u8], index: usize) -> Result<Residue, WireError> {
    let number = U2048::from_le_slice(bytes);
    let residue = Residue::new(&number);
    if residue.retrieve() != number || number == U2048::ZERO {
        return Err(WireError::NotAPoint { index });
    }
    if residue.square() == Residue::ONE {
        return Err(WireError::Identity { index });
    }
    Ok(residue)
}
