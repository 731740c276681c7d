//! An independent check of a release: every model, with the worst class; and for a folder, whether it is
//! what the sites signed.

pub(crate) mod beside;
pub(crate) mod check;
pub(crate) mod folder;
mod parts;
mod questions;
pub(crate) mod read;
pub(crate) mod refused;
pub(crate) mod text;

pub use check::{Check, Signature, SiteDemand, Tampered};
pub use questions::{QueryKind, Questions};

use std::path::{Path, PathBuf};

use hedgerow_data::files::RECORDS;
use hedgerow_data::study::{CLASSES_FILE, QUASI_FILE};
use hedgerow_data::{Cell, Release as Cells, Role, Study, Table};
use hedgerow_privacy::classes::Classes;
use hedgerow_privacy::reconstruction::Reconstruction;
use hedgerow_privacy::risk::{self, Risk};
use hedgerow_privacy::utility::Utility;
use hedgerow_privacy::verify::{Evidence, Verdict as Found, verify_by as judge};
use hedgerow_privacy::views::ViewsMeasured;
use hedgerow_privacy::{Requirement, Scope};
use serde::Serialize;

use crate::error::Error;
use crate::observe::Work;
use crate::release::Release;
use crate::release::manifest::{FILE, Manifest};
use crate::release::refused::FolderRefused;
use crate::study::opened::Opened;
use crate::table::Table as Rows;
use beside::{original, population, views};
use parts::{check_csv, put_together, roles};
use questions::stated;
use read::{Read, in_view, visible};
use refused::VerifyRefused;

/// Everything that was found in a release. Its [`Display`](std::fmt::Display) is for people, its JSON
/// keys are a contract.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// Every model: what is required, what was achieved, the worst class.
    #[serde(flatten)]
    pub found: Found,
    /// The requirement that was checked, and whose word it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirement: Option<Asked>,
    /// What was lost, where the study is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utility: Option<Utility>,
    /// The risk that people are identified.
    pub risk: Risk,
    /// What every two sensitive attributes of a fragmented release tell together (D2PT section 3.7).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reconstruction: Vec<Reconstruction>,
    /// What this and other views of the same table say together, where others were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub views: Option<ViewsMeasured>,
    /// What the check of the folder's manifest found, where the folder has a manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<Check>,
    /// The sizes of all classes.
    #[serde(skip)]
    pub sizes: Vec<u64>,
    /// The file that was read.
    #[serde(skip)]
    pub file: PathBuf,
    /// Whether the file is what all sites know of a virtual database.
    #[serde(skip)]
    is_virtual: bool,
    /// Which columns have which role, where nobody but the release says so.
    #[serde(skip)]
    roles: Vec<Vec<String>>,
}

/// What was read of a release, for whoever shows what stands in it.
pub(crate) struct Seen {
    /// The release.
    pub(crate) release: Cells,
    /// The release's classes.
    pub(crate) classes: Classes,
    /// The original table, where it was given.
    pub(crate) original: Option<Table>,
}

/// The requirement that a release was held against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Asked {
    /// What is demanded, one phrase for each model.
    pub words: Vec<String>,
    /// Where the requirement comes from.
    pub from: AskedBy,
}

/// Where a requirement comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum AskedBy {
    /// Whoever asks.
    Question,
    /// The study that was given.
    Study,
    /// The manifest of the release: the word of whoever published it.
    Manifest,
}

impl Verdict {
    /// Whether everything required holds and is shown; true if nothing is required.
    pub fn holds(&self) -> bool {
        self.found.holds.unwrap_or(true)
    }

    /// The verdict for people, of the release at the path `name`.
    pub(crate) fn text_of(&self, name: &Path) -> String {
        text::text(name, self)
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&text::text(&self.file, self))
    }
}

