//! The server's certificate: read from PEM files, and what a password can be bound to (RFC 5929).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_node::sql::SqlCertificate;
use ring::digest;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// Why a certificate or its key cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file that is not what it should be.
    #[error("{}: {reason}\nhint: sql.certificate and sql.key are PEM files that belong together", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// A key that others may read.
    #[error("{0}: others than its owner may read this key\nhint: chmod 600 {0}", file.display())]
    Readable {
        /// The file.
        file: PathBuf,
    },
}

/// A certificate that clients are shown.
pub(super) struct Tls {
    pub(super) config: Arc<ServerConfig>,
    /// What a password's exchange is bound to (`tls-server-end-point`); none where the certificate's signature
    /// has no hash of its own, as with Ed25519: clients would then fail.
    pub(super) binding: Option<Vec<u8>>,
    /// A secret that stays when the server starts anew, and that no client knows.
    pub(super) secret: digest::Digest,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the certificate and its key, for TLS 1.3, or 1.2 for clients that have no better.
    pub(super) fn open(files: &SqlCertificate) -> Result<Self, TlsError> {
        let unusable = |file: &Path| {
            let file = file.to_owned();
            move |reason: String| TlsError::Unusable { file, reason }
        };
        let chain = CertificateDer::pem_file_iter(&files.certificate);
        let chain = chain.and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let chain = chain.map_err(|error| unusable(&files.certificate)(error.to_string()))?;
        let Some(first) = chain.first() else {
            let reason = String::from("there is no certificate in it");
            return Err(unusable(&files.certificate)(reason));
        };
        let binding = binding(first);
        #[cfg(unix)]
        {
            let found = std::fs::metadata(&files.key);
            let found = found.map_err(|error| unusable(&files.key)(error.to_string()))?;
            if std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 != 0 {
                let file = files.key.clone();
                return Err(TlsError::Readable { file });
            }
        }
        let key = PrivateKeyDer::from_pem_file(&files.key);
        let key = key.map_err(|error| unusable(&files.key)(error.to_string()))?;
        let mut hash = digest::Context::new(&digest::SHA256);
        hash.update(b"hedgerow sql names");
        hash.update(key.secret_der());
        let wrong = |error: rustls::Error| unusable(&files.certificate)(error.to_string());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(wrong)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(wrong)?;
        Ok(Self {
            config: Arc::new(config),
            binding,
            secret: hash.finish(),
        })
    }
}

/// The hash of a certificate, by the hash function of its signature (RFC 5929, section 4.1).
fn binding(certificate: &[u8]) -> Option<Vec<u8>> {
    // Certificate ::= SEQUENCE { tbsCertificate SEQUENCE, signatureAlgorithm SEQUENCE { OID, … }, … }
    let (inside, _) = element(certificate, 0x30)?;
    let (_, rest) = element(inside, 0x30)?;
    let (algorithm, _) = element(rest, 0x30)?;
    let (oid, _) = element(algorithm, 0x06)?;
    let hash = match oid {
        // PKCS#1 with MD5, SHA-1, SHA-256, and ECDSA with SHA-1, SHA-256; the old hashes are replaced.
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 4 | 5 | 11]
        | [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01]
        | [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 2] => &digest::SHA256,
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 12]
        | [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 3] => &digest::SHA384,
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 13]
        | [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 4] => &digest::SHA512,
        _ => return None,
    };
    Some(digest::digest(hash, certificate).as_ref().to_vec())
}

/// The inside of an element of DER, and what follows it.
fn element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match *length {
        short @ 0..=0x7f => (usize::from(short), rest),
        long => {
            let count = usize::from(long & 0x7f);
            let digits = rest.get(..count).filter(|_| (1..=4).contains(&count))?;
            let number = |sum: usize, digit: &u8| sum << 8 | usize::from(*digit);
            (digits.iter().fold(0, number), &rest[count..])
        }
    };
    let is_it = *first == tag && length <= rest.len();
    is_it.then(|| rest.split_at(length))
}
