//! The joint release: one table, or fragments that only a group number joins.
//!
//! Each site tells how it writes each class, in as many bits as that takes. Verbatim values of a fragmented release are
//! told attribute by attribute, in their own order inside each class. In one table, values that all stand
//! at one site are told by it, each class's rows in their own order; values of several sites go through a
//! mix that shuffles rows inside their class, so that nobody learns whose they are.
//!
//! Rows of a table, and groups of fragments, stand in the order of what is written, which says nothing about
//! the common order of people or the order of cuts.
//!
//! # Discloses
//! To all sites, the release.

use std::collections::BTreeMap;

use hedgerow_data::{Cell, Codes, GeneralizedColumn, Release, Role};
use hedgerow_smc::{Party, Site, What};

use super::super::clustering::assembly::{Verbatim, verbatim};
use super::super::d2pt::Fragments;
use super::super::d2pt::fragments::{Order, column};
use super::super::own::OwnColumn;
use super::scale::bits_of;
use super::{Found, Plan};
use crate::error::Error;
use crate::horizontal::assembly::{Row, released};

/// How classes are written.
pub const CELLS: What = What::new(
    "generalized quasi-identifiers of classes of the same people",
    "the release",
);
/// The verbatim values of the release.
pub const VALUES: What = What::new(
    "sensitive and other values of classes of the same people",
    "the release",
);

const NO_CELL: &str = "a class is written as no cell of its attribute";
const NO_VALUE: &str = "a value is none of its attribute";
const NO_ORDER: &str = "the values of a class do not stand in their own order";

/// Puts one table together, the same at every site. `columns` and `rows` are the same as in the run.
pub async fn assemble(
    party: &mut Party,
    plan: &Plan<'_>,
    columns: &[(usize, &Codes)],
    rows: &[u32],
    found: &Found,
) -> Result<Release, Error> {
    let cells = all_cells(party, plan, found).await?;
    // Classes that are written alike are one class.
    let mut classes: BTreeMap<&[Cell], Vec<u32>> = BTreeMap::new();
    for (cells, people) in cells.iter().zip(&found.classes) {
        classes.entry(cells).or_default().extend(people);
    }
    let holders = (0..party.sites()).filter(|site| !verbatim_at(party, plan, *site).is_empty());
    let holders: Vec<usize> = holders.collect();
    let verbatim = match holders.as_slice() {
        [] | [_] => told_rows(party, plan, columns, rows, holders.first(), &classes).await?,
        _ => verbatim(party, VALUES, plan.held(), columns, rows, &classes).await?,
    };
    let written: Vec<&[Cell]> = classes.keys().copied().collect();
    Ok(released(
        plan.schema,
        &written,
        &verbatim.positions,
        &verbatim.rows,
    ))
}

/// Puts fragments together, the same at every site.
pub async fn fragment(
    party: &mut Party,
    plan: &Plan<'_>,
    columns: &[(usize, &Codes)],
    rows: &[u32],
    found: &Found,
) -> Result<Fragments, Error> {
    let cells = all_cells(party, plan, found).await?;
    let order = Order {
        sizes: found
            .classes
            .iter()
            .map(|class| class.len() as u64)
            .collect(),
        records: found.classes.concat(),
    };
    let all = plan.schema.with_role(Role::Quasi).into_iter().enumerate();
    let quasi: Vec<(usize, GeneralizedColumn)> = all
        .map(|(place, position)| {
            let of_row = order.groups().map(|class| &cells[class][place]);
            (position, column(of_row))
        })
        .collect();
    let values = told_values(party, plan, columns, rows, &order).await?;
    Ok(order.numbered(&quasi, &values).0)
}

/// The cells of each class in all quasi-identifiers, each site telling its own.
async fn all_cells(
    party: &mut Party,
    plan: &Plan<'_>,
    found: &Found,
) -> Result<Vec<Vec<Cell>>, Error> {
    let all = plan.schema.with_role(Role::Quasi);
    let places: Vec<usize> = (0..all.len()).collect();
    let shapes = plan.shapes(&places);
    let of_sites: Vec<Vec<usize>> = (0..party.sites())
        .map(|site| {
            let held = plan.held().columns_at(party, site, Role::Quasi);
            places
                .iter()
                .copied()
                .filter(|place| held.contains(&all[*place]))
                .collect()
        })
        .collect();
    let bits: Vec<Vec<u8>> = of_sites
        .iter()
        .map(|own| {
            let of_class = own
                .iter()
                .flat_map(|place| shapes.shape(*place).told_bits());
            of_class.collect::<Vec<u8>>().repeat(found.classes.len())
        })
        .collect();
    let own_places = &of_sites[party.me().index()];
    let mut own = Vec::with_capacity(bits[party.me().index()].len());
    for cells in &found.cells {
        let mut closure = vec![0; shapes.width()];
        for (place, cell) in own_places.iter().zip(cells) {
            shapes.put(*place, cell, &mut closure);
            let part = shapes.part(*place, &closure);
            own.extend(shapes.shape(*place).told(part));
        }
    }
    let told = party.tell_each(CELLS, &bits, &own).await?;
    let mut cells: Vec<Vec<Cell>> =
        vec![vec![Cell::Interval(0, 0); all.len()]; found.classes.len()];
    let mut rest = told.as_slice();
    for (site, own) in Site::all(party.sites()).zip(&of_sites) {
        for cells in &mut cells {
            for place in own {
                let shape = shapes.shape(*place);
                let (numbers, behind) = rest.split_at(shape.told_bits().len());
                rest = behind;
                let closure = shape.heard(numbers);
                let closure = closure.ok_or_else(|| party.misfit_of(site, CELLS, NO_CELL))?;
                cells[*place] = shape.cell(&closure);
            }
        }
    }
    Ok(cells)
}

