//! The rows that a question finds, united without ownership.
//!
//! A site's items are its possible rows: the places of cells that all sites know, and codes. Beside the columns
//! that are asked for, an item has those that the condition speaks of, since the share of a row follows from
//! them.
//!
//! At the published level the random items of JX08's Algorithm 5 are rows that the answer could have: cells of
//! one class, and codes, that possibly satisfy the condition. A random item that could not be an answer would
//! be known for what it is, and hide nothing. The domain of the paper's equations is what they are drawn from.
//!
//! # Discloses
//! To all sites: how many rows are found, and the rows.

use std::sync::{Mutex, PoisonError};

use hedgerow_data::Cell;
use hedgerow_smc::union::loss::Setting;
use hedgerow_smc::{Generator, Items, Party, Security, Seed};

use super::error::QuestionError;
use super::held::Held;
use super::question::{Condition, Total};
use super::truth::{Truth, Weighed, truths};
use super::{FOUND, ROWS};
use crate::error::Error;

/// Bytes of a cell.
const WIDTH: usize = 4;
/// The most rows that a question finds: each takes some hundred bytes at every site.
pub const MOST_FOUND: u64 = 1 << 22;
/// The most items that are listed one by one.
const LISTED: f64 = 16_384.0;
/// Items that are drawn together where there are more, of which those that the answer could have are kept.
const DRAWN: usize = 256;
/// How often items are drawn before one is taken that the answer could not have.
const DRAWS: usize = 16;
/// More rows than the table has.
const TOO_MANY: &str = "more rows than the table has, or fewer than this site's own";
/// Rows of this site that are not there.
const NOT_MINE: &str = "rows without this site's own";
/// Rows that no table has.
const NO_ROWS: &str = "rows that are not of the table, or not of the question";

/// A row that a question finds.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The cells of the columns that were asked for.
    pub cells: Vec<Cell>,
    /// What the row says about the condition.
    pub truth: Truth,
}

/// The possible rows of all sites.
pub(super) async fn unite(
    party: &mut Party,
    held: &Held,
    condition: &Condition,
    columns: &[usize],
) -> Result<Vec<Found>, Error> {
    let carried = carried(condition, columns);
    let kinds = kinds(held, &carried)?;
    let weighed = Weighed::new(held, condition, Total::Records)?;
    let mut scratch = weighed.scratch();
    let possible = (0..held.rows()).filter(|row| weighed.truth(*row, &mut scratch).possible);
    let possible: Vec<usize> = possible.collect();
    let here: u64 = possible.iter().map(|row| held.records_of(*row)).sum();
    let mut found = [here];
    party.sum(FOUND, &mut found).await?;
    let fits = (here..=held.records()).contains(&found[0]);
    party.fit(FOUND, fits, TOO_MANY)?;
    // All sites know the number, so that either all go on or none does.
    if found[0] > MOST_FOUND {
        let (found, most) = (found[0], MOST_FOUND);
        return Err(QuestionError::TooManyRows { found, most }.into());
    }
    let item = |row: usize| -> Vec<u8> {
        kinds
            .iter()
            .flat_map(|kind| kind.of_row(row).to_be_bytes())
            .collect()
    };
    // Of a row that stands for several records, each is an item.
    let mut items: Vec<Vec<u8>> = possible
        .into_iter()
        .flat_map(|row| std::iter::repeat_n(item(row), held.records_of(row) as usize))
        .collect();
    let mut own = items.clone();
    let all = found[0] as usize;
    let known = Known::new(held, &carried, kinds);
    if all > 0 {
        // Mixing needs no random items.
        let is_published = party.settings().security == Security::Published;
        let decoys = is_published.then(|| Decoys::new(&known, condition));
        let decoy = |generator: &mut Generator| match &decoys {
            Some(decoys) => decoys.draw(generator),
            None => encode(&known.any(generator)),
        };
        let shape = Items {
            width: WIDTH * known.kinds.len(),
            capacity: all,
            domain: decoys.as_ref().map_or(1.0, |decoys| decoys.domain),
            decoy: &decoy,
        };
        party.union(ROWS, &shape, &mut items).await?;
    }
    party.fit(ROWS, items.len() == all, NO_ROWS)?;
    party.fit(ROWS, has_all(&items, &mut own), NOT_MINE)?;
    let read = known.read(condition, &items)?;
    party.fit(ROWS, read.is_some(), NO_ROWS)?;
    let shown: Vec<usize> = columns
        .iter()
        .filter_map(|column| carried.iter().position(|carried| carried == column))
        .collect();
    let mut rows = read.unwrap_or_default();
    for row in &mut rows {
        let cells = shown.iter().map(|place| row.cells[*place].clone());
        row.cells = cells.collect();
    }
    Ok(rows)
}

