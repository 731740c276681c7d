//! The queries of figures 7 to 10 on local anonymized data sets: which rows each site has for a query, and
//! what their union by Algorithm 5 gives away.

use std::collections::HashMap;

use hedgerow_data::{Cell, Release};
use hedgerow_smc::exposure::measure;
use hedgerow_smc::memory::Simulation;
use hedgerow_smc::settings::Probabilistic;
use hedgerow_smc::{Error as PrimitiveError, Generator, Items, Settings, What};

use crate::error::Error;

/// What the union of a query opens.
const ROWS: What = What::new("rows of a query", "JX08 section 4.4");
/// Bytes of a row: its class and its sensitive value.
const WIDTH: usize = 8;

/// A query: attributes with the value that each must have.
pub(super) type Query<'q> = &'q [(&'q str, &'q str)];

/// The rows that each site has for a query, as items of a union.
pub(super) struct Answers {
    /// Site by site.
    sites: Vec<Vec<Vec<u8>>>,
    /// Classes of the anonymized table and values of its sensitive attribute: random items are any of
    /// these, since every site knows the classes.
    domain: (u64, u64),
}

impl Answers {
    /// Runs a query on every local data set. A generalized row matches where its ranges contain the
    /// values: section 6.2 says that such queries return more records than on the data themselves.
    pub(super) fn of(local: &[Release], query: Query<'_>) -> Self {
        let mut classes: HashMap<Vec<Cell>, u32> = HashMap::new();
        let mut values = 1;
        let sites = local.iter().map(|release| {
            let attributes = release.schema().attributes().iter().enumerate();
            let quasi: Vec<_> = attributes
                .clone()
                .filter_map(|(position, attribute)| {
                    let asked = query.iter().find(|(name, _)| *name == attribute.name);
                    let value = asked.map(|(_, value)| attribute.domain.encode(value.as_bytes()));
                    Some((release.generalized(position)?, value))
                })
                .collect();
            let sensitive = attributes.filter_map(|(position, attribute)| {
                values = values.max(
                    u64::from(attribute.domain.size())
                        * u64::from(release.verbatim(position).is_some()),
                );
                release.verbatim(position)
            });
            let sensitive: Vec<_> = sensitive.collect();
            let mut rows = Vec::new();
            for row in 0..release.rows() {
                let cells = quasi
                    .iter()
                    .map(|(column, value)| (&column.cells[column.codes[row] as usize], value));
                let cells: Vec<_> = cells.collect();
                let key: Vec<Cell> = cells.iter().map(|(cell, _)| (*cell).clone()).collect();
                let next = classes.len() as u32;
                let class = *classes.entry(key).or_insert(next);
                // A value that the attribute does not have is in no range.
                let matches = cells.iter().all(|(cell, value)| {
                    value.is_none_or(|code| code.is_some_and(|code| cell.contains(code)))
                });
                if matches {
                    let value = sensitive.first().map_or(0, |codes| codes.get(row));
                    rows.push(item(class, value));
                }
            }
            rows
        });
        let sites = sites.collect();
        Self {
            sites,
            domain: (classes.len() as u64, values),
        }
    }

    /// How many rows match at all sites together.
    pub(super) fn rows(&self) -> usize {
        self.sites.iter().map(Vec::len).sum()
    }

    /// The loss of a site's set in unions of the rows, each with so many random items and a leader of its
    /// own; one number for each union.
    pub(super) fn losses(
        &self,
        random: usize,
        unions: usize,
        seed: u64,
    ) -> Result<Vec<f64>, Error> {
        let settings = Settings {
            decoys: random,
            // How the leader is found does not matter here.
            probabilistic: Probabilistic {
                laps: 2,
                ..Probabilistic::default()
            },
            ..Settings::published()
        };
        let capacity = self.sites.iter().map(Vec::len).max().unwrap_or(0);
        let (classes, values) = self.domain;
        let decoy = |generator: &mut Generator| {
            let class = generator.below(classes.max(1)) as u32;
            item(class, generator.below(values) as u32)
        };
        let shape = Items {
            width: WIDTH,
            capacity,
            domain: (classes * values) as f64,
            decoy: &decoy,
        };
        let outcome = Simulation::new(self.sites.len(), seed)
            .settings(settings)
            .run(|mut party| {
                let (shape, own) = (&shape, &self.sites[party.me().index()]);
                async move {
                    party.keep_witness();
                    for _ in 0..unions {
                        let mut items = own.clone();
                        party.union(ROWS, shape, &mut items).await?;
                    }
                    Ok::<_, PrimitiveError>(party.take_witness())
                }
            });
        let witnesses: Vec<_> = outcome.into_values()?.into_iter().flatten().collect();
        Ok(super::union::each(&witnesses)
            .filter_map(|one| Some(measure(&one).unions?.set))
            .collect())
    }
}

/// A row as bytes.
fn item(class: u32, value: u32) -> Vec<u8> {
    [class.to_be_bytes(), value.to_be_bytes()].concat()
}
