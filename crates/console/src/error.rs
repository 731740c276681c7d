//! Everything that can keep a console from starting, or a user from being added.

use std::net::SocketAddr;
use std::path::PathBuf;

use hedgerow::data::document::DocumentError;
use hedgerow::data::files::FileError;

use crate::role::Role;

/// Why a console could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsoleError {
    /// The site.
    #[error(transparent)]
    Engine(#[from] hedgerow::Error),
    /// The file of users.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A file that cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Others may read who may use the console.
    #[error("{}: others than its owner may read this file (mode {mode:o})\nhint: chmod 600 {0}", file.display())]
    Readable {
        /// The file.
        file: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file of what was done cannot be written, so nothing may be done.
    #[error("{}: what is done here cannot be written down: {reason}\nhint: nothing is done that is not written down; see that this user may write there", file.display())]
    NoRecord {
        /// The file.
        file: PathBuf,
        /// What the operating system said.
        reason: String,
    },
    /// The console may not be served there.
    #[error("{0}")]
    Closed(String),
    /// The address cannot be had.
    #[error(
        "{address}: nobody can be served there: {reason}\nhint: another program may have the port; --listen, or listen in [console], says another address"
    )]
    NoPort {
        /// The address.
        address: SocketAddr,
        /// What the operating system said.
        reason: String,
    },
    /// A certificate or key that cannot be used.
    #[error("{}: {reason}\nhint: certificate and key in [console] are PEM files that belong together, and the key is its owner's alone", file.display())]
    NoCertificate {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// A name that no user can have.
    #[error(
        "`{name}` cannot be a user's name\nhint: 1 to 64 letters, digits and any of . _ - @, e.g. anna"
    )]
    NoName {
        /// The name.
        name: String,
    },
    /// A user who is there already.
    #[error(
        "there is a user `{name}` already, whose role is {role}\nhint: hedgerow console user remove {name} takes the user away first"
    )]
    UserThere {
        /// The name.
        name: String,
        /// The user's role.
        role: Role,
    },
    /// A user who is not there.
    #[error("there is no user `{name}`\nhint: hedgerow console user list shows who there is")]
    NoUser {
        /// The name.
        name: String,
    },
    /// A link that counts no more.
    #[error(
        "this link does not work: it was used, is too old, or was taken back\nhint: the privacy officer makes another on the page Users; where there is nobody yet, hedgerow console prints one when it starts anew"
    )]
    NoLink,
    /// More is kept than may be.
    #[error("{0}")]
    TooMany(String),
    /// A password that is too easy to guess, or too long.
    #[error("{0}")]
    WeakPassword(String),
    /// No randomness, or no memory for a hash.
    #[error("{0}\nhint: see that the machine has memory left")]
    NoHash(String),
}
