//! `hedgerow generate`: synthetic tables, their taxonomies, and a study that checks.

use std::path::PathBuf;

use clap::ValueEnum;
use hedgerow::data::synthetic::{Kind, Plan, TableFormat, generate};
use hedgerow::words::{count, thousands};
use serde_json::json;

use crate::error::CliError;
use crate::output::Answer;
use crate::progress::Bar;

/// Make synthetic tables: one for each site, with taxonomies and a study file that checks.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow generate hospital --rows 10000 --sites 4 --out hospitals
  hedgerow generate census --rows 100000000 --format parquet --parts 64 --out census")]
pub(crate) struct Arguments {
    /// What the records are about.
    #[arg(value_enum)]
    kind: KindArgument,
    /// Records of all sites together.
    #[arg(long, default_value_t = 10_000)]
    rows: u64,
    /// Number of sites, 1 if it is not given; the institutions are three.
    #[arg(long)]
    sites: Option<usize>,
    /// The folder to make.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The same seed gives the same tables.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Format of the tables.
    #[arg(long, value_enum, default_value = "csv")]
    format: FormatArgument,
    /// One table of all sites, with a last column `site`; of institutions, everybody with all columns.
    #[arg(long)]
    pooled: bool,
    /// Each table as a folder of so many files, for tables that engines read.
    #[arg(long, value_name = "N")]
    parts: Option<usize>,
}

#[derive(Clone, Copy, ValueEnum)]
enum KindArgument {
    /// Patients: age, sex, zip, admission, diagnosis, treatment, cost.
    Hospital,
    /// Inhabitants: the nine columns of the Adult table.
    Census,
    /// Patients whom a clinic, a laboratory and an insurer know, each by other columns.
    Institutions,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatArgument {
    Csv,
    #[value(name = "csv.gz")]
    CsvGz,
    #[value(name = "csv.zst")]
    CsvZst,
    Parquet,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let plan = Plan {
        kind: match arguments.kind {
            KindArgument::Hospital => Kind::Hospital,
            KindArgument::Census => Kind::Census,
            KindArgument::Institutions => Kind::Institutions,
        },
        rows: arguments.rows,
        sites: arguments.sites.unwrap_or(match arguments.kind {
            KindArgument::Institutions => 3,
            _ => 1,
        }),
        seed: arguments.seed,
        format: match arguments.format {
            FormatArgument::Csv => TableFormat::Csv,
            FormatArgument::CsvGz => TableFormat::CsvGz,
            FormatArgument::CsvZst => TableFormat::CsvZst,
            FormatArgument::Parquet => TableFormat::Parquet,
        },
        pooled: arguments.pooled,
        parts: arguments.parts,
    };
    let bar = Bar::rows(plan.rows, "making rows");
    let written = generate(&plan, &arguments.out, &bar)?;
    drop(bar);

    let mut text = match plan.kind {
        Kind::Institutions => format!("{} people written\n", thousands(plan.rows)),
        _ => format!("{} records written\n", thousands(plan.rows)),
    };
    for (site, path, rows) in &written.tables {
        text.push_str(&format!(
            "  {site}: {} ({})\n",
            path.display(),
            count(*rows, "record", "records")
        ));
    }
    text.push_str(&format!("study: {}\n", written.study.display()));
    let value = json!({
        "study": written.study,
        "records": plan.rows,
        "seed": plan.seed,
        "tables": written.tables.iter().map(|(site, path, rows)| {
            json!({ "site": site, "path": path, "records": rows })
        }).collect::<Vec<_>>(),
        "taxonomies": written.taxonomies,
    });
    Ok(Answer::new(text, &value, true))
}
