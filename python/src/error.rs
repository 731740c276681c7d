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
    said(py, class, in_python(&error.to_string()))
}

/// A message of the library as Python says it: what the command calls `--out` is the argument `out`; and rows in
/// memory are called rows, where files have lines: `the table:5: …` is `the table, row 5: …`, and what is wrong with
/// the header is wrong with the table. The names of tables in memory begin with "the".
pub(crate) fn in_python(message: &str) -> String {
    let lines = message.lines().map(|line| {
        let (before, said) = match line.strip_prefix("error: ") {
            Some(said) => ("error: ", said),
            None => ("", line),
        };
        let parts = said.strip_prefix("the ").and_then(|said| {
            let (name, rest) = said.split_once(':')?;
            let (row, rest) = rest.split_once(": ")?;
            let is_number = !row.is_empty() && row.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then_some((name, row, rest))
        });
        match parts {
            None => line.replacen("hint: the file has", "hint: the table has", 1),
            Some((name, _, rest)) if is_of_header(rest) => format!("{before}the {name}: {rest}"),
            Some((name, row, rest)) => format!("{before}the {name}, row {row}: {rest}"),
        }
    });
    let lines: Vec<String> = lines.map(|line| with_arguments(&line)).collect();
    lines.join("\n")
}

/// A line in which the options of the command are arguments of Python; a line that shows a command stays as it is.
fn with_arguments(line: &str) -> String {
    if line.contains("hedgerow ") {
        return line.to_owned();
    }
    let words = line.split(' ').map(|word| {
        let Some(option) = word.strip_prefix("--") else {
            return word.to_owned();
        };
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '-';
        let (name, rest) = option.split_at(
            option
                .find(|letter: char| !is_name(letter))
                .unwrap_or(option.len()),
        );
        match name {
            "" => word.to_owned(),
            "against" => format!("require{rest}"),
            name => format!("{}{rest}", name.replace('-', "_")),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a message of a file is one about its header.
fn is_of_header(rest: &str) -> bool {
    let begins = ["unknown column", "there is no column"];
    let ends = [" of the study is missing", "stands twice"];
    let first = rest.lines().next().unwrap_or_default();
    begins.iter().any(|words| first.starts_with(words))
        || ends.iter().any(|words| first.contains(words))
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
