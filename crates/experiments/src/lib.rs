//! The evaluation figures and tables of the five papers, measured again by one command.
//!
//! Every figure has a name (`jx09-fig6`), the paper's claim in our words, a function that measures, and a
//! rule in code that decides whether the claim holds. A result that differs from the paper is reported as
//! it is, with the most likely reason; nothing is tuned to match.
//!
//! ```
//! let names: Vec<&str> = hedgerow_experiments::list().iter().map(|figure| figure.name).collect();
//! assert!(names.contains(&"jx09-fig4"));
//! ```
//!
//! # Where things are
//!
//! - `frame/`: what a figure is ([`Figure`]), what a measurement gives (panels of series), rules.
//! - `data/`: the tables that figures are measured on, real or synthetic, and studies of them.
//! - `jx08/`, `jx09/`, `tg12/`, `mpriv/`, `d2pt/`, `ours/`: the figures, one list for each paper.
//! - `run.rs`: which figures are measured, and which are kept from an earlier call; `lock.rs`: one call at
//!   a time; `record.rs`: what is remembered of a finished figure; `plot/`, `table.rs` and `page.rs`: what is written.

mod data;
mod error;
mod frame;
mod lock;
mod page;
mod plot;
mod record;
mod run;
mod table;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

mod d2pt;
mod jx08;
mod jx09;
mod mpriv;
mod ours;
mod tg12;

pub use data::DataFolder;
pub use error::Error;
pub use frame::figure::{Figure, Paper};
pub use frame::progress::Progress;
pub use record::{Checked, Record};
pub use run::{Options, Report, list, run};

use frame::figure::Family;

/// The figures of all papers, in the order in which they are listed and measured.
fn families() -> impl Iterator<Item = &'static Family> {
    let all = [
        jx08::FAMILIES,
        jx09::FAMILIES,
        tg12::FAMILIES,
        d2pt::FAMILIES,
        mpriv::FAMILIES,
        ours::FAMILIES,
    ];
    all.into_iter().flatten()
}
