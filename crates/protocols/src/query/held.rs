//! A table that questions are asked of: a release, or a site's own rows of a virtual database.
//!
//! Every column is a list of cells, sorted, and for each row the place of its cell; a value that is written
//! as it is has a cell of one code. Where sites hold the table together, all of them know the same cells of
//! quasi-identifiers: the classes that the run opened, whoever has rows in them.
//!
//! # Discloses
//! Nothing.

use std::sync::Arc;

use hedgerow_data::{Cell, Release, Schema};

/// A table that questions are asked of.
#[derive(Debug, Clone)]
pub struct Held {
    schema: Arc<Schema>,
    columns: Vec<Option<HeldColumn>>,
    /// The positions of quasi-identifiers.
    quasi: Vec<usize>,
    /// For each class of the joint table, the places of its cells: sorted, each once.
    classes: Vec<Vec<u32>>,
    rows: usize,
    /// How many records each row stands for; one each where there are no counts.
    counts: Option<Vec<u64>>,
    records: u64,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub(super) struct HeldColumn {
    /// Its cells, sorted.
    pub(super) cells: Vec<Cell>,
    /// For each row, the place of its cell.
    pub(super) places: Vec<u32>,
}

/// Rows that do not belong to the classes of the joint table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("row {row} has `{cell}` as `{column}`, which no class of the joint table has")]
pub struct ForeignRow {
    /// The row, from 1.
    pub row: usize,
    /// The column.
    pub column: String,
    /// The cell.
    pub cell: String,
}

impl Held {
    /// A release as a table: its own classes, its own rows.
    pub fn release(release: &Release) -> Self {
        let mut classes = classes(release);
        classes.sort_unstable();
        classes.dedup();
        // Every row is in the class that was made of it.
        Self::local(release, &classes, release.records()).unwrap_or_else(|_| unreachable!())
    }

    /// The tables of sites that hold one table together, each site's own rows.
    pub fn shared(local: &[Release]) -> Vec<Self> {
        let mut classes: Vec<Vec<Cell>> = local.iter().flat_map(classes).collect();
        classes.sort_unstable();
        classes.dedup();
        let records = local.iter().map(Release::records).sum();
        let held = local.iter().map(|own| Self::local(own, &classes, records));
        // Every row is in the class that was made of it.
        held.flatten().collect()
    }

    /// A site's own rows of a table that sites hold together: `classes` are the classes of all sites, by the
    /// cells of their quasi-identifiers in the order of the schema, and `records` the records of all.
    pub fn local(
        release: &Release,
        classes: &[Vec<Cell>],
        records: u64,
    ) -> Result<Self, ForeignRow> {
        let schema = Arc::clone(release.schema());
        let quasi = quasi(release);
        let mut columns: Vec<Option<HeldColumn>> = Vec::with_capacity(release.columns().len());
        for position in 0..schema.attributes().len() {
            let place = quasi.iter().position(|quasi| *quasi == position);
            columns.push(match place {
                Some(place) => {
                    let cells = classes.iter().filter_map(|class| class.get(place).cloned());
                    Some(generalized(release, position, cells.collect())?)
                }
                None => verbatim(release, position),
            });
        }
        let place_of = |(position, cell): (&usize, &Cell)| {
            let column = columns[*position].as_ref()?;
            column.place(cell)
        };
        let mut classes: Vec<Vec<u32>> = classes
            .iter()
            .map(|class| quasi.iter().zip(class).filter_map(place_of).collect())
            .collect();
        classes.sort_unstable();
        classes.dedup();
        Ok(Self {
            schema,
            columns,
            quasi,
            classes,
            rows: release.rows(),
            counts: release.counts().map(<[u64]>::to_vec),
            records,
        })
    }

    /// Rows that have cells in some columns and belong to no class.
    pub(super) fn of_cells(schema: &Arc<Schema>, positions: &[usize], rows: &[Vec<Cell>]) -> Self {
        Self {
            schema: Arc::clone(schema),
            columns: columns_of(schema, positions, rows),
            quasi: Vec::new(),
            classes: Vec::new(),
            rows: rows.len(),
            counts: None,
            records: rows.len() as u64,
        }
    }

    /// The schema of the table.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Rows that are here.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many records a row stands for.
    pub(super) fn records_of(&self, row: usize) -> u64 {
        self.counts.as_ref().map_or(1, |counts| counts[row])
    }

    /// Records that are here.
    pub(super) fn own_records(&self) -> u64 {
        let counts = self.counts.as_ref();
        counts.map_or(self.rows as u64, |counts| counts.iter().sum())
    }

