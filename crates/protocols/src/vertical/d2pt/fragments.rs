//! The fragmenter: a table of quasi-identifiers and one of each other attribute, joined by a group
//! number only (D2PT section 3.6; Xiao and Tao 2006).
//!
//! Groups are numbered by the order of their contents, so that a number says no more than the tables do:
//! not how groups were found, nor where their people stand in the common order. A site tells one
//! generalized record for each group of its own quasi-identifiers, so nobody sees anything finer than
//! the release, at no time. Where original quasi-identifiers are restored, the sites' parts of a row
//! travel together through a mix that shuffles rows inside their group: the release says which
//! quasi-identifiers belong together, and nobody learns whose they are, beyond what the own part of a
//! row tells its site.
//!
//! Rows stand in the order of their groups, inside a group in the order of what is written.
//!
//! # Discloses
//! To all sites: the release.

use hedgerow_data::{Cell, Codes, GeneralizedColumn, Role};
use hedgerow_smc::{Party, What};

use super::super::own::OwnColumn;
use super::Plan;
use crate::error::Error;

/// How groups are written.
pub const CELLS: What = What::new("generalized quasi-identifiers of groups", "the release");
/// The original quasi-identifiers of the release.
pub const RESTORED: What = What::new(
    "original quasi-identifiers of records in groups",
    "the release",
);
/// The verbatim values of the release.
pub const VALUES: What = What::new("sensitive and other values of groups", "the release");

/// A code beyond the domain.
const NO_VALUE: &str = "a value is none of its attribute";
/// Another site told this site's columns in a different way.
const NOT_MINE: &str = "this site's own columns are not as it said";

/// A fragmented release. Row i of every table is in the same group; nothing else joins them.
#[derive(Debug, Clone, PartialEq)]
pub struct Fragments {
    /// The group of each row, from 1, ascending.
    pub group: Vec<u32>,
    /// The quasi-identifiers by their position in the schema: the columns of one table.
    pub quasi: Vec<(usize, GeneralizedColumn)>,
    /// Each sensitive or other attribute, by its position in the schema, as a table of its own.
    pub verbatim: Vec<(usize, Codes)>,
}

/// A site's contribution to the release.
pub(super) struct Own<'o> {
    /// The site's quasi-identifiers.
    pub(super) quasi: &'o [OwnColumn<'o>],
    /// The cells that the site writes for each group.
    pub(super) cells: &'o [Vec<Cell>],
    /// The site's sensitive and other attributes.
    pub(super) verbatim: &'o [&'o OwnColumn<'o>],
}

/// The release, and the number of each group in it.
pub(super) async fn fragment(
    party: &mut Party,
    plan: &Plan<'_>,
    group_of: &[u32],
    sizes: &[u64],
    own: &Own<'_>,
) -> Result<(Fragments, Vec<u32>), Error> {
    let order = Order::new(group_of, sizes);
    let quasi = if plan.restore {
        restored(party, plan, &order, own).await?
    } else {
        generalized(party, plan, &order, own).await?
    };
    let verbatim = values(party, plan, &order, own).await?;
    Ok(order.numbered(&quasi, &verbatim))
}

/// Records in the order of their groups, as these were found.
pub(in crate::vertical) struct Order {
    /// Sizes of groups.
    pub(in crate::vertical) sizes: Vec<u64>,
    /// Records, group by group.
    pub(in crate::vertical) records: Vec<u32>,
}

impl Order {
    fn new(group_of: &[u32], sizes: &[u64]) -> Self {
        let mut records: Vec<u32> = (0..group_of.len() as u32).collect();
        records.sort_by_key(|record| group_of[*record as usize]);
        Self {
            sizes: sizes.to_vec(),
            records,
        }
    }

    /// The group of each row.
    pub(in crate::vertical) fn groups(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let sizes = self.sizes.iter().enumerate();
        sizes.flat_map(|(group, size)| std::iter::repeat_n(group, *size as usize))
    }

