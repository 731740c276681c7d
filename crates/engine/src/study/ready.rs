//! A study made ready for a run: the requirement that holds among so many sites, who holds which column,
//! and a site's table as the protocols take it.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;

use hedgerow_data::study::{Partition, Split};
use hedgerow_data::{Codes, Domain, Role, Schema, Study, Table};
use hedgerow_node::agreement::Agreement;
use hedgerow_privacy::{Model, Requirement, Scope, SingledOut};
use hedgerow_protocols::RunSettings;
use hedgerow_protocols::horizontal::SensitiveCodes;
use hedgerow_protocols::horizontal::mondrian::Medians;
use hedgerow_smc::Security;

use super::opened::Opened;
use super::refused::{StudyRefused, TableRefused};
use crate::error::Error;

/// A study that can be run here.
pub(crate) struct Ready {
    pub(crate) study: Study,
    pub(crate) requirement: Requirement,
    /// How the study's protocols run.
    pub(crate) run: RunSettings,
    /// Which site holds which column, where sites hold the same people; one site holds all columns where
    /// the study does not say.
    pub(crate) split: Split,
    /// The number of sites of a run.
    pub(crate) sites: usize,
    /// The opened study that this was made of.
    pub(crate) opened: Arc<Opened>,
}

/// What a site contributes to a run.
pub(crate) enum Contribution {
    /// The site's own people, by column.
    People(Columns),
    /// The site's own columns of people whom other sites know too.
    Columns(Table),
}

/// Refuses columns of text that a release would have to carry: sites code values by the study, and text has
/// no codes.
pub(super) fn refuse_text(schema: &Schema, study: &Path) -> Result<(), StudyRefused> {
    let mut attributes = schema.attributes().iter();
    let text = attributes
        .find(|attribute| attribute.role == Role::Other && attribute.domain == Domain::Text);
    match text {
        None => Ok(()),
        Some(attribute) => Err(StudyRefused::Text {
            study: study.to_owned(),
            column: attribute.name.clone(),
        }),
    }
}

/// The most combinations of sensitive values that are counted as one attribute.
const MOST_COMBINATIONS: u64 = 100_000;

/// One site's columns, by the attribute's position; `None` for a column of text.
#[derive(Default)]
pub(crate) struct Columns {
    codes: Vec<Option<Codes>>,
    /// How many records each row stands for; one each where there are no counts.
    pub(crate) counts: Option<Vec<u64>>,
}

impl Columns {
    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.codes
            .iter()
            .flatten()
            .map(Codes::len)
            .next()
            .unwrap_or(0)
    }

    /// Number of records.
    pub(crate) fn records(&self) -> u64 {
        let counts = self.counts.as_ref();
        counts.map_or(self.rows() as u64, |counts| counts.iter().sum())
    }
}

impl Deref for Columns {
    type Target = [Option<Codes>];

    fn deref(&self) -> &Self::Target {
        &self.codes
    }
}

impl DerefMut for Columns {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.codes
    }
}

impl FromIterator<Option<Codes>> for Columns {
    fn from_iter<I: IntoIterator<Item = Option<Codes>>>(columns: I) -> Self {
        Self {
            codes: columns.into_iter().collect(),
            counts: None,
        }
    }
}

impl Ready {
    /// Sees that a study that has been read can be run: what sites signed is what they run, even if
    /// its file has changed since.
    pub(crate) fn of(agreement: &Arc<Agreement>) -> Result<Self, Error> {
        let ready = Self::new(Arc::new(Opened::of(agreement)?), None)?;
        if ready.is_vertical() && ready.study.split.is_none() {
            let study = agreement.path().to_owned();
            return Err(StudyRefused::NoHolders { study }.into());
        }
        Ok(ready)
    }

    /// Whether sites hold the same people.
    pub(crate) fn is_vertical(&self) -> bool {
        self.study.partition == Partition::Vertical
    }

