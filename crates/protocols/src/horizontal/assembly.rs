//! Assembly: the joint release, put together without ownership. Where the verbatim values have few
//! combinations, the combinations of each class are counted and summed over all sites; otherwise the
//! records, class and verbatim values, are united by mixing. Either way the rows are sorted by their
//! contents, which says nothing about whose they are nor how they were cut.
//!
//! # Discloses
//! To all sites, the verbatim values of each class: what the release prints.

use std::collections::HashMap;
use std::sync::Arc;

use hedgerow_data::{Cell, Codes, Column, GeneralizedColumn, Release, ReleaseColumn, Role, Schema};
use hedgerow_smc::{Generator, Items, Party, What};

use super::mondrian::Partition;
use crate::error::Error;
use crate::fit::{adds_up, holds_own};

/// What was opened of classes that the release writes alike; the ledger names it a second time.
pub const ALIKE: What = What::new(
    "classes, with their sizes, that the release writes alike",
    "the study: cuts finer than what is written",
);
/// The verbatim values of the release.
pub const VALUES: What = What::new("sensitive and other values of classes", "the release");

/// Everything that [`assemble`] may disclose to a site.
pub const fn discloses() -> [What; 2] {
    [ALIKE, VALUES]
}

/// The most counters for a record that are summed rather than mixed: a counter is a word, a mixed
/// record some hundred bytes and a curve operation at every site.
const MOST_COUNTERS: u64 = 200;
/// The greatest number of counters: 2 GiB, however many records the sites claim.
const MOST_COUNTERS_IN_ALL: u64 = 1 << 28;

/// Values that are not as many as records.
const UNEQUAL: &str = "the values of a class are not as many as its records";
/// Values of this site are missing from the release.
const LACKING: &str = "values of this site are missing";

/// Puts the release together from each class's cells and this site's verbatim columns (by the
/// attribute's position; identifiers are absent).
pub async fn assemble(
    party: &mut Party,
    schema: &Arc<Schema>,
    partition: &Partition,
    cells: &[Vec<Cell>],
    verbatim: &[(usize, &Codes)],
) -> Result<Release, Error> {
    let written = Written::of(cells);
    let alike = written.alike(partition);
    if !alike.is_empty() {
        party.note(ALIKE, &alike)?;
    }
    let shape = Shape {
        records: written.records(partition),
        sizes: verbatim
            .iter()
            .map(|(attribute, _)| u64::from(schema.attributes()[*attribute].domain.size()))
            .collect(),
    };
    let records: u64 = partition.classes.iter().map(|class| class.size).sum();
    let most = MOST_COUNTERS
        .saturating_mul(records)
        .min(MOST_COUNTERS_IN_ALL);
    let rows = if shape.counters() <= most {
        summed(party, partition, &written, verbatim, &shape).await?
    } else {
        mixed(party, partition, &written, verbatim, &shape, records).await?
    };
    let positions: Vec<usize> = verbatim.iter().map(|(attribute, _)| *attribute).collect();
    Ok(released(schema, &written.cells, &positions, &rows))
}

/// What all sites know of a virtual database, whose rows are put together nowhere: the classes as a release
/// would write them, with as many records as they have, and no verbatim column.
///
/// # Discloses
/// Nothing that was not opened before; the ledger names classes that are written alike a second time.
pub fn known(
    party: &mut Party,
    schema: &Arc<Schema>,
    partition: &Partition,
    cells: &[Vec<Cell>],
) -> Result<Release, Error> {
    let written = Written::of(cells);
    let alike = written.alike(partition);
    if !alike.is_empty() {
        party.note(ALIKE, &alike)?;
    }
    let records = written.records(partition);
    let rows = records.iter().zip(0..).flat_map(|(count, class)| {
        // A table has fewer records than a machine has addresses.
        std::iter::repeat_n(vec![class], *count as usize)
    });
    Ok(released(
        schema,
        &written.cells,
        &[],
        &rows.collect::<Vec<Row>>(),
    ))
}

