//! Where cells go as they are read: into a study's coded table, or into columns of text.

use std::sync::Arc;

use hashbrown::HashMap;

use super::collected::Collected;
use super::error::{
    FileError, missing_column, missing_records, nearest_column, no_column, unknown_column,
};
use super::moments::{MIDNIGHT, Moment};
use super::{Others, RECORDS};
use crate::attribute::{Role, Schema};
use crate::counter::{Counter, UncountableError};
use crate::csv_text::CsvText;
use crate::domain::Domain;
use crate::nearest::shorten;
use crate::table::{Column, Table};
use crate::text::{TextColumn, TextTable};

/// Takes a table cell by cell, columns in the file's order. Of a table in several files, each file has a header
/// and an end, and all have the same names.
pub(super) trait Sink {
    /// The header of a file, before any of its cells.
    fn header(&mut self, file: &str, names: Vec<String>) -> Result<(), FileError>;

    /// Names that a header is likely to hold, to tell delimiters apart.
    fn expected(&self) -> Vec<String>;

    /// Whether the cells of a column are taken: those of other columns need not be read.
    fn wants(&self, _column: usize) -> bool {
        true
    }

    /// Takes a cell; `line` is where the cell stands.
    fn cell(&mut self, column: usize, text: &[u8], line: u64) -> Result<(), FileError>;

    /// Takes a cell whose value has a type of its own, such as a day: its text is the one that releases write.
    fn typed(&mut self, column: usize, text: &[u8], line: u64) -> Result<(), FileError> {
        self.cell(column, text, line)
    }

    /// Takes a moment without a time zone.
    fn moment(&mut self, column: usize, moment: Moment<'_>, line: u64) -> Result<(), FileError>;

    /// Hears now and then, between two rows, that all cells of the rows so far are taken.
    fn between_rows(&mut self) -> Result<(), FileError> {
        Ok(())
    }

    /// Takes what is wrong with a row as a whole.
    fn wrong(&mut self, error: FileError) -> Result<(), FileError>;

    /// The end of a file: everything that was found wrong in it.
    fn end(&mut self) -> Result<(), FileError>;

    /// A cell without a value, which only some formats have.
    fn null(&mut self, column: usize, line: u64) -> Result<(), FileError>;
}

/// Codes cells by the domains of a schema.
pub(super) struct TableSink {
    schema: Arc<Schema>,
    others: Others,
    file: String,
    /// For each column of the file, the attribute that its cells go to.
    targets: Vec<Option<usize>>,
    columns: Vec<Column>,
    /// What is wrong with cells so far. Columns are not whole once something is.
    wrong: Collected,
    counting: Option<Counting>,
}

/// Rows that are counted as they come, so that the columns hold only the last of them.
struct Counting {
    counter: Counter,
    /// Where rows stand for several records each: the column that says how many, and what it said of the
    /// rows that the columns hold.
    given: Option<(Option<usize>, Vec<u64>)>,
}

/// Which rows a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// Single records.
    Single,
    /// Counted rows where there is a column `records`; otherwise single records, counted as they are read.
    Counted,
    /// Counted rows: the column `records` says how many records each stands for.
    Given,
}

/// So many rows are counted at a time.
const COUNTED_AT_A_TIME: usize = 1 << 18;

impl TableSink {
    /// A sink of counted rows.
    pub(super) fn of_rows(
        schema: Arc<Schema>,
        others: Others,
        rows: Rows,
    ) -> Result<Self, FileError> {
        let mut sink = Self::new(schema, others);
        if rows != Rows::Single {
            sink.counting = Some(Counting {
                counter: Counter::new(&sink.schema)?,
                given: (rows == Rows::Given).then(|| (None, Vec::new())),
            });
        }
        Ok(sink)
    }

    pub(super) fn new(schema: Arc<Schema>, others: Others) -> Self {
        let columns = schema
            .attributes()
            .iter()
            .map(|attribute| Column::for_domain(&attribute.domain))
            .collect();
        Self {
            schema,
            others,
            file: String::new(),
            targets: Vec::new(),
            columns,
            wrong: Collected::default(),
            counting: None,
        }
    }

    pub(super) fn finish(mut self) -> Table {
        if let Some(counting) = self.counting {
            return counting.counter.finish();
        }
        for column in &mut self.columns {
            if let Column::Coded(codes) = column {
                codes.shrink_to_fit();
            }
        }
        Table::new(self.schema, self.columns)
    }

