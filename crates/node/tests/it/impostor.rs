//! What an impostor needs: certificates of its own making, ends of TLS that take anybody, and
//! greetings byte by byte.

use std::sync::Arc;
use std::time::Duration;

use hedgerow_node::identity::from_hex;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    ClientConfig, DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// A client that takes any server and shows the certificate of a key.
#[derive(Debug)]
pub(super) struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

/// A server whose clock is so wrong that every certificate is of another day.
#[derive(Debug)]
pub(super) struct Elsewhen;

impl ClientCertVerifier for Elsewhen {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Err(rustls::CertificateError::Expired.into())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

/// The PKCS #8 form of a test's secret.
pub(super) fn pkcs8(site: u8) -> PrivatePkcs8KeyDer<'static> {
    let mut der = from_hex::<16>("302e020100300506032b657004220420")
        .unwrap()
        .to_vec();
    der.extend([site + 1; 32]);
    PrivatePkcs8KeyDer::from(der)
}

/// A connector with the certificate of a key, for better or worse.
pub(super) fn connector(
    site: Option<u8>,
    shape: impl Fn(&mut rcgen::CertificateParams),
) -> TlsConnector {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anyone));
    let config = match site {
        None => builder.with_no_client_auth(),
        Some(site) => {
            let (certificate, key) = certificate(site, shape);
            builder
                .with_client_auth_cert(vec![certificate], key.into())
                .unwrap()
        }
    };
    TlsConnector::from(Arc::new(config))
}

/// The certificate of a key, for better or worse.
pub(super) fn certificate(
    site: u8,
    shape: impl Fn(&mut rcgen::CertificateParams),
) -> (CertificateDer<'static>, PrivatePkcs8KeyDer<'static>) {
    let der = pkcs8(site);
    let pair = rcgen::KeyPair::from_pkcs8_der_and_sign_algo(&der, &rcgen::PKCS_ED25519).unwrap();
    let mut parameters = rcgen::CertificateParams::default();
    shape(&mut parameters);
    let certificate = parameters.self_signed(&pair).unwrap();
    (certificate.der().clone(), der)
}

/// A server that shows the certificate of a key. It takes any client, or finds each one's
/// certificate to be of another day.
pub(super) fn acceptor(
    site: u8,
    shape: impl Fn(&mut rcgen::CertificateParams),
    is_elsewhen: bool,
) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let (certificate, key) = certificate(site, shape);
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap();
    let builder = if is_elsewhen {
        builder.with_client_cert_verifier(Arc::new(Elsewhen))
    } else {
        builder.with_no_client_auth()
    };
    let config = builder.with_single_cert(vec![certificate], key.into());
    TlsAcceptor::from(Arc::new(config.unwrap()))
}

/// Everything that a server says after the TLS handshake to a client that says this.
pub(super) async fn hear(address: &str, connector: &TlsConnector, say: &[u8]) -> Vec<u8> {
    let name = ServerName::try_from("hedgerow").unwrap();
    let socket = connect(address).await;
    let mut heard = Vec::new();
    if let Ok(mut stream) = connector.connect(name, socket).await {
        let _ = stream.write_all(say).await;
        let _ = stream.flush().await;
        let _ = stream.read_to_end(&mut heard).await;
    }
    heard
}

pub(super) async fn connect(address: &str) -> TcpStream {
    loop {
        match TcpStream::connect(address).await {
            Ok(socket) => return socket,
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

/// How a site's first words begin in this version.
pub(super) fn opening(kind: u8) -> Vec<u8> {
    let mut body = vec![kind];
    body.extend(b"hedgerow");
    body.extend([4, hedgerow_smc::wire::VERSION]);
    body
}

/// A greeting as a peer at place `from` would send it to site 1.
pub(super) fn hello(from: u16, study: [u8; 32]) -> Vec<u8> {
    hello_to(1, from, study, 0)
}

/// A greeting of somebody who expects this frame next.
pub(super) fn hello_to(to: u16, from: u16, study: [u8; 32], next: u64) -> Vec<u8> {
    let mut body = opening(0);
    body.extend(study);
    body.extend(1u32.to_le_bytes());
    body.extend(from.to_le_bytes());
    body.extend(to.to_le_bytes());
    body.extend(next.to_le_bytes());
    framed(&body)
}

pub(super) fn framed(body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u32).to_le_bytes().to_vec();
    bytes.extend(body);
    bytes
}
