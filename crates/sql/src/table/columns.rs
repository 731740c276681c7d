//! The columns of a study's table: cells as a release prints them, the ends of numbers and days, values as
//! they are, and what rows say about conditions.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, RecordBatchOptions,
    StringArray,
};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema};
use datafusion::error::Result;
use hedgerow_data::{Attribute, Cell, Domain, Role, Schema};
use hedgerow_protocols::query::{Condition, Truth, truths};

use crate::error::SqlError;
use crate::source::Source;

/// The key of a field's metadata that says that its text is of cells, by the column's name.
const CELLS: &str = "hedgerow.cells";

/// Which part of a study's column a column of the table shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Part {
    /// The value, which every row has as it is.
    Value,
    /// The cell, as text.
    Printed,
    /// The least value of the cell.
    Low,
    /// The greatest value of the cell.
    High,
}

/// A column of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TableColumn {
    /// The column's position in the study.
    pub(crate) attribute: usize,
    pub(crate) part: Part,
    pub(crate) field: Field,
}

/// What a row says about a condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Judged {
    pub(crate) condition: Condition,
    pub(crate) kind: Kind,
}

/// What is asked of a row about a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Certain,
    Possible,
    Share,
}

/// A column that is wanted of rows of cells.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wanted {
    /// A column of the table.
    Column(TableColumn),
    /// What the row says about a condition, by this name.
    Judged(String, Judged),
}

/// Whether a field's text is of cells that stand for several values.
pub(crate) fn is_cells(field: &Field) -> bool {
    field.metadata().contains_key(CELLS)
}

/// The columns of a source's table.
pub(crate) fn columns(source: &dyn Source) -> Vec<TableColumn> {
    let attributes = source.schema().attributes();
    let mut columns = Vec::new();
    for (position, attribute) in attributes.iter().enumerate() {
        let is_shown = attribute.role != Role::Identifier && attribute.domain.size() > 0;
        if !is_shown || !source.has(position) {
            continue;
        }
        let own = own_type(&attribute.domain);
        let mut push = |name: String, part: Part, of: DataType| {
            let mut field = Field::new(name, of, true);
            if part == Part::Printed {
                let metadata = [(CELLS.to_owned(), attribute.name.clone())];
                field = field.with_metadata(HashMap::from(metadata));
            }
            columns.push(TableColumn {
                attribute: position,
                part,
                field,
            });
        };
        if attribute.role != Role::Quasi {
            push(attribute.name.clone(), Part::Value, own);
            continue;
        }
        push(attribute.name.clone(), Part::Printed, DataType::Utf8);
        if own == DataType::Utf8 {
            continue;
        }
        for (end, part) in [("low", Part::Low), ("high", Part::High)] {
            let name = format!("{}_{end}", attribute.name);
            // A column that the study itself calls so stays what it is.
            if attributes.iter().all(|other| other.name != name) {
                push(name, part, own.clone());
            }
        }
    }
    columns
}

/// The type that values of a domain have in SQL.
fn own_type(domain: &Domain) -> DataType {
    match domain {
        Domain::Integer(_) => DataType::Int64,
        // What tools have for numbers with a point; conditions are read from the text of constants.
        Domain::Decimal(_) => DataType::Float64,
        Domain::Date(_) => DataType::Date32,
        Domain::Category(_) | Domain::Text => DataType::Utf8,
    }
}

impl Kind {
    /// The type of the answer.
    pub(crate) const fn data_type(self) -> DataType {
        match self {
            Self::Certain | Self::Possible => DataType::Boolean,
            Self::Share => DataType::Float64,
        }
    }

    fn array(self, truths: &[Truth]) -> ArrayRef {
        let truths = truths.iter();
        match self {
            Self::Certain => Arc::new(
                truths
                    .map(|truth| Some(truth.certain))
                    .collect::<BooleanArray>(),
            ),
            Self::Possible => Arc::new(
                truths
                    .map(|truth| Some(truth.possible))
                    .collect::<BooleanArray>(),
            ),
            Self::Share => Arc::new(Float64Array::from_iter_values(
                truths.map(|truth| truth.share),
            )),
        }
    }
}

