//! Which statements are answered, and names as SQL folds them.

use std::ops::ControlFlow;

use datafusion::sql::parser::{DFParserBuilder, Statement};
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, Query, Select, SelectItem, Set, SetExpr,
    Statement as Sql, TableAlias, TableFactor, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::Token;
use hedgerow::query::{AskError, Names, clause_of, tokens};
use hedgerow_data::{nearest, quoted_list};
use hedgerow_protocols::query::QuestionError;

use super::weights::Weights;
use crate::error::SqlError;
use crate::mode::Mode;
use crate::table::StudyTable;

/// The most conditions that a statement may join: plans nest as deep as chains are long.
const MOST_COMPARISONS: usize = 400;
/// The session's one setting.
const SETTING: &str = "hedgerow.answer";
/// What is answered, for who asks for something else.
const ANSWERED: &str = "SELECT, WITH, EXPLAIN, SHOW and SET hedgerow.answer = 'estimate' | 'certain' | 'possible' | 'bounds' are answered";

/// A statement that is answered.
pub(super) enum Asked {
    Query(Box<Statement>),
    Set(Mode),
    Show,
}

/// Reads a statement; anything that is not answered is refused by name.
pub(super) fn read(sql: &str, table: &StudyTable) -> Result<Asked, SqlError> {
    // What is too long or too deep is refused before the parser sees it.
    let tokens = tokens(sql)?;
    let comparisons = 1 + tokens.iter().filter(|token| joins(&token.token)).count();
    if comparisons > MOST_COMPARISONS {
        let most = MOST_COMPARISONS;
        let error = QuestionError::TooManyComparisons { comparisons, most };
        return Err(SqlError::Refused(error.into()));
    }
    let syntax = |error: datafusion::error::DataFusionError| AskError::Syntax {
        reason: error.strip_backtrace().replace("SQL error: ", ""),
    };
    let mut parser = DFParserBuilder::new(sql)
        .with_dialect(&PostgreSqlDialect {})
        .build()
        .map_err(syntax)?;
    let mut statements = parser.parse_statements().map_err(syntax)?;
    let statement = match (statements.len(), statements.pop_front()) {
        (1, Some(statement)) => statement,
        (0, _) => {
            return Err(SqlError::not_answered("an empty statement", ANSWERED));
        }
        (several, _) => {
            let what = format!("{several} statements at once");
            return Err(SqlError::not_answered(what, "send one after the other"));
        }
    };
    if let Statement::Statement(inner) = &statement
        && let Some(asked) = setting(inner)?
    {
        return Ok(asked);
    }
    let mut statement = statement;
    prepared(&mut statement, table)?;
    Ok(Asked::Query(Box::new(statement)))
}

/// Whether a word joins conditions.
fn joins(token: &Token) -> bool {
    matches!(token, Token::Word(word) if matches!(word.keyword, Keyword::AND | Keyword::OR))
}

/// `SET` and `SHOW` of the session's setting.
fn setting(statement: &Sql) -> Result<Option<Asked>, SqlError> {
    match statement {
        Sql::Set(Set::SingleAssignment {
            variable, values, ..
        }) if variable.to_string().eq_ignore_ascii_case(SETTING) => {
            let [value] = values.as_slice() else {
                return Err(SqlError::not_answered("several values", ANSWERED));
            };
            let text = match value {
                Expr::Value(value) => value.value.clone().into_string(),
                Expr::Identifier(name) => Some(name.value.clone()),
                _ => None,
            };
            let text = text.unwrap_or_else(|| value.to_string());
            match text.parse::<Mode>() {
                Ok(mode) => Ok(Some(Asked::Set(mode))),
                Err(what) => Err(SqlError::not_answered(what, ANSWERED)),
            }
        }
        Sql::ShowVariable { variable } => {
            let name: Vec<&str> = variable.iter().map(|part| part.value.as_str()).collect();
            let is_ours = name.join(".").eq_ignore_ascii_case(SETTING);
            Ok(is_ours.then_some(Asked::Show))
        }
        _ => Ok(None),
    }
}