    /// The release with its groups sorted by their contents, quasi-identifiers before values, and the
    /// number of each group.
    pub(in crate::vertical) fn numbered(
        &self,
        quasi: &[(usize, GeneralizedColumn)],
        verbatim: &[(usize, Codes)],
    ) -> (Fragments, Vec<u32>) {
        // Codes of cells are in the order of cells.
        let record = |row: usize| quasi.iter().map(move |(_, column)| column.codes[row]);
        let mut from = 0;
        let mut rows_of: Vec<(Vec<usize>, std::ops::Range<usize>)> = Vec::new();
        for size in &self.sizes {
            let rows = from..from + *size as usize;
            from = rows.end;
            let mut sorted: Vec<usize> = rows.clone().collect();
            sorted.sort_by(|one, other| record(*one).cmp(record(*other)));
            rows_of.push((sorted, rows));
        }
        let rows_of = &rows_of;
        let cells = |group: usize| rows_of[group].0.iter().flat_map(|row| record(*row));
        let values = |group: usize| {
            let columns = verbatim.iter();
            columns.flat_map(move |(_, codes)| rows_of[group].1.clone().map(|row| codes.get(row)))
        };
        let mut order: Vec<usize> = (0..self.sizes.len()).collect();
        order.sort_by(|one, other| {
            let by_cells = cells(*one).cmp(cells(*other));
            by_cells.then_with(|| values(*one).cmp(values(*other)))
        });
        let mut number = vec![0; order.len()];
        for (place, group) in (1..).zip(&order) {
            number[*group] = place;
        }
        let groups = || order.iter().map(|group| &rows_of[*group]);
        let quasi_rows: Vec<usize> = groups().flat_map(|(rows, _)| rows).copied().collect();
        let value_rows: Vec<usize> = groups().flat_map(|(_, rows)| rows.clone()).collect();
        let numbers = (1..).zip(groups());
        let fragments = Fragments {
            group: numbers
                .flat_map(|(number, (rows, _))| std::iter::repeat_n(number, rows.len()))
                .collect(),
            quasi: quasi
                .iter()
                .map(|(position, column)| (*position, column.picked(&quasi_rows)))
                .collect(),
            verbatim: verbatim
                .iter()
                .map(|(position, codes)| (*position, codes.picked(&value_rows)))
                .collect(),
        };
        (fragments, number)
    }
}

/// One generalized record for each group; each site tells the cells of its own columns.
async fn generalized(
    party: &mut Party,
    plan: &Plan<'_>,
    order: &Order,
    own: &Own<'_>,
) -> Result<Vec<(usize, GeneralizedColumn)>, Error> {
    let all = plan.schema.with_role(Role::Quasi);
    let mut words = vec![0u64; order.sizes.len() * all.len()];
    for (record, cells) in words.chunks_exact_mut(all.len()).zip(own.cells) {
        for (column, cell) in own.quasi.iter().zip(cells) {
            let (least, greatest) = cell.bounds();
            if let Some(place) = all.iter().position(|one| *one == column.position) {
                record[place] = u64::from(least) << 32 | u64::from(greatest);
            }
        }
    }
    let told = words.clone();
    party.sum(CELLS, &mut words).await?;
    let mut columns = Vec::with_capacity(all.len());
    for (place, position) in all.iter().enumerate() {
        let size = u64::from(plan.schema.attributes()[*position].domain.size());
        let mut cells = Vec::with_capacity(order.sizes.len());
        let is_mine = own.quasi.iter().any(|held| held.position == *position);
        let both = words
            .chunks_exact(all.len())
            .zip(told.chunks_exact(all.len()));
        for (record, told) in both {
            party.fit(CELLS, !is_mine || record[place] == told[place], NOT_MINE)?;
            let (least, greatest) = (record[place] >> 32, record[place] & 0xffff_ffff);
            let is_cell = least <= greatest && greatest < size;
            party.fit(
                CELLS,
                is_cell,
                "a group is written as no interval of its values",
            )?;
            cells.push(Cell::Interval(least as u32, greatest as u32));
        }
        let of_row = order.groups().map(|group| &cells[group]);
        columns.push((*position, column(of_row)));
    }
    Ok(columns)
}

