//! What a caller can ask about a release, and which questions a release cannot answer.

use std::path::{Path, PathBuf};

use hedgerow_data::document::Document;
use hedgerow_data::{Study, TextTable, quoted_list};
use hedgerow_privacy::m_privacy::{Coalition, Strategy};
use hedgerow_privacy::query_error::Queries;
use hedgerow_privacy::{Requirement, Scope};

use super::refused::VerifyRefused;
use crate::error::Error;
use crate::observe::SharedObserver;
use crate::study::opened::Opened;
use crate::table::Table;

/// What [`verify`](crate::verify()) is asked beside the study of a release.
#[derive(Clone)]
pub struct Questions {
    /// Another requirement than the study's: a TOML file with a `[require]` table, or a line such as
    /// `k = 10, l = 3`.
    pub against: Option<String>,
    /// Quasi-identifiers, of a table without a study.
    pub quasi: Vec<String>,
    /// Sensitive attributes, of a table without a study.
    pub sensitive: Vec<String>,
    /// Whether a column `records` of a table without a study says how many records each row stands for.
    pub counted: bool,
    /// The column that names each record's site: needed for site diversity and m.
    pub provider_column: Option<String>,
    /// Columns without a role that may be in the release all the same.
    pub ignore: Vec<String>,
    /// Whether the other columns of a table without a study are passed over, whatever they hold: for
    /// measures of the columns that are named, which say nothing of the rest.
    pub passes_over: bool,
    /// The original table, for losses measured against it and for uniqueness before the release.
    pub original: Option<Table>,
    /// How many random queries are asked of the original and the release.
    pub queries: usize,
    /// How queries are drawn.
    pub query_kind: QueryKind,
    /// A table of the population that the release is a sample of.
    pub population: Option<Table>,
    /// Other anonymized views of the same table: releases of the same study. What all of them say together
    /// is measured (TG12 section 8.2.1).
    pub views: Vec<PathBuf>,
    /// By which of MPRIV's strategies m-privacy is verified too, so that its checks are counted.
    pub verification: Option<Strategy>,
    /// Who watches.
    pub observer: SharedObserver,
}

impl Default for Questions {
    fn default() -> Self {
        Self {
            against: None,
            quasi: Vec::new(),
            sensitive: Vec::new(),
            counted: false,
            provider_column: None,
            ignore: Vec::new(),
            passes_over: false,
            original: None,
            queries: 0,
            query_kind: QueryKind::Jx09,
            population: None,
            views: Vec::new(),
            verification: None,
            observer: std::sync::Arc::new(()),
        }
    }
}

/// How random queries are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryKind {
    /// Two attributes, ranges of 0.3 of the domain (JX09).
    Jx09,
    /// Two to half of the attributes, ranges of 0.3 of the domain (MPRIV).
    Mpriv,
}

impl QueryKind {
    pub(crate) fn queries(self, count: usize, attributes: usize) -> Queries {
        let attributes = match self {
            Self::Jx09 => (2, 2),
            Self::Mpriv => (2, (attributes / 2).max(2)),
        };
        Queries {
            count,
            attributes,
            width: 0.3,
            seed: 1,
        }
    }
}

impl Questions {
    /// Refuses questions that a fragmented release cannot answer: about sites, and about one closure for
    /// all records of a group whose quasi-identifiers were restored.
    pub(super) fn refuse_of_tables(&self, opened: &Opened) -> Result<(), VerifyRefused> {
        let study = &opened.study;
        if study.is_fragmented() && self.provider_column.is_some() {
            return Err(VerifyRefused::NoProvider);
        }
        let asks_records = self.queries > 0 || self.population.is_some() || !self.views.is_empty();
        if study.is_fragmented() && opened.run.d2pt.restore && asks_records {
            return Err(VerifyRefused::Restored);
        }
        Ok(())
    }

    /// A strategy is for coalitions: of sites that are named, and no more of them than it can name.
    pub(super) fn refuse_verification(
        &self,
        requirement: Option<&Requirement>,
        sites: Option<usize>,
    ) -> Result<(), VerifyRefused> {
        if self.verification.is_none() {
            return Ok(());
        }
        let m = requirement.and_then(|requirement| requirement.m);
        match (m.filter(|m| *m > 0), sites) {
            (Some(_), Some(sites)) if sites > Coalition::MOST_SITES => {
                Err(VerifyRefused::TooManySites { sites })
            }
            (Some(_), Some(_)) => Ok(()),
            _ => Err(VerifyRefused::NoCoalitions),
        }
    }

    /// A column that is to be ignored is there, and has no role: otherwise somebody else is meant.
    pub(super) fn refuse_ignored(
        &self,
        table: &TextTable,
        study: &Study,
    ) -> Result<(), VerifyRefused> {
        for name in &self.ignore {
            let column = name.clone();
            if study.schema.position(name).is_some() {
                return Err(VerifyRefused::IgnoresRole { column });
            }
            if self.provider_column.as_ref() == Some(name) {
                return Err(VerifyRefused::IgnoresProvider { column });
            }
        }
        self.refuse_absent(table)
    }

    /// Sees that a column to be ignored exists.
    pub(super) fn refuse_absent(&self, table: &TextTable) -> Result<(), VerifyRefused> {
        match self.ignore.iter().find(|name| table.column(name).is_none()) {
            Some(name) => Err(VerifyRefused::IgnoresAbsent {
                file: table.file.clone(),
                column: name.clone(),
                columns: quoted_list(&table.names),
            }),
            None => Ok(()),
        }
    }

    /// What a release is compared with is read by the study that it is a release of.
    pub(super) fn refuse_without_study(&self) -> Result<(), VerifyRefused> {
        let compares = [
            ("an original", self.original.is_some()),
            ("queries", self.queries > 0),
            ("a population", self.population.is_some()),
            ("other views", !self.views.is_empty()),
        ];
        match compares.into_iter().find(|(_, is_asked)| *is_asked) {
            Some((what, _)) => Err(VerifyRefused::NoStudyToCompare { what }),
            None => Ok(()),
        }
    }

    /// A column has one role.
    pub(super) fn refuse_double_roles(&self) -> Result<(), VerifyRefused> {
        let mut named: Vec<&String> = self
            .quasi
            .iter()
            .chain(&self.sensitive)
            .chain(&self.provider_column)
            .chain(&self.ignore)
            .collect();
        named.sort_unstable();
        match named.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(VerifyRefused::NamedTwice {
                column: pair[0].clone(),
            }),
            None => Ok(()),
        }
    }
}

/// A requirement that is stated: a file, or the line itself.
pub(super) fn stated(against: &str, scope: &Scope) -> Result<Requirement, Error> {
    let path = Path::new(against);
    if path
        .extension()
        .is_some_and(|extension| extension == "toml")
    {
        return Ok(Requirement::of_document(&Document::open(path)?, scope)?);
    }
    Ok(Requirement::of_line(against, scope)?)
}
