//! The releases in a site's data folder, newest first: what runs ended with.

use std::path::PathBuf;

use hedgerow_node::agreement::Agreement;

use super::Site;
use crate::error::Error;
use crate::release::Release;
use crate::release::manifest::{FILE, Manifest};
use crate::study::Study;

/// What a run ended with: a release, or what all sites know of a virtual database.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReleaseOf {
    /// The number of the run.
    pub run: u32,
    /// The folder.
    pub folder: PathBuf,
    /// Whether nothing was published, and the folder says what all sites know of a virtual database.
    pub is_virtual: bool,
}

impl Site {
    /// What the runs of this site ended with, newest first.
    pub fn releases(&self) -> Vec<ReleaseOf> {
        let files = std::fs::read_dir(&self.file.data).into_iter().flatten();
        let mut releases: Vec<ReleaseOf> = files
            .flatten()
            .filter_map(|file| {
                let name = file.file_name();
                let (kind, number) = name.to_str()?.split_once('-')?;
                let run: u32 = number.parse().ok()?;
                let is_virtual = match kind {
                    "release" => false,
                    "virtual" => true,
                    _ => return None,
                };
                // `release-01` is no name that a run gives.
                (run.to_string() == number).then_some(ReleaseOf {
                    run,
                    folder: file.path(),
                    is_virtual,
                })
            })
            .collect();
        releases.sort_by_key(|one| (std::cmp::Reverse(one.run), one.is_virtual));
        releases
    }

    /// What a run ended with, if it ended with a folder that has a manifest.
    pub fn release(&self, run: u32) -> Option<ReleaseOf> {
        let folder = |name: &str| self.file.data.join(format!("{name}-{run}"));
        let release = |folder: PathBuf, is_virtual| {
            folder.join(FILE).is_file().then_some(ReleaseOf {
                run,
                folder,
                is_virtual,
            })
        };
        release(folder("release"), false).or_else(|| release(folder("virtual"), true))
    }
}

impl ReleaseOf {
    /// The release, with the study that the site's file names where the release is of just this version, so
    /// that keys and demands are the study's and not the folder's own word. Says whether it is.
    pub fn open(&self, site: &Site) -> Result<(Release, bool), Error> {
        let release = Release::open(&self.folder)?;
        let agreement = Agreement::open(&site.file.study)?;
        let hash = agreement.hash.to_string();
        let is_of = |manifest: Manifest| {
            let said = manifest
                .statement()
                .map(|(said, _)| said.study_hash.clone());
            said.flatten() == Some(hash)
        };
        match release.manifest().is_ok_and(is_of) {
            true => Ok((release.with_study(Study::open(&site.file.study)?), true)),
            false => Ok((release, false)),
        }
    }
}