/// The setting of JX08's equations for the union of so many different rows of a question, every site with the
/// same share of them: what a union of the published level is expected to give away follows from it.
pub fn setting(
    held: &Held,
    condition: &Condition,
    columns: &[usize],
    sites: usize,
    distinct: usize,
) -> Result<Setting, QuestionError> {
    let carried = carried(condition, columns);
    let kinds = kinds(held, &carried)?;
    let known = Known::new(held, &carried, kinds);
    let domain = Decoys::new(&known, condition).domain;
    // A study has at most 1,000 sites that can run.
    Ok(Setting::even(sites as u32, domain, distinct as f64))
}

/// The columns that items carry, ascending.
fn carried(condition: &Condition, columns: &[usize]) -> Vec<usize> {
    let mut carried = condition.columns();
    carried.extend(columns);
    carried.sort_unstable();
    carried.dedup();
    carried
}

/// Whether a list has every item of another, as often.
fn has_all(items: &[Vec<u8>], own: &mut [Vec<u8>]) -> bool {
    let mut items: Vec<&Vec<u8>> = items.iter().collect();
    items.sort_unstable();
    own.sort_unstable();
    let mut items = items.into_iter();
    own.iter().all(|own| items.any(|item| item == own))
}

/// A column as items carry it.
enum Kind<'h> {
    /// The place among the cells of the joint table.
    Place {
        cells: &'h [Cell],
        places: &'h [u32],
    },
    /// A code of the domain.
    Code {
        size: u32,
        cells: &'h [Cell],
        places: &'h [u32],
    },
}

fn kinds<'h>(held: &'h Held, carried: &[usize]) -> Result<Vec<Kind<'h>>, QuestionError> {
    let kind = |position: &usize| {
        let attribute = &held.schema().attributes()[*position];
        let column = held.column(*position).ok_or_else(|| QuestionError::Text {
            column: attribute.name.clone(),
        })?;
        let (cells, places) = (column.cells.as_slice(), column.places.as_slice());
        let size = attribute.domain.size();
        Ok(match held.is_quasi(*position) {
            true => Kind::Place { cells, places },
            false => Kind::Code {
                size,
                cells,
                places,
            },
        })
    };
    carried.iter().map(kind).collect()
}

impl Kind<'_> {
    fn of_row(&self, row: usize) -> u32 {
        match self {
            Self::Place { places, .. } => places[row],
            Self::Code { cells, places, .. } => cells[places[row] as usize].bounds().0,
        }
    }

    /// The cell of a number that a peer may have sent.
    fn cell(&self, number: u32) -> Option<Cell> {
        match self {
            Self::Place { cells, .. } => cells.get(number as usize).cloned(),
            Self::Code { size, .. } => (number < *size).then_some(Cell::Interval(number, number)),
        }
    }
}

/// What all sites know of the items of a question.
struct Known<'h> {
    held: &'h Held,
    carried: &'h [usize],
    kinds: Vec<Kind<'h>>,
    /// For each column that items carry as a place of the joint table, where it stands in an item.
    quasi: Vec<usize>,
    /// The places that classes have in these columns: sorted, each once.
    combinations: Vec<Vec<u32>>,
}

impl<'h> Known<'h> {
    fn new(held: &'h Held, carried: &'h [usize], kinds: Vec<Kind<'h>>) -> Self {
        let is_quasi = |place: &usize| held.is_quasi(carried[*place]);
        let quasi: Vec<usize> = (0..carried.len()).filter(is_quasi).collect();
        let positions: Vec<usize> = quasi.iter().map(|place| carried[*place]).collect();
        Self {
            held,
            carried,
            kinds,
            quasi,
            combinations: held.combinations(&positions),
        }
    }

    /// Items that there can be, whatever the condition.
    fn size(&self) -> f64 {
        let codes = self.kinds.iter().filter_map(|kind| match kind {
            Kind::Place { .. } => None,
            Kind::Code { size, .. } => Some(f64::from(*size)),
        });
        codes.product::<f64>() * self.combinations.len() as f64
    }

    /// Every item that there can be, whatever the condition; for a few.
    fn all(&self) -> Vec<Vec<u32>> {
        let mut all = Vec::new();
        for combination in &self.combinations {
            let mut items: Vec<Vec<u32>> = vec![Vec::new()];
            let mut places = combination.iter();
            for kind in &self.kinds {
                let numbers: Vec<u32> = match kind {
                    Kind::Place { .. } => places.next().copied().into_iter().collect(),
                    Kind::Code { size, .. } => (0..*size).collect(),
                };
                let longer = items.iter().flat_map(|item| {
                    let longer = |number: &u32| [item.as_slice(), &[*number]].concat();
                    numbers.iter().map(longer).collect::<Vec<_>>()
                });
                items = longer.collect();
            }
            all.extend(items);
        }
        all
    }