    /// Sees that a study can be run among so many sites; among the sites that it names, where `sites` is
    /// `None`.
    pub(crate) fn new(opened: Arc<Opened>, sites: Option<u64>) -> Result<Self, Error> {
        let study = opened.study.clone();
        let scope = Scope {
            sites: sites.or(Scope::of_study(&study).sites),
            ..Scope::of_study(&study)
        };
        let requirement = Requirement::of_document(study.document(), &scope)?;
        requirement.see_that_m_is_said(&study)?;
        requirement.see_that_print_differs(&study)?;
        opened.run.see_fit(&study, &requirement, scope.sites)?;
        let combinations = scope.sensitive.iter().map(|attribute| attribute.values);
        let combinations = combinations.fold(1, u64::saturating_mul);
        if requirement.sensitive.has_product() && combinations > MOST_COMBINATIONS {
            return Err(Error::StudyRefused(StudyRefused::Combinations {
                study: opened.path.clone(),
                combinations,
                most: MOST_COMBINATIONS,
            }));
        }
        if study.is_virtual() && study.query.is_none() {
            let study = opened.path.clone();
            return Err(StudyRefused::NoQuestions { study }.into());
        }
        refuse_text(&study.schema, &opened.path)?;
        Ok(Self {
            split: match &study.split {
                Some(split) => split.clone(),
                None => Split::whole(&study.schema),
            },
            study,
            requirement,
            run: opened.run,
            // A study without sites is for one party.
            sites: scope.sites.map_or(1, |sites| sites as usize),
            opened,
        })
    }

    /// The sensitive attributes as one, where the requirement counts them so: the code of each combination.
    pub(crate) fn product(&self, columns: &Columns) -> Option<(Codes, u32)> {
        if !self
            .requirement
            .sensitive_of(&self.study.schema)
            .has_product()
        {
            return None;
        }
        let positions = self.study.schema.with_role(Role::Sensitive);
        let coded = |position: &usize| Some((columns[*position].as_ref()?, self.size(*position)));
        let coded: Vec<(&Codes, u32)> = positions.iter().filter_map(coded).collect();
        // `open` has checked that the product is small.
        let size = coded.iter().map(|(_, size)| size).product();
        let mut product = Codes::for_size(size);
        for row in 0..coded.first().map_or(0, |(codes, _)| codes.len()) {
            let combined = coded
                .iter()
                .fold(0, |code, (codes, size)| code * size + codes.get(row));
            product.push(combined);
        }
        Some((product, size))
    }

