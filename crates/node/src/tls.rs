//! TLS 1.3 between sites, each known by its key alone.
//!
//! A site's certificate is made from its ed25519 key and says nothing but the key and the day: no name,
//! no authority. It serves for a few hours and is then made anew, since a node may run for months; so a
//! caller does not cost a certificate. A peer is who the study says because it holds the secret half of
//! the key that the study pins. A certificate must be signed by its own key and of now, so that a stolen
//! certificate is of no use for long and a wrong clock is named. There is no resumption and no early
//! data: every connection proves both keys afresh.
//!
//! # Discloses
//! Whoever connects sees this site's public key, and is then refused unless the study pins the caller's
//! own key.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, verify_server_cert_signed_by_trust_anchor};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoServerSessionStorage, ParsedCertificate};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName,
    Error, RootCertStore, ServerConfig, SignatureScheme,
};

use crate::identity::{PublicKey, Secret};

/// How far a certificate reaches before and after the moment it is made: clocks differ by less.
const REACH: Duration = Duration::from_secs(24 * 60 * 60);

/// How old a certificate may be before a new one is made. Settings made from a certificate may be as old
/// again, which is far within its reach.
const RENEWAL: Duration = Duration::from_secs(6 * 60 * 60);

/// Why this site cannot speak TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// No certificate can be made from the key.
    #[error("no certificate can be made from the key: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The library refuses the settings.
    #[error("TLS cannot be set up: {0}")]
    Settings(#[from] Error),
}

/// This site's certificate, of today.
pub(crate) struct Papers {
    secret: Arc<Secret>,
    certificate: Fresh<CertificateDer<'static>>,
}

impl Papers {
    pub(crate) fn new(secret: Arc<Secret>) -> Self {
        Self {
            secret,
            certificate: Fresh::default(),
        }
    }

    fn get(
        &self,
        now: SystemTime,
    ) -> Result<(CertificateDer<'static>, PrivateKeyDer<'static>), TlsError> {
        let make = || certificate(&self.secret, now);
        let der = PrivatePkcs8KeyDer::from(self.secret.pkcs8().to_vec());
        Ok((self.certificate.get(now, make)?, PrivateKeyDer::Pkcs8(der)))
    }
}

/// The settings for connections that others open: any of some peers may.
pub(crate) struct Listening {
    papers: Arc<Papers>,
    peers: Vec<PublicKey>,
    settings: Fresh<Arc<ServerConfig>>,
}

impl Listening {
    /// Errors that every caller would meet are met here.
    pub(crate) fn new(papers: Arc<Papers>, peers: Vec<PublicKey>) -> Result<Self, TlsError> {
        let listening = Self {
            papers,
            peers,
            settings: Fresh::default(),
        };
        listening.settings()?;
        Ok(listening)
    }

    /// The settings for a connection of now.
    pub(crate) fn settings(&self) -> Result<Arc<ServerConfig>, TlsError> {
        self.settings_at(SystemTime::now())
    }

    fn settings_at(&self, now: SystemTime) -> Result<Arc<ServerConfig>, TlsError> {
        self.settings.get(now, || {
            let (certificate, key) = self.papers.get(now)?;
            let pinned = Pinned::new(&self.peers);
            let mut config = ServerConfig::builder_with_provider(pinned.provider.clone())
                .with_protocol_versions(&[&rustls::version::TLS13])?
                .with_client_cert_verifier(Arc::new(pinned))
                .with_single_cert(vec![certificate], key)?;
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
            config.max_early_data_size = 0;
            Ok(Arc::new(config))
        })
    }
}

