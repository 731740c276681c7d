//! The three algorithms on a table in memory, and what their classes lose.

use hedgerow::Study;
use hedgerow_data::study::Split;
use hedgerow_data::{Codes, Role, Table};
use hedgerow_protocols::RunSettings;
use hedgerow_protocols::clustering::Loss;
use hedgerow_protocols::horizontal::clustering::{self, Clustering, cluster};
use hedgerow_protocols::horizontal::cover::Writing;
use hedgerow_protocols::horizontal::{OwnRows, Owner, hilbert, mondrian};
use hedgerow_protocols::vertical;
use hedgerow_smc::{Party, Seed};

use super::Source;
use crate::frame::prelude::*;

/// A study of a table, and the table as codes.
pub(super) struct Coded {
    study: Study,
    table: Table,
    settings: RunSettings,
}

/// A class: the rows of its records.
pub(super) type Class = Vec<u32>;

impl Coded {
    /// Some rows of a source, to be clustered as published so that a loss is small.
    pub(super) fn new(source: &Source, k: u64, loss: &str) -> Result<Self, Error> {
        Self::with(
            source,
            k,
            &format!("name = \"clustering\"\nloss = \"{loss}\""),
        )
    }

    /// Some rows of a source, with the lines of `[algorithm]`.
    pub(super) fn with(source: &Source, k: u64, algorithm: &str) -> Result<Self, Error> {
        let study = source
            .data
            .study("tg12")
            .quasi(&source.columns)
            .head("security = \"published\"")
            .require(format!("k = {k}"))
            .algorithm(format!("{algorithm}\nrecode = \"node\""))
            .build()?;
        let settings = RunSettings::of_study(study.declared()).map_err(hedgerow::Error::from)?;
        Ok(Self {
            table: source.data.coded(&study)?,
            study,
            settings,
        })
    }

    fn columns(&self) -> Vec<&Codes> {
        let quasi = self.study.declared().schema.with_role(Role::Quasi);
        let columns = quasi.iter().filter_map(|place| self.table.codes(*place));
        columns.collect()
    }

    fn rows<'a>(&'a self, owner: Owner<'a>, sites: usize) -> OwnRows<'a> {
        OwnRows {
            counts: None,
            other: Vec::new(),
            count: self.table.rows(),
            quasi: self.columns(),
            sensitive: Vec::new(),
            owner,
            sites,
        }
    }

    /// Sequential clustering by one party that has the rows of so many sites, dealt in turn.
    pub(super) fn sequential(&self, sites: usize, seed: u64) -> Result<Clustering, Error> {
        let owners: Vec<u32> = (0..self.table.rows())
            .map(|row| (row % sites) as u32)
            .collect();
        let rows = self.rows(Owner::Column(&owners), sites);
        let requirement = self.study.requirement()?;
        let seeds = |site: u32, start: u32| {
            let seed = seed.wrapping_add(u64::from(start) << 32);
            Seed::for_site(seed, site as usize)
        };
        let plan =
            clustering::Plan::of(self.study.declared(), &requirement, &self.settings, &seeds);
        let mut party = Party::alone(self.settings.of_parties(1), &Seed::for_site(seed, 0));
        Ok(pollster::block_on(cluster(
            &mut party,
            &rows,
            &plan,
            |_| {},
        ))?)
    }

    /// Sequential clustering by one party that has all columns, in the vertical form.
    pub(super) fn sequential_of_columns(
        &self,
        seed: u64,
    ) -> Result<vertical::clustering::Clustering, Error> {
        let declared = self.study.declared();
        let schema = &declared.schema;
        let names: Vec<&str> = schema
            .attributes()
            .iter()
            .map(|a| a.name.as_str())
            .collect();
        let split = Split::new(schema, &[names])?;
        let requirement = self.study.requirement()?;
        let seeds = |site: u32| Seed::for_site(seed, site as usize);
        let plan =
            vertical::clustering::Plan::of(declared, &requirement, &self.settings, &split, &seeds);
        let own = vertical::d2pt::columns_of(schema, &self.table);
        let places: Vec<u32> = (0..self.table.rows() as u32).collect();
        let mut party = Party::alone(self.settings.of_parties(1), &Seed::for_site(seed, 0));
        let found = vertical::clustering::cluster(&mut party, &plan, &own, &places, |_| {});
        Ok(pollster::block_on(found)?)
    }