/// Checks whether a table that somebody calls anonymous is anonymous; for a release folder with its
/// study, also whether the folder is what all sites signed.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("table.csv");
/// # std::fs::write(&path, "age,disease\n[20-39],flu\n[20-39],ulcer\n")?;
/// use hedgerow::{Questions, Release, verify};
///
/// let questions = Questions {
///     quasi: vec!["age".into()],
///     sensitive: vec!["disease".into()],
///     against: Some("k = 2, l = 2".into()),
///     ..Questions::default()
/// };
/// let verdict = verify(&Release::open(path)?, &questions)?;
/// assert!(verdict.holds());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Bad input; or [`Error::Tampered`] for a folder whose files cannot be understood and are not the files
/// that its manifest speaks of.
pub fn verify(release: &Release, questions: &Questions) -> Result<Verdict, Error> {
    let described = described(release, questions)?;
    let given = release.study.as_ref().map(|study| &*study.opened);
    let opened = given.or(described.as_ref());
    let mut check = opened.and_then(|opened| Check::of(&release.path, opened));
    let study = opened.map(|opened| &opened.study);
    let file = release_file(&release.path, study, check.as_ref());
    let found = file.and_then(|file| look(&release.path, questions, opened, file, &mut check));
    match (found, check) {
        // A file that was tampered with may be unreadable or missing. An error in the study is reported
        // as such, unless the study comes from the manifest.
        (Err(error), Some(check))
            if !check.findings.is_empty()
                && (check.self_described
                    || !matches!(error, Error::Requirement(_) | Error::Document(_))) =>
        {
            Err(Error::Tampered(Box::new(Tampered {
                holds: false,
                manifest: check,
                error: error.to_string(),
                release: release.path.clone(),
            })))
        }
        (found, _) => found,
    }
}

/// Checks a table in memory, such as Arrow record batches, as [`verify`] checks the file of a release: by the
/// study that it is a release of, or by the roles that the questions name.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{Int64Array, RecordBatch, StringArray};
/// use hedgerow::{Questions, Table, verify_table};
///
/// let batch = RecordBatch::try_from_iter([
///     ("zip", Arc::new(Int64Array::from(vec![10, 10])) as arrow_array::ArrayRef),
///     ("disease", Arc::new(StringArray::from(vec!["flu", "ulcer"]))),
/// ])?;
/// let questions = Questions {
///     quasi: vec!["zip".into()],
///     sensitive: vec!["disease".into()],
///     against: Some("k = 2, l = 2".into()),
///     ..Questions::default()
/// };
/// let table = Table::batches("patients", vec![batch]);
/// assert!(verify_table(&table, None, &questions)?.holds());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Bad input, and a study whose releases are more than one table.
pub fn verify_table(
    table: &Rows,
    study: Option<&crate::Study>,
    questions: &Questions,
) -> Result<Verdict, Error> {
    let file = PathBuf::from(table.name());
    let Some(study) = study else {
        return without_study(file, table, table.is_counted(), questions);
    };
    let opened = &*study.opened;
    if opened.study.is_fragmented() || opened.study.is_virtual() {
        return Err(FolderRefused::OneFile { path: file }.into());
    }
    let read = Read::of_table(table, &opened.study, &*questions.observer)?;
    questions.refuse_ignored(&read.text, &opened.study)?;
    let (verdict, _) = with_study((Path::new(""), &file), questions, opened, read, None)?;
    Ok(verdict)
}

/// The study as the release describes it, where the caller gave neither a study nor the roles of
/// columns.
fn described(release: &Release, questions: &Questions) -> Result<Option<Opened>, Error> {
    let is_asked = questions.quasi.is_empty() && questions.sensitive.is_empty();
    if release.study.is_some() || !is_asked || !release.path.join(FILE).exists() {
        return Ok(None);
    }
    own_word(&release.path).map(Some)
}

