//! Lines in a star: sites behind firewalls reach one site, the hub, and each other through it.
//!
//! A leaf keeps one connection to the hub's port, made like any other: both keys proven and pinned to the
//! study (see `tls`, `reception`). Inside, [`Uplink`] and [`Relay`] open tunnels, of which one connection
//! carries many (`session`). A tunnel leads from a caller through the hub to the site that it names. Inside a
//! tunnel the two sites do what they do on a line of their own: TLS with both their keys, the word of
//! introduction, the greeting, frames, confirmations. So the hub copies bytes that it can neither read nor
//! change unnoticed, and nothing above a line knows of the hub.
//!
//! A leaf dials the hub alone and needs no port. What others call it for comes through the tunnels that the
//! hub opens, or to the leaf's own port where it has one ([`Entrance`]). The hub calls a leaf in the same
//! way.
//!
//! Guarantee: a hub that changes, drops, repeats, holds back or misdirects what it passes on breaks lines,
//! as any network can: TLS between the two ends finds it, and a broken line is taken up again where it was.
//! Only sites of the study have anything passed on, each pair a few tunnels at a time with bounded buffers.
//!
//! # Discloses
//! To the hub: which sites are connected with it, which of them talk with each other, when and how much.
//! To the other sites: whether a site is connected with the hub.

mod entrance;
mod line;
mod relay;
mod session;
mod uplink;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;

pub use entrance::Entrance;
pub(crate) use line::Line;
pub use relay::Relay;
pub(crate) use relay::receive;
pub use uplink::{Uplink, Visit};

/// What the hub answers to a caller must come within this time.
const LIMIT: Duration = Duration::from_secs(5);

/// Tunnels of a caller to one other site at a time: for a run, for questions, for a knock.
const OF_A_PAIR: usize = 3;

/// Tunnels that one connection carries at a time, those included that are just being opened or closed.
const fn most_tunnels(sites: usize) -> usize {
    4 * OF_A_PAIR * sites
}

/// This site's place in a star.
#[derive(Clone)]
pub enum Star {
    /// The hub, which passes on what others say.
    Hub(Arc<Relay>),
    /// A leaf, which reaches all others through the hub.
    Leaf(Arc<Uplink>),
}

/// Whether of this site and a peer this site is the first to dial: the first in the study's order, and a leaf
/// of a star before the hub, which has no other way to a leaf than the one that the leaf has opened.
pub(crate) fn is_first(star: Option<&Star>, me: u16, peer: u16) -> bool {
    match star {
        Some(Star::Hub(_)) => false,
        Some(Star::Leaf(uplink)) if uplink.hub() == peer => true,
        Some(Star::Leaf(_)) | None => me < peer,
    }
}

/// Opens a line to a site: straight to its address, or through the hub.
pub(crate) async fn reach(star: Option<&Star>, to: u16, address: &str) -> io::Result<Line> {
    match star {
        Some(Star::Hub(relay)) if to != relay.me() => relay.call(to).await,
        Some(Star::Leaf(uplink)) if uplink.is_needed_for(to, address) => uplink.call(to).await,
        _ => {
            let socket = TcpStream::connect(address).await?;
            socket.set_nodelay(true)?;
            Ok(Line::Port(socket))
        }
    }
}

fn absent(words: String) -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, words)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
