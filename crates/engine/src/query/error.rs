//! Why a question in SQL cannot be answered: in words for whoever asks, with what could be asked instead.

use hedgerow_protocols::query::QuestionError;

/// Why a question in SQL cannot be answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The text is not SQL.
    #[error("this is not SQL that can be read: {reason}")]
    Syntax {
        /// What the parser expected.
        reason: String,
    },
    /// More text than is read.
    #[error(
        "the statement has more than {most} bytes\nhint: ask for its parts one after the other"
    )]
    TooLarge {
        /// The most that are read.
        most: usize,
    },
    /// More words than are read.
    #[error(
        "the statement has more than {most} words, signs and spaces\nhint: ask for its parts one after the other"
    )]
    TooLong {
        /// The most that are read.
        most: usize,
    },
    /// Parentheses inside parentheses.
    #[error(
        "parentheses stand inside each other more than {most} deep\nhint: write the condition flat, or use IN for a list"
    )]
    TooNested {
        /// The most that are read.
        most: usize,
    },
    /// Operators that apply to the results of others.
    #[error(
        "more than {most} operators stand in one chain\nhint: use IN for a list, or ask for its parts one after the other"
    )]
    TooChained {
        /// The most that are read.
        most: usize,
    },
    /// Something that SQL has and that is not answered here.
    #[error("{what} is not answered here\nhint: {instead}")]
    NotAnswered {
        /// What was asked for.
        what: String,
        /// What can be asked instead.
        instead: String,
    },
    /// A table that is not there.
    #[error("there is no table `{table}`\nhint: the table of this study is `{known}`")]
    NoTable {
        /// The name in the question.
        table: String,
        /// The name of the study.
        known: String,
    },
    /// A column that is not there.
    #[error("there is no column `{column}`\nhint: {hint}")]
    NoColumn {
        /// The name in the question.
        column: String,
        /// The nearest names, or all.
        hint: String,
    },
    /// A comparison that has no meaning for the column.
    #[error("`{comparison}` has no meaning: {why}\nhint: {instead}")]
    Meaningless {
        /// The comparison.
        comparison: String,
        /// Why.
        why: String,
        /// What would have a meaning.
        instead: String,
    },
    /// A constant that the column cannot have.
    #[error("`{value}` is no value of `{column}`, which holds {domain}{hint}")]
    NoValue {
        /// The constant.
        value: String,
        /// The column.
        column: String,
        /// The column's values, in words.
        domain: String,
        /// The nearest values, where some are near.
        hint: String,
    },
    /// Sites that hold different columns have no tables of their own to ask.
    #[error(
        "sites that hold different columns of the same people keep no rows of the joint table to ask\nhint: ask the release"
    )]
    NoSites,
    /// A question that cannot be written down for other sites.
    #[error("the question cannot be written down for other sites")]
    Unwritable,
    /// A question that can be read and not asked.
    #[error(transparent)]
    Question(#[from] QuestionError),
}
