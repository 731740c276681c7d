//! The console's certificate and key, from PEM files.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use hedgerow::node::console::ConsoleCertificate;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::ConsoleError;

/// What browsers are shown, over TLS 1.3 or 1.2.
pub(crate) fn open(files: &ConsoleCertificate) -> Result<Arc<ServerConfig>, ConsoleError> {
    let unusable = |file: &Path, reason: String| ConsoleError::NoCertificate {
        file: file.to_owned(),
        reason,
    };
    let (certificate, key) = (files.certificate.as_path(), files.key.as_path());
    let chain = CertificateDer::pem_file_iter(certificate);
    let chain = chain.and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let chain = chain.map_err(|error| unusable(certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(unusable(
            certificate,
            String::from("there is no certificate in it"),
        ));
    }
    let found = std::fs::metadata(key).map_err(|error| unusable(key, error.to_string()))?;
    if found.permissions().mode() & 0o077 != 0 {
        let reason = String::from("others than its owner may read this key");
        return Err(unusable(key, reason));
    }
    let secret = PrivateKeyDer::from_pem_file(key);
    let secret = secret.map_err(|error| unusable(key, error.to_string()))?;
    let wrong = |error: rustls::Error| unusable(certificate, error.to_string());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(wrong)?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(wrong)?;
    Ok(Arc::new(config))
}
