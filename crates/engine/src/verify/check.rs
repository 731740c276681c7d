//! What a check of the manifest of a release found.

use std::path::PathBuf;

use serde::{Serialize, Serializer};

use crate::joint::TriedAttack;
use crate::release::manifest::Manifest;

/// What a check of a manifest found.
#[derive(Debug, Default, Serialize)]
pub struct Check {
    /// Whether the release is what the manifest says, and signed where the study has keys.
    pub holds: bool,
    /// Whether every site of the study has signed.
    pub signed: bool,
    /// Whether roles, domains and requirement are the manifest's own word, because no study was given.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub self_described: bool,
    /// The hash of the given study, where the study can be hashed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study_hash: Option<String>,
    /// The number of the run in the study.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<u32>,
    /// The site that wrote the ledger, the cost and the report, if its seal is sound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The standing of each site's signature.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<Signature>,
    /// The sites whose part in the run the auditor of the study did again, and found as it should be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audited: Vec<String>,
    /// Demands that a release cannot show and that all sites attested to by signing.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "in_words")]
    pub attested: Vec<SiteDemand>,
    /// Demands that a release cannot show and that nobody has signed for.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "in_words")]
    pub unseen: Vec<SiteDemand>,
    /// The attacks that were tried on the release before it was published, by its manifest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<TriedAttack>,
    /// What only the study can show, where no study was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_shown: Vec<String>,
    /// Everything that is not as it should be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// The files that are what the manifest speaks of.
    #[serde(skip)]
    pub(super) sound: Vec<String>,
    /// Whether the statement that all sites sign is as it should be, whatever one site's account says.
    #[serde(skip)]
    pub(super) is_release: bool,
    /// Whether the folder is one that somebody closed, and not one that is being made.
    #[serde(skip)]
    pub(super) is_closed: bool,
    /// The manifest, for its other contents.
    #[serde(skip)]
    pub(crate) manifest: Option<Manifest>,
}

/// The standing of one site's signature.
#[derive(Debug, Serialize)]
pub struct Signature {
    /// The site.
    pub site: String,
    /// The site's key in the study.
    pub key: String,
    /// `signed`, or what is wrong.
    pub standing: &'static str,
}

fn in_words<S: Serializer>(demands: &[SiteDemand], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(demands.iter().map(|demand| &demand.words))
}

/// The files of a release cannot be understood, and are not the files that its manifest speaks of.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Tampered {
    /// No.
    pub holds: bool,
    /// What was found of the manifest.
    pub manifest: Check,
    /// Why a file cannot be understood.
    pub error: String,
    /// The release.
    #[serde(skip)]
    pub release: PathBuf,
}

/// A demand that a release does not show: it speaks of sites, or of sensitive values that a virtual database
/// keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteDemand {
    /// The key of the model, such as `site_diversity` or `m`.
    pub model: &'static str,
    /// The demand in words.
    pub words: String,
}