/// The study as the folder of a release describes it. Where the description is no study because files
/// were changed, the error names these files.
pub(crate) fn own_word(folder: &Path) -> Result<Opened, Error> {
    let (manifest, _) = Manifest::read(folder).map_err(|reason| Error::Manifest {
        folder: folder.to_owned(),
        reason,
    })?;
    Opened::described(folder, &manifest).map_err(|error| {
        let check = Check::of_files(folder, &manifest);
        if check.findings.is_empty() {
            return error;
        }
        Error::Tampered(Box::new(Tampered {
            holds: false,
            manifest: check,
            error: error.to_string(),
            release: folder.to_owned(),
        }))
    })
}

/// Everything about a release of a study, and what was read of it; an error where its files cannot be
/// understood.
pub(crate) fn of_folder(
    folder: &Path,
    opened: &Opened,
    questions: &Questions,
) -> Result<(Verdict, Seen), Error> {
    let mut check = Check::of(folder, opened);
    let file = release_file(folder, Some(&opened.study), check.as_ref())?;
    look_with(folder, questions, opened, file, &mut check)
}

/// Everything about a release whose manifest is not written yet.
pub(crate) fn unsealed(
    folder: &Path,
    opened: &Opened,
    manifest: &Manifest,
) -> Result<(Verdict, Seen), Error> {
    let check = Check::unsealed(folder, opened, manifest);
    let file = release_file(folder, Some(&opened.study), Some(&check))?;
    let questions = Questions::default();
    look_with(folder, &questions, opened, file, &mut Some(check))
}

/// Checks a release. The check of the manifest moves into the verdict; where an error leaves no verdict,
/// it stays in `check`.
fn look(
    folder: &Path,
    questions: &Questions,
    opened: Option<&Opened>,
    file: PathBuf,
    check: &mut Option<Check>,
) -> Result<Verdict, Error> {
    if let Some(opened) = opened {
        let (verdict, _) = look_with(folder, questions, opened, file, check)?;
        return Ok(verdict);
    }
    let rows = Rows::file(&file);
    let verdict = without_study(file, &rows, questions.counted, questions)?;
    Ok(concluded(verdict, questions, None, check))
}

/// Checks a release of a known study, and keeps what was read.
fn look_with(
    folder: &Path,
    questions: &Questions,
    opened: &Opened,
    file: PathBuf,
    check: &mut Option<Check>,
) -> Result<(Verdict, Seen), Error> {
    let study = &opened.study;
    questions.refuse_of_tables(opened)?;
    let read = Read::open(&file, study, &*questions.observer)?;
    questions.refuse_ignored(&read.text, study)?;
    let (verdict, seen) = with_study((folder, &file), questions, opened, read, check.as_mut())?;
    Ok((concluded(verdict, questions, Some(opened), check), seen))
}

/// The verdict with what the check of the manifest found.
fn concluded(
    mut verdict: Verdict,
    questions: &Questions,
    opened: Option<&Opened>,
    check: &mut Option<Check>,
) -> Verdict {
    let Some(mut check) = check.take() else {
        return verdict;
    };
    let is_own = questions.against.is_none() && questions.provider_column.is_none();
    check.numbers(&verdict.found, verdict.utility.as_ref(), is_own);
    check.decide();
    if !check.holds {
        verdict.found.fail();
    }
    if let Some(opened) = opened.filter(|opened| opened.is_described) {
        check.own_exceptions(opened, &mut verdict.found);
    }
    // A folder without a manifest whose files are sound needs no finding about the manifest.
    let is_silent = check.manifest.is_none() && check.findings.is_empty();
    verdict.manifest = (!is_silent).then_some(check);
    verdict
}

