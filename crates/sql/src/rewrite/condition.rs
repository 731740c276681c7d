//! A condition of a plan as the engine's reader of SQL takes it, so that there is one meaning of conditions.

use std::sync::Arc;

use arrow::datatypes::DataType;
use chrono::{DateTime, NaiveDate, Utc};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, Operator};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::sql::sqlparser::ast;
use hedgerow::query::Names;
use hedgerow_data::Domain;
use hedgerow_protocols::query::Condition;

use super::functions::{Marked, marked};
use super::refuse::plain;
use super::words::words;
use crate::error::SqlError;
use crate::table::StudyTable;

/// The condition that an expression over the table's columns states.
pub(super) fn condition(expression: &Expr, table: &StudyTable) -> Result<Condition, SqlError> {
    let source = table.source();
    let names = Names::new(source.schema(), source.name());
    joined(&folded(expression.clone())?, &names, table)
}

/// Comparisons joined by `AND`, `OR` and `NOT`. A chain of one operator is as deep as it is long, so it is
/// walked, not descended.
fn joined(expression: &Expr, names: &Names<'_>, table: &StudyTable) -> Result<Condition, SqlError> {
    match expression {
        Expr::Alias(alias) => joined(&alias.expr, names, table),
        Expr::Not(inner) => Ok(Condition::Not(Box::new(joined(inner, names, table)?))),
        Expr::BinaryExpr(binary) if matches!(binary.op, Operator::And | Operator::Or) => {
            let parts = chain(expression, binary.op).into_iter();
            let parts = parts.map(|part| joined(part, names, table));
            let parts = parts.collect::<Result<_, _>>()?;
            Ok(match binary.op {
                Operator::And => Condition::All(parts),
                _ => Condition::Any(parts),
            })
        }
        comparison => Ok(names.condition(&written(comparison, table)?)?),
    }
}

/// The parts of a chain of one operator, from left to right.
fn chain(expression: &Expr, operator: Operator) -> Vec<&Expr> {
    let (mut parts, mut rest) = (Vec::new(), expression);
    while let Expr::BinaryExpr(binary) = rest
        && binary.op == operator
    {
        parts.push(binary.right.as_ref());
        rest = &binary.left;
    }
    parts.push(rest);
    parts.reverse();
    parts
}

/// An expression over columns of a schema, with types put in and functions that stand for others replaced.
pub(super) fn simplified(expression: Expr, schema: &DFSchema) -> Result<Expr, SqlError> {
    let context = SimplifyContext::builder()
        .with_schema(Arc::new(schema.clone()))
        .with_query_execution_start_time(Some(Utc::now()))
        .build();
    let simplifier = ExprSimplifier::new(context);
    let coerced = simplifier.coerce(expression, schema);
    let simplified = coerced.and_then(|expression| simplifier.simplify(expression));
    simplified.map_err(SqlError::planning)
}

/// The expression with every part that speaks of no column as a constant.
pub(super) fn folded(expression: Expr) -> Result<Expr, SqlError> {
    let schema = Arc::new(DFSchema::empty());
    let context = SimplifyContext::builder()
        .with_schema(Arc::clone(&schema))
        .with_query_execution_start_time(Some(Utc::now()))
        .build();
    let simplifier = ExprSimplifier::new(context);
    let folded = expression.transform_down(|part| {
        let is_known = matches!(part, Expr::Literal(..));
        let speaks = part.exists(|inner| {
            Ok(matches!(
                inner,
                Expr::Column(_)
                    | Expr::OuterReferenceColumn(..)
                    | Expr::Placeholder(_)
                    | Expr::ScalarSubquery(_)
                    | Expr::InSubquery(_)
                    | Expr::Exists(_)
            ) || marked(inner).is_some())
        })?;
        if is_known || speaks {
            return Ok(Transformed::no(part));
        }
        let part = simplifier.coerce(part, &schema)?;
        let part = simplifier.simplify(part)?;
        Ok(Transformed::new(part, true, TreeNodeRecursion::Jump))
    });
    Ok(folded.map_err(SqlError::planning)?.data)
}

