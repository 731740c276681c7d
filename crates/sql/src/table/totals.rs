//! Totals of the table, group by group, as the answers to questions for totals.
//!
//! Questions group by the columns that the groups, and the conditions on cells, are made of. Groups of the
//! answer are put together from the groups of the questions: least and most are added up, and so are estimates
//! and their variances, since every row is in one group.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, RecordBatchOptions, UInt8Array,
};
use arrow::datatypes::{DataType, Field, Schema as ArrowSchema, SchemaRef};
use arrow::row::{OwnedRow, RowConverter, SortField};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use futures_util::future::BoxFuture;
use hedgerow::query::bounds_of_mean;
use hedgerow_data::Cell;
use hedgerow_protocols::query::{Answer, Answered, Group, Measured, Question};

use super::columns::{Wanted, batch};
use super::leaf::{Asking, LeafExec};
use crate::mode::Mode;
use crate::source::Source;

/// Totals of the table, group by group.
#[derive(Debug, Clone)]
pub(crate) struct TotalsTable {
    source: Arc<dyn Source>,
    mode: Mode,
    with: With,
    schema: SchemaRef,
}

/// What totals are made of.
#[derive(Debug, Clone)]
pub(crate) struct With {
    /// Columns of a group's cells that the expressions below speak of.
    pub(crate) wanted: Vec<Wanted>,
    /// Conditions on cells that a group must satisfy.
    pub(crate) keep: Vec<Arc<dyn PhysicalExpr>>,
    /// What groups are told apart by.
    pub(crate) groups: Vec<(Field, Arc<dyn PhysicalExpr>)>,
    /// What is asked. The first question counts the records of every group first.
    pub(crate) questions: Vec<Question>,
    pub(crate) measures: Vec<Measure>,
    /// The leaf in one line.
    pub(crate) line: String,
}

/// A total of the answer.
#[derive(Debug, Clone)]
pub(crate) enum Measure {
    /// A count or a sum, by its question and its place there.
    Total {
        question: usize,
        place: usize,
        is_exact: bool,
    },
    /// An average of a column of the study, by its sum and its count of values.
    Mean {
        question: usize,
        sum: usize,
        present: usize,
        attribute: usize,
        /// The question that counts each value, where bounds are asked for.
        by_value: Option<usize>,
        is_exact: bool,
    },
}

impl Measure {
    /// Whether the total follows from the table for sure.
    pub(crate) const fn is_exact(&self) -> bool {
        match self {
            Self::Total { is_exact, .. } | Self::Mean { is_exact, .. } => *is_exact,
        }
    }

    /// The types of the columns of a total: one, or four where bounds are asked for.
    fn types(&self, mode: Mode) -> Vec<DataType> {
        let (whole, real) = (DataType::Int64, DataType::Float64);
        let end = match self {
            Self::Total { .. } => whole.clone(),
            Self::Mean { .. } => real.clone(),
        };
        let estimate = match self {
            Self::Total { is_exact: true, .. } => whole,
            _ => real.clone(),
        };
        match mode {
            Mode::Certain | Mode::Possible => vec![end],
            Mode::Estimate => vec![estimate],
            Mode::Bounds => vec![end.clone(), estimate, end, real],
        }
    }
}

impl TotalsTable {
    pub(crate) fn new(source: Arc<dyn Source>, mode: Mode, with: With) -> Self {
        let groups = with.groups.iter().map(|(field, _)| field.clone());
        let totals = with
            .measures
            .iter()
            .enumerate()
            .flat_map(|(place, measure)| {
                let types = measure.types(mode).into_iter();
                types
                    .enumerate()
                    .map(move |(part, of)| Field::new(Self::column(place, part), of, true))
            });
        let fields: Vec<Field> = groups.chain(totals).collect();
        Self {
            source,
            mode,
            schema: Arc::new(ArrowSchema::new(fields)),
            with,
        }
    }

    /// The name of a total's column: where bounds are asked for, a total has the parts 0 to 3.
    pub(crate) fn column(place: usize, part: usize) -> String {
        format!("total_{place}_{part}")
    }
}

#[async_trait]
impl TableProvider for TotalsTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let leaf = LeafExec::new(Arc::new(self.clone()), &self.schema, projection.cloned())?;
        Ok(Arc::new(leaf))
    }
}