impl Wanted {
    /// The name in batches.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Column(column) => column.field.name(),
            Self::Judged(name, _) => name,
        }
    }

    /// The field in batches.
    pub(crate) fn field(&self) -> Field {
        match self {
            Self::Column(column) => column.field.clone(),
            Self::Judged(name, judged) => Field::new(name, judged.kind.data_type(), true),
        }
    }

    /// The columns of the study that are needed.
    pub(crate) fn attributes(&self) -> Vec<usize> {
        match self {
            Self::Column(column) => vec![column.attribute],
            Self::Judged(_, judged) => judged.condition.columns(),
        }
    }
}

/// Rows of cells, which stand for `attributes`, as a batch of the wanted columns.
pub(crate) fn batch(
    schema: &Arc<Schema>,
    attributes: &[usize],
    rows: &[Vec<Cell>],
    wanted: &[Wanted],
) -> Result<RecordBatch> {
    let mut arrays: Vec<ArrayRef> = Vec::with_capacity(wanted.len());
    for wanted in wanted {
        arrays.push(match wanted {
            Wanted::Column(column) => {
                let place = attributes.iter().position(|own| *own == column.attribute);
                let attribute = &schema.attributes()[column.attribute];
                let cells = rows.iter().filter_map(|row| row.get(place?));
                array(attribute, column.part, cells)
            }
            Wanted::Judged(_, judged) => {
                let found = truths(schema, attributes, rows, &judged.condition);
                let refused = |error| SqlError::Refused(hedgerow::query::AskError::Question(error));
                judged.kind.array(&found.map_err(refused)?)
            }
        });
    }
    let fields: Vec<Field> = wanted.iter().map(Wanted::field).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    let batch =
        RecordBatch::try_new_with_options(Arc::new(ArrowSchema::new(fields)), arrays, &options)?;
    Ok(batch)
}

fn array<'c>(attribute: &Attribute, part: Part, cells: impl Iterator<Item = &'c Cell>) -> ArrayRef {
    let domain = &attribute.domain;
    if part == Part::Printed || matches!(domain, Domain::Category(_) | Domain::Text) {
        let text = cells.map(|cell| present(domain, cell).map(|_| domain.write_cell(cell)));
        return Arc::new(text.collect::<StringArray>());
    }
    let code = |cell: &Cell| {
        let (least, greatest) = present(domain, cell)?;
        Some(if part == Part::High { greatest } else { least })
    };
    match domain {
        Domain::Date(days) => {
            let epoch = jiff::civil::date(1970, 1, 1);
            let day = |cell: &Cell| Some((days.day(code(cell)?) - epoch).get_days());
            Arc::new(cells.map(day).collect::<Date32Array>())
        }
        Domain::Integer(numbers) => {
            let number = |cell: &Cell| Some(numbers.value(code(cell)?));
            Arc::new(cells.map(number).collect::<Int64Array>())
        }
        Domain::Decimal(decimals) => {
            let number = |cell: &Cell| decimals.value(code(cell)?).to_string().parse::<f64>().ok();
            Arc::new(cells.map(number).collect::<Float64Array>())
        }
        Domain::Category(_) | Domain::Text => Arc::new(StringArray::new_null(cells.count())),
    }
}

/// The least and greatest code of a cell that are not missing; nothing for the missing value.
fn present(domain: &Domain, cell: &Cell) -> Option<(u32, u32)> {
    let (least, greatest) = cell.bounds();
    let missing = domain.missing_code();
    if least == greatest {
        return (missing != Some(least)).then_some((least, greatest));
    }
    if matches!(domain, Domain::Category(_)) || missing != Some(greatest) {
        return Some((least, greatest));
    }
    // The missing value of numbers and days has the last code.
    let below = match cell {
        Cell::Interval(..) => greatest - 1,
        Cell::Set(codes) => codes.iter().rev().nth(1).copied().unwrap_or(least),
    };
    Some((least, below))
}
