//! Errors as Python has them: the classes of `hedgerow/_errors.py`, by whose fault an error is.

use hedgerow::{Error, Fault};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The Python exception of an engine's error.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Tampered(_) => "TamperedError",
        _ => match error.fault() {
            Fault::OwnData => "DataError",
            Fault::OwnConfiguration => "StudyError",
            Fault::Release => "ReleaseError",
            _ => "HedgerowError",
        },
    };
    said(py, class, error.to_string())
}

/// A Python exception of one of the package's classes, with this message.
pub(crate) fn said(py: Python<'_>, class: &str, message: String) -> PyErr {
    let found = py
        .import("hedgerow._errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| Ok(class.cast_into::<PyType>()?));
    match found {
        Ok(class) => PyErr::from_type(class, message),
        Err(error) => error,
    }
}
