//! A study as an agreement: what exactly is signed, by whom, and whether it still holds.
//!
//! The hash of a study covers every byte of its file and of every file it names, so that nobody
//! has to argue about which bytes matter. Signatures lie beside it, in a file of lines
//!
//! ```text
//! STUDY-HASH PUBLIC-KEY SIGNATURE
//! ```
//!
//! which sites may send each other in any way and put together with `cat`: order and repetition mean
//! nothing, and a signature under another hash is void, not an error.
//!
//! # Discloses
//! A signature tells who agreed to which hash.

use std::io::{Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use hedgerow_data::document::{Document, DocumentError};
use hedgerow_data::files::{FileError, OutputFile};
use hedgerow_data::study::StudyError;
use hedgerow_data::taxonomy::TaxonomyError;
use hedgerow_data::{Study, Taxonomy};
use hedgerow_privacy::{Requirement, RequirementError};

use crate::identity::{IdentityError, PublicKey, Purpose, Secret, from_hex, hex};

/// The longest file that a study may name: a million leaves with long names.
const LONGEST_FILE: u64 = 1 << 28;
/// The longest file of signatures: a few for each of 1,000 sites.
const LONGEST_SIGNATURES: u64 = 1 << 22;

/// Why a study is no agreement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgreementError {
    /// The study's own text.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The study's file.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The study's requirement cannot be read.
    #[error(transparent)]
    Requirement(#[from] RequirementError),
    /// A file that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A public key in the study cannot be read.
    #[error("{file}: site `{site}`: {source}")]
    Key {
        /// The study.
        file: String,
        /// The site.
        site: String,
        /// What is wrong with the key.
        source: IdentityError,
    },
    /// A site without a key.
    #[error(
        "{file}: site `{site}` has no key\nhint: hedgerow keygen prints the line that belongs into its [[site]]"
    )]
    NoKey {
        /// The study.
        file: String,
        /// The site.
        site: String,
    },
    /// Two sites with one key.
    #[error(
        "{file}: sites `{first}` and `{second}` have the same key\nhint: every site makes its own"
    )]
    SameKey {
        /// The study.
        file: String,
        /// A site.
        first: String,
        /// Another site.
        second: String,
    },
    /// No sites at all.
    #[error(
        "{file}: the study names no sites\nhint: add a [[site]] with name, address and key for each"
    )]
    NoSites {
        /// The study.
        file: String,
    },
    /// A file name that leads out of the study's folder.
    #[error("{file}: names `{name}`, which {why}\nhint: put the file beside the study")]
    Outside {
        /// The study.
        file: String,
        /// The name.
        name: String,
        /// The way in which the file's name leaves the folder.
        why: &'static str,
    },
    /// A file that is too long.
    #[error("{file}: is {length} bytes long, expected at most {limit}")]
    TooLong {
        /// The file.
        file: String,
        /// The file's length.
        length: u64,
        /// The greatest length allowed.
        limit: u64,
    },
    /// The key that should sign is of no site.
    #[error(
        "{file}: no site has the key {key}\nhint: add it to your [[site]] before anyone signs: it changes what is signed"
    )]
    Stranger {
        /// The study.
        file: String,
        /// The key.
        key: PublicKey,
    },
    /// A line of the signature file that is no signature.
    #[error(
        "{file}:{line}: is no signature\nhint: expected the study's hash, a site's key and 128 hexadecimal digits"
    )]
    NoSignature {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
    },
    /// Not every site agrees.
    #[error("{file}: not signed by {}\nhint: each signs with hedgerow study sign; see hedgerow study show", sites.join(", "))]
    Unsigned {
        /// The study.
        file: String,
        /// The sites, with the standing of each site's signature.
        sites: Vec<String>,
    },
}

/// The hash of everything that a study says.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StudyHash(pub [u8; 32]);

impl std::fmt::Display for StudyHash {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&hex(&self.0))
    }
}

impl std::fmt::Debug for StudyHash {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, formatter)
    }
}

/// The standing of one site's signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The site signed this very study.
    Signed,
    /// The site signed nothing.
    Missing,
    /// The site signed, but the study has changed since.
    Void,
    /// A signature in the site's name is not by the site's key.
    Forged,
}

