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
/// The microseconds of a day.
const DAY: i64 = 86_400_000_000;

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
        let of = given.clone().unwrap_or_else(|| pg_type(&expected.of));
        let value = value(bytes, format.is_binary(place), given, &expected.of);
        value.ok_or_else(|| {
            let message = format!(
                "the value of ${}, sent as {}, cannot be read\nhint: send it as text, or as a number, a day or a text in binary",
                place + 1,
                of.name(),
            );
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
            Type::NUMERIC => ScalarValue::Float64(Some(numeric(bytes)?)),
            Type::TIMESTAMP | Type::TIMESTAMPTZ => {
                let microseconds = i64::from_be_bytes(bytes.try_into().ok()?);
                let since = microseconds.checked_add(i64::from(EPOCH) * DAY)?;
                match since.rem_euclid(DAY) {
                    0 => ScalarValue::Date32(Some(i32::try_from(since.div_euclid(DAY)).ok()?)),
                    _ => ScalarValue::Utf8(Some(
                        jiff::Timestamp::from_microsecond(since)
                            .ok()?
                            .strftime("%Y-%m-%d %H:%M:%S%.f")
                            .to_string(),
                    )),
                }
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

/// A number as PostgreSQL's `numeric` has it: digits of base 10,000 from a place on, and a sign.
fn numeric(bytes: &[u8]) -> Option<f64> {
    let mut words = bytes
        .chunks_exact(2)
        .map(|word| u16::from_be_bytes([word[0], word[1]]));
    let (count, weight) = (words.next()?, words.next()?.cast_signed());
    let (sign, _scale) = (words.next()?, words.next()?);
    let digits: Vec<u16> = words.collect();
    let sign = match sign {
        0 => "",
        0x4000 => "-",
        // Not a number, or without end.
        _ => return None,
    };
    let is_whole = bytes.len() == 8 + 2 * usize::from(count);
    if !is_whole || digits.iter().any(|digit| *digit > 9_999) {
        return None;
    }
    // Written out and read, so that no digit is rounded on the way.
    let written: String = digits.iter().map(|digit| format!("{digit:04}")).collect();
    let places = 4 * (i32::from(weight) + 1 - i32::try_from(digits.len()).ok()?);
    format!("{sign}0{written}e{places}").parse().ok()
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of_words(words: &[u16]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn numbers_of_any_scale_are_read() {
        // As PostgreSQL writes 30, 30.5, -12345.6789, 0 and 10000.
        for (words, number) in [
            (&[1, 0, 0, 0, 30][..], 30.0),
            (&[2, 0, 0, 1, 30, 5000], 30.5),
            (&[3, 1, 0x4000, 4, 1, 2345, 6789], -12345.6789),
            (&[0, 0, 0, 0], 0.0),
            (&[1, 1, 0, 0, 1], 10_000.0),
        ] {
            assert_eq!(numeric(&of_words(words)), Some(number), "{words:?}");
        }
        for words in [
            &[0, 0, 0xC000, 0][..],
            &[1, 0, 0, 0],
            &[1, 0, 0, 0, 10_000],
            &[9_999, 0, 0, 0, 1],
            &[1],
        ] {
            assert_eq!(numeric(&of_words(words)), None, "{words:?}");
        }
        assert_eq!(numeric(&[0; 9]), None);
    }

    #[test]
    fn times_are_days_where_they_are_midnight() {
        let read = |microseconds: i64| {
            let bytes = microseconds.to_be_bytes();
            value(&bytes, true, Some(Type::TIMESTAMP), &DataType::Date32)
        };
        assert_eq!(read(0), Some(ScalarValue::Date32(Some(EPOCH))));
        assert_eq!(read(-DAY), Some(ScalarValue::Date32(Some(EPOCH - 1))));
        let noon = ScalarValue::Utf8(Some(String::from("2000-01-01 12:00:00")));
        assert_eq!(read(DAY / 2), Some(noon));
        assert_eq!(read(i64::MAX), None);
    }
}
