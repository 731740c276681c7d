//! Plans that ask the table instead of reading it.
//!
//! A plan is rewritten after names are resolved and before types are, so that aliases, nested queries and
//! `WITH` have become what they mean. Where projections and conditions stand on the table, they are put
//! together into one step ([`leaf`]), whose conditions the engine's reader takes ([`condition`]). A total over
//! such a step becomes questions for totals ([`totals`]); other steps become a question for rows. All that
//! stands above is left as it is, except that columns are carried along: the share of a row, and the bounds of
//! a total. What would take a cell for a value is refused ([`refuse`]).

mod cells;
mod condition;
mod functions;
mod leaf;
mod refuse;
mod size;
mod totals;
mod words;

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, TableReference};
use datafusion::execution::SessionState;
use datafusion::logical_expr::logical_plan::{Aggregate, Analyze, Explain, Subquery};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};

pub(crate) use functions::{aggregates, scalars};
pub(crate) use size::see_size;

use crate::error::SqlError;
use crate::mode::Mode;
use cells::{Columns, is_made_of};
use functions::with_own;
use leaf::{Leaf, has_subquery};
use refuse::{no_join, plain, refuse_uncertain};
use words::words;

/// A plan that asks the table.
struct Rewritten {
    plan: LogicalPlan,
    carried: Carried,
    /// Whether rows of the table stand in it that no total has counted.
    has_rows: bool,
    /// Whether some of these rows only may satisfy the conditions by which they were chosen.
    is_uncertain: bool,
    /// Whether totals stand in it that are known within bounds only.
    is_bounded: bool,
}

/// Columns that a plan has beside those that were written.
#[derive(Debug, Clone, Default)]
struct Carried {
    /// The share by which a row satisfies the conditions.
    share: Option<Column>,
    /// Totals, each with its low, high and error.
    bounds: Vec<(Column, [Column; 3])>,
}

impl Carried {
    fn is_empty(&self) -> bool {
        self.share.is_none() && self.bounds.is_empty()
    }

    fn of(self, relation: &TableReference) -> Self {
        let named = |column: Column| Column::new(Some(relation.clone()), column.name);
        let bounds = self.bounds.into_iter();
        Self {
            share: self.share.map(named),
            bounds: bounds
                .map(|(total, parts)| (named(total), parts.map(named)))
                .collect(),
        }
    }
}

/// The plan that asks the table, in place of one that reads it.
pub(crate) fn rewrite(
    plan: LogicalPlan,
    mode: Mode,
    state: &SessionState,
) -> Result<LogicalPlan, SqlError> {
    Ok(Rewriter { mode, state }.walk(plan)?.plan)
}

struct Rewriter<'s> {
    mode: Mode,
    state: &'s SessionState,
}

