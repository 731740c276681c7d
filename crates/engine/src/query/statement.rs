//! `SELECT` of SQL as questions, and their answers as a table.
//!
//! Read here: counts, sums and averages, `WHERE`, `GROUP BY`, and rows. All other SQL is the SQL engine's,
//! which reads conditions by the same code.

use std::sync::Arc;

use hedgerow_data::{Cell, Role, Schema};
use hedgerow_protocols::query::{
    Answer, Answered, Condition, Group, MOST_TOTALS, Measured, Question, Total,
};
use serde_json::{Value, json};
use sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Select,
    SelectItem, SetExpr, Statement as Parsed, TableFactor,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, TokenWithSpan, Tokenizer};

use super::condition::{Names, arguments, is_same};
use super::error::AskError;
use super::mean::extremes;
use super::table::Answers;

/// The most bytes of a statement.
const MOST_BYTES: usize = 1 << 16;
/// The most words, signs and spaces of a statement.
const MOST_TOKENS: usize = 16_384;
/// The most parentheses inside each other.
const MOST_NESTED: usize = 12;
/// The most operators, other than `AND` and `OR`, that apply to each other's results: expressions nest as deep
/// as chains are long.
const MOST_CHAINED: usize = 100;
/// The most counts that are asked for so that an average has bounds.
const MOST_BY_VALUE: u64 = MOST_TOTALS / 16;

/// A statement of SQL as questions.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    schema: Arc<Schema>,
    /// What is asked of the table, in this order.
    questions: Vec<Question>,
    outputs: Vec<(String, Output)>,
}

/// A column of the answer.
#[derive(Debug, Clone, PartialEq)]
enum Output {
    /// A column that is shown, or grouped by, by its place among them.
    Column { attribute: usize, place: usize },
    /// A total, by its place among the totals.
    Total(usize),
    /// An average.
    Mean {
        attribute: usize,
        sum: usize,
        present: usize,
        /// The question that counts each value and the column's place in its groups, where there are not too
        /// many.
        by_value: Option<(usize, usize)>,
    },
}

impl Statement {
    /// Reads a statement about the table of a schema, which has this name.
    pub fn read(sql: &str, schema: &Arc<Schema>, table: &str) -> Result<Self, AskError> {
        let names = &Names::new(schema, table);
        let not_sql = |reason: String| AskError::Syntax { reason };
        let tokens = tokens(sql)?;
        let parsed = Parser::new(&PostgreSqlDialect {})
            .with_tokens_with_locations(tokens)
            .parse_statements();
        let parsed = parsed.map_err(|error| not_sql(error.to_string()))?;
        let select = match parsed.as_slice() {
            [Parsed::Query(query)] => {
                let clauses = [
                    (query.with.is_some(), "WITH"),
                    (query.order_by.is_some(), "ORDER BY"),
                    (
                        query.limit_clause.is_some() || query.fetch.is_some(),
                        "LIMIT",
                    ),
                ];
                refuse(&clauses)?;
                match query.body.as_ref() {
                    SetExpr::Select(select) => select,
                    other => return Err(not_answered(format!("`{other}`"))),
                }
            }
            [other] => {
                let text = other.to_string();
                let verb = text.split_whitespace().next().unwrap_or_default();
                return Err(not_answered(format!("the statement {verb}")));
            }
            _ => {
                let what = format!("{} statements at once", parsed.len());
                return Err(not_answered(what));
            }
        };
        let clauses = [
            (select.distinct.is_some(), "DISTINCT"),
            (select.having.is_some(), "HAVING"),
            (select.qualify.is_some(), "QUALIFY"),
            (!select.named_window.is_empty(), "WINDOW"),
            (select.into.is_some(), "INTO"),
        ];
        refuse(&clauses)?;
        see_table(select, names)?;
        Reading::new(names, select)?.statement(select, schema)
    }

