//! Queries that PostgreSQL's tools send, in the SQL that the engine knows: operators and types with names of
//! PostgreSQL's, and what asks tables that are always empty.
//!
//! An empty table joined to others leaves nothing, a query of nothing is NULL where one value is meant, and nothing
//! exists in it: such parts are answered here, whatever they would compute.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList,
    FunctionArguments, GroupByExpr, Ident, JoinOperator, ObjectName, ObjectNamePart, Query, Select,
    SelectItem, SetExpr, Statement, TableFactor, TableWithJoins, Value, VisitMut, VisitorMut,
};
use hedgerow::query::AskError;

use super::super::control::known;
use super::super::kind::is_catalog;
use super::Asker;
use super::tables::{RELATION, is_empty, is_known};
use crate::error::SqlError;

/// Functions of many rows, which have an answer of no rows.
const AGGREGATES: [&str; 9] = [
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "bool_or",
    "bool_and",
    "array_agg",
    "string_agg",
];

/// Rewrites a query.
pub(super) fn rewrite(
    statement: &mut Statement,
    database: &str,
    asker: &Asker,
) -> Result<(), SqlError> {
    let with = Vec::new();
    let mut rewriter = Rewriter {
        database,
        asker,
        with,
    };
    match VisitMut::visit(statement, &mut rewriter) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Rewriter<'r> {
    database: &'r str,
    asker: &'r Asker,
    /// The names of WITH queries.
    with: Vec<String>,
}