    /// The sensitive attributes as the requirement counts them: each, their product, or the product behind
    /// each.
    pub(crate) fn sensitive<'c>(
        &self,
        columns: &'c Columns,
        product: Option<&'c (Codes, u32)>,
    ) -> Vec<SensitiveCodes<'c>> {
        let schema = &self.study.schema;
        let counts_each = self.requirement.sensitive_of(schema).has_each();
        let positions = schema.with_role(Role::Sensitive).into_iter();
        let coded = |position: usize| {
            Some(SensitiveCodes {
                codes: columns[position].as_ref()?,
                size: self.size(position),
            })
        };
        let each = positions.filter(|_| counts_each).filter_map(coded);
        let product = product.map(|(codes, size)| SensitiveCodes { codes, size: *size });
        each.chain(product).collect()
    }

    fn size(&self, position: usize) -> u32 {
        self.study.schema.attributes()[position].domain.size()
    }

    /// The rows of a table that belong to a site, by its columns.
    pub(crate) fn columns(
        &self,
        table: &Table,
        rows: impl Iterator<Item = usize> + Clone,
    ) -> Columns {
        let attributes = self.study.schema.attributes().iter().enumerate();
        let pick = |(position, attribute): (usize, &hedgerow_data::Attribute)| {
            let codes = table.codes(position)?;
            let mut own = Codes::for_size(attribute.domain.size());
            rows.clone().for_each(|row| own.push(codes.get(row)));
            Some(own)
        };
        let columns: Columns = attributes.map(pick).collect();
        let of_rows = |counts: &[u64]| rows.map(|row| counts[row]).collect();
        Columns {
            counts: table.counts().map(of_rows),
            ..columns
        }
    }

    /// Refuses counted rows where each person's row is needed.
    pub(crate) fn refuse_counted(&self, table: &Table, name: &str) -> Result<(), TableRefused> {
        let is_cut = self.study.algorithm.cuts() && !self.is_vertical();
        match table.counts() {
            Some(_) if !is_cut => Err(TableRefused::Counted {
                table: name.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Sees, before anything is sent, that a release of so many records and more finds room at the sites.
    pub(crate) fn see_room(&self, records: u64) -> Result<(), Error> {
        match self.study.algorithm.cuts() && !self.is_vertical() {
            true => Ok(self.plan().refuse(records, self.sites)?),
            false => Ok(()),
        }
    }

    /// What a site with this table contributes; errors give the table the name `name`.
    pub(crate) fn contribution(&self, table: Table, name: &str) -> Result<Contribution, Error> {
        see_fit(&self.study, &table, name)?;
        self.refuse_counted(&table, name)?;
        let size = Size::of(&table);
        see_counts((&self.study, &self.run), &self.requirement, size, name)?;
        if self.is_vertical() {
            Ok(Contribution::Columns(table))
        } else {
            Ok(Contribution::People(self.columns(&table, 0..table.rows())))
        }
    }
}

/// Sees, before anything is sent, that a site may contribute a table to a run of the study.
pub(crate) fn see_fit(study: &Study, table: &Table, name: &str) -> Result<(), Error> {
    refuse_singled_out(study, table, name)?;
    if study.partition == Partition::Vertical {
        see_people(study, table, name)?;
    }
    Ok(())
}

/// The most counts of sensitive values that a run holds for the classes of one table: some gigabytes.
const MOST_COUNTS: u64 = 1 << 28;

/// How large a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) records: u64,
    /// Rows, of which each stands for a record or, counted, for several.
    pub(crate) rows: u64,
}

impl Size {
    pub(crate) fn of(table: &Table) -> Self {
        Self {
            records: table.records(),
            rows: table.rows() as u64,
        }
    }

    /// The most classes of at least k records. Records of one row are told apart by relaxed medians alone.
    fn classes(self, k: u64, run: &RunSettings) -> u64 {
        let medians = run.top_down.medians;
        let is_relaxed = match run.security {
            Security::Hardened => medians == Some(Medians::Relaxed),
            Security::Published => medians != Some(Medians::Strict),
        };
        let classes = self.records / k.max(1);
        let most = if is_relaxed {
            classes
        } else {
            classes.min(self.rows)
        };
        most.max(1)
    }
}

/// Sees that the sensitive values of a study are few enough to be counted in every class of such a table.
pub(crate) fn see_counts(
    (study, run): (&Study, &RunSettings),
    requirement: &Requirement,
    size: Size,
    table: &str,
) -> Result<(), TableRefused> {
    let speaks_of_size_alone =
        |model: &Model| matches!(model, Model::KAnonymity { .. }) || model.speaks_of_sites();
    // A site that holds some columns counts some of the values.
    let is_counted = study.partition == Partition::Horizontal;
    if !is_counted || requirement.models.iter().all(speaks_of_size_alone) {
        return Ok(());
    }
    let sensitive = study.schema.with_role(Role::Sensitive).into_iter();
    let sensitive = sensitive.map(|position| &study.schema.attributes()[position]);
    let values = || {
        sensitive
            .clone()
            .map(|attribute| u64::from(attribute.domain.size()))
    };
    // Values, and combinations of them, as far as the requirement counts either.
    let counted = requirement.sensitive_of(&study.schema);
    let each = if counted.has_each() {
        values().sum()
    } else {
        0
    };
    let together = match counted.has_product() {
        true => values().fold(1, u64::saturating_mul),
        false => 0,
    };
    let classes = size.classes(requirement.k(), run);
    if classes.saturating_mul(together.saturating_add(each)) <= MOST_COUNTS {
        return Ok(());
    }
    let largest = match counted.has_product() {
        true => Vec::from_iter(sensitive.clone()),
        false => Vec::from_iter(sensitive.clone().max_by_key(|one| one.domain.size())),
    };
    let names: Vec<&str> = largest.iter().map(|attribute| &*attribute.name).collect();
    Err(TableRefused::TooManyCounts {
        table: table.to_owned(),
        column: names.join(" × "),
        values: values().max().unwrap_or(0).max(together),
        classes,
    })
}

/// Sees, before anything is sent, that a table of people whom other sites hold too has people in it and
/// tells them apart.
pub(crate) fn see_people(study: &Study, table: &Table, name: &str) -> Result<(), TableRefused> {
    let table_name = || name.to_owned();
    if table.rows() == 0 {
        return Err(TableRefused::NoPeople {
            table: table_name(),
        });
    }
    let keys = study.identity.keys(table);
    keys.map_err(|source| TableRefused::Identity {
        table: table_name(),
        source,
    })?;
    Ok(())
}

/// Sees, before anything is sent, that columns which are published as they are do not single out more
/// records than the study allows. The error names every such column.
pub(crate) fn refuse_singled_out(study: &Study, table: &Table, name: &str) -> Result<(), Error> {
    let refusals = SingledOut::of_table(table, study.is_fragmented()).refusals();
    let errors = refusals.into_iter().map(|refusal| {
        let table = name.to_owned();
        TableRefused::SingledOut { table, refusal }.into()
    });
    Error::all(errors.collect())
}
