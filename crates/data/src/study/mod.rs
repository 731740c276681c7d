//! The study file: the agreement of all sites, as people write it.
//!
//! Read here: name, partition, sites, attributes, limits of the gate and the algorithm's name. From [`Study::document`],
//! the `privacy` crate reads the requirement and the `protocols` crate how protocols run: security
//! level, roles, `[network]` and what else stands in `[algorithm]`. Every key is known and every error names file
//! and line.

mod algorithm;
mod attributes;
mod audit;
mod described;
mod fragments;
mod gate;
mod identity;
mod mistakes;
mod query;
mod release_files;
mod split;
mod virtual_database;

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::attribute::{Recode, Role, Schema};
use crate::csv_text::CsvText;
use crate::document::{Document, DocumentError, Section};
use crate::taxonomy::{Taxonomy, TaxonomyError};

pub use algorithm::Algorithm;
use algorithm::Written;
pub use audit::Audit;
pub use described::{
    Described, DescribedColumn, DescribedError, DescribedRange, DescribedStep, Kind,
};
pub(crate) use fragments::fragment_files;
pub use fragments::{GROUP, QUASI_FILE};
pub use gate::{Gate, Share};
pub use identity::{Case, Identity, IdentityError, Spaces, Zeros};
pub use mistakes::Mistakes;
pub use query::{AnswerKind, Query};
pub(crate) use release_files::safe_name;
pub use release_files::{
    CSV_FILE, PACKAGE_FILE, PARQUET_FILE, TAXONOMIES, TaxonomyFiles, taxonomy_files,
};
pub use split::{Split, SplitError};
pub use virtual_database::{CLASSES_FILE, RECORDS, ReleaseKind, ReleaseRows};

/// A study, read and checked.
#[derive(Debug, Clone)]
pub struct Study {
    /// The study's name.
    pub name: String,
    /// The hash of the study that this one is a new version of, in hexadecimal digits.
    pub parent: Option<String>,
    /// Whether sites hold different people or the same people.
    pub partition: Partition,
    /// Whether a run publishes a release, or sites keep a virtual database.
    pub release: ReleaseKind,
    /// What a row of a release stands for.
    pub rows: ReleaseRows,
    /// What sites keep for audits, and who may look at it.
    pub audit: Option<Audit>,
    /// Which questions sites may ask each other about the table that they hold together; none where this is
    /// not set.
    pub query: Option<Query>,
    /// Which attacks are tried on a release before any site signs it, and how much may fall to each; none
    /// where this is not set.
    pub gate: Option<Gate>,
    /// How text stands in the CSV files of the study's releases.
    pub csv: CsvText,
    /// The institutions, in declared order; may be empty for a study of one party.
    pub sites: Vec<Site>,
    /// The columns.
    pub schema: Arc<Schema>,
    /// Which site holds which column, where sites hold the same people and the study says so.
    pub split: Option<Split>,
    /// How sites that hold the same people tell who is who.
    pub identity: Identity,
    /// How classes are found.
    pub algorithm: Algorithm,
    /// How a class is written where an attribute does not name a recoding of its own.
    pub recode: Recode,
    fragments: bool,
    document: Document,
}

/// How the table is spread over the sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Partition {
    /// Different people, same columns.
    Horizontal,
    /// Same people, different columns.
    Vertical,
}

impl Partition {
    /// Both partitions, by their names in studies.
    pub const NAMES: [(&'static str, Self); 2] = [
        (Self::Horizontal.name(), Self::Horizontal),
        (Self::Vertical.name(), Self::Vertical),
    ];

    /// The name in a study.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Horizontal => "horizontal",
            Self::Vertical => "vertical",
        }
    }
}

/// An institution that takes part in a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The site's name in the study.
    pub name: String,
    /// The address where the site's node listens.
    pub address: Option<String>,
    /// The site's public key, `ed25519:…`.
    pub key: Option<String>,
}

/// Why a study was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// The file itself.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// A taxonomy that the study names cannot be read.
    #[error(transparent)]
    Taxonomy(#[from] TaxonomyError),
    /// Several things are wrong.
    #[error(transparent)]
    Several(Mistakes),
}

