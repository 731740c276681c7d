//! Sites hold different people and the same columns.



pub mod mondrian;
mod rows;

pub use rows::{Owner, OwnRows, SensitiveCodes};