    /// Counts the rows that the columns hold.
    fn count(&mut self) -> Result<(), FileError> {
        let Some(counting) = &mut self.counting else {
            return Ok(());
        };
        if self.wrong.is_empty() {
            let given = counting.given.as_ref();
            let counts = given.map(|(_, counts)| counts.as_slice());
            let added = counting.counter.add(&self.columns, counts);
            added.map_err(UncountableError::from)?;
        }
        self.columns.iter_mut().for_each(Column::clear);
        if let Some((_, counts)) = &mut counting.given {
            counts.clear();
        }
        Ok(())
    }

    /// Takes a cell of a column that is no attribute's: it may say how many records the row stands for.
    fn take_count(&mut self, column: usize, text: &[u8], line: u64) {
        let counting = self.counting.as_mut();
        let Some((Some(place), counts)) = counting.and_then(|counting| counting.given.as_mut())
        else {
            return;
        };
        if *place != column {
            return;
        }
        let text = String::from_utf8_lossy(text);
        let count = text.parse().ok().filter(|count: &u64| *count > 0);
        match count.filter(|count| *count <= Table::MOST_RECORDS) {
            Some(count) => counts.push(count),
            None => self.wrong.push(FileError::NoCount {
                file: self.file.clone(),
                line,
                value: shorten(&text),
                most: Table::MOST_RECORDS,
            }),
        }
    }

    #[cold]
    fn refuse(&self, attribute: usize, text: &[u8], line: u64) -> FileError {
        let attribute = &self.schema.attributes()[attribute];
        let (file, column) = (self.file.clone(), attribute.name.clone());
        let Ok(value) = std::str::from_utf8(text) else {
            return FileError::NotUtf8 { file, line, column };
        };
        FileError::OutsideDomain {
            file,
            line,
            column,
            value: shorten(value),
            domain: attribute.domain.describe(),
            hint: attribute.hint(value),
        }
    }
}

/// Looks at the header alone, and ends the reading behind it.
pub(super) struct HeaderSink {
    table: TableSink,
    is_fit: bool,
}

impl HeaderSink {
    /// Looks at the header as this sink would.
    pub(super) fn of(table: TableSink) -> Self {
        Self {
            table,
            is_fit: false,
        }
    }

    /// Whether the header was one of the study.
    pub(super) const fn is_fit(&self) -> bool {
        self.is_fit
    }

    /// Any error ends the reading.
    fn enough(&self) -> FileError {
        FileError::Empty {
            file: self.table.file.clone(),
        }
    }
}

impl Sink for HeaderSink {
    fn header(&mut self, file: &str, names: Vec<String>) -> Result<(), FileError> {
        self.table.header(file, names)?;
        self.is_fit = true;
        Ok(())
    }

    fn expected(&self) -> Vec<String> {
        self.table.expected()
    }

    fn cell(&mut self, _: usize, _: &[u8], _: u64) -> Result<(), FileError> {
        Err(self.enough())
    }

    fn moment(&mut self, _: usize, _: Moment<'_>, _: u64) -> Result<(), FileError> {
        Err(self.enough())
    }

    fn null(&mut self, _: usize, _: u64) -> Result<(), FileError> {
        Err(self.enough())
    }

    fn wrong(&mut self, error: FileError) -> Result<(), FileError> {
        Err(error)
    }

    fn end(&mut self) -> Result<(), FileError> {
        Ok(())
    }
}

impl Sink for TableSink {
    fn header(&mut self, file: &str, names: Vec<String>) -> Result<(), FileError> {
        self.file = file.to_owned();
        refuse_duplicates(file, &names, |_| true)?;
        self.targets.clear();
        let mut wrong = Collected::default();
        // A column that is spelled wrongly is not missing as well.
        let mut meant = Vec::new();
        let attributes = self.schema.attributes();
        let is_counted = self.counting.is_some();
        // No attribute of a study of counted rows is called so.
        let is_attribute = self.schema.position(RECORDS).is_some();
        let wants_records = |counting: &Counting| counting.given.is_some();
        if is_attribute && self.counting.as_ref().is_some_and(wants_records) {
            return Err(FileError::RecordsAttribute {
                file: file.to_owned(),
            });
        }
        let says_records = !is_attribute && names.iter().any(|name| name == RECORDS);
        if let Some(counting) = self.counting.as_mut().filter(|_| says_records) {
            counting.given.get_or_insert_default();
        }
        let mut given = self
            .counting
            .as_mut()
            .and_then(|counting| counting.given.as_mut());
        let is_given = given.is_some();
        for (column, name) in names.iter().enumerate() {
            if let Some((place, _)) = given.as_mut().filter(|_| name == RECORDS) {
                *place = Some(column);
                self.targets.push(None);
                continue;
            }
            let target = self.schema.position(name);
            if target.is_none() && !self.others.allow(name) {
                wrong.push(unknown_column(file, name, &self.schema));
                meant.extend(nearest_column(name, &self.schema));
            }
            // Rows of several people are counted without what names each.
            let is_left_out =
                |position: &usize| is_counted && attributes[*position].role == Role::Identifier;
            self.targets
                .push(target.filter(|position| !is_left_out(position)));
        }
        if let Some((None, _)) = given {
            wrong.push(missing_records(file));
        }
        for (position, attribute) in attributes.iter().enumerate() {
            let is_needless = is_counted && attribute.role == Role::Identifier;
            if is_needless && (is_given || names.contains(&attribute.name)) {
                continue;
            }
            if !self.targets.contains(&Some(position)) && !meant.contains(&attribute.name) {
                wrong.push(missing_column(file, &attribute.name, &names));
            }
        }
        wrong.end()
    }