/// Sees that a statement only reads, and makes names in it exact.
fn prepared(statement: &mut Statement, table: &StudyTable) -> Result<(), SqlError> {
    let refused = |verb: &str| SqlError::not_answered(format!("the statement {verb}"), ANSWERED);
    match statement {
        Statement::Explain(explain) => prepared(&mut explain.statement, table),
        Statement::Statement(inner) => match inner.as_mut() {
            Sql::Query(query) => named(query, table),
            Sql::Explain { statement, .. } => match statement.as_mut() {
                Sql::Query(query) => named(query, table),
                other => Err(refused(&verb(&other.to_string()))),
            },
            Sql::ShowTables { .. }
            | Sql::ShowColumns { .. }
            | Sql::ShowVariable { .. }
            | Sql::ExplainTable { .. } => Ok(()),
            other => Err(refused(&verb(&other.to_string()))),
        },
        other => Err(refused(&verb(&other.to_string()))),
    }
}

/// The first words of a statement, without what it speaks of.
fn verb(text: &str) -> String {
    let words = text.split_whitespace();
    let capitals = words.take_while(|word| word.chars().all(|letter| letter.is_ascii_uppercase()));
    capitals.take(3).collect::<Vec<_>>().join(" ")
}

fn named(query: &mut Query, table: &StudyTable) -> Result<(), SqlError> {
    let mut naming = Naming {
        table,
        with: Vec::new(),
        weights: Weights::default(),
    };
    match VisitMut::visit(query, &mut naming) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Makes the names of a query exact: columns and the table in the study's spelling, totals under the name
/// of their function.
struct Naming<'t> {
    table: &'t StudyTable,
    /// The names of WITH queries.
    with: Vec<String>,
    weights: Weights,
}

impl Naming<'_> {
    /// A name in the study's spelling, where SQL would fold it to another.
    fn spell(&self, name: &mut Ident) {
        if name.quote_style.is_some() {
            return;
        }
        let columns = self.table.columns().iter();
        let mut known = columns
            .map(|column| column.field.name().as_str())
            .chain([self.table.source().name()]);
        let folded = name.value.to_ascii_lowercase();
        if let Some(own) = known.find(|own| own.eq_ignore_ascii_case(&name.value))
            && *own != folded
        {
            *name = Ident::with_quote('"', own);
        }
    }

    /// The columns that a table gets by an alias such as `t(a, b)`.
    fn columns_of(&self, alias: &mut Option<TableAlias>) {
        let columns = alias.iter_mut().flat_map(|alias| &mut alias.columns);
        columns.for_each(|column| self.spell(&mut column.name));
    }

    fn table_name(&self, name: &mut ObjectName) -> Result<(), SqlError> {
        let parts = name.0.len();
        let schema = match parts {
            0 | 1 => None,
            _ => name.0[parts - 2].as_ident().map(|part| part.value.clone()),
        };
        if schema.is_some_and(|schema| !schema.eq_ignore_ascii_case("public")) {
            return Ok(());
        }
        let Some(ObjectNamePart::Identifier(last)) = name.0.last_mut() else {
            return Ok(());
        };
        let own = self.table.source().name();
        let is_own = match last.quote_style {
            None => last.value.eq_ignore_ascii_case(own),
            Some(_) => last.value == own,
        };
        let is_with = |with: &String| with.eq_ignore_ascii_case(&last.value);
        if parts == 1 && self.with.iter().any(is_with) {
            return Ok(());
        }
        if !is_own {
            return Err(SqlError::Refused(AskError::NoTable {
                table: last.value.clone(),
                known: own.to_owned(),
            }));
        }
        *last = Ident::with_quote('"', own);
        Ok(())
    }

    fn select(&self, select: &mut Select) -> Result<(), SqlError> {
        if select.into.is_some() {
            return Err(SqlError::not_answered("SELECT INTO", ANSWERED));
        }
        // A name that is given is spelled like the column of that name, so that both are found by one name.
        for item in &mut select.projection {
            if let SelectItem::ExprWithAlias { alias, .. } = item {
                self.spell(alias);
            }
        }
        let implied = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(Expr::Function(function)) => {
                Some(function.name.to_string().to_lowercase())
            }
            SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(name.value.clone()),
            SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => {
                names.last().map(|name| name.value.clone())
            }
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
            _ => None,
        };
        let names: Vec<Option<String>> = select.projection.iter().map(implied).collect();
        let has_all = select.projection.iter().any(|item| {
            matches!(
                item,
                SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)
            )
        });
        for (item, name) in select.projection.iter_mut().zip(&names) {
            let Some(name) = name else { continue };
            let count = names
                .iter()
                .flatten()
                .filter(|other| *other == name)
                .count();
            let is_column = has_all && self.table.column(name).is_some();
            if let SelectItem::UnnamedExpr(expression @ Expr::Function(_)) = item
                && count == 1
                && !is_column
            {
                *item = SelectItem::ExprWithAlias {
                    expr: expression.clone(),
                    alias: Ident::with_quote('"', name),
                };
            }
        }
        Ok(())
    }

    fn body(&self, body: &mut SetExpr) -> Result<(), SqlError> {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left)?;
                self.body(right)
            }
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => {
                Err(SqlError::not_answered(
                    format!("the statement {}", verb(&body.to_string())),
                    ANSWERED,
                ))
            }
            _ => Ok(()),
        }
    }
}

