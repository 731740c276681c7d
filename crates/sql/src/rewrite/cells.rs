//! What is made of cells: columns of a plan, and expressions, whose value is the text of cells, or follows from
//! it. Whatever a function makes of the text `[20-39]`, it is no value of the column.

use std::sync::Arc;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan};

use super::functions::{Marked, marked};
use crate::table::is_cells;

/// Totals whose value is one of the texts that they are of.
const OF_TEXT: [&str; 7] = [
    "array_agg",
    "first_value",
    "lag",
    "last_value",
    "lead",
    "nth_value",
    "string_agg",
];

/// Whether a total or a window function shows texts, and takes none of them for a value.
pub(super) fn shows_text(function: &str) -> bool {
    OF_TEXT.contains(&function)
}

/// Whether an expression is made of cells: by a column that is (`is_cells`), or by a query inside.
pub(super) fn is_made_of(expression: &Expr, is_cells: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    let walked = expression.apply(|part| {
        let goes_on = match part {
            Expr::AggregateFunction(call) => shows_text(call.func.name()),
            Expr::WindowFunction(call) => shows_text(call.fun.name()),
            // Truths, which are refused where they follow from cells.
            Expr::InSubquery(_) | Expr::Exists(_) => false,
            Expr::ScalarSubquery(inner) => {
                found |= of_plan(&inner.subquery).contains(&true);
                false
            }
            part => !matches!(marked(part), Some((Marked::Judged(_), _))),
        };
        found |= goes_on && is_cells(part);
        Ok(match (found, goes_on) {
            (true, _) => TreeNodeRecursion::Stop,
            (_, true) => TreeNodeRecursion::Continue,
            (_, false) => TreeNodeRecursion::Jump,
        })
    });
    found || walked.is_err()
}

/// For each column of a plan, whether it is made of cells.
pub(super) fn of_plan(plan: &LogicalPlan) -> Vec<bool> {
    let fields = plan.schema().fields();
    let inputs: Vec<Columns> = plan.inputs().into_iter().map(Columns::of).collect();
    let of = |expression: &Expr| {
        is_made_of(expression, &|part| {
            inputs.iter().any(|input| input.is_cells(part))
        })
    };
    let given = || inputs.iter().flat_map(|input| input.cells.iter().copied());
    match plan {
        LogicalPlan::TableScan(_) | LogicalPlan::EmptyRelation(_) | LogicalPlan::Values(_) => {
            fields.iter().map(|field| is_cells(field)).collect()
        }
        LogicalPlan::Projection(projection) => projection.expr.iter().map(of).collect(),
        LogicalPlan::Distinct(Distinct::On(on)) => on.select_expr.iter().map(of).collect(),
        LogicalPlan::Aggregate(aggregate) => {
            let groups = fields.len() - aggregate.aggr_expr.len().min(fields.len());
            let of_groups: Vec<bool> = match aggregate.group_expr.len() == groups {
                true => aggregate.group_expr.iter().map(of).collect(),
                // Sets of groups have a column that says which set.
                false => vec![aggregate.group_expr.iter().any(of); groups],
            };
            let of_totals = aggregate.aggr_expr.iter().map(of);
            of_groups.into_iter().chain(of_totals).collect()
        }
        LogicalPlan::Window(window) => given().chain(window.window_expr.iter().map(of)).collect(),
        LogicalPlan::Union(_) => {
            let any = |place: usize| {
                let mut inputs = inputs.iter();
                inputs.any(|input| input.cells.get(place).copied().unwrap_or(true))
            };
            (0..fields.len()).map(any).collect()
        }
        LogicalPlan::Join(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Subquery(_)
        | LogicalPlan::Repartition(_)
        | LogicalPlan::Distinct(Distinct::All(_)) => given().take(fields.len()).collect(),
        _ => vec![given().any(|cells| cells); fields.len()],
    }
}

/// The columns of a plan, with which of them are made of cells.
pub(super) struct Columns {
    schema: Arc<DFSchema>,
    cells: Vec<bool>,
}

impl Columns {
    pub(super) fn of(plan: &LogicalPlan) -> Self {
        Self {
            schema: Arc::clone(plan.schema()),
            cells: of_plan(plan),
        }
    }

    /// Whether an expression is a column that is made of cells.
    pub(super) fn is_cells(&self, expression: &Expr) -> bool {
        let place = |column: &Column| self.schema.maybe_index_of_column(column);
        match expression {
            Expr::Column(column) => place(column).is_some_and(|place| self.cells[place]),
            Expr::OuterReferenceColumn(field, _) => is_cells(field),
            _ => false,
        }
    }
}
