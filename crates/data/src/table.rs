//! Column-coded tables: one contiguous column of codes for each attribute.

use std::sync::Arc;

use crate::attribute::Schema;
use crate::counter::{Counter, UncountableError};
use crate::domain::Domain;
use crate::text::TextColumn;

/// A column of codes, as narrow as its domain allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Codes {
    /// At most 256 values.
    U8(Vec<u8>),
    /// At most 65,536 values.
    U16(Vec<u16>),
    /// More.
    U32(Vec<u32>),
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Codes of the attribute's domain.
    Coded(Codes),
    /// Text, for attributes without a declared domain.
    Text(TextColumn),
    /// Nothing for so many rows: an identifier of counted rows, which are of several people each.
    Absent(usize),
}

/// Rows of a study's attributes, column by column: single records, or counted rows, each of which stands
/// for so many records that are alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    schema: Arc<Schema>,
    columns: Vec<Column>,
    rows: usize,
    /// How many records each row stands for; one each where there are no counts.
    counts: Option<Vec<u64>>,
    records: u64,
}

/// Why numbers of records cannot be those of a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CountsError {
    /// A row that stands for nobody.
    #[error("row {row} stands for no record\nhint: a combination that does not occur is left out")]
    Nobody {
        /// The row, from 1.
        row: usize,
    },
    /// More records than a table may have.
    #[error("the rows stand for more than {} records", Table::MOST_RECORDS)]
    TooMany,
}

impl Codes {
    /// An empty column for a domain of this size.
    pub fn for_size(size: u32) -> Self {
        match size {
            0..=0x100 => Self::U8(Vec::new()),
            0x101..=0x1_0000 => Self::U16(Vec::new()),
            _ => Self::U32(Vec::new()),
        }
    }

    /// Appends a code, which lies below the size the column was made for.
    pub fn push(&mut self, code: u32) {
        match self {
            Self::U8(codes) => codes.push(code as u8),
            Self::U16(codes) => codes.push(code as u16),
            Self::U32(codes) => codes.push(code),
        }
    }

