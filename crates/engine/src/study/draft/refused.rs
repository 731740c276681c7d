//! Why no study can be drafted of a table, or drafts cannot be joined.

use std::path::PathBuf;

use hedgerow_data::quoted_list;

use crate::words::{count, one_line};

/// Why a study was not drafted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DraftRefused {
    /// A table without records says nothing about its values.
    #[error(
        "{table}: has a header and no records, so there is nothing to draft a study from\nhint: hedgerow study new writes a study to begin with"
    )]
    NoRecords {
        /// The table.
        table: String,
    },
    /// A study names its columns.
    #[error(
        "{table}:1: column {place} has no name on one line\nhint: give it one in the header, or leave the column out"
    )]
    NoName {
        /// The table.
        table: String,
        /// The column's place, from 1.
        place: usize,
    },
    /// A column that somebody named and the table does not have.
    #[error("{table}:1: there is no column `{column}`\nhint: {}", match near { Some(near) => format!("did you mean `{near}`?"), None => format!("the table has {}", quoted_list(names)) })]
    NoColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// The nearest name.
        near: Option<String>,
        /// The names that are there.
        names: Vec<String>,
    },
    /// A column has one role.
    #[error(
        "column `{column}` is named as a quasi-identifier and as sensitive\nhint: a column has one role"
    )]
    TwoRoles {
        /// The column.
        column: String,
    },
    /// A value that a study cannot list.
    #[error(
        "{table}:{line}: column `{column}`: `{}` means something else in a release, so no list of values can have it\nhint: write it otherwise, or leave the column out",
        one_line(value)
    )]
    Unsayable {
        /// The table.
        table: String,
        /// The line, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
    /// A study needs a quasi-identifier.
    #[error(
        "{table}: no column is left that can be a quasi-identifier\nhint: name one with --quasi; where columns are named, the others are left out, and with --share it needs values that k records have"
    )]
    NoQuasi {
        /// The table.
        table: String,
    },
    /// Fewer records than a class must have.
    #[error("{table}: k = {k} cannot be met: the table holds {}\nhint: the largest k that can be met is {records}", count(*records, "record", "records"))]
    TooFew {
        /// The table.
        table: String,
        /// The k that was asked for.
        k: u64,
        /// Records of the table.
        records: u64,
    },
    /// A file that is there already is not written over.
    #[error("{}: is there already and is kept\nhint: use it with --study, or name another folder", file.display())]
    Kept {
        /// The file.
        file: PathBuf,
    },
    /// Two hierarchies for one column.
    #[error("{} and {} are both hierarchies of column `{column}` by their names\nhint: keep one of them in the folder", one.display(), other.display())]
    TwoHierarchies {
        /// The column.
        column: String,
        /// A file.
        one: PathBuf,
        /// The other file.
        other: PathBuf,
    },
    /// A value of the table is a level of the hierarchy, and no value of it.
    #[error("{}: `{}`, a value of column `{column}`, is a level above other values\nhint: add the row {value};{value};… with the levels above it", file.display(), one_line(value))]
    Level {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
        /// The value.
        value: String,
    },
    /// The folder of hierarchies cannot be read.
    #[error("{}: no hierarchies: {reason}\nhint: --hierarchies names a folder of files such as adult_hierarchy_age.csv", folder.display())]
    NoHierarchies {
        /// The folder.
        folder: PathBuf,
        /// What the operating system said, or what the folder lacks.
        reason: String,
    },
    /// Fewer than two studies.
    #[error("one study is nothing to join\nhint: name the studies of all sites")]
    OneStudy,
    /// Studies of this kind are not joined.
    #[error("{}: {why}, and only drafts of horizontal studies without sites are joined\nhint: join the drafts first, and name the sites in what comes of it", study.display())]
    NoDraft {
        /// The study.
        study: PathBuf,
        /// What it is instead.
        why: &'static str,
    },
    /// A column that one study has and another lacks.
    #[error("{}: column `{column}` is missing, which {} has\nhint: sites of a horizontal study have the same columns; a column that is not needed is left out of every table", lacks.display(), has.display())]
    Lacks {
        /// The column.
        column: String,
        /// The study that has it.
        has: PathBuf,
        /// The study that does not.
        lacks: PathBuf,
    },
    /// Two studies say different things of one column.
    #[error("{}: column `{column}` is {second}, and {first} in {}\nhint: agree on one, and change the other draft", other.display(), one.display())]
    Conflict {
        /// The column.
        column: String,
        /// The study that was read first.
        one: PathBuf,
        /// What it says.
        first: String,
        /// The other study.
        other: PathBuf,
        /// What that one says.
        second: String,
    },
    /// Two studies set one key differently.
    #[error("{}: `{key}` is {second}, and {first} in {}\nhint: agree on one, and change the other draft", other.display(), one.display())]
    Setting {
        /// The key.
        key: String,
        /// The study that was read first.
        one: PathBuf,
        /// What it says.
        first: String,
        /// The other study.
        other: PathBuf,
        /// What that one says.
        second: String,
    },
}
