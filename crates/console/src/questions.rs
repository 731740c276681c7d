//! Questions that users keep: `console.questions.json` beside the site's file, which its owner alone may read. Each
//! user sees only those that the user kept.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hedgerow::data::files::{FileError, OutputFile};
use serde::{Deserialize, Serialize};

use crate::error::ConsoleError;
use crate::record::Record;

/// The name of the file.
const FILE: &str = "console.questions.json";
/// Questions of one user; characters of a name.
const OF_ONE: usize = 100;
pub(crate) const LONGEST_NAME: usize = 100;
/// Bytes of a statement.
pub(crate) const LONGEST: usize = 16 << 10;

/// A question that somebody keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Question {
    pub(crate) user: String,
    pub(crate) name: String,
    pub(crate) sql: String,
    pub(crate) answer: String,
}

/// The file.
#[derive(Debug, Clone)]
pub(crate) struct QuestionsKept {
    file: PathBuf,
    record: Record,
}

impl QuestionsKept {
    /// The questions beside a site's file.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self {
            file: folder.join(FILE),
            record: Record::in_folder(folder),
        }
    }

    /// What a user keeps, in the order of the names.
    pub(crate) fn of(&self, user: &str) -> Result<Vec<Question>, ConsoleError> {
        let mut own = self.all()?;
        own.retain(|question| question.user == user);
        own.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(own)
    }

    /// Keeps a question in place of one of the same name. Questions of users who are gone go with it.
    pub(crate) fn keep(&self, question: Question, users: &[String]) -> Result<(), ConsoleError> {
        self.change(|all| {
            all.retain(|other| users.contains(&other.user));
            all.retain(|other| other.user != question.user || other.name != question.name);
            let own = all.iter().filter(|other| other.user == question.user);
            if own.count() >= OF_ONE {
                return Err(ConsoleError::TooMany(format!(
                    "{OF_ONE} questions are kept already\nhint: remove one that is of no use any more"
                )));
            }
            all.push(question);
            Ok(())
        })
    }

    /// Removes a question of a user; one that is not there is as good as removed.
    pub(crate) fn remove(&self, user: &str, name: &str) -> Result<(), ConsoleError> {
        self.change(|all| {
            all.retain(|other| other.user != user || other.name != name);
            Ok(())
        })
    }

    fn all(&self) -> Result<Vec<Question>, ConsoleError> {
        let bytes = match std::fs::read(&self.file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            bytes => bytes.map_err(|error| self.unreadable(&error))?,
        };
        serde_json::from_slice(&bytes).map_err(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &dyn std::fmt::Display) -> ConsoleError {
        ConsoleError::File(FileError::Unreadable {
            file: self.file.display().to_string(),
            reason: error.to_string(),
        })
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Vec<Question>) -> Result<(), ConsoleError>,
    ) -> Result<(), ConsoleError> {
        // One after the other.
        let _held = self.record.hold()?;
        let mut all = self.all()?;
        change(&mut all)?;
        let unwritable = |reason: String| FileError::Unwritable {
            file: self.file.display().to_string(),
            reason,
        };
        let text =
            serde_json::to_string_pretty(&all).map_err(|error| unwritable(error.to_string()))?;
        let mut file = OutputFile::create_private(&self.file)?;
        file.write_all(text.as_bytes())
            .map_err(|error| unwritable(error.to_string()))?;
        Ok(file.finish()?)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn each_keeps_their_own_and_nobody_sees_another() {
        let folder = tempfile::tempdir().unwrap();
        let kept = QuestionsKept::in_folder(folder.path());
        let users = [String::from("anna"), String::from("otto")];
        let question = |user: &str, name: &str| Question {
            user: user.to_owned(),
            name: name.to_owned(),
            sql: format!("SELECT '{name}'"),
            answer: String::from("bounds"),
        };
        assert!(kept.of("anna").unwrap().is_empty());
        kept.keep(question("anna", "b"), &users).unwrap();
        kept.keep(question("anna", "a"), &users).unwrap();
        kept.keep(question("anna", "a"), &users).unwrap();
        kept.keep(question("otto", "a"), &users).unwrap();
        let names = |user: &str| -> Vec<String> {
            kept.of(user)
                .unwrap()
                .into_iter()
                .map(|one| one.name)
                .collect()
        };
        assert_eq!(names("anna"), ["a", "b"]);
        kept.remove("otto", "b").unwrap();
        assert_eq!((names("anna").len(), names("otto").len()), (2, 1));
        kept.remove("anna", "b").unwrap();
        assert_eq!(names("anna"), ["a"]);
        for number in 1..OF_ONE {
            kept.keep(question("anna", &format!("{number}")), &users)
                .unwrap();
        }
        let error = kept.keep(question("anna", "one more"), &users).unwrap_err();
        assert!(error.to_string().contains("100 questions"), "{error}");
        // Whoever comes after somebody of the same name finds nothing.
        kept.keep(question("otto", "c"), &users[1..]).unwrap();
        assert!(names("anna").is_empty());
        let mode = folder
            .path()
            .join(FILE)
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