    /// What is asked of the table.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The answers as a table: `answered` are the answers to the questions.
    pub fn answers(&self, answered: &[Answered]) -> Answers {
        let columns = self.outputs.iter().flat_map(|(name, output)| match output {
            Output::Column { .. } => vec![name.clone()],
            Output::Total(_) | Output::Mean { .. } => ["_low", "", "_high", "_error"]
                .map(|part| format!("{name}{part}"))
                .to_vec(),
        });
        let mut columns: Vec<String> = columns.collect();
        let rows = match answered.first() {
            Some(Answered::Totals(groups)) => {
                let is_grouped = groups.first().is_some_and(|group| !group.key.is_empty());
                // The first total counts records. A group that no row can be in is none.
                let shown = groups
                    .iter()
                    .filter(|group| !is_grouped || group.totals[0].high > 0);
                shown.map(|group| self.row(group, answered)).collect()
            }
            Some(Answered::Rows(found)) => {
                columns.push(String::from("share"));
                let row = |found: &hedgerow_protocols::query::Found| {
                    let cells = self.outputs.iter().map(|(_, output)| match output {
                        Output::Column { attribute, place } => {
                            self.text(*attribute, &found.cells[*place])
                        }
                        _ => Value::Null,
                    });
                    cells.chain([json!(found.truth.share)]).collect()
                };
                found.iter().map(row).collect()
            }
            None => Vec::new(),
        };
        Answers { columns, rows }
    }

    /// A cell as a release prints it; nothing for the missing value.
    fn text(&self, attribute: usize, cell: &Cell) -> Value {
        let domain = &self.schema.attributes()[attribute].domain;
        match cell {
            Cell::Interval(code, same) if code == same && domain.missing_code() == Some(*code) => {
                Value::Null
            }
            cell => Value::String(domain.write_cell(cell)),
        }
    }

    fn row(&self, group: &Group, answered: &[Answered]) -> Vec<Value> {
        let four = |measured: &Measured| {
            let Measured {
                low,
                estimate,
                high,
                error,
            } = measured;
            [json!(low), json!(estimate), json!(high), json!(error)]
        };
        let mut row = Vec::with_capacity(self.outputs.len());
        for (_, output) in &self.outputs {
            match output {
                Output::Column { attribute, place } => {
                    row.push(self.text(*attribute, &group.key[*place]));
                }
                Output::Total(place) => row.extend(four(&group.totals[*place])),
                Output::Mean {
                    attribute,
                    sum,
                    present,
                    by_value,
                } => {
                    let (sum, present) = (&group.totals[*sum], &group.totals[*present]);
                    let domain = &self.schema.attributes()[*attribute].domain;
                    let bounds =
                        by_value.and_then(|(question, place)| match answered.get(question) {
                            Some(Answered::Totals(counted)) => {
                                let condition = &self.questions[question].condition;
                                let column = (*attribute, domain);
                                extremes(counted, &group.key, place, column, condition)
                            }
                            _ => None,
                        });
                    let estimate =
                        (present.estimate > 0.0).then(|| sum.estimate / present.estimate);
                    row.extend([
                        json!(bounds.map(|(low, _)| low)),
                        json!(estimate),
                        json!(bounds.map(|(_, high)| high)),
                        // The error of a quotient is no sum over rows.
                        Value::Null,
                    ]);
                }
            }
        }
        row
    }
}

/// A statement while it is read.
struct Reading<'n> {
    names: &'n Names<'n>,
    condition: Condition,
    group_by: Vec<usize>,
    of: Vec<Total>,
}

impl<'n> Reading<'n> {
    fn new(names: &'n Names<'n>, select: &Select) -> Result<Self, AskError> {
        let condition = match &select.selection {
            Some(expression) => names.condition(expression)?,
            None => Condition::everything(),
        };
        let GroupByExpr::Expressions(columns, modifiers) = &select.group_by else {
            return Err(not_answered(String::from("GROUP BY ALL")));
        };
        if let Some(modifier) = modifiers.first() {
            return Err(not_answered(format!("GROUP BY {modifier}")));
        }
        let mut group_by = Vec::new();
        for column in columns {
            place_of(&mut group_by, names.column_of(column)?);
        }
        Ok(Self {
            names,
            condition,
            group_by,
            of: vec![Total::Records],
        })
    }

