//! Who a site is: an ed25519 key pair (RFC 8032).
//!
//! The secret lies in a file that only its owner may read, is never printed, and is wiped from
//! memory when it is dropped. The public half stands in the study and is all that others trust.

use std::fmt;
use std::io::Write as _;
use std::path::Path;
use std::str::FromStr;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use zeroize::{Zeroize as _, Zeroizing};

/// How a secret key's file begins.
const SECRET: &str = hedgerow_data::taxonomy::SECRET_KEY;
/// How a public key is written in a study.
const PUBLIC: &str = "ed25519:";
/// The longest file that can hold a secret key.
const LONGEST: u64 = 256;

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// A file that is there already.
    #[error(
        "{file}: is there already and is kept\nhint: a key that is lost voids every study it signed; choose another name"
    )]
    Exists {
        /// The file.
        file: String,
    },
    /// The operating system refuses.
    #[error(
        "{file}: {what}: {reason}\nhint: see that the file or its folder is there, and that this user may use it; hedgerow keygen makes a key"
    )]
    Unusable {
        /// The file.
        file: String,
        /// What was tried.
        what: &'static str,
        /// What the operating system said.
        reason: String,
    },
    /// Users other than the owner may read the key's file.
    #[error(
        "{file}: others than its owner may read this key (mode {mode:o})\nhint: chmod 600 {file}, and make a new key if somebody has read it"
    )]
    Readable {
        /// The file.
        file: String,
        /// The file's mode.
        mode: u32,
    },
    /// The file holds something else.
    #[error("{file}: is no secret key of hedgerow\nhint: hedgerow keygen --out {file} makes one")]
    NoSecret {
        /// The file.
        file: String,
    },
    /// Text that is no public key.
    #[error(
        "`{found}` is no public key\nhint: expected `ed25519:` and 64 hexadecimal digits, as hedgerow keygen prints it"
    )]
    NoPublic {
        /// The text.
        found: String,
    },
    /// The operating system has no randomness.
    #[error("the operating system gives no randomness: {reason}")]
    NoRandomness {
        /// What the operating system said about its randomness.
        reason: String,
    },
}

/// A site's secret key.
pub struct Secret(SigningKey);

/// A site's public key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl Secret {
    /// A new key from the operating system's randomness.
    pub fn generate() -> Result<Self, IdentityError> {
        Ok(Self(SigningKey::from_bytes(&*random()?)))
    }

    /// The key of 32 bytes, for tests and rehearsals.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(bytes))
    }

    /// Writes the key to a new file that only its owner may read.
    pub fn write_new(&self, path: &Path) -> Result<(), IdentityError> {
        let file_name = path.display().to_string();
        let failed = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => IdentityError::Exists {
                file: file_name.clone(),
            },
            _ => IdentityError::Unusable {
                file: file_name.clone(),
                what: "cannot be written",
                reason: error.to_string(),
            },
        };
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(failed)?;
        let digits = Zeroizing::new(hex(self.0.as_bytes()));
        let text = Zeroizing::new(format!("{SECRET}{}\n", digits.as_str()));
        let written = file
            .write_all(text.as_bytes())
            .and_then(|()| file.sync_all());
        written.map_err(|error| {
            // A key that is not whole is of no use to anyone.
            let _ = std::fs::remove_file(path);
            failed(error)
        })
    }

    /// Reads the key from a file that only its owner may read.
    pub fn open(path: &Path) -> Result<Self, IdentityError> {
        let file = path.display().to_string();
        let unusable = |error: std::io::Error| IdentityError::Unusable {
            file: file.clone(),
            what: "cannot be read",
            reason: error.to_string(),
        };
        let found = std::fs::metadata(path).map_err(unusable)?;
        if let Some(mode) = readable_by_others(&found) {
            return Err(IdentityError::Readable { file, mode });
        }
        if found.len() > LONGEST {
            return Err(IdentityError::NoSecret { file });
        }
        let mut text = Zeroizing::new(std::fs::read(path).map_err(unusable)?);
        let secret = std::str::from_utf8(&text)
            .ok()
            .and_then(|text| text.trim_end().strip_prefix(SECRET))
            .and_then(from_hex::<32>)
            .map(Zeroizing::new)
            .map(|bytes| Self(SigningKey::from_bytes(&bytes)));
        text.zeroize();
        secret.ok_or(IdentityError::NoSecret { file })
    }

    /// The public half.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a message for one purpose.
    pub fn sign(&self, purpose: Purpose, message: &[u8; 32]) -> [u8; 64] {
        self.0.sign(&purpose.text(message)).to_bytes()
    }

    /// A key for one purpose of this site's own, from which the secret cannot be found.
    pub(crate) fn derive(&self, purpose: &'static str) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(blake3::derive_key(purpose, self.0.as_bytes()))
    }

    /// The secret that this key and another's share, whichever of the two computes it: Diffie-Hellman
    /// on the Montgomery form of the curve (RFC 7748). Signing keys serve it too (Thormarker, "On using
    /// the same key pair for Ed25519 and an X25519 based KEM", 2021).
    pub(crate) fn agree(&self, with: &PublicKey) -> Zeroizing<[u8; 32]> {
        let shared = with.0.to_montgomery() * self.0.to_scalar();
        Zeroizing::new(shared.to_bytes())
    }

    /// The key in the form in which TLS takes it (PKCS #8, RFC 8410).
    pub(crate) fn pkcs8(&self) -> Zeroizing<Vec<u8>> {
        const PREFIX: [u8; 16] = [
            0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22,
            0x04, 0x20,
        ];
        let mut der = Zeroizing::new(Vec::with_capacity(48));
        der.extend_from_slice(&PREFIX);
        der.extend_from_slice(self.0.as_bytes());
        der
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

/// What a signature is for: a signature for one purpose counts for no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// This site agrees to a study.
    Study,
    /// This site stands behind a release.
    Release,
    /// This site stands behind its own account of a run.
    Account,
    /// This site has committed itself to its rows and seed before a run.
    Opening,
    /// This site has sent and received these frames in a run.
    Transcript,
    /// An auditor has replayed a site's part in a run.
    Audit,
    /// This site asks a question.
    Question,
    /// This site's own rows of a run are as the run ended with them.
    Rows,
}

