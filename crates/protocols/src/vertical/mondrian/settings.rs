//! How a vertical Mondrian is written, as `[algorithm]` of a study says.

use hedgerow_data::document::{DocumentError, Section};

use crate::clustering::settings::CLUSTERING_KEYS;
use crate::horizontal::mondrian::settings::{COVERS_KEY, CUT_KEYS};

/// Keys of horizontal cuts mean nothing here, nor do those of clusters.
pub(crate) fn refuse(section: &Section<'_>) -> Result<(), DocumentError> {
    let mut of_horizontal = CUT_KEYS.iter().chain(&[COVERS_KEY]);
    if let Some(key) = of_horizontal.find(|key| section.has_misplaced(key)) {
        let message = format!(
            "`algorithm.{key}` is for horizontal studies: where all sites have the same people, the site with the widest attribute cuts at its own median, and classes are written as tightly as they are\nhint: leave it out"
        );
        return Err(section.wrong(key, message));
    }
    let of_clusters = CLUSTERING_KEYS.iter().chain(&["noise"]);
    match of_clusters.copied().find(|key| section.has_misplaced(key)) {
        Some(key) => {
            let message = format!(
                "`algorithm.{key}` is for name = \"clustering\" only, and would change nothing with name = \"mondrian\"\nhint: leave it out"
            );
            Err(section.wrong(key, message))
        }
        None => Ok(()),
    }
}