    fn statement(mut self, select: &Select, schema: &Arc<Schema>) -> Result<Statement, AskError> {
        let is_total = |item: &SelectItem| match item {
            SelectItem::UnnamedExpr(Expr::Function(_)) => true,
            SelectItem::ExprWithAlias { expr, .. } => matches!(expr, Expr::Function(_)),
            _ => false,
        };
        let asks_totals = !self.group_by.is_empty() || select.projection.iter().any(is_total);
        let mut outputs = Vec::new();
        let mut shown = Vec::new();
        for item in &select.projection {
            let (expression, alias) = match item {
                SelectItem::UnnamedExpr(expression) => (expression, None),
                SelectItem::ExprWithAlias { expr, alias } => (expr, Some(alias.value.clone())),
                SelectItem::Wildcard(_) if !asks_totals => {
                    for (attribute, column) in self.names.schema().attributes().iter().enumerate() {
                        if column.role != Role::Identifier && column.domain.size() > 0 {
                            let place = place_of(&mut shown, attribute);
                            let output = Output::Column { attribute, place };
                            outputs.push((column.name.clone(), output));
                        }
                    }
                    continue;
                }
                other => return Err(not_answered(format!("`{other}`"))),
            };
            let (name, output) = match expression {
                Expr::Function(function) => self.total(function)?,
                column => {
                    let attribute = self.names.column_of(column)?;
                    let name = self.names.schema().attributes()[attribute].name.clone();
                    let place = match asks_totals {
                        true => self.place(attribute, &name)?,
                        false => place_of(&mut shown, attribute),
                    };
                    (name, Output::Column { attribute, place })
                }
            };
            outputs.push((alias.unwrap_or(name), output));
        }
        let answer = match asks_totals {
            true => Answer::Totals {
                group_by: self.group_by.clone(),
                of: self.of.clone(),
            },
            false => Answer::Rows { columns: shown },
        };
        let mut questions = vec![Question {
            condition: self.condition.clone(),
            answer,
        }];
        for (_, output) in &mut outputs {
            if let Output::Mean {
                attribute,
                by_value,
                ..
            } = output
            {
                *by_value = self.by_value(*attribute).map(|(question, place)| {
                    questions.push(question);
                    (questions.len() - 1, place)
                });
            }
        }
        for question in &questions {
            question.check(self.names.schema())?;
        }
        Ok(Statement {
            schema: Arc::clone(schema),
            questions,
            outputs,
        })
    }

    /// The place of a column among those that are grouped by.
    fn place(&self, attribute: usize, name: &str) -> Result<usize, AskError> {
        let place = self.group_by.iter().position(|column| *column == attribute);
        place.ok_or_else(|| AskError::NotAnswered {
            what: format!("`{name}` beside totals"),
            instead: format!("write GROUP BY {name}, or leave it out"),
        })
    }

    fn total(&mut self, function: &Function) -> Result<(String, Output), AskError> {
        let name = function.name.to_string().to_lowercase();
        let clauses = [
            (function.filter.is_some(), "FILTER"),
            (function.over.is_some(), "OVER"),
            (is_distinct(function), "DISTINCT"),
        ];
        refuse(&clauses)?;
        let column = match arguments(function).as_slice() {
            [expression] => Some(self.names.column_of(expression)?),
            _ => None,
        };
        let output = match (name.as_str(), column) {
            ("count", None) if is_of_everything(function) => Output::Total(0),
            ("count", Some(column)) => Output::Total(self.add(Total::Present(column))),
            ("sum", Some(column)) => Output::Total(self.add(Total::Sum(column))),
            ("avg", Some(attribute)) => Output::Mean {
                attribute,
                sum: self.add(Total::Sum(attribute)),
                present: self.add(Total::Present(attribute)),
                by_value: None,
            },
            _ => return Err(not_answered(format!("`{function}`"))),
        };
        Ok((name, output))
    }