/// The settings for a connection to one peer, with the word by which the peer recognizes this site (see
/// `reception`).
pub(crate) fn dialing(
    papers: &Papers,
    peer: PublicKey,
    introduction: Vec<u8>,
) -> Result<ClientConfig, TlsError> {
    let (certificate, key) = papers.get(SystemTime::now())?;
    let pinned = Pinned::new(&[peer]);
    let mut config = ClientConfig::builder_with_provider(pinned.provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_client_auth_cert(vec![certificate], key)?;
    config.resumption = Resumption::disabled();
    config.enable_early_data = false;
    // Peers are known by key, not by name: the study's names stay inside.
    config.enable_sni = false;
    config.alpn_protocols = vec![introduction];
    Ok(config)
}

/// A line's error in words for people.
pub(crate) fn in_words(error: &std::io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    match inner {
        Some(Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        )) => String::from(
            "its certificate is of another day: its clock is wrong, or this machine's is",
        ),
        Some(Error::InvalidCertificate(_)) => {
            String::from("its key is not the one that the study has")
        }
        Some(Error::AlertReceived(AlertDescription::CertificateExpired)) => String::from(
            "it takes this site's certificate for one of another day: its clock is wrong, or this machine's is",
        ),
        Some(Error::AlertReceived(_)) => String::from(
            "it does not take this site's key; its study may have another one for this site",
        ),
        Some(Error::InvalidMessage(_)) => String::from("what it says is not TLS"),
        _ if error.kind() == std::io::ErrorKind::UnexpectedEof => String::from("it hung up"),
        _ => error.to_string(),
    }
}

/// A name that the library wants and nobody sees.
pub(crate) fn no_name() -> ServerName<'static> {
    ServerName::IpAddress(std::net::IpAddr::from([127, 0, 0, 1]).into())
}

/// The key of a certificate, if it is an ed25519 key.
pub(crate) fn key_of(certificate: &CertificateDer<'_>) -> Option<[u8; 32]> {
    /// The bytes before the 32 bytes of an ed25519 key (RFC 8410).
    const PREFIX: [u8; 12] = [
        0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
    ];
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    let info = parsed.subject_public_key_info();
    info.strip_prefix(&PREFIX)?.try_into().ok()
}

/// A certificate of a moment.
fn certificate(secret: &Secret, now: SystemTime) -> Result<CertificateDer<'static>, TlsError> {
    let der = PrivatePkcs8KeyDer::from(secret.pkcs8().to_vec());
    let pair = rcgen::KeyPair::from_pkcs8_der_and_sign_algo(&der, &rcgen::PKCS_ED25519)?;
    let mut parameters = rcgen::CertificateParams::default();
    parameters.distinguished_name = rcgen::DistinguishedName::new();
    parameters.not_before = (now - REACH).into();
    parameters.not_after = (now + REACH).into();
    Ok(parameters.self_signed(&pair)?.der().clone())
}

/// A value that is made anew when it is old, or when the clock was set.
struct Fresh<T>(Mutex<Option<(SystemTime, T)>>);

impl<T> Default for Fresh<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> Fresh<T> {
    fn get<E>(&self, now: SystemTime, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        // The value is put there in one step.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((made, value)) = &*kept {
            let age = now.duration_since(*made);
            if age.unwrap_or_else(|early| early.duration()) < RENEWAL {
                return Ok(value.clone());
            }
        }
        let value = make()?;
        *kept = Some((now, value.clone()));
        Ok(value)
    }
}

/// Knows peers by their keys.
struct Pinned {
    keys: Vec<[u8; 32]>,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    fn new(peers: &[PublicKey]) -> Self {
        Self {
            keys: peers.iter().map(|key| *key.as_bytes()).collect(),
            provider: Arc::new(rustls::crypto::ring::default_provider()),
        }
    }

    /// Whether a certificate has a pinned key, is signed by it and is of now.
    fn check(&self, certificate: &CertificateDer<'_>, now: UnixTime) -> Result<(), Error> {
        if !key_of(certificate).is_some_and(|key| self.keys.contains(&key)) {
            return Err(CertificateError::ApplicationVerificationFailure.into());
        }
        // The certificate is its own authority, since its key is pinned. Without a stated use it serves
        // both ends.
        let mut authority = RootCertStore::empty();
        authority.add(certificate.clone())?;
        let algorithms = self.provider.signature_verification_algorithms.all;
        let parsed = ParsedCertificate::try_from(certificate)?;
        verify_server_cert_signed_by_trust_anchor(&parsed, &authority, &[], now, algorithms)
    }

    fn signed(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }
}

