//! The gate: a release is attacked before it goes out. Here its files and the rows beside it are read; the
//! attacks are the crate `gate`'s, and what was found is told in `text.rs`.

pub(crate) mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::files::Others;
use hedgerow_data::{Role, Schema, Study};
use hedgerow_gate::{Attack, Finding, Known, Limits, Rows, Subject, Verdict, attack_all};
use hedgerow_privacy::{Requirement, Scope};
use serde::Serialize;

use crate::error::Error;
use crate::observe::{Observer, SharedObserver, Work};
use crate::release::Release;
use crate::release::manifest::FILE;
use crate::study::opened::Opened;
use crate::table::Table;
use crate::verify::read::Read;
use crate::verify::refused::VerifyRefused;
use crate::verify::{own_word, release_file};

/// What attackers are taken to have beside a release, and what is allowed to fall.
#[derive(Clone)]
pub struct Suspicion {
    /// Rows that are in the release; each table has the rows of one site.
    pub own: Vec<Table>,
    /// Rows of people of the same population who are not in the release.
    pub holdout: Option<Table>,
    /// Earlier releases of the same study's table.
    pub earlier: Vec<PathBuf>,
    /// The column of the release that names each record's site.
    pub provider_column: Option<String>,
    /// Attacks that are left out: whoever leaves them out answers for that.
    pub skip: Vec<Attack>,
    /// Limits other than the defaults.
    pub limits: Vec<(Attack, f64)>,
    /// Who watches.
    pub observer: SharedObserver,
}

impl Default for Suspicion {
    fn default() -> Self {
        Self {
            own: Vec::new(),
            holdout: None,
            earlier: Vec::new(),
            provider_column: None,
            skip: Vec::new(),
            limits: Vec::new(),
            observer: Arc::new(()),
        }
    }
}

/// What attacks found. Its [`Display`](std::fmt::Display) is for people, its JSON keys are a contract.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Gated {
    /// Whether every attack that was not left out was tried, and no more fell than its limit allows.
    pub holds: bool,
    /// Records of the release.
    pub records: u64,
    /// The k that is demanded; 2 where none is.
    pub k: u64,
    /// The attacks, and what came of them.
    pub attacks: Vec<Finding>,
    /// Attacks that were left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Attack>,
    /// The release.
    #[serde(skip)]
    pub release: PathBuf,
    /// Whether rows beside the release were counted.
    #[serde(skip)]
    has_rows: bool,
}

impl Gated {
    /// Whether the findings have counts of rows beside the release, so that they are not to be passed on.
    pub fn has_rows(&self) -> bool {
        self.has_rows
    }

    /// How many attacks ended so.
    pub(crate) fn ended(&self, verdict: Verdict) -> usize {
        let ended = self.attacks.iter().filter(|one| one.verdict == verdict);
        ended.count()
    }
}

impl std::fmt::Display for Gated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text::text(self))
    }
}

