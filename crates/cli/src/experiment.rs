//! `hedgerow experiment`: the figures and tables of the papers, measured again.

use std::path::PathBuf;
use std::sync::Mutex;

use hedgerow::data::files::Progress as _;
use hedgerow::words::{aligned, count};
use hedgerow_experiments::{Options, Progress, list, run as measure};
use serde_json::json;

use crate::error::{CliError, Usage};
use crate::output::{Answer, remark};
use crate::progress::Bar;

/// The environment variable that names the folder of real tables where `--data` does not.
const DATA: &str = "HEDGEROW_DATA";

/// Measure the figures of the papers again: `list` names them, `all` measures all of them.
#[derive(clap::Args)]
#[command(
    after_help = "Each figure is written as NAME.csv (its numbers), NAME.svg and NAME.json, and index.html shows all
figures of the folder: the paper's claim, what was measured, and whether the claim holds. A figure that
the folder has with the same settings is kept, so a stopped `all` goes on where it was.

Examples:
  hedgerow experiment list
  hedgerow experiment jx09-fig4 --quick
  hedgerow experiment all --data tables --out figures

Exit codes: 0 done, whether claims hold or differ; 1 a check that must hold at this size does not; 2 bad input."
)]
pub(crate) struct Arguments {
    /// The figures, `all`, or `list`.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// A small version of each figure.
    #[arg(long)]
    quick: bool,
    /// The folder of real tables (adult9, adult14, census7); HEDGEROW_DATA where it is not given, and the
    /// synthetic census without either.
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
    /// The folder of the figures.
    #[arg(long, value_name = "DIR", default_value = "experiments")]
    out: PathBuf,
    /// The same seed gives the same counts.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let names = match &arguments.names[..] {
        [word] if word == "list" => return Ok(listed()),
        [word] if word == "all" => &[],
        names if names.iter().any(|name| name == "list" || name == "all") => {
            return Err(Usage::NamesAndAll.into());
        }
        names => names,
    };
    let named = || std::env::var_os(DATA).filter(|folder| !folder.is_empty());
    let data = arguments
        .data
        .clone()
        .or_else(|| named().map(PathBuf::from));
    let options = Options::new(&arguments.out, arguments.seed)
        .quick(arguments.quick)
        .data(data);
    let report = measure(names, &options, &Terminal::default())?;
    let holds = report.broken.is_empty();
    Ok(Answer::of(&report, holds))
}

/// One line for each figure.
fn listed() -> Answer {
    let figures = list();
    let rows = figures.iter().map(|figure| {
        vec![
            figure.name.to_owned(),
            figure.paper.name().to_owned(),
            figure.title.to_owned(),
        ]
    });
    let mut text = aligned(&rows.collect::<Vec<_>>());
    text.push_str(&format!(
        "{}; hedgerow experiment all measures all of them\n",
        count(figures.len() as u64, "figure", "figures")
    ));
    let value = figures.iter().map(|figure| {
        json!({
            "figure": figure.name,
            "paper": figure.paper.name(),
            "title": figure.title,
            "claim": figure.claim,
        })
    });
    let value = json!({ "figures": value.collect::<Vec<_>>() });
    Answer::new(text, &value, true)
}

/// A bar for the figures that are being measured.
#[derive(Default)]
struct Terminal(Mutex<Option<Bar>>);

impl Progress for Terminal {
    fn begin(&self, figures: &str, done: usize, all: usize) {
        if let Ok(mut bar) = self.0.lock() {
            // The bar before is cleared first.
            *bar = None;
            remark(&format!("{figures} ({done} of {all} done)"));
            *bar = Some(Bar::rows(0, figures));
        }
    }

    fn steps(&self, steps: u64) {
        self.with(|bar| bar.expect_more(steps));
    }

    fn step(&self, words: &str) {
        self.with(|bar| {
            bar.say(words);
            bar.advance(1);
        });
    }
}

impl Terminal {
    fn with(&self, act: impl FnOnce(&Bar)) {
        if let Ok(bar) = self.0.lock()
            && let Some(bar) = &*bar
        {
            act(bar);
        }
    }
}
