//! How large a plan is: a name may stand for a whole query or expression, so a short statement with names for
//! names may mean a plan that doubles with each of them.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan};

use crate::error::SqlError;

/// The most steps of a plan.
const MOST_STEPS: usize = 300;
/// The most steps that stand on each other.
const MOST_DEEP: usize = 64;
/// The most parts of an expression in which every name has been replaced by what it stands for.
const MOST_PARTS: u64 = 2_000;

/// Refuses a plan that is too large to be worked with.
pub(crate) fn see_size(plan: &LogicalPlan) -> Result<(), SqlError> {
    let mut steps = 0;
    let counted = plan.apply_with_subqueries(|_| {
        steps += 1;
        Ok(match steps > MOST_STEPS {
            true => TreeNodeRecursion::Stop,
            false => TreeNodeRecursion::Continue,
        })
    });
    counted.map_err(SqlError::planning)?;
    if steps > MOST_STEPS {
        return Err(SqlError::not_answered(
            format!(
                "a statement of more than {MOST_STEPS} steps, counted where their names stand,"
            ),
            "use fewer queries inside each other, or ask for parts one after the other",
        ));
    }
    parts(plan, 1).map(|_| ())
}

/// For each column of a plan, the parts that it is made of.
fn parts(plan: &LogicalPlan, deep: usize) -> Result<Vec<u64>, SqlError> {
    if deep > MOST_DEEP {
        return Err(SqlError::not_answered(
            format!("a statement with more than {MOST_DEEP} steps on each other"),
            "use fewer queries inside each other",
        ));
    }
    let mut inputs = Vec::new();
    for input in plan.inputs() {
        inputs.push((input.schema(), parts(input, deep + 1)?));
    }
    let of = |expression: &Expr| {
        let mut sum = 0u64;
        let walked = expression.apply(|part| {
            sum = sum.saturating_add(match part {
                Expr::Column(column) => inputs
                    .iter()
                    .find_map(|(schema, parts)| parts.get(schema.maybe_index_of_column(column)?))
                    .copied()
                    .unwrap_or(1),
                // A list of constants is as good as one.
                Expr::Literal(..) => 0,
                Expr::ScalarSubquery(inner) => {
                    let inner = parts(&inner.subquery, deep + 1)?;
                    inner.into_iter().max().unwrap_or(1)
                }
                Expr::InSubquery(inner) => {
                    parts(&inner.subquery.subquery, deep + 1)?;
                    1
                }
                Expr::Exists(inner) => {
                    parts(&inner.subquery.subquery, deep + 1)?;
                    1
                }
                _ => 1,
            });
            Ok(TreeNodeRecursion::Continue)
        });
        walked.map_err(SqlError::planning)?;
        if sum > MOST_PARTS {
            return Err(SqlError::not_answered(
                format!(
                    "an expression of more than {MOST_PARTS} parts, counted where their names stand,"
                ),
                "write a shorter one",
            ));
        }
        Ok(sum.max(1))
    };
    let all = |expressions: &[Expr]| expressions.iter().map(of).collect::<Result<Vec<_>, _>>();
    let given = || inputs.iter().flat_map(|(_, parts)| parts.iter().copied());
    let fields = plan.schema().fields().len();
    let mut columns = match plan {
        LogicalPlan::Projection(projection) => all(&projection.expr)?,
        LogicalPlan::Distinct(Distinct::On(on)) => all(&on.select_expr)?,
        LogicalPlan::Aggregate(aggregate) => {
            let groups = all(&aggregate.group_expr)?;
            let totals = all(&aggregate.aggr_expr)?;
            let most = groups.iter().copied().max().unwrap_or(1);
            let mut columns = vec![most; fields.saturating_sub(totals.len())];
            columns.extend(totals);
            columns
        }
        LogicalPlan::Window(window) => given().chain(all(&window.window_expr)?).collect(),
        LogicalPlan::Union(_) => {
            let most = |place: usize| {
                let parts = inputs.iter().filter_map(|(_, parts)| parts.get(place));
                parts.copied().max().unwrap_or(1)
            };
            (0..fields).map(most).collect()
        }
        other => {
            all(&other.expressions())?;
            given().collect()
        }
    };
    columns.resize(fields, 1);
    Ok(columns)
}
