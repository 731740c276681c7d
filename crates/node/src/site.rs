//! `site.toml`: a site's own side of a study, which nobody else sees.
//!
//! ```toml
//! site = "north"                  # its name in the study
//! study = "study.toml"
//! key = "north.key"
//! data = "north-data"             # the journal and releases lie here
//! memory = "runs.memory"          # what the site remembers of its runs; beside the key if not set
//! listen = "0.0.0.0:7401"         # the study's address where it is not set
//! patience = 600                  # seconds that a peer may be gone
//!
//! [source]
//! file = "patients.csv"           # or [source.postgres], see `source`
//!
//! [[peer]]                        # where the study's address is not the way from here
//! name = "south"
//! address = "10.0.0.7:7402"
//!
//! [accept]                        # closed by default: see `accept`
//! minimum_k = 10
//! models = ["k", "l", "t"]
//! minimum_l = 3                   # or { at_least = 3, kind = "entropy" }; each model has its bound
//! maximum_t = 0.2
//! algorithms = ["mondrian"]
//! security = ["hardened"]
//! disclosures = ["class sizes"]
//! columns = ["age", "zip", "disease"]
//! minimum_m = 1                   # the default; for horizontal studies of three sites or more
//! maximum_share = 0.5             # the most that one site may bring of all records; any if not set
//! maximum_records = 1_000_000     # the most that all sites may bring together; ten million if not set
//! runs = 1                        # the default: how many runs the rows may be in
//! rerun = "same rows"             # the default; or "ask": the officer decides by hedgerow run approve; or "gate"
//!
//! [accept.gate]                   # the study's [gate] must let no more fall
//! certain = 0.01
//!
//! [accept.query]                  # closed by default: which questions this site answers
//! from = ["north", "south"]       # the sites that may ask, this one among them
//! answers = ["totals"]            # or "rows", or both
//! columns = ["age", "disease"]    # what questions may be about
//!
//! [metrics]                       # health and numbers for this machine, see `health`
//! listen = "127.0.0.1:9464"
//!
//! [sql]                           # how hedgerow sql serve answers analysts, see `sql`
//! listen = "0.0.0.0:5433"
//! certificate = "sql.crt"
//! key = "sql.pem"
//!
//! [console]                       # pages for the steward and the officer, see `console`
//! listen = "127.0.0.1:7480"
//! ```
//!
//! File names are relative to the file.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hedgerow_data::document::{Document, DocumentError, Section};

use crate::accept::Accept;
use crate::console::ConsoleSettings;
use crate::health;
use crate::identity::readable_by_others;
use crate::memory;
use crate::source::Source;
use crate::sql::SqlSettings;

/// How long a peer may be gone where the file does not say.
const PATIENCE: Duration = Duration::from_secs(600);

/// A site's own settings.
#[derive(Debug, Clone)]
pub struct SiteFile {
    /// The hash of the file's text: whether a process goes by the file as it is now.
    pub print: String,
    /// The site's name in the study.
    pub name: String,
    /// The study.
    pub study: PathBuf,
    /// The secret key.
    pub key: PathBuf,
    /// Where the journal and the releases lie.
    pub data: PathBuf,
    /// Where the site remembers its runs, across all studies: see `memory`.
    pub memory: PathBuf,
    /// Where to listen, if not where the study says.
    pub listen: Option<String>,
    /// How long a peer may be gone.
    pub patience: Duration,
    /// Where the rows are.
    pub source: Source,
    /// Ways to peers, by name, that are not the study's.
    pub peers: Vec<(String, String)>,
    /// The rules that say which studies this site takes part in.
    pub accept: Accept,
    /// Where the node's health and numbers are served, if they are: an address of this machine alone.
    pub metrics: Option<SocketAddr>,
    /// How the site serves SQL, if it does.
    pub sql: Option<SqlSettings>,
    /// How the site's node serves pages, if it does.
    pub console: Option<ConsoleSettings>,
    /// Warnings for the site's owner.
    pub warnings: Vec<String>,
}