    fn expected(&self) -> Vec<String> {
        let attributes = self.schema.attributes().iter();
        attributes.map(|attribute| attribute.name.clone()).collect()
    }

    fn wants(&self, column: usize) -> bool {
        let counting = self.counting.as_ref();
        let given = counting.and_then(|counting| counting.given.as_ref());
        let says_records = given.is_some_and(|(place, _)| *place == Some(column));
        self.targets[column].is_some() || says_records
    }

    #[inline]
    fn cell(&mut self, column: usize, text: &[u8], line: u64) -> Result<(), FileError> {
        let Some(attribute) = self.targets[column] else {
            self.take_count(column, text, line);
            return Ok(());
        };
        match &mut self.columns[attribute] {
            Column::Coded(codes) => match self.schema.attributes()[attribute].encode(text) {
                Some(code) => codes.push(code),
                None => self.wrong.push(self.refuse(attribute, text, line)),
            },
            Column::Text(texts) => match std::str::from_utf8(text) {
                Ok(text) => texts.push(text, line),
                Err(_) => self.wrong.push(self.refuse(attribute, text, line)),
            },
            Column::Absent(_) => {}
        }
        Ok(())
    }

    fn between_rows(&mut self) -> Result<(), FileError> {
        let is_enough = |column: &Column| column.len() >= COUNTED_AT_A_TIME;
        match self.counting.is_some() && self.columns.iter().any(is_enough) {
            true => self.count(),
            false => Ok(()),
        }
    }

    fn typed(&mut self, column: usize, text: &[u8], line: u64) -> Result<(), FileError> {
        if let Some(attribute) = self.targets[column]
            && let Column::Coded(codes) = &mut self.columns[attribute]
            && let Some(code) = self.schema.attributes()[attribute].domain.encode(text)
        {
            codes.push(code);
            return Ok(());
        }
        self.cell(column, text, line)
    }

    /// What a study says of days is said of moments too: the day is read, and the time left out. Where it says
    /// nothing of days, the moment is a text like any other.
    fn moment(&mut self, column: usize, moment: Moment<'_>, line: u64) -> Result<(), FileError> {
        let attribute = self.targets[column].map(|place| &self.schema.attributes()[place]);
        let reads = |text: &str| {
            attribute.is_some_and(|attribute| attribute.domain.encode(text.as_bytes()).is_some())
        };
        let is_text = attribute.is_some_and(|attribute| attribute.domain == Domain::Text);
        let text = match moment.day() {
            day if !is_text && reads(day) => day,
            _ if !is_text && reads(moment.whole()) => moment.whole(),
            _ => moment.shortest(),
        };
        self.typed(column, text.as_bytes(), line)
    }

    fn wrong(&mut self, error: FileError) -> Result<(), FileError> {
        self.wrong.push(error);
        Ok(())
    }

    fn end(&mut self) -> Result<(), FileError> {
        self.count()?;
        std::mem::take(&mut self.wrong).end()
    }

    fn null(&mut self, column: usize, line: u64) -> Result<(), FileError> {
        if let Some(attribute) = self.targets[column]
            && let Some(code) = self.schema.attributes()[attribute].missing_code()
            && let Column::Coded(codes) = &mut self.columns[attribute]
        {
            codes.push(code);
            return Ok(());
        }
        self.cell(column, b"", line)
    }
}