    fn add(&mut self, total: Total) -> usize {
        place_of(&mut self.of, total)
    }

    /// The question that counts each value of a column, by group: from these counts the extremes of an
    /// average follow. Nothing where there would be too many.
    fn by_value(&self, attribute: usize) -> Option<(Question, usize)> {
        let mut group_by = self.group_by.clone();
        let place = place_of(&mut group_by, attribute);
        let sizes = group_by.iter().map(|column| {
            let domain = &self.names.schema().attributes()[*column].domain;
            u64::from(domain.size())
        });
        let most = sizes.fold(1, u64::saturating_mul);
        let answer = Answer::Totals {
            group_by,
            of: vec![Total::Records],
        };
        let question = || Question {
            condition: self.condition.clone(),
            answer,
        };
        (most <= MOST_BY_VALUE).then(|| (question(), place))
    }
}

/// The place of something in a list, where it is put at the end if it is not there.
fn place_of<T: PartialEq>(list: &mut Vec<T>, one: T) -> usize {
    let place = list.iter().position(|known| *known == one);
    place.unwrap_or_else(|| {
        list.push(one);
        list.len() - 1
    })
}

/// The words and signs of a statement, if it is not too long or too deep for the parser.
pub fn tokens(sql: &str) -> Result<Vec<TokenWithSpan>, AskError> {
    if sql.len() > MOST_BYTES {
        return Err(AskError::TooLarge { most: MOST_BYTES });
    }
    let tokens = Tokenizer::new(&PostgreSqlDialect {}, sql).tokenize_with_location();
    let tokens = tokens.map_err(|error| AskError::Syntax {
        reason: error.to_string(),
    })?;
    if tokens.len() > MOST_TOKENS {
        return Err(AskError::TooLong { most: MOST_TOKENS });
    }
    // The parser goes back at every parenthesis, so its time doubles with each one inside another.
    if nested(&tokens) > MOST_NESTED {
        return Err(AskError::TooNested { most: MOST_NESTED });
    }
    if chained(&tokens) > MOST_CHAINED {
        return Err(AskError::TooChained { most: MOST_CHAINED });
    }
    Ok(tokens)
}

/// How many operators of a statement apply to each other's results at most, and queries are joined. Conditions
/// are counted by who reads them.
fn chained(tokens: &[TokenWithSpan]) -> usize {
    /// What joins queries since the first of them began, and operators since an expression, or a condition of
    /// it, began.
    #[derive(Default, Clone, Copy)]
    struct Chain {
        queries: usize,
        operators: usize,
    }
    let mut open = vec![Chain::default()];
    let mut most = 0;
    for token in tokens {
        let last = open.len() - 1;
        let chain = &mut open[last];
        match &token.token {
            Token::LParen | Token::LBracket | Token::LBrace => open.push(Chain::default()),
            Token::RParen | Token::RBracket | Token::RBrace => {
                open.pop();
                if open.is_empty() {
                    open.push(Chain::default());
                }
            }
            Token::Comma | Token::SemiColon => chain.operators = 0,
            Token::Word(word) => match word.keyword {
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => chain.queries += 1,
                Keyword::AND
                | Keyword::OR
                | Keyword::SELECT
                | Keyword::FROM
                | Keyword::WHERE
                | Keyword::HAVING
                | Keyword::BY
                | Keyword::WHEN
                | Keyword::THEN
                | Keyword::ELSE
                | Keyword::ON => chain.operators = 0,
                Keyword::NOT
                | Keyword::IS
                | Keyword::NOTNULL
                | Keyword::IN
                | Keyword::BETWEEN
                | Keyword::LIKE
                | Keyword::ILIKE
                | Keyword::SIMILAR
                | Keyword::COLLATE
                | Keyword::AT
                | Keyword::OPERATOR => chain.operators += 1,
                // Names, and words of other clauses.
                _ => {}
            },
            Token::Number(..) | Token::Whitespace(_) | Token::Period | Token::EOF => {}
            token if is_quoted(token) => {}
            _ => chain.operators += 1,
        }
        let own = |chain: &Chain| chain.queries + chain.operators;
        most = most.max(open.iter().map(own).sum());
    }
    most
}

