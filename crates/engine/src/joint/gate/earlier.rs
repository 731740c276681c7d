//! Earlier releases, as the gate of a run lays them beside the run's own.

use std::path::{Path, PathBuf};

use super::{Beside, Earlier};
use crate::error::Error;
use crate::release::files::hash;
use crate::release::manifest::Manifest;
use crate::simulate::refused::SplitRefused;
use crate::study::ready::Ready;
use crate::verify::read::Read;
use crate::verify::release_file;

impl Beside {
    /// These releases of the study; an error where the study's gate does not look at any.
    pub(crate) fn of(ready: &Ready, releases: &[PathBuf]) -> Result<Self, Error> {
        let asked = ready.asked();
        if !releases.is_empty() && !asked.two_releases && !asked.newcomers {
            return Err(SplitRefused::NothingEarlier.into());
        }
        let read = |path: &PathBuf| {
            let file = release_file(path, Some(&ready.study), None)?;
            let read = Read::open(&file, &ready.study, &())?;
            Ok(Earlier::Has(read.release))
        };
        Ok(Self {
            earlier: releases.iter().map(read).collect::<Result<_, Error>>()?,
        })
    }
}

impl Earlier {
    /// The release that an earlier run left in a folder, if its files are those that all sites signed in the run.
    pub(crate) fn of_folder(folder: &Path, number: u32, ready: &Ready) -> Self {
        let read = || -> Option<Read> {
            let (manifest, _) = Manifest::read(folder).ok()?;
            let (said, _) = manifest.statement()?;
            if said.run.is_none_or(|run| run != number) || said.files.is_empty() {
                return None;
            }
            for (name, signed) in said.files.iter() {
                let is_own = ready.study.release_files().iter().any(|file| file == name);
                if !is_own || hash(&folder.join(name)).ok()? != *signed {
                    return None;
                }
            }
            let file = release_file(folder, Some(&ready.study), None).ok()?;
            Read::open(&file, &ready.study, &()).ok()
        };
        read().map_or(Self::Unreadable, |read| Self::Has(read.release))
    }
}
