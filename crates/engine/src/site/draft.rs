//! `site.toml` to begin with, made of a study: everything that the study needs of `[accept]` stands there,
//! explained in plain words and behind a `#`, so that an untouched draft accepts nothing.
//!
//! Explanations begin with `# `. Rules and listed words begin with `#` and no space: whoever agrees takes
//! the `#` away.

mod accept;
mod head;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hedgerow_data::files::{FileError, OutputFile};
use hedgerow_node::agreement::Agreement;
use hedgerow_node::identity::Secret;

use super::acceptance::unknown_site;
use super::refused::SiteRefused;
use crate::error::Error;
use crate::study::Study;
use crate::study::ready::Ready;
use crate::words::one_line;

/// How a site's file is drafted.
#[derive(Debug, Clone, Default)]
pub struct SiteDraft {
    /// The site's name in the study; the site that `key` is of, if nobody says.
    pub site: Option<String>,
    /// The site's secret key; a file beside the site's file that is named like the site, if nobody says.
    pub key: Option<PathBuf>,
    /// The file with the site's rows; `patients.csv` beside the site's file, to be changed, if nobody says.
    pub rows: Option<PathBuf>,
}

/// A drafted `site.toml`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DraftedSite {
    /// The site's name in the study.
    pub site: String,
    /// Where the file belongs.
    pub file: PathBuf,
    /// How many rules and listed words stand behind a `#`.
    pub closed: usize,
    /// What a person must still fill in.
    pub todo: Vec<String>,
    head: String,
    accept: String,
}

impl Study {
    /// Drafts the file of a site of this study, which belongs at `file`: names of files in it are relative
    /// to that place. Nothing is written.
    pub fn draft_site(
        &self,
        file: impl Into<PathBuf>,
        options: &SiteDraft,
    ) -> Result<DraftedSite, Error> {
        let file = file.into();
        let agreement = self.agreement()?;
        let ready = Ready::of(&agreement)?;
        let place = self.place_of(&agreement, options)?;
        let (head, todo) = head::head(&agreement, place, &file, options);
        let accept = accept::accept(&agreement, place, &ready);
        Ok(DraftedSite {
            site: agreement.study.sites[place].name.clone(),
            closed: accept.lines().filter(|line| is_closed(line)).count(),
            file,
            todo,
            head,
            accept,
        })
    }

    fn place_of(&self, agreement: &Agreement, options: &SiteDraft) -> Result<usize, Error> {
        let sites = &agreement.study.sites;
        let names: Vec<&str> = sites.iter().map(|site| site.name.as_str()).collect();
        let file = self.opened.path.clone();
        if let Some(name) = &options.site {
            let place = names.iter().position(|known| known == name);
            return place.ok_or_else(|| unknown_site(agreement, &file, name));
        }
        let Some(key) = &options.key else {
            // A study without sites says so.
            if names.is_empty() {
                return Err(unknown_site(agreement, &file, ""));
            }
            let names = names.into_iter().map(str::to_owned).collect();
            return Err(SiteRefused::WhichSite { study: file, names }.into());
        };
        let public = Secret::open(key)?.public();
        let keys = agreement.keys()?;
        let place = keys.iter().position(|known| *known == public);
        place.ok_or_else(|| {
            let (key, found) = (key.clone(), public.to_string());
            SiteRefused::NobodysKey {
                key,
                study: file,
                found,
            }
            .into()
        })
    }
}

impl DraftedSite {
    /// The text of the file.
    pub fn text(&self) -> String {
        format!("{}{}", self.head, self.accept)
    }

    /// The `[accept]` table as it is once the officer has agreed to every line: what an invented officer of
    /// a demo or a test says.
    pub fn accepted(&self) -> String {
        let opened = self.accept.lines().map(|line| match is_closed(line) {
            true => format!("{}\n", line.replacen('#', "", 1)),
            false => format!("{line}\n"),
        });
        opened.collect()
    }

    /// Writes the file, which its owner alone may read. A file that is there is kept, unless `is_forced`.
    pub fn save(&self, is_forced: bool) -> Result<(), Error> {
        let path = &self.file;
        if !is_forced && path.symlink_metadata().is_ok() {
            let file = path.clone();
            return Err(SiteRefused::Kept { file }.into());
        }
        let mut file = OutputFile::create_private(path)?;
        file.write_all(self.text().as_bytes())
            .map_err(|error| FileError::Unwritable {
                file: path.display().to_string(),
                reason: error.to_string(),
            })?;
        Ok(file.finish()?)
    }
}

/// Whether a line is a rule or a listed word that nobody has agreed to yet.
pub(crate) fn is_closed(line: &str) -> bool {
    let rest = line.trim_start().strip_prefix('#');
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with(' '))
}

/// A comment, on as many lines as it takes; names in it have no line breaks.
fn comment(indent: &str, text: &str) -> String {
    const WIDTH: usize = 100;
    let mut lines = String::new();
    let mut line = format!("{indent}#");
    for word in one_line(text).split_whitespace() {
        let is_full = line.chars().count() + 1 + word.chars().count() > WIDTH;
        if is_full && line.len() > indent.len() + 1 {
            lines.push_str(&line);
            lines.push('\n');
            line = format!("{indent}#");
        }
        line.push(' ');
        line.push_str(word);
    }
    format!("{lines}{line}\n")
}

/// A file's name as it stands in a file in `folder`: relative where that is possible.
fn relative(folder: &Path, file: &Path) -> PathBuf {
    if file.is_absolute() || folder.as_os_str().is_empty() {
        return file.to_owned();
    }
    let real = |path: &Path| match path.as_os_str().is_empty() {
        true => Path::new(".").canonicalize(),
        false => path.canonicalize(),
    };
    let beside = file.parent().unwrap_or(Path::new(""));
    let (Ok(folder), Ok(beside), Some(name)) = (real(folder), real(beside), file.file_name())
    else {
        return std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    };
    let shared = folder.components().zip(beside.components());
    let shared = shared.take_while(|(one, other)| one == other).count();
    let up = folder
        .components()
        .skip(shared)
        .map(|_| Path::new("..").as_os_str());
    let down = beside
        .components()
        .skip(shared)
        .map(|part| part.as_os_str());
    up.chain(down).chain([name]).collect()
}
