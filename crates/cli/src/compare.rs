//! `hedgerow compare`: which algorithm and which recoding serve a table best.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hedgerow::data::files::{FileError, OutputFile};
use hedgerow::words::count;
use hedgerow::{Comparison, DEFAULT_SEED, Options, Row, Study};

use crate::chart::{Bar, chart};
use crate::draft;
use crate::error::CliError;
use crate::output::{Answer, remark, see_replaceable};
use crate::progress::Terminal;
use crate::table::TableArguments;

/// Compare which algorithm and which recoding serve a table best.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow compare --study study.toml patients.csv
  hedgerow compare --study study.toml patients.csv --time 5m --plot choices.svg
  hedgerow compare patients.csv --k 10 --quasi age,zip,sex --sensitive diagnosis
  hedgerow compare --study study.toml --engine local --memory 4GB patients
  hedgerow compare --study study.toml --provider-column site pooled.csv

No release is written. Ctrl-C once ends with what has been compared so far; Ctrl-C again ends without an answer.")]
pub(crate) struct Arguments {
    /// The study: attributes, requirement, the algorithm so far. Without it one is drafted of the table, with
    /// the columns that --quasi and --sensitive name.
    #[arg(long, conflicts_with_all = ["k", "quasi", "sensitive", "hierarchies", "draft"])]
    study: Option<PathBuf>,
    #[command(flatten)]
    columns: draft::Columns,
    /// The folder of the drafted study.
    #[arg(long, value_name = "DIR", default_value = "study")]
    draft: PathBuf,
    #[command(flatten)]
    table: TableArguments,
    /// The column that names each record's site, where that makes a difference.
    #[arg(long, value_name = "COLUMN")]
    provider_column: Option<String>,
    /// The time of all choices together, such as 30s or 5m: half of it at most for the study's own choice, then
    /// cuts, and searches for clusters share what is left.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = crate::time::time)]
    time: Duration,
    /// The same seed gives the same numbers, but for searches that end by the time.
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// Also draw the comparison into this file, as SVG.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let column = arguments.provider_column.as_deref();
    let table = arguments.table.table()?;
    // The file is there under its name once it is whole; nobody waits for a plot that cannot be written.
    if let Some(path) = &arguments.plot {
        see_replaceable(path, "<svg")?;
    }
    let plot = arguments.plot.as_deref().map(|path| {
        let file = OutputFile::create(path)?;
        Ok::<_, FileError>((path, file))
    });
    let plot = plot.transpose()?;
    let study = match &arguments.study {
        Some(study) => Study::open(study)?,
        None => arguments
            .columns
            .drafted(&table, column, &arguments.draft)?,
    };
    let mut options = Options::new()
        .seed(arguments.seed)
        .time(arguments.time)
        .observer(Terminal::default());
    if let Some(column) = column {
        options = options.provider_column(column);
    }
    let comparison = hedgerow::compare(&study, &table, &options)?;
    if let Some((path, file)) = plot {
        write(path, file, &comparison.svg()?)?;
        remark(&format!("plot: {}", path.display()));
    }
    let text = format!(
        "{}\n{}\n{}",
        comparison.table_text(),
        bars(&comparison),
        comparison.advice_text()
    );
    Ok(Answer::new(text, &comparison, comparison.holds()))
}

/// A bar for what each choice loses.
fn bars(comparison: &Comparison) -> String {
    let recommended = comparison.recommended.as_ref().map(|found| found.row);
    let rows = comparison.choices.iter().enumerate();
    let bars = rows.filter_map(|(place, row): (usize, &Row)| {
        let measured = row.measured()?;
        let classes = count(measured.classes.count, "class", "classes");
        Some(Bar {
            name: row.choice.words(),
            loss: Some(measured.loss),
            remark: match recommended == Some(place) {
                true => format!("{classes}, recommended"),
                false => classes,
            },
        })
    });
    let bars: Vec<Bar> = bars.collect();
    match bars.is_empty() {
        true => String::new(),
        false => format!("detail that is lost (NCP)\n{}", chart(&bars)),
    }
}

fn write(path: &Path, mut file: OutputFile, svg: &str) -> Result<(), FileError> {
    let written = file.write_all(svg.as_bytes());
    written.map_err(|error| FileError::Unwritable {
        file: path.display().to_string(),
        reason: error.to_string(),
    })?;
    file.finish()
}