    /// Those of some items that the answer could have.
    fn possible(&self, items: &[Vec<u32>], condition: &Condition) -> Vec<Vec<u8>> {
        let rows: Option<Vec<Vec<Cell>>> = items.iter().map(|item| self.cells(item)).collect();
        let truths = rows.map(|rows| truths(self.held.schema(), self.carried, &rows, condition));
        // The question was checked, and the items are rows.
        let truths = truths.and_then(Result::ok).unwrap_or_default();
        let possible = items.iter().zip(truths).filter(|(_, truth)| truth.possible);
        possible.map(|(item, _)| encode(item)).collect()
    }

    /// A random item: places of one class, and codes.
    fn any(&self, generator: &mut Generator) -> Vec<u32> {
        let mut below = |bound: usize| generator.below(bound.max(1) as u64);
        let class = self
            .combinations
            .get(below(self.combinations.len()) as usize);
        let mut places = class.into_iter().flatten();
        let mut number = |kind: &Kind<'_>| match kind {
            Kind::Place { .. } => places.next().copied().unwrap_or(0),
            Kind::Code { size, .. } => below(*size as usize) as u32,
        };
        self.kinds.iter().map(&mut number).collect()
    }

    /// The cells of numbers that a peer may have sent: those of a class, and of codes that there are.
    fn cells(&self, item: &[u32]) -> Option<Vec<Cell>> {
        let class: Vec<u32> = self.quasi.iter().map(|place| item[*place]).collect();
        if !class.is_empty() {
            self.combinations.binary_search(&class).ok()?;
        }
        let cells = self.kinds.iter().zip(item);
        cells.map(|(kind, number)| kind.cell(*number)).collect()
    }

    /// The rows that items stand for, with what they say about the condition; `None` where one is no row of
    /// the table, or does not possibly satisfy the condition.
    fn read(
        &self,
        condition: &Condition,
        items: &[Vec<u8>],
    ) -> Result<Option<Vec<Found>>, QuestionError> {
        let rows: Option<Vec<Vec<Cell>>> = items
            .iter()
            .map(|item| {
                let (numbers, _) = item.as_chunks::<WIDTH>();
                let numbers = numbers.iter().map(|bytes| u32::from_be_bytes(*bytes));
                self.cells(&numbers.collect::<Vec<u32>>())
            })
            .collect();
        let Some(rows) = rows else {
            return Ok(None);
        };
        let truths = truths(self.held.schema(), self.carried, &rows, condition)?;
        if truths.iter().any(|truth| !truth.possible) {
            return Ok(None);
        }
        let found = rows.into_iter().zip(truths);
        let found = found.map(|(cells, truth)| Found { cells, truth });
        Ok(Some(found.collect()))
    }
}

/// Where random items come from: what the answer could have.
struct Decoys<'k, 'h> {
    known: &'k Known<'h>,
    condition: &'k Condition,
    /// All of them, where these are few.
    listed: Vec<Vec<u8>>,
    /// Some that were drawn, where these are many.
    pool: Mutex<Vec<Vec<u8>>>,
    /// How many there are; about, where these are many.
    domain: f64,
}

impl<'k, 'h> Decoys<'k, 'h> {
    fn new(known: &'k Known<'h>, condition: &'k Condition) -> Self {
        let size = known.size();
        let (listed, domain) = if size <= LISTED {
            let listed = known.possible(&known.all(), condition);
            let domain = listed.len() as f64;
            (listed, domain)
        } else {
            // The same at every site.
            let mut generator = Generator::new(&Seed::new([0; 32]));
            let drawn: Vec<Vec<u32>> = (0..DRAWS * DRAWN)
                .map(|_| known.any(&mut generator))
                .collect();
            let possible = known.possible(&drawn, condition).len();
            let part = possible.max(1) as f64 / drawn.len() as f64;
            (Vec::new(), size * part)
        };
        Self {
            known,
            condition,
            listed,
            pool: Mutex::default(),
            domain: domain.max(1.0),
        }
    }

    /// A random item that the answer could have. Where a condition is so rare that none was drawn, one that
    /// the answer could not have.
    fn draw(&self, generator: &mut Generator) -> Vec<u8> {
        if !self.listed.is_empty() {
            let place = generator.below(self.listed.len() as u64);
            return self.listed[place as usize].clone();
        }
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..DRAWS {
            if !pool.is_empty() {
                break;
            }
            let drawn: Vec<Vec<u32>> = (0..DRAWN).map(|_| self.known.any(generator)).collect();
            *pool = self.known.possible(&drawn, self.condition);
        }
        let next = pool.pop();
        next.unwrap_or_else(|| encode(&self.known.any(generator)))
    }
}

fn encode(item: &[u32]) -> Vec<u8> {
    item.iter()
        .flat_map(|number| number.to_be_bytes())
        .collect()
}