/// An expression as SQL has it.
fn written(expression: &Expr, table: &StudyTable) -> Result<ast::Expr, SqlError> {
    let boxed = |inner: &Expr| Ok::<_, SqlError>(Box::new(written(inner, table)?));
    let cast = |inner: &Expr, to: &DataType| match is_kept(inner, to, table) {
        true => written(inner, table),
        false => Err(no_condition(expression)),
    };
    Ok(match expression {
        Expr::Alias(alias) => written(&alias.expr, table)?,
        Expr::Column(column) => ast::Expr::Identifier(ast::Ident::new(&column.name)),
        Expr::Cast(of) => cast(&of.expr, of.field.data_type())?,
        Expr::TryCast(of) => cast(&of.expr, of.field.data_type())?,
        Expr::Literal(value, _) => ast::Expr::Value(literal(value).into()),
        Expr::IsNull(inner) => ast::Expr::IsNull(boxed(inner)?),
        Expr::IsNotNull(inner) => ast::Expr::IsNotNull(boxed(inner)?),
        Expr::BinaryExpr(binary) => match operator(binary.op) {
            Some(op) => ast::Expr::BinaryOp {
                left: boxed(&binary.left)?,
                op,
                right: boxed(&binary.right)?,
            },
            None => return Err(no_condition(expression)),
        },
        Expr::Between(between) => ast::Expr::Between {
            expr: boxed(&between.expr)?,
            negated: between.negated,
            low: boxed(&between.low)?,
            high: boxed(&between.high)?,
        },
        Expr::InList(list) => ast::Expr::InList {
            expr: boxed(&list.expr)?,
            list: list
                .list
                .iter()
                .map(|value| written(value, table))
                .collect::<Result<_, _>>()?,
            negated: list.negated,
        },
        Expr::Like(like) => {
            let (expr, pattern) = (boxed(&like.expr)?, boxed(&like.pattern)?);
            let escape_char = like.escape_char.map(|escape| {
                ast::ValueWithSpan::from(ast::Value::SingleQuotedString(escape.to_string()))
            });
            let (negated, any) = (like.negated, false);
            match like.case_insensitive {
                true => ast::Expr::ILike {
                    negated,
                    any,
                    expr,
                    pattern,
                    escape_char,
                },
                false => ast::Expr::Like {
                    negated,
                    any,
                    expr,
                    pattern,
                    escape_char,
                },
            }
        }
        call => match marked(call) {
            Some((Marked::Under, arguments)) => {
                let arguments = arguments.iter().map(|argument| written(argument, table));
                under(arguments.collect::<Result<_, _>>()?)
            }
            _ => return Err(no_condition(expression)),
        },
    })
}

/// Whether a cast of a column keeps which values are meant and how they compare: numbers as text would compare
/// as text, and a narrow type has not all of them.
fn is_kept(inner: &Expr, to: &DataType, table: &StudyTable) -> bool {
    let Expr::Column(column) = plain(inner) else {
        return false;
    };
    let Some(column) = table.column(&column.name) else {
        return false;
    };
    let domain = &table.source().schema().attributes()[column.attribute].domain;
    match domain {
        Domain::Integer(numbers) => {
            let ends = [0, domain.size().saturating_sub(1)].map(|code| numbers.value(code));
            match to {
                DataType::Int64 => true,
                DataType::Int32 => ends.iter().all(|end| i32::try_from(*end).is_ok()),
                DataType::Float64 => ends.iter().all(|end| end.unsigned_abs() < 1 << 53),
                DataType::Decimal128(precision, 0) => *precision > 18,
                _ => false,
            }
        }
        Domain::Decimal(_) => *to == DataType::Float64,
        Domain::Date(_) => matches!(
            to,
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)
        ),
        Domain::Category(_) | Domain::Text => to.is_string(),
    }
}

