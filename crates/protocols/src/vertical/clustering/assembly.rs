//! Assembly: the joint release. Each site tells how it writes each cluster; the sites' parts of a
//! row's verbatim values travel together through a mix that shuffles rows inside their class, so that
//! nobody learns whose they are, beyond what the own part of a row tells its site.
//!
//! Rows are sorted by their contents, which says nothing about the common order of records.
//!
//! # Discloses
//! To all sites, the release.

use std::collections::BTreeMap;

use hedgerow_data::{Cell, Codes, Release, Role};
use hedgerow_smc::{Party, What};

use super::super::own::{Held, OwnColumn};
use super::{Clustering, Plan};
use crate::clustering::Loss;
use crate::clustering::shape::Shape;
use crate::clustering::shapes::Shapes;
use crate::error::Error;
use crate::horizontal::assembly::{Row, released};

/// How clusters are written.
pub const CELLS: What = What::new("generalized quasi-identifiers of clusters", "the release");
/// The verbatim values of the release.
pub const VALUES: What = What::new("sensitive and other values of clusters", "the release");

/// Puts the release together, the same at every site. `columns` and `rows` are the same as in the run.
pub async fn assemble(
    party: &mut Party,
    plan: &Plan<'_>,
    columns: &[(usize, &Codes)],
    rows: &[u32],
    found: &Clustering,
) -> Result<Release, Error> {
    let cells = all_cells(party, plan, found).await?;
    // Clusters that are written alike are one class.
    let mut classes: BTreeMap<&[Cell], Vec<u32>> = BTreeMap::new();
    for (cells, members) in cells.iter().zip(&found.clusters) {
        classes.entry(cells).or_default().extend(members);
    }
    let verbatim = verbatim(party, VALUES, plan.held(), columns, rows, &classes).await?;
    let written: Vec<&[Cell]> = classes.keys().copied().collect();
    Ok(released(
        plan.schema,
        &written,
        &verbatim.positions,
        &verbatim.rows,
    ))
}

/// The cells of each cluster in all quasi-identifiers, each site telling its own.
async fn all_cells(
    party: &mut Party,
    plan: &Plan<'_>,
    found: &Clustering,
) -> Result<Vec<Vec<Cell>>, Error> {
    let all = plan.schema.with_role(Role::Quasi);
    // The form of closures depends on neither loss nor counts.
    let writings = plan.writings.iter();
    let shapes = writings.map(|writing| Shape::new(*writing, Loss::Lm, &[]));
    let shapes = Shapes::new(shapes.collect());
    let mut words = vec![0; found.clusters.len() * shapes.width()];
    let own = plan
        .held()
        .columns_at(party, party.me().index(), Role::Quasi);
    let places = (0..all.len()).filter(|place| own.contains(&all[*place]));
    for (closure, cells) in words.chunks_exact_mut(shapes.width()).zip(&found.cells) {
        for (place, cell) in places.clone().zip(cells) {
            shapes.put(place, cell, closure);
        }
    }
    let said = words.clone();
    party.sum(CELLS, &mut words).await?;
    let both = words.chunks_exact(shapes.width());
    let both = both.zip(said.chunks_exact(shapes.width()));
    let mut cells = Vec::with_capacity(found.clusters.len());
    for (closure, said) in both {
        let is_own = |place| shapes.part(place, closure) == shapes.part(place, said);
        let fits = shapes.is_closure(closure) && places.clone().all(is_own);
        party.fit(
            CELLS,
            fits,
            "no closure of a cluster, or not as this site wrote it",
        )?;
        cells.push(shapes.cells(closure));
    }
    Ok(cells)
}

/// Rows of the release.
pub(in crate::vertical) struct Verbatim {
    /// The positions of their values, ascending.
    pub(in crate::vertical) positions: Vec<usize>,
    pub(in crate::vertical) rows: Vec<Row>,
}

/// The verbatim values of each class, their parts put together by mixing.
pub(in crate::vertical) async fn verbatim(
    party: &mut Party,
    what: What,
    held: Held<'_>,
    columns: &[(usize, &Codes)],
    rows: &[u32],
    classes: &BTreeMap<&[Cell], Vec<u32>>,
) -> Result<Verbatim, Error> {
    let of_site = |site: usize| {
        let mut held_there = held.columns_at(party, site, Role::Sensitive);
        held_there.extend(held.columns_at(party, site, Role::Other));
        held_there.sort_unstable();
        held_there
    };
    let of_site: Vec<Vec<usize>> = (0..party.sites()).map(of_site).collect();
    let mut own = held.own_columns(party, Role::Sensitive, columns, rows)?;
    own.extend(held.own_columns(party, Role::Other, columns, rows)?);
    own.sort_by_key(|column| column.position);
    let widths: Vec<usize> = of_site.iter().map(|columns| 4 * columns.len()).collect();
    let stretches: Vec<u64> = classes.values().map(|rows| rows.len() as u64).collect();
    // Most significant byte first, so that the order of rows is that of codes.
    let part = |record: &u32| -> Vec<u8> {
        let code = |column: &OwnColumn<'_>| column.codes[*record as usize].to_be_bytes();
        own.iter().flat_map(code).collect()
    };
    let parts = classes.values().flatten().map(part).collect();
    let mixed = party.rows(what, &widths, &stretches, parts).await?;
    // In a row the sites' parts stand one after the other; in the release, columns as in the schema.
    let mut places: Vec<(usize, usize)> = of_site.into_iter().flatten().zip(0..).collect();
    places.sort_unstable();
    let class_of_row = stretches.iter().zip(0..);
    let class_of_row =
        class_of_row.flat_map(|(size, class)| std::iter::repeat_n(class, *size as usize));
    let mut read: Vec<Row> = Vec::with_capacity(mixed.len());
    for (row, class) in mixed.iter().zip(class_of_row) {
        let mut codes = vec![class];
        for (position, place) in &places {
            let bytes = row.get(4 * place..).and_then(<[u8]>::first_chunk);
            let code = bytes.map(|bytes| u32::from_be_bytes(*bytes));
            let size = held.schema.attributes()[*position].domain.size();
            let code = code.filter(|code| *code < size);
            let problem = "a value is none of its attribute";
            codes.push(code.ok_or_else(|| party.misfit(what, problem))?);
        }
        read.push(codes);
    }
    let positions = places.into_iter().map(|(position, _)| position).collect();
    Ok(Verbatim {
        positions,
        rows: read,
    })
}
