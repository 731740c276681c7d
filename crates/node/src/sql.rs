//! `[sql]` of `site.toml`: where `hedgerow sql serve` listens, with which certificate, and for whom.
//!
//! ```toml
//! [sql]
//! listen = "0.0.0.0:5433"
//! certificate = "sql.crt"         # PEM
//! key = "sql.pem"                 # PEM, which only its owner may read
//! plaintext_on_loopback = false   # the default: TLS is demanded of every client
//!
//! [[sql.user]]                    # as hedgerow sql user prints it
//! name = "anna"
//! verifier = "SCRAM-SHA-256$65536:…"
//! ```

use std::fmt;
use std::path::{Path, PathBuf};

use hedgerow_data::document::{DocumentError, Section};

use crate::site::check_address;

/// How a site serves SQL.
#[derive(Debug, Clone)]
pub struct SqlSettings {
    /// Where the server listens.
    pub listen: String,
    /// The certificate and its key; without them only clients on this machine can be served, in plain text.
    pub tls: Option<SqlCertificate>,
    /// Whether clients on this machine may do without TLS.
    pub is_plaintext_on_loopback: bool,
    /// Who may ask.
    pub users: Vec<SqlUser>,
}

/// A certificate with its key.
#[derive(Debug, Clone)]
pub struct SqlCertificate {
    /// The chain, in PEM.
    pub certificate: PathBuf,
    /// The key, in PEM.
    pub key: PathBuf,
}

/// Who may ask.
#[derive(Clone)]
pub struct SqlUser {
    /// The name.
    pub name: String,
    /// What a password is held against, as PostgreSQL writes it.
    pub verifier: String,
}

impl fmt::Debug for SqlUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut user = f.debug_struct("SqlUser");
        user.field("name", &self.name).finish_non_exhaustive()
    }
}

impl SqlSettings {
    /// Reads the `[sql]` table; file names are relative to the folder.
    pub(crate) fn read(section: &Section<'_>, folder: &Path) -> Result<Self, DocumentError> {
        let listen = section.required_string("listen")?;
        check_address(section, "listen", &listen)?;
        let is_plaintext_on_loopback = section.boolean("plaintext_on_loopback")?.unwrap_or(false);
        let (certificate, key) = (section.string("certificate")?, section.string("key")?);
        let tls = match (certificate, key) {
            (Some(certificate), Some(key)) => Some(SqlCertificate {
                certificate: folder.join(certificate),
                key: folder.join(key),
            }),
            (None, None) if is_plaintext_on_loopback => None,
            (None, None) => {
                return Err(section.wrong_section("`certificate` and `key` are missing\nhint: certificate = \"sql.crt\" and key = \"sql.pem\" name the server's certificate and its key, in PEM; plaintext_on_loopback = true serves this machine alone without them"));
            }
            (Some(_), None) => return Err(section.missing("key")),
            (None, Some(_)) => return Err(section.missing("certificate")),
        };
        let mut users: Vec<SqlUser> = Vec::new();
        for user in section.sections("user")? {
            let name = user.required_name()?;
            let verifier = user.required_string("verifier")?;
            user.finish()?;
            if users.iter().any(|other| other.name == name) {
                return Err(user.wrong("name", format!("two users are named `{name}`")));
            }
            users.push(SqlUser { name, verifier });
        }
        section.finish()?;
        Ok(Self {
            listen,
            tls,
            is_plaintext_on_loopback,
            users,
        })
    }
}