impl fmt::Debug for Pinned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Pinned")
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(certificate, now)
            .map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General(String::from("TLS 1.3 only")))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(certificate, now)
            .map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General(String::from("TLS 1.3 only")))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_certificate_says_the_key_and_nothing_else() {
        let secret = Secret::from_bytes(&[5; 32]);
        let certificate = certificate(&secret, SystemTime::now()).unwrap();
        assert_eq!(key_of(&certificate), Some(*secret.public().as_bytes()));
        assert!(!String::from_utf8_lossy(&certificate).contains("rcgen"));
    }

    #[test]
    fn a_certificate_is_of_its_day_and_signed_by_its_key() {
        let secret = Secret::from_bytes(&[5; 32]);
        let pinned = Pinned::new(&[secret.public()]);
        let made = SystemTime::now();
        let certificate = certificate(&secret, made).unwrap();
        let at = |moment: SystemTime| {
            let since = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap();
            pinned.check(&certificate, UnixTime::since_unix_epoch(since))
        };
        let hour = Duration::from_secs(3600);
        assert_eq!(at(made), Ok(()));
        assert_eq!(at(made + REACH - hour), Ok(()));
        assert_eq!(at(made + hour - REACH), Ok(()));
        let invalid = |found: Result<(), Error>| match found {
            Err(Error::InvalidCertificate(error)) => error,
            found => panic!("{found:?}"),
        };
        let expired = invalid(at(made + REACH + hour));
        assert!(matches!(expired, CertificateError::ExpiredContext { .. }));
        let early = invalid(at(made - REACH - hour));
        assert!(matches!(early, CertificateError::NotValidYetContext { .. }));

        let mut forged = certificate.to_vec();
        *forged.last_mut().unwrap() ^= 1;
        let since = made.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let now = UnixTime::since_unix_epoch(since);
        invalid(pinned.check(&CertificateDer::from(forged), now));
        let stranger = Pinned::new(&[Secret::from_bytes(&[6; 32]).public()]);
        let found = invalid(stranger.check(&certificate, now));
        assert_eq!(found, CertificateError::ApplicationVerificationFailure);
    }

    /// A node waits for months: its certificate is of the day, and is made only a few times a day.
    #[test]
    fn a_certificate_serves_for_hours_and_is_always_of_now() {
        let secret = Arc::new(Secret::from_bytes(&[5; 32]));
        let pinned = Pinned::new(&[secret.public()]);
        let papers = Arc::new(Papers::new(Arc::clone(&secret)));
        let listening = Listening::new(Arc::clone(&papers), vec![secret.public()]).unwrap();
        let (start, minute) = (SystemTime::now(), Duration::from_secs(60));
        let mut shown: Vec<(Arc<ServerConfig>, CertificateDer<'static>)> = Vec::new();
        // Forward through ten days, then the clock is set back by as many.
        let forward = (0..10 * 24 * 60).map(|passed| start + passed * minute);
        for now in forward.chain([start, start + minute]) {
            let settings = listening.settings_at(now).unwrap();
            let (certificate, _) = papers.get(now).unwrap();
            let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap();
            let now = UnixTime::since_unix_epoch(since);
            assert_eq!(pinned.check(&certificate, now), Ok(()));
            match shown.last() {
                Some((last, kept)) if Arc::ptr_eq(last, &settings) => {
                    assert_eq!(pinned.check(kept, now), Ok(()));
                }
                // New settings are made from the present certificate.
                _ => shown.push((settings, certificate)),
            }
        }
        assert!((40..=44).contains(&shown.len()), "{}", shown.len());
    }

    #[test]
    fn a_key_of_another_kind_is_no_key() {
        let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let certificate = rcgen::CertificateParams::default()
            .self_signed(&pair)
            .unwrap();
        assert_eq!(key_of(certificate.der()), None);
    }

    proptest! {
        #[test]
        fn arbitrary_certificates_never_panic(
            bytes in any::<Vec<u8>>(),
            place in any::<prop::sample::Index>(),
            byte in any::<u8>(),
        ) {
            key_of(&CertificateDer::from(bytes));
            let whole = certificate(&Secret::from_bytes(&[5; 32]), SystemTime::now()).unwrap();
            let mut changed = whole.to_vec();
            let place = place.index(changed.len());
            changed[place] = byte;
            key_of(&CertificateDer::from(changed));
        }
    }
}