impl Rewriter<'_> {
    fn walk(&self, plan: LogicalPlan) -> Result<Rewritten, SqlError> {
        match plan {
            LogicalPlan::Explain(explain) => {
                let inner = self.walk(Arc::unwrap_or_clone(explain.plan))?;
                Ok(plain_plan(LogicalPlan::Explain(Explain {
                    plan: Arc::new(inner.plan),
                    stringified_plans: Vec::new(),
                    ..explain
                })))
            }
            LogicalPlan::Analyze(analyze) => {
                let inner = self.walk(Arc::unwrap_or_clone(analyze.input))?;
                Ok(plain_plan(LogicalPlan::Analyze(Analyze {
                    input: Arc::new(inner.plan),
                    ..analyze
                })))
            }
            plan => {
                if let Some(leaf) = Leaf::of(&plan)? {
                    return leaf.rows(self.mode);
                }
                self.above(plan)
            }
        }
    }

    /// A plan that is no leaf.
    fn above(&self, plan: LogicalPlan) -> Result<Rewritten, SqlError> {
        match &plan {
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate, &plan),
            LogicalPlan::Projection(projection) => {
                let input = self.walk(projection.input.as_ref().clone())?;
                let expressions = self.expressions(&plan)?;
                let named = projection.schema.iter().zip(expressions);
                let named = named.map(|((relation, field), expression)| {
                    (Column::new(relation.cloned(), field.name()), expression)
                });
                project(input, named.collect())
            }
            LogicalPlan::Filter(filter) if has_subquery(&filter.predicate) => {
                let parts = split_conjunction(&filter.predicate).into_iter().cloned();
                let (above, below): (Vec<Expr>, Vec<Expr>) = parts.partition(has_subquery);
                let mut input = filter.input.as_ref().clone();
                // What has no query inside stands on the table.
                if let Some(below) = conjunction(below) {
                    let built = LogicalPlanBuilder::from(input).filter(below);
                    input = built
                        .and_then(LogicalPlanBuilder::build)
                        .map_err(SqlError::planning)?;
                }
                let above: Vec<Expr> = conjunction(above).into_iter().collect();
                let plan = plan.with_new_exprs(above, vec![input]);
                self.pass(plan.map_err(SqlError::planning)?)
            }
            LogicalPlan::Filter(_) | LogicalPlan::Sort(_) | LogicalPlan::Limit(_) => {
                self.pass(plan)
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let input = self.walk(alias.input.as_ref().clone())?;
                let built = LogicalPlanBuilder::from(input.plan).alias(alias.alias.clone());
                Ok(Rewritten {
                    plan: built
                        .and_then(LogicalPlanBuilder::build)
                        .map_err(SqlError::planning)?,
                    carried: input.carried.of(&alias.alias),
                    ..input
                })
            }
            _ => self.other(plan),
        }
    }

    fn aggregate(&self, aggregate: &Aggregate, plan: &LogicalPlan) -> Result<Rewritten, SqlError> {
        let Some(mut leaf) = Leaf::of(&aggregate.input)? else {
            return self.other(plan.clone());
        };
        if let Some(totals) = totals::totals(aggregate, &leaf, self.mode, self.state)? {
            return Ok(totals);
        }
        // Of rows that know their values and whether they satisfy the conditions, DataFusion has the totals.
        for expression in &aggregate.aggr_expr {
            leaf.refuse(&leaf.over_table(expression)?)?;
        }
        let parted = leaf.parted()?;
        if !leaf.is_exact(&parted.condition, &[]) {
            let names = aggregate.aggr_expr.iter().map(words).collect::<Vec<_>>();
            let names = names.join(", ");
            return Err(SqlError::not_answered(
                format!("`{names}` of rows that only may satisfy `{}`", parted.text),
                "count(*), count(x), sum(x) and avg(x) have bounds; write certain(…) or possible(…) in WHERE to choose rows",
            ));
        }
        let expressions = plan.expressions();
        let judged = expressions.iter().map(|part| leaf.with_judged(part));
        let judged = judged.collect::<Result<Vec<_>, _>>()?;
        leaf.keep(&judged);
        let rows = leaf.rows(self.mode)?.plan;
        let plan = plan.with_new_exprs(judged, vec![rows.clone()]);
        let plan = plan.map_err(SqlError::planning)?;
        let plan = plan.with_new_exprs(self.expressions(&plan)?, vec![rows]);
        let plan = plan.and_then(LogicalPlan::recompute_schema);
        Ok(plain_plan(plan.map_err(SqlError::planning)?))
    }

    /// A step that leaves the columns of its input as they are.
    fn pass(&self, plan: LogicalPlan) -> Result<Rewritten, SqlError> {
        let expressions = self.expressions(&plan)?;
        let Some(input) = plan.inputs().first().map(|input| (*input).clone()) else {
            return self.other(plan);
        };
        let input = self.walk(input)?;
        let plan = plan.with_new_exprs(expressions, vec![input.plan]);
        let plan = plan.and_then(LogicalPlan::recompute_schema);
        Ok(Rewritten {
            plan: plan.map_err(SqlError::planning)?,
            ..input
        })
    }

    /// Any other step: it gets the columns that were written, and no rows that are only possible.
    fn other(&self, plan: LogicalPlan) -> Result<Rewritten, SqlError> {
        let expressions = self.expressions(&plan)?;
        let mut inputs = Vec::new();
        let (mut has_rows, mut is_bounded) = (false, false);
        for input in plan.inputs() {
            let rewritten = self.walk(input.clone())?;
            if rewritten.is_uncertain {
                return Err(SqlError::not_answered(
                    format!("{} of rows that only may satisfy a condition", step(&plan)),
                    "ask for totals of the table itself, or write certain(…) or possible(…) in WHERE to choose rows",
                ));
            }
            has_rows |= rewritten.has_rows;
            is_bounded |= rewritten.is_bounded;
            inputs.push(stripped(rewritten, input)?);
        }
        if let LogicalPlan::Join(join) = &plan {
            let (left, right) = (Columns::of(&join.left), Columns::of(&join.right));
            for (own, other) in &join.on {
                let is_own = is_made_of(own, &|part| left.is_cells(part));
                if is_own != is_made_of(other, &|part| right.is_cells(part)) {
                    return Err(no_join(own, other));
                }
            }
        }
        if has_rows && matches!(plan, LogicalPlan::Join(_)) {
            return Err(SqlError::not_answered(
                "a join of the table's rows, which stand for several values,",
                "join totals, each a query of its own in WITH; nothing else can be joined with the table",
            ));
        }
        let has_rows = has_rows && !matches!(plan, LogicalPlan::Aggregate(_));
        let plan = plan.with_new_exprs(expressions, inputs);
        let plan = plan.and_then(LogicalPlan::recompute_schema);
        Ok(Rewritten {
            has_rows,
            is_bounded,
            ..plain_plan(plan.map_err(SqlError::planning)?)
        })
    }

    /// The expressions of a step above the table: none takes a cell for a value, and the queries inside ask
    /// the table.
    fn expressions(&self, plan: &LogicalPlan) -> Result<Vec<Expr>, SqlError> {
        let inputs: Vec<Columns> = plan.inputs().into_iter().map(Columns::of).collect();
        let cells = |part: &Expr| inputs.iter().any(|input| input.is_cells(part));
        let mut expressions = Vec::new();
        for expression in plan.expressions() {
            refuse_uncertain(&expression, &cells, false)?;
            let replaced =
                expression.transform_up(|part| Ok(Transformed::yes(self.inside(with_own(part))?)));
            let replaced = replaced.map_err(SqlError::planning)?.data;
            expressions.push(replaced);
        }
        Ok(expressions)
    }

    /// A query inside an expression, rewritten.
    fn inside(&self, part: Expr) -> Result<Expr, SqlError> {
        let subquery = |subquery: &Subquery| {
            let plan = subquery.subquery.as_ref();
            let rewritten = self.walk(plan.clone())?;
            if rewritten.is_bounded && self.mode != Mode::Estimate {
                return Err(SqlError::not_answered(
                    "a subquery for totals that are known within bounds only",
                    "ask for it first and write its number, or SET hedgerow.answer = 'estimate'",
                ));
            }
            if rewritten.is_uncertain {
                return Err(SqlError::not_answered(
                    "a subquery for rows that only may satisfy a condition",
                    "write certain(…) or possible(…) in its WHERE to choose rows",
                ));
            }
            Ok(subquery.with_plan(Arc::new(stripped(rewritten, plan)?)))
        };
        Ok(match part {
            Expr::ScalarSubquery(inner) => Expr::ScalarSubquery(subquery(&inner)?),
            Expr::InSubquery(mut inside) => {
                inside.subquery = subquery(&inside.subquery)?;
                Expr::InSubquery(inside)
            }
            Expr::Exists(mut exists) => {
                exists.subquery = subquery(&exists.subquery)?;
                Expr::Exists(exists)
            }
            Expr::SetComparison(_) => {
                let what = "a comparison with ANY or ALL of a query";
                return Err(SqlError::not_answered(what, "use IN"));
            }
            part => part,
        })
    }
}

