//! A study with other lines of `[algorithm]`: another algorithm, or classes that are written otherwise. All else
//! stays as the study says it.

use std::path::Path;

use hedgerow_data::document::{Document, DocumentError};
use hedgerow_data::study::Algorithm;
use hedgerow_data::{Recode, Study};
use hedgerow_protocols::horizontal::cover::Covers;
use hedgerow_protocols::{RunSettings, keys_of_others};
use toml_edit::{DocumentMut, Item, TableLike};

use super::opened::Opened;
use crate::error::Error;

/// The table of a study that says how classes are found and written.
const ALGORITHM: &str = "algorithm";

/// What `[algorithm]` is to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// How classes are found.
    pub(crate) algorithm: Algorithm,
    /// How classes are written; as the study says, if it is not given.
    pub(crate) recode: Option<Recode>,
    /// The range that a class is written as covering.
    pub(crate) covers: Covers,
}

/// A horizontal study with other lines of `[algorithm]`. The keys that the study has there stay if the algorithm
/// knows them.
pub(crate) fn rewritten(opened: &Opened, wanted: Wanted) -> Result<(Opened, String), Error> {
    let text = opened.study.document().text();
    let mut toml: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let reason = error.message().to_owned();
        syntax(&opened.path, reason)
    })?;
    let item = toml
        .as_table_mut()
        .entry(ALGORITHM)
        .or_insert_with(toml_edit::table);
    let table = item
        .as_table_like_mut()
        .ok_or_else(|| syntax(&opened.path, String::from("`algorithm` is no table")))?;
    write(table, wanted);
    let lines = lines_of(table);
    let document = Document::parse(toml.to_string(), &opened.path)?;
    let folder = opened.path.parent().unwrap_or(Path::new(""));
    let study = Study::read(document, folder)?;
    let rewritten = Opened {
        run: RunSettings::of_study(&study)?,
        study,
        agreement: None,
        path: opened.path.clone(),
        is_described: opened.is_described,
    };
    Ok((rewritten, lines))
}

/// The lines of a study's `[algorithm]`, as the study says them.
pub(crate) fn lines(opened: &Opened) -> String {
    let toml = opened.study.document().text().parse::<DocumentMut>();
    let table = toml.ok().and_then(|toml| toml.get(ALGORITHM).cloned());
    match table.as_ref().and_then(Item::as_table_like) {
        Some(table) => lines_of(table),
        None => format!("[{ALGORITHM}]\n"),
    }
}

fn write(table: &mut dyn TableLike, wanted: Wanted) {
    let hides = table.get("counts").and_then(Item::as_str) == Some("hidden");
    for key in keys_of_others(wanted.algorithm) {
        // Who asks that counts stay hidden is not given an algorithm that shows them: the study is refused then.
        if *key != "counts" || !hides {
            table.remove(key);
        }
    }
    let mut put = |key: &str, word: &str| {
        if table.get(key).and_then(Item::as_str) != Some(word) {
            table.insert(key, toml_edit::value(word));
        }
    };
    put("name", wanted.algorithm.name());
    if let Some(recode) = wanted.recode {
        put("recode", recode.name());
    }
    match wanted.covers {
        Covers::Tight => {
            table.remove("covers");
        }
        Covers::Box => put("covers", Covers::Box.name()),
    }
}

fn lines_of(table: &dyn TableLike) -> String {
    let mut lines = format!("[{ALGORITHM}]\n");
    for (key, item) in table.iter() {
        if let Some(mut value) = item.as_value().cloned() {
            value.decor_mut().clear();
            lines.push_str(&format!("{key} = {value}\n"));
        }
    }
    lines
}

fn syntax(file: &Path, reason: String) -> DocumentError {
    DocumentError::Syntax {
        file: file.display().to_string(),
        line: 1,
        reason,
    }
}
