//! Query error (JX09 section 6, MPRIV section V): random conjunctive range queries counted on the
//! original table and estimated from the release, uniform inside each generalized cell.

use hedgerow_data::{Cell, Release, Table};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::classes::Classes;

/// How queries are drawn.
#[derive(Debug, Clone)]
pub struct Queries {
    /// How many.
    pub count: usize,
    /// Fewest and most attributes a query speaks of.
    pub attributes: (usize, usize),
    /// Share of the domain that a range covers.
    pub width: f64,
    /// Seed of the draw.
    pub seed: u64,
}

/// Relative error of the answers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryError {
    /// Mean of |actual - estimate| / actual.
    pub mean: f64,
    /// Median of the same.
    pub median: f64,
    /// Queries answered.
    pub queries: usize,
    /// Queries drawn again because no record satisfied them.
    pub redrawn: usize,
}

/// One conjunctive range query: for some quasi-identifiers the least and greatest code.
type Query = Vec<(usize, u32, u32)>;

/// Draws, counts and estimates. `quasi` are the positions of the attributes to ask about. `None` without
/// attributes or records, or if no query finds a record.
pub fn query_error(
    original: &Table,
    release: &Release,
    classes: &Classes,
    quasi: &[usize],
    queries: &Queries,
) -> Option<QueryError> {
    let mut generator = ChaCha12Rng::seed_from_u64(queries.seed);
    let closures: Vec<Vec<&Cell>> = (0..classes.count())
        .map(|class| {
            let row = classes.rows(class)[0] as usize;
            let columns = quasi
                .iter()
                .filter_map(|attribute| release.generalized(*attribute));
            columns
                .map(|column| &column.cells[column.codes[row] as usize])
                .collect()
        })
        .collect();
    let mut errors: Vec<f64> = Vec::with_capacity(queries.count);
    let mut redrawn = 0;
    // A batch at a time, so that redrawn queries follow from the seed alone.
    while errors.len() < queries.count && redrawn <= 100 * queries.count {
        let wanted = queries.count - errors.len();
        let batch: Vec<Query> = (0..wanted)
            .map(|_| draw(original, quasi, queries, &mut generator))
            .collect::<Option<_>>()?;
        let found: Vec<Option<f64>> = batch
            .par_iter()
            .map(|query| {
                let actual = count(original, quasi, query);
                let estimate = estimate(&closures, classes, query);
                (actual > 0).then(|| (actual as f64 - estimate).abs() / actual as f64)
            })
            .collect();
        redrawn += found.iter().filter(|error| error.is_none()).count();
        errors.extend(found.into_iter().flatten());
    }
    if errors.is_empty() {
        return None;
    }
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    errors.sort_by(f64::total_cmp);
    let median = errors[errors.len() / 2];
    Some(QueryError {
        mean,
        median,
        queries: errors.len(),
        redrawn,
    })
}

fn draw(
    original: &Table,
    quasi: &[usize],
    queries: &Queries,
    generator: &mut ChaCha12Rng,
) -> Option<Query> {
    let most = queries.attributes.1.min(quasi.len());
    let fewest = queries.attributes.0.min(most);
    if most == 0 {
        return None;
    }
    let wanted = generator.random_range(fewest..=most);
    let mut places: Vec<usize> = (0..quasi.len()).collect();
    let mut query = Vec::with_capacity(wanted);
    for _ in 0..wanted {
        let place = places.swap_remove(generator.random_range(0..places.len()));
        let size = original.schema().attributes()[quasi[place]].domain.size();
        let width = ((f64::from(size) * queries.width).round() as u32).clamp(1, size);
        let least = generator.random_range(0..=size - width);
        query.push((place, least, least + width - 1));
    }
    Some(query)
}

fn count(original: &Table, quasi: &[usize], query: &Query) -> u64 {
    let columns: Vec<_> = query
        .iter()
        .filter_map(|(place, least, greatest)| {
            Some((original.codes(quasi[*place])?, *least, *greatest))
        })
        .collect();
    (0..original.rows())
        .filter(|row| {
            columns
                .iter()
                .all(|(codes, least, greatest)| (*least..=*greatest).contains(&codes.get(*row)))
        })
        .map(|row| original.counts().map_or(1, |counts| counts[row]))
        .sum()
}

fn estimate(closures: &[Vec<&Cell>], classes: &Classes, query: &Query) -> f64 {
    let expected = closures.iter().enumerate().map(|(class, closure)| {
        let share: f64 = query
            .iter()
            .map(|(place, least, greatest)| {
                let cell = closure[*place];
                f64::from(cell.overlap(*least, *greatest)) / f64::from(cell.count())
            })
            .product();
        share * classes.size(class) as f64
    });
    expected.sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hedgerow_data::{
        Attribute, Codes, Column, Domain, GeneralizedColumn, ReleaseColumn, Role, Schema,
    };

    use super::*;

    fn table(codes: &[u32]) -> Table {
        let domain = Domain::integer(0, 9, 1).unwrap();
        let attribute = Attribute {
            name: "age".into(),
            role: Role::Quasi,
            domain,
            recode: None,
            spelling: hedgerow_data::Spelling::default(),
            publish_unique: false,
        };
        let mut column = Codes::for_size(10);
        codes.iter().for_each(|code| column.push(*code));
        Table::new(
            Arc::new(Schema::new(vec![attribute])),
            vec![Column::Coded(column)],
        )
    }

    #[test]
    fn an_ungeneralized_release_has_no_error() {
        let table = table(&[1, 2, 3, 4, 5, 5, 5, 9]);
        let column = GeneralizedColumn {
            cells: (0..10).map(|code| Cell::Interval(code, code)).collect(),
            codes: table.codes(0).unwrap().iter().collect(),
        };
        let classes = Classes::group(&[&column.codes], table.rows());
        let columns = vec![ReleaseColumn::Generalized(column)];
        let release = Release::new(table.schema().clone(), columns, table.rows());
        let queries = Queries {
            count: 200,
            attributes: (1, 2),
            width: 0.3,
            seed: 7,
        };
        let error = query_error(&table, &release, &classes, &[0], &queries).unwrap();
        assert_eq!((error.mean, error.median, error.queries), (0.0, 0.0, 200));
    }

    #[test]
    fn a_spread_class_is_estimated_uniformly() {
        // Ten records, one of each value, released as one class: every range is estimated right.
        let table = table(&(0..10).collect::<Vec<_>>());
        let column = GeneralizedColumn {
            cells: vec![Cell::Interval(0, 9)],
            codes: vec![0; 10],
        };
        let release = Release::new(
            table.schema().clone(),
            vec![ReleaseColumn::Generalized(column)],
            10,
        );
        let classes = Classes::from_assignment(vec![0; 10], 1);
        let queries = Queries {
            count: 50,
            attributes: (1, 1),
            width: 0.3,
            seed: 1,
        };
        let error = query_error(&table, &release, &classes, &[0], &queries).unwrap();
        assert!(error.mean < 1e-12);
        // All records on one value: a range of three either misses it or finds 3 of 10.
        let lumped = self::table(&[4; 10]);
        let error = query_error(&lumped, &release, &classes, &[0], &queries).unwrap();
        assert!((error.mean - 0.7).abs() < 1e-12);
        assert!(error.redrawn > 0);
    }
}
