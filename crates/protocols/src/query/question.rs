//! What a question is: which rows, and what of them (JX08 section 4.4).
//!
//! Columns are positions in the schema of the study, and comparisons the codes that they accept, so that a
//! question means the same at every site. A missing value satisfies no comparison, nor the negation of one.
//!
//! # Discloses
//! Nothing.

use hedgerow_data::{Domain, Role, Schema};
use serde::{Deserialize, Serialize};

use super::codes::CodeSet;
use super::error::QuestionError;

/// The most comparisons of a question.
pub const MOST_COMPARISONS: usize = 1_000;
/// The deepest that conditions may stand inside each other.
pub const DEEPEST: usize = 64;
/// The most totals that one question may ask for.
pub const MOST_TOTALS: u64 = 1 << 20;

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Which rows are asked about.
    pub condition: Condition,
    /// What is asked of the rows.
    pub answer: Answer,
}

/// Which rows a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Condition {
    /// Every one of some conditions holds; all rows where there is none.
    All(Vec<Condition>),
    /// One of some conditions holds, or several; no row where there is none.
    Any(Vec<Condition>),
    /// A condition is false.
    Not(Box<Condition>),
    /// The value of a column is one of some codes.
    Within {
        /// The column's position in the schema.
        column: usize,
        /// The codes that are accepted.
        codes: CodeSet,
    },
    /// The value of a column is missing.
    Missing {
        /// The column's position in the schema.
        column: usize,
    },
}

/// What is asked of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// The possible rows, as a release prints them.
    Rows {
        /// The columns, by their positions in the schema.
        columns: Vec<usize>,
    },
    /// Totals, for each combination of values of some columns.
    Totals {
        /// The columns: quasi-identifiers as printed, or sensitive and other values.
        group_by: Vec<usize>,
        /// What is counted or summed.
        of: Vec<Total>,
    },
}

/// What is counted or summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Total {
    /// Rows.
    Records,
    /// Rows in which a column has a value.
    Present(usize),
    /// The values of a column of whole numbers.
    Sum(usize),
}

impl Condition {
    /// Every row satisfies this condition.
    pub const fn everything() -> Self {
        Self::All(Vec::new())
    }

    /// The columns that the condition speaks of, ascending.
    pub fn columns(&self) -> Vec<usize> {
        let mut columns = Vec::new();
        self.each_leaf(&mut |column| columns.push(column));
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// The codes of a column that a row which satisfies the condition may have, or more: `size` is that of
    /// the column's domain.
    pub fn codes_of(&self, column: usize, size: u32) -> CodeSet {
        self.codes_where(true, column, size)
    }

    /// The codes of a column with which the condition may be true, or false.
    fn codes_where(&self, is_true: bool, column: usize, size: u32) -> CodeSet {
        let every = || CodeSet::new(size.checked_sub(1).map(|last| (0, last)));
        match self {
            Self::All(parts) | Self::Any(parts) => {
                let of_parts = parts
                    .iter()
                    .map(|part| part.codes_where(is_true, column, size));
                // Not all are true where one is false.
                match matches!(self, Self::All(_)) == is_true {
                    true => of_parts.fold(every(), |both, codes| both.and(&codes)),
                    false => {
                        let of_parts: Vec<CodeSet> = of_parts.collect();
                        let ranges = of_parts.iter().flat_map(CodeSet::ranges);
                        CodeSet::new(ranges.copied())
                    }
                }
            }
            Self::Not(part) => part.codes_where(!is_true, column, size),
            Self::Within { column: of, codes } if *of == column => match is_true {
                true => codes.clone(),
                false => codes.complement(size),
            },
            Self::Within { .. } | Self::Missing { .. } => every(),
        }
    }

    fn each_leaf(&self, each: &mut impl FnMut(usize)) {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().for_each(|part| part.each_leaf(each));
            }
            Self::Not(part) => part.each_leaf(each),
            Self::Within { column, .. } | Self::Missing { column } => each(*column),
        }
    }

    /// Whether conditions stand inside each other at most so deep.
    fn is_within(&self, depth: usize) -> bool {
        let Some(below) = depth.checked_sub(1) else {
            return false;
        };
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().all(|part| part.is_within(below)),
            Self::Not(part) => part.is_within(below),
            Self::Within { .. } | Self::Missing { .. } => true,
        }
    }

    fn is_sound(&self, schema: &Schema) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().all(|part| part.is_sound(schema)),
            Self::Not(part) => part.is_sound(schema),
            Self::Within { column, codes } => {
                let attribute = schema.attributes().get(*column);
                attribute.is_some_and(|attribute| codes.is_sound(attribute.domain.size()))
            }
            Self::Missing { .. } => true,
        }
    }
}