/// Keeps cells as text.
#[derive(Default)]
pub(super) struct TextSink {
    expected: Vec<String>,
    /// Whether the expected columns are the only ones that are kept.
    is_picky: bool,
    csv: CsvText,
    file: String,
    names: Vec<String>,
    columns: Vec<TextColumn>,
    /// For each column of the file, the one that its cells go to.
    targets: Vec<Option<usize>>,
    /// The columns that hold moments.
    moments: Vec<usize>,
    /// The records of the files before this one, so that places go on through all of them.
    before: u64,
    /// So many rows will come, if that is known.
    room: usize,
}

impl TextSink {
    pub(super) fn new(expected: &[String], csv: CsvText) -> Self {
        Self {
            expected: expected.to_vec(),
            csv,
            ..Self::default()
        }
    }

    /// A sink for these columns alone, which must be there.
    pub(super) fn of_columns(columns: &[String]) -> Self {
        Self {
            is_picky: true,
            ..Self::new(columns, CsvText::Verbatim)
        }
    }

    /// Makes room for so many rows, which are at hand.
    pub(super) fn with_room(self, room: usize) -> Self {
        Self { room, ..self }
    }

    /// The table. A column of moments that are all at midnight is one of days.
    pub(super) fn finish(mut self, file: String) -> TextTable {
        self.moments.sort_unstable();
        self.moments.dedup();
        for column in self.moments {
            let column = &mut self.columns[column];
            let mut moments = column.dictionary.iter().filter(|text| !text.is_empty());
            if moments.all(|text| text.ends_with(MIDNIGHT)) {
                for text in &mut column.dictionary {
                    *text = text.trim_end_matches(MIDNIGHT).into();
                }
            }
        }
        TextTable {
            file,
            names: self.names,
            columns: self.columns,
            counts: None,
        }
    }
}

impl Sink for TextSink {
    fn header(&mut self, file: &str, names: Vec<String>) -> Result<(), FileError> {
        self.file = file.to_owned();
        let names = names.iter().map(|name| self.csv.read(name).to_owned());
        let names: Vec<String> = names.collect();
        let is_kept = |name: &String| !self.is_picky || self.expected.contains(name);
        refuse_duplicates(file, &names, is_kept)?;
        let missing = self.expected.iter().filter(|name| !names.contains(name));
        let mut wrong = Collected::default();
        for name in missing.filter(|_| self.is_picky) {
            wrong.push(no_column(file, name, &names));
        }
        wrong.end()?;
        let mut kept = 0..;
        let targets = names.iter().map(|name| is_kept(name).then(|| kept.next()));
        self.targets = targets.map(Option::flatten).collect();
        self.names = names.iter().filter(|name| is_kept(name)).cloned().collect();
        self.columns
            .resize_with(self.names.len(), TextColumn::default);
        for column in &mut self.columns {
            column.codes.reserve_exact(self.room);
        }
        Ok(())
    }

    fn expected(&self) -> Vec<String> {
        self.expected.clone()
    }

    fn wants(&self, column: usize) -> bool {
        self.targets[column].is_some()
    }

    fn cell(&mut self, column: usize, text: &[u8], line: u64) -> Result<(), FileError> {
        let Some(column) = self.targets[column] else {
            return Ok(());
        };
        let Ok(text) = std::str::from_utf8(text) else {
            return Err(FileError::NotUtf8 {
                file: self.file.clone(),
                line,
                column: self.names[column].clone(),
            });
        };
        self.columns[column].push(self.csv.read(text), self.before + line);
        Ok(())
    }

    fn moment(&mut self, column: usize, moment: Moment<'_>, line: u64) -> Result<(), FileError> {
        if let Some(target) = self.targets[column]
            && self.moments.last() != Some(&target)
        {
            self.moments.push(target);
        }
        self.cell(column, moment.whole().as_bytes(), line)
    }

    fn wrong(&mut self, error: FileError) -> Result<(), FileError> {
        Err(error)
    }

    fn end(&mut self) -> Result<(), FileError> {
        let rows = self.columns.first().map_or(0, |column| column.codes.len());
        self.before = rows as u64;
        Ok(())
    }

    fn null(&mut self, column: usize, line: u64) -> Result<(), FileError> {
        self.cell(column, b"", line)
    }
}

fn refuse_duplicates(
    file: &str,
    names: &[String],
    is_of_interest: impl Fn(&String) -> bool,
) -> Result<(), FileError> {
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    let named = names.iter().enumerate();
    for (second, name) in named.filter(|(_, name)| is_of_interest(name)) {
        if let Some(first) = seen.insert(name, second) {
            return Err(FileError::DuplicateColumn {
                file: file.to_owned(),
                column: name.clone(),
                first: first + 1,
                second: second + 1,
            });
        }
    }
    Ok(())
}
