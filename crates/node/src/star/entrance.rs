//! Where others come in at a site: its port, and the tunnels that the hub opens to it.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;

use super::{Line, Star, Uplink};

/// Where others come in.
#[derive(Clone)]
pub struct Entrance {
    port: Option<Arc<TcpListener>>,
    uplink: Option<Arc<Uplink>>,
}

impl Entrance {
    /// The port of a site that has one, and the calls that come through the hub of a star.
    pub fn new(port: Option<Arc<TcpListener>>, star: Option<&Star>) -> Self {
        let uplink = match star {
            Some(Star::Leaf(uplink)) => Some(Arc::clone(uplink)),
            Some(Star::Hub(_)) | None => None,
        };
        Self { port, uplink }
    }

    /// The next caller, with the address from which it comes: the hub's, for a call through the hub. Nothing
    /// is lost where the future is dropped halfway.
    pub(crate) async fn accept(&self) -> io::Result<(Line, SocketAddr)> {
        let at_port = async {
            match &self.port {
                Some(port) => port.accept().await,
                None => pending().await,
            }
        };
        let passed_on = async {
            match &self.uplink {
                Some(uplink) => uplink.accept().await,
                None => pending().await,
            }
        };
        tokio::select! {
            accepted = at_port => {
                let (socket, address) = accepted?;
                // A caller that is gone already shows when it is read.
                let _ = socket.set_nodelay(true);
                Ok((Line::Port(socket), address))
            }
            (tunnel, address) = passed_on => Ok((Line::Tunnel(tunnel), address)),
        }
    }
}

impl From<TcpListener> for Entrance {
    fn from(port: TcpListener) -> Self {
        Self::new(Some(Arc::new(port)), None)
    }
}
