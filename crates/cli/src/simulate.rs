//! `hedgerow simulate`: all sites of a study in one process, with exact counts of what they send.

use std::path::PathBuf;

use hedgerow::data::study;
use hedgerow::query::Asked;
use hedgerow::{DEFAULT_SEED, Deal, Options, Sites, SplitRefused, Study, Summary, Table};

use crate::error::{CliError, Usage};
use crate::output::Answer;
use crate::progress::Terminal;
use crate::table::TableArguments;

/// How the table is spread over the sites.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Partition {
    /// Different people, same columns.
    Horizontal,
    /// Same people, different columns.
    Vertical,
}

/// Run all sites in one process and count rounds, messages and bytes.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow simulate --study study.toml --sites 5 --out release patients.csv
  hedgerow simulate --study study.toml --sites 5 --split column --by zip --independent patients.csv
  hedgerow simulate --study study.toml --sites 3 --local own patients.csv
  hedgerow simulate --study study.toml --sites 3 --ask 'SELECT count(*) FROM patients WHERE age < 30' patients.csv
  hedgerow simulate --study study.toml --sites 100 --split bands --by zip,age --at 25,56 patients.csv
  hedgerow simulate --study study.toml --sites 3 --engine df://127.0.0.1:50050 patients
  hedgerow simulate --study study.toml --provider-column site --out release pooled.csv
  hedgerow simulate --study study.toml --partition vertical --columns 'age,sex|zip,disease' people.csv")]
pub(crate) struct Arguments {
    /// The study: attributes, requirement, algorithm.
    #[arg(long)]
    study: PathBuf,
    #[command(flatten)]
    table: TableArguments,
    /// Number of sites among which the rows are split.
    #[arg(long)]
    sites: Option<usize>,
    /// Whether sites hold different people or the same ones; the study's own where it is not given.
    #[arg(long, value_enum)]
    partition: Option<Partition>,
    /// The columns of each site of a vertical study, beside the identifiers: "age,sex|zip,disease".
    /// A name with a comma or a bar can only stand in the study.
    #[arg(long, value_name = "COLUMNS", conflicts_with_all = ["sites", "provider_column", "by"])]
    columns: Option<String>,
    /// How the rows are split.
    #[arg(
        long,
        value_enum,
        default_value = "round-robin",
        conflicts_with = "provider_column"
    )]
    split: Split,
    /// The columns of --split column; of --split bands the column whose values share the sites, and the
    /// column of the bands.
    #[arg(
        long,
        value_name = "COLUMN",
        value_delimiter = ',',
        conflicts_with = "provider_column"
    )]
    by: Vec<String>,
    /// Where the second band of --split bands and those that follow begin: 25,56.
    #[arg(
        long,
        value_name = "NUMBER",
        value_delimiter = ',',
        allow_hyphen_values = true,
        conflicts_with = "provider_column"
    )]
    at: Vec<i64>,
    /// Also run each site alone, and one party with all rows, and print what each loses.
    #[arg(long)]
    independent: bool,
    /// The column that names each record's site.
    #[arg(long, value_name = "COLUMN", conflicts_with = "sites")]
    provider_column: Option<String>,
    /// The same seed gives the same run.
    #[arg(long, default_value_t = DEFAULT_SEED)]
    seed: u64,
    /// The folder of the release.
    #[arg(long, value_name = "DIR", default_value = "release")]
    out: PathBuf,
    /// Write over a release that lies in that folder.
    #[arg(long)]
    force: bool,
    /// An earlier release of the same people, for the attacks on several releases that the study's [gate] limits.
    /// May be given several times.
    #[arg(long, value_name = "RELEASE")]
    earlier: Vec<PathBuf>,
    /// The folder for each site's own rows as the joint classes write them, in `site-0.csv` and so on;
    /// outside the release.
    #[arg(long, value_name = "DIR")]
    local: Option<PathBuf>,
    /// Also ask the table that the sites hold together; may be given several times.
    #[arg(long, value_name = "SQL")]
    ask: Vec<String>,
}

