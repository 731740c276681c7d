//! Which algorithm and which recoding serve a table best: the choices of a study are run one after the other
//! within a time, measured alike, and set side by side.
//!
//! A choice is the study with other lines of `[algorithm]`. Each is anonymized as by
//! [`anonymize`](crate::anonymize()), at one party and into a temporary folder, and its release is measured by the
//! code of `verify --original`. The study's own choice goes first, with half of the time at most; then cuts, since
//! they take little time; then each search for clusters has an equal share of what is left. A search ends at its
//! share with the best that it has found.

mod choices;
mod measured;
mod plot;
mod recommended;
pub(crate) mod refused;
mod text;
mod trial;

use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_data::files::Others;
use serde::Serialize;

use crate::error::Error;
use crate::observe::Work;
use crate::options::Options;
use crate::simulate::anonymize::refuse_sites;
use crate::simulate::split::Owners;
use crate::study::Study;
use crate::study::ready::Ready;
use crate::study::refused::StudyRefused;
use crate::table::Table;
pub use choices::{Choice, Writes};
use choices::{candidates, reason};
pub use measured::{ClassSizes, Measured, RiskOf};
pub use recommended::Recommended;
use refused::CompareRefused;
use trial::Trial;

/// The time of all choices together, if the caller does not say another.
pub const TIME: Duration = Duration::from_secs(60);

/// The choices of a study, side by side. Its [`Display`](std::fmt::Display) is for people; its JSON keys are a
/// contract.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The study's name.
    pub study: String,
    /// The table's name.
    pub table: String,
    /// Records of the table.
    pub records: u64,
    /// What every class must satisfy, one phrase for each model.
    pub requirement: Vec<String>,
    /// How queries were drawn.
    pub queries: Drawn,
    /// The time that was given, in seconds.
    pub time: f64,
    /// The time that was taken, in seconds.
    pub seconds: f64,
    /// The choices: those that were measured by loss, then those that were refused, then those that were not run.
    pub choices: Vec<Row>,
    /// The choice that the rule names, where any satisfies the requirement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended: Option<Recommended>,
    /// The rule, in words.
    pub rule: &'static str,
    /// What readers of the numbers should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How random queries were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Drawn {
    /// How many.
    pub count: usize,
    /// Attributes that a query speaks of.
    pub attributes: usize,
    /// The share of a domain that a range covers.
    pub width: f64,
    /// The seed of the draw.
    pub seed: u64,
}

/// A choice, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// The choice.
    #[serde(flatten)]
    pub choice: Choice,
    /// Other choices that gave the same release.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equal: Vec<Choice>,
    /// What came of it.
    #[serde(flatten)]
    pub tried: Tried,
}

/// What came of a choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Tried {
    /// Its release was measured.
    Measured(Measured),
    /// It gives no release.
    Refused {
        /// Why not.
        reason: String,
    },
    /// It was not run.
    NotRun {
        /// Why not.
        reason: String,
    },
}

impl Row {
    /// The choice, and those that gave the same release.
    pub fn choices(&self) -> impl Iterator<Item = &Choice> {
        std::iter::once(&self.choice).chain(&self.equal)
    }

    /// What was measured, if anything was.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.tried {
            Tried::Measured(measured) => Some(measured),
            Tried::Refused { .. } | Tried::NotRun { .. } => None,
        }
    }
}

impl Comparison {
    /// Whether any choice satisfies the requirement.
    pub fn holds(&self) -> bool {
        self.recommended.is_some()
    }

    /// The comparison as a plot: a file of SVG.
    pub fn svg(&self) -> Result<String, Error> {
        plot::svg(self)
    }
}