/// The original records of each group, their parts put together by mixing.
async fn restored(
    party: &mut Party,
    plan: &Plan<'_>,
    order: &Order,
    own: &Own<'_>,
) -> Result<Vec<(usize, GeneralizedColumn)>, Error> {
    // The columns in the order in which the sites' parts stand in a row.
    let of_site: Vec<Vec<usize>> = if party.sites() == 1 {
        vec![plan.schema.with_role(Role::Quasi)]
    } else {
        let sites = 0..plan.split.sites();
        let of_site = sites.map(|site| plan.split.with_role(plan.schema, site, Role::Quasi));
        of_site.collect()
    };
    let widths: Vec<usize> = of_site.iter().map(|columns| 4 * columns.len()).collect();
    // Most significant byte first, so that the order of rows is that of codes.
    let part = |record: &u32| -> Vec<u8> {
        let codes = own
            .quasi
            .iter()
            .map(|column| column.codes[*record as usize]);
        codes.flat_map(u32::to_be_bytes).collect()
    };
    let parts = order.records.iter().map(part).collect();
    let rows = party.rows(RESTORED, &widths, &order.sizes, parts).await?;
    let mut columns = Vec::new();
    for (place, position) in of_site.concat().into_iter().enumerate() {
        let size = plan.schema.attributes()[position].domain.size();
        let mut cells = Vec::with_capacity(rows.len());
        for row in &rows {
            let bytes = row.get(4 * place..).and_then(<[u8]>::first_chunk);
            let code = bytes.map(|bytes| u32::from_be_bytes(*bytes));
            let code = code.filter(|code| *code < size);
            let code = code.ok_or_else(|| party.misfit(RESTORED, NO_VALUE))?;
            cells.push(Cell::Interval(code, code));
        }
        columns.push((position, column(cells.iter())));
    }
    columns.sort_by_key(|(position, _)| *position);
    Ok(columns)
}

/// The values of each group in their own order, attribute by attribute.
async fn values(
    party: &mut Party,
    plan: &Plan<'_>,
    order: &Order,
    own: &Own<'_>,
) -> Result<Vec<(usize, Codes)>, Error> {
    let mut all = plan.schema.with_role(Role::Sensitive);
    all.extend(plan.schema.with_role(Role::Other));
    all.sort_unstable();
    let rows = order.records.len();
    let mut words = vec![0u64; rows * all.len()];
    for (position, told) in all.iter().zip(words.chunks_exact_mut(rows)) {
        let Some(column) = own.verbatim.iter().find(|held| held.position == *position) else {
            continue;
        };
        for (word, record) in told.iter_mut().zip(&order.records) {
            *word = u64::from(column.codes[*record as usize]);
        }
        let mut rest = told;
        for size in &order.sizes {
            let (group, after) = rest.split_at_mut(*size as usize);
            group.sort_unstable();
            rest = after;
        }
    }
    let own_words = words.clone();
    party.sum(VALUES, &mut words).await?;
    let mut columns = Vec::with_capacity(all.len());
    let told = words.chunks_exact(rows).zip(own_words.chunks_exact(rows));
    for (position, (told, said)) in all.into_iter().zip(told) {
        let is_mine = own.verbatim.iter().any(|held| held.position == position);
        party.fit(VALUES, !is_mine || told == said, NOT_MINE)?;
        let size = plan.schema.attributes()[position].domain.size();
        let mut codes = Codes::for_size(size);
        for word in told {
            let code = u32::try_from(*word).ok().filter(|code| *code < size);
            codes.push(code.ok_or_else(|| party.misfit(VALUES, NO_VALUE))?);
        }
        columns.push((position, codes));
    }
    Ok(columns)
}

/// A column of these cells.
pub(in crate::vertical) fn column<'c>(
    of_row: impl Iterator<Item = &'c Cell> + Clone,
) -> GeneralizedColumn {
    let mut cells: Vec<Cell> = of_row.clone().cloned().collect();
    cells.sort_unstable();
    cells.dedup();
    // Every row's cell is among the distinct ones.
    let place = |cell: &Cell| cells.binary_search(cell).unwrap_or(0) as u32;
    GeneralizedColumn {
        codes: of_row.map(place).collect(),
        cells,
    }
}
