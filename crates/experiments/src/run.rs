//! Which figures are measured, and which are kept from an earlier call.

use std::path::PathBuf;
use std::time::Instant;

use hedgerow::words::{aligned, count};
use hedgerow_data::nearest;
use serde::Serialize;

use crate::data::DataFolder;
use crate::error::Error;
use crate::frame::bench::Bench;
use crate::frame::figure::{Family, Figure};
use crate::frame::measured::Measured;
use crate::frame::progress::Progress;
use crate::lock::Lock;
use crate::record::{MARKDOWN, PAGE, Record, Settings, files, write};
use crate::{families, page, plot, table};

/// The figures that there are, in the order in which they are measured.
pub fn list() -> Vec<&'static Figure> {
    families().flat_map(|family| family.figures).collect()
}

/// How figures are measured, and where they go.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// The small version, which CI measures.
    pub quick: bool,
    /// The folder of real tables; the synthetic census where none is named.
    pub data: Option<PathBuf>,
    /// The folder of the figures.
    pub out: PathBuf,
    /// The same seed gives the same counts.
    pub seed: u64,
}

impl Options {
    /// Full size on the synthetic census with this seed, into this folder.
    pub fn new(out: impl Into<PathBuf>, seed: u64) -> Self {
        Self {
            quick: false,
            data: None,
            out: out.into(),
            seed,
        }
    }

    /// The small version.
    #[must_use]
    pub fn quick(mut self, quick: bool) -> Self {
        self.quick = quick;
        self
    }

    /// On the real tables of a folder.
    #[must_use]
    pub fn data(mut self, folder: Option<PathBuf>) -> Self {
        self.data = folder;
        self
    }
}

/// What came of measuring.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The figures that were asked for, and those that come of the same runs.
    pub figures: Vec<Record>,
    /// How many of them were finished by an earlier call.
    pub kept: usize,
    /// How many claims hold.
    pub hold: usize,
    /// How many differ.
    pub differ: usize,
    /// The figures with a check that must hold at this size and does not.
    pub broken: Vec<String>,
    /// The page of all figures of the folder.
    pub page: PathBuf,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = self.figures.iter().map(|record| {
            vec![
                record.figure.clone(),
                record.verdict().to_owned(),
                record.measured.clone(),
            ]
        });
        f.write_str(&aligned(&rows.collect::<Vec<_>>()))?;
        for record in &self.figures {
            for check in record.checks.iter().filter(|check| !check.holds) {
                let word = match check.must_hold {
                    true => "MUST HOLD AND DOES NOT",
                    false => "differs",
                };
                writeln!(f, "{}: {word}: {}", record.figure, check.words)?;
                if !check.reason.is_empty() {
                    writeln!(f, "  most likely because {}", check.reason)?;
                }
            }
        }
        writeln!(
            f,
            "{}: {}, {}{}",
            count(self.figures.len() as u64, "figure", "figures"),
            count(self.hold as u64, "holds", "hold"),
            count(self.differ as u64, "differs", "differ"),
            match self.kept {
                0 => String::new(),
                kept => format!("; {kept} kept from an earlier call"),
            }
        )?;
        writeln!(f, "page: {}", self.page.display())
    }
}

/// Measures the figures of these names and writes them, and the pages of all figures of the folder.
/// Without a name, measures all. Figures that come of the same runs are written together; a figure that
/// the folder has with the same settings is kept.
pub fn run(names: &[String], options: &Options, progress: &dyn Progress) -> Result<Report, Error> {
    let wanted = wanted(names)?;
    measure_all(&wanted, options, progress)
}

/// The families of the figures of these names; all of them where there are none.
fn wanted(names: &[String]) -> Result<Vec<&'static Family>, Error> {
    let known = || list().into_iter().map(|figure| figure.name);
    for name in names {
        if !known().any(|known| known == name) {
            let hint = match nearest(name, known(), 1).first() {
                Some(best) => format!("did you mean `{best}`?"),
                None => String::from("hedgerow experiment list names all figures"),
            };
            let name = name.clone();
            return Err(Error::Unknown { name, hint });
        }
    }
    let is_wanted = |figure: &Figure| names.is_empty() || names.iter().any(|n| n == figure.name);
    let wanted = families().filter(|family| family.figures.iter().any(is_wanted));
    Ok(wanted.collect())
}

