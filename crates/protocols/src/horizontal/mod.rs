//! Sites hold different people and the same columns.

pub mod assembly;
pub mod cover;
pub mod m_privacy;
pub mod mondrian;
mod rows;

pub use rows::{OwnRows, Owner, SensitiveCodes};
