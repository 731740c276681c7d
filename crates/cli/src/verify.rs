//! `hedgerow verify`: an independent check of a release, every model, with the worst class.

use std::path::{Path, PathBuf};

use hedgerow_data::files::{read_release_of, read_text};
use hedgerow_data::study::QUASI_FILE;
use hedgerow_data::{Cell, Release, Role, Study, TextTable};
use hedgerow_privacy::classes::Classes;
use hedgerow_privacy::query_error::query_error;
use hedgerow_privacy::risk::{self, Risk};
use hedgerow_privacy::utility::Utility;
use hedgerow_privacy::verify::{Evidence, Verdict, verify};
use hedgerow_privacy::{Requirement, Scope};
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::CliError;
use crate::opened::Opened;
use crate::output::Answer;
use crate::progress::Bar;

mod arguments;
mod beside;
mod manifest;
mod read;
pub(crate) mod text;

pub(crate) use arguments::Arguments;
pub(crate) use manifest::{Check, visible};
pub(crate) use read::Read;

use arguments::stated;
use beside::{original, population};
use read::in_view;

/// Everything that is said, as JSON.
#[derive(Serialize)]
pub(crate) struct Report {
    #[serde(flatten)]
    pub(crate) verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) utility: Option<Utility>,
    pub(crate) risk: Risk,
    /// What the folder's manifest has to say, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) manifest: Option<Check>,
    /// The sizes of all classes.
    #[serde(skip)]
    pub(crate) sizes: Vec<u64>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let opened = match &arguments.study {
        Some(study) => Some(Opened::open(study)?),
        None => None,
    };
    let opened = opened.as_ref();
    let mut check = opened.and_then(|opened| Check::of(&arguments.release, opened));
    let study = opened.map(|opened| &opened.study);
    let found = release_file(&arguments.release, study, check.as_ref()).and_then(|path| {
        let report = look(arguments, opened, &path, &mut check)?;
        Ok((path, report))
    });
    match (found, check) {
        (Ok((path, report)), _) => {
            let holds = report.verdict.holds.unwrap_or(true);
            Ok(Answer::new(text::text(&path, &report), &report, holds))
        }
        // A file that was tampered with may not be readable, or be there, at all. A study that says
        // what it must not is another matter.
        (Err(error), Some(check))
            if !check.findings.is_empty()
                && !matches!(error, CliError::Requirement(_) | CliError::Document(_)) =>
        {
            Ok(Answer::new(
                text::unreadable(&arguments.release, &check, &error),
                &json!({ "holds": false, "manifest": check, "error": error.to_string() }),
                false,
            ))
        }
        (Err(error), _) => Err(error),
    }
}

/// Everything about a release; an error where its files cannot be understood.
pub(crate) fn report(arguments: &Arguments, opened: &Opened) -> Result<Report, CliError> {
    let mut check = Check::of(&arguments.release, opened);
    let path = release_file(&arguments.release, Some(&opened.study), check.as_ref())?;
    look(arguments, Some(opened), &path, &mut check)
}

/// Everything about a release whose manifest is not written yet.
pub(crate) fn unsealed(
    folder: &Path,
    opened: &Opened,
    manifest: &Value,
) -> Result<Report, CliError> {
    let check = Check::unsealed(folder, opened, manifest);
    let path = release_file(folder, Some(&opened.study), Some(&check))?;
    let arguments = Arguments::of_folder(folder, None);
    look(&arguments, Some(opened), &path, &mut Some(check))
}

/// Looks at a release. The manifest goes into the report, or stays where there is none.
fn look(
    arguments: &Arguments,
    opened: Option<&Opened>,
    path: &Path,
    check: &mut Option<Check>,
) -> Result<Report, CliError> {
    let mut report = match opened {
        Some(Opened { study, .. }) => {
            arguments.refuse_of_tables(study)?;
            let read = Read::open(path, study)?;
            arguments.refuse_ignored(&read.text, study)?;
            with_study(arguments, study, &read, check.as_mut())?
        }
        None => {
            arguments.refuse_double_roles()?;
            let names = [arguments.quasi.as_slice(), &arguments.sensitive].concat();
            let table = read_text(path, &names, &Bar::reading(path))?;
            arguments.refuse_absent(&table)?;
            without_study(arguments, &table)?
        }
    };
    if let Some(mut check) = check.take() {
        let is_own = arguments.against.is_none() && arguments.provider_column.is_none();
        check.numbers(&report, is_own);
        check.decide();
        if !check.holds {
            report.verdict.fail();
        }
        // A folder without a manifest that holds what it should has nothing to say of one.
        let is_silent = check.manifest.is_null() && check.findings.is_empty();
        report.manifest = (!is_silent).then_some(check);
    }
    Ok(report)
}

