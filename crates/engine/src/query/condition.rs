//! `WHERE` of SQL as a condition.

use hedgerow_data::{Domain, Schema, nearest, quoted_list};

use hedgerow_protocols::query::{Answer, CodeSet, Condition, Question};
use sqlparser::ast::{
    BinaryOperator, DataType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, Ident, UnaryOperator, Value,
};

use super::compare::{Operator, compared, like, under, value_of};
use super::error::AskError;

/// Where columns are looked up.
#[derive(Debug, Clone, Copy)]
pub struct Names<'s> {
    schema: &'s Schema,
    /// The name of the table, which may stand before a column's name.
    table: &'s str,
}

impl<'s> Names<'s> {
    /// The columns of a schema, in a table of this name.
    pub const fn new(schema: &'s Schema, table: &'s str) -> Self {
        Self { schema, table }
    }

    pub(super) const fn schema(&self) -> &'s Schema {
        self.schema
    }

    pub(super) const fn table(&self) -> &'s str {
        self.table
    }

    /// The condition that an expression of SQL states.
    pub fn condition(&self, expression: &Expr) -> Result<Condition, AskError> {
        let not = |condition: Condition, negated: bool| match negated {
            true => Condition::Not(Box::new(condition)),
            false => condition,
        };
        match expression {
            Expr::Nested(inner) => self.condition(inner),
            Expr::UnaryOp {
                op: UnaryOperator::Not,
                expr,
            } => Ok(not(self.condition(expr)?, true)),
            Expr::BinaryOp { left, op, right } => match op {
                BinaryOperator::And | BinaryOperator::Or => {
                    let parts = chain(expression, op);
                    let parts = parts.into_iter().map(|part| self.condition(part));
                    let parts = parts.collect::<Result<_, _>>()?;
                    Ok(match op {
                        BinaryOperator::And => Condition::All(parts),
                        _ => Condition::Any(parts),
                    })
                }
                _ => self.comparison(left, op, right, expression),
            },
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => {
                let column = self.column_of(expr)?;
                let attribute = &self.schema.attributes()[column];
                let from = compared(attribute, Operator::AtLeast, &constant(low)?)?;
                let to = compared(attribute, Operator::AtMost, &constant(high)?)?;
                let codes = from.and(&to);
                Ok(not(Condition::Within { column, codes }, *negated))
            }
            Expr::InList {
                expr,
                list,
                negated,
            } => {
                let column = self.column_of(expr)?;
                let attribute = &self.schema.attributes()[column];
                let codes = list
                    .iter()
                    .map(|value| value_of(attribute, &constant(value)?).map(|code| (code, code)));
                let codes = CodeSet::new(codes.collect::<Result<Vec<_>, _>>()?);
                Ok(not(Condition::Within { column, codes }, *negated))
            }
            Expr::IsNull(expr) | Expr::IsNotNull(expr) => {
                let column = self.column_of(expr)?;
                let negated = matches!(expression, Expr::IsNotNull(_));
                Ok(not(Condition::Missing { column }, negated))
            }
            Expr::Like {
                negated,
                any: false,
                expr,
                pattern,
                escape_char,
            }
            | Expr::ILike {
                negated,
                any: false,
                expr,
                pattern,
                escape_char,
            } => {
                let column = self.column_of(expr)?;
                let attribute = &self.schema.attributes()[column];
                let folds = matches!(expression, Expr::ILike { .. });
                let escape = escape_char.clone().and_then(|value| value.into_string());
                let escape = escape.map_or(Some('\\'), |escape| escape.chars().next());
                let codes = like(attribute, &constant(pattern)?, escape, folds)?;
                Ok(not(Condition::Within { column, codes }, *negated))
            }
            Expr::Function(function) => self.under(function),
            Expr::Value(value) => match value.value {
                Value::Boolean(true) => Ok(Condition::All(Vec::new())),
                Value::Boolean(false) => Ok(Condition::Any(Vec::new())),
                _ => Err(no_condition(expression)),
            },
            _ => Err(no_condition(expression)),
        }
    }

    fn comparison(
        &self,
        left: &Expr,
        op: &BinaryOperator,
        right: &Expr,
        whole: &Expr,
    ) -> Result<Condition, AskError> {
        let operator = match op {
            BinaryOperator::Eq => Operator::Equal,
            BinaryOperator::NotEq => Operator::Unequal,
            BinaryOperator::Lt => Operator::Below,
            BinaryOperator::LtEq => Operator::AtMost,
            BinaryOperator::Gt => Operator::Above,
            BinaryOperator::GtEq => Operator::AtLeast,
            _ => return Err(no_condition(whole)),
        };
        let (column, operator, value) = match (is_name(left), is_name(right)) {
            (true, false) => (self.column_of(left)?, operator, constant(right)?),
            (false, true) => (self.column_of(right)?, operator.turned(), constant(left)?),
            (true, true) => {
                // Both names are looked up, so that a wrong one is named first.
                self.column_of(left)?;
                self.column_of(right)?;
                return Err(AskError::NotAnswered {
                    what: format!("the comparison of two columns, `{whole}`,"),
                    instead: String::from("compare each column with a constant"),
                });
            }
            (false, false) => return Err(no_condition(whole)),
        };
        let codes = compared(&self.schema.attributes()[column], operator, &value)?;
        Ok(Condition::Within { column, codes })
    }

    /// `under(column, 'node')`.
    fn under(&self, function: &Function) -> Result<Condition, AskError> {
        let name = function.name.to_string().to_lowercase();
        match (name.as_str(), arguments(function).as_slice()) {
            ("under", [column, label]) => {
                let column = self.column_of(column)?;
                let label = constant(label)?;
                let codes = under(&self.schema.attributes()[column], &label)?;
                Ok(Condition::Within { column, codes })
            }
            ("under", _) => Err(AskError::NotAnswered {
                what: format!("`{function}`"),
                instead: String::from("write under(column, 'node of its taxonomy')"),
            }),
            _ => Err(AskError::NotAnswered {
                what: format!("the function `{name}` in WHERE"),
                instead: String::from(
                    "compare a column with constants, or write under(column, 'node')",
                ),
            }),
        }
    }

    /// The column that an expression names.
    pub(super) fn column_of(&self, expression: &Expr) -> Result<usize, AskError> {
        match expression {
            Expr::Nested(inner) => self.column_of(inner),
            Expr::Cast {
                expr, data_type, ..
            } if is_name(expr) => {
                let column = self.column_of(expr)?;
                match is_kept(&self.schema.attributes()[column].domain, data_type) {
                    true => Ok(column),
                    false => Err(AskError::NotAnswered {
                        what: format!("`{expression}`"),
                        instead: String::from("compare the column itself, without a cast"),
                    }),
                }
            }
            Expr::Identifier(name) => self.column(name),
            Expr::CompoundIdentifier(names) => match names.as_slice() {
                [.., table, name] if is_same(table, self.table) => self.column(name),
                [.., table, _] => Err(AskError::NoTable {
                    table: table.value.clone(),
                    known: self.table.to_owned(),
                }),
                _ => Err(no_condition(expression)),
            },
            _ => Err(AskError::NotAnswered {
                what: format!("`{expression}`"),
                instead: String::from("name a column of the table"),
            }),
        }
    }

    /// The column of a name; an error with the nearest names where there is none.
    pub fn column(&self, name: &Ident) -> Result<usize, AskError> {
        let attributes = self.schema.attributes();
        let exact = self.schema.position(&name.value);
        let folded = || {
            let is_unquoted = name.quote_style.is_none();
            attributes
                .iter()
                .position(|attribute| is_unquoted && is_same(name, &attribute.name))
        };
        let found = exact.or_else(folded);
        if let Some(column) = found {
            // Columns that no release has, or whose values no study declares, are refused by name.
            let everything = Question {
                condition: Condition::everything(),
                answer: Answer::Rows {
                    columns: vec![column],
                },
            };
            everything.check(self.schema)?;
        }
        found.ok_or_else(|| {
            let names = || attributes.iter().map(|attribute| attribute.name.as_str());
            let near = nearest(&name.value, names(), 3);
            let hint = match near.is_empty() {
                true => format!("the columns are {}", quoted_list(names())),
                false => format!("did you mean {}?", quoted_list(&near)),
            };
            AskError::NoColumn {
                column: name.value.clone(),
                hint,
            }
        })
    }
}

