//! A site's node: who the site is, what it agreed to, how it speaks with the other sites, where its rows
//! come from, and runs that survive a crash.
//!
//! A run goes through these modules in this order. [`agreement`] reads the study and its signatures;
//! [`site`] reads this site's own file, and [`accept`] says whether the study may run here at all;
//! [`source`] reads the rows, and [`rerun`] decides by the [`memory`] of earlier runs whether the rows
//! may be in one more run. [`run`] then takes the site's seat: frames go through the [`journal`] before
//! they go anywhere else, and travel over TLS connections whose other end is known by the key that the
//! study pins.
//!
//! The node knows no protocol: it hands a joined `Party` to a function and gets back what the
//! sites sign.

pub mod accept;
pub mod agreement;
mod aside;
pub mod audit;
mod connect;
pub mod console;
mod events;
pub mod health;
pub mod identity;
pub mod journal;
pub mod knock;
mod lines;
pub mod memory;
mod message;
pub mod opening;
pub mod program;
pub mod questions;
mod reception;
pub mod rerun;
pub mod run;
mod seal;
pub mod site;
pub mod source;
pub mod sql;
mod star;
mod strength;
mod tls;

pub use aside::aside;
pub use events::{Event, Watcher};
pub use lines::{Limits, LineError};
pub use message::{End, MessageError, Reason, Version};
pub use star::{Entrance, Relay, Star, Uplink, Visit};
pub use tls::TlsError;