/// The columns of a site that are released as they are, ascending.
fn verbatim_at(party: &Party, plan: &Plan<'_>, site: usize) -> Vec<usize> {
    let held = plan.held();
    let mut columns = held.columns_at(party, site, Role::Sensitive);
    columns.extend(held.columns_at(party, site, Role::Other));
    columns.sort_unstable();
    columns
}

/// This site's columns that are released as they are, ascending.
fn own_verbatim<'p>(
    party: &Party,
    plan: &Plan<'p>,
    columns: &[(usize, &Codes)],
    rows: &[u32],
) -> Result<Vec<OwnColumn<'p>>, Error> {
    let held = plan.held();
    let mut own = held.own_columns(party, Role::Sensitive, columns, rows)?;
    own.extend(held.own_columns(party, Role::Other, columns, rows)?);
    own.sort_by_key(|column| column.position);
    Ok(own)
}

/// The bits of a code of a column.
fn code_bits(plan: &Plan<'_>, position: usize) -> u8 {
    bits_of(plan.schema.attributes()[position].domain.size() - 1)
}

/// A code that a site told, if it is one of its column.
fn code(
    party: &Party,
    plan: &Plan<'_>,
    site: Site,
    position: usize,
    told: u64,
) -> Result<u32, Error> {
    let size = plan.schema.attributes()[position].domain.size();
    let code = u32::try_from(told).ok().filter(|code| *code < size);
    Ok(code.ok_or_else(|| party.misfit_of(site, VALUES, NO_VALUE))?)
}

/// The rows of each class, where one site at most has values that are released as they are.
async fn told_rows(
    party: &mut Party,
    plan: &Plan<'_>,
    columns: &[(usize, &Codes)],
    rows: &[u32],
    holder: Option<&usize>,
    classes: &BTreeMap<&[Cell], Vec<u32>>,
) -> Result<Verbatim, Error> {
    let positions = holder.map_or(Vec::new(), |site| verbatim_at(party, plan, *site));
    let of_class = classes.values().zip(0..);
    let class_of_row: Vec<u32> = of_class
        .flat_map(|(people, class)| std::iter::repeat_n(class, people.len()))
        .collect();
    let mut bits = vec![Vec::new(); party.sites()];
    let mut own = Vec::new();
    if let Some(site) = holder {
        let of_row: Vec<u8> = positions.iter().map(|at| code_bits(plan, *at)).collect();
        bits[*site] = of_row.repeat(class_of_row.len());
        let held = own_verbatim(party, plan, columns, rows)?;
        for people in classes.values().filter(|_| *site == party.me().index()) {
            let codes = |person: &u32| -> Vec<u32> {
                let columns = held.iter();
                columns
                    .map(|column| column.codes[*person as usize])
                    .collect()
            };
            let mut sorted: Vec<Vec<u32>> = people.iter().map(codes).collect();
            sorted.sort_unstable();
            own.extend(sorted.into_iter().flatten().map(u64::from));
        }
    }
    let told = match holder {
        Some(_) => party.tell_each(VALUES, &bits, &own).await?,
        None => Vec::new(),
    };
    let mut read: Vec<Row> = class_of_row.into_iter().map(|class| vec![class]).collect();
    if let Some(site) = holder {
        let site = Site::new(*site as u16);
        for (row, told) in read.iter_mut().zip(told.chunks_exact(positions.len())) {
            for (position, told) in positions.iter().zip(told) {
                row.push(code(party, plan, site, *position, *told)?);
            }
        }
        party.fit_told(site, VALUES, read.is_sorted(), NO_ORDER)?;
    }
    Ok(Verbatim {
        positions,
        rows: read,
    })
}

/// The values of each class in their own order, attribute by attribute.
async fn told_values(
    party: &mut Party,
    plan: &Plan<'_>,
    columns: &[(usize, &Codes)],
    rows: &[u32],
    order: &Order,
) -> Result<Vec<(usize, Codes)>, Error> {
    let records = order.records.len();
    let of_sites: Vec<Vec<usize>> = (0..party.sites())
        .map(|site| verbatim_at(party, plan, site))
        .collect();
    let bits: Vec<Vec<u8>> = of_sites
        .iter()
        .map(|positions| {
            let of_column = positions.iter();
            let of_column = of_column.flat_map(|at| vec![code_bits(plan, *at); records]);
            of_column.collect()
        })
        .collect();
    let mut own = Vec::new();
    for column in own_verbatim(party, plan, columns, rows)? {
        let mut records = order.records.as_slice();
        for size in &order.sizes {
            let (group, behind) = records.split_at(*size as usize);
            records = behind;
            let mut codes: Vec<u32> = group
                .iter()
                .map(|one| column.codes[*one as usize])
                .collect();
            codes.sort_unstable();
            own.extend(codes.into_iter().map(u64::from));
        }
    }
    let told = party.tell_each(VALUES, &bits, &own).await?;
    let mut values = Vec::new();
    let of_sites = Site::all(party.sites()).zip(of_sites);
    let positions = of_sites.flat_map(|(site, own)| own.into_iter().map(move |at| (site, at)));
    for ((site, position), told) in positions.zip(told.chunks_exact(records)) {
        let mut rest = told;
        for size in &order.sizes {
            let (group, behind) = rest.split_at(*size as usize);
            rest = behind;
            party.fit_told(site, VALUES, group.is_sorted(), NO_ORDER)?;
        }
        let mut codes = Codes::for_size(plan.schema.attributes()[position].domain.size());
        for told in told {
            codes.push(code(party, plan, site, position, *told)?);
        }
        values.push((position, codes));
    }
    values.sort_by_key(|(position, _)| *position);
    Ok(values)
}