/// Tries the known attacks on a release.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("patients.csv");
/// # let rows: String = (0..60).map(|row| format!("{},{}\n", 20 + row, ["flu", "ulcer", "asthma"][row % 3])).collect();
/// # std::fs::write(&path, format!("age,disease\n{rows}"))?;
/// use hedgerow::{Draft, Options, Study, Suspicion, Table, anonymize, gate};
///
/// let study = Study::parse(Study::draft(Draft::Horizontal), ".")?;
/// let outcome = anonymize(&study, &Table::file(&path), &Options::new())?;
/// let suspicion = Suspicion { own: vec![Table::file(path)], ..Suspicion::default() };
/// let gated = gate(&outcome.release, &suspicion)?;
/// // Nobody gave people who are not in the table, or an earlier release: not all could be tried.
/// assert!(!gated.holds);
/// println!("{gated}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gate(release: &Release, suspicion: &Suspicion) -> Result<Gated, Error> {
    let opened = match &release.study {
        Some(study) => Arc::clone(&study.opened),
        None if release.path.join(FILE).exists() => Arc::new(own_word(&release.path)?),
        None => return Err(VerifyRefused::NoStudy.into()),
    };
    let study = &opened.study;
    let observer = &*suspicion.observer;
    let demanded = Demanded::of(&opened)?;
    let read = open(&release.path, study, observer)?;
    let mut subject = demanded.subject(&read);
    if let Some(column) = &suspicion.provider_column {
        subject = subject.with_sites(read.sites(column)?);
    }
    let before: Vec<Read> = suspicion
        .earlier
        .iter()
        .map(|path| open(path, study, observer))
        .collect::<Result<_, _>>()?;
    let known = Known {
        own: rows(&suspicion.own, study, observer)?,
        holdout: rows(suspicion.holdout.as_slice(), study, observer)?,
        earlier: before.iter().map(|read| demanded.subject(read)).collect(),
    };
    let watch = observer.begin(Work::Judging);
    let attacks = attack_all(&subject, &known, &demanded.limits(suspicion));
    drop(watch);
    let (skipped, attacks): (Vec<Finding>, Vec<Finding>) = attacks
        .into_iter()
        .partition(|finding| suspicion.skip.contains(&finding.attack));
    Ok(Gated {
        holds: attacks.iter().all(|finding| finding.verdict.passes()),
        records: subject.records(),
        k: demanded.k,
        attacks,
        skipped: skipped.into_iter().map(|finding| finding.attack).collect(),
        release: release.path.clone(),
        has_rows: known.own.is_some() || known.holdout.is_some(),
    })
}

/// What the study demands, as far as attacks ask.
pub(crate) struct Demanded {
    k: u64,
    m: u64,
    is_joined: bool,
}

impl Demanded {
    fn of(opened: &Opened) -> Result<Self, Error> {
        let study = &opened.study;
        let requirement = match study.document().root().has("require") {
            true => Some(Requirement::of_document(
                study.document(),
                &Scope::of_study(study),
            )?),
            false => None,
        };
        Ok(match requirement {
            Some(requirement) => Self::of_requirement(&requirement, &study.schema),
            None => Self {
                // Where nothing is demanded, nobody is to be alone.
                k: 2,
                m: 0,
                is_joined: false,
            },
        })
    }

    /// What a requirement of these columns demands.
    pub(crate) fn of_requirement(requirement: &Requirement, schema: &Schema) -> Self {
        Self {
            k: requirement.k().max(2),
            m: requirement.m.unwrap_or(0),
            is_joined: requirement.sensitive_of(schema).has_product(),
        }
    }

    fn subject<'a>(&self, read: &'a Read) -> Subject<'a> {
        self.subject_of(&read.release)
    }

    /// A release, as attackers see it.
    pub(crate) fn subject_of<'a>(&self, release: &'a hedgerow_data::Release) -> Subject<'a> {
        Subject::new(release, self.k).with_sensitive_joined(self.is_joined)
    }

    /// The defaults, what the study promises, and what the caller says.
    fn limits(&self, suspicion: &Suspicion) -> Limits {
        let mut limits = Limits::default();
        if self.m >= 2 {
            limits = limits.with(Attack::TwoSites, 0.0);
        }
        let said = suspicion.limits.iter();
        said.fold(limits, |limits, (attack, share)| {
            limits.with(*attack, *share)
        })
    }
}

/// Reads a release of the study.
fn open(path: &Path, study: &Study, observer: &dyn Observer) -> Result<Read, Error> {
    let file = release_file(path, Some(study), None)?;
    Read::open(&file, study, observer)
}

/// The rows of tables: quasi-identifiers and sensitive values, whatever else stands there.
fn rows(tables: &[Table], study: &Study, observer: &dyn Observer) -> Result<Option<Rows>, Error> {
    let attributes = study.schema.attributes().iter();
    let needed = attributes.filter(|one| matches!(one.role, Role::Quasi | Role::Sensitive));
    let schema = Arc::new(Schema::new(needed.cloned().collect()));
    let read = |table: &Table| match study.is_counted() {
        true => table.count(&schema, &Others::PassOverAll, observer),
        false => table.read(&schema, &Others::PassOverAll, observer),
    };
    let tables: Vec<hedgerow_data::Table> =
        tables.iter().map(read).collect::<Result<_, Error>>()?;
    Ok((!tables.is_empty()).then(|| Rows::of(&tables)))
}