/// A total of several groups of a question.
#[derive(Debug, Clone, Copy, Default)]
struct Merged {
    low: i64,
    high: i64,
    estimate: f64,
    variance: f64,
}

impl Merged {
    fn add(&mut self, measured: &Measured) {
        self.low = self.low.saturating_add(measured.low);
        self.high = self.high.saturating_add(measured.high);
        self.estimate += measured.estimate;
        self.variance += measured.error * measured.error;
    }
}

/// The groups of the answer, as they are put together.
struct Groups {
    converter: RowConverter,
    places: HashMap<OwnedRow, usize>,
    keys: Vec<OwnedRow>,
    /// For each group and question, its totals.
    totals: Vec<Vec<Vec<Merged>>>,
    /// For each group and question, how many rows have which last cell.
    by_value: Vec<Vec<Vec<(Cell, i64, i64)>>>,
}

impl TotalsTable {
    fn groups(&self) -> Result<Groups> {
        let fields = match self.with.groups.is_empty() {
            // All rows together are one group.
            true => vec![SortField::new(DataType::UInt8)],
            false => {
                let groups = self.with.groups.iter();
                groups
                    .map(|(field, _)| SortField::new(field.data_type().clone()))
                    .collect()
            }
        };
        Ok(Groups {
            converter: RowConverter::new(fields)?,
            places: HashMap::new(),
            keys: Vec::new(),
            totals: Vec::new(),
            by_value: Vec::new(),
        })
    }

    /// Adds the groups of an answer to the groups of the table.
    fn merge(&self, groups: &mut Groups, question: usize, answered: Vec<Group>) -> Result<()> {
        let Answer::Totals { group_by, of } = &self.with.questions[question].answer else {
            return Ok(());
        };
        let (keys, totals): (Vec<Vec<Cell>>, Vec<Vec<Measured>>) = answered
            .into_iter()
            .map(|group| (group.key, group.totals))
            .unzip();
        let batch = batch(self.source.schema(), group_by, &keys, &self.with.wanted)?;
        let mut is_kept = vec![true; keys.len()];
        for condition in &self.with.keep {
            let array = condition.evaluate(&batch)?.into_array(keys.len())?;
            // A condition that is nothing but NULL has a type of its own.
            let array = arrow::compute::cast(&array, &DataType::Boolean)?;
            let truths = array.as_boolean();
            for (row, is_kept) in is_kept.iter_mut().enumerate() {
                *is_kept &= truths.is_valid(row) && truths.value(row);
            }
        }
        let columns: Vec<ArrayRef> = match self.with.groups.is_empty() {
            true => vec![Arc::new(UInt8Array::from(vec![0; keys.len()]))],
            false => {
                let expressions = self.with.groups.iter();
                expressions
                    .map(|(_, expression)| expression.evaluate(&batch)?.into_array(keys.len()))
                    .collect::<Result<_>>()?
            }
        };
        let rows = groups.converter.convert_columns(&columns)?;
        for (row, (key, totals)) in keys.into_iter().zip(totals).enumerate() {
            if !is_kept[row] {
                continue;
            }
            let place = groups.place(rows.row(row).owned(), self.with.questions.len());
            let merged = &mut groups.totals[place][question];
            merged.resize(of.len(), Merged::default());
            for (merged, measured) in merged.iter_mut().zip(&totals) {
                merged.add(measured);
            }
            if let (true, Some(cell), Some(first)) = (
                self.is_by_value(question),
                key.into_iter().last(),
                totals.first(),
            ) {
                groups.by_value[place][question].push((cell, first.low, first.high));
            }
        }
        Ok(())
    }

    fn is_by_value(&self, question: usize) -> bool {
        let mut measures = self.with.measures.iter();
        measures.any(|measure| matches!(measure, Measure::Mean { by_value: Some(of), .. } if *of == question))
    }

    /// Whether a group is shown: of all rows always, else if it may have a row, or must have one where what
    /// is certain is asked for.
    fn is_shown(&self, records: Option<&Merged>) -> bool {
        let records = records.copied().unwrap_or_default();
        self.with.groups.is_empty()
            || match self.mode {
                Mode::Certain => records.low > 0,
                _ => records.high > 0,
            }
    }

