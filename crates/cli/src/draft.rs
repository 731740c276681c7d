//! `hedgerow study draft` and `merge`: a study made of a table, and one made of the drafts of sites.

use std::path::{Path, PathBuf};

use hedgerow::words::count;
use hedgerow::{DraftOptions, Drafted, Study, Table};
use serde::Serialize;

use crate::error::{CliError, Usage};
use crate::output::{Answer, remark};
use crate::progress::Terminal;
use crate::table::table;

/// What a person may say of the columns of a table that a study is drafted of.
#[derive(clap::Args)]
pub(crate) struct Columns {
    /// The least number of records in a class; 10, or all records of a smaller table, if not given.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    k: Option<u64>,
    /// The columns that others may know of a person: age,zip,sex. Columns that are neither named here nor
    /// by --sensitive are left out of a release.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    quasi: Vec<String>,
    /// The columns that nobody may learn of a person.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    sensitive: Vec<String>,
    /// A folder of ready hierarchies, one file for each column: age.csv, or adult_hierarchy_age.csv.
    #[arg(long, value_name = "DIR")]
    hierarchies: Option<PathBuf>,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  hedgerow study draft patients.csv
  hedgerow study draft patients.csv --quasi age,zip,sex --sensitive diagnosis --k 10 --out study
  hedgerow study draft adult.csv --hierarchies arx-hierarchies
  hedgerow study draft north.csv --share --out for-the-others")]
pub(crate) struct DraftArguments {
    /// The table. `-` is CSV from standard input.
    table: PathBuf,
    #[command(flatten)]
    columns: Columns,
    /// Draft what others may see: ranges are rounded outward, values that fewer than k records have are
    /// left out, and what the draft tells of the table is listed.
    #[arg(long)]
    share: bool,
    /// A column that names each record's site, which is no part of the study.
    #[arg(long, value_name = "COLUMN")]
    provider_column: Option<String>,
    /// The folder for study.toml and its taxonomies; files that are there are kept.
    #[arg(long, value_name = "DIR", default_value = "study")]
    out: PathBuf,
}

#[derive(clap::Args)]
#[command(
    after_help = "Columns of which the drafts say different things are named, all at once.
Example: hedgerow study merge north/study.toml south/study.toml east/study.toml --out joint"
)]
pub(crate) struct MergeArguments {
    /// The drafts, two or more.
    #[arg(required = true)]
    studies: Vec<PathBuf>,
    /// The name of the joint study; without it the name that all drafts have, or `joint`.
    #[arg(long)]
    name: Option<String>,
    /// The folder for study.toml and its taxonomies; files that are there are kept.
    #[arg(long, value_name = "DIR", default_value = "study")]
    out: PathBuf,
}

/// A drafted study and where it lies.
#[derive(Serialize)]
struct Saved<'a> {
    study: &'a Path,
    #[serde(flatten)]
    drafted: &'a Drafted,
}

impl Columns {
    /// A study of the columns that are named, for a table that comes without one; shows it.
    pub(crate) fn drafted(
        &self,
        table: &Table,
        provider_column: Option<&str>,
        out: &Path,
    ) -> Result<Study, CliError> {
        if self.quasi.is_empty() {
            return Err(Usage::NoStudy.into());
        }
        let options = DraftOptions {
            provider_column: provider_column.map(str::to_owned),
            ..self.options()
        };
        let (drafted, study) = of_table(table, &options, out)?;
        let path = out.join("study.toml");
        remark(&format!(
            "no study was given, so {} was drafted:\n{drafted}hint: change it and use it again with --study {0}",
            path.display()
        ));
        Ok(study)
    }

    fn options(&self) -> DraftOptions {
        let trimmed = |names: &[String]| names.iter().map(|name| name.trim().to_owned()).collect();
        DraftOptions {
            k: self.k,
            quasi: trimmed(&self.quasi),
            sensitive: trimmed(&self.sensitive),
            hierarchies: self.hierarchies.clone(),
            ..DraftOptions::default()
        }
    }
}

/// Drafts a study of a table into a folder, and sees that the table fits the draft.
fn of_table(
    table: &Table,
    options: &DraftOptions,
    out: &Path,
) -> Result<(Drafted, Study), CliError> {
    let observer = Terminal::default();
    let drafted = Study::draft_of(table, options, &observer)?;
    let study = drafted.save(out)?;
    if !options.share {
        let column = options.provider_column.as_deref();
        study.check_as(std::slice::from_ref(table), column, None, &observer)?;
    }
    Ok((drafted, study))
}

pub(crate) fn draft(arguments: &DraftArguments) -> Result<Answer, CliError> {
    let table = table(&arguments.table)?;
    let options = DraftOptions {
        share: arguments.share,
        provider_column: arguments.provider_column.clone(),
        ..arguments.columns.options()
    };
    let (drafted, _) = of_table(&table, &options, &arguments.out)?;
    let path = arguments.out.join("study.toml");
    let records = drafted.records.unwrap_or(0);
    let mut text = format!(
        "{}: drafted of {}, {}\n{drafted}",
        path.display(),
        table.name(),
        count(records, "record", "records")
    );
    if arguments.share {
        text.push_str("hint: show it only to those who may know what it tells; hedgerow study merge joins the drafts of all sites\n");
    } else {
        text.push_str(&format!(
            "hint: read the roles and their reasons in {0}, then hedgerow anonymize --study {0} {1}\n",
            path.display(),
            arguments.table.display()
        ));
    }
    let saved = Saved {
        study: &path,
        drafted: &drafted,
    };
    Ok(Answer::new(text, &saved, true))
}

pub(crate) fn merge(arguments: &MergeArguments) -> Result<Answer, CliError> {
    let studies = arguments.studies.iter().map(Study::open);
    let studies = studies.collect::<Result<Vec<_>, _>>()?;
    let joined = Study::merge(&studies, arguments.name.as_deref())?;
    joined.save(&arguments.out)?;
    let path = arguments.out.join("study.toml");
    let text = format!(
        "{0}: joined of {1}\n{joined}hint: every site sees that its own table fits: hedgerow study check {0} TABLE\n",
        path.display(),
        count(studies.len() as u64, "draft", "drafts"),
    );
    let saved = Saved {
        study: &path,
        drafted: &joined,
    };
    Ok(Answer::new(text, &saved, true))
}
