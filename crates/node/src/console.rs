//! `[console]` of `site.toml`: where the pages for the steward and the officer are served.
//!
//! ```toml
//! [console]
//! listen = "127.0.0.1:7480"       # this machine alone; any other address needs a certificate
//! certificate = "console.crt"     # PEM
//! key = "console.pem"             # PEM, which only its owner may read
//! names = ["hedgerow.north.example"]   # what people type into the browser beside the address
//! ```

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use hedgerow_data::document::{DocumentError, Section};

/// Where pages are served unless something else is said.
pub const USUAL: &str = "127.0.0.1:7480";

/// How a site serves its pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleSettings {
    /// The address.
    pub listen: SocketAddr,
    /// The certificate and its key; without them only this machine is served, in plain text.
    pub tls: Option<ConsoleCertificate>,
    /// What the console is called in a browser, beside the address that it listens at.
    pub names: Vec<String>,
}

/// A certificate with its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleCertificate {
    /// The chain, in PEM.
    pub certificate: PathBuf,
    /// The key, in PEM.
    pub key: PathBuf,
}

impl ConsoleSettings {
    /// Pages for this machine alone.
    pub const fn at(listen: SocketAddr) -> Self {
        Self {
            listen,
            tls: None,
            names: Vec::new(),
        }
    }

    /// What is missing before anybody may be served at this address, with the next step.
    pub fn missing(&self) -> Option<String> {
        let Self { listen, tls, names } = self;
        if tls.is_none() && !listen.ip().is_loopback() {
            return Some(format!(
                "other machines reach {listen}, and passwords would cross the network as plain text\nhint: certificate = \"console.crt\" and key = \"console.pem\" in [console] name a certificate and its key, in PEM; or listen = \"{USUAL}\" serves this machine alone"
            ));
        }
        if listen.ip().is_unspecified() && names.is_empty() {
            return Some(format!(
                "{listen} is every address of this machine, and nothing says what people type into the browser\nhint: names = [\"hedgerow.north.example\"] in [console] lists what the console is called"
            ));
        }
        None
    }

    /// Reads the `[console]` table; file names are relative to the folder.
    pub(crate) fn read(section: &Section<'_>, folder: &Path) -> Result<Self, DocumentError> {
        let said = section.string("listen")?.unwrap_or_else(|| USUAL.into());
        let listen = address(&said).map_err(|why| section.wrong("listen", why))?;
        let (certificate, key) = (section.string("certificate")?, section.string("key")?);
        let tls = match (certificate, key) {
            (Some(certificate), Some(key)) => Some(ConsoleCertificate {
                certificate: folder.join(certificate),
                key: folder.join(key),
            }),
            (None, None) => None,
            (Some(_), None) => return Err(section.missing("key")),
            (None, Some(_)) => return Err(section.missing("certificate")),
        };
        let names = section.strings("names")?.unwrap_or_default();
        if let Some(name) = names.iter().find(|name| !is_host(name)) {
            return Err(section.wrong(
                "names",
                format!(
                    "`console.names` has `{name}`, expected a name of a machine without a port, e.g. hedgerow.north.example"
                ),
            ));
        }
        section.finish()?;
        let settings = Self { listen, tls, names };
        match settings.missing() {
            Some(why) => Err(section.wrong("listen", why)),
            None => Ok(settings),
        }
    }
}

/// An address as people write it: `localhost` is this machine.
pub fn address(text: &str) -> Result<SocketAddr, String> {
    let at = text.strip_prefix("localhost:");
    let literal = at.map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    literal
        .parse()
        .map_err(|_| format!("`{text}` is no address and port, expected such as {USUAL}"))
}

fn is_host(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    (1..=253).contains(&name.len()) && name.bytes().all(is_letter)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use hedgerow_data::document::Document;

    use super::*;

    fn read(lines: &str) -> Result<ConsoleSettings, String> {
        let text = format!("[console]\n{lines}");
        let document = Document::parse(text, Path::new("site.toml")).unwrap();
        let section = document.root().section("console").unwrap().unwrap();
        ConsoleSettings::read(&section, Path::new("folder")).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_but_this_machine_is_served_without_a_certificate() {
        let usual = read("").unwrap();
        assert_eq!(usual, ConsoleSettings::at(USUAL.parse().unwrap()));
        let local = read("listen = \"localhost:9\"").unwrap();
        assert_eq!(local.listen, "127.0.0.1:9".parse().unwrap());
        for open in ["0.0.0.0:7480", "10.0.0.7:7480", "[::]:7480"] {
            let error = read(&format!("listen = \"{open}\"")).unwrap_err();
            assert!(
                error.contains("site.toml:2") && error.contains("certificate ="),
                "{error}"
            );
        }
        let files = "certificate = \"a\"\nkey = \"b\"\n";
        let named = read(&format!("listen = \"10.0.0.7:7480\"\n{files}")).unwrap();
        assert_eq!(named.tls.unwrap().key, Path::new("folder/b"));
        let every = format!("listen = \"0.0.0.0:7480\"\n{files}");
        assert!(read(&every).unwrap_err().contains("names = ["));
        assert!(read(&format!("{every}names = [\"n.example\"]")).is_ok());
    }

    #[test]
    fn what_cannot_be_meant_is_told() {
        for (lines, told) in [
            ("listen = \"here\"", "`here` is no address and port"),
            ("certificate = \"a\"", "`console.key`"),
            ("key = \"a\"", "`console.certificate`"),
            ("names = [\"a:1\"]", "without a port"),
            ("port = 7", "port"),
        ] {
            let error = read(lines).unwrap_err();
            assert!(error.contains(told), "{error}");
        }
    }
}
