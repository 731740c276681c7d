//! Sites hold the same people and different columns.

pub mod align;
pub mod clustering;
pub mod d2pt;
pub mod mondrian;
mod own;