impl VisitorMut for Naming<'_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<SqlError> {
        if !query.locks.is_empty() {
            return ControlFlow::Break(SqlError::not_answered("FOR UPDATE", ANSWERED));
        }
        if let Some(with) = &mut query.with {
            if with.recursive {
                let instead = "write a WITH query that does not speak of itself";
                return ControlFlow::Break(SqlError::not_answered("WITH RECURSIVE", instead));
            }
            for cte in &mut with.cte_tables {
                self.with.push(cte.alias.name.value.clone());
                let columns = cte.alias.columns.iter_mut();
                columns.for_each(|column| self.spell(&mut column.name));
            }
        }
        self.weights.begin(query);
        match self.body(&mut query.body) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<SqlError> {
        match self.weights.end() {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<SqlError> {
        self.weights.table(factor);
        let clause = clause_of(factor);
        let refused = match factor {
            TableFactor::Table { .. } if clause.is_some() => clause,
            TableFactor::Table { name, alias, .. } => {
                self.columns_of(alias);
                return match self.table_name(name) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => ControlFlow::Break(error),
                };
            }
            TableFactor::Derived {
                sample: Some(_), ..
            } => Some(String::from("TABLESAMPLE of a query")),
            TableFactor::Derived { alias, .. } | TableFactor::NestedJoin { alias, .. } => {
                self.columns_of(alias);
                None
            }
            other => Some(format!("`{other}` in place of a table")),
        };
        match refused {
            None => ControlFlow::Continue(()),
            Some(what) => ControlFlow::Break(SqlError::not_answered(
                what,
                format!("the table is \"{}\"", self.table.source().name()),
            )),
        }
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<SqlError> {
        match expression {
            Expr::Identifier(name) => self.spell(name),
            Expr::CompoundIdentifier(names) => names.iter_mut().for_each(|name| self.spell(name)),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

/// The refusal of a column that is not there, with the nearest names; a column of the study that the table
/// does not show is told why.
pub(super) fn no_column(column: &str, table: &StudyTable) -> SqlError {
    let source = table.source();
    let names = Names::new(source.schema(), source.name());
    if source.schema().position(column).is_some()
        && let Err(error) = names.column(&Ident::new(column))
    {
        return SqlError::Refused(error);
    }
    let names = || {
        table
            .columns()
            .iter()
            .map(|column| column.field.name().as_str())
    };
    let near = nearest(column, names(), 3);
    let hint = match near.is_empty() {
        true => format!("the columns are {}", quoted_list(names())),
        false => format!("did you mean {}?", quoted_list(&near)),
    };
    SqlError::Refused(AskError::NoColumn {
        column: column.to_owned(),
        hint,
    })
}