impl Purpose {
    fn text(self, message: &[u8; 32]) -> Vec<u8> {
        let name: &[u8] = match self {
            Self::Study => b"hedgerow study signature v1\0",
            Self::Release => b"hedgerow release signature v1\0",
            Self::Account => b"hedgerow account signature v1\0",
            Self::Opening => b"hedgerow opening signature v1\0",
            Self::Transcript => b"hedgerow transcript signature v1\0",
            Self::Audit => b"hedgerow audit signature v1\0",
            Self::Question => b"hedgerow question signature v1\0",
            Self::Rows => b"hedgerow rows signature v1\0",
        };
        [name, message].concat()
    }
}

impl PublicKey {
    /// Whether a signature for one purpose is this key's.
    pub fn verifies(&self, purpose: Purpose, message: &[u8; 32], signature: &[u8; 64]) -> bool {
        let signature = Signature::from_bytes(signature);
        self.0
            .verify_strict(&purpose.text(message), &signature)
            .is_ok()
    }

    /// The 32 bytes of the key.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }
}

impl FromStr for PublicKey {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, IdentityError> {
        let key = text
            .strip_prefix(PUBLIC)
            .and_then(from_hex::<32>)
            .and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok())
            // A weak key verifies signatures that nobody made.
            .filter(|key| !key.is_weak());
        let no_public = || IdentityError::NoPublic {
            found: text.chars().take(100).collect(),
        };
        key.map(Self).ok_or_else(no_public)
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PUBLIC}{}", hex(self.as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// 32 bytes of the operating system's randomness.
pub(crate) fn random() -> Result<Zeroizing<[u8; 32]>, IdentityError> {
    let mut bytes = Zeroizing::new([0; 32]);
    getrandom::fill(bytes.as_mut()).map_err(|error| IdentityError::NoRandomness {
        reason: error.to_string(),
    })?;
    Ok(bytes)
}

/// The mode of a file that others than its owner may read.
pub(crate) fn readable_by_others(found: &std::fs::Metadata) -> Option<u32> {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777;
        (mode & 0o077 != 0).then_some(mode)
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        None
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// Exactly N bytes of lower-case hexadecimal digits: one way to write each.
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    for (byte, [high, low]) in bytes.iter_mut().zip(digits.as_chunks::<2>().0) {
        *byte = value(*high)? << 4 | value(*low)?;
    }
    Some(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_file_is_the_owners_and_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.key");
        let secret = Secret::generate().unwrap();
        secret.write_new(&path).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(&path).unwrap().permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(Secret::open(&path).unwrap().public(), secret.public());
        let before = std::fs::read(&path).unwrap();
        let again = Secret::generate().unwrap().write_new(&path);
        assert!(matches!(again, Err(IdentityError::Exists { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_key_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.key");
        Secret::generate().unwrap().write_new(&path).unwrap();
        for mode in [0o640, 0o604, 0o644, 0o660] {
            let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(&path, permissions).unwrap();
            let error = Secret::open(&path).unwrap_err().to_string();
            assert!(error.contains(&format!("mode {mode:o}")), "{error}");
            assert!(error.contains("chmod 600"), "{error}");
        }
    }

    #[test]
    fn a_secret_never_prints() {
        let secret = Secret::from_bytes(&[7; 32]);
        assert_eq!(format!("{secret:?}"), "Secret");
    }

    #[test]
    fn a_signature_is_for_one_purpose() {
        let secret = Secret::from_bytes(&[7; 32]);
        let signature = secret.sign(Purpose::Study, &[1; 32]);
        let public = secret.public();
        assert!(public.verifies(Purpose::Study, &[1; 32], &signature));
        assert!(!public.verifies(Purpose::Release, &[1; 32], &signature));
        assert!(!public.verifies(Purpose::Account, &[1; 32], &signature));
        assert!(!public.verifies(Purpose::Study, &[2; 32], &signature));
        let other = Secret::from_bytes(&[8; 32]).public();
        assert!(!other.verifies(Purpose::Study, &[1; 32], &signature));
    }

    #[test]
    fn a_weak_public_key_is_refused() {
        let identity = format!("ed25519:01{}", "00".repeat(31));
        assert!(identity.parse::<PublicKey>().is_err());
    }

    proptest! {
        #[test]
        fn what_is_no_key_is_refused_without_a_panic(text in ".{0,80}", bytes in any::<Vec<u8>>()) {
            prop_assert!(text.parse::<PublicKey>().is_err());
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("k");
            Secret::from_bytes(&[1; 32]).write_new(&path).unwrap();
            std::fs::write(&path, &bytes).unwrap();
            prop_assert!(Secret::open(&path).is_err());
        }

        #[test]
        fn public_keys_are_read_as_they_are_written(seed in any::<[u8; 32]>()) {
            let public = Secret::from_bytes(&seed).public();
            prop_assert_eq!(public.to_string().parse::<PublicKey>().unwrap(), public);
            prop_assert_eq!(from_hex::<32>(&hex(&seed)), Some(seed));
        }
    }
}
