//! Totals over the table as questions for totals.

use std::sync::Arc;

use datafusion::catalog::default_table_source::provider_as_source;
use datafusion::common::{Column, DFSchema, ScalarValue, TableReference};
use datafusion::execution::SessionState;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::logical_plan::Aggregate;
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{Case, Expr, LogicalPlanBuilder};
use hedgerow_data::{Domain, Role};
use hedgerow_protocols::query::{Answer, Condition, Question, Total};

use super::condition::simplified;
use super::leaf::{Leaf, Parted};
use super::refuse::plain;
use super::words::words;
use super::{Carried, Rewritten};
use crate::error::SqlError;
use crate::mode::Mode;
use crate::table::{Measure, Part, TotalsTable, Wanted, With};

/// The most counts that are asked for so that an average has bounds.
const MOST_BY_VALUE: u64 = 1 << 16;

/// What a total is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Total(Total),
    Mean(usize),
}

/// A total with the condition that is its own.
struct Read {
    of: Of,
    filter: Option<Expr>,
}

/// Totals of a leaf, while questions are gathered.
struct Asking<'l> {
    leaf: &'l Leaf,
    mode: Mode,
    base: Condition,
    group_by: Vec<usize>,
    questions: Vec<Question>,
}

/// Totals over a leaf as a plan that asks for them; nothing where an aggregate is none that questions have.
pub(super) fn totals(
    aggregate: &Aggregate,
    leaf: &Leaf,
    mode: Mode,
    state: &SessionState,
) -> Result<Option<Rewritten>, SqlError> {
    let groups: Vec<Expr> = aggregate
        .group_expr
        .iter()
        .map(|group| leaf.over_table(group))
        .collect::<Result<_, _>>()?;
    if groups
        .iter()
        .any(|group| matches!(group, Expr::GroupingSet(_)))
    {
        return Ok(None);
    }
    let mut read = Vec::with_capacity(aggregate.aggr_expr.len());
    for total in &aggregate.aggr_expr {
        match total_of(total, leaf)? {
            Some(total) => read.push(total),
            None => return Ok(None),
        }
    }
    for group in &groups {
        leaf.refuse(group)?;
    }
    let parted = leaf.parted()?;
    // What differs from row to row is no matter of groups.
    if groups.iter().chain(&parted.of_cells).any(Expr::is_volatile) {
        return Ok(None);
    }
    let expressions = [groups.clone(), parted.of_cells.clone()].concat();
    let (expressions, wanted) = leaf.wanted(&expressions)?;
    let mut group_by: Vec<usize> = wanted.iter().flat_map(Wanted::attributes).collect();
    group_by.sort_unstable();
    group_by.dedup();
    let Parted {
        condition, text, ..
    } = parted;
    let mut asking = Asking {
        leaf,
        mode,
        base: condition,
        group_by,
        questions: Vec::new(),
    };
    asking.question(None);
    let mut measures = Vec::with_capacity(read.len());
    for total in &read {
        match asking.measure(total)? {
            Some(measure) => measures.push(measure),
            None => return Ok(None),
        }
    }
    let is_exact = leaf.is_exact(&asking.base, &asking.group_by);
    let source = leaf.table.source();
    for question in &asking.questions {
        let checked = question.check(source.schema());
        checked.map_err(|error| SqlError::Refused(error.into()))?;
    }

    let (groups, of_cells) = expressions.split_at(groups.len());
    let fields: Vec<_> = wanted.iter().map(Wanted::field).collect();
    let schema = DFSchema::from_unqualified_fields(fields.into(), Default::default());
    let schema = schema.map_err(SqlError::planning)?;
    let physical = |expression: &Expr| {
        let expression = simplified(expression.clone(), &schema)?;
        let planned = state.create_physical_expr(expression, &schema);
        planned.map_err(SqlError::planning)
    };
    let grouped = groups.iter().enumerate().map(|(place, group)| {
        let planned = physical(group)?;
        let field = planned.return_field(schema.as_arrow());
        let field = field.map_err(SqlError::planning)?;
        let name = format!("group_{place}");
        Ok((
            field.as_ref().clone().with_name(name).with_nullable(true),
            planned,
        ))
    });
    let names = |expressions: &[Expr]| {
        let names = expressions.iter().map(words);
        names.collect::<Vec<_>>().join(", ")
    };
    let line = format!(
        "HedgerowTotals: groups=[{}], totals=[{}], where={text}, answer={mode}",
        names(&aggregate.group_expr),
        names(&aggregate.aggr_expr),
    );
    let with = With {
        keep: of_cells.iter().map(physical).collect::<Result<_, _>>()?,
        groups: grouped.collect::<Result<_, SqlError>>()?,
        wanted,
        questions: asking.questions,
        measures,
        line,
    };
    let is_bounded = !is_exact || with.measures.iter().any(|measure| !measure.is_exact());
    let table = TotalsTable::new(Arc::clone(source), mode, with);
    let rewritten = named(aggregate, table, groups.len(), mode)?;
    Ok(Some(Rewritten {
        is_bounded,
        ..rewritten
    }))
}

