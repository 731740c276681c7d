//! What Hedgerow's tables are made of: attributes and their domains, taxonomies, column-coded
//! tables, releases, the study's schema, files in and out, and synthetic tables.
//!
//! Values become codes as they are read. A domain is public and comes from the study, so the same
//! value has the same code at every site; quasi-identifiers are contiguous columns of `u8`, `u16`
//! or `u32`. Taxonomies are laid out in leaf order, so a node is an interval of codes.
//!
//! ```
//! use hedgerow_data::{Cell, Domain, Taxonomy};
//!
//! let taxonomy = Taxonomy::from_rows("flu;lung;*\nasthma;lung;*\nulcer;stomach;*\n", "disease.csv")?;
//! let domain = Domain::category(taxonomy, false);
//! let flu = domain.encode(b"flu").unwrap();
//! let asthma = domain.encode(b"asthma").unwrap();
//! let cell = Cell::Interval(flu, asthma);
//! assert_eq!(domain.write_cell(&cell), "lung");
//! assert_eq!(domain.read_cell("lung")?, cell);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attribute;
mod cell;
mod counter;
mod csv_text;
mod decimal;
pub mod document;
mod domain;
mod field;
pub mod files;
mod hint;
mod nearest;
mod number_format;
pub mod profile;
mod release;
mod spelling;
pub mod study;
pub mod synthetic;
mod table;
pub mod taxonomy;
mod text;

pub use attribute::{Attribute, Recode, Role, Schema};
pub use cell::{Cell, CellError};
pub use counter::{Counter, UncountableError};
pub use decimal::{Decimal, DecimalDomain};
pub use domain::{DateDomain, Domain, IntegerDomain, MOST_VALUES};
pub use nearest::{nearest, quoted_list};
pub use number_format::NumberFormat;
pub use release::{GeneralizedColumn, Release, ReleaseColumn, ReleaseError};
pub use spelling::{Spelling, truth};
pub use study::Study;
pub use table::{Codes, Column, CountsError, Table};
pub use taxonomy::Taxonomy;
pub use text::{TextColumn, TextTable};