/// Opens a taxonomy by the name of its file in the study.
pub type Open<'a> = dyn Fn(&str) -> Result<Taxonomy, TaxonomyError> + 'a;

impl Study {
    /// Reads a study and the taxonomies it names.
    pub fn open(path: &Path) -> Result<Self, StudyError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::read(Document::open(path)?, folder)
    }

    /// Reads a study from its parsed text; file names in it are relative to `folder`.
    pub fn read(document: Document, folder: &Path) -> Result<Self, StudyError> {
        Self::read_with(document, &|name| Taxonomy::open(&folder.join(name), name))
    }

    /// Reads a study from its parsed text, and each taxonomy through `open`, by the file name that the
    /// study gives.
    pub fn read_with(document: Document, open: &Open<'_>) -> Result<Self, StudyError> {
        let root = document.root();
        let head = root.section("study")?.ok_or_else(|| {
            root.wrong_section(
                "there is no [study] table\nhint: begin with [study], name = \"…\", partition = \"horizontal\"",
            )
        })?;
        let mut mistakes = Mistakes::default();
        let schema = mistakes.note(attributes::schema(&root, open));
        let terms = mistakes.note(Terms::read(&head));
        let of_terms = terms.as_ref().map(|terms| {
            let partition = terms.partition;
            let sites = mistakes.note(sites(&root, partition));
            let written = mistakes.note(algorithm::read(&root, partition));
            let query = mistakes.note(query::read(&root, partition));
            let gate = mistakes.note(gate::read(&root, (partition, terms.release)));
            (sites, written, query, gate)
        });
        // The requirement's keys belong to the privacy crate; other keys are read where terms and columns
        // can be.
        for key in [
            "require",
            "site",
            "algorithm",
            "network",
            "query",
            "gate",
            "identity",
        ] {
            root.has(key);
        }
        mistakes.note(root.finish());
        mistakes.end()?;
        let (
            Some(schema),
            Some(terms),
            Some((Some(sited), Some(written), Some(query), Some(gate))),
        ) = (schema, terms, of_terms)
        else {
            // What could not be read is a mistake, so this is not reached.
            return Err(root.wrong_section("the study cannot be read").into());
        };

        let schema = Arc::new(schema);
        let (sites, columns) = sited;
        let identity = Identity::read(&root, &schema)?;
        let split = split::read(&root, &schema, &columns)?;
        let Written {
            algorithm,
            recode,
            fragments,
        } = written;
        let Terms {
            name,
            partition,
            parent,
            audit,
            csv,
            release,
            rows,
        } = terms;
        if schema.with_role(Role::Quasi).is_empty() {
            let message = "no attribute has role = \"quasi\"\nhint: quasi-identifiers are what others may know about a person, such as age or zip";
            return Err(root.wrong_section(message).into());
        }
        if partition == Partition::Vertical && identity.columns.is_empty() {
            let message = IdentityError::NoColumns.to_string();
            return Err(root.wrong_section(message).into());
        }
        if fragments {
            fragments::refuse(&root, &schema, algorithm)?;
        }
        if release == ReleaseKind::Virtual {
            virtual_database::refuse(&root, &head, &schema, partition)?;
        }
        if rows == ReleaseRows::Counted {
            let what = (partition, release, algorithm);
            virtual_database::refuse_counted(&root, &head, &schema, what, fragments)?;
        }
        Ok(Self {
            name,
            parent,
            partition,
            release,
            rows,
            audit,
            query,
            gate,
            csv,
            sites,
            schema,
            split,
            identity,
            algorithm,
            recode,
            fragments,
            document,
        })
    }

    /// Whether releases of the study are fragmented: several tables that only a group number joins.
    pub fn is_fragmented(&self) -> bool {
        self.fragments
    }

    /// Whether releases are fragmented because the study says so, and not because its algorithm makes nothing
    /// else.
    pub fn asks_for_fragments(&self) -> bool {
        self.fragments && self.algorithm != Algorithm::D2pt
    }

    /// Whether a run publishes nothing, and sites keep a virtual database.
    pub fn is_virtual(&self) -> bool {
        self.release == ReleaseKind::Virtual
    }

    /// Whether a row of a release stands for all records that are written alike.
    pub fn is_counted(&self) -> bool {
        self.rows == ReleaseRows::Counted
    }

    /// The columns of a site's own table.
    pub fn schema_at(&self, site: usize) -> Arc<Schema> {
        match &self.split {
            Some(split) => Arc::new(split.schema_of(&self.schema, site)),
            None => Arc::clone(&self.schema),
        }
    }

    /// The file, for the parts that other crates read.
    pub fn document(&self) -> &Document {
        &self.document
    }
}

