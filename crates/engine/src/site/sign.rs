//! A site's signature under a study: only a study that the site would take part in is signed.
//!
//! # Discloses
//! A signature tells who agreed to which hash.

use std::path::Path;

use hedgerow_node::identity::Secret;

use super::refused::SiteRefused;
use super::{Site, SiteCheck};
use crate::error::Error;
use crate::study::Study;

/// What came of signing a study.
#[derive(Debug, Clone)]
pub enum Signing {
    /// The study is signed.
    Signed {
        /// The site's name in the study.
        site: String,
        /// The hash that was signed.
        hash: String,
    },
    /// The site would not take part in a run of the study, and nothing was signed.
    NotAccepted(Box<SiteCheck>),
}

impl Site {
    /// Signs the study that this site's file names, or another, with the site's key, if the study can be run and
    /// the site would take part. Where `read` says which version somebody has read, by its hash, no other
    /// version is signed.
    pub async fn sign(&self, study: Option<&Path>, read: Option<&str>) -> Result<Signing, Error> {
        let path = study.unwrap_or(&self.file.study);
        let study_read = Study::open(path)?;
        let agreement = study_read.agreement()?;
        let hash = agreement.hash.to_string();
        let see_same = |other: &str| match other == hash {
            true => Ok(()),
            false => Err(SiteRefused::OtherVersion {
                study: path.to_owned(),
                read: other.to_owned(),
                found: hash.clone(),
            }),
        };
        read.map(see_same).transpose()?;
        // A study that cannot be run is not signed.
        study_read.see_runnable()?;
        let secret = Secret::open(&self.file.key)?;
        let check = self.check(study).await?;
        // The file may have changed since it was opened here.
        see_same(&check.hash)?;
        if !check.accepted {
            return Ok(Signing::NotAccepted(Box::new(check)));
        }
        let place = agreement.sign(&secret)?;
        let site = agreement.study.sites[place].name.clone();
        Ok(Signing::Signed { site, hash })
    }
}