const fn is_quoted(token: &Token) -> bool {
    matches!(
        token,
        Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::NationalStringLiteral(_)
            | Token::EscapedStringLiteral(_)
            | Token::DollarQuotedString(_)
            | Token::Placeholder(_)
    )
}

/// How many parentheses stand inside each other.
fn nested(tokens: &[TokenWithSpan]) -> usize {
    let (mut open, mut most) = (0usize, 0);
    for token in tokens {
        match token.token {
            Token::LParen | Token::LBracket | Token::LBrace => open += 1,
            Token::RParen | Token::RBracket | Token::RBrace => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

/// Whether a function is of `*`.
fn is_of_everything(function: &Function) -> bool {
    let FunctionArguments::List(list) = &function.args else {
        return false;
    };
    matches!(
        list.args.as_slice(),
        [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]
    )
}

fn is_distinct(function: &Function) -> bool {
    let FunctionArguments::List(list) = &function.args else {
        return false;
    };
    list.duplicate_treatment.is_some()
}

/// Sees that the statement is about the one table that there is.
fn see_table(select: &Select, names: &Names<'_>) -> Result<(), AskError> {
    let [from] = select.from.as_slice() else {
        return Err(match select.from.is_empty() {
            true => AskError::NotAnswered {
                what: String::from("a question without a table"),
                instead: format!("write FROM \"{}\"", names.table()),
            },
            false => not_answered(String::from("a question about several tables")),
        });
    };
    match (&from.relation, from.joins.is_empty()) {
        (factor @ TableFactor::Table { name, .. }, true) => {
            if let Some(clause) = clause_of(factor) {
                return Err(not_answered(clause));
            }
            match name.0.last().and_then(|part| part.as_ident()) {
                Some(table) if is_same(table, names.table()) => Ok(()),
                _ => Err(AskError::NoTable {
                    table: name.to_string(),
                    known: names.table().to_owned(),
                }),
            }
        }
        (_, false) => Err(not_answered(String::from("JOIN"))),
        (other, _) => Err(not_answered(format!("`{other}`"))),
    }
}

/// What stands beside the name of a table and is not answered, such as `TABLESAMPLE`.
pub fn clause_of(factor: &TableFactor) -> Option<String> {
    let TableFactor::Table {
        name,
        args,
        with_hints,
        version,
        with_ordinality,
        partitions,
        json_path,
        sample,
        index_hints,
        ..
    } = factor
    else {
        return None;
    };
    let is_plain = args.is_none()
        && with_hints.is_empty()
        && version.is_none()
        && !with_ordinality
        && partitions.is_empty()
        && json_path.is_none()
        && sample.is_none()
        && index_hints.is_empty();
    (!is_plain).then(|| match (sample, args) {
        (Some(_), _) => format!("TABLESAMPLE of `{name}`"),
        (None, Some(_)) => format!("`{name}` in place of a table"),
        (None, None) => format!("`{factor}` in place of a table"),
    })
}

fn refuse(clauses: &[(bool, &str)]) -> Result<(), AskError> {
    let found = clauses.iter().find(|(is_there, _)| *is_there);
    found.map_or(Ok(()), |(_, clause)| {
        Err(not_answered(String::from(*clause)))
    })
}

fn not_answered(what: String) -> AskError {
    AskError::NotAnswered {
        what,
        instead: String::from(
            "ask SELECT columns, count(*), count(x), sum(x) or avg(x) FROM the study WHERE … GROUP BY columns",
        ),
    }
}
