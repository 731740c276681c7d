//! A drafted study: what it says in short, and as files.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hedgerow_data::files::{FileError, OutputFile};
use hedgerow_data::study::TAXONOMIES;
use hedgerow_data::{Decimal, Taxonomy};
use serde::Serialize;

use super::super::Study;
use super::Sketch;
use super::form::Form;
use super::refused::DraftRefused;
use super::write::{Written, write};
use crate::error::Error;
use crate::words::{aligned, count, thousands};

/// How a comment begins that says why a guess may be wrong.
const DOUBT: &str = "doubt: ";

/// The name of a drafted study's file.
const FILE: &str = "study.toml";

/// A drafted study. Its [`Display`](std::fmt::Display) is its gist for people, its JSON for machines.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Drafted {
    /// Records of the table; nothing for a study that was joined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
    /// The columns.
    pub columns: Vec<DraftedColumn>,
    /// What every class must satisfy, and how classes are found.
    pub requires: String,
    /// What is guessed and may well be wrong, with the column.
    pub doubts: Vec<String>,
    /// What a person must decide.
    pub todo: Vec<String>,
    /// What a draft that is made for others tells them about the table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tells: Vec<String>,
    /// What came of joining that people should look at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    taxonomies: Vec<(String, Taxonomy)>,
}

/// A column of a drafted study.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct DraftedColumn {
    /// The column.
    pub name: String,
    /// Its role.
    pub role: String,
    /// Its values, in words.
    pub values: String,
    /// Why it has the role, and what is doubtful.
    pub reasons: Vec<String>,
}

impl Drafted {
    pub(super) fn of(sketch: Sketch, records: Option<u64>) -> Self {
        let Written { text, taxonomies } = write(&sketch);
        let todo = sketch.columns.iter().filter_map(|column| {
            let todo = column.todo.as_ref()?;
            Some(format!("`{}`: {todo}", column.name))
        });
        let doubts = sketch.columns.iter().flat_map(|column| {
            let doubts = column.comments.iter();
            let doubts = doubts.filter_map(|comment| comment.strip_prefix(DOUBT));
            doubts.map(|doubt| format!("`{}`: {doubt}", column.name))
        });
        let settings = sketch
            .require
            .iter()
            .map(|setting| format!("{} = {}", setting.key, setting.value));
        let settings: Vec<String> = settings.collect();
        let algorithm = sketch
            .algorithm
            .iter()
            .find(|setting| setting.key == "name");
        let algorithm = algorithm.map_or("mondrian", |setting| setting.value.trim_matches('"'));
        Self {
            records,
            requires: format!("{}; {algorithm}", settings.join(", ")),
            doubts: doubts.collect(),
            todo: todo.chain(sketch.require_todo.clone()).collect(),
            tells: sketch.tells,
            notes: Vec::new(),
            columns: sketch
                .columns
                .into_iter()
                .map(|column| DraftedColumn {
                    values: in_words(&column.form),
                    name: column.name,
                    role: column.role.name().to_owned(),
                    reasons: column.comments,
                })
                .collect(),
            text,
            taxonomies,
        }
    }

    /// The text of the study.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The taxonomies, by the files that the study names.
    pub fn taxonomies(&self) -> &[(String, Taxonomy)] {
        &self.taxonomies
    }

    /// Writes `study.toml` and its taxonomies into a folder, which is made if it is not there, and opens
    /// the study. A file that is there already is kept, and nothing is written.
    pub fn save(&self, folder: impl AsRef<Path>) -> Result<Study, Error> {
        let folder = folder.as_ref();
        let files = self
            .taxonomies
            .iter()
            .map(|(file, tree)| (file.as_str(), tree.to_rows()));
        // The study is last: where it is, all that it names is too.
        let files = files.chain([(FILE, self.text.clone())]);
        let files: Vec<(PathBuf, String)> = files
            .map(|(file, text)| (folder.join(file), text))
            .collect();
        let mut there = files.iter().rev().map(|(path, _)| path);
        if let Some(file) = there.find(|path| path.symlink_metadata().is_ok()) {
            let file = file.clone();
            return Err(DraftRefused::Kept { file }.into());
        }
        let below = match self.taxonomies.is_empty() {
            true => folder.to_owned(),
            false => folder.join(TAXONOMIES),
        };
        let unwritable = |path: &Path, error: std::io::Error| FileError::Unwritable {
            file: path.display().to_string(),
            reason: error.to_string(),
        };
        std::fs::create_dir_all(&below).map_err(|error| unwritable(&below, error))?;
        for (path, text) in &files {
            let mut file = OutputFile::create(path)?;
            let written = file.write_all(text.as_bytes());
            written.map_err(|error| unwritable(path, error))?;
            file.finish()?;
        }
        Study::open(folder.join(FILE))
    }
}

impl std::fmt::Display for Drafted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = self.columns.iter().map(|column| {
            let doubt = column
                .reasons
                .iter()
                .any(|reason| reason.starts_with(DOUBT));
            vec![
                String::from(" "),
                column.name.clone(),
                format!("{}{}", column.role, if doubt { " ?" } else { "" }),
                column.values.clone(),
            ]
        });
        f.write_str(&aligned(&rows.collect::<Vec<_>>()))?;
        writeln!(f, "requires {}", self.requires)?;
        for doubt in &self.doubts {
            writeln!(f, "{DOUBT}{doubt}")?;
        }
        for todo in &self.todo {
            writeln!(f, "to decide: {todo}")?;
        }
        for told in &self.tells {
            writeln!(f, "tells others: {told}")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        Ok(())
    }
}

/// The values of a form in words.
pub(super) fn in_words(form: &Form) -> String {
    match form {
        Form::Text => String::from("any text"),
        Form::Numbers {
            digits,
            range,
            widths,
            taxonomy,
            ..
        } => {
            let spelled = |units: &i64| Decimal::of_units(*units, *digits).to_string();
            let levels = match (taxonomy, widths.is_empty()) {
                (Some(tree), _) => format!(", {}", count(tree.height().into(), "level", "levels")),
                (None, false) => {
                    let widths: Vec<String> = widths.iter().map(spelled).collect();
                    format!(", widths {}", widths.join(", "))
                }
                (None, true) => String::new(),
            };
            let kind = if *digits == 0 { "integers" } else { "decimals" };
            let (least, greatest) = (spelled(&range.0), spelled(&range.1));
            format!("the {kind} {least} to {greatest}{levels}")
        }
        Form::Days { range, .. } => format!("the days {} to {}", range.0, range.1),
        Form::Truth { .. } => String::from("true and false"),
        Form::Values { values, .. } => count(values.len() as u64, "value", "values"),
        Form::Tree { tree, .. } => {
            let values = count(tree.leaf_count().into(), "value", "values");
            match tree.height() {
                1 => values,
                levels => format!("{values}, {} levels", thousands(levels.into())),
            }
        }
    }
}