impl VisitorMut for Rewriter<'_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<SqlError> {
        if let Some(with) = &query.with {
            let names = with.cte_tables.iter();
            let names = names.map(|cte| cte.alias.name.value.to_ascii_lowercase());
            self.with.extend(names);
        }
        if let SetExpr::Select(select) = query.body.as_mut()
            && is_nothing(select)
        {
            (query.order_by, query.limit_clause) = (None, None);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<SqlError> {
        if select.into.is_some() {
            let refused = SqlError::not_answered("SELECT INTO", "this server only reads");
            return ControlFlow::Break(refused);
        }
        name_columns(select);
        if is_nothing(select) {
            empty(select);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<SqlError> {
        let Some(last) = last(name) else {
            return ControlFlow::Continue(());
        };
        let is_with = name.0.len() == 1 && self.with.contains(&last);
        let (schema, table) = place(name);
        if is_with || is_known(&schema, &table) && is_catalog(name) {
            return ControlFlow::Continue(());
        }
        let refused = match last.eq_ignore_ascii_case(self.database) {
            true => SqlError::not_answered(
                "the study's table together with PostgreSQL's catalog",
                "ask one after the other",
            ),
            false => SqlError::Refused(AskError::NoTable {
                table: name.to_string(),
                known: self.database.to_owned(),
            }),
        };
        ControlFlow::Break(refused)
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<SqlError> {
        let replaced = match expression {
            Expr::Subquery(query) if is_null(query) => Some(Value::Null),
            Expr::Exists { subquery, negated } if is_query_of_nothing(subquery) => {
                Some(Value::Boolean(*negated))
            }
            // ARRAY(SELECT …) of nothing.
            Expr::Function(Function {
                args: FunctionArguments::Subquery(query),
                ..
            }) if is_null(query) => Some(Value::Null),
            _ => None,
        };
        if let Some(value) = replaced {
            *expression = Expr::value(value);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<SqlError> {
        match self.replaced(expression) {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(other)) => {
                *expression = other;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

impl Rewriter<'_> {
    fn replaced(&self, expression: &mut Expr) -> Result<Option<Expr>, SqlError> {
        match expression {
            Expr::BinaryOp { op, .. } => {
                if let BinaryOperator::PGCustomBinaryOperator(parts) = op
                    && let Some(own) = parts.last().and_then(|sign| operator(sign))
                {
                    *op = own;
                }
                Ok(None)
            }
            Expr::Collate { expr, .. } => Ok(Some(expr.as_ref().clone())),
            Expr::Identifier(name) if name.quote_style.is_none() => {
                let is_schema = name.value.eq_ignore_ascii_case("current_schema");
                Ok(is_schema.then(|| text("public")))
            }
            Expr::AnyOp {
                left,
                compare_op: BinaryOperator::Eq,
                right,
                ..
            } => Ok(one_of(left, right, false)),
            Expr::AllOp {
                left,
                compare_op: BinaryOperator::NotEq,
                right,
            } => Ok(one_of(left, right, true)),
            Expr::Cast {
                expr, data_type, ..
            } => self.cast(expr, data_type),
            Expr::Function(function) => self.function(function),
            // The first of current_schemas(…), as JDBC asks for it.
            Expr::CompoundFieldAccess { root, .. } => Ok(match bare(root) {
                Expr::Function(function)
                    if last(&function.name).as_deref() == Some("current_schemas") =>
                {
                    Some(text("pg_catalog"))
                }
                _ => None,
            }),
            _ => Ok(None),
        }
    }

    /// A cast to a type of PostgreSQL's catalog.
    fn cast(&self, inner: &mut Expr, of: &mut DataType) -> Result<Option<Expr>, SqlError> {
        let name = of.to_string().to_ascii_lowercase().replace('"', "");
        let name = name.strip_prefix("pg_catalog.").unwrap_or(&name);
        let is_custom = matches!(of, DataType::Custom(..) | DataType::Regclass);
        match name {
            _ if !is_custom => Ok(None),
            "oid" | "xid" | "cid" => {
                *of = DataType::Integer(None);
                Ok(None)
            }
            "regclass" => match written(inner) {
                Some(table) => self.number_of(&table).map(Some),
                None => Ok(Some(call("hedgerow_relation", vec![inner.clone()]))),
            },
            "regtype" => Ok(Some(match written(inner) {
                Some(_) => inner.clone(),
                None => call("format_type", vec![inner.clone()]),
            })),
            "int2" | "int4" | "int8" | "float4" | "float8" | "bool" | "numeric" => {
                let of = match name {
                    "bool" => DataType::Boolean,
                    "float4" | "float8" | "numeric" => DataType::DoublePrecision,
                    _ => DataType::BigInt(None),
                };
                Ok(Some(cast(inner.clone(), of)))
            }
            _ => {
                *of = DataType::Text;
                Ok(None)
            }
        }
    }

    /// The number of a table by its name.
    fn number_of(&self, table: &str) -> Result<Expr, SqlError> {
        let name = table.replace('"', "");
        let bare = name.rsplit('.').next().unwrap_or(&name);
        let number = match bare {
            own if own.eq_ignore_ascii_case(self.database) => RELATION,
            "pg_type" => 1247,
            "pg_attribute" => 1249,
            "pg_proc" => 1255,
            "pg_class" => 1259,
            "pg_database" => 1262,
            "pg_constraint" => 2606,
            "pg_namespace" => 2615,
            other => match other.parse() {
                Ok(number) => number,
                Err(_) => {
                    return Err(SqlError::Refused(AskError::NoTable {
                        table: table.to_owned(),
                        known: self.database.to_owned(),
                    }));
                }
            },
        };
        Ok(Expr::value(Value::Number(number.to_string(), false)))
    }

    fn function(&self, function: &mut Function) -> Result<Option<Expr>, SqlError> {
        let Some(name) = last(&function.name) else {
            return Ok(None);
        };
        if function.name.0.len() > 1 && place(&function.name).0 == "pg_catalog" {
            function.name = ObjectName::from(Ident::new(&name));
        }
        Ok(match name.as_str() {
            "current_user" | "session_user" | "user" | "current_role" => {
                Some(text(&self.asker.user))
            }
            "current_catalog" => Some(text(self.database)),
            "pg_backend_pid" => {
                let number = self.asker.process.to_string();
                Some(Expr::value(Value::Number(number, false)))
            }
            // Of constants; the function itself is not there.
            "replace" => {
                let words = arguments(function).into_iter().map(written);
                match words.collect::<Option<Vec<_>>>().as_deref() {
                    Some([whole, old, new])
                        if !old.is_empty() && whole.len() * new.len() < 4096 =>
                    {
                        Some(text(&whole.replace(old.as_str(), new)))
                    }
                    _ => None,
                }
            }
            "current_setting" => {
                let setting = arguments(function).first().and_then(|name| written(name));
                match setting.as_deref().and_then(known) {
                    Some(name) => Some(text(&self.asker.settings.get(name))),
                    None if arguments(function).len() > 1 => Some(Expr::value(Value::Null)),
                    None => {
                        let what = format!("the setting {}", setting.unwrap_or_default());
                        return Err(SqlError::not_answered(
                            what,
                            "SHOW ALL is not answered either",
                        ));
                    }
                }
            }
            _ => None,
        })
    }
}

/// Whether a query has no rows, since it has one part, which joins an empty table.
fn is_query_of_nothing(query: &Query) -> bool {
    matches!(query.body.as_ref(), SetExpr::Select(select) if is_nothing(select))
}

/// Whether a query for one value has none: of no rows there is no total but a count.
fn is_null(query: &Query) -> bool {
    match query.body.as_ref() {
        SetExpr::Select(select) => {
            let counts = select.projection.iter();
            let mut counts = counts.map(|item| item.to_string().to_ascii_lowercase());
            is_nothing(select)
                || select.from.iter().any(joins_nothing)
                    && counts.all(|item| !item.contains("count("))
        }
        _ => false,
    }
}

/// Whether a part of a query has no rows, since it joins a table of the catalog that is always empty.
fn is_nothing(select: &Select) -> bool {
    let has_all = select.projection.iter().any(|item| {
        matches!(
            item,
            SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)
        )
    });
    let has_answer = select.projection.iter().any(|item| match item {
        SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..) => true,
        SelectItem::UnnamedExpr(expression) => has_aggregate(expression),
        SelectItem::ExprWithAlias { expr, .. } => has_aggregate(expr),
        _ => true,
    });
    let is_grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    select.from.iter().any(joins_nothing) && (is_grouped && !has_all || !has_answer)
}

/// Whether tables that are joined leave no row.
fn joins_nothing(from: &TableWithJoins) -> bool {
    let is_outer = |operator: &JoinOperator| {
        matches!(
            operator,
            JoinOperator::Right(_) | JoinOperator::RightOuter(_) | JoinOperator::FullOuter(_)
        )
    };
    let has_outer = from.joins.iter().any(|join| is_outer(&join.join_operator));
    let inner = from.joins.iter().filter(|join| {
        matches!(
            join.join_operator,
            JoinOperator::Join(_) | JoinOperator::Inner(_) | JoinOperator::CrossJoin(_)
        )
    });
    let mut all = [&from.relation]
        .into_iter()
        .chain(inner.map(|join| &join.relation));
    !has_outer && all.any(is_empty_factor)
}

/// Whether one of the tables of a join has no row.
fn is_empty_factor(factor: &TableFactor) -> bool {
    let is_column = |expression: &Expr| {
        matches!(
            bare(expression),
            Expr::Identifier(_) | Expr::CompoundIdentifier(_)
        )
    };
    match factor {
        TableFactor::Table {
            name, args: None, ..
        } if is_catalog(name) => {
            let (schema, table) = place(name);
            is_empty(&schema, &table)
        }
        // No column of the catalog holds a list.
        TableFactor::Table {
            name,
            args: Some(given),
            ..
        } if last(name).as_deref() == Some("unnest") => given.args.iter().all(|argument| {
            matches!(argument, FunctionArg::Unnamed(FunctionArgExpr::Expr(own)) if is_column(own))
        }),
        TableFactor::UNNEST { array_exprs, .. } => array_exprs.iter().all(is_column),
        TableFactor::Derived { subquery, .. } => is_query_of_nothing(subquery),
        TableFactor::NestedJoin {
            table_with_joins, ..
        } => joins_nothing(table_with_joins),
        _ => false,
    }
}

/// Whether an expression has an answer of no rows, or may have one.
fn has_aggregate(expression: &Expr) -> bool {
    match expression {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) => false,
        // What a query inside counts are rows of its own.
        Expr::Subquery(_) | Expr::Exists { .. } => false,
        Expr::Nested(inner) => has_aggregate(inner),
        Expr::Cast { expr, .. } | Expr::Collate { expr, .. } => has_aggregate(expr),
        Expr::BinaryOp { left, right, .. } | Expr::AnyOp { left, right, .. } => {
            has_aggregate(left) || has_aggregate(right)
        }
        Expr::Case {
            operand,
            conditions,
            else_result,
            ..
        } => {
            let whens = conditions
                .iter()
                .flat_map(|when| [&when.condition, &when.result]);
            let others = operand.iter().chain(else_result).map(AsRef::as_ref);
            whens.chain(others).any(has_aggregate)
        }
        other => {
            let text = other.to_string().to_ascii_lowercase();
            let mut names = AGGREGATES.iter();
            names.any(|name| text.contains(&format!("{name}(")))
        }
    }
}

/// Leaves nothing of a part of a query but the names of its columns.
fn empty(select: &mut Select) {
    for item in &mut select.projection {
        let alias = match item {
            SelectItem::ExprWithAlias { alias, .. } => alias.clone(),
            SelectItem::UnnamedExpr(expression) => Ident::with_quote('"', column_name(expression)),
            _ => continue,
        };
        let expr = cast(Expr::value(Value::Null), DataType::Text);
        *item = SelectItem::ExprWithAlias { expr, alias };
    }
    select.from.clear();
    select.selection = Some(Expr::value(Value::Boolean(false)));
    select.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
    (select.having, select.distinct) = (None, None);
}

/// Names the columns that have no name as PostgreSQL does, each one differently.
fn name_columns(select: &mut Select) {
    let mut taken: Vec<String> = Vec::new();
    for item in &mut select.projection {
        let (name, is_plain) = match item {
            SelectItem::UnnamedExpr(expression) => (
                column_name(expression),
                matches!(
                    expression,
                    Expr::Identifier(_) | Expr::CompoundIdentifier(_)
                ),
            ),
            SelectItem::ExprWithAlias { alias, .. } => (alias.value.clone(), true),
            _ => continue,
        };
        let mut own = name.clone();
        let mut further = 1;
        while taken.contains(&own) {
            own = format!("{name}{further}");
            further += 1;
        }
        let is_twice = own != name;
        taken.push(own.clone());
        let alias = Ident::with_quote('"', own);
        match item {
            SelectItem::UnnamedExpr(expression) if !is_plain || is_twice => {
                let expr = expression.clone();
                *item = SelectItem::ExprWithAlias { expr, alias };
            }
            SelectItem::ExprWithAlias { alias: old, .. } if is_twice => *old = alias,
            _ => {}
        }
    }
}

fn column_name(expression: &Expr) -> String {
    match expression {
        Expr::Identifier(name) => name.value.clone(),
        Expr::CompoundIdentifier(names) => names
            .last()
            .map(|name| name.value.clone())
            .unwrap_or_default(),
        Expr::Function(function) => last(&function.name).unwrap_or_default(),
        Expr::Cast { expr, .. } | Expr::Collate { expr, .. } | Expr::Nested(expr) => {
            column_name(expr)
        }
        Expr::Case { .. } => String::from("case"),
        _ => String::from("?column?"),
    }
}

/// `x = ANY (…)` and `x <> ALL (…)` of values that are written out.
fn one_of(left: &Expr, right: &Expr, negated: bool) -> Option<Expr> {
    let list = match bare(right) {
        Expr::Array(array) => array.elem.clone(),
        Expr::Function(function) if last(&function.name)? == "current_schemas" => {
            let all = matches!(arguments(function).first().map(|first| bare(first)), Some(Expr::Value(value)) if value.value == Value::Boolean(true));
            let schemas = ["pg_catalog", "public"];
            schemas[usize::from(!all)..]
                .iter()
                .map(|name| text(name))
                .collect()
        }
        other => {
            let text = written(other)?;
            let inside = text.strip_prefix('{')?.strip_suffix('}')?;
            let parts = inside.split(',').filter(|part| !part.is_empty());
            parts
                .map(|part| self::text(part.trim_matches('"')))
                .collect()
        }
    };
    if list.is_empty() {
        return Some(Expr::value(Value::Boolean(negated)));
    }
    let expr = Box::new(left.clone());
    Some(Expr::InList {
        expr,
        list,
        negated,
    })
}

fn operator(sign: &str) -> Option<BinaryOperator> {
    Some(match sign {
        "~" => BinaryOperator::PGRegexMatch,
        "!~" => BinaryOperator::PGRegexNotMatch,
        "~*" => BinaryOperator::PGRegexIMatch,
        "!~*" => BinaryOperator::PGRegexNotIMatch,
        "~~" => BinaryOperator::PGLikeMatch,
        "!~~" => BinaryOperator::PGNotLikeMatch,
        "=" => BinaryOperator::Eq,
        "<>" => BinaryOperator::NotEq,
        "||" => BinaryOperator::StringConcat,
        _ => return None,
    })
}

/// An expression without casts and parentheses.
fn bare(expression: &Expr) -> &Expr {
    match expression {
        Expr::Cast { expr, .. } | Expr::Nested(expr) => bare(expr),
        other => other,
    }
}

/// The text of a constant.
fn written(expression: &Expr) -> Option<String> {
    match bare(expression) {
        Expr::Value(value) => value.value.clone().into_string(),
        _ => None,
    }
}

fn arguments(function: &Function) -> Vec<&Expr> {
    let FunctionArguments::List(list) = &function.args else {
        return Vec::new();
    };
    let all = list.args.iter().filter_map(|argument| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => Some(expression),
        _ => None,
    });
    all.collect()
}

fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    let args = arguments
        .into_iter()
        .map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)))
        .collect();
    Expr::Function(Function {
        name: ObjectName::from(Ident::new(name)),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args,
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

fn cast(inner: Expr, data_type: DataType) -> Expr {
    Expr::Cast {
        kind: datafusion::sql::sqlparser::ast::CastKind::Cast,
        expr: Box::new(inner),
        data_type,
        array: false,
        format: None,
    }
}

fn text(value: &str) -> Expr {
    Expr::value(Value::SingleQuotedString(value.to_owned()))
}

/// The last part of a name, as SQL folds it.
fn last(name: &ObjectName) -> Option<String> {
    let last = name.0.last().and_then(ObjectNamePart::as_ident)?;
    Some(last.value.to_ascii_lowercase())
}

/// The schema and the table of a name.
fn place(name: &ObjectName) -> (String, String) {
    let parts: Vec<String> = name
        .0
        .iter()
        .filter_map(ObjectNamePart::as_ident)
        .map(|part| part.value.to_ascii_lowercase())
        .collect();
    match parts.as_slice() {
        [.., schema, table] => (schema.clone(), table.clone()),
        [table] => (String::from("pg_catalog"), table.clone()),
        [] => Default::default(),
    }
}