const fn plain_plan(plan: LogicalPlan) -> Rewritten {
    Rewritten {
        plan,
        carried: Carried {
            share: None,
            bounds: Vec::new(),
        },
        has_rows: false,
        is_uncertain: false,
        is_bounded: false,
    }
}

/// Expressions over a plan under their names, with what the plan carries.
fn project(input: Rewritten, named: Vec<(Column, Expr)>) -> Result<Rewritten, SqlError> {
    let mut carried = Carried::default();
    let mut shown = Vec::with_capacity(named.len());
    for (name, expression) in named {
        let bounds = input.carried.bounds.iter();
        let mut bounds = bounds.filter(
            |(total, _)| matches!(plain(&expression), Expr::Column(column) if column == total),
        );
        let own = expression.clone().unalias();
        let own = own.alias_qualified(name.relation.clone(), &name.name);
        let Some((_, [low, high, error])) = bounds.next() else {
            shown.push(own);
            continue;
        };
        let part = |column: &Column, part: &str| {
            let name = Column::new_unqualified(format!("{}_{part}", name.name));
            let shown = Expr::Column(column.clone());
            (
                shown.alias_qualified(None::<TableReference>, &name.name),
                name,
            )
        };
        let (low, low_name) = part(low, "low");
        let (high, high_name) = part(high, "high");
        let (error, error_name) = part(error, "error");
        shown.extend([low, own, high, error]);
        carried
            .bounds
            .push((name, [low_name, high_name, error_name]));
    }
    if let Some(share) = &input.carried.share {
        let name = Column::new_unqualified(&share.name);
        let shown_share = Expr::Column(share.clone());
        shown.push(shown_share.alias_qualified(None::<TableReference>, &name.name));
        carried.share = Some(name);
    }
    let plan = LogicalPlanBuilder::from(input.plan).project(shown);
    let plan = plan.and_then(LogicalPlanBuilder::build);
    Ok(Rewritten {
        plan: plan.map_err(SqlError::planning)?,
        carried,
        ..input
    })
}

/// The plan without what it carries: the columns of `written` alone.
fn stripped(rewritten: Rewritten, written: &LogicalPlan) -> Result<LogicalPlan, SqlError> {
    if rewritten.carried.is_empty() {
        return Ok(rewritten.plan);
    }
    let columns = written.schema().columns().into_iter().map(Expr::Column);
    let plan = LogicalPlanBuilder::from(rewritten.plan).project(columns);
    plan.and_then(LogicalPlanBuilder::build)
        .map_err(SqlError::planning)
}

/// A step in a word.
fn step(plan: &LogicalPlan) -> &'static str {
    match plan {
        LogicalPlan::Aggregate(_) => "a total",
        LogicalPlan::Distinct(_) => "DISTINCT",
        LogicalPlan::Window(_) => "a window function",
        LogicalPlan::Union(_) => "UNION",
        LogicalPlan::Join(_) => "a join",
        _ => "a step of the query",
    }
}
