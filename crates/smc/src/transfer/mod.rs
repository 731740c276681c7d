//! Oblivious transfer between two sites: base transfers once per run, then as many as needed.
//!
//! Base transfers are those of Chou and Orlandi (LATINCRYPT 2015, "the simplest protocol") on
//! ristretto255; they are extended as Ishai, Kilian, Nissim and Petrank (CRYPTO 2003) show, with
//! the tweaked fixed-key hash of [`crate::block`]. One direction is enough for all that is built
//! on it: site 0 sends, site 1 chooses.
//!
//! Guarantee: semi-honest. The chooser learns one of each pair of messages, the sender nothing.
//! Cost: two messages at the start of the run; then 16 bytes per transfer from the chooser.
//!
//! # Discloses
//! Nothing by itself; the primitives that use a transfer say what it carries.

mod base;
mod extension;

pub(crate) use base::{BASE_BYTES, BaseReceiver, BaseSender};
pub(crate) use extension::{Batch, Chooser, Sender, Tweaks, pads};

/// This site's side of the transfers from site 0 to site 1.
pub(crate) enum Transfer {
    /// Site 0.
    Sender(Sender),
    /// Site 1.
    Chooser(Chooser),
}
