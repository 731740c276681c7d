//! Who may use the pages: `console.toml` beside the site's file.
//!
//! ```toml
//! [[user]]
//! name = "anna"
//! role = "officer"                # steward | officer | analyst | auditor
//! added = "2026-11-19 10:00:00"
//! password = "$argon2id$v=19$…"
//! ```
//!
//! The file is read whenever somebody asks for a page, so that what is changed there counts at once. A file
//! that is not there has nobody in it.

use std::fmt;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use hedgerow::data::document::{Document, DocumentError, quoted};
use hedgerow::data::files::{FileError, OutputFile};

use crate::error::ConsoleError;
use crate::links::For;
use crate::password;
use crate::record::{Entry, Record, now};
use crate::role::Role;

/// The name of the file.
pub(crate) const FILE: &str = "console.toml";
const HEAD: &str = "# Who may use the pages of this site. hedgerow console user add and remove change this file.\n";

/// A person who may use the pages.
#[derive(Clone, PartialEq, Eq)]
pub struct User {
    /// The name that the person signs in with.
    pub name: String,
    /// What the person may do.
    pub role: Role,
    /// When the person was added.
    pub added: String,
    /// What the password is held against.
    pub(crate) password: String,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut user = f.debug_struct("User");
        user.field("name", &self.name)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

/// The users of a site.
#[derive(Debug, Clone)]
pub struct Users {
    file: PathBuf,
    record: Record,
}

impl Users {
    /// The users in a site's folder.
    pub fn in_folder(folder: &Path) -> Self {
        Self {
            file: folder.join(FILE),
            record: Record::in_folder(folder),
        }
    }

    /// The users of the site whose file this is.
    pub fn beside(site: &Path) -> Self {
        let folder = site.parent().filter(|folder| *folder != Path::new(""));
        Self::in_folder(folder.unwrap_or(Path::new(".")))
    }

    /// Where they are written.
    pub fn path(&self) -> &Path {
        &self.file
    }

    /// Everybody, in the order of the file.
    pub fn all(&self) -> Result<Vec<User>, ConsoleError> {
        let found = match std::fs::metadata(&self.file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            found => found.map_err(|error| DocumentError::Unreadable {
                file: self.file.display().to_string(),
                reason: error.to_string(),
            })?,
        };
        let mode = found.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            let file = self.file.clone();
            return Err(ConsoleError::Readable { file, mode });
        }
        let document = Document::open(&self.file)?;
        let root = document.root();
        let mut users: Vec<User> = Vec::new();
        for user in root.sections("user")? {
            let name = user.required_name()?;
            let word = user.required_string("role")?;
            let role = Role::named(&word).ok_or_else(|| {
                let names = Role::ALL.map(Role::name).join(", ");
                user.wrong(
                    "role",
                    format!("`role` is `{word}`, expected one of {names}"),
                )
            })?;
            let added = user.string("added")?.unwrap_or_default();
            let password = user.required_string("password")?;
            if !password::is_kept(&password) {
                return Err(user
                    .wrong("password", "`password` is not what hedgerow console user add writes\nhint: take the user away and add the user again")
                    .into());
            }
            user.finish()?;
            if users.iter().any(|other| other.name == name) {
                return Err(user
                    .wrong("name", format!("two users are named `{name}`"))
                    .into());
            }
            users.push(User {
                name,
                role,
                added,
                password,
            });
        }
        root.finish()?;
        Ok(users)
    }

    /// The user with a name.
    pub(crate) fn find(&self, name: &str) -> Result<Option<User>, ConsoleError> {
        Ok(self.all()?.into_iter().find(|user| user.name == name))
    }

    /// Adds a user; `by` is who does, and from where.
    pub fn add(
        &self,
        name: &str,
        role: Role,
        password: &str,
        by: (&str, &str),
    ) -> Result<(), ConsoleError> {
        self.add_if(name, role, password, by, |_| true)
    }

    /// Adds a user who comes by a link, if the link counts at that moment.
    pub(crate) fn come(
        &self,
        whom: &For,
        (name, role): (&str, Role),
        password: &str,
        from: &str,
    ) -> Result<(), ConsoleError> {
        let counts = |users: &[User]| whom.counts(users);
        self.add_if(name, role, password, (name, from), counts)
    }

    fn add_if(
        &self,
        name: &str,
        role: Role,
        password: &str,
        by: (&str, &str),
        may: impl FnOnce(&[User]) -> bool,
    ) -> Result<(), ConsoleError> {
        see_name(name)?;
        let kept = password::keep(name, password)?;
        let what = format!("user added: {role}");
        self.change(by, &what, name, |users| {
            if !may(users) {
                return Err(ConsoleError::NoLink);
            }
            if let Some(there) = users.iter().find(|user| user.name == name) {
                let (name, role) = (name.to_owned(), there.role);
                return Err(ConsoleError::UserThere { name, role });
            }
            users.push(User {
                name: name.to_owned(),
                role,
                added: now(),
                password: kept,
            });
            Ok(())
        })
    }

    /// Gives a user another password, by a link that counts at that moment.
    pub(crate) fn set_password(
        &self,
        whom: &For,
        password: &str,
        from: &str,
    ) -> Result<(), ConsoleError> {
        let name = whom.name();
        let kept = password::keep(name, password)?;
        self.change((name, from), "password changed", name, |users| {
            if !whom.counts(users) {
                return Err(ConsoleError::NoLink);
            }
            let user = users.iter_mut().find(|user| user.name == name);
            user.ok_or_else(|| nobody(name))?.password = kept;
            Ok(())
        })
    }