impl SiteFile {
    /// Reads a site's file.
    pub fn open(path: &Path) -> Result<Self, DocumentError> {
        let document = Document::open(path)?;
        let root = document.root();
        let folder = path.parent().unwrap_or(Path::new(""));
        if root.section_if_table("study")?.is_some() {
            return Err(root.wrong(
                "study",
                "this is a study, and a site's file is expected\nhint: hedgerow site new --study drafts a site's file for a study",
            ));
        }
        let missing =
            |key: &str, hint: &str| root.wrong_section(format!("`{key}` is missing\nhint: {hint}"));
        let file = |key, hint| -> Result<PathBuf, DocumentError> {
            let name = root.string(key)?.ok_or_else(|| missing(key, hint))?;
            if name.is_empty() {
                return Err(root.wrong(key, format!("`{key}` is empty, expected a file name")));
            }
            Ok(folder.join(name))
        };
        let study = file("study", "study = \"study.toml\" says which study")?;
        let key = file(
            "key",
            "key = \"north.key\" says where this site's secret key is; hedgerow keygen makes it",
        )?;
        let data = file(
            "data",
            "data = \"data\" says which folder the journal and the releases go to",
        )?;
        let memory = match root.string("memory")? {
            None => key.with_file_name(memory::FILE),
            Some(name) if name.is_empty() => {
                return Err(root.wrong("memory", "`memory` is empty, expected a file name"));
            }
            Some(name) => folder.join(name),
        };
        let name = root.string("site")?.ok_or_else(|| {
            missing(
                "site",
                "site = \"north\" says which site of the study this is",
            )
        })?;
        let listen = root.string("listen")?;
        if let Some(address) = &listen {
            check_address(&root, "listen", address)?;
        }
        let patience = match root.integer("patience")? {
            None => PATIENCE,
            Some(seconds) => {
                let seconds = u64::try_from(seconds).ok().filter(|seconds| *seconds > 0);
                Duration::from_secs(seconds.ok_or_else(|| {
                    root.wrong("patience", "`patience` is in seconds, expected 1 or more")
                })?)
            }
        };
        let source = root.section("source")?.ok_or_else(|| {
            root.wrong_section("there is no [source]\nhint: say where the rows are: [source] file = \"patients.csv\", or [source.postgres]")
        })?;
        let source = Source::read(&source, folder)?;
        let mut peers: Vec<(String, String)> = Vec::new();
        for peer in root.sections("peer")? {
            let name = peer.required_name()?;
            let address = peer.required_string("address")?;
            check_address(&peer, "address", &address)?;
            peer.finish()?;
            if peers.iter().any(|(other, _)| *other == name) {
                return Err(peer.wrong("name", format!("two peers are named `{name}`")));
            }
            peers.push((name, address));
        }
        let accept = match root.section("accept")? {
            Some(section) => Accept::read(&section)?,
            None => Accept::default(),
        };
        let metrics = match root.section("metrics")? {
            Some(section) => Some(health::read(&section)?),
            None => None,
        };
        let sql = match root.section("sql")? {
            Some(section) => Some(SqlSettings::read(&section, folder)?),
            None => None,
        };
        let console = match root.section("console")? {
            Some(section) => Some(ConsoleSettings::read(&section, folder)?),
            None => None,
        };
        root.finish()?;
        let open_mode = std::fs::metadata(path)
            .ok()
            .and_then(|found| readable_by_others(&found));
        let warnings = open_mode.map(|mode| {
            format!(
                "{}: others than its owner may read this file (mode {mode:o})\nhint: chmod 600 {0}",
                path.display()
            )
        });
        Ok(Self {
            print: blake3::hash(document.text().as_bytes())
                .to_hex()
                .to_string(),
            name,
            study,
            key,
            data,
            memory,
            listen,
            patience,
            source,
            peers,
            accept,
            metrics,
            sql,
            console,
            warnings: warnings.into_iter().collect(),
        })
    }
}

pub(crate) fn check_address(
    section: &Section<'_>,
    key: &'static str,
    address: &str,
) -> Result<(), DocumentError> {
    let port = address
        .rsplit_once(':')
        .map(|(_, port)| port.parse::<u16>());
    if matches!(port, Some(Ok(_))) {
        return Ok(());
    }
    let message = format!(
        "`{}` is `{address}`, expected host:port, e.g. 127.0.0.1:7401",
        section.path(key)
    );
    Err(section.wrong(key, message))
}