impl Standing {
    /// The standing in words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::Missing => "not signed",
            Self::Void => "void: the study has changed since",
            Self::Forged => "forged: not by this site's key",
        }
    }
}

/// A study with its requirement and hash.
#[derive(Debug)]
pub struct Agreement {
    /// The study.
    pub study: Study,
    /// What the study requires.
    pub requirement: Requirement,
    /// The hash that sites sign.
    pub hash: StudyHash,
    path: PathBuf,
}

impl Agreement {
    /// Reads a study whose files all lie inside its folder.
    pub fn open(path: &Path) -> Result<Self, AgreementError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let document = Document::open(path)?;
        let named = named_files(&document, folder)?;
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow study v1");
        update(&mut hasher, document.text().as_bytes());
        // Each file is read once, so that the study that runs is the study that was hashed, whatever
        // happens to the files meanwhile.
        let mut files = Vec::with_capacity(named.len());
        for (name, file) in named {
            let bytes = read(&file, LONGEST_FILE)?;
            update(&mut hasher, name.as_bytes());
            update(&mut hasher, &bytes);
            files.push((name, bytes));
        }
        let study = Study::read_with(document, &|name| {
            let found = files.iter().find(|(known, _)| known == name);
            let (_, bytes) = found.ok_or_else(|| TaxonomyError::NoFile {
                file: name.to_owned(),
                reason: String::from("it is not among the files that were hashed"),
            })?;
            Taxonomy::from_bytes(bytes, name)
        })?;
        let requirement = Requirement::of_study(&study)?;
        Ok(Self {
            study,
            requirement,
            hash: StudyHash(*hasher.finalize().as_bytes()),
            path: path.to_owned(),
        })
    }

    /// The study that this one is a new version of.
    pub fn parent(&self) -> Option<StudyHash> {
        // The study was read, so that these are 64 hexadecimal digits.
        self.study
            .parent
            .as_deref()
            .and_then(from_hex)
            .map(StudyHash)
    }

    /// The study's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The keys of all sites, in the study's order. Every site must have one of its own.
    pub fn keys(&self) -> Result<Vec<PublicKey>, AgreementError> {
        let file = || self.path.display().to_string();
        let mut keys: Vec<PublicKey> = Vec::new();
        for site in &self.study.sites {
            let text = site.key.as_ref().ok_or_else(|| AgreementError::NoKey {
                file: file(),
                site: site.name.clone(),
            })?;
            let key = text.parse().map_err(|source| AgreementError::Key {
                file: file(),
                site: site.name.clone(),
                source,
            })?;
            if let Some(place) = keys.iter().position(|other| *other == key) {
                return Err(AgreementError::SameKey {
                    file: file(),
                    first: self.study.sites[place].name.clone(),
                    second: site.name.clone(),
                });
            }
            keys.push(key);
        }
        if keys.is_empty() {
            return Err(AgreementError::NoSites { file: file() });
        }
        Ok(keys)
    }

    /// Signs the study for the site that has this key; returns its place in the study.
    pub fn sign(&self, secret: &Secret) -> Result<usize, AgreementError> {
        let key = secret.public();
        let place = self.keys()?.iter().position(|other| *other == key);
        let place = place.ok_or_else(|| AgreementError::Stranger {
            file: self.path.display().to_string(),
            key,
        })?;
        let mut lines = self.signatures()?;
        // Signatures of this site under earlier texts of the study are of no use to anyone.
        lines.retain(|line| line.key != key);
        lines.push(Line {
            hash: self.hash,
            key,
            signature: secret.sign(Purpose::Study, &self.hash.0),
        });
        let path = self.signature_path();
        let mut file = OutputFile::create(&path)?;
        let written = lines.iter().try_for_each(|line| {
            let Line {
                hash,
                key,
                signature,
            } = line;
            writeln!(file, "{hash} {key} {}", hex(signature))
        });
        written.map_err(|error| FileError::Unwritable {
            file: path.display().to_string(),
            reason: error.to_string(),
        })?;
        file.finish()?;
        Ok(place)
    }

    /// The standing of each site's signature, in the study's order.
    pub fn standings(&self) -> Result<Vec<Standing>, AgreementError> {
        let keys = self.keys()?;
        let lines = self.signatures()?;
        let standing = |key: &PublicKey| {
            let own = || lines.iter().filter(|line| line.key == *key);
            let valid = |line: &Line| key.verifies(Purpose::Study, &line.hash.0, &line.signature);
            if own().any(|line| line.hash == self.hash && valid(line)) {
                Standing::Signed
            } else if own().any(|line| !valid(line)) {
                Standing::Forged
            } else if own().next().is_some() {
                Standing::Void
            } else {
                Standing::Missing
            }
        };
        Ok(keys.iter().map(standing).collect())
    }

    /// Refuses a study that some site has not signed in its present form.
    pub fn require_signed(&self) -> Result<(), AgreementError> {
        let standings = self.standings()?;
        let sites: Vec<String> = self
            .study
            .sites
            .iter()
            .zip(&standings)
            .filter(|(_, standing)| **standing != Standing::Signed)
            .map(|(site, standing)| format!("`{}` ({})", site.name, standing.text()))
            .collect();
        if sites.is_empty() {
            return Ok(());
        }
        Err(AgreementError::Unsigned {
            file: self.path.display().to_string(),
            sites,
        })
    }

    /// The file beside the study that holds its signatures.
    pub fn signature_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".sig");
        PathBuf::from(name)
    }

    fn signatures(&self) -> Result<Vec<Line>, AgreementError> {
        let path = self.signature_path();
        if !path.exists() {
            return Ok(Vec::new());
        }
        let bytes = read(&path, LONGEST_SIGNATURES)?;
        let no_signature = |line: usize| AgreementError::NoSignature {
            file: path.display().to_string(),
            line,
        };
        let text = std::str::from_utf8(&bytes).map_err(|_| no_signature(1))?;
        let lines = text.lines().enumerate();
        lines
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(place, line)| Line::read(line).ok_or_else(|| no_signature(place + 1)))
            .collect()
    }
}

