//! A console for other machines: TLS with the certificate of the site's file, and a cookie that no plain
//! connection has.

use std::path::Path;
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use hedgerow_console::{ConsoleCertificate, ConsoleError, ConsoleSettings, Listening, Role};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

use crate::world::{World, password};

/// A certificate for `localhost` with its key, in files.
fn certificate(folder: &Path) -> (ConsoleCertificate, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed([String::from("localhost")]).unwrap();
    let files = ConsoleCertificate {
        certificate: folder.join("console.crt"),
        key: folder.join("console.pem"),
    };
    std::fs::write(&files.certificate, pem("CERTIFICATE", made.cert.der())).unwrap();
    let key = made.signing_key.serialize_der();
    std::fs::write(&files.key, pem("PRIVATE KEY", &key)).unwrap();
    private(&files.key, 0o600);
    (files, made.cert.der().clone())
}

fn pem(what: &str, bytes: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(bytes);
    format!("-----BEGIN {what}-----\n{text}\n-----END {what}-----\n")
}

fn private(file: &Path, mode: u32) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(file, mode).unwrap();
}

fn settings(tls: ConsoleCertificate) -> ConsoleSettings {
    ConsoleSettings {
        listen: "127.0.0.1:0".parse().unwrap(),
        tls: Some(tls),
        names: Vec::new(),
    }
}

#[tokio::test]
async fn a_console_with_a_certificate_speaks_tls_and_its_cookie_is_for_tls_alone() {
    let world = World::bare();
    drop(world.console("north"));
    let (files, root) = certificate(&world.path(""));
    let listening = Listening::bind(world.file("north"), settings(files))
        .await
        .unwrap();
    let address = listening.console().address();
    let (_, port) = address.rsplit_once(':').unwrap();
    assert!(address.starts_with("https://"), "{address}");
    let (port, host) = (port.to_owned(), format!("localhost:{port}"));
    let serving = tokio::spawn(async move { match listening.serve().await {} });
    let mut roots = RootCertStore::empty();
    roots.add(root).unwrap();
    let provider = Arc::new(crypto::ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let line = tokio::net::TcpStream::connect(format!("127.0.0.1:{port}"))
        .await
        .unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut line = TlsConnector::from(Arc::new(client))
        .connect(name, line)
        .await
        .unwrap();
    let body = format!(
        "name=otto&password={}",
        password(Role::Officer).replace(' ', "+")
    );
    let text = format!(
        "POST /sign-in HTTP/1.1\r\nHost: {host}\r\nOrigin: https://{host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    line.write_all(text.as_bytes()).await.unwrap();
    let mut answer = String::new();
    // The other side may close without a last word of TLS.
    let _ = line.read_to_string(&mut answer).await;
    assert!(answer.starts_with("HTTP/1.1 303"), "{answer}");
    assert!(
        answer.contains("set-cookie: __Host-hedgerow-") && answer.contains("; Secure"),
        "{answer}"
    );
    assert!(
        answer.contains("strict-transport-security: max-age="),
        "{answer}"
    );
    // A browser that does not speak TLS gets nothing.
    let mut plain = tokio::net::TcpStream::connect(format!("127.0.0.1:{port}"))
        .await
        .unwrap();
    plain
        .write_all(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!String::from_utf8_lossy(&answer).contains("HTTP/"));
    serving.abort();
}

#[tokio::test]
async fn a_key_that_others_read_or_that_is_none_is_refused() {
    let world = World::bare();
    let (files, _) = certificate(&world.path(""));
    let refused = async |files: &ConsoleCertificate| -> ConsoleError {
        let bound = Listening::bind(world.file("north"), settings(files.clone())).await;
        bound.err().unwrap()
    };
    private(&files.key, 0o644);
    let error = refused(&files).await.to_string();
    assert!(error.contains("others than its owner may read"), "{error}");
    private(&files.key, 0o600);
    std::fs::write(&files.certificate, "nothing").unwrap();
    let error = refused(&files).await.to_string();
    assert!(
        error.contains("console.crt: there is no certificate"),
        "{error}"
    );
}
