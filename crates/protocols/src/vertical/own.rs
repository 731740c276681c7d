//! What a site holds of a table whose columns stand at several sites, and the requirement on the site's
//! own sensitive attributes.
//!
//! # Discloses
//! To all sites, whether all records together satisfy a requirement beyond k and t.

use hedgerow_data::study::Split;
use hedgerow_data::{Codes, Domain, Role, Schema, Table};
use hedgerow_privacy::classes::{Classes, Histograms};
use hedgerow_privacy::closeness::{Distance, EarthMover};
use hedgerow_privacy::{ClassView, Counts, Model, Reference, Requirement, Sensitive, TableView};
use hedgerow_smc::{Party, What};

use crate::error::Error;
use crate::horizontal::requirement::best_of;

/// A site's columns by their position in the study's schema: the columns of its table that have codes.
pub fn columns_of<'t>(schema: &Schema, table: &'t Table) -> Vec<(usize, &'t Codes)> {
    let own = table.schema().attributes().iter().enumerate();
    own.filter_map(|(place, attribute)| {
        Some((schema.position(&attribute.name)?, table.codes(place)?))
    })
    .collect()
}

/// Whether sites ask each other if all records together satisfy these models. Of k and t that is known.
pub(super) fn is_asked(models: &[Model]) -> bool {
    let is_known =
        |model: &Model| matches!(model, Model::KAnonymity { .. } | Model::Closeness { .. });
    !models.iter().all(is_known)
}

/// Which site holds which columns, and what every class must satisfy.
#[derive(Clone, Copy)]
pub(super) struct Held<'a> {
    pub(super) schema: &'a Schema,
    pub(super) split: &'a Split,
    pub(super) requirement: &'a Requirement,
}

impl<'a> Held<'a> {
    /// Refuses demands that sites with different columns cannot check, and a k above the number of records.
    pub(super) fn refuse(&self, records: usize) -> Result<(), Error> {
        let requirement = self.requirement;
        let not_vertical = |model: String| Err(Error::NotVertical { model });
        if let Some(m) = requirement.m {
            return not_vertical(format!("m = {m}"));
        }
        if let Some(model) = requirement
            .models
            .iter()
            .find(|model| model.speaks_of_sites())
        {
            return not_vertical(model.to_string());
        }
        if requirement.sensitive_of(self.schema).has_product() {
            let word = match requirement.sensitive {
                Sensitive::Both => "both",
                _ => "product",
            };
            return not_vertical(format!("sensitive = \"{word}\""));
        }
        if self.schema.with_role(Role::Quasi).is_empty() {
            return Err(Error::NoQuasi);
        }
        let roles = [Role::Quasi, Role::Sensitive, Role::Other];
        let released = roles
            .into_iter()
            .flat_map(|role| self.schema.with_role(role));
        // Text has no codes that mean the same everywhere.
        let mut texts = released.map(|position| &self.schema.attributes()[position]);
        if let Some(text) = texts.find(|attribute| attribute.domain == Domain::Text) {
            let column = text.name.clone();
            return Err(Error::FreeText { column });
        }
        let k = requirement.k();
        if (records as u64) < k {
            return Err(Error::Unmeetable {
                records: records as u64,
                model: format!("k = {k}"),
                best: format!("the largest k that can be met is {records}"),
            });
        }
        Ok(())
    }

    /// A site's columns of a role, in common order of records.
    pub(super) fn own_columns(
        &self,
        party: &Party,
        role: Role,
        columns: &[(usize, &Codes)],
        rows: &[u32],
    ) -> Result<Vec<OwnColumn<'a>>, Error> {
        let mut own = Vec::new();
        for position in self.columns_at(party, party.me().index(), role) {
            let found = columns.iter().find(|(held, _)| *held == position);
            let (_, codes) = found.ok_or_else(|| Error::NoColumn {
                column: self.schema.attributes()[position].name.clone(),
            })?;
            own.push(OwnColumn::new(self.schema, position, codes, rows));
        }
        Ok(own)
    }

    /// The columns that a site holds; a party of one holds everybody's.
    pub(super) fn columns_at(&self, party: &Party, site: usize, role: Role) -> Vec<usize> {
        let all = self.schema.with_role(role).into_iter();
        let own = self.split.with_role(self.schema, site, role);
        let is_own = |at: &usize| party.sites() == 1 || own.contains(at);
        all.filter(is_own).collect()
    }
}

/// A site's column in the common order.
#[derive(Debug, Clone)]
pub(super) struct OwnColumn<'a> {
    /// The attribute's position in the schema.
    pub(super) position: usize,
    pub(super) domain: &'a Domain,
    /// Code of each record.
    pub(super) codes: Vec<u32>,
}

