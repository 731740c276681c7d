//! Sites hold different people and the same columns.

pub mod m_privacy;
pub mod mondrian;
mod rows;

pub use rows::{OwnRows, Owner, SensitiveCodes};
