//! The rows that a release is compared with: the original table, or the own rows of one site.
//!
//! Own rows give counts and nothing else, and yet a count may be of one person: a page with such counts is for
//! the site itself, and says so.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data::files::{Others, check_columns};
use hedgerow_data::study::{Algorithm, Partition};
use hedgerow_data::{Release, Role, Schema, Table};
use serde::Serialize;

use super::refused::ReportRefused;
use crate::error::Error;
use crate::observe::{Observer, Work};
use crate::simulate::baselines::alone_of;
use crate::study::opened::Opened;
use crate::study::ready::Ready;
use crate::table::Table as Rows;
use crate::verify::Seen;
use crate::verify::beside::rows_of;
use crate::verify::read::histogram;

/// Clusters of more rows than these take longer to find than a person waits for a page.
const MOST_CLUSTERED_ALONE: usize = 50_000;

/// Rows to compare a release with.
#[derive(Serialize)]
pub(super) struct Before {
    /// Whose rows these are.
    pub(super) whose: Whose,
    /// How many rows there are.
    pub(super) rows: u64,
    /// What the site would lose alone, of own rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) alone: Option<Alone>,
    #[serde(skip)]
    table: Table,
}

/// Whose rows a release is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Whose {
    /// All rows that the release was made of.
    Original,
    /// The rows of one site.
    Own,
}

/// What a site would lose that publishes its rows alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Alone {
    /// The classes and the loss (NCP over the declared values) of a release of these rows alone.
    Published { classes: u64, ncp: f64 },
    /// The rows alone do not satisfy this model.
    Unmeetable(String),
    /// It is not measured, for this reason.
    NotMeasured(&'static str),
}

impl Before {
    /// The original table, if the caller gave it.
    pub(super) fn original(seen: &mut Seen) -> Option<Self> {
        let table = seen.original.take()?;
        Some(Self::of(Whose::Original, table))
    }

    /// The rows of one site, which may have some of the study's columns only where sites hold the same people.
    pub(super) fn own(
        path: &Path,
        (opened, sites): (&Arc<Opened>, Option<u64>),
        release: &Release,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let study = &opened.study;
        let is_split = study.partition == Partition::Vertical;
        let schema = match is_split {
            true => Arc::new(held(path, &study.schema)?),
            false => Arc::clone(&study.schema),
        };
        let rows = (&Rows::file(path), study.is_counted());
        let table = rows_of(rows, &schema, &Others::PassOverAll, observer)?;
        if table.rows() == 0 {
            let file = path.to_owned();
            return Err(ReportRefused::NoOwnRows { file }.into());
        }
        let mut before = Self::of(Whose::Own, table);
        before.alone = Some(match is_split {
            true => Alone::NotMeasured("the site has only some of the columns"),
            false => {
                before.refuse_others(path, release)?;
                before.alone(opened, sites, observer)?
            }
        });
        Ok(before)
    }

    fn of(whose: Whose, table: Table) -> Self {
        Self {
            whose,
            rows: table.records(),
            alone: None,
            table,
        }
    }

    /// The rows in a few words.
    pub(super) fn words(&self) -> &'static str {
        match self.whose {
            Whose::Original => "original rows",
            Whose::Own => "own rows",
        }
    }

    /// How often each value of a column occurs, by code; nothing of a column of text, or one that is not there.
    pub(super) fn counts(&self, column: &str) -> Option<Vec<u64>> {
        let position = self.table.schema().position(column)?;
        let size = self.table.schema().attributes()[position].domain.size();
        let codes = (self.table.codes(position)?, self.table.counts());
        Some(histogram(codes, size))
    }

    /// Own rows are rows of the release: there are no more of them, and each value of a quasi-identifier lies
    /// in a cell.
    fn refuse_others(&self, path: &Path, release: &Release) -> Result<(), ReportRefused> {
        let file = path.to_owned();
        let (rows, records) = (self.rows as usize, release.records() as usize);
        if rows > records {
            return Err(ReportRefused::MoreOwnRows {
                file,
                rows,
                records,
            });
        }
        for position in release.schema().with_role(Role::Quasi) {
            let attribute = &release.schema().attributes()[position];
            let (Some(counts), Some(column)) =
                (self.counts(&attribute.name), release.generalized(position))
            else {
                continue;
            };
            let is_strange = |(code, rows): (u32, &u64)| {
                *rows > 0 && !column.cells.iter().any(|cell| cell.contains(code))
            };
            let mut values = (0..).zip(&counts);
            if let Some((code, _)) = values.find(|value| is_strange(*value)) {
                return Err(ReportRefused::OtherRows {
                    file,
                    column: attribute.name.clone(),
                    value: attribute.domain.label(code).into_owned(),
                });
            }
        }
        Ok(())
    }

    /// What these rows would lose alone, if that is known in a time that a person waits.
    fn alone(
        &self,
        opened: &Arc<Opened>,
        sites: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<Alone, Error> {
        let is_slow = opened.study.algorithm == Algorithm::Clustering
            && self.table.rows() > MOST_CLUSTERED_ALONE;
        if is_slow {
            return Ok(Alone::NotMeasured(
                "clusters of so many rows take minutes to find",
            ));
        }
        let ready = Ready::new(Arc::clone(opened), sites)?;
        let records = self.rows;
        let watch = observer.begin(Work::Alone { records });
        let found = alone_of(&ready, &self.table)?;
        watch.advance(records);
        Ok(match found {
            Ok(alone) => Alone::Published {
                classes: alone.classes,
                ncp: alone.ncp,
            },
            Err(model) => Alone::Unmeetable(model),
        })
    }
}

/// The columns of a study that a table has.
fn held(path: &Path, schema: &Schema) -> Result<Schema, Error> {
    let attributes = schema.attributes().iter();
    let there = attributes.filter(|attribute| {
        let one = Arc::new(Schema::new(vec![(*attribute).clone()]));
        check_columns(path, &one, &Others::PassOverAll).is_ok()
    });
    let there: Vec<_> = there.cloned().collect();
    if there.is_empty() {
        // Says why the file cannot be read, or which columns it lacks.
        check_columns(path, &Arc::new(schema.clone()), &Others::PassOverAll)?;
    }
    Ok(Schema::new(there))
}