/// Whether a cast, as tools put them around columns, keeps which values are meant and how they compare. Numbers
/// as text would compare as text.
fn is_kept(domain: &Domain, data_type: &DataType) -> bool {
    match domain {
        Domain::Integer(_) => is_whole(data_type) || is_number(data_type),
        Domain::Decimal(_) => is_number(data_type),
        Domain::Date(_) => is_day(data_type),
        Domain::Category(_) | Domain::Text => is_text(data_type),
    }
}

const fn is_whole(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Int(_)
            | DataType::Integer(_)
            | DataType::BigInt(_)
            | DataType::Int4(_)
            | DataType::Int8(_)
    )
}

/// A type of numbers that keeps every whole number.
const fn is_number(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Numeric(ExactNumberInfo::None)
            | DataType::Decimal(ExactNumberInfo::None)
            | DataType::Double(_)
            | DataType::DoublePrecision
            | DataType::Float8
    )
}

const fn is_day(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date | DataType::Timestamp(..))
}

const fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Text | DataType::Varchar(None))
}

/// The parts of a chain of one operator, from left to right, however long the chain is.
fn chain<'e>(expression: &'e Expr, operator: &BinaryOperator) -> Vec<&'e Expr> {
    let mut parts = Vec::new();
    let mut rest = expression;
    while let Expr::BinaryOp { left, op, right } = rest
        && op == operator
    {
        parts.push(&**right);
        rest = left;
    }
    parts.push(rest);
    parts.reverse();
    parts
}