/// The file of a release folder that is read first: of `release.parquet` and `release.csv` a file that
/// nobody changed, of fragments the table of quasi-identifiers.
pub(crate) fn release_file(
    path: &Path,
    study: Option<&Study>,
    check: Option<&Check>,
) -> Result<PathBuf, Error> {
    if !path.exists() {
        let path = path.to_owned();
        return Err(FolderRefused::Absent { path }.into());
    }
    let is_fragmented = study.is_some_and(Study::is_fragmented);
    // A folder may be a stranger's: nothing is read there that is no file of its own.
    for file in study.iter().flat_map(|study| study.release_files()) {
        let file = path.join(file);
        let about = file.symlink_metadata();
        if path.is_dir() && about.is_ok_and(|about| !about.is_file()) {
            return Err(FolderRefused::NotRegular { file }.into());
        }
    }
    if !path.is_dir() {
        if is_fragmented {
            let path = path.to_owned();
            return Err(FolderRefused::OneFile { path }.into());
        }
        return Ok(path.to_owned());
    }
    if is_fragmented {
        return Ok(path.join(QUASI_FILE));
    }
    if study.is_some_and(Study::is_virtual) {
        return Ok(path.join(CLASSES_FILE));
    }
    let first = check.map_or("release.parquet", Check::file);
    let names = [first, "release.parquet", "release.csv"];
    let found = names
        .iter()
        .map(|name| path.join(name))
        .find(|file| file.exists());
    found.ok_or_else(|| {
        let hint = match path.join(QUASI_FILE).exists() {
            true => {
                "it holds quasi.csv: give --study with the vertical study that it is a release of"
            }
            false => "name a release folder, or the file itself",
        };
        let path = path.to_owned();
        FolderRefused::NoTable { path, hint }.into()
    })
}

fn with_study(
    (folder, file): (&Path, &Path),
    questions: &Questions,
    opened: &Opened,
    read: Read,
    mut check: Option<&mut Check>,
) -> Result<(Verdict, Seen), Error> {
    let study = &opened.study;
    let provider = questions.provider_column.as_deref();
    let release = &read.release;
    if let Some(check) = &mut check {
        check_csv(folder, study, release, (check, &*questions.observer));
        check.groups(opened, release);
        check.derived(folder, opened, release);
    }
    let named = provider.and_then(|name| read.text.column(name));
    let scope = Scope {
        sites: named.map(|column| column.dictionary.len() as u64),
        ..Scope::of_study(study)
    };
    let mut requirement = match &questions.against {
        Some(against) => Some(stated(against, &scope)?),
        None if study.document().root().has("require") => {
            Some(Requirement::of_document(study.document(), &scope)?)
        }
        None => None,
    };
    let asked = requirement.as_ref().map(|requirement| Asked {
        words: requirement.words(),
        from: match &questions.against {
            Some(_) => AskedBy::Question,
            None if opened.is_described => AskedBy::Manifest,
            None => AskedBy::Study,
        },
    });
    // Sites are not in a release: where all of them signed it, they attest to the models that speak of
    // sites; where it was made in one place, nobody attests, and the verdict says that these models
    // cannot be seen. What a virtual database does not show, a site has no way to count before it signs.
    if questions.against.is_none()
        && provider.is_none()
        && let (Some(check), Some(whole)) = (check, &requirement)
        && (check.attests() || check.is_unattested())
    {
        let (seen, hidden) = visible(whole, study);
        if check.attests() && !study.is_virtual() {
            check.attested = hidden;
        } else {
            check.unseen = hidden;
        }
        requirement = Some(seen);
    }
    let sites = named.map(|column| column.dictionary.len());
    questions.refuse_verification(requirement.as_ref(), sites)?;
    let watch = questions.observer.begin(Work::Judging);
    let (classes, found) = read.judge(
        provider,
        &questions.ignore,
        requirement.as_ref(),
        questions.verification,
    )?;
    drop(watch);

    let original = match &questions.original {
        Some(rows) => Some(original(
            rows,
            study,
            provider,
            release,
            &*questions.observer,
        )?),
        None => None,
    };
    let watch = questions.observer.begin(Work::Judging);
    let quasi = study.schema.with_role(Role::Quasi);
    let queries = (questions.queries > 0).then(|| {
        let kind = questions.query_kind;
        kind.queries(questions.queries, quasi.len())
    });
    let asked_too = (requirement.as_ref(), queries);
    let (mut risk, utility) = read.beside(study, &classes, original.as_ref(), asked_too);
    drop(watch);
    if let Some(rows) = &questions.population {
        let people = population(rows, study, &quasi, &*questions.observer)?;
        let columns = (0..quasi.len()).filter_map(|attribute| people.codes(attribute));
        let columns: Vec<Vec<u32>> = columns.map(|codes| codes.iter().collect()).collect();
        let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        let closures: Vec<Vec<&Cell>> = (0..classes.count())
            .map(|class| {
                let row = classes.rows(class)[0] as usize;
                let cells = quasi
                    .iter()
                    .filter_map(|attribute| release.generalized(*attribute));
                cells
                    .map(|column| &column.cells[column.codes[row] as usize])
                    .collect()
            })
            .collect();
        let sizes: Vec<u64> = classes.sizes().collect();
        let journalist = risk::against_population(&closures, &sizes, (&slices, people.counts()));
        risk.marketer = journalist.mean.unwrap_or(risk.marketer);
        risk.journalist = Some(journalist);
    }
    let reconstruction = match study.is_fragmented() {
        true => put_together(study, release, &classes, original.as_ref()),
        false => Vec::new(),
    };
    let views = match questions.views.is_empty() {
        true => None,
        false => Some(views(
            &questions.views,
            study,
            release,
            &*questions.observer,
        )?),
    };
    let verdict = Verdict {
        found,
        requirement: asked,
        utility: Some(utility),
        risk,
        reconstruction,
        views,
        manifest: None,
        sizes: classes.sizes().collect(),
        file: file.to_owned(),
        is_virtual: study.is_virtual(),
        roles: roles(study),
    };
    let seen = Seen {
        release: read.release,
        classes,
        original,
    };
    Ok((verdict, seen))
}

