//! Institutions that may not show each other their records publish **one anonymous table together**, with
//! no trusted third party.
//!
//! This crate is the engine: what the `hedgerow` command, and any program that embeds it, calls. Nothing
//! here prints, exits or reads arguments; an [`Observer`] hears how far the work is, and [`Error::fault`]
//! says whose fault an error is. Results are structs with a [`Display`](std::fmt::Display) for people and
//! JSON by serde for machines.
//!
//! # One table, one party
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("patients.csv");
//! # let rows: String = (0..60).map(|row| format!("{},{}\n", 20 + row, ["flu", "ulcer", "asthma"][row % 3])).collect();
//! # std::fs::write(&path, format!("age,disease\n{rows}"))?;
//! use hedgerow::{Draft, Options, Questions, Study, Table, anonymize, report, verify};
//!
//! let study = Study::parse(Study::draft(Draft::Horizontal), ".")?;
//! let outcome = anonymize(&study, &Table::file(path), &Options::new())?;
//! let verdict = verify(&outcome.release, &Questions::default())?;
//! assert!(verdict.holds());
//! let page = report(&outcome.release)?;
//! assert!(page.starts_with("<!DOCTYPE html>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Several sites
//!
//! [`simulate`](simulate()) runs all sites of a study in one process and counts rounds, messages and
//! bytes. [`Site`] is one site between real machines: it runs, serves, and says what others learned.
//!
//! # Where things are
//!
//! - [`Study`]: what sites agree to; [`Study::check`] says whether tables fit.
//! - [`anonymize`](anonymize()), [`simulate`](simulate()): runs in one process, with [`Options`].
//! - [`compare`](compare()): which algorithm and recoding serve a table best.
//! - [`Release`], [`verify`](verify()), [`report`](report()): a release, looked at by somebody who trusts
//!   nothing about how it was made.
//! - [`gate`](gate()): the known attacks on a release, tried before it goes out ([`attacks`] has them).
//! - [`Site`]: a site's own file, its runs, its ledger, audits.
//! - [`data`], [`privacy`], [`smc`], [`protocols`], [`node`]: the crates beneath, for what is not wrapped.

mod compare;
mod error;
mod exposure;
mod gate;
mod joint;
mod observe;
mod options;
pub mod query;
mod release;
mod report;
mod simulate;
mod site;
mod study;
mod summary;
mod table;
mod verify;
pub mod words;

pub use arrow_array;
pub use hedgerow_data as data;
pub use hedgerow_gate as attacks;
pub use hedgerow_node as node;
pub use hedgerow_privacy as privacy;
pub use hedgerow_protocols as protocols;
pub use hedgerow_smc as smc;

pub use compare::refused::CompareRefused;
pub use compare::{
    Choice, ClassSizes, Comparison, Drawn, Measured, Recommended, RiskOf, Row, TIME, Tried, Writes,
    compare,
};
pub use error::{Error, Fault};
pub use gate::{Gated, Suspicion, gate};
pub use joint::{ChangePhase, Convergence, Ended, LossMeasure, Step, TriedAttack};
pub use observe::{Notice, Observer, SharedObserver, Urgency, Watch, Work};
pub use options::Options;
pub use release::Release;
pub use release::achieved::Achieved;
pub use release::cost::Cost;
pub use release::manifest::{
    AccountOf, Demanded, Disclosed, Holder, Manifest, Shared, SignatureOf, Statement,
};
pub use release::ordered::Ordered;
pub use release::refused::{FolderRefused, ManifestError};
pub use report::refused::ReportRefused;
pub use report::{Report, STYLE as REPORT_STYLE, report};
pub use simulate::baselines::{
    Alone, Baselines, CannotPublish, DEFAULT_SEED, EachAlone, Losses, alone,
};
pub use simulate::refused::SplitRefused;
pub use simulate::split::Deal;
pub use simulate::{Outcome, Simulation, Sites, anonymize, simulate};
pub use site::refused::SiteRefused;
pub use site::{
    Audit, CarriedOut, Change, DraftedSite, JointTable, LearnedInAll, NodeStatus, PeerFrames,
    PeerStatus, Rejoined, ReleaseOf, RunList, RunState, RunStatus, RunSummary, Site, SiteCheck,
    SiteDraft, SiteFault, SiteLedger, SiteLine, Standing, State, Status,
};
pub use study::draft::refused::DraftRefused;
pub use study::explained::{Explained, Learners, explained};
pub use study::refused::{StudyRefused, TableRefused};
pub use study::{Checked, Draft, DraftOptions, Drafted, DraftedColumn, Fitting, Shown, Study};
pub use summary::{Instead, Summary, Synchronization};
pub use table::Table;
pub use verify::refused::VerifyRefused;
pub use verify::{
    Asked, AskedBy, Check, QueryKind, Questions, Signature, SiteDemand, Tampered, Verdict, verify,
    verify_table,
};