    /// Takes a user away, whose sessions end with the next request.
    pub fn remove(&self, name: &str, by: (&str, &str)) -> Result<(), ConsoleError> {
        self.change(by, "user removed", name, |users| {
            let before = users.len();
            users.retain(|user| user.name != name);
            if users.len() == before {
                Err(nobody(name))
            } else {
                Ok(())
            }
        })
    }

    /// Changes the file, one after the other, and writes down who did.
    fn change(
        &self,
        (who, from): (&str, &str),
        what: &str,
        about: &str,
        change: impl FnOnce(&mut Vec<User>) -> Result<(), ConsoleError>,
    ) -> Result<(), ConsoleError> {
        let mut held = self.record.hold()?;
        let mut users = self.all()?;
        change(&mut users)?;
        let mut entry = Entry::now(who, from, what);
        entry.about = about.to_owned();
        // First the line: a user whom no line speaks of would be worse than a line without a user.
        held.add(&entry)?;
        self.write(&users)
    }

    fn write(&self, users: &[User]) -> Result<(), ConsoleError> {
        let mut text = String::from(HEAD);
        for User {
            name,
            role,
            added,
            password,
        } in users
        {
            text.push_str(&format!(
                "\n[[user]]\nname = {}\nrole = \"{role}\"\nadded = {}\npassword = {}\n",
                quoted(name),
                quoted(added),
                quoted(password)
            ));
        }
        let mut file = OutputFile::create_private(&self.file)?;
        file.write_all(text.as_bytes())
            .map_err(|error| FileError::Unwritable {
                file: self.file.display().to_string(),
                reason: error.to_string(),
            })?;
        Ok(file.finish()?)
    }
}

fn nobody(name: &str) -> ConsoleError {
    ConsoleError::NoUser {
        name: name.to_owned(),
    }
}

/// Sees that a name is one that a user can have.
pub(crate) fn see_name(name: &str) -> Result<(), ConsoleError> {
    let is_letter =
        |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-' | '@');
    match (1..=64).contains(&name.chars().count()) && name.chars().all(is_letter) {
        true => Ok(()),
        false => Err(ConsoleError::NoName {
            name: name.to_owned(),
        }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::links::Known;

    const BY: (&str, &str) = ("root", "shell");

    #[test]
    fn users_are_added_and_taken_away_and_that_is_written_down() {
        let folder = tempfile::tempdir().unwrap();
        let users = Users::in_folder(folder.path());
        assert!(users.all().unwrap().is_empty());
        users
            .add("anna", Role::Officer, "seven green hedges", BY)
            .unwrap();
        users
            .add("ben@north", Role::Steward, "eight green hedges", BY)
            .unwrap();
        let again = users.add("anna", Role::Steward, "seven green hedges", BY);
        assert!(again.unwrap_err().to_string().contains("role is officer"));
        let before = users.find("anna").unwrap().unwrap();
        let again = For::Again {
            user: Known::of(&before),
            by: Known::of(&before),
        };
        users
            .set_password(&again, "nine yellow hedges", "shell")
            .unwrap();
        // Of another password it is not the same link any more.
        let error = users.set_password(&again, "ten blue hedges", "shell");
        assert!(matches!(error, Err(ConsoleError::NoLink)), "{error:?}");
        let after = users.find("anna").unwrap().unwrap();
        assert_eq!((before.role, &before.added), (after.role, &after.added));
        assert_ne!(before.password, after.password);
        users.remove("ben@north", BY).unwrap();
        assert!(users.remove("ben@north", BY).is_err());
        let names: Vec<String> = users
            .all()
            .unwrap()
            .into_iter()
            .map(|user| user.name)
            .collect();
        assert_eq!(names, ["anna"]);
        let mode = users.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let lines = Record::in_folder(folder.path()).all().unwrap();
        let whats: Vec<&str> = lines.iter().map(|line| &*line.what).collect();
        assert_eq!(
            whats,
            [
                "user added: officer",
                "user added: steward",
                "password changed",
                "user removed"
            ]
        );
        let debugged = format!("{before:?}");
        assert!(!debugged.contains("argon2id"), "{debugged}");
    }

    #[test]
    fn a_file_that_others_read_or_that_says_nonsense_lets_nobody_in() {
        let folder = tempfile::tempdir().unwrap();
        let users = Users::in_folder(folder.path());
        users
            .add("anna", Role::Officer, "seven green hedges", BY)
            .unwrap();
        let text = std::fs::read_to_string(users.path()).unwrap();
        let private = |mode| {
            std::fs::set_permissions(users.path(), std::fs::Permissions::from_mode(mode)).unwrap()
        };
        private(0o640);
        assert!(users.all().unwrap_err().to_string().contains("chmod 600"));
        for (from, to, told) in [
            ("officer", "king", ":5: `role` is `king`"),
            ("$argon2id$", "plain", "`password` is not"),
            ("name = \"anna\"", "", "name"),
            ("added", "adedd", "adedd"),
        ] {
            std::fs::write(users.path(), text.replacen(from, to, 1)).unwrap();
            private(0o600);
            let error = users.all().unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
        std::fs::write(users.path(), format!("{text}{}", text.replace(HEAD, ""))).unwrap();
        private(0o600);
        assert!(
            users
                .all()
                .unwrap_err()
                .to_string()
                .contains("two users are named")
        );
    }

    #[test]
    fn names_are_names() {
        for name in ["", "a b", "../x", "<b>", "a\nb", &"a".repeat(65)] {
            assert!(see_name(name).is_err(), "{name}");
        }
        for name in ["anna", "a.b-c_d@e", "Žofie"] {
            assert!(see_name(name).is_ok(), "{name}");
        }
    }
}
