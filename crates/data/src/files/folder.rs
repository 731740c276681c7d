//! The folder of a release: its tables, the package that describes them, and the taxonomies of its
//! columns. Every file follows from the study and the release, so all sites write the same bytes.

use std::io::Write as _;
use std::path::Path;

use super::classes::write_classes;
use super::open::{OutputFile, Progress, unwritable};
use super::write::write_release;
use super::{FileError, package, write_fragments};
use crate::release::Release;
use crate::study::{CLASSES_FILE, PACKAGE_FILE, Study, TAXONOMIES, taxonomy_files};

/// Writes all files of a release of a study into a folder that exists: those that
/// [`Study::release_files`] lists.
pub fn write_folder(
    folder: &Path,
    release: &Release,
    study: &Study,
    progress: &dyn Progress,
) -> Result<(), FileError> {
    if study.is_virtual() {
        write_classes(&folder.join(CLASSES_FILE), release, study, progress)?;
    } else if study.is_fragmented() {
        write_fragments(folder, release, study.csv, progress)?;
    } else {
        for file in study.release_tables() {
            write_release(&folder.join(file), release, study, progress)?;
        }
    }
    if !study.is_virtual() {
        let package = package::describe(folder, release, study)?;
        write_text(&folder.join(PACKAGE_FILE), &package)?;
    }
    let files = taxonomy_files(&study.schema);
    if files.iter().any(Option::is_some) {
        let trees = folder.join(TAXONOMIES);
        std::fs::create_dir_all(&trees).map_err(|error| unwritable(&trees, &error))?;
    }
    for (attribute, file) in study.schema.attributes().iter().zip(files) {
        if let Some((file, tree)) = file.zip(attribute.domain.taxonomy()) {
            write_text(&folder.join(file), &tree.to_rows())?;
        }
    }
    Ok(())
}

fn write_text(path: &Path, text: &str) -> Result<(), FileError> {
    let mut file = OutputFile::create(path)?;
    let written = file.write_all(text.as_bytes());
    written.map_err(|error| unwritable(path, &error))?;
    file.finish()
}