/// The totals under the names that the aggregate gives them.
fn named(
    aggregate: &Aggregate,
    table: TotalsTable,
    groups: usize,
    mode: Mode,
) -> Result<Rewritten, SqlError> {
    let column = |name: String| Expr::Column(Column::new_unqualified(name));
    let mut shown = Vec::with_capacity(aggregate.schema.fields().len());
    let mut bounds = Vec::new();
    for (place, (relation, field)) in aggregate.schema.iter().enumerate() {
        let name = field.name();
        let Some(total) = place.checked_sub(groups) else {
            let group = column(format!("group_{place}"));
            shown.push(group.alias_qualified(relation.cloned(), name));
            continue;
        };
        if mode != Mode::Bounds {
            let total = column(TotalsTable::column(total, 0));
            shown.push(total.alias_qualified(relation.cloned(), name));
            continue;
        }
        let parts = ["_low", "", "_high", "_error"].map(|part| format!("{name}{part}"));
        for (part, name) in parts.iter().enumerate() {
            let total = column(TotalsTable::column(total, part));
            shown.push(total.alias_qualified(None::<TableReference>, name));
        }
        let [low, own, high, error] = parts.map(Column::new_unqualified);
        bounds.push((own, [low, high, error]));
    }
    let planned = || {
        let source = provider_as_source(Arc::new(table));
        let builder = LogicalPlanBuilder::scan("hedgerow_totals", source, None)?;
        builder.project(shown)?.build()
    };
    Ok(Rewritten {
        plan: planned().map_err(SqlError::planning)?,
        carried: Carried {
            share: None,
            bounds,
        },
        has_rows: false,
        is_uncertain: false,
        is_bounded: true,
    })
}

impl Asking<'_> {
    /// The question for the totals of the rows that satisfy one more condition, or none.
    fn question(&mut self, filter: Option<Condition>) -> usize {
        let condition = match filter {
            None => self.base.clone(),
            Some(filter) => Condition::All(vec![self.base.clone(), filter]),
        };
        let known = self.questions.iter().position(|question| {
            question.condition == condition && matches!(&question.answer, Answer::Totals { group_by, .. } if *group_by == self.group_by)
        });
        known.unwrap_or_else(|| {
            self.questions.push(Question {
                condition,
                answer: Answer::Totals {
                    group_by: self.group_by.clone(),
                    of: vec![Total::Records],
                },
            });
            self.questions.len() - 1
        })
    }

    /// The place of a total in a question.
    fn place(&mut self, question: usize, total: Total) -> usize {
        let Answer::Totals { of, .. } = &mut self.questions[question].answer else {
            return 0;
        };
        let known = of.iter().position(|known| *known == total);
        known.unwrap_or_else(|| {
            of.push(total);
            of.len() - 1
        })
    }

    fn measure(&mut self, read: &Read) -> Result<Option<Measure>, SqlError> {
        let filter = match &read.filter {
            None => None,
            Some(filter) => {
                let parted = self.leaf.part(&split_conjunction_owned(filter.clone()))?;
                if !parted.of_cells.is_empty() {
                    return Ok(None);
                }
                Some(parted.condition)
            }
        };
        let question = self.question(filter);
        let condition = self.questions[question].condition.clone();
        let attributes = self.leaf.table.source().schema().attributes();
        let is_exact = |column: Option<usize>| {
            let all: Vec<usize> = self.group_by.iter().copied().chain(column).collect();
            self.leaf.is_exact(&condition, &all)
        };
        let is_value = |column: usize| attributes[column].role != Role::Quasi;
        Ok(Some(match read.of {
            Of::Total(total) => {
                let is_exact = is_exact(total.column())
                    && match total {
                        Total::Records => true,
                        Total::Present(column) => {
                            is_value(column) || attributes[column].domain.missing_code().is_none()
                        }
                        Total::Sum(column) => is_value(column),
                    };
                Measure::Total {
                    question,
                    place: self.place(question, total),
                    is_exact,
                }
            }
            Of::Mean(attribute) => {
                let is_exact = is_value(attribute) && is_exact(Some(attribute));
                let needs_bounds = self.mode != Mode::Estimate && !is_exact;
                let by_value = match needs_bounds {
                    true => self.by_value(&condition, attribute),
                    false => None,
                };
                Measure::Mean {
                    question,
                    sum: self.place(question, Total::Sum(attribute)),
                    present: self.place(question, Total::Present(attribute)),
                    attribute,
                    by_value,
                    is_exact,
                }
            }
        }))
    }

    /// The question that counts each value of a column, which stands last in its groups; nothing where there
    /// would be too many.
    fn by_value(&mut self, condition: &Condition, attribute: usize) -> Option<usize> {
        let attributes = self.leaf.table.source().schema().attributes();
        let mut group_by = self.group_by.clone();
        group_by.retain(|column| *column != attribute);
        group_by.push(attribute);
        let sizes = group_by
            .iter()
            .map(|column| u64::from(attributes[*column].domain.size()));
        if sizes.fold(1, u64::saturating_mul) > MOST_BY_VALUE {
            return None;
        }
        self.questions.push(Question {
            condition: condition.clone(),
            answer: Answer::Totals {
                group_by,
                of: vec![Total::Records],
            },
        });
        Some(self.questions.len() - 1)
    }
}

