//! What is wrong with a study, all at once: a person who writes one mends all of it before the next look.

use std::fmt;

use super::StudyError;

/// The most mistakes that are told one by one.
const MOST: usize = 20;

/// Mistakes of a study, in the order in which its tables are read.
#[derive(Debug, Default)]
pub struct Mistakes {
    /// All mistakes.
    pub errors: Vec<StudyError>,
}

impl Mistakes {
    /// Keeps what is wrong, and gives back what is right.
    pub(super) fn note<T, E: Into<StudyError>>(&mut self, read: Result<T, E>) -> Option<T> {
        match read.map_err(Into::into) {
            Ok(read) => Some(read),
            Err(StudyError::Several(more)) => {
                self.errors.extend(more.errors);
                None
            }
            Err(error) => {
                self.errors.push(error);
                None
            }
        }
    }

    /// All of these as one error, if there are any.
    pub(super) fn all<E: Into<StudyError>>(errors: Vec<E>) -> Result<(), StudyError> {
        let errors = errors.into_iter().map(Into::into).collect();
        Self { errors }.end()
    }

    /// The mistakes as one error, if there are any.
    pub(super) fn end(mut self) -> Result<(), StudyError> {
        match self.errors.len() {
            0 => Ok(()),
            1 => self.errors.pop().map_or(Ok(()), Err),
            _ => Err(StudyError::Several(self)),
        }
    }
}

impl std::error::Error for Mistakes {}

impl fmt::Display for Mistakes {
    /// Each mistake as if it stood alone.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.errors.iter().take(MOST).map(ToString::to_string);
        formatter.write_str(&shown.collect::<Vec<_>>().join("\nerror: "))?;
        match self.errors.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => write!(formatter, "\nand {more} more"),
        }
    }
}
