//! A site's seat in a run: network, secure multi-party primitives, and the ledger of what was
//! disclosed.

pub mod align;
pub mod bits;
mod block;
pub mod commutative;
pub mod compare;
pub mod error;
pub mod ideal;
pub mod lca;
pub mod ledger;
pub mod link;
pub mod memory;
pub mod network;
pub mod order;
pub mod party;
pub mod random;
pub mod settings;
pub mod sum;
mod transfer;
pub mod union;
pub mod wire;

pub use error::Error;
pub use lca::Tree;
pub use ledger::{Ledger, Sealed, To, What};
pub use network::{Network, Site};
pub use order::Rank;
pub use party::{Party, Seat};
pub use random::{Generator, Seed};
pub use settings::{Security, Settings};
pub use union::Items;
