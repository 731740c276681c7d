//! Privacy models, utility and risk, and the verifier of releases.
//!
//! Everything here is a pure function of counts, so that a run can ask it about counts that sites
//! summed in secret, and the verifier about counts of a release. Comparisons are exact: measured
//! values that are fractions stay fractions, and a threshold written as `0.2` is two tenths.
//!
//! ```
//! use hedgerow_privacy::{Counts, Ratio, measure};
//!
//! let class = Counts::new(&[0, 2, 5], &[2, 1, 1]);
//! assert_eq!(class.size(), 4);
//! assert_eq!(measure::distinct(class), 3);
//! assert_eq!(measure::max_frequency(class), Ratio::new(1, 2));
//! ```

pub mod classes;
pub mod closeness;
pub mod collusion;
mod counts;
mod identifying;
pub mod m_privacy;
pub mod measure;
mod model;
pub mod query_error;
mod ratio;
pub mod reconstruction;
mod requirement;
pub mod risk;
mod singled_out;
pub mod utility;
pub mod verify;
pub mod views;
mod words;

pub use counts::{Counts, Reference};
pub use identifying::{Suspect, name_words};
pub use model::{ClassView, Model, SiteSupport, Spread, TableView};
pub use ratio::Ratio;
pub use requirement::{
    DiversityKind, LikenessKind, Requirement, RequirementError, Scope, ScopeAttribute, Sensitive,
    SitesKind, Stated, StatedCloseness, StatedDiversity, StatedLikeness, StatedSites,
};
pub use singled_out::{SingledOut, SingledOutBy, SingledOutError};