/// How rows are dealt to sites.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Split {
    /// In turn.
    RoundRobin,
    /// At random, from the seed.
    Random,
    /// By the columns of --by, rows equal in them at one site, so that a site is a region.
    Column,
    /// By the quasi-identifiers, so that sites hold different people.
    Sorted,
    /// At random, from the seed, with sizes of an exponential distribution.
    Exponential,
    /// For each value of the first column of --by an equal share of the sites, and in it for each band
    /// of the second, such as city and age.
    Bands,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let study = Study::open(&arguments.study)?;
    let wanted = match study.declared().partition {
        study::Partition::Horizontal => Partition::Horizontal,
        study::Partition::Vertical => Partition::Vertical,
    };
    if arguments.partition.is_some_and(|said| said != wanted) {
        let (said, written) = match wanted {
            Partition::Horizontal => ("vertical", "horizontal"),
            Partition::Vertical => ("horizontal", "vertical"),
        };
        return Err(Usage::OtherPartition { said, written }.into());
    }
    let mut options = Options::new()
        .seed(arguments.seed)
        .out(&arguments.out)
        .force(arguments.force)
        .observer(Terminal::default());
    if arguments.independent {
        options = options.independent();
    }
    for release in &arguments.earlier {
        options = options.earlier(release);
    }
    if let Some(folder) = &arguments.local {
        options = options.local(folder);
    }
    // A question that cannot be asked is refused before anything runs.
    let asked = arguments.ask.iter().map(|sql| study.statement(sql));
    let asked = asked.collect::<Result<Vec<_>, _>>()?;
    let sites = match wanted {
        Partition::Horizontal => arguments.of_different_people()?,
        Partition::Vertical => arguments.of_the_same_people(&study)?,
    };
    let simulation = hedgerow::simulate(&study, &sites, &options)?;
    let summary = &simulation.outcome.summary;
    if asked.is_empty() {
        return Ok(Answer::of(summary, summary.holds));
    }
    let (mut text, mut answers) = (summary.to_string(), Vec::with_capacity(asked.len()));
    for (sql, statement) in arguments.ask.iter().zip(&asked) {
        let answer = simulation.ask(&study, statement, &options)?;
        text.push_str(&format!("\n{sql}\n{answer}"));
        answers.push(answer);
    }
    let both = Summarized {
        summary,
        asked: &answers,
    };
    Ok(Answer::new(text, &both, summary.holds))
}

/// A summary, with the answers to questions.
#[derive(serde::Serialize)]
struct Summarized<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    asked: &'a [Asked],
}

impl Arguments {
    fn table(&self) -> Result<Table, CliError> {
        self.table.table()
    }

    fn of_different_people(&self) -> Result<Sites, CliError> {
        let table = self.table()?;
        if self.columns.is_some() {
            return Err(CliError::Engine(SplitRefused::HasAllColumns.into()));
        }
        if let Some(column) = self.provider_column.clone() {
            return Ok(Sites::Named { table, column });
        }
        let sites = self.sites.ok_or(Usage::NoSites)?;
        let deal = match self.split {
            Split::Bands => match &self.by[..] {
                [column, within] => Deal::Bands {
                    column: column.clone(),
                    within: within.clone(),
                    at: self.at.clone(),
                },
                _ => return Err(Usage::BandsOfTwo.into()),
            },
            _ if !self.at.is_empty() => return Err(Usage::AtWithoutBands.into()),
            Split::Column => Deal::Columns(self.by.clone()),
            _ if !self.by.is_empty() => return Err(Usage::ByWithoutColumn.into()),
            Split::RoundRobin => Deal::RoundRobin,
            Split::Random => Deal::Random,
            Split::Sorted => Deal::Sorted,
            Split::Exponential => Deal::Exponential,
        };
        Ok(Sites::Dealt { table, sites, deal })
    }

    fn of_the_same_people(&self, study: &Study) -> Result<Sites, CliError> {
        let table = self.table()?;
        if let Some(column) = self.provider_column.clone() {
            return Ok(Sites::Named { table, column });
        }
        let deal = match self.by.is_empty() {
            true => Deal::RoundRobin,
            false => Deal::Columns(self.by.clone()),
        };
        match (&self.columns, self.sites) {
            // The engine holds the number against the columns of the study.
            (None, Some(sites)) if study.declared().split.is_some() || !self.by.is_empty() => {
                Ok(Sites::Dealt { table, sites, deal })
            }
            _ if !self.by.is_empty() => Ok(Sites::Dealt {
                table,
                sites: 1,
                deal,
            }),
            (columns, _) => Ok(Sites::Columns {
                table,
                columns: columns.as_deref().map(columns_of),
            }),
        }
    }
}

/// The columns of each site as a person types them: `a,b|c,d`.
fn columns_of(text: &str) -> Vec<Vec<String>> {
    let names = |site: &str| -> Vec<String> {
        let names = site.split(',').map(str::trim);
        let names = names.filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    };
    text.split('|').map(names).collect()
}