/// `under(…)` as SQL has it.
fn under(arguments: Vec<ast::Expr>) -> ast::Expr {
    let unnamed = |argument| ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(argument));
    ast::Expr::Function(ast::Function {
        name: ast::ObjectName::from(vec![ast::Ident::new("under")]),
        uses_odbc_syntax: false,
        parameters: ast::FunctionArguments::None,
        args: ast::FunctionArguments::List(ast::FunctionArgumentList {
            duplicate_treatment: None,
            args: arguments.into_iter().map(unnamed).collect(),
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

const fn operator(op: Operator) -> Option<ast::BinaryOperator> {
    Some(match op {
        Operator::Eq => ast::BinaryOperator::Eq,
        Operator::NotEq => ast::BinaryOperator::NotEq,
        Operator::Lt => ast::BinaryOperator::Lt,
        Operator::LtEq => ast::BinaryOperator::LtEq,
        Operator::Gt => ast::BinaryOperator::Gt,
        Operator::GtEq => ast::BinaryOperator::GtEq,
        _ => return None,
    })
}

fn literal(value: &ScalarValue) -> ast::Value {
    if value.is_null() {
        return ast::Value::Null;
    }
    let text = |text: String| ast::Value::SingleQuotedString(text);
    match value {
        ScalarValue::Boolean(Some(truth)) => ast::Value::Boolean(*truth),
        ScalarValue::Utf8(Some(own))
        | ScalarValue::LargeUtf8(Some(own))
        | ScalarValue::Utf8View(Some(own)) => text(own.clone()),
        ScalarValue::Date32(Some(days)) => {
            let day = NaiveDate::from_num_days_from_ce_opt(days.saturating_add(719_163));
            text(day.map_or_else(|| value.to_string(), |day| day.to_string()))
        }
        ScalarValue::TimestampSecond(Some(at), _) => {
            text(moment(DateTime::from_timestamp(*at, 0), value))
        }
        ScalarValue::TimestampMillisecond(Some(at), _) => {
            text(moment(DateTime::from_timestamp_millis(*at), value))
        }
        ScalarValue::TimestampMicrosecond(Some(at), _) => {
            text(moment(DateTime::from_timestamp_micros(*at), value))
        }
        ScalarValue::TimestampNanosecond(Some(at), _) => {
            text(moment(Some(DateTime::from_timestamp_nanos(*at)), value))
        }
        ScalarValue::Decimal128(Some(digits), _, scale) => {
            ast::Value::Number(decimal(*digits, *scale), false)
        }
        number if number.data_type().is_numeric() => ast::Value::Number(number.to_string(), false),
        other => text(other.to_string()),
    }
}

/// A decimal number as it is written.
fn decimal(digits: i128, scale: i8) -> String {
    let Ok(places) = usize::try_from(scale) else {
        return format!("{digits}{}", "0".repeat(usize::from(scale.unsigned_abs())));
    };
    let sign = if digits < 0 { "-" } else { "" };
    let text = format!("{:0>width$}", digits.unsigned_abs(), width = places + 1);
    let (whole, part) = text.split_at(text.len() - places);
    match part.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        part => format!("{sign}{whole}.{part}"),
    }
}

/// A moment as a day where it is the day's first; tools write days so.
fn moment(at: Option<DateTime<Utc>>, value: &ScalarValue) -> String {
    match at {
        Some(at) if at.time() == chrono::NaiveTime::MIN => at.date_naive().to_string(),
        Some(at) => at.naive_utc().to_string(),
        None => value.to_string(),
    }
}

fn no_condition(expression: &Expr) -> SqlError {
    SqlError::not_answered(
        format!("the condition `{}`", words(expression)),
        "compare columns with constants by =, <>, <, <=, >, >=, BETWEEN, IN, LIKE, IS NULL or under(column, 'node'), joined by AND, OR and NOT",
    )
}