    /// The four numbers of a total in a group.
    fn four(&self, groups: &Groups, group: usize, measure: &Measure) -> [Option<f64>; 4] {
        let at = |question: usize, place: usize| {
            let totals = groups.totals[group].get(question);
            totals
                .and_then(|totals| totals.get(place))
                .copied()
                .unwrap_or_default()
        };
        match measure {
            Measure::Total {
                question, place, ..
            } => {
                let total = at(*question, *place);
                [
                    Some(total.low as f64),
                    Some(total.estimate),
                    Some(total.high as f64),
                    Some(total.variance.sqrt()),
                ]
            }
            Measure::Mean {
                question,
                sum,
                present,
                attribute,
                by_value,
                is_exact,
            } => {
                let (sum, present) = (at(*question, *sum), at(*question, *present));
                let mean = (present.estimate > 0.0).then(|| sum.estimate / present.estimate);
                if *is_exact {
                    return [mean, mean, mean, mean.map(|_| 0.0)];
                }
                let domain = &self.source.schema().attributes()[*attribute].domain;
                let bounds = by_value.and_then(|question| {
                    let counted = groups.by_value[group][question].iter();
                    let counted = counted.map(|(cell, low, high)| (cell, *low, *high));
                    let condition = &self.with.questions[question].condition;
                    let allowed = condition.codes_of(*attribute, domain.size());
                    bounds_of_mean(counted, domain, &allowed)
                });
                // The error of a quotient is no sum over rows.
                [
                    bounds.map(|(low, _)| low),
                    mean,
                    bounds.map(|(_, high)| high),
                    None,
                ]
            }
        }
    }

    fn answer(&self, groups: &Groups) -> Result<RecordBatch> {
        let shown: Vec<usize> = (0..groups.keys.len())
            .filter(|group| self.is_shown(groups.totals[*group][0].first()))
            .collect();
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(self.schema.fields().len());
        if !self.with.groups.is_empty() {
            let keys = shown.iter().map(|group| groups.keys[*group].row());
            arrays.extend(groups.converter.convert_rows(keys)?);
        }
        for measure in &self.with.measures {
            let four: Vec<[Option<f64>; 4]> = shown
                .iter()
                .map(|group| self.four(groups, *group, measure))
                .collect();
            let whole = |pick: fn(&Merged) -> i64| {
                let Measure::Total {
                    question, place, ..
                } = measure
                else {
                    return Vec::new();
                };
                let totals = shown.iter().map(|group| {
                    let total = groups.totals[*group][*question].get(*place);
                    total.map_or(0, pick)
                });
                totals.collect()
            };
            let parts: &[usize] = match self.mode {
                Mode::Certain => &[0],
                Mode::Estimate => &[1],
                Mode::Possible => &[2],
                Mode::Bounds => &[0, 1, 2, 3],
            };
            for (part, of) in parts.iter().zip(measure.types(self.mode)) {
                arrays.push(match (of, part) {
                    // What is exact has its number in all parts.
                    (DataType::Int64, 2) => Arc::new(Int64Array::from(whole(|total| total.high))),
                    (DataType::Int64, _) => Arc::new(Int64Array::from(whole(|total| total.low))),
                    _ => Arc::new(
                        four.iter()
                            .map(|four| four[*part])
                            .collect::<Float64Array>(),
                    ),
                });
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(shown.len()));
        let schema = Arc::clone(&self.schema);
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options)?)
    }
}

impl Groups {
    fn place(&mut self, key: OwnedRow, questions: usize) -> usize {
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let place = self.keys.len();
        self.places.insert(key.clone(), place);
        self.keys.push(key);
        self.totals.push(vec![Vec::new(); questions]);
        self.by_value.push(vec![Vec::new(); questions]);
        place
    }
}

impl Asking for TotalsTable {
    fn line(&self) -> String {
        self.with.line.clone()
    }

    fn ask(self: Arc<Self>) -> BoxFuture<'static, Result<RecordBatch>> {
        Box::pin(async move {
            let mut groups = self.groups()?;
            if self.with.groups.is_empty() {
                let key: ArrayRef = Arc::new(UInt8Array::from(vec![0]));
                let key = groups.converter.convert_columns(&[key])?;
                groups.place(key.row(0).owned(), self.with.questions.len());
            }
            for (place, question) in self.with.questions.iter().enumerate() {
                let answered = match self.source.ask(question.clone()).await? {
                    Answered::Totals(answered) => answered,
                    Answered::Rows(_) => Vec::new(),
                };
                self.merge(&mut groups, place, answered)?;
            }
            self.answer(&groups)
        })
    }
}