/// Whether a name without quotes means another, as SQL folds names.
pub(super) fn is_same(name: &Ident, other: &str) -> bool {
    match name.quote_style {
        None => name.value.eq_ignore_ascii_case(other),
        Some(_) => name.value == other,
    }
}

/// The arguments of a function; nothing where one of them is no plain expression.
pub(super) fn arguments(function: &Function) -> Vec<Expr> {
    let FunctionArguments::List(list) = &function.args else {
        return Vec::new();
    };
    let argument = |argument: &FunctionArg| match argument {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(expression)) => Some(expression.clone()),
        _ => None,
    };
    let arguments: Option<Vec<Expr>> = list.args.iter().map(argument).collect();
    arguments.unwrap_or_default()
}

fn is_name(expression: &Expr) -> bool {
    match expression {
        Expr::Nested(inner) => is_name(inner),
        Expr::Cast { expr, .. } => is_name(expr),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => true,
        _ => false,
    }
}

/// The text of a constant.
fn constant(expression: &Expr) -> Result<String, AskError> {
    match expression {
        Expr::Nested(inner) => constant(inner),
        Expr::Cast {
            expr, data_type, ..
        } => {
            let text = constant(expr)?;
            // A cast to whole numbers rounds, and one to text cuts off.
            let is_same = match is_whole(data_type) {
                true => text.trim().parse::<i64>().is_ok(),
                false => is_number(data_type) || is_day(data_type) || is_text(data_type),
            };
            match is_same {
                true => Ok(text),
                false => Err(no_constant(expression)),
            }
        }
        Expr::TypedString(typed) => match typed.value.clone().into_string() {
            Some(text) => Ok(text),
            None => Err(no_constant(expression)),
        },
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => Ok(format!("-{}", constant(expr)?)),
        Expr::Value(value) => match &value.value {
            Value::Number(number, _) => Ok(number.clone()),
            Value::Boolean(truth) => Ok(truth.to_string()),
            Value::Null => Err(AskError::NotAnswered {
                what: String::from("a comparison with NULL, which nothing satisfies,"),
                instead: String::from("write IS NULL or IS NOT NULL"),
            }),
            other => other
                .clone()
                .into_string()
                .ok_or_else(|| no_constant(expression)),
        },
        _ => Err(no_constant(expression)),
    }
}

fn no_constant(expression: &Expr) -> AskError {
    AskError::NotAnswered {
        what: format!("`{expression}` in place of a constant"),
        instead: String::from("write a number, a text in quotes, or DATE '2020-01-31'"),
    }
}

fn no_condition(expression: &Expr) -> AskError {
    AskError::NotAnswered {
        what: format!("the condition `{expression}`"),
        instead: String::from(
            "compare columns with constants by =, <>, <, <=, >, >=, BETWEEN, IN, LIKE, IS NULL or under(column, 'node'), joined by AND, OR and NOT",
        ),
    }
}
