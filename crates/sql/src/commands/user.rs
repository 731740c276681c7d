//! `hedgerow sql user`: makes a user of a password, which goes nowhere but into the verifier.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use hedgerow_data::document::quoted;
use hedgerow_node::site::SiteFile;
use hedgerow_sql::Verifier;
use zeroize::Zeroizing;

use super::say;

/// The fewest characters of a password.
const SHORTEST: usize = 8;
/// The longest name: PostgreSQL's clients cut longer ones.
const LONGEST: usize = 63;

#[derive(Debug, Args)]
pub(crate) struct User {
    /// The user's name
    name: String,
    /// The site's file, to which the user is added; without it the lines are printed
    #[arg(long, value_name = "FILE")]
    site: Option<PathBuf>,
}

impl User {
    pub(crate) fn run(&self) -> Result<(), String> {
        let name = &self.name;
        if name.trim().is_empty() || name.contains(char::is_control) || name.len() > LONGEST {
            return Err(format!(
                "the name is empty, has control characters in it, or more than {LONGEST} bytes"
            ));
        }
        // A file that cannot be changed is told before a password is asked for.
        let found = self.site.as_deref().map(open).transpose()?;
        let password = password()?;
        let verifier = Verifier::of(&password).map_err(|error| error.to_string())?;
        let entry = format!(
            "[[sql.user]]\nname = {}\nverifier = \"{verifier}\"\n",
            quoted(name)
        );
        let (Some(path), Some(site)) = (&self.site, found) else {
            let printed = std::io::stdout().write_all(entry.as_bytes());
            return printed.map_err(|error| format!("the output cannot be written: {error}"));
        };
        let text = std::fs::read_to_string(path).map_err(|error| cannot(path, &error))?;
        let users = site.sql.map(|sql| sql.users).unwrap_or_default();
        let known = users.iter().find(|user| user.name == *name);
        let (text, done) = match known {
            Some(old) if text.matches(&old.verifier).count() == 1 => {
                let text = text.replace(&old.verifier, &verifier.to_string());
                (text, "has a new password")
            }
            Some(_) => {
                return Err(format!(
                    "{}: the verifier of `{name}` is not found as it is written\nhint: replace it by hand: {verifier}",
                    path.display()
                ));
            }
            None => (format!("{}\n\n{entry}", text.trim_end()), "is added"),
        };
        replace(path, &text)?;
        say(&format!(
            "`{name}` {done} in {}; a server that runs knows it when it is started anew",
            path.display()
        ));
        Ok(())
    }
}

/// A site's file that has `[sql]`.
fn open(path: &Path) -> Result<SiteFile, String> {
    let site = SiteFile::open(path).map_err(|error| error.to_string())?;
    for warning in &site.warnings {
        say(&format!("warning: {warning}"));
    }
    match site.sql {
        Some(_) => Ok(site),
        None => Err(format!(
            "{}: there is no [sql]\nhint: [sql] says where the server listens, and with which certificate; users come behind it",
            path.display()
        )),
    }
}

/// The password, from a terminal twice, or from a line of the input.
fn password() -> Result<Zeroizing<String>, String> {
    let unreadable = |error: std::io::Error| format!("the password cannot be read: {error}");
    let password = match std::io::stdin().is_terminal() {
        true => {
            let first = rpassword::prompt_password("password: ").map_err(unreadable)?;
            let first = Zeroizing::new(first);
            let second = rpassword::prompt_password("again: ").map_err(unreadable)?;
            if *first != *Zeroizing::new(second) {
                return Err(String::from("the two are not the same"));
            }
            first
        }
        false => {
            let mut line = Zeroizing::new(String::new());
            std::io::stdin().read_line(&mut line).map_err(unreadable)?;
            Zeroizing::new(line.trim_end_matches(['\n', '\r']).to_owned())
        }
    };
    match password.chars().count() < SHORTEST {
        true => Err(format!("the password has fewer than {SHORTEST} characters")),
        false => Ok(password),
    }
}

/// Puts a new text in a file's place, whole or not at all, for the same readers.
fn replace(path: &Path, text: &str) -> Result<(), String> {
    let path = std::fs::canonicalize(path).map_err(|error| cannot(path, &error))?;
    let mut new = path.clone().into_os_string();
    new.push(".new");
    let new = PathBuf::from(new);
    let written = write(&path, &new, text).map_err(|error| cannot(&new, &error));
    let read = written.and_then(|()| SiteFile::open(&new).map_err(|error| error.to_string()));
    let done =
        read.and_then(|_| std::fs::rename(&new, &path).map_err(|error| cannot(&path, &error)));
    if done.is_err() {
        // What is half written is of no use.
        let _ = std::fs::remove_file(&new);
    }
    done
}

fn write(old: &Path, new: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(new)?;
    file.write_all(text.as_bytes())?;
    file.set_permissions(std::fs::metadata(old)?.permissions())?;
    file.sync_all()
}

fn cannot(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
