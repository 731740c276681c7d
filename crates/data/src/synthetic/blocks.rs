//! Blocks of rows: drawn and encoded on all cores, appended in order.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::random::Random;
use super::{Kind, census, hospital, institutions};
use crate::attribute::Schema;
use crate::files::{EncodedRows, FileError, Progress, RowEncoder, RowWriter};
use crate::table::{Codes, Column};

/// Rows of a block. A change of this number changes the rows that are drawn.
const BLOCK: u64 = 1 << 14;

/// Draws the rows of one site.
pub(super) trait SiteRows: Sync {
    /// Appends rows to the columns of the study, in its order. The first of them stands at
    /// `first` in the site's table.
    fn draw(&self, random: &mut Random, first: u64, rows: usize, columns: &mut [Column]);
}

/// Draws and writes the rows of one plan.
pub(super) struct Drawer<'a> {
    kind: Kind,
    seed: u64,
    schema: &'a Arc<Schema>,
    model: Model,
}

enum Model {
    Hospital(hospital::Model),
    Census(census::Model),
    Institutions(hospital::Model),
}

impl<'a> Drawer<'a> {
    pub(super) fn new(kind: Kind, seed: u64, schema: &'a Arc<Schema>) -> Self {
        let model = match kind {
            Kind::Hospital => Model::Hospital(hospital::Model::new(seed)),
            Kind::Census => Model::Census(census::Model::new()),
            Kind::Institutions => Model::Institutions(hospital::Model::new(seed)),
        };
        Self {
            kind,
            seed,
            schema,
            model,
        }
    }

    /// Appends a site's rows to a table, which has a column for the site if `sites` is given; on all cores.
    pub(super) fn write(
        &self,
        site: usize,
        rows: u64,
        sites: Option<usize>,
        writer: &mut RowWriter,
        progress: &dyn Progress,
    ) -> Result<(), FileError> {
        let model = self.model(site);
        let encoder = writer.encoder();
        let encode = |block: u64| self.encoded(site, &*model, &(0..rows), block, sites, &encoder);
        let blocks = rows.div_ceil(BLOCK);
        let group = 2 * rayon::current_num_threads() as u64;
        let mut ready = Vec::new();
        let mut next = 0;
        // One group of blocks is appended while the next one is drawn.
        while next < blocks || !ready.is_empty() {
            let end = blocks.min(next + group);
            let (drawn, appended) = rayon::join(
                || {
                    let blocks = (next..end).into_par_iter();
                    blocks.map(encode).collect::<Result<Vec<_>, _>>()
                },
                || {
                    let mut ready = ready.into_iter();
                    ready.try_for_each(|block| writer.append(block))
                },
            );
            appended?;
            ready = drawn?;
            progress.advance(rows.min(end * BLOCK) - rows.min(next * BLOCK));
            next = end;
        }
        Ok(())
    }

    /// Appends some of a site's rows to a part of a table; on one core, since parts are written side by side.
    pub(super) fn write_part(
        &self,
        site: usize,
        rows: &Range<u64>,
        sites: Option<usize>,
        writer: &mut RowWriter,
        progress: &dyn Progress,
    ) -> Result<(), FileError> {
        let model = self.model(site);
        let encoder = writer.encoder();
        let row = |block: u64| (block * BLOCK).clamp(rows.start, rows.end);
        for block in rows.start / BLOCK..rows.end.div_ceil(BLOCK) {
            writer.append(self.encoded(site, &*model, rows, block, sites, &encoder)?)?;
            progress.advance(row(block + 1) - row(block));
        }
        Ok(())
    }

    /// Those of a site's rows that lie in a block, encoded.
    fn encoded(
        &self,
        site: usize,
        model: &dyn SiteRows,
        rows: &Range<u64>,
        block: u64,
        sites: Option<usize>,
        encoder: &RowEncoder,
    ) -> Result<EncodedRows, FileError> {
        let first = block * BLOCK;
        let drawn = (rows.end - first).min(BLOCK) as usize;
        // The first rows of a block that begins before the rest are drawn too, and left out.
        let left_out = rows.start.saturating_sub(first) as usize;
        let mut columns = self.block(site, block, drawn, model);
        if left_out > 0 {
            let kept: Vec<usize> = (left_out..drawn).collect();
            columns = columns.iter().map(|column| column.picked(&kept)).collect();
        }
        columns.extend(sites.map(|sites| constant(site, sites, drawn - left_out)));
        encoder.encode(&columns)
    }

    /// All rows of the first site, held at once.
    pub(super) fn whole(&self, rows: u64) -> Vec<Column> {
        let mut columns = self.empty();
        let model = self.model(0);
        for block in 0..rows.div_ceil(BLOCK) {
            let first = block * BLOCK;
            let rows = (rows - first).min(BLOCK) as usize;
            let mut random = Random::for_block(self.seed, self.kind.name(), 0, block);
            model.draw(&mut random, first, rows, &mut columns);
        }
        columns
    }

    fn model(&self, site: usize) -> Box<dyn SiteRows + '_> {
        match &self.model {
            Model::Hospital(model) => Box::new(model.site(site)),
            Model::Census(model) => Box::new(model.site(site)),
            Model::Institutions(model) => Box::new(institutions::People {
                patients: model.site(site),
            }),
        }
    }

    fn empty(&self) -> Vec<Column> {
        let attributes = self.schema.attributes().iter();
        attributes
            .map(|attribute| Column::for_domain(&attribute.domain))
            .collect()
    }

    fn block(&self, site: usize, block: u64, rows: usize, model: &dyn SiteRows) -> Vec<Column> {
        let mut columns = self.empty();
        let mut random = Random::for_block(self.seed, self.kind.name(), site, block);
        model.draw(&mut random, block * BLOCK, rows, &mut columns);
        columns
    }
}

fn constant(code: usize, size: usize, rows: usize) -> Column {
    let mut codes = Codes::for_size(size as u32);
    (0..rows).for_each(|_| codes.push(code as u32));
    Column::Coded(codes)
}

/// Appends a row's codes; a column of text is not coded and is left alone.
pub(super) fn push_codes(columns: &mut [Column], row: &[u32]) {
    let coded = columns.iter_mut().filter_map(|column| match column {
        Column::Coded(codes) => Some(codes),
        Column::Text(_) | Column::Absent(_) => None,
    });
    coded.zip(row).for_each(|(codes, code)| codes.push(*code));
}
