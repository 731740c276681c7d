//! `manifest.json` of a release: what all sites signed, their signatures, and the account of the site
//! that wrote it: achieved privacy, utility, its ledger, what the run cost, how the loss fell, and its
//! report.
//!
//! The manifest begins with its version. What all sign is the same at every site, byte for byte: names,
//! counts, hashes of files, and what the study says of columns and requirement, so that a reader of the
//! folder needs nothing else to understand it. The account is each site's own; its last line is the
//! seal, that site's signature under every byte before it. With the hashes in it, no byte of the folder
//! can change unseen. A release that no sites made, of `simulate` or `anonymize`, has the same statement
//! under the name `unsigned`, no signatures, and as its seal a mere hash: the hash shows damage, not
//! forgery.
//!
//! Keys stand in the order of the fields here. A key that is not known, or is missing, is an error that
//! names the key.

use hedgerow_data::Recode;
use hedgerow_data::study::{DescribedColumn, Partition, ReleaseKind, ReleaseRows};
use hedgerow_privacy::utility::Utility;
use hedgerow_privacy::{Requirement, Stated};
use hedgerow_smc::exposure::LossOfPrivacy;
use serde::{Deserialize, Serialize};

use super::achieved::Achieved;
use super::cost::Cost;
use super::ordered::Ordered;
use crate::joint::TriedAttack;
use crate::joint::convergence::Convergence;

/// The manifest's name in the folder of a release.
pub(crate) const FILE: &str = "manifest.json";
/// The version of the manifest's format: a reader of another version does not guess.
pub(crate) const VERSION: u64 = 2;
/// The file that is of the site's own account.
pub(crate) const OWN_FILE: &str = "report.html";
/// The longest manifest: a few hundred bytes for each of 1,000 sites and for each column, and a ledger.
pub(crate) const LONGEST: u64 = 1 << 24;

/// What the folder of a release says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the manifest's format.
    pub version: u64,
    /// What all sites signed, of a release that sites made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<Statement>,
    /// The statement about a release that was made in one place and that nobody signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsigned: Option<Statement>,
    /// The signatures, in the study's order of sites.
    pub signatures: Vec<SignatureOf>,
    /// How many sites there were.
    pub sites: u64,
    /// What the release achieves.
    pub achieved: Achieved,
    /// What the release lost.
    pub utility: Utility,
    /// What the run disclosed to the site that wrote the manifest.
    pub ledger: Vec<Disclosed>,
    /// What the run cost the site that wrote the manifest.
    pub cost: Cost,
    /// How the loss of a clustering fell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub convergence: Option<Convergence>,
    /// The loss of privacy that the transcript of a simulated run at the published level shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_of_privacy: Option<LossOfPrivacy>,
    /// Of a study whose sites hold the same people: which site held which columns, and how groups were
    /// found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<Shared>,
    /// Whose account this is.
    pub account: AccountOf,
    /// The seal under every byte before it; nothing until the manifest is sealed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

/// The statement about a release, the same at every site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The study's name.
    pub study: String,
    /// The hash of the study, where sites could sign the study.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study_hash: Option<String>,
    /// The number of the run in the study, of a release that sites made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u32>,
    /// What each site committed itself to before the run, in the study's order.
    #[serde(default, skip_serializing_if = "Ordered::is_empty")]
    pub commitments: Ordered<String>,
    /// The hash of every answer that all sites saw opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript: Option<String>,
    /// The security level.
    pub security: String,
    /// The algorithm.
    pub algorithm: String,
    /// Records of the release.
    pub records: u64,
    /// Classes of the release.
    pub classes: u64,
    /// How text stands in CSV files.
    pub csv: String,
    /// The hash of each file.
    pub files: Ordered<String>,
    /// The version of hedgerow that made the release.
    pub hedgerow: String,
    /// The day of the run, in universal time: `2026-01-31`.
    pub date: String,
    /// How the table was spread over the sites.
    pub partition: Partition,
    /// `virtual` where nothing was published, and the files say what all sites know of a virtual database.
    #[serde(default, skip_serializing_if = "ReleaseKind::is_published")]
    pub release: ReleaseKind,
    /// `counted` where a row stands for all records that are written alike.
    #[serde(default, skip_serializing_if = "ReleaseRows::is_single")]
    pub rows: ReleaseRows,
    /// How classes are written where a column does not name a recoding of its own.
    pub recode: Recode,
    /// Whether tables are fragments though the algorithm makes one table unless the study says otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fragments: bool,
    /// What every class was made to satisfy.
    pub requirement: Demanded,
    /// The attacks that the study limits, and what came of them before anybody signed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gate: Vec<TriedAttack>,
    /// The columns of the study.
    pub columns: Vec<DescribedColumn>,
}

/// A requirement, as data and in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Demanded {
    /// One phrase for each model.
    pub words: Vec<String>,
    /// The keys of the study's `[require]` table.
    pub require: Stated,
}

impl From<&Requirement> for Demanded {
    fn from(requirement: &Requirement) -> Self {
        Self {
            words: requirement.words(),
            require: Stated::from(requirement),
        }
    }
}

/// A site's signature under the statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignatureOf {
    /// The site.
    pub site: String,
    /// The site's public key.
    pub key: String,
    /// The signature, in hexadecimal digits.
    pub signature: String,
}

/// Who wrote a manifest, and what else that site wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccountOf {
    /// The site, of a release that sites made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<String>,
    /// The hash of each file that is that site's own.
    #[serde(default)]
    pub files: Ordered<String>,
}

/// Of a study whose sites hold the same people: which site held which columns, and how groups were
/// found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shared {
    /// The columns by which people were found.
    pub identifiers: Vec<String>,
    /// The sites and the columns that each held.
    pub sites: Vec<Holder>,
    /// How groups were found, of fragments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synchronizer: Option<String>,
    /// How often sites compared their classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synchronizations: Option<u32>,
    /// Whether the sites had the same classes at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_at_first: Option<bool>,
    /// Whether groups have their original quasi-identifiers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored: Option<bool>,
}

/// The columns that a site held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Holder {
    /// The site.
    pub site: String,
    /// The site's columns.
    pub columns: Vec<String>,
}

/// One kind of thing that a run disclosed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Disclosed {
    /// What was disclosed.
    pub what: String,
    /// The recipients, in words.
    pub to: String,
    /// How many values were disclosed.
    pub values: u64,
    /// The theorem or rule that allows it.
    pub allowed_by: String,
    /// What could not be hidden besides.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub caveat: Option<String>,
}

#[cfg(test)]
mod tests;
