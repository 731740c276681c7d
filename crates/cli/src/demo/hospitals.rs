//! The invented hospitals of a demo, or three institutions that know the same patients: rows, keys, a
//! signed study, and each one's own file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hedgerow::Study;
use hedgerow::data::files::{FileError, OutputFile};
use hedgerow::data::synthetic::{Kind, Plan, TableFormat, generate};
use hedgerow::node::identity::Secret;

use crate::error::{CliError, DemoError};

/// The number of hospitals in the demo.
const HOSPITALS: usize = 4;

/// A clinic, a laboratory and an insurer.
const INSTITUTIONS: usize = 3;

/// How the institutions find groups.
const CUT_TOGETHER: &str = "[algorithm]
name = \"mondrian\"                                 # groups are cut together
recode = \"range\"
fragments = true                                  # nothing joins the tables but the number of a group
";

/// How the names of temporary folders begin; the process's number follows.
const PREFIX: &str = "hedgerow-demo-";

/// Removes the folders of demos that were killed before they could remove them.
fn sweep() {
    let processes = Path::new("/proc");
    // Where processes cannot be looked up, nobody is known to be gone.
    if !processes.join("self").exists() {
        return;
    }
    let folders = std::fs::read_dir(std::env::temp_dir());
    for folder in folders.into_iter().flatten().flatten() {
        let name = folder.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok());
        let is_gone = |process: u32| !processes.join(process.to_string()).exists();
        if process.is_some_and(is_gone) {
            // A folder that cannot be removed, because it belongs to another user, stays.
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

/// Where a demo happens.
pub(super) struct Folder {
    path: PathBuf,
    /// Removed when dropped.
    temporary: Option<tempfile::TempDir>,
}

impl Folder {
    pub(super) fn new(keep: Option<&Path>) -> Result<Self, CliError> {
        let Some(keep) = keep else {
            sweep();
            let prefix = format!("{PREFIX}{}-", std::process::id());
            let made = tempfile::Builder::new().prefix(&prefix).tempdir();
            let made = made.map_err(|error| unwritable(&std::env::temp_dir(), &error))?;
            return Ok(Self {
                path: made.path().to_owned(),
                temporary: Some(made),
            });
        };
        std::fs::create_dir_all(keep).map_err(|error| unwritable(keep, &error))?;
        let mut entries = std::fs::read_dir(keep).map_err(|error| unwritable(keep, &error))?;
        if entries.next().is_some() {
            return Err(DemoError::NotEmpty(keep.to_owned()).into());
        }
        let path = std::path::absolute(keep).map_err(|error| unwritable(keep, &error))?;
        Ok(Self {
            path,
            temporary: None,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) const fn is_kept(&self) -> bool {
        self.temporary.is_none()
    }
}

/// A hospital of the demo, or another institution.
pub(super) struct Hospital {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    /// The number of people whom the hospital knows.
    pub(super) people: u64,
    /// The `[accept]` that its privacy officer wrote.
    pub(super) accept: String,
}

impl Hospital {
    pub(super) fn site_file(&self) -> PathBuf {
        self.folder.join("site.toml")
    }

    pub(super) fn rows(&self) -> PathBuf {
        self.folder.join("patients.csv")
    }

    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    pub(super) fn release(&self) -> PathBuf {
        self.data().join("release-1")
    }

    /// Writes the site's file, with rows from a file or from what `source` says.
    pub(super) fn write_site_file(&self, source: &str) -> Result<(), CliError> {
        let accept = &self.accept;
        let text = format!(
            "# What is {0}'s alone: nobody else sees this file.\nsite = \"{0}\"\nstudy = \"../study/study.toml\"\nkey = \"secret.key\"\ndata = \"data\"\npatience = 60\n\n{source}\n# What is not written here is refused.\n{accept}",
            self.name
        );
        let path = self.site_file();
        write(&path, &text)?;
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&path, private).map_err(|error| unwritable(&path, &error))?;
        Ok(())
    }
}

/// All hospitals of the demo, with their study.
pub(super) struct Town {
    pub(super) hospitals: Vec<Hospital>,
    pub(super) study: Study,
}

impl Town {
    /// Makes everything below a folder.
    pub(super) fn build(folder: &Path, rows: u64, is_vertical: bool) -> Result<Self, CliError> {
        let (kind, sites) = match is_vertical {
            true => (Kind::Institutions, INSTITUTIONS),
            false => (Kind::Hospital, HOSPITALS),
        };
        let plan = Plan {
            kind,
            rows,
            sites,
            seed: 1,
            format: TableFormat::Csv,
            pooled: false,
        };
        let written = generate(&plan, &folder.join("study"), &())?;
        let study = written.study;
        let text = std::fs::read_to_string(&study).map_err(|error| FileError::Unreadable {
            file: study.display().to_string(),
            reason: error.to_string(),
        })?;
        let mut text = text
            .replace(
                "[require]\n",
                match is_vertical {
                    true => "[require]\n",
                    false => "[require]\nsite_diversity = 2                                # from two hospitals at least\nm = 1                                             # and so it stays if one turns on the others\n",
                },
            )
            .replace("recode = \"node\"", "recode = \"range\"\nalpha = 1.0");
        if is_vertical && let Some((before, _)) = text.split_once("[algorithm]\n") {
            text = format!("{before}{CUT_TOGETHER}");
        }
        let (mut hospitals, mut secrets) = (Vec::new(), Vec::new());
        let addresses = free_addresses(sites)?;
        for ((name, table, people), address) in written.tables.iter().zip(addresses) {
            let hospital = Hospital {
                name: name.clone(),
                folder: folder.join(name),
                people: *people,
                accept: String::new(),
            };
            std::fs::create_dir_all(&hospital.folder)
                .map_err(|error| unwritable(&hospital.folder, &error))?;
            std::fs::rename(table, hospital.rows()).map_err(|error| unwritable(table, &error))?;
            let secret = Secret::generate()?;
            secret.write_new(&hospital.folder.join("secret.key"))?;
            let head = format!("[[site]]\nname = \"{name}\"\n");
            let known = format!(
                "{head}address = \"{address}\"\nkey = \"{}\"\n",
                secret.public()
            );
            // Institutions that hold different columns are in the study already.
            match text.contains(&head) {
                true => text = text.replace(&head, &known),
                false => text.push_str(&format!("\n{known}")),
            }
            secrets.push(secret);
            hospitals.push(hospital);
        }
        if !is_vertical {
            text.push_str("\n# Who accepts it may be asked for totals; no row moves.\n[query]\nanswers = [\"totals\"]\n");
        }
        write(&study, &text)?;
        let study = Study::open(&study)?;
        let agreement = study.agreement()?;
        for secret in &secrets {
            agreement.sign(secret)?;
        }
        for (place, hospital) in hospitals.iter_mut().enumerate() {
            hospital.accept = accept(&study, place)?;
            hospital.write_site_file("[source]\nfile = \"patients.csv\"\n")?;
        }
        Ok(Self { hospitals, study })
    }

    /// The requirement in words.
    pub(super) fn requires(&self) -> Result<String, CliError> {
        let requirement = self.study.requirement()?;
        let mut words: Vec<String> = requirement.models.iter().map(ToString::to_string).collect();
        words.extend(requirement.m.map(|m| format!("m = {m}")));
        Ok(words.join(", "))
    }
}

/// Rules that let this study in at a site, and no lesser one.
fn accept(study: &Study, place: usize) -> Result<String, CliError> {
    let own = study.declared().schema_at(place);
    let attributes = own.attributes().iter();
    let columns: Vec<&str> = attributes
        .map(|attribute| attribute.name.as_str())
        .collect();
    let disclosures = study.discloses()?;
    let disclosures: Vec<&str> = disclosures.iter().map(|what| what.name()).collect();
    let models = match study.is_vertical() {
        true => "models = [\"k\", \"l\", \"t\"]\n",
        false => {
            "models = [\"k\", \"l\", \"t\", \"site_diversity\", \"m\"]\nminimum_site_diversity = 2\nminimum_m = 1\n"
        }
    };
    let sites = study.declared().sites.iter();
    let names: Vec<&str> = sites.map(|site| site.name.as_str()).collect();
    let questions = match study.is_vertical() {
        true => String::new(),
        false => format!(
            "\n[accept.query]\nfrom = {names:?}\nanswers = [\"totals\"]\ncolumns = {columns:?}\n"
        ),
    };
    Ok(format!(
        "[accept]\nminimum_k = {}\n{models}minimum_l = 3\nmaximum_t = 0.5\nalgorithms = [{:?}]\nsecurity = [\"hardened\"]\ncolumns = {columns:?}\ndisclosures = {disclosures:?}\n{questions}",
        study.requirement()?.k(),
        study.algorithm()
    ))
}

/// Addresses on loopback that nobody uses at this moment.
pub(super) fn free_addresses(number: usize) -> Result<Vec<std::net::SocketAddr>, CliError> {
    let bind = |_| std::net::TcpListener::bind("127.0.0.1:0");
    // All ports are held at the same time, so that they differ.
    let listeners: std::io::Result<Vec<_>> = (0..number).map(bind).collect();
    let addresses =
        listeners.and_then(|listeners| listeners.iter().map(|one| one.local_addr()).collect());
    Ok(addresses.map_err(DemoError::NoPort)?)
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let mut file = OutputFile::create(path)?;
    file.write_all(text.as_bytes())
        .map_err(|error| unwritable(path, &error))?;
    Ok(file.finish()?)
}

pub(super) fn unwritable(path: &Path, error: &std::io::Error) -> FileError {
    FileError::Unwritable {
        file: path.display().to_string(),
        reason: error.to_string(),
    }
}
