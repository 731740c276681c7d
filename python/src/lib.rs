//! `hedgerow._native`: the library `hedgerow` as the Python package calls it. Everything here takes and gives plain
//! things (texts, numbers, JSON, Arrow); `hedgerow/*.py` makes objects of them. This is the one crate of the
//! project that does not forbid unsafe code, since PyO3's macros write some; nobody writes any here.

#![warn(missing_docs)]

mod arrow;
mod error;
mod look;
mod run;
mod study;
mod work;

use pyo3::prelude::*;

/// The library behind the package `hedgerow`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::arrow::{Rows, rows};
    #[pymodule_export]
    use super::look::{gate, release_table, report, verify};
    #[pymodule_export]
    use super::run::{Release, anonymize, compare, simulate};
    #[pymodule_export]
    use super::study::{Study, draft};

    use pyo3::prelude::*;

    /// The version of the library.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
