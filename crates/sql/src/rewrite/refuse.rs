//! What has no sound answer in the place where it stands: a comparison with, or a number from, a cell that
//! stands for several values.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, Operator};

use super::cells::{is_made_of, of_plan, shows_text};
use super::functions::{Marked, marked};
use super::words::words;
use crate::error::SqlError;

/// Refuses an expression in which a column of cells (`is_cells`), or what is made of one, stands where a value
/// is needed. Inside
/// `certain(p)`, `possible(p)` and `share(p)` everything may stand; `allows_judged` says whether these may.
pub(super) fn refuse_uncertain(
    expression: &Expr,
    is_cells: &dyn Fn(&Expr) -> bool,
    allows_judged: bool,
) -> Result<(), SqlError> {
    let mut refused = None;
    let walked = expression.apply(|part| {
        if let Some((Marked::Judged(_), _)) = marked(part) {
            if !allows_judged {
                refused = Some(not_here(part));
                return Ok(TreeNodeRecursion::Stop);
            }
            return Ok(TreeNodeRecursion::Jump);
        }
        refused = refusal(part, is_cells);
        Ok(match refused.is_some() {
            true => TreeNodeRecursion::Stop,
            false => TreeNodeRecursion::Continue,
        })
    });
    walked.map_err(SqlError::planning)?;
    refused.map_or(Ok(()), Err)
}

fn refusal(part: &Expr, is_cells: &dyn Fn(&Expr) -> bool) -> Option<SqlError> {
    let cells = |inner: &Expr| is_made_of(inner, is_cells).then(|| name(inner, is_cells));
    match part {
        Expr::BinaryExpr(binary) => {
            let both = (cells(&binary.left), cells(&binary.right));
            // Two cells that are printed alike are told to be equal, as in joins of groups.
            if both.0.is_some() && both.1.is_some() && binary.op == Operator::Eq {
                return None;
            }
            let column = both.0.or(both.1)?;
            match binary.op {
                Operator::StringConcat => None,
                Operator::Plus
                | Operator::Minus
                | Operator::Multiply
                | Operator::Divide
                | Operator::Modulo => Some(no_number(part, &column)),
                _ => Some(no_truth(part)),
            }
        }
        Expr::Between(between) => [&between.expr, &between.low, &between.high]
            .into_iter()
            .find_map(|inner| cells(inner))
            .map(|_| no_truth(part)),
        Expr::InList(list) => std::iter::once(list.expr.as_ref())
            .chain(&list.list)
            .find_map(cells)
            .map(|_| no_truth(part)),
        Expr::Like(like) | Expr::SimilarTo(like) => [&like.expr, &like.pattern]
            .into_iter()
            .find_map(|inner| cells(inner))
            .map(|_| no_truth(part)),
        Expr::IsNull(inner) | Expr::IsNotNull(inner) => cells(inner).map(|_| no_truth(part)),
        Expr::InSubquery(inside) => {
            let of_query = || of_plan(&inside.subquery.subquery).contains(&true);
            (cells(&inside.expr).is_some() || of_query()).then(|| no_truth(part))
        }
        Expr::Negative(inner) => cells(inner).map(|column| no_number(part, &column)),
        Expr::Case(case) => {
            let operand = case.expr.as_ref()?;
            cells(operand).map(|_| no_truth(operand))
        }
        Expr::Cast(cast) if !cast.field.data_type().is_string() => {
            cells(&cast.expr).map(|column| no_number(part, &column))
        }
        Expr::TryCast(cast) if !cast.field.data_type().is_string() => {
            cells(&cast.expr).map(|column| no_number(part, &column))
        }
        Expr::ScalarFunction(call) => {
            let compares = ["greatest", "least", "nullif"].contains(&call.func.name());
            let column = call.args.iter().find_map(cells)?;
            match marked(part) {
                Some((Marked::Under, _)) => Some(no_truth(part)),
                _ if compares => Some(no_number(part, &column)),
                _ => None,
            }
        }
        Expr::AggregateFunction(call) => {
            let column = call.params.args.iter().find_map(cells)?;
            let is_text = shows_text(call.func.name()) && !call.params.distinct;
            (!is_text).then(|| no_total(part, call.func.name(), &column))
        }
        Expr::WindowFunction(call) => {
            // An order of texts is no order of values.
            let mut order = call.params.order_by.iter();
            if let Some(column) = order.find_map(|by| cells(&by.expr)) {
                return Some(no_number(part, &column));
            }
            let column = call.params.args.iter().find_map(cells)?;
            let is_text = shows_text(call.fun.name());
            (!is_text).then(|| no_total(part, call.fun.name(), &column))
        }
        _ => None,
    }
}

/// An expression without the casts and names around it.
pub(super) fn plain(expression: &Expr) -> &Expr {
    match expression {
        Expr::Alias(alias) => plain(&alias.expr),
        Expr::Cast(cast) => plain(&cast.expr),
        Expr::TryCast(cast) => plain(&cast.expr),
        other => other,
    }
}

/// The column of cells in an expression.
fn name(expression: &Expr, is_cells: &dyn Fn(&Expr) -> bool) -> String {
    let columns = expression.column_refs();
    let found = columns
        .into_iter()
        .find(|column| is_cells(&Expr::Column((*column).clone())));
    found.map_or_else(|| words(expression), |column| column.name.clone())
}

/// Refuses to hold cells against values in a join.
pub(super) fn no_join(left: &Expr, right: &Expr) -> SqlError {
    let text = format!("{} = {}", words(left), words(right));
    SqlError::not_answered(
        format!("a join by `{text}`, which holds for some values of a cell and not for others,"),
        "join cells with cells as they are printed, or values with values",
    )
}

fn no_truth(part: &Expr) -> SqlError {
    let text = words(part);
    SqlError::not_answered(
        format!("`{text}`, which holds for some values of a cell and not for others,"),
        format!(
            "here write certain({text}), possible({text}) or share({text}) beside the table, or put it into WHERE"
        ),
    )
}

fn no_number(part: &Expr, column: &str) -> SqlError {
    SqlError::not_answered(
        format!(
            "`{}`, since a cell of `{column}` stands for several values,",
            words(part)
        ),
        format!("use {column}_low and {column}_high where `{column}` holds numbers or dates"),
    )
}

fn no_total(part: &Expr, function: &str, column: &str) -> SqlError {
    let instead = match function {
        "min" | "max" => format!(
            "{function}({column}_low) and {function}({column}_high) are its bounds where `{column}` holds numbers or dates"
        ),
        _ => String::from("count(*), count(x), sum(x) and avg(x) have bounds"),
    };
    let what = format!(
        "`{}`, since a cell of `{column}` stands for several values,",
        words(part)
    );
    SqlError::not_answered(what, instead)
}

fn not_here(part: &Expr) -> SqlError {
    SqlError::not_answered(
        format!("`{}` in this place", words(part)),
        "write it in a SELECT that reads the table itself, without LIMIT, DISTINCT or a total between",
    )
}