/// The file of a release folder that is read first: of `release.parquet` and `release.csv` one that
/// nobody changed, of fragments the table of quasi-identifiers.
fn release_file(
    path: &Path,
    study: Option<&Study>,
    check: Option<&Check>,
) -> Result<PathBuf, CliError> {
    if !path.exists() {
        return Err(CliError::Usage(format!(
            "{}: there is no such file or folder\nhint: name a release folder, or a .csv or .parquet file",
            path.display()
        )));
    }
    let is_fragmented = study.is_some_and(Study::is_fragmented);
    if !path.is_dir() {
        if is_fragmented {
            return Err(CliError::Usage(format!(
                "{}: is one file, and a release of this study is a folder of several\nhint: name the folder that holds {QUASI_FILE}",
                path.display()
            )));
        }
        return Ok(path.to_owned());
    }
    if is_fragmented {
        return Ok(path.join(QUASI_FILE));
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
        CliError::Usage(format!(
            "{}: no release.parquet or release.csv in this folder\nhint: {hint}",
            path.display()
        ))
    })
}

fn with_study(
    arguments: &Arguments,
    study: &Study,
    read: &Read,
    mut check: Option<&mut Check>,
) -> Result<Report, CliError> {
    let provider = arguments.provider_column.as_deref();
    let release = &read.release;
    if let Some(check) = &mut check {
        check_csv(&arguments.release, study, release, check);
    }
    let named = provider.and_then(|name| read.text.column(name));
    let scope = Scope {
        sites: named.map(|column| column.dictionary.len() as u64),
        ..Scope::of_study(study)
    };
    let mut requirement = match &arguments.against {
        Some(against) => Some(stated(against, &scope)?),
        None if study.document().root().has("require") => {
            Some(Requirement::of_document(study.document(), &scope)?)
        }
        None => None,
    };
    // Sites are not in a release: where all of them signed it, they attest to what speaks of them;
    // where it was made in one place, nobody does, and it is said that it cannot be seen.
    if arguments.against.is_none()
        && provider.is_none()
        && let (Some(check), Some(whole)) = (check, &requirement)
        && (check.attests() || check.is_of_one_place())
    {
        let (seen, of_sites) = visible(whole);
        if check.attests() {
            check.attested = of_sites;
        } else {
            check.unseen = of_sites;
        }
        requirement = Some(seen);
    }
    let (classes, verdict) = read.judge(provider, &arguments.ignore, requirement.as_ref())?;

    let original = match &arguments.original {
        Some(path) => Some(original(path, study, provider, release)?),
        None => None,
    };
    let mut risk = risk::risk(&classes);
    let mut utility = read.losses(study, &classes, original.as_ref(), requirement.as_ref());
    let quasi = study.schema.with_role(Role::Quasi);
    if let Some(original) = &original {
        let columns: Vec<Vec<u32>> = quasi
            .iter()
            .filter_map(|attribute| original.codes(*attribute))
            .map(|codes| codes.iter().collect())
            .collect();
        let slices: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
        risk.uniqueness.before = Some(risk::uniqueness(&Classes::group(&slices, original.rows())));
        if arguments.queries > 0 {
            let queries = arguments.query_kind.queries(arguments.queries, quasi.len());
            utility.query_error = query_error(original, release, &classes, &quasi, &queries);
        }
    }
    if let Some(path) = &arguments.population {
        let columns = population(path, study, &quasi)?;
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
        let journalist = risk::against_population(&closures, &sizes, &slices);
        risk.marketer = journalist.mean.unwrap_or(risk.marketer);
        risk.journalist = Some(journalist);
    }
    Ok(Report {
        verdict,
        utility: Some(utility),
        risk,
        manifest: None,
        sizes: classes.sizes().collect(),
    })
}

/// Whether the folder's CSV says what the release, read from its Parquet, says.
fn check_csv(folder: &Path, study: &Study, release: &Release, check: &mut Check) {
    // A file that was changed has been found already.
    if !check.has_both() {
        return;
    }
    let path = folder.join("release.csv");
    let read = read_release_of(&path, study, &Bar::reading(&path));
    let read = read.map_err(CliError::from);
    match read.and_then(|read| Ok(Release::from_text(&read.text, &study.schema, &[])?)) {
        Ok(csv) => check.same(&csv, release),
        Err(error) => check.findings.push(error.to_string()),
    }
}

fn without_study(arguments: &Arguments, table: &TextTable) -> Result<Report, CliError> {
    if arguments.quasi.is_empty() {
        return Err(CliError::Usage(String::from(
            "nothing says which columns are quasi-identifiers\nhint: give --study study.toml, or --quasi age,zip --sensitive disease",
        )));
    }
    let provider = arguments.provider_column.as_deref();
    let evidence = Evidence::of_table(table, &arguments.quasi, &arguments.sensitive, provider)?;
    let evidence = evidence.ignoring(&arguments.ignore);
    let scope = evidence.scope();
    let requirement = arguments
        .against
        .as_ref()
        .map(|against| stated(against, &scope))
        .transpose()?;
    let classes = evidence.classes();
    let evidence = in_view(evidence, requirement.as_ref());
    let verdict = verify(&evidence, requirement.as_ref());
    Ok(Report {
        verdict,
        utility: None,
        risk: risk::risk(&classes),
        manifest: None,
        sizes: classes.sizes().collect(),
    })
}
