//! What a search may know of the sites of a class (MPRIV section III.B, adaptive ordering): their
//! fitness, whether pruning is valid, and, where counts are at hand, what bounds need.

use std::sync::Arc;

use crate::collusion::Members;
use crate::model::{Model, TableView};

use super::exact::Bounds;
use super::{Coalition, Error, WEIGHT_OF_DIVERSITY, fitness};

/// The sites of one class.
#[derive(Debug, Clone)]
pub struct Sites {
    pub(super) fitness: Vec<f64>,
    pub(super) is_monotone: bool,
    pub(super) bounds: Option<Arc<Bounds>>,
}

impl Sites {
    /// Sites whose counts are known.
    pub fn known(class: &Members, models: &[Model], table: &TableView<'_>) -> Result<Self, Error> {
        check_number(class.sites())?;
        let scores = (0..class.sites()).map(|site| {
            let alone = Coalition::NOBODY.with(site);
            fitness(class, alone, models, table, WEIGHT_OF_DIVERSITY)
        });
        Ok(Self {
            fitness: scores.collect(),
            is_monotone: is_monotone(models),
            bounds: Some(Arc::new(Bounds::new(class, models))),
        })
    }

    /// Sites that keep their counts to themselves. All are taken for equally fit, with the average that
    /// the caller makes of the class as a whole; the order of coalitions follows the order of the sites,
    /// and the exact strategy, without counts to bound from, asks as the direct one does.
    pub fn hidden(sites: usize, average_fitness: f64, models: &[Model]) -> Result<Self, Error> {
        check_number(sites)?;
        Ok(Self {
            fitness: vec![average_fitness; sites],
            is_monotone: is_monotone(models),
            bounds: None,
        })
    }

    /// Average fitness of the sites; 0 without sites.
    pub fn average_fitness(&self) -> f64 {
        self.fitness.iter().sum::<f64>() / self.fitness.len().max(1) as f64
    }

    /// Number of sites.
    pub(super) fn number(&self) -> usize {
        self.fitness.len()
    }

    /// The sites in descending order of fitness.
    pub(super) fn strongest_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.number()).collect();
        order.sort_by(|a, b| self.fitness[*b].total_cmp(&self.fitness[*a]));
        order
    }
}

fn check_number(sites: usize) -> Result<(), Error> {
    if sites > Coalition::MOST_SITES {
        return Err(Error::TooManySites { sites });
    }
    Ok(())
}

pub(super) fn is_monotone(models: &[Model]) -> bool {
    models.iter().all(Model::is_monotone)
}
