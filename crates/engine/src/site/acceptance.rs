//! Whether a site takes part in a study at all: the site is one of the study's, its key is the one that the
//! study pins, and its rules let the study in. Asked before every run, and by `site check` before anybody
//! signs.

use std::path::Path;

use hedgerow_node::accept::Refusal;
use hedgerow_node::agreement::{Agreement, AgreementError};
use hedgerow_node::identity::{PublicKey, Secret};
use hedgerow_node::site::SiteFile;

use super::refused::SiteRefused;
use crate::error::Error;
use crate::study::disclosures;
use crate::study::ready::Ready;
use crate::study::refused::StudyRefused;

/// A site's file beside a study.
pub(super) struct Admission<'a> {
    /// The site's file.
    pub(super) path: &'a Path,
    pub(super) site: &'a SiteFile,
    pub(super) agreement: &'a Agreement,
}

impl Admission<'_> {
    /// The site's place in the study.
    pub(super) fn place(&self) -> Result<usize, Error> {
        let sites = &self.agreement.study.sites;
        let place = sites.iter().position(|site| site.name == self.site.name);
        place.ok_or_else(|| self.unknown(&self.site.name))
    }

    /// Sees that the ways to peers lead to sites of the study.
    pub(super) fn see_peers(&self) -> Result<(), Error> {
        let sites = &self.agreement.study.sites;
        let is_known = |peer: &str| sites.iter().any(|site| site.name == *peer);
        let mut peers = self.site.peers.iter();
        match peers.find(|(peer, _)| !is_known(peer)) {
            Some((peer, _)) => Err(self.unknown(peer)),
            None => Ok(()),
        }
    }

    /// The site's secret key, which is the one that the study has for the site.
    pub(super) fn secret(&self, expected: &PublicKey) -> Result<Secret, Error> {
        let secret = Secret::open(&self.site.key)?;
        if secret.public() == *expected {
            return Ok(secret);
        }
        Err(Error::Site(SiteRefused::OtherKey {
            file: self.site.key.clone(),
            site: self.site.name.clone(),
            expected: expected.to_string(),
            found: secret.public().to_string(),
        }))
    }

    /// Every rule of the site that speaks against the study.
    pub(super) fn refusals(&self, place: usize, ready: &Ready) -> Vec<Refusal> {
        let (accept, security) = (&self.site.accept, ready.run.security);
        accept.refusals(self.agreement, place, security, &disclosures(ready))
    }

    fn unknown(&self, name: &str) -> Error {
        unknown_site(self.agreement, self.path, name)
    }
}

/// The error for a name that a file has and that is no site's of the study.
pub(super) fn unknown_site(agreement: &Agreement, file: &Path, name: &str) -> Error {
    let sites = agreement.study.sites.iter();
    let names: Vec<&str> = sites.map(|site| site.name.as_str()).collect();
    if names.is_empty() {
        let file = agreement.path().display().to_string();
        return AgreementError::NoSites { file }.into();
    }
    let hint = match hedgerow_data::nearest(name, names.iter().copied(), 1).first() {
        Some(best) => format!("did you mean `{best}`?"),
        None => format!("it has {}", hedgerow_data::quoted_list(&names)),
    };
    Error::StudyRefused(StudyRefused::UnknownSite {
        file: file.to_owned(),
        site: name.to_owned(),
        hint,
    })
}
