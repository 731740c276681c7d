//! Why a question cannot be asked.

/// Why a question cannot be asked, in words for whoever asks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// A position that no column has.
    #[error("the question names column {column}, and the table has {columns} columns")]
    NoColumn {
        /// The position.
        column: usize,
        /// Columns of the table.
        columns: usize,
    },
    /// A column that names people.
    #[error("column `{column}` names people, so no release has it")]
    Identifier {
        /// The column.
        column: String,
    },
    /// A column of free text.
    #[error(
        "column `{column}` is free text, whose values the study does not declare\nhint: ask about a column with `values`, a `taxonomy` or a `type`"
    )]
    Text {
        /// The column.
        column: String,
    },
    /// Rows across the tables of a fragmented release.
    #[error(
        "{columns} stand in different tables of a fragmented release, which only groups join, so they have no rows together\nhint: ask for totals, or for rows of one table"
    )]
    Apart {
        /// The columns.
        columns: String,
    },
    /// A sum of what is no number.
    #[error(
        "column `{column}` holds no whole numbers, so it has no sum\nhint: count(*) counts its rows"
    )]
    NoNumber {
        /// The column.
        column: String,
    },
    /// Something that is asked for twice.
    #[error(
        "the question asks twice for the same of `{column}`\nhint: ask once, and show it twice"
    )]
    Twice {
        /// The column; `*` where records are counted.
        column: String,
    },
    /// Codes that the column does not have.
    #[error("the question compares with values that the column does not have")]
    Codes,
    /// Conditions inside conditions.
    #[error(
        "conditions stand inside each other more than {most} deep\nhint: write the condition flat, or use IN for a list"
    )]
    TooDeep {
        /// The deepest that is answered.
        most: usize,
    },
    /// More comparisons than are answered.
    #[error(
        "the question makes {comparisons} comparisons, expected at most {most}\nhint: use IN for a list of values, BETWEEN for a range"
    )]
    TooManyComparisons {
        /// Comparisons of the question.
        comparisons: usize,
        /// The most that are answered.
        most: usize,
    },
    /// A condition whose cases are too many to be told apart.
    #[error(
        "the condition has more than {most} cases that must be told apart so that none is counted twice\nhint: ask for its parts one after the other"
    )]
    TooManyCases {
        /// The most that are answered.
        most: usize,
    },
    /// More totals than are answered.
    #[error(
        "the question asks for {totals} totals, expected at most {most}\nhint: group by fewer columns"
    )]
    TooManyTotals {
        /// Totals of the question.
        totals: u64,
        /// The most that are answered.
        most: u64,
    },
    /// More rows than are answered.
    #[error(
        "the question finds {found} rows, each a record, expected at most {most}\nhint: ask for counts, such as count(*) with GROUP BY, or for fewer rows by a condition; LIMIT does not make what is found fewer"
    )]
    TooManyRows {
        /// Rows that are found.
        found: u64,
        /// The most that are answered.
        most: u64,
    },
    /// Totals that a word cannot hold.
    #[error(
        "the sum of `{column}` over {records} records could be larger than 2^62\nhint: count(*) can be asked"
    )]
    TooLarge {
        /// The column.
        column: String,
        /// Records of the table.
        records: u64,
    },
}
