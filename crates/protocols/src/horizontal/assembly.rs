//! Assembly: the joint release, put together without ownership. What a class holds is counted by
//! combination of its verbatim values and summed over all sites; the rows are then written from the
//! counts, class by class, so their order says nothing about whose they are.
//!
//! # Discloses
//! To all sites, how often each combination of verbatim values occurs in each class: what the
//! release prints.

use std::sync::Arc;

use hedgerow_data::{Cell, Codes, Column, GeneralizedColumn, Release, ReleaseColumn, Role, Schema};
use hedgerow_smc::{Party, What};

use super::mondrian::Partition;
use crate::Error;

/// The verbatim values of the release.
pub const VALUES: What = What::new("sensitive and other values of classes", "the release");

/// The most counters that are summed in one call.
const MOST_COUNTERS: u64 = 1 << 26;

/// Puts the release together from each class's cells and this site's verbatim columns (by the
/// attribute's position; identifiers have none).
pub async fn assemble(
    party: &mut Party,
    schema: &Arc<Schema>,
    partition: &Partition,
    cells: &[Vec<Cell>],
    verbatim: &[(usize, &Codes)],
) -> Result<Release, Error> {
    let sizes: Vec<u64> = verbatim
        .iter()
        .map(|(attribute, _)| u64::from(schema.attributes()[*attribute].domain.size()))
        .collect();
    let combinations = sizes
        .iter()
        .fold(1, |product: u64, size| product.saturating_mul(*size));
    let classes = partition.classes.len() as u64;
    if combinations.saturating_mul(classes) > MOST_COUNTERS {
        return Err(Error::TooManyCombinations {
            combinations,
            classes,
        });
    }
    let mut counts = vec![0u64; (classes * combinations) as usize];
    for (class, place) in partition
        .classes
        .iter()
        .zip((0..).step_by(combinations as usize))
    {
        for row in &class.rows {
            let code = verbatim
                .iter()
                .zip(&sizes)
                .fold(0, |code, ((_, codes), size)| {
                    code * size + u64::from(codes.get(*row as usize))
                });
            counts[place + code as usize] += 1;
        }
    }
    party.sum(VALUES, &mut counts).await?;
    Ok(written(
        schema,
        cells,
        verbatim,
        &sizes,
        combinations,
        &counts,
    ))
}

/// The rows that the counts stand for.
fn written(
    schema: &Arc<Schema>,
    cells: &[Vec<Cell>],
    verbatim: &[(usize, &Codes)],
    sizes: &[u64],
    combinations: u64,
    counts: &[u64],
) -> Release {
    let mut columns: Vec<Codes> = sizes
        .iter()
        .map(|size| Codes::for_size(*size as u32))
        .collect();
    let mut class_of_row: Vec<u32> = Vec::new();
    for (place, count) in counts.iter().enumerate() {
        let (class, mut code) = (place as u64 / combinations, place as u64 % combinations);
        for _ in 0..*count {
            class_of_row.push(class as u32);
        }
        for (column, size) in columns.iter_mut().zip(sizes).rev() {
            (0..*count).for_each(|_| column.push((code % size) as u32));
            code /= size;
        }
    }
    let mut columns = columns.into_iter();
    let mut quasi = 0;
    let released = schema
        .attributes()
        .iter()
        .enumerate()
        .map(|(position, attribute)| {
            if attribute.role == Role::Quasi {
                quasi += 1;
                return generalized(cells, quasi - 1, &class_of_row);
            }
            match verbatim
                .iter()
                .any(|(own, _)| *own == position)
                .then(|| columns.next())
            {
                Some(Some(codes)) => ReleaseColumn::Verbatim(Column::Coded(codes)),
                _ => ReleaseColumn::Absent,
            }
        });
    let released = released.collect();
    Release::new(schema.clone(), released, class_of_row.len())
}

fn generalized(cells: &[Vec<Cell>], quasi: usize, class_of_row: &[u32]) -> ReleaseColumn {
    let mut distinct: Vec<&Cell> = cells.iter().map(|class| &class[quasi]).collect();
    distinct.sort_unstable();
    distinct.dedup();
    // Every class's cell is among the distinct ones.
    let place = |cell: &Cell| distinct.binary_search(&cell).unwrap_or(0) as u32;
    let of_class: Vec<u32> = cells.iter().map(|class| place(&class[quasi])).collect();
    ReleaseColumn::Generalized(GeneralizedColumn {
        codes: class_of_row
            .iter()
            .map(|class| of_class[*class as usize])
            .collect(),
        cells: distinct.into_iter().cloned().collect(),
    })
}