/// A site's local anonymized data set, a_i of JX08 section 4: its own rows, generalized as the joint
/// classes are. All of them together are the release; one alone need not satisfy the requirement, and says
/// which records are the site's, so it does not leave the site.
pub fn local(
    schema: &Arc<Schema>,
    partition: &Partition,
    cells: &[Vec<Cell>],
    verbatim: &[(usize, &Codes)],
) -> Release {
    let written = Written::of(cells);
    let rows: Vec<Row> = own_rows(partition, &written, verbatim).collect();
    let positions: Vec<usize> = verbatim.iter().map(|(attribute, _)| *attribute).collect();
    released(schema, &written.cells, &positions, &rows)
}

/// The classes of the release: what is written alike is one.
struct Written<'a> {
    cells: Vec<&'a [Cell]>,
    /// For each class of the partition, the class of the release that it belongs to.
    of_class: Vec<u32>,
}

impl<'a> Written<'a> {
    fn of(cells: &'a [Vec<Cell>]) -> Self {
        let mut places: HashMap<&[Cell], u32> = HashMap::with_capacity(cells.len());
        let mut distinct: Vec<&[Cell]> = Vec::with_capacity(cells.len());
        let of_class = cells
            .iter()
            .map(|cells| {
                *places.entry(cells).or_insert_with(|| {
                    distinct.push(cells);
                    distinct.len() as u32 - 1
                })
            })
            .collect();
        Self {
            cells: distinct,
            of_class,
        }
    }

    /// The records of each class of the release.
    fn records(&self, partition: &Partition) -> Vec<u64> {
        let mut records = vec![0; self.cells.len()];
        for (class, written) in partition.classes.iter().zip(&self.of_class) {
            records[*written as usize] += class.size;
        }
        records
    }

    /// The sizes of the classes that are not alone in their class of the release.
    fn alike(&self, partition: &Partition) -> Vec<u64> {
        let mut members = vec![0u32; self.cells.len()];
        self.of_class
            .iter()
            .for_each(|written| members[*written as usize] += 1);
        let classes = partition.classes.iter().zip(&self.of_class);
        classes
            .filter(|(_, written)| members[**written as usize] > 1)
            .map(|(class, _)| class.size)
            .collect()
    }
}

/// A row of the release: its class, then its verbatim codes.
pub(crate) type Row = Vec<u32>;

/// The public facts about the rows: how many each class has, and the sizes of their verbatim domains.
struct Shape {
    records: Vec<u64>,
    sizes: Vec<u64>,
}

impl Shape {
    fn classes(&self) -> u64 {
        self.records.len() as u64
    }

    /// A counter for each combination of verbatim values in each class.
    fn counters(&self) -> u64 {
        self.sizes.iter().fold(self.classes(), |product, size| {
            product.saturating_mul(*size)
        })
    }

    /// A row from a peer's bytes: every code must be one.
    fn decode(&self, item: &[u8]) -> Option<Row> {
        let words = item.chunks_exact(4);
        let row: Row = words
            .map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect();
        let classes = self.classes();
        let bounds = std::iter::once(&classes).chain(&self.sizes);
        let mut codes = row.iter().zip(bounds);
        let is_row = row.len() == self.sizes.len() + 1;
        (is_row && codes.all(|(code, bound)| u64::from(*code) < *bound)).then_some(row)
    }
}

fn own_rows<'a>(
    partition: &'a Partition,
    written: &'a Written<'_>,
    verbatim: &'a [(usize, &Codes)],
) -> impl Iterator<Item = Row> + 'a {
    let classes = written.of_class.iter().zip(&partition.classes);
    classes.flat_map(move |(class, found)| {
        partition.rows(found).iter().map(move |row| {
            let codes = verbatim.iter().map(|(_, codes)| codes.get(*row as usize));
            std::iter::once(*class).chain(codes).collect()
        })
    })
}

