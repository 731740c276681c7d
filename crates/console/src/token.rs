//! Secrets that a browser holds: 256 random bits, of which this side keeps a hash alone.

use hedgerow::node::identity::hex;

use crate::error::ConsoleError;

/// What this side keeps of a token.
pub(crate) type Hash = [u8; 32];

/// A new token, as it is written into a cookie or an address.
pub(crate) fn fresh() -> Result<String, ConsoleError> {
    let mut bytes = zeroize::Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut_slice())
        .map_err(|error| ConsoleError::NoHash(format!("there is no randomness: {error}")))?;
    Ok(hex(bytes.as_slice()))
}

/// What is kept of a token. A table that is looked up by this hash tells nothing by the time it takes.
pub(crate) fn hash(token: &str) -> Hash {
    blake3::derive_key("hedgerow console token v1", token.as_bytes())
}