impl<'a> OwnColumn<'a> {
    pub(super) fn new(schema: &'a Schema, position: usize, codes: &Codes, rows: &[u32]) -> Self {
        let codes = rows.iter().map(|row| codes.get(*row as usize));
        Self {
            position,
            domain: &schema.attributes()[position].domain,
            codes: codes.collect(),
        }
    }

    pub(super) fn reference(&self) -> Reference {
        let mut counts = vec![0; self.domain.size() as usize];
        for code in &self.codes {
            counts[*code as usize] += 1;
        }
        Reference::new(counts)
    }
}

/// What a site's classes must satisfy, and the table that they are measured against.
pub(super) struct Demand<'a> {
    pub(super) models: &'a [Model],
    pub(super) table: TableView<'a>,
    pub(super) sensitive: &'a [OwnColumn<'a>],
}

impl<'a> Demand<'a> {
    /// The requirement on a site's own sensitive attributes, beside their distribution in the whole
    /// table.
    pub(super) fn new(
        requirement: &'a Requirement,
        sensitive: &'a [OwnColumn<'a>],
        references: &'a [Reference],
    ) -> Self {
        let wanted = requirement.models.iter().find_map(|model| match model {
            Model::Closeness { distance, .. } => *distance,
            _ => None,
        });
        let movers = sensitive.iter().zip(references).map(|(column, reference)| {
            let distance = wanted.unwrap_or_else(|| Distance::natural(column.domain));
            EarthMover::new(reference, distance, column.domain.taxonomy())
        });
        Self {
            models: &requirement.models,
            table: TableView {
                references,
                movers: movers.collect(),
            },
            sensitive,
        }
    }

    /// Whether each class satisfies the requirement; `records` has the record of each row of `classes`.
    pub(super) fn holds(&self, classes: &Classes, records: &[u32]) -> Vec<bool> {
        let histograms: Vec<Histograms> = self
            .sensitive
            .iter()
            .map(|column| {
                let codes = records.iter().map(|record| column.codes[*record as usize]);
                Histograms::new(classes, &codes.collect::<Vec<u32>>())
            })
            .collect();
        let holds = |class: usize| {
            let counts: Vec<Counts<'_>> = histograms.iter().map(|of| of.class(class)).collect();
            self.class_holds(classes.size(class), &counts)
        };
        (0..classes.count()).map(holds).collect()
    }

    /// The values of each sensitive attribute.
    pub(super) fn all_values(&self) -> Vec<Vec<u32>> {
        let references = self.table.references.iter();
        references
            .map(|reference| (0..reference.counts().len() as u32).collect())
            .collect()
    }

    /// The counts of all records together.
    fn whole<'c>(&'c self, values: &'c [Vec<u32>]) -> Vec<Counts<'c>> {
        let pairs = values.iter().zip(self.table.references);
        pairs
            .map(|(values, reference)| Counts::new(values, reference.counts()))
            .collect()
    }

    /// For each model, whether all records together satisfy it.
    pub(super) fn each_holds_for_all(&self) -> Vec<bool> {
        let values = self.all_values();
        let counts = self.whole(&values);
        let size = self
            .sensitive
            .first()
            .map_or(u64::MAX, |column| column.codes.len() as u64);
        let view = ClassView {
            size,
            sensitive: &counts,
            sites: None,
        };
        let models = self.models.iter();
        models
            .map(|model| model.holds(&view, &self.table))
            .collect()
    }

    /// Whether a class of this size satisfies the requirement, with these counts of each sensitive
    /// attribute.
    pub(super) fn class_holds(&self, size: u64, counts: &[Counts<'_>]) -> bool {
        let view = ClassView {
            size,
            sensitive: counts,
            sites: None,
        };
        let mut models = self.models.iter();
        models.all(|model| model.holds(&view, &self.table))
    }

    pub(super) fn k(&self) -> u64 {
        let ks = self.models.iter().map(|model| match model {
            Model::KAnonymity { k } => *k,
            _ => 1,
        });
        ks.max().unwrap_or(1)
    }

    /// Refuses a requirement that all records together do not satisfy. For k and t every site knows the
    /// answer without asking. A site with too few different values says how much they would allow.
    pub(super) async fn refuse_unmeetable(
        &self,
        party: &mut Party,
        what: What,
        records: usize,
    ) -> Result<(), Error> {
        if !is_asked(self.models) {
            return Ok(());
        }
        let own = self.each_holds_for_all();
        let mut meets = own.clone();
        party.all(what, &mut meets).await?;
        let mut models = self.models.iter().zip(own).zip(meets);
        match models.find(|(_, meets)| !meets) {
            None => Ok(()),
            Some(((model, own), _)) => Err(Error::Unmeetable {
                records: records as u64,
                model: model.to_string(),
                best: if own {
                    String::from("another site's values do not satisfy it; ask for less")
                } else {
                    best_of(model, records as u64, &self.whole(&self.all_values()))
                },
            }),
        }
    }
}
