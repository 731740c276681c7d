//! Sites hold different people and the same columns.

pub mod assembly;
pub mod clustering;
pub mod cover;
pub mod mondrian;
pub mod requirement;
mod rows;
pub mod share;

pub use rows::{OwnRows, Owner, SensitiveCodes};
