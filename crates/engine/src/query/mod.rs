//! Questions in SQL about a release, and about the table that sites hold together.
//!
//! [`Statement`] reads counts, sums, averages, `WHERE` and `GROUP BY` into the questions of the protocols.

mod compare;
mod condition;
mod error;
mod mean;
mod released;
mod simulated;
mod statement;
mod table;

pub use condition::Names;
pub use error::AskError;
pub use mean::bounds_of_mean;
pub use released::Released;
pub use simulated::Asked;
pub use statement::{Statement, clause_of, tokens};
pub use table::Answers;