    /// The code of a row.
    pub fn get(&self, row: usize) -> u32 {
        match self {
            Self::U8(codes) => u32::from(codes[row]),
            Self::U16(codes) => u32::from(codes[row]),
            Self::U32(codes) => codes[row],
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(codes) => codes.len(),
            Self::U16(codes) => codes.len(),
            Self::U32(codes) => codes.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The codes, row by row.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Bytes that the codes take.
    pub fn bytes(&self) -> usize {
        match self {
            Self::U8(codes) => codes.len(),
            Self::U16(codes) => 2 * codes.len(),
            Self::U32(codes) => 4 * codes.len(),
        }
    }

    /// The codes of these rows, in this order.
    #[must_use]
    pub fn picked(&self, rows: &[usize]) -> Self {
        match self {
            Self::U8(codes) => Self::U8(rows.iter().map(|row| codes[*row]).collect()),
            Self::U16(codes) => Self::U16(rows.iter().map(|row| codes[*row]).collect()),
            Self::U32(codes) => Self::U32(rows.iter().map(|row| codes[*row]).collect()),
        }
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        match self {
            Self::U8(codes) => codes.shrink_to_fit(),
            Self::U16(codes) => codes.shrink_to_fit(),
            Self::U32(codes) => codes.shrink_to_fit(),
        }
    }
}

impl Column {
    /// An empty column for a domain.
    pub fn for_domain(domain: &Domain) -> Self {
        match domain {
            Domain::Text => Self::Text(TextColumn::default()),
            coded => Self::Coded(Codes::for_size(coded.size())),
        }
    }

    /// These rows, in this order.
    #[must_use]
    pub fn picked(&self, rows: &[usize]) -> Self {
        match self {
            Self::Coded(codes) => Self::Coded(codes.picked(rows)),
            Self::Text(text) => Self::Text(text.picked(rows)),
            Self::Absent(_) => Self::Absent(rows.len()),
        }
    }

    /// Appends the rows of a column of the same domain.
    fn append(&mut self, rows: &Self) {
        match (self, rows) {
            (Self::Coded(own), Self::Coded(codes)) => codes.iter().for_each(|code| own.push(code)),
            (Self::Text(own), Self::Text(text)) => {
                for code in &text.codes {
                    let place = 1 + own.codes.len() as u64;
                    own.push(&text.dictionary[*code as usize], place);
                }
            }
            (own, rows) if matches!((&*own, rows), (Self::Absent(_), _) | (_, Self::Absent(_))) => {
                *own = Self::Absent(own.len() + rows.len());
            }
            _ => unreachable!("columns of one attribute are both coded or both text"),
        }
    }

    /// The codes, if the attribute has a declared domain.
    pub fn codes(&self) -> Option<&Codes> {
        match self {
            Self::Coded(codes) => Some(codes),
            Self::Text(_) | Self::Absent(_) => None,
        }
    }

    /// No rows, in the memory of those before.
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Coded(Codes::U8(codes)) => codes.clear(),
            Self::Coded(Codes::U16(codes)) => codes.clear(),
            Self::Coded(Codes::U32(codes)) => codes.clear(),
            Self::Text(text) => *text = TextColumn::default(),
            Self::Absent(rows) => *rows = 0,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Coded(codes) => codes.len(),
            Self::Text(text) => text.codes.len(),
            Self::Absent(rows) => *rows,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Table {
    /// The most records that counted rows stand for.
    pub const MOST_RECORDS: u64 = u32::MAX as u64;

    /// A table of single records: these columns, one for each attribute of the schema and equally long.
    ///
    /// # Panics
    /// If the columns do not fit the schema: that is a mistake in the calling code.
    pub fn new(schema: Arc<Schema>, columns: Vec<Column>) -> Self {
        assert_eq!(schema.attributes().len(), columns.len());
        let rows = columns.first().map_or(0, Column::len);
        assert!(columns.iter().all(|column| column.len() == rows));
        Self {
            schema,
            columns,
            rows,
            counts: None,
            records: rows as u64,
        }
    }

    /// A table of counted rows: each row of these columns stands for so many records. Rows are distinct where
    /// they come from [`Counter`](crate::Counter); two that are alike do no harm.
    ///
    /// # Panics
    /// If the columns or the counts do not fit: that is a mistake in the calling code.
    pub fn counted(
        schema: Arc<Schema>,
        columns: Vec<Column>,
        counts: Vec<u64>,
    ) -> Result<Self, CountsError> {
        let table = Self::new(schema, columns);
        assert_eq!(table.rows, counts.len());
        if let Some(row) = counts.iter().position(|count| *count == 0) {
            return Err(CountsError::Nobody { row: row + 1 });
        }
        let sum = |records: u64, count: &u64| records.checked_add(*count);
        let records = counts.iter().try_fold(0, sum);
        let records = records.filter(|records| *records <= Self::MOST_RECORDS);
        Ok(Self {
            records: records.ok_or(CountsError::TooMany)?,
            counts: Some(counts),
            ..table
        })
    }

    /// The rows of tables of one schema, one table after the other; counted if some of them are.
    ///
    /// # Panics
    /// If the tables have different schemas: that is a mistake in the calling code.
    pub fn stacked(schema: &Arc<Schema>, tables: &[Self]) -> Result<Self, CountsError> {
        let attributes = schema.attributes().iter().enumerate();
        let columns = attributes.map(|(position, attribute)| {
            let mut column = Column::for_domain(&attribute.domain);
            for table in tables {
                assert_eq!(table.schema.attributes(), schema.attributes());
                column.append(&table.columns[position]);
            }
            column
        });
        let stacked = Self::new(Arc::clone(schema), columns.collect());
        if tables.iter().all(|table| table.counts.is_none()) {
            return Ok(stacked);
        }
        let mut counts = Vec::with_capacity(stacked.rows);
        for table in tables {
            match &table.counts {
                Some(own) => counts.extend_from_slice(own),
                None => counts.resize(counts.len() + table.rows, 1),
            }
        }
        Self::counted(stacked.schema, stacked.columns, counts)
    }

    /// These rows, in this order.
    #[must_use]
    pub fn picked(&self, rows: &[usize]) -> Self {
        let columns = self.columns.iter().map(|column| column.picked(rows));
        let picked = Self::new(Arc::clone(&self.schema), columns.collect());
        match &self.counts {
            None => picked,
            Some(counts) => {
                let counts: Vec<u64> = rows.iter().map(|row| counts[*row]).collect();
                Self {
                    records: counts.iter().sum(),
                    counts: Some(counts),
                    ..picked
                }
            }
        }
    }

    /// The table with a row for each record.
    #[must_use]
    pub fn expanded(self) -> Self {
        let Some(counts) = &self.counts else {
            return self;
        };
        let rows = counts.iter().enumerate();
        // At most [`Self::MOST_RECORDS`].
        let rows = rows.flat_map(|(row, count)| std::iter::repeat_n(row, *count as usize));
        let rows: Vec<usize> = rows.collect();
        let columns = self.columns.iter().map(|column| column.picked(&rows));
        Self::new(Arc::clone(&self.schema), columns.collect())
    }

    /// The combinations of these records, counted: what [`Counter`](crate::Counter) makes of the rows,
    /// however they are ordered and whether they are counted already.
    pub fn into_counted(self) -> Result<Self, UncountableError> {
        let mut counter = Counter::new(&self.schema)?;
        counter.add(&self.columns, self.counts.as_deref())?;
        drop(self);
        Ok(counter.finish())
    }

    /// The study's columns.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Number of rows: of single records, or of the combinations that are counted.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How many records each row stands for; `None` where rows are single records.
    pub fn counts(&self) -> Option<&[u64]> {
        self.counts.as_deref()
    }

    /// A column by its attribute's position in the schema.
    pub fn column(&self, attribute: usize) -> &Column {
        &self.columns[attribute]
    }

    /// The codes of an attribute that has a declared domain.
    pub fn codes(&self, attribute: usize) -> Option<&Codes> {
        self.columns[attribute].codes()
    }

    /// Bytes that the coded columns take.
    pub fn coded_bytes(&self) -> usize {
        let codes = self.columns.iter().filter_map(Column::codes);
        codes.map(Codes::bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_narrow_as_the_domain_allows() {
        assert!(matches!(Codes::for_size(256), Codes::U8(_)));
        assert!(matches!(Codes::for_size(257), Codes::U16(_)));
        assert!(matches!(Codes::for_size(65_536), Codes::U16(_)));
        assert!(matches!(Codes::for_size(65_537), Codes::U32(_)));
        for size in [256u32, 65_536, 70_000] {
            let mut codes = Codes::for_size(size);
            codes.push(size - 1);
            assert_eq!(codes.get(0), size - 1);
        }
    }
}
