//! A site's own rows as a protocol works on them: columns of codes, kept in class order.
//!
//! # Discloses
//! Nothing: no other site sees them.

use hedgerow_data::Codes;
use rayon::prelude::*;

/// Whose the rows are.
#[derive(Debug, Clone, Copy)]
pub enum Owner<'a> {
    /// All this site's.
    Site(u32),
    /// One table of several sites' rows: the site of each. For a party of one.
    Column(&'a [u32]),
}

/// A sensitive attribute: its codes and how many there are.
#[derive(Debug, Clone, Copy)]
pub struct SensitiveCodes<'a> {
    /// Code of each row.
    pub codes: &'a Codes,
    /// Size of the domain.
    pub size: u32,
}

/// What a site brings to a run.
#[derive(Debug, Clone)]
pub struct OwnRows<'a> {
    /// Number of rows.
    pub count: usize,
    /// Quasi-identifiers.
    pub quasi: Vec<&'a Codes>,
    /// Sensitive attributes.
    pub sensitive: Vec<SensitiveCodes<'a>>,
    /// Whose the rows are.
    pub owner: Owner<'a>,
    /// Number of sites of the run.
    pub sites: usize,
}

/// Rows in class order: each class a stretch of every column.
pub(super) struct Arranged<'a> {
    quasi: Vec<Codes>,
    /// Original places.
    order: Vec<u32>,
    rows: &'a OwnRows<'a>,
}

/// One class cut: rows `start..end` go to parts by their flags.
pub(super) struct Stretch {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<'a> Arranged<'a> {
    pub(super) fn new(rows: &'a OwnRows<'a>) -> Self {
        Self {
            quasi: rows.quasi.iter().map(|codes| (*codes).clone()).collect(),
            order: (0..rows.count as u32).collect(),
            rows,
        }
    }

    /// The original places of the rows of a class.
    pub(super) fn places(&self, stretch: &Stretch) -> &[u32] {
        &self.order[stretch.start..stretch.end]
    }

    /// Counts the codes `low..=high` of an attribute in a class.
    pub(super) fn histogram(
        &self,
        attribute: usize,
        stretch: &Stretch,
        low: u32,
        high: u32,
    ) -> Vec<u64> {
        let mut counts = vec![0; (high - low + 1) as usize];
        let range = stretch.start..stretch.end;
        match &self.quasi[attribute] {
            Codes::U8(codes) => count(&codes[range], low, &mut counts),
            Codes::U16(codes) => count(&codes[range], low, &mut counts),
            Codes::U32(codes) => count(&codes[range], low, &mut counts),
        }
        counts
    }

    /// For each part of a cut, how often each value of a sensitive attribute occurs in it.
    pub(super) fn sensitive_in_parts(
        &self,
        sensitive: usize,
        attribute: usize,
        stretch: &Stretch,
        ends: &[u32],
    ) -> Vec<u64> {
        let column = self.rows.sensitive[sensitive];
        let size = column.size as usize;
        let mut counts = vec![0; ends.len() * size];
        for row in stretch.start..stretch.end {
            let part = part_of(self.quasi[attribute].get(row), ends);
            let value = column.codes.get(self.order[row] as usize) as usize;
            counts[part * size + value] += 1;
        }
        counts
    }

    /// For each part of a cut, the rows of each site in it.
    pub(super) fn owners_in_parts(
        &self,
        attribute: usize,
        stretch: &Stretch,
        ends: &[u32],
    ) -> Vec<u64> {
        let sites = self.rows.sites;
        let mut counts = vec![0; ends.len() * sites];
        for row in stretch.start..stretch.end {
            let part = part_of(self.quasi[attribute].get(row), ends);
            let site = match self.rows.owner {
                Owner::Site(site) => site,
                Owner::Column(owners) => owners[self.order[row] as usize],
            };
            counts[part * sites + site as usize] += 1;
        }
        counts
    }

    /// The least and greatest code of an attribute in a class, if it has rows here.
    pub(super) fn range(&self, attribute: usize, stretch: &Stretch) -> Option<(u64, u64)> {
        let codes =
            (stretch.start..stretch.end).map(|row| u64::from(self.quasi[attribute].get(row)));
        let (least, greatest) = codes.fold((u64::MAX, 0), |(least, greatest), code| {
            (least.min(code), greatest.max(code))
        });
        (least <= greatest).then_some((least, greatest))
    }

    /// Brings the rows of each cut class into the order of its parts, all columns alike.
    pub(super) fn cut(&mut self, cuts: &[(Stretch, usize, Vec<u32>)]) {
        // Which part each row goes to, before anything moves.
        let parts: Vec<Vec<u32>> = cuts
            .par_iter()
            .with_min_len(64)
            .map(|(stretch, attribute, ends)| {
                let column = &self.quasi[*attribute];
                (stretch.start..stretch.end)
                    .map(|row| part_of(column.get(row), ends) as u32)
                    .collect()
            })
            .collect();
        let arrange = |column: &mut Codes| match column {
            Codes::U8(codes) => arrange(codes, cuts, &parts),
            Codes::U16(codes) => arrange(codes, cuts, &parts),
            Codes::U32(codes) => arrange(codes, cuts, &parts),
        };
        rayon::join(
            || self.quasi.par_iter_mut().for_each(arrange),
            || self::arrange(&mut self.order, cuts, &parts),
        );
    }
}

/// Ends of parts ascend; a code lies in the first part whose end it does not exceed.
fn part_of(code: u32, ends: &[u32]) -> usize {
    match ends {
        [first, _] => usize::from(code > *first),
        _ => ends.partition_point(|end| *end < code),
    }
}

fn count<T: Copy + Into<u32>>(codes: &[T], low: u32, counts: &mut [u64]) {
    for code in codes {
        counts[((*code).into() - low) as usize] += 1;
    }
}

/// Stable: rows keep their order inside a part, so a run is the same however it is threaded.
fn arrange<T: Copy>(column: &mut [T], cuts: &[(Stretch, usize, Vec<u32>)], parts: &[Vec<u32>]) {
    let mut scratch: Vec<T> = Vec::new();
    let mut next: Vec<usize> = Vec::new();
    for ((stretch, _, ends), parts) in cuts.iter().zip(parts) {
        let rows = &mut column[stretch.start..stretch.end];
        next.clear();
        next.resize(ends.len() + 1, 0);
        for part in parts {
            next[*part as usize + 1] += 1;
        }
        for part in 0..ends.len() {
            next[part + 1] += next[part];
        }
        scratch.clear();
        scratch.extend_from_slice(rows);
        for (value, part) in scratch.iter().zip(parts) {
            rows[next[*part as usize]] = *value;
            next[*part as usize] += 1;
        }
    }
}
