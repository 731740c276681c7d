//! What can be wrong with a taxonomy, in words that name file and line.

impl TaxonomyError {
    /// The error without the words of the file, which may be one that nobody meant to show.
    pub fn without_words(&self) -> String {
        let (file, line) = match self {
            Self::Empty { .. } | Self::NoFile { .. } | Self::TooDeep { .. } => {
                return self.to_string();
            }
            Self::Unreadable { file, line, .. }
            | Self::TwoRoots { file, line, .. }
            | Self::TwoBranches { file, line, .. }
            | Self::Repeated { file, line, .. }
            | Self::LeafAboveLeaf { file, line, .. }
            | Self::Cycle { file, line, .. } => (file, line),
        };
        format!("{file}:{line}: this is no line of a taxonomy\nhint: hedgerow study check says why")
    }
}

/// Why a taxonomy was refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaxonomyError {
    /// A taxonomy without a value.
    #[error("{file}: the taxonomy is empty\nhint: write one row for each value: value;parent;…;*")]
    Empty {
        /// The file.
        file: String,
    },
    /// The file cannot be opened.
    #[error(
        "{file}: cannot be read: {reason}\nhint: file names are relative to the study's folder"
    )]
    NoFile {
        /// The file.
        file: String,
        /// What the operating system said.
        reason: String,
    },
    /// The file cannot be read as text.
    #[error("{file}:{line}: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// The line of the mistake, from 1.
        line: u64,
        /// What is wrong with the line.
        reason: String,
    },
    /// Two rows end in different roots, or two nodes have no parent.
    #[error(
        "{file}:{line}: two roots: `{second}` here, `{first}` before\nhint: every row must end in the same root, usually `*`"
    )]
    TwoRoots {
        /// The file.
        file: String,
        /// Line of the second root.
        line: u64,
        /// The root seen first.
        first: String,
        /// The other root.
        second: String,
    },
    /// The same label stands in two branches.
    #[error(
        "{file}:{line}: `{label}` stands in two branches: here and at line {first_line}\nhint: a value may have one parent only; rename one of the two"
    )]
    TwoBranches {
        /// The file.
        file: String,
        /// Line of the second place.
        line: u64,
        /// Line of the first place.
        first_line: u64,
        /// The label.
        label: String,
    },
    /// The same value has two rows.
    #[error(
        "{file}:{line}: value `{label}` stands here again; it first stands at line {first_line}"
    )]
    Repeated {
        /// The file.
        file: String,
        /// Line of the second row.
        line: u64,
        /// Line of the first row.
        first_line: u64,
        /// The value.
        label: String,
    },
    /// A label is both a value and a node above other values.
    #[error(
        "{file}:{line}: `{label}` is both a value and a node above other values (line {first_line})\nhint: repeat it to give the value a place of its own below the node: {label};{label};…"
    )]
    LeafAboveLeaf {
        /// The file.
        file: String,
        /// The line that was read second.
        line: u64,
        /// The line that was read first.
        first_line: u64,
        /// The label.
        label: String,
    },
    /// Parent/child pairs go round in a circle.
    #[error("{file}:{line}: `{label}` is its own ancestor")]
    Cycle {
        /// The file.
        file: String,
        /// A line of the circle.
        line: u64,
        /// A label on the circle.
        label: String,
    },
    /// The tree is deeper than any hierarchy of values is.
    #[error("{file}:{line}: more than {most} levels")]
    TooDeep {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The limit.
        most: usize,
    },
}
