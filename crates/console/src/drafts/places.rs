//! Where files of a draft may lie: a study is text that somebody types, and saving it writes the files that it
//! names. None of them takes the place of a table, or of anything else that is not a taxonomy of the study.

use std::path::{Component, Path, PathBuf};

use hedgerow::Error;
use hedgerow::data::files::FileError;
use hedgerow::node::site::SiteFile;
use hedgerow::node::source::Source;

use super::{FILE, TABLES};

/// The folder beside a study in which taxonomies lie.
const TAXONOMIES: &str = "taxonomies";

/// Sees that a draft's taxonomies are no other file of the draft's folder.
pub(super) fn see_apart(names: &[String]) -> Result<(), Error> {
    let is_taken = |name: &&String| {
        let plain = plain(name);
        plain == Path::new(FILE) || TABLES.iter().any(|table| plain == Path::new(table))
    };
    match names.iter().find(is_taken) {
        None => Ok(()),
        Some(name) => refused(
            name,
            "the draft has a file of this name that is no taxonomy",
        ),
    }
}

/// Sees that a draft's taxonomies may be written beside a study: below `taxonomies`, or where the study that is
/// there has its own; and never in the place of a file that the site has for something else.
pub(crate) fn see_places(
    home: &Path,
    names: &[String],
    there: &[String],
    others: &[PathBuf],
) -> Result<(), Error> {
    let others: Vec<PathBuf> = others.iter().map(|path| real(path)).collect();
    let there: Vec<PathBuf> = there.iter().map(|name| plain(name)).collect();
    for name in names {
        let plain = plain(name);
        let mut parts = plain.components();
        let is_below =
            parts.next() == Some(Component::Normal(TAXONOMIES.as_ref())) && parts.next().is_some();
        if !is_below && !there.contains(&plain) {
            return refused(
                name,
                "taxonomies of a draft lie below taxonomies/, beside the study\nhint: write taxonomy = \"taxonomies/…\" in the study’s text",
            );
        }
        let to = real(&home.join(&plain));
        if others.iter().any(|other| to.starts_with(other)) {
            return refused(
                name,
                "this site has a file of this name that is no taxonomy",
            );
        }
    }
    Ok(())
}

/// The files and folders that a site's file names, and which no taxonomy replaces.
pub(crate) fn of_site(path: &Path, site: &SiteFile) -> Vec<PathBuf> {
    let mut files = vec![
        path.to_owned(),
        site.study.clone(),
        site.key.clone(),
        site.memory.clone(),
        site.data.clone(),
    ];
    if let Source::File(rows) = &site.source {
        files.push(rows.clone());
    }
    let console = site.console.iter().filter_map(|one| one.tls.as_ref());
    files.extend(console.flat_map(|tls| [tls.certificate.clone(), tls.key.clone()]));
    let sql = site.sql.iter().filter_map(|one| one.tls.as_ref());
    files.extend(sql.flat_map(|tls| [tls.certificate.clone(), tls.key.clone()]));
    files
}

/// A name without what says nothing.
fn plain(name: &str) -> PathBuf {
    let parts = Path::new(name).components();
    parts.filter(|part| *part != Component::CurDir).collect()
}

/// Where a file lies, whatever links lead there; of one that is not there, where it would.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if folder != Path::new("") => real(folder).join(name),
        (_, Some(name)) => real(Path::new(".")).join(name),
        _ => path.to_owned(),
    }
}

fn refused(name: &str, reason: &str) -> Result<(), Error> {
    Err(FileError::Unwritable {
        file: name.to_owned(),
        reason: reason.to_owned(),
    }
    .into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn taxonomies_lie_below_their_folder_or_where_they_lay() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        std::fs::create_dir(home.join("taxonomies")).unwrap();
        std::os::unix::fs::symlink(home, home.join("taxonomies/up")).unwrap();
        let others = [
            home.join("rows.csv"),
            home.join("data"),
            home.join("taxonomies/rows.csv"),
        ];
        let there = names(&["./old.csv", "rows.csv"]);
        let see = |name: &str| see_places(home, &names(&[name]), &there, &others);
        for name in [
            "taxonomies/zip.csv",
            "./taxonomies/a/b.csv",
            "old.csv",
            "./old.csv",
        ] {
            assert!(see(name).is_ok(), "{name}");
        }
        for name in [
            "table.csv",
            "rows.csv",
            "taxonomies",
            "other/zip.csv",
            "taxonomies/rows.csv",
            "taxonomies/up/rows.csv",
            "taxonomies/up/data/release-1/release.csv",
            "../taxonomies/zip.csv",
        ] {
            assert!(see(name).is_err(), "{name}");
        }
        assert!(
            see_places(
                home,
                &names(&["data/x.csv"]),
                &names(&["data/x.csv"]),
                &others
            )
            .is_err()
        );
    }

    #[test]
    fn a_draft_has_its_own_files_for_itself() {
        for name in ["table.csv", "./table.xlsx", "study.toml"] {
            assert!(see_apart(&names(&["taxonomies/a.csv", name])).is_err());
        }
        assert!(see_apart(&names(&["taxonomies/table.csv", "zip.csv"])).is_ok());
    }
}