/// One line of the signature file.
struct Line {
    hash: StudyHash,
    key: PublicKey,
    signature: [u8; 64],
}

impl Line {
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (hash, key, signature) = (words.next()?, words.next()?, words.next()?);
        if words.next().is_some() {
            return None;
        }
        Some(Self {
            hash: StudyHash(from_hex(hash)?),
            key: key.parse().ok()?,
            signature: from_hex(signature)?,
        })
    }
}

/// The files that a study names, in order, each inside its folder.
fn named_files(
    document: &Document,
    folder: &Path,
) -> Result<Vec<(String, PathBuf)>, AgreementError> {
    let mut files = Vec::new();
    for attribute in document.root().sections("attribute")? {
        let Some(name) = attribute.string("taxonomy")? else {
            continue;
        };
        let outside = |why| AgreementError::Outside {
            file: document.file().display().to_string(),
            name: name.clone(),
            why,
        };
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !Path::new(&name).components().all(plain) || name.contains('\\') {
            return Err(outside("does not lie in the study's folder"));
        }
        let file = folder.join(&name);
        let real = |path: &Path| {
            path.canonicalize().map_err(|error| FileError::Unreadable {
                file: path.display().to_string(),
                reason: error.to_string(),
            })
        };
        let home = if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        };
        if !real(&file)?.starts_with(real(home)?) {
            return Err(outside("is a link out of the study's folder"));
        }
        files.push((name, file));
    }
    Ok(files)
}

fn update(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher
        .update(&(bytes.len() as u64).to_le_bytes())
        .update(bytes);
}

/// A whole file, refused if longer than `limit`.
fn read(path: &Path, limit: u64) -> Result<Vec<u8>, AgreementError> {
    let unreadable = |error: std::io::Error| FileError::Unreadable {
        file: path.display().to_string(),
        reason: error.to_string(),
    };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    // A pipe or a file that grows has no length to ask for.
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    let length = bytes.len() as u64;
    if length > limit {
        return Err(AgreementError::TooLong {
            file: path.display().to_string(),
            length,
            limit,
        });
    }
    Ok(bytes)
}
