//! Parameters of a statement that has no values yet: of which type each is, and a value that it could have.
//!
//! Clients that prepare statements want to know the columns of the answer before they send values. An example from
//! the column that a parameter is compared with plans the statement as a value would.

use std::collections::HashMap;

use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{Expr, LogicalPlan};
use hedgerow_data::Domain;

use crate::error::SqlError;
use crate::table::StudyTable;

/// The most parameters of a statement.
const MOST: usize = 1000;

/// A parameter of a statement.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// The type of values.
    pub of: DataType,
    /// A value that it could have.
    pub example: ScalarValue,
}

/// The parameters of a plan, in the order of their numbers.
pub(super) fn parameters(
    plan: &LogicalPlan,
    table: &StudyTable,
) -> Result<Vec<Parameter>, SqlError> {
    let types = plan.get_parameter_types().map_err(SqlError::planning)?;
    let mut of_columns: HashMap<String, Parameter> = HashMap::new();
    let walked = plan.apply_with_subqueries(|step| {
        for expression in step.expressions() {
            expression.apply(|part| {
                if let Some((column, places)) = compared(part) {
                    for place in places {
                        if let Some(parameter) = of_column(column, table) {
                            of_columns.entry(place.to_owned()).or_insert(parameter);
                        }
                    }
                }
                Ok::<_, DataFusionError>(TreeNodeRecursion::Continue)
            })?;
        }
        Ok(TreeNodeRecursion::Continue)
    });
    walked.map_err(SqlError::planning)?;
    let mut names = (1..).map(|number: usize| format!("${number}"));
    numbered(&types, |of| {
        let own = names.next().and_then(|name| of_columns.remove(&name));
        own.unwrap_or_else(|| of_type(of))
    })
}

/// Parameters in the order of their numbers, each made from its type; text where nothing says the type.
pub(crate) fn numbered(
    types: &HashMap<String, Option<DataType>>,
    mut make: impl FnMut(DataType) -> Parameter,
) -> Result<Vec<Parameter>, SqlError> {
    let number = |name: &String| name.strip_prefix('$')?.parse::<usize>().ok();
    let numbers: Option<Vec<usize>> = types.keys().map(number).collect();
    let count = numbers.map(|numbers| numbers.into_iter().max().unwrap_or(0));
    let Some(count) = count.filter(|count| *count <= MOST) else {
        let what = format!("parameters other than $1 to ${MOST}");
        return Err(SqlError::not_answered(what, "number them from $1"));
    };
    let all = (1..=count).map(|number| {
        let of = types.get(&format!("${number}")).cloned().flatten();
        make(of.unwrap_or(DataType::Utf8))
    });
    Ok(all.collect())
}

/// A column, and the parameters that it is compared with.
fn compared(expression: &Expr) -> Option<(&str, Vec<&str>)> {
    let all: Vec<&Expr> = match expression {
        Expr::BinaryExpr(binary) => vec![&binary.left, &binary.right],
        Expr::Between(between) => vec![&between.expr, &between.low, &between.high],
        Expr::InList(list) => [list.expr.as_ref()].into_iter().chain(&list.list).collect(),
        Expr::Like(like) => vec![&like.expr, &like.pattern],
        Expr::ScalarFunction(call) => call.args.iter().collect(),
        _ => return None,
    };
    let column = all.iter().find_map(|part| match bare(part) {
        Expr::Column(column) => Some(column.name.as_str()),
        _ => None,
    });
    let places = all.iter().filter_map(|part| match bare(part) {
        Expr::Placeholder(place) => Some(place.id.as_str()),
        _ => None,
    });
    Some((column?, places.collect()))
}

fn bare(expression: &Expr) -> &Expr {
    match expression {
        Expr::Cast(cast) => bare(&cast.expr),
        Expr::TryCast(cast) => bare(&cast.expr),
        other => other,
    }
}

/// A parameter that is compared with a column: a value in the midst of the column's.
fn of_column(name: &str, table: &StudyTable) -> Option<Parameter> {
    let column = table.column(name)?;
    let domain = &table.source().schema().attributes()[column.attribute].domain;
    let middle = domain.size() / 2;
    let label = domain.label(middle).into_owned();
    Some(match domain {
        Domain::Integer(own) => Parameter {
            of: DataType::Int64,
            example: ScalarValue::Int64(Some(own.value(middle))),
        },
        Domain::Decimal(_) => Parameter {
            of: DataType::Float64,
            example: ScalarValue::Float64(label.parse().ok()),
        },
        _ => Parameter {
            of: DataType::Utf8,
            example: ScalarValue::Utf8(Some(label)),
        },
    })
}

fn of_type(of: DataType) -> Parameter {
    let example = match &of {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            ScalarValue::Utf8(Some(String::new()))
        }
        other => ScalarValue::new_one(other).unwrap_or(ScalarValue::Null),
    };
    Parameter { of, example }
}