    /// Records of the joint table.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Whether the table has a column.
    pub fn has(&self, position: usize) -> bool {
        self.column(position).is_some()
    }

    /// Whether a column is a quasi-identifier, written as cells.
    pub(super) fn is_quasi(&self, position: usize) -> bool {
        self.quasi.contains(&position)
    }

    /// A column, if the table has it.
    pub(super) fn column(&self, position: usize) -> Option<&HeldColumn> {
        self.columns.get(position)?.as_ref()
    }

    /// The combinations of cells that classes have in some quasi-identifiers: sorted, each once.
    pub(super) fn combinations(&self, positions: &[usize]) -> Vec<Vec<u32>> {
        // A table without rows has no class, and everything together is a combination.
        if positions.is_empty() {
            return vec![Vec::new()];
        }
        let places: Vec<usize> = positions
            .iter()
            .filter_map(|position| self.quasi.iter().position(|quasi| quasi == position))
            .collect();
        let picked = |class: &Vec<u32>| places.iter().map(|place| class[*place]).collect();
        let mut combinations: Vec<Vec<u32>> = self.classes.iter().map(picked).collect();
        combinations.sort_unstable();
        combinations.dedup();
        combinations
    }
}

impl HeldColumn {
    /// The place of a cell.
    pub(super) fn place(&self, cell: &Cell) -> Option<u32> {
        self.cells
            .binary_search(cell)
            .ok()
            .map(|place| place as u32)
    }
}

/// The columns of rows that have cells in some columns.
fn columns_of(schema: &Schema, positions: &[usize], rows: &[Vec<Cell>]) -> Vec<Option<HeldColumn>> {
    let mut columns = vec![None; schema.attributes().len()];
    for (place, position) in positions.iter().enumerate() {
        let mut cells: Vec<Cell> = rows.iter().map(|row| row[place].clone()).collect();
        cells.sort_unstable();
        cells.dedup();
        let mut column = HeldColumn {
            cells,
            places: Vec::new(),
        };
        let places = rows.iter().filter_map(|row| column.place(&row[place]));
        column.places = places.collect();
        columns[*position] = Some(column);
    }
    columns
}

/// The cells of quasi-identifiers of all rows, once for rows that stand behind each other.
fn classes(release: &Release) -> Vec<Vec<Cell>> {
    let generalized = quasi(release)
        .into_iter()
        .filter_map(|position| release.generalized(position));
    let generalized: Vec<_> = generalized.collect();
    let cells = |row: usize| {
        let cells = generalized.iter();
        cells
            .map(|column| column.cells[column.codes[row] as usize].clone())
            .collect()
    };
    let is_new = |row: &usize| {
        let mut codes = generalized.iter().map(|column| &column.codes);
        *row == 0 || codes.any(|codes| codes[*row] != codes[*row - 1])
    };
    (0..release.rows()).filter(is_new).map(cells).collect()
}

/// The positions of the columns that are written as cells.
fn quasi(release: &Release) -> Vec<usize> {
    (0..release.columns().len())
        .filter(|position| release.generalized(*position).is_some())
        .collect()
}

fn generalized(
    release: &Release,
    position: usize,
    mut cells: Vec<Cell>,
) -> Result<HeldColumn, ForeignRow> {
    cells.sort_unstable();
    cells.dedup();
    let mut column = HeldColumn {
        cells,
        places: Vec::with_capacity(release.rows()),
    };
    let Some(own) = release.generalized(position) else {
        return Ok(column);
    };
    let known: Vec<Option<u32>> = own.cells.iter().map(|cell| column.place(cell)).collect();
    for (row, code) in own.codes.iter().enumerate() {
        let place = known[*code as usize].ok_or_else(|| {
            let attribute = &release.schema().attributes()[position];
            ForeignRow {
                row: row + 1,
                column: attribute.name.clone(),
                cell: attribute.domain.write_cell(&own.cells[*code as usize]),
            }
        })?;
        column.places.push(place);
    }
    Ok(column)
}

fn verbatim(release: &Release, position: usize) -> Option<HeldColumn> {
    let codes = release.verbatim(position)?;
    let mut distinct: Vec<u32> = codes.iter().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let place = |code: u32| distinct.binary_search(&code).unwrap_or(0) as u32;
    let places = codes.iter().map(place).collect();
    let cells = distinct.iter().map(|code| Cell::Interval(*code, *code));
    Some(HeldColumn {
        cells: cells.collect(),
        places,
    })
}
