//! What a study says of questions: which answers sites may give about the table that they hold together.

use super::Partition;
use crate::document::{DocumentError, Section};

/// A kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    /// Counts and sums.
    Totals,
    /// Generalized rows.
    Rows,
}

impl AnswerKind {
    /// Both kinds, by their names in studies and site files.
    pub const NAMES: [(&'static str, Self); 2] = [("totals", Self::Totals), ("rows", Self::Rows)];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Totals => "totals",
            Self::Rows => "rows",
        }
    }

    /// Reads a list of kinds; `None` where the key is not there.
    pub fn list(
        section: &Section<'_>,
        key: &'static str,
    ) -> Result<Option<Vec<Self>>, DocumentError> {
        let Some(words) = section.strings(key)? else {
            return Ok(None);
        };
        let kind = |word: &String| {
            let mut names = Self::NAMES.iter();
            let known = names.find(|(name, _)| name == word).map(|(_, kind)| *kind);
            known.ok_or_else(|| {
                let message = format!(
                    "`{}` lists `{word}`, expected any of `totals`, `rows`",
                    section.path(key)
                );
                section.wrong(key, message)
            })
        };
        words.iter().map(kind).collect::<Result<_, _>>().map(Some)
    }
}

/// What a study says of questions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The answers that sites may give.
    pub answers: Vec<AnswerKind>,
}

/// Reads `[query]`; without it, no questions are asked.
pub(super) fn read(
    root: &Section<'_>,
    partition: Partition,
) -> Result<Option<Query>, DocumentError> {
    let Some(section) = root.section("query")? else {
        return Ok(None);
    };
    let answers = AnswerKind::list(&section, "answers")?;
    let answers = answers.filter(|answers| !answers.is_empty());
    let answers = answers.ok_or_else(|| {
        section.wrong_section("[query] allows no answers\nhint: write answers = [\"totals\"], or [\"totals\", \"rows\"]; without [query], no questions are asked")
    })?;
    section.finish()?;
    if partition == Partition::Vertical {
        return Err(section.wrong_section("[query] is for horizontal studies: sites that hold different columns of the same people keep no rows of the joint table to ask\nhint: leave it out, and ask the release"));
    }
    Ok(Some(Query { answers }))
}