/// Rows by counting every combination of values in every class.
async fn summed(
    party: &mut Party,
    partition: &Partition,
    written: &Written<'_>,
    verbatim: &[(usize, &Codes)],
    shape: &Shape,
) -> Result<Vec<Row>, Error> {
    let mut counts = vec![0u64; shape.counters() as usize];
    for row in own_rows(partition, written, verbatim) {
        let codes = row[1..].iter().zip(&shape.sizes);
        let place = codes.fold(u64::from(row[0]), |place, (code, size)| {
            place * size + u64::from(*code)
        });
        counts[place as usize] += 1;
    }
    let own = counts.clone();
    party.sum(VALUES, &mut counts).await?;
    party.fit(VALUES, holds_own(&counts, &own), LACKING)?;
    let in_class = (counts.len() / shape.records.len().max(1)).max(1);
    let mut classes = counts.chunks(in_class).zip(&shape.records);
    party.fit(
        VALUES,
        classes.all(|(counts, size)| adds_up(counts, *size)),
        UNEQUAL,
    )?;
    let mut rows = Vec::new();
    for (place, count) in counts
        .into_iter()
        .enumerate()
        .filter(|(_, count)| *count > 0)
    {
        let mut rest = place as u64;
        let mut row: Row = Vec::with_capacity(shape.sizes.len() + 1);
        for size in shape.sizes.iter().rev() {
            row.push((rest % size) as u32);
            rest /= size;
        }
        row.push(rest as u32);
        row.reverse();
        rows.extend(std::iter::repeat_n(row, count as usize));
    }
    Ok(rows)
}

/// Rows by mixing. No site has more than all records, and each sends that many items, so that nobody
/// learns how many records are the site's own.
async fn mixed(
    party: &mut Party,
    partition: &Partition,
    written: &Written<'_>,
    verbatim: &[(usize, &Codes)],
    shape: &Shape,
    records: u64,
) -> Result<Vec<Row>, Error> {
    // Most significant byte first, so that the order of items is that of rows.
    let encode =
        |row: &Row| -> Vec<u8> { row.iter().flat_map(|code| code.to_be_bytes()).collect() };
    let decoy = |generator: &mut Generator| {
        let mut row = vec![generator.below(shape.classes().max(1)) as u32];
        row.extend(shape.sizes.iter().map(|size| generator.below(*size) as u32));
        encode(&row)
    };
    let items = Items {
        width: 4 * (shape.sizes.len() + 1),
        capacity: records as usize,
        domain: shape
            .sizes
            .iter()
            .fold(shape.classes() as f64, |product, size| {
                product * *size as f64
            }),
        decoy: &decoy,
    };
    let mut united: Vec<Vec<u8>> = own_rows(partition, written, verbatim)
        .map(|row| encode(&row))
        .collect();
    party.union(VALUES, &items, &mut united).await?;
    let mut found = vec![0; shape.records.len()];
    let mut rows = Vec::with_capacity(united.len());
    for item in &united {
        let row = shape.decode(item);
        let row = row.ok_or_else(|| party.misfit(VALUES, "a record is no row of this study"))?;
        found[row[0] as usize] += 1;
        rows.push(row);
    }
    party.fit(VALUES, found == shape.records, UNEQUAL)?;
    Ok(rows)
}

/// The release that the rows stand for; `verbatim` are the positions of their codes, ascending.
pub(crate) fn released(
    schema: &Arc<Schema>,
    cells: &[&[Cell]],
    verbatim: &[usize],
    rows: &[Row],
) -> Release {
    let class_of_row: Vec<u32> = rows.iter().map(|row| row[0]).collect();
    let sizes = verbatim
        .iter()
        .map(|position| schema.attributes()[*position].domain.size());
    let mut columns: Vec<Codes> = sizes.map(Codes::for_size).collect();
    for row in rows {
        let codes = columns.iter_mut().zip(&row[1..]);
        codes.for_each(|(column, code)| column.push(*code));
    }
    let mut columns = columns.into_iter();
    let mut quasi = 0;
    let released = schema.attributes().iter().enumerate();
    let released = released.map(|(position, attribute)| {
        if attribute.role == Role::Quasi {
            quasi += 1;
            return generalized(cells, quasi - 1, &class_of_row);
        }
        let is_verbatim = verbatim.contains(&position);
        match is_verbatim.then(|| columns.next()).flatten() {
            Some(codes) => ReleaseColumn::Verbatim(Column::Coded(codes)),
            None => ReleaseColumn::Absent,
        }
    });
    let released = released.collect();
    Release::published(schema.clone(), released, class_of_row.len())
}

fn generalized(cells: &[&[Cell]], quasi: usize, class_of_row: &[u32]) -> ReleaseColumn {
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
