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
use hedgerow_smc::error::MAXIMUM_CAPACITY;
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
/// attribute's position; identifiers are absent): a row for each record.
pub async fn assemble(
    party: &mut Party,
    schema: &Arc<Schema>,
    partition: &Partition,
    cells: &[Vec<Cell>],
    verbatim: &[(usize, &Codes)],
) -> Result<Release, Error> {
    let counted = assemble_counted(party, schema, partition, cells, verbatim).await?;
    Ok(counted.expanded())
}

/// Puts the release together as [`assemble`] does, of counted rows: records that are written alike are one.
pub async fn assemble_counted(
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
    let positions: Vec<usize> = verbatim.iter().map(|(attribute, _)| *attribute).collect();
    let written_as = (schema, written.cells.as_slice(), positions.as_slice());
    if party.sites() == 1 {
        return alone(party, partition, &written, verbatim, written_as).await;
    }
    let room = Room::of(schema, &positions);
    room.refuse((shape.classes(), records), party.sites())?;
    let rows = if shape.counters() <= most_counters(records) {
        summed(party, partition, &written, verbatim, &shape).await?
    } else {
        mixed(party, partition, &written, verbatim, &shape, records).await?
    };
    Ok(rows.released(written_as))
}

/// What a release has of each record as it is, for which sites need room: a counter for each combination of
/// values in each class, or an item for each record to be mixed.
#[derive(Debug, Clone, Default)]
pub struct Room {
    /// The columns, with the sizes of their domains.
    columns: Vec<(String, u64)>,
}

impl Room {
    /// The room for the columns at these positions.
    pub fn of(schema: &Schema, verbatim: &[usize]) -> Self {
        let attributes = verbatim.iter().map(|at| &schema.attributes()[*at]);
        let columns = attributes.map(|one| (one.name.clone(), u64::from(one.domain.size())));
        Self {
            columns: columns.collect(),
        }
    }

    /// Refuses so many classes of so many records, both of all sites, that neither counters nor records that
    /// are mixed find room. More of either find none too.
    pub fn refuse(&self, (classes, records): (u64, u64), sites: usize) -> Result<(), Error> {
        let combinations = self.columns.iter().map(|(_, size)| *size);
        let combinations = combinations.fold(1u64, u64::saturating_mul);
        let counters = classes.saturating_mul(combinations);
        let is_counted = counters <= most_counters(records);
        if sites < 2 || is_counted || records <= MAXIMUM_CAPACITY as u64 {
            return Ok(());
        }
        let finest = self.columns.iter().max_by_key(|(_, size)| *size);
        Err(Error::TooFine {
            column: finest.map_or_else(String::new, |(name, _)| name.clone()),
            combinations,
            classes,
            records,
            most: MOST_COUNTERS_IN_ALL,
            mixed: MAXIMUM_CAPACITY as u64,
        })
    }
}

/// The most counters for so many records.
fn most_counters(records: u64) -> u64 {
    let most = MOST_COUNTERS.saturating_mul(records);
    most.min(MOST_COUNTERS_IN_ALL)
}

/// What a party of one has is the release: combinations that do not occur need no counters.
async fn alone(
    party: &mut Party,
    partition: &Partition,
    written: &Written<'_>,
    verbatim: &[(usize, &Codes)],
    written_as: WrittenAs<'_>,
) -> Result<Release, Error> {
    let release = Rows::own(partition, written, verbatim).released(written_as);
    let mut counts = release.counts().unwrap_or_default().to_vec();
    party.sum(VALUES, &mut counts).await?;
    let own = release.counts().unwrap_or_default();
    party.fit(VALUES, counts == own, LACKING)?;
    Ok(release)
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
    let rows = Rows {
        class: (0..records.len() as u32).collect(),
        values: Vec::new(),
        counts: Some(records),
    };
    Ok(rows.released((schema, &written.cells, &[])).expanded())
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
    let positions: Vec<usize> = verbatim.iter().map(|(attribute, _)| *attribute).collect();
    let rows = Rows::own(partition, &written, verbatim);
    let release = rows.released((schema, &written.cells, &positions));
    match partition.is_counted() {
        true => release,
        false => release.expanded(),
    }
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

/// How rows are written: the schema, the cells of each class, and the positions of verbatim codes, ascending.
type WrittenAs<'a> = (&'a Arc<Schema>, &'a [&'a [Cell]], &'a [usize]);

/// Rows of the release, column by column.
struct Rows {
    class: Vec<u32>,
    values: Vec<Codes>,
    /// How many records each row stands for; one each where there are no counts.
    counts: Option<Vec<u64>>,
}

impl Rows {
    /// No rows yet, of verbatim domains of these sizes; each will stand for so many records if they are
    /// counted.
    fn of_sizes(sizes: impl Iterator<Item = u32>, is_counted: bool) -> Self {
        Self {
            class: Vec::new(),
            values: sizes.map(Codes::for_size).collect(),
            counts: is_counted.then(Vec::new),
        }
    }

    /// This site's own.
    fn own(partition: &Partition, written: &Written<'_>, verbatim: &[(usize, &Codes)]) -> Self {
        let classes = || written.of_class.iter().zip(&partition.classes);
        let class = classes()
            .flat_map(|(class, found)| std::iter::repeat_n(*class, partition.rows(found).len()));
        let rows = || classes().flat_map(|(_, found)| partition.rows(found).iter());
        let values = verbatim.iter().map(|(_, codes)| match codes {
            Codes::U8(codes) => Codes::U8(rows().map(|row| codes[*row as usize]).collect()),
            Codes::U16(codes) => Codes::U16(rows().map(|row| codes[*row as usize]).collect()),
            Codes::U32(codes) => Codes::U32(rows().map(|row| codes[*row as usize]).collect()),
        });
        let counts = || {
            let counted = classes().flat_map(|(_, found)| partition.counted_rows(found));
            counted.map(|(_, records)| records).collect()
        };
        Self {
            class: class.collect(),
            values: values.collect(),
            counts: partition.is_counted().then(counts),
        }
    }