impl Question {
    /// Sees that the question can be asked of tables of a schema. A question may come from a peer, so
    /// everything in it is looked at.
    pub fn check(&self, schema: &Schema) -> Result<(), QuestionError> {
        if !self.condition.is_within(DEEPEST) {
            return Err(QuestionError::TooDeep { most: DEEPEST });
        }
        let mut comparisons = 0;
        self.condition.each_leaf(&mut |_| comparisons += 1);
        if comparisons > MOST_COMPARISONS {
            let most = MOST_COMPARISONS;
            return Err(QuestionError::TooManyComparisons { comparisons, most });
        }
        for column in self.columns() {
            see_column(schema, column)?;
        }
        self.see_once(schema)?;
        if !self.condition.is_sound(schema) {
            return Err(QuestionError::Codes);
        }
        if let Answer::Totals { of, .. } = &self.answer {
            for total in of {
                if let Total::Sum(column) = total
                    && !matches!(schema.attributes()[*column].domain, Domain::Integer(_))
                {
                    let column = schema.attributes()[*column].name.clone();
                    return Err(QuestionError::NoNumber { column });
                }
            }
        }
        Ok(())
    }

    /// Sees that nothing is asked for twice: what is answered grows with what is listed.
    fn see_once(&self, schema: &Schema) -> Result<(), QuestionError> {
        let name = |column: usize| schema.attributes()[column].name.clone();
        let twice = match &self.answer {
            Answer::Rows { columns } => first_twice(columns).copied().map(name),
            Answer::Totals { group_by, of } => {
                let column = first_twice(group_by).copied().map(name);
                let total = first_twice(of).map(|total| total.column().map(name));
                column.or_else(|| total.map(|column| column.unwrap_or_else(|| String::from("*"))))
            }
        };
        twice.map_or(Ok(()), |column| Err(QuestionError::Twice { column }))
    }

    /// Every column that the question names, ascending.
    pub fn columns(&self) -> Vec<usize> {
        let mut columns = self.condition.columns();
        match &self.answer {
            Answer::Rows { columns: shown } => columns.extend(shown),
            Answer::Totals { group_by, of } => {
                columns.extend(group_by);
                columns.extend(of.iter().filter_map(Total::column));
            }
        }
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

impl Total {
    /// The column that is counted or summed.
    pub const fn column(&self) -> Option<usize> {
        match self {
            Self::Records => None,
            Self::Present(column) | Self::Sum(column) => Some(*column),
        }
    }
}

/// The first of a list that stands there a second time.
fn first_twice<T: Eq + std::hash::Hash>(list: &[T]) -> Option<&T> {
    let mut seen = std::collections::HashSet::new();
    list.iter().find(|one| !seen.insert(*one))
}

/// Sees that a column can be asked about.
fn see_column(schema: &Schema, column: usize) -> Result<(), QuestionError> {
    let Some(attribute) = schema.attributes().get(column) else {
        let columns = schema.attributes().len();
        return Err(QuestionError::NoColumn { column, columns });
    };
    let column = || attribute.name.clone();
    match (attribute.role, &attribute.domain) {
        (Role::Identifier, _) => Err(QuestionError::Identifier { column: column() }),
        (_, Domain::Text) => Err(QuestionError::Text { column: column() }),
        _ => Ok(()),
    }
}
