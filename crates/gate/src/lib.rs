//! The gate: the known attacks on a release, run before the release goes out.
//!
//! A module for each attack opens with the paper that the attack comes from, the attacker that it assumes,
//! what it counts and what it costs. Attacks are pure functions of what somebody has: the release
//! ([`Subject`]), rows of their own or of people who are not in the table ([`Rows`]), earlier releases. An
//! attack answers by a [`Finding`]: the records at risk, a *control* (the same attack on people who are not
//! in the table, or on shuffled values, so that what the population teaches anyway is not called a leak), and
//! a [`Verdict`] against a limit. Where the 95 % interval straddles the limit, the verdict is "cannot tell";
//! an attack that lacks its input was not tried, which is no pass.
//!
//! A row may stand for several records: all attacks count records by the weights of rows.
//!
//! ```
//! use std::sync::Arc;
//! use hedgerow_data::{Attribute, Cell, Codes, Column, Domain, GeneralizedColumn, Release, ReleaseColumn, Role, Schema, Spelling, Taxonomy};
//! use hedgerow_gate::{Attack, Known, Limits, Subject, Verdict, attack};
//!
//! let attribute = |name: &str, role, domain| Attribute {
//!     name: name.into(), role, domain, spelling: Spelling::default(), recode: None, publish_unique: false,
//! };
//! let disease = Domain::category(Taxonomy::flat(&["flu", "ulcer"], "disease")?, false);
//! let schema = Arc::new(Schema::new(vec![
//!     attribute("age", Role::Quasi, Domain::integer(0, 99, 1).unwrap()),
//!     attribute("disease", Role::Sensitive, disease),
//! ]));
//! // Two classes of three records; all of the first have the flu.
//! let ages = GeneralizedColumn {
//!     cells: vec![Cell::Interval(20, 39), Cell::Interval(40, 59)],
//!     codes: vec![0, 0, 0, 1, 1, 1],
//! };
//! let diseases = Column::Coded(Codes::U8(vec![0, 0, 0, 0, 1, 1]));
//! let columns = vec![ReleaseColumn::Generalized(ages), ReleaseColumn::Verbatim(diseases)];
//! let release = Release::new(schema, columns, 6);
//!
//! let subject = Subject::new(&release, 3);
//! let finding = attack(Attack::Certain, &subject, &Known::default(), &Limits::default());
//! assert_eq!(finding.measured.unwrap().at_risk, 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attack;
mod bayes;
mod certain;
mod covering;
mod downcoding;
mod ends;
mod finding;
mod interval;
mod known;
mod limits;
mod look;
mod membership;
mod newcomers;
mod order;
mod other;
mod owner;
mod place;
mod printed;
mod product;
mod subject;
mod subtraction;
pub mod together;
mod two_releases;

pub use attack::{Attack, attack, attack_all};
pub use ends::{Ends, Ordered, Rare, rank};
pub use finding::{Control, Finding, Measured, Verdict, Worst};
pub use interval::{Interval, clopper_pearson};
pub use known::{Known, Rows};
pub use limits::Limits;
pub use subject::Subject;
