//! How the table fits the draft, found out at once: values that are not covered, columns that single people out
//! or seem to name them.

use std::sync::Arc;

use hedgerow::words::{count, percent, thousands};
use hedgerow::{Error, Uncovered};
use maud::{Markup, html};

use super::{Now, opened, uncovered_word};
use crate::console::Console;
use crate::drafts::Drafts;
use crate::html::parts::{Tone, badge, told};
use crate::jobs::{Found, Job, Key, What};

/// How a table fits.
pub(crate) struct Fit {
    /// Records of the table, where it fits; or why it does not, without any value.
    records: Result<Option<u64>, String>,
    warnings: Vec<String>,
    /// Columns that single records out: how many records, and of how many.
    singled_out: Vec<(String, u64, f64)>,
    /// Columns with values that are not covered, without these values.
    uncovered: Vec<Uncovered>,
    is_read: bool,
}

/// What is known of the fit.
pub(super) struct Known(Job);

/// What is known of the fit of the draft as it stands.
pub(super) async fn known(console: &Arc<Console>, now: &Now) -> Known {
    let drafts = console.drafts.clone();
    let key = key(What::Fit, &drafts, now);
    let job = console
        .job_of(key, move |site| Ok(Found::Fit(fit(&drafts, site.file())?)))
        .await;
    Known(job)
}

/// A job about the draft and the table as they are.
pub(super) fn key(what: What, drafts: &Drafts, now: &Now) -> Key {
    let folder = drafts.folder();
    let mut files = vec![drafts.path()];
    let columns = now.columns.iter().flatten();
    files.extend(columns.filter_map(|column| Some(folder.join(column.taxonomy.as_ref()?))));
    files.extend(now.table.as_ref().map(|table| table.path.clone()));
    let files: Vec<&std::path::Path> = files.iter().map(std::path::PathBuf::as_path).collect();
    Key::new(what, &folder, &files, &now.text)
}

fn fit(drafts: &Drafts, site: &hedgerow::node::site::SiteFile) -> Result<Fit, Error> {
    let (study, table) = opened(drafts, site)?;
    let tables: Vec<_> = table.iter().cloned().collect();
    let own = study.is_vertical()
        && study
            .declared()
            .sites
            .iter()
            .any(|one| one.name == site.name);
    let own = own.then_some(site.name.as_str());
    let (records, warnings, singled_out) = match study.check_as(&tables, None, own, &()) {
        Ok(checked) => {
            let first = checked.tables.first();
            let by = first.iter().flat_map(|table| {
                let columns = table.other.columns.iter();
                columns.map(|column| {
                    let share = table.other.share(column.unique);
                    (column.name.clone(), column.unique, share)
                })
            });
            let by = by.collect();
            (Ok(first.map(|table| table.records)), checked.warnings, by)
        }
        Err(error) => (Err(error.without_values()), Vec::new(), Vec::new()),
    };
    // Without any value: who may see one asks for it on the page of its column.
    let uncovered = table.as_ref().map(|table| study.uncovered(table, 0, &()));
    let is_read = table.is_some();
    let mut uncovered = uncovered
        .transpose()
        .unwrap_or_default()
        .unwrap_or_default();
    if let Some(own) = own {
        let held = study
            .declared()
            .sites
            .iter()
            .position(|one| one.name == own);
        let held = held.map(|place| study.declared().schema_at(place));
        uncovered.retain(|one| {
            held.as_ref()
                .is_none_or(|held| held.position(&one.column).is_some())
        });
    }
    Ok(Fit {
        records,
        warnings,
        singled_out,
        uncovered,
        is_read,
    })
}

impl Known {
    fn fit(&self) -> Option<&Fit> {
        match &self.0 {
            Job::Done(found) => match &**found {
                Found::Fit(fit) => Some(fit),
                _ => None,
            },
            _ => None,
        }
    }

    /// A word about a column.
    pub(super) fn of_column(&self, name: &str) -> Markup {
        let Some(fit) = self.fit().filter(|fit| fit.is_read) else {
            return html! {};
        };
        match fit.uncovered.iter().find(|one| one.column == name) {
            Some(one) if !one.is_there => badge(Tone::Bad, "not in the table"),
            Some(one) => uncovered_word(one.distinct),
            None => uncovered_word(0),
        }
    }
}

/// The section about the fit.
pub(super) fn section(known: &Known) -> Markup {
    html! {
        section aria-labelledby="fit" {
            h2 #fit { "Does the table fit?" }
            @match &known.0 {
                Job::Running => p { (badge(Tone::Wait, "being read")) " Every value is looked for in its column’s domain." },
                Job::Failed(why) => div.said.bad { (told(why)) },
                Job::Done(_) => @if let Some(fit) = known.fit() { (found(fit)) },
            }
        }
    }
}

fn found(fit: &Fit) -> Markup {
    html! {
        @match &fit.records {
            Ok(Some(records)) => p { (badge(Tone::Good, "it fits")) " " (count(*records, "record", "records")) " can be read under this study." },
            Ok(None) => p { (badge(Tone::Plain, "no table")) " The study is sound. Whether a table fits is not known." },
            Err(why) => div.said.bad { (told(why)) },
        }
        @for one in fit.uncovered.iter().filter(|one| one.distinct > 0) {
            p { (badge(Tone::Bad, "not covered")) " " strong { (one.column) } ": " (count(one.distinct, "value", "values")) " in " (count(one.rows, "row", "rows")) "." }
        }
        @for (name, unique, share) in &fit.singled_out {
            p { (badge(if *unique == 0 { Tone::Good } else { Tone::Wait }, "published as it is")) " " strong { (name) } " has " (thousands(*unique)) " records with a value that no other has, " (percent(*share)) "." }
        }
        @for warning in &fit.warnings { p { (badge(Tone::Wait, "look at this")) " " (warning) } }
    }
}