/// Measures families of figures that the folder does not have yet.
pub(crate) fn measure_all(
    wanted: &[&Family],
    options: &Options,
    progress: &dyn Progress,
) -> Result<Report, Error> {
    std::fs::create_dir_all(&options.out).map_err(|error| Error::Unusable {
        folder: options.out.clone(),
        reason: error.to_string(),
    })?;
    let _lock = Lock::take(&options.out)?;
    DataFolder::tidy(&options.out);
    let data = DataFolder::open(options.data.as_deref(), &options.out)?;
    let settings = Settings {
        quick: options.quick,
        seed: options.seed,
        data: data.identity().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let bench = Bench {
        data: &data,
        seed: options.seed,
        is_quick: options.quick,
        progress,
    };
    let all = wanted.iter().map(|family| family.figures.len()).sum();
    let (mut figures, mut kept) = (Vec::new(), 0);
    for family in wanted {
        let of_figures = family.figures.iter();
        let finished = of_figures.map(|figure| Record::finished(&options.out, figure, &settings));
        let finished: Option<Vec<Record>> = finished.collect();
        if let Some(finished) = finished {
            kept += finished.len();
            figures.extend(finished);
            continue;
        }
        progress.begin(&family.names(), figures.len(), all);
        let began = Instant::now();
        let measured = (family.measure)(&bench)?;
        let seconds = began.elapsed().as_secs_f64();
        if measured.len() != family.figures.len() {
            return Err(Error::Plot {
                figure: family.names(),
                reason: format!("{} of them were measured", measured.len()),
            });
        }
        for (figure, measured) in family.figures.iter().zip(&measured) {
            let record = Record::new(figure, measured, seconds, settings.clone());
            figures.push(publish(record, measured, options)?);
        }
        pages(options, wanted)?;
    }
    pages(options, wanted)?;
    let hold = figures.iter().filter(|record| record.holds).count();
    let broken = figures.iter().filter(|record| record.is_broken());
    Ok(Report {
        kept,
        hold,
        differ: figures.len() - hold,
        broken: broken.map(|record| record.figure.clone()).collect(),
        figures,
        page: options.out.join(PAGE),
    })
}

/// Writes the files of a figure, its record last. A record of other settings goes first, so that no file
/// ever stands beside a record that it does not belong to.
fn publish(record: Record, measured: &Measured, options: &Options) -> Result<Record, Error> {
    let [csv, svg, json] = files(&options.out, &record.figure);
    if json.exists() {
        std::fs::remove_file(&json).map_err(|error| Error::Unusable {
            folder: json.clone(),
            reason: error.to_string(),
        })?;
    }
    let numbers = table::csv(&record.figure, measured)?;
    let drawn = plot::svg(&record, measured)?;
    write(&csv, &numbers)?;
    write(&svg, &drawn)?;
    let record = record.with_files(&numbers, &drawn);
    record.write(&options.out)?;
    Ok(record)
}

/// Writes the pages of all finished figures of the folder, whichever call measured them.
fn pages(options: &Options, wanted: &[&Family]) -> Result<(), Error> {
    let mut names: Vec<&str> = list().into_iter().map(|figure| figure.name).collect();
    let measured = wanted.iter().flat_map(|family| family.figures);
    for figure in measured {
        if !names.contains(&figure.name) {
            names.push(figure.name);
        }
    }
    let (records, damaged) = Record::all(&options.out, names.into_iter());
    write(&options.out.join(PAGE), &page::html(&records, &damaged))?;
    write(
        &options.out.join(MARKDOWN),
        &page::markdown(&records, &damaged),
    )
}