/// Compares what a table loses by the choices that a study has in `[algorithm]`, within [`Options::time`] or
/// [`TIME`].
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("patients.csv");
/// # let rows: String = (0..60).map(|row| format!("{},{}\n", 20 + row, ["flu", "ulcer", "asthma"][row % 3])).collect();
/// # std::fs::write(&path, format!("age,disease\n{rows}"))?;
/// use hedgerow::{Draft, Options, Study, Table, compare};
///
/// let study = Study::parse(Study::draft(Draft::Horizontal), ".")?;
/// let comparison = compare(&study, &Table::file(path), &Options::new())?;
/// let recommended = comparison.recommended.as_ref().expect("some choice holds");
/// assert!(recommended.lines.starts_with("[algorithm]\n"));
/// println!("{comparison}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compare(study: &Study, table: &Table, options: &Options) -> Result<Comparison, Error> {
    let started = Instant::now();
    if options.out.is_some() || options.local.is_some() || options.independent {
        return Err(CompareRefused::NoRelease.into());
    }
    let path = || study.opened.path.clone();
    if study.is_vertical() {
        return Err(CompareRefused::Vertical { study: path() }.into());
    }
    if study.opened.study.is_virtual() {
        return Err(StudyRefused::OneParty { study: path() }.into());
    }
    let (observer, column) = (&*options.observer, options.provider_column.as_deref());
    let sites = match column {
        Some(column) => {
            let text = table.read_text(&[column.to_owned()], observer)?;
            Some(Owners::of_column(&text, column)?.count())
        }
        None => None,
    };
    let ready = Ready::new(Arc::clone(&study.opened), sites.map(|sites| sites as u64))?;
    if sites.is_none() {
        refuse_sites(&ready)?;
    }
    let original = match ready.study.is_counted() && column.is_none() {
        true => table.count(&ready.study.schema, &Others::Refuse, observer)?,
        false => table.read(&ready.study.schema, &Others::but(column), observer)?,
    };
    let time = options.time.unwrap_or(TIME);
    let trial = Trial {
        table,
        original: &original,
        requirement: &ready.requirement,
        sites,
        options,
        watch: Arc::from(observer.begin(Work::Comparing)),
        ends: started + time,
    };
    let (rows, errors) = trial.rows(candidates(study, sites.is_some_and(|sites| sites > 1)));
    refuse_hopeless(&rows, errors)?;
    let mut rows = in_order(rows);
    let recommended = recommended::recommended(&mut rows);
    let queries = measured::queries(study);
    Ok(Comparison {
        study: study.name().to_owned(),
        table: table.file_name(),
        records: original.records(),
        requirement: ready.requirement.words(),
        queries: Drawn {
            count: queries.count,
            attributes: queries.attributes.1,
            width: queries.width,
            seed: queries.seed,
        },
        time: time.as_secs_f64(),
        seconds: started.elapsed().as_secs_f64(),
        recommended,
        rule: recommended::RULE,
        notes: notes(study, sites, &rows),
        choices: rows,
    })
}

/// Refuses a table or a requirement that no choice can do anything for: each says the same.
fn refuse_hopeless(rows: &[Row], errors: Vec<Error>) -> Result<(), Error> {
    let gives_release = rows.iter().any(|row| row.measured().is_some());
    let mut errors = errors.into_iter();
    let Some(first) = errors.next().filter(|_| !gives_release) else {
        return Ok(());
    };
    match errors.all(|error| reason(&error) == reason(&first)) {
        true => Err(first),
        false => Ok(()),
    }
}

/// What was measured by loss, then what was refused, then what was not run. Choices with the same release are
/// one, and so are those of an algorithm that have the same reason.
fn in_order(rows: Vec<Row>) -> Vec<Row> {
    let mut kept: Vec<Row> = Vec::with_capacity(rows.len());
    for row in rows {
        match kept.iter_mut().find(|other| is_alike(other, &row)) {
            Some(other) => join(other, row),
            None => kept.push(row),
        }
    }
    let rank = |row: &Row| match row.tried {
        Tried::Measured(_) => 0,
        Tried::Refused { .. } => 1,
        Tried::NotRun { .. } => 2,
    };
    let loss = |row: &Row| row.measured().map_or(0.0, |measured| measured.loss);
    kept.sort_by(|one, other| {
        let by_rank = rank(one).cmp(&rank(other));
        by_rank.then(loss(one).total_cmp(&loss(other)))
    });
    kept
}

fn is_alike(one: &Row, other: &Row) -> bool {
    match (one.measured(), other.measured()) {
        (Some(one), Some(other)) => one.release == other.release,
        (None, None) => {
            one.choice.algorithm == other.choice.algorithm
                && one.choice.covers == other.choice.covers
                && one.tried == other.tried
        }
        _ => false,
    }
}

/// Makes one row of two that are alike. Of two releases that are the same, the study's own choice stays.
fn join(kept: &mut Row, mut row: Row) {
    if row.measured().is_none() {
        kept.choice.own |= row.choice.own;
        let recodes = std::iter::once(row.choice.recode).chain(row.choice.same);
        kept.choice.same.extend(recodes);
        return;
    }
    if row.choice.own {
        std::mem::swap(kept, &mut row);
    }
    kept.equal.push(row.choice);
    kept.equal.append(&mut row.equal);
}

/// What readers of the numbers should know.
fn notes(study: &Study, sites: Option<usize>, rows: &[Row]) -> Vec<String> {
    let mut notes = Vec::new();
    let named = study.opened.study.sites.len();
    if named > 1 && sites.is_none() {
        notes.push(format!(
            "the study names {named} sites, and these are the losses of one party with all of this table: cuts lose the same between sites, clusters more, since sites search in counted steps; hedgerow simulate says how much"
        ));
    }
    if sites.is_some() {
        notes.push(String::from(
            "the sites together would write the same releases; rounds and bytes between them are in hedgerow simulate",
        ));
    }
    if rows
        .iter()
        .any(|row| matches!(row.tried, Tried::NotRun { .. }) && !row.choice.lines.is_empty())
    {
        notes.push(String::from(
            "not every choice was run, so another may be better: a longer --time runs more",
        ));
    }
    let stopped = rows.iter().filter_map(Row::measured);
    if stopped.into_iter().any(|measured| measured.stopped) {
        notes.push(String::from(
            "a search that ended early may lose less with a longer --time; hedgerow anonymize goes on until the study's effort is spent",
        ));
    }
    notes
}