fn without_study(
    file: PathBuf,
    rows: &Rows,
    is_counted: bool,
    questions: &Questions,
) -> Result<Verdict, Error> {
    questions.refuse_double_roles()?;
    questions.refuse_without_study()?;
    if questions.quasi.is_empty() {
        return Err(VerifyRefused::NoRoles.into());
    }
    let mut named = [questions.quasi.as_slice(), &questions.sensitive].concat();
    let mut table = match questions.passes_over {
        false => rows.read_text(&named, &*questions.observer)?,
        true => {
            named.extend(questions.provider_column.clone());
            named.extend(questions.ignore.clone());
            named.extend(is_counted.then(|| RECORDS.to_owned()));
            rows.read_columns(&named, &*questions.observer)?
        }
    };
    if is_counted {
        table.take_counts()?;
    }
    questions.refuse_absent(&table)?;
    let watch = questions.observer.begin(Work::Judging);
    let provider = questions.provider_column.as_deref();
    let evidence = Evidence::of_table(&table, &questions.quasi, &questions.sensitive, provider)?;
    let evidence = evidence.ignoring(&questions.ignore);
    let scope = evidence.scope();
    let requirement = questions
        .against
        .as_ref()
        .map(|against| stated(against, &scope))
        .transpose()?;
    let asked = requirement.as_ref().map(|requirement| Asked {
        words: requirement.words(),
        from: AskedBy::Question,
    });
    let evidence = in_view(evidence, requirement.as_ref());
    let sites = evidence.provider.map(|column| column.dictionary.len());
    questions.refuse_verification(requirement.as_ref(), sites)?;
    let found = judge(&evidence, requirement.as_ref(), questions.verification);
    // Classes of the judge are gone by now: those of a long table take twice the memory of a column.
    let classes = evidence.classes();
    drop(watch);
    Ok(Verdict {
        found,
        requirement: asked,
        utility: None,
        risk: risk::risk(&classes),
        reconstruction: Vec::new(),
        views: None,
        manifest: None,
        sizes: classes.sizes().collect(),
        file,
        is_virtual: false,
        roles: Vec::new(),
    })
}