    /// Appends a row: its class, then its verbatim codes.
    fn push(&mut self, class: u32, values: impl Iterator<Item = u32>) {
        self.class.push(class);
        self.values
            .iter_mut()
            .zip(values)
            .for_each(|(column, code)| column.push(code));
    }

    /// The release that the rows stand for, of counted rows.
    fn released(self, (schema, cells, verbatim): WrittenAs<'_>) -> Release {
        let mut columns = self.values.into_iter();
        let mut quasi = 0;
        let released = schema.attributes().iter().enumerate();
        let released = released.map(|(position, attribute)| {
            if attribute.role == Role::Quasi {
                quasi += 1;
                return generalized(cells, quasi - 1, &self.class);
            }
            let is_verbatim = verbatim.contains(&position);
            match is_verbatim.then(|| columns.next()).flatten() {
                Some(codes) => ReleaseColumn::Verbatim(Column::Coded(codes)),
                None => ReleaseColumn::Absent,
            }
        });
        let released = released.collect();
        Release::counted(Arc::clone(schema), released, self.counts.as_deref())
    }
}

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

/// Rows by counting every combination of values in every class.
async fn summed(
    party: &mut Party,
    partition: &Partition,
    written: &Written<'_>,
    verbatim: &[(usize, &Codes)],
    shape: &Shape,
) -> Result<Rows, Error> {
    let mut counts = vec![0u64; shape.counters() as usize];
    for (class, found) in written.of_class.iter().zip(&partition.classes) {
        for (row, records) in partition.counted_rows(found) {
            let codes = verbatim.iter().zip(&shape.sizes);
            let place = codes.fold(u64::from(*class), |place, ((_, codes), size)| {
                place * size + u64::from(codes.get(row as usize))
            });
            counts[place as usize] += records;
        }
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
    let mut rows = Rows::of_sizes(shape.sizes.iter().map(|size| *size as u32), true);
    let mut values = vec![0; shape.sizes.len()];
    let occurring = counts.into_iter().enumerate();
    for (place, count) in occurring.filter(|(_, count)| *count > 0) {
        let mut rest = place as u64;
        for (value, size) in values.iter_mut().zip(&shape.sizes).rev() {
            *value = (rest % size) as u32;
            rest /= size;
        }
        rows.push(rest as u32, values.iter().copied());
        rows.counts.get_or_insert_default().push(count);
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
) -> Result<Rows, Error> {
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
    // Each record goes by itself: how often a row occurs at a site is nobody else's business.
    let mut united: Vec<Vec<u8>> = Vec::new();
    for (class, found) in written.of_class.iter().zip(&partition.classes) {
        for (row, records) in partition.counted_rows(found) {
            let codes = verbatim.iter().map(|(_, codes)| codes.get(row as usize));
            let item = encode(&std::iter::once(*class).chain(codes).collect());
            united.extend(std::iter::repeat_n(item, records as usize));
        }
    }
    party.union(VALUES, &items, &mut united).await?;
    let mut found = vec![0; shape.records.len()];
    let mut rows = Rows::of_sizes(shape.sizes.iter().map(|size| *size as u32), false);
    for item in &united {
        let row = shape.decode(item);
        let row = row.ok_or_else(|| party.misfit(VALUES, "a record is no row of this study"))?;
        found[row[0] as usize] += 1;
        rows.push(row[0], row[1..].iter().copied());
    }
    party.fit(VALUES, found == shape.records, UNEQUAL)?;
    Ok(rows)
}

/// The release that rows of single records stand for; `verbatim` are the positions of their codes, ascending.
pub(crate) fn released(
    schema: &Arc<Schema>,
    cells: &[&[Cell]],
    verbatim: &[usize],
    rows: &[Row],
) -> Release {
    let sizes = verbatim.iter();
    let sizes = sizes.map(|position| schema.attributes()[*position].domain.size());
    let mut columns = Rows::of_sizes(sizes, false);
    for row in rows {
        columns.push(row[0], row[1..].iter().copied());
    }
    columns.released((schema, cells, verbatim)).expanded()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Incomes to the unit of 399 million people: one class has room for its counters, 895 have none.
    #[test]
    fn what_finds_no_room_is_known_before_it_is_made() {
        let room = |sizes: &[u64]| Room {
            columns: sizes
                .iter()
                .map(|size| (format!("of {size}"), *size))
                .collect(),
        };
        let income = room(&[2, 300_000]);
        let people = 399_000_000;
        assert!(income.refuse((447, people), 2).is_ok());
        let refused = income.refuse((448, people), 2).unwrap_err().to_string();
        assert!(refused.contains("`of 300000`"), "{refused}");
        assert!(refused.contains("hint: "), "{refused}");
        // Records that can be mixed, a party of one, and coarse values find room.
        assert!(income.refuse((448, 1 << 28), 2).is_ok());
        assert!(income.refuse((448, people), 1).is_ok());
        assert!(room(&[20]).refuse((1 << 23, people), 2).is_ok());
        // So many combinations that their number is no number.
        assert!(room(&[u64::MAX, 3]).refuse((2, people), 2).is_err());
        assert!(room(&[]).refuse((1 << 28, people), 2).is_ok());
    }
}
