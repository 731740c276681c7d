//! The invented hospitals of a demo, or three institutions that know the same patients: rows, keys, a
//! signed study, and each one's own file.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hedgerow::data::Role;
use hedgerow::data::files::{FileError, OutputFile};
use hedgerow::data::synthetic::{Kind, Plan, TableFormat, generate};
use hedgerow::node::identity::Secret;
use hedgerow::{SiteDraft, Study};

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

/// What the hospitals demand, of each other and alone.
const REQUIRED: &str = "[require]
k = 10                                            # every class has at least ten records
l = { at_least = 3, kind = \"distinct\" }           # and three diagnoses and treatments
m = 0                                             # what hospitals put together is not demanded to be safe

[algorithm]
name = \"clustering\"
recode = \"node\"
";

/// The day of admission, which the hospitals' study has no need of.
const ADMISSION: [&str; 2] = [
    "name = \"admission\"\nrole = \"quasi\"\ntype = \"date\"\nrange = [\"2024-01-01\", \"2025-12-31\"]\n",
    "name = \"admission\"                                # the study has no need of it\nrole = \"identifier\"\ntype = \"text\"\n",
];

/// A hospital of the demo, or another institution.
pub(super) struct Hospital {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    /// The number of people whom the hospital knows.
    pub(super) people: u64,
    /// The study by which it would publish alone; nothing where it knows no quasi-identifier.
    pub(super) alone: Option<PathBuf>,
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
            parts: None,
        };
        let written = generate(&plan, &folder.join("study"), &())?;
        let study = written.study;
        let text = std::fs::read_to_string(&study).map_err(|error| FileError::Unreadable {
            file: study.display().to_string(),
            reason: error.to_string(),
        })?;
        let mut text = match is_vertical {
            true => with_end(&text, "[algorithm]\n", CUT_TOGETHER),
            false => with_end(&text, "[require]\n", REQUIRED).replace(ADMISSION[0], ADMISSION[1]),
        };
        let (mut hospitals, mut secrets) = (Vec::new(), Vec::new());
        let addresses = free_addresses(sites)?;
        for ((name, table, people), address) in written.tables.iter().zip(addresses) {
            let hospital = Hospital {
                name: name.clone(),
                folder: folder.join(name),
                people: *people,
                alone: (!is_vertical).then(|| study.clone()),
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
            // Its officer has read every line and agreed.
            let options = SiteDraft {
                site: Some(hospital.name.clone()),
                ..SiteDraft::default()
            };
            let drafted = study.draft_site(hospital.site_file(), &options)?;
            hospital.accept = drafted.accepted();
            if is_vertical {
                hospital.alone = write_alone(&study, place, (&text, &hospital.folder))?;
            }
            hospital.write_site_file("[source]\nfile = \"patients.csv\"\n")?;
        }
        Ok(Self { hospitals, study })
    }

    /// The requirement in words.
    pub(super) fn requires(&self) -> Result<String, CliError> {
        let requirement = self.study.requirement()?;
        let mut words: Vec<String> = requirement.models.iter().map(ToString::to_string).collect();
        words.extend(requirement.m.filter(|m| *m > 0).map(|m| format!("m = {m}")));
        Ok(words.join(", "))
    }
}

/// Writes the study by which an institution would publish its own columns alone: the attributes that it holds
/// from the text of the joint study, and the same requirement.
fn write_alone(
    study: &Study,
    place: usize,
    (text, folder): (&str, &Path),
) -> Result<Option<PathBuf>, CliError> {
    let own = study.declared().schema_at(place);
    if own.with_role(Role::Quasi).is_empty() {
        return Ok(None);
    }
    let mut alone = format!(
        "# What {} would publish alone.\n\n[study]\nname = \"alone\"\npartition = \"horizontal\"\n",
        study.declared().sites[place].name
    );
    for attribute in own.attributes() {
        let name = format!("name = \"{}\"\n", attribute.name);
        let mut blocks = text.split("\n\n");
        let block = blocks.find(|block| block.contains("[[attribute]]") && block.contains(&name));
        let block = block
            .unwrap_or_default()
            .replace("\"taxonomies/", "\"../study/taxonomies/");
        alone.push_str(&format!("\n{}\n", block.trim_end()));
    }
    let end = text.split_once("[require]\n").map_or("", |(_, end)| end);
    let end = end.split("fragments").next().unwrap_or_default();
    alone.push_str(&format!("\n[require]\n{end}"));
    let file = folder.join("alone.toml");
    write(&file, &alone)?;
    Ok(Some(file))
}

/// A text that ends otherwise from some words on.
fn with_end(text: &str, from: &str, end: &str) -> String {
    let kept = text.split_once(from).map_or(text, |(kept, _)| kept);
    format!("{kept}{end}")
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