    /// Mondrian by one party, in a study that says so.
    pub(super) fn mondrian(&self) -> Result<Vec<Class>, Error> {
        let rows = self.rows(Owner::Site(0), 1);
        let requirement = self.study.requirement()?;
        let plan = mondrian::Plan::of(self.study.declared(), &requirement, &self.settings);
        let mut party = Party::alone(self.settings.of_parties(1), &Seed::for_site(1, 0));
        let found = mondrian::partition(&mut party, &rows, &plan, |_, _| {});
        let found = pollster::block_on(found)?;
        let classes = found.classes.iter();
        Ok(classes.map(|class| found.rows(class).to_vec()).collect())
    }

    /// Neighbours on the Hilbert curve.
    pub(super) fn hilbert(&self, loss: Loss) -> Result<Vec<Class>, Error> {
        let requirement = self.study.requirement()?;
        let schema = &self.study.declared().schema;
        let quasi = schema.with_role(Role::Quasi);
        let writing = |place: &usize| Writing {
            domain: &schema.attributes()[*place].domain,
            recode: self.settings.recode,
        };
        let columns: Vec<hilbert::Column<'_>> =
            quasi.iter().map(writing).zip(self.columns()).collect();
        let found = hilbert::classes(&columns, requirement.k() as usize, loss);
        Ok(found.unwrap_or_default())
    }

    /// LM and EM of classes (equations 2 and 5), whose cells are the nodes over their values: counted from
    /// the rows, by code that no algorithm shares.
    pub(super) fn losses(&self, classes: &[Class]) -> (f64, f64) {
        let schema = &self.study.declared().schema;
        let quasi = schema.with_role(Role::Quasi);
        let (mut lm, mut em) = (0.0, 0.0);
        for (place, codes) in quasi.iter().zip(self.columns()) {
            let domain = &schema.attributes()[*place].domain;
            let mut counts = vec![0u64; domain.size() as usize];
            codes.iter().for_each(|code| counts[code as usize] += 1);
            for class in classes {
                let values = || class.iter().map(|row| codes.get(*row as usize));
                let ends = values().min().zip(values().max());
                let Some((least, greatest)) = ends else {
                    continue;
                };
                let (least, greatest) = match domain.taxonomy() {
                    Some(tree) => tree.interval(tree.lowest_common_ancestor(least, greatest)),
                    None => (least, greatest),
                };
                let all = f64::from((domain.size() - 1).max(1));
                lm += class.len() as f64 * f64::from(greatest - least) / all;
                let within = &counts[least as usize..=greatest as usize];
                em += class.len() as f64 * entropy(within);
            }
        }
        let cells = (self.table.rows() * quasi.len()) as f64;
        (lm / cells, em / cells)
    }
}

/// The entropy of a value with these counts, in bits (equation 3).
fn entropy(counts: &[u64]) -> f64 {
    let all = counts.iter().sum::<u64>() as f64;
    let of = |count: &u64| {
        let share = *count as f64 / all;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(of).sum()
}

/// The rows of each class of a clustering.
pub(super) fn classes(found: &Clustering) -> Vec<Class> {
    let partition = &found.partition;
    let classes = partition.classes.iter();
    classes
        .map(|class| partition.rows(class).to_vec())
        .collect()
}

/// How many iterations over all records a clustering took: L.
pub(super) fn iterations(found: &Clustering) -> usize {
    let steps = found.trace.iter();
    let steps = steps.filter(|step| step.phase == clustering::Phase::Iteration);
    // The first is the random start.
    steps.count().saturating_sub(1)
}

/// After how many iterations the loss was within a share of its value after the last.
pub(super) fn iterations_to(found: &Clustering, share: f64) -> usize {
    let steps = found.trace.iter();
    let steps = steps.filter(|step| step.phase == clustering::Phase::Iteration);
    let losses: Vec<f64> = steps.map(|step| step.loss).collect();
    let last = losses.last().copied().unwrap_or(0.0);
    let near = losses.iter().position(|loss| *loss <= last * (1.0 + share));
    near.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::entropy;

    #[test]
    fn entropies_by_hand() {
        assert_eq!(entropy(&[3]), 0.0);
        assert_eq!(entropy(&[0, 5, 5]), 1.0);
        assert_eq!(entropy(&[2, 1, 1]), 1.5);
    }
}
