//! The protocols, each written once as the code of one party: questions to the party in, decisions
//! out. A centralized run is the same code run by a party of one.

pub mod clustering;
mod error;
mod fit;
pub mod horizontal;
mod network;
mod published;
pub mod query;
mod settings;
pub mod vertical;

pub use error::Error;
pub use network::NetworkSettings;
pub use published::PublishedSettings;
pub use settings::{AT_ONCE, DIFFERENCES, FAN_OUT, RunSettings, keys_of_others};
