//! SQL on an anonymous table: a release, or whatever else answers the questions of `hedgerow` ([`Source`]).
//!
//! Analysts write plain SQL; [DataFusion](https://datafusion.apache.org) plans and runs it. A cell of the
//! table such as `[20-39]` stands for several values, so a condition on it is certain, possible, or holds by a
//! share. [`Session`] reads a statement, turns every condition and every total of the table into a question of
//! the protocols (`rewrite`), and leaves the rest, `ORDER BY`, `HAVING`, arithmetic, `WITH` and windows, to
//! DataFusion. What cannot be answered soundly is refused by name before anything is asked.
//!
//! ```no_run
//! # async fn doc() -> Result<(), hedgerow_sql::SqlError> {
//! use hedgerow_sql::{Limits, ReleaseSource, Session};
//!
//! let source = ReleaseSource::open("release")?;
//! let mut session = Session::new(source, Limits::default())?;
//! let reply = session.run("SELECT sex, count(*) FROM ward WHERE age < 30 GROUP BY sex").await?;
//! println!("{}", reply.table()?);
//! # Ok(())
//! # }
//! ```

pub mod count;
mod error;
mod mode;
mod output;
mod rewrite;
mod serve;
mod session;
mod source;
mod table;

pub use error::SqlError;
pub use mode::Mode;
pub use output::Reply;
pub use serve::{Log, NoRandomness, ServeError, Server, TlsError, Verifier};
pub use session::{Limits, Parameter, Planned, Session};
pub use source::{ReleaseSource, SiteSource, Source};
