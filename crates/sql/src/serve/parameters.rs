//! Parameters of prepared statements: bytes that clients send, as values.

use arrow::datatypes::DataType;
use bytes::Bytes;
use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::ast::{Expr, UnaryOperator, Value};
use pgwire::api::Type;
use pgwire::api::portal::Format;
use pgwire::error::PgWireError;

use super::refusal::{code, error};
use crate::session::Parameter;

/// The days from PostgreSQL's first, 2000-01-01, to 1970-01-01.
const EPOCH: i32 = 10_957;

/// The values of parameters, each as text or in binary, in the type that the client gave or else in the
/// statement's own.
pub(super) fn values(
    sent: &[Option<Bytes>],
    format: &Format,
    given: &[Option<Type>],
    expected: &[Parameter],
) -> Result<Vec<ScalarValue>, PgWireError> {
    if sent.len() != expected.len() {
        let (sent, needed) = (sent.len(), expected.len());
        let message = format!("the statement has {needed} parameters, and {sent} were sent");
        return Err(error(code::PROTOCOL, &message));
    }
    checked(format, expected.len())?;
    let all = sent.iter().zip(expected).enumerate();
    all.map(|(place, (bytes, expected))| {
        let Some(bytes) = bytes else {
            return Ok(ScalarValue::Null);
        };
        let given = given.get(place).cloned().flatten();
        let value = value(bytes, format.is_binary(place), given, &expected.of);
        value.ok_or_else(|| {
            let message = format!("the value of ${} cannot be read", place + 1);
            error(code::VALUE, &message)
        })
    })
    .collect()
}

/// A constant of `EXECUTE` as text; an inner none is NULL.
pub(super) fn written(constant: &Expr) -> Option<Option<String>> {
    match constant {
        Expr::Value(value) => match &value.value {
            Value::Null => Some(None),
            Value::Boolean(is_true) => Some(Some(is_true.to_string())),
            Value::Number(number, _) => Some(Some(number.clone())),
            other => other.clone().into_string().map(Some),
        },
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => match written(expr)? {
            Some(number) if !number.starts_with('-') => Some(Some(format!("-{number}"))),
            _ => None,
        },
        Expr::Cast { expr, .. } | Expr::Nested(expr) => written(expr),
        _ => None,
    }
}

/// Formats as the library has them; there is text and binary.
pub(super) fn format(codes: &[u16]) -> Result<Format, PgWireError> {
    if let Some(other) = codes.iter().find(|code| **code > 1) {
        let message = format!("{other} is no format, expected 0 for text or 1 for binary");
        return Err(error(code::PROTOCOL, &message));
    }
    Ok(match codes {
        [] | [0] => Format::UnifiedText,
        [_] => Format::UnifiedBinary,
        several => Format::Individual(several.iter().map(|code| i16::from(*code == 1)).collect()),
    })
}

/// Sees that there are as many formats as columns where each has its own.
pub(super) fn checked(format: &Format, columns: usize) -> Result<(), PgWireError> {
    match format {
        Format::Individual(codes) if codes.len() != columns => {
            let message = format!("{} formats for {columns} columns", codes.len());
            Err(error(code::PROTOCOL, &message))
        }
        _ => Ok(()),
    }
}

fn value(
    bytes: &[u8],
    is_binary: bool,
    given: Option<Type>,
    expected: &DataType,
) -> Option<ScalarValue> {
    // Without a type of the client's the statement's own is meant.
    let of = match given.filter(|given| *given != Type::UNKNOWN) {
        Some(of) => of,
        None if is_binary => pg_type(expected),
        None => return guessed(std::str::from_utf8(bytes).ok()?, expected),
    };
    if is_binary {
        return Some(match of {
            Type::BOOL => ScalarValue::Boolean(Some(*bytes.first()? != 0)),
            Type::INT2 => {
                ScalarValue::Int64(Some(i16::from_be_bytes(bytes.try_into().ok()?).into()))
            }
            Type::INT4 => {
                ScalarValue::Int64(Some(i32::from_be_bytes(bytes.try_into().ok()?).into()))
            }
            Type::INT8 => ScalarValue::Int64(Some(i64::from_be_bytes(bytes.try_into().ok()?))),
            Type::FLOAT4 => {
                ScalarValue::Float64(Some(f32::from_be_bytes(bytes.try_into().ok()?).into()))
            }
            Type::FLOAT8 => ScalarValue::Float64(Some(f64::from_be_bytes(bytes.try_into().ok()?))),
            Type::DATE => {
                let days = i32::from_be_bytes(bytes.try_into().ok()?);
                ScalarValue::Date32(Some(days.checked_add(EPOCH)?))
            }
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => {
                ScalarValue::Utf8(Some(std::str::from_utf8(bytes).ok()?.to_owned()))
            }
            _ => return None,
        });
    }
    let text = std::str::from_utf8(bytes).ok()?;
    Some(match of {
        Type::BOOL => match text {
            "t" | "true" | "1" | "on" => ScalarValue::Boolean(Some(true)),
            "f" | "false" | "0" | "off" => ScalarValue::Boolean(Some(false)),
            _ => return None,
        },
        Type::INT2 | Type::INT4 | Type::INT8 => ScalarValue::Int64(Some(text.parse().ok()?)),
        Type::FLOAT4 | Type::FLOAT8 | Type::NUMERIC => {
            ScalarValue::Float64(Some(text.parse().ok()?))
        }
        // A day is compared as the study writes it.
        _ => ScalarValue::Utf8(Some(text.to_owned())),
    })
}

/// Text of no type as a value of the type that the statement has there, where it is one.
fn guessed(text: &str, expected: &DataType) -> Option<ScalarValue> {
    let read = match expected {
        DataType::Utf8 => None,
        of => ScalarValue::try_from_string(text.to_owned(), of).ok(),
    };
    Some(read.unwrap_or_else(|| ScalarValue::Utf8(Some(text.to_owned()))))
}

/// The type that clients know.
pub(super) fn pg_type(of: &DataType) -> Type {
    arrow_pg::datatypes::into_pg_type(of).unwrap_or(Type::TEXT)
}
