//! The table of a study as DataFusion sees it, and the two leaves that plans end in: rows and totals.

mod columns;
mod leaf;
mod rows;
mod study;
mod totals;

pub(crate) use columns::{Judged, Kind, Part, Wanted, is_cells};
pub(crate) use rows::RowsTable;
pub(crate) use study::StudyTable;
pub(crate) use totals::{Measure, TotalsTable, With};
