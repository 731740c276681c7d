//! Sites hold different people and the same columns.

pub mod assembly;
pub mod attacked;
pub mod clustering;
pub mod cover;
pub mod grid;
pub mod hilbert;
pub mod mondrian;
mod partition;
pub mod requirement;
mod rows;
pub mod share;
pub(crate) mod writing;

pub use rows::{OwnRows, Owner, SensitiveCodes};