/// The total that an aggregate asks for; nothing where it is none that questions have.
fn total_of(expression: &Expr, leaf: &Leaf) -> Result<Option<Read>, SqlError> {
    let Expr::AggregateFunction(AggregateFunction { func, params }) = expression.clone().unalias()
    else {
        return Ok(None);
    };
    let is_plain =
        !params.distinct && params.order_by.is_empty() && params.null_treatment.is_none();
    let [argument] = params.args.as_slice() else {
        return Ok(None);
    };
    if !is_plain {
        return Ok(None);
    }
    let argument = leaf.over_table(argument)?;
    let filter = params
        .filter
        .as_deref()
        .map(|filter| leaf.over_table(filter));
    let filter = filter.transpose()?;
    let (argument, filter) = match (plain(&argument), filter) {
        (Expr::Case(case), None) => match only(case, func.name()) {
            Some((condition, then)) => (then.clone(), Some(condition.clone())),
            None => return Ok(None),
        },
        (other, filter) => (other.clone(), filter),
    };
    let of = match (func.name(), column(&argument, leaf)) {
        ("count", Some(attribute)) => Of::Total(Total::Present(attribute)),
        ("sum", Some(attribute)) => Of::Total(Total::Sum(attribute)),
        ("avg", Some(attribute)) => {
            let attribute_of = &leaf.table.source().schema().attributes()[attribute];
            if !matches!(attribute_of.domain, Domain::Integer(_)) {
                let column = attribute_of.name.clone();
                let error = hedgerow_protocols::query::QuestionError::NoNumber { column };
                return Err(SqlError::Refused(error.into()));
            }
            Of::Mean(attribute)
        }
        ("count", None) if is_present(&argument) => Of::Total(Total::Records),
        ("sum", None) if is_one(&argument) => Of::Total(Total::Records),
        _ => return Ok(None),
    };
    Ok(Some(Read { of, filter }))
}

/// The condition and the value of `CASE WHEN condition THEN value END`, which tools write for `FILTER`.
fn only<'c>(case: &'c Case, function: &str) -> Option<(&'c Expr, &'c Expr)> {
    let is_nothing = match (case.else_expr.as_deref().map(plain), function) {
        (None, "sum" | "count") => true,
        (Some(Expr::Literal(value, _)), "sum") => value.is_null() || is_number(value, 0),
        (Some(Expr::Literal(value, _)), "count") => value.is_null(),
        _ => false,
    };
    match (case.when_then_expr.as_slice(), &case.expr) {
        ([(condition, then)], None) if is_nothing => Some((condition, plain(then))),
        _ => None,
    }
}

/// The column of the study whose values an expression is.
fn column(expression: &Expr, leaf: &Leaf) -> Option<usize> {
    let Expr::Column(column) = expression else {
        return None;
    };
    let column = leaf.table.column(&column.name)?;
    matches!(column.part, Part::Value | Part::Printed).then_some(column.attribute)
}

fn is_present(expression: &Expr) -> bool {
    matches!(expression, Expr::Literal(value, _) if !value.is_null())
}

fn is_one(expression: &Expr) -> bool {
    matches!(expression, Expr::Literal(value, _) if is_number(value, 1))
}

fn is_number(value: &ScalarValue, number: i64) -> bool {
    let as_number = value.cast_to(&arrow::datatypes::DataType::Int64);
    value.data_type().is_integer()
        && as_number.is_ok_and(|own| own == ScalarValue::Int64(Some(number)))
}