/// What `[study]` says of the study as a whole.
struct Terms {
    name: String,
    partition: Partition,
    parent: Option<String>,
    audit: Option<Audit>,
    csv: CsvText,
    release: ReleaseKind,
    rows: ReleaseRows,
}

impl Terms {
    fn read(head: &Section<'_>) -> Result<Self, DocumentError> {
        let name = head.required_name()?;
        let partition = head
            .word("partition", &Partition::NAMES)?
            .ok_or_else(|| head.missing("partition"))?;
        // How protocols run belongs to the protocols crate.
        head.has("security");
        let parent = parent(head)?;
        head.has("roles");
        let audit = audit::read(head)?;
        let words = [CsvText::Guarded, CsvText::Verbatim].map(|csv| (csv.name(), csv));
        let csv = head.word("csv", &words)?.unwrap_or_default();
        let release = head
            .word("release", &ReleaseKind::NAMES)?
            .unwrap_or_default();
        let rows = head.word("rows", &ReleaseRows::NAMES)?.unwrap_or_default();
        head.finish()?;
        Ok(Self {
            name,
            partition,
            parent,
            audit,
            csv,
            release,
            rows,
        })
    }
}

/// The hash of the study that this study is a new version of.
fn parent(head: &Section<'_>) -> Result<Option<String>, DocumentError> {
    let parent = head.string("parent")?;
    let is_hash =
        |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match parent {
        Some(text) if !is_hash(&text) => {
            let message = "`study.parent` must be the 64 digits of a study's hash\nhint: hedgerow study show prints it for the study that this one is a new version of";
            Err(head.wrong("parent", message))
        }
        other => Ok(other.map(|text| text.to_ascii_lowercase())),
    }
}

/// For each site, the columns that the study lists for it.
type Columns = Vec<Option<Vec<String>>>;

/// The sites, and the columns that the study lists for each.
fn sites(root: &Section<'_>, partition: Partition) -> Result<(Vec<Site>, Columns), DocumentError> {
    let mut sites: Vec<Site> = Vec::new();
    let mut columns = Vec::new();
    for section in root.sections("site")? {
        let name = section.required_name()?;
        if sites.iter().any(|site| site.name == name) {
            return Err(section.wrong("name", format!("two sites are named `{name}`")));
        }
        let address = section.string("address")?;
        if let Some(address) = &address {
            let port = address
                .rsplit_once(':')
                .map(|(_, port)| port.parse::<u16>());
            if !matches!(port, Some(Ok(_))) {
                let message = format!(
                    "`site.address` is `{address}`, expected host:port, e.g. 127.0.0.1:7401"
                );
                return Err(section.wrong("address", message));
            }
        }
        let key = section.string("key")?;
        if let Some(key) = &key
            && !key.starts_with("ed25519:")
        {
            let message = "`site.key` must begin with `ed25519:`";
            return Err(section.wrong("key", message));
        }
        if partition == Partition::Horizontal && section.has("columns") {
            let message = "`site.columns` is for vertical studies; in a horizontal one every site has all columns\nhint: leave it out, or write partition = \"vertical\"";
            return Err(section.wrong("columns", message));
        }
        columns.push(section.strings("columns")?);
        section.finish()?;
        sites.push(Site { name, address, key });
    }
    Ok((sites, columns))
}

#[cfg(test)]
mod tests;
