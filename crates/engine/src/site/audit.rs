//! Does a site's part in a run again, from its journal, its rows and its seed, and says whether every
//! frame was as it should be. With the key of the auditor whom the study names, the outcome is signed and
//! lies beside the release.
//!
//! # Discloses
//! To the caller: nothing but the outcome. The audit reads rows, seed and journal of the site.

use std::path::{Path, PathBuf};

use hedgerow_node::audit::Outcome;
use hedgerow_node::identity::Secret;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Site;
use super::part::Part;
use super::refused::SiteRefused;
use crate::error::Error;
use crate::observe::Notice;
use crate::release::outcome;
use crate::release::refused::FolderRefused;

/// What an audit of one run at one site found, for people by [`Display`](std::fmt::Display) and as JSON.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
#[non_exhaustive]
pub struct Audit {
    /// What the file of the outcome says.
    pub statement: Map<String, Value>,
    /// What was found.
    #[serde(skip)]
    pub outcome: Outcome,
    /// The number of the run.
    #[serde(skip)]
    pub run: u32,
    /// The name of the audited site.
    #[serde(skip)]
    pub site: String,
    /// Where the signed outcome lies.
    #[serde(skip)]
    pub signed: Option<PathBuf>,
}

impl Site {
    /// Does this site's part in a run again, and says whether the part was as it should be. With the
    /// secret key of the auditor whom the study names, the outcome is signed, and is written to `out` or
    /// beside the release.
    pub async fn audit(
        &self,
        run: u32,
        auditor: Option<&Path>,
        out: Option<&Path>,
    ) -> Result<Audit, Error> {
        let part = self.part()?;
        let auditor = auditor.map(|path| auditor_of(&part, path)).transpose()?;
        let found = part.audit(run).await?;
        let (study, site) = (part.agreement.hash, part.site.name.clone());
        let mut audit = Audit {
            statement: outcome::statement(study, run, &site, &found),
            outcome: found,
            run,
            site,
            signed: None,
        };
        if let Some(secret) = auditor {
            audit.sign(&secret, &part.folder(run), out)?;
        } else if names_auditor(&part) {
            self.observer.notice(Notice::Hint(String::from(
                "others believe the word of the auditor whom the study names: --auditor KEY signs it",
            )));
        }
        Ok(audit)
    }
}

impl Audit {
    /// Whether the site's part was as it should be.
    pub const fn holds(&self) -> bool {
        self.outcome.finding.is_none()
    }

    fn sign(&mut self, secret: &Secret, release: &Path, out: Option<&Path>) -> Result<(), Error> {
        outcome::sign(&mut self.statement, secret);
        let path = match out {
            Some(path) => path.to_owned(),
            None if release.is_dir() => release.join(outcome::file_of(&self.site)),
            None => {
                let folder = release.to_owned();
                return Err(FolderRefused::NoPlace { folder }.into());
            }
        };
        outcome::write(&path, &self.statement)?;
        self.signed = Some(path);
        Ok(())
    }
}

impl std::fmt::Display for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { run, site, .. } = self;
        let frames = self.outcome.frames;
        match &self.outcome.finding {
            None if self.outcome.release.is_some() => write!(
                f,
                "run {run} at `{site}`: as it should be\n{frames} frames follow from rows, seed and what was received, and every peer signed for them\n"
            )?,
            None => write!(
                f,
                "run {run} at `{site}`: as it should be, up to where it ended\n{frames} frames follow from rows, seed and what was received; the run came to no release, so no peer signed for them\n"
            )?,
            Some(finding) => write!(
                f,
                "run {run} at `{site}`: NOT as it should be\n{finding}\n{frames} frames before it are as they should be\n"
            )?,
        }
        match &self.signed {
            Some(path) => writeln!(f, "signed: {}", path.display()),
            None => Ok(()),
        }
    }
}

fn names_auditor(part: &Part) -> bool {
    let audit = part.agreement.study.audit.as_ref();
    audit.is_some_and(|audit| audit.auditor.is_some())
}

/// The auditor's key, if the study names the auditor.
fn auditor_of(part: &Part, path: &Path) -> Result<Secret, Error> {
    let secret = Secret::open(path)?;
    let study = &part.agreement.study;
    let named = study.audit.as_ref().and_then(|audit| audit.auditor.clone());
    match named {
        Some(named) if named == secret.public().to_string() => Ok(secret),
        Some(named) => Err(Error::Site(SiteRefused::OtherAuditor {
            file: path.to_owned(),
            named,
            found: secret.public().to_string(),
        })),
        None => Err(Error::Site(SiteRefused::NoAuditor {
            study: study.name.clone(),
            key: secret.public().to_string(),
        })),
    }
}
