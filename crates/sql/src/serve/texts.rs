//! How long texts may grow. The engine's limit of memory counts what joins, groups and sorts keep, not what one
//! function makes of one row; so a client is not given functions whose answer may be as long as a number says, nor
//! totals that keep every value, and `||`, which doubles a text, only a few times.

use datafusion::common::ScalarValue;
use datafusion::prelude::SessionContext;
use datafusion::sql::sqlparser::tokenizer::Token;
use hedgerow::query::tokens;

use crate::error::SqlError;

/// Functions whose answer may be as long as a number, or as two texts multiplied.
const AMPLIFIERS: [&str; 8] = [
    "repeat",
    "lpad",
    "rpad",
    "replace",
    "regexp_replace",
    "overlay",
    "concat",
    "concat_ws",
];
/// Totals that keep every value that they get.
const KEEPERS: [&str; 5] = [
    "array_agg",
    "string_agg",
    "median",
    "percentile_cont",
    "nth_value",
];
/// The most times that texts may be joined in a statement.
const MOST_JOINED: usize = 10;
/// The longest text in a statement that joins texts.
const LONGEST: usize = 1000;

/// Takes the functions away that make long texts of short ones, or keep all that they see.
pub(super) fn remove_amplifiers(context: &SessionContext) {
    for name in AMPLIFIERS {
        context.deregister_udf(name);
    }
    for name in KEEPERS {
        context.deregister_udaf(name);
    }
}

/// Sees that a statement cannot make texts of more than a megabyte, or so.
pub(super) fn bounded(sql: &str, values: &[ScalarValue]) -> Result<(), SqlError> {
    let tokens = tokens(sql)?;
    let joined = tokens
        .iter()
        .filter(|token| token.token == Token::StringConcat)
        .count();
    if joined == 0 {
        return Ok(());
    }
    if joined > MOST_JOINED {
        let what = format!("a statement with `||` {joined} times");
        let instead = format!("`||` is answered {MOST_JOINED} times");
        return Err(SqlError::not_answered(what, instead));
    }
    let written = tokens.iter().map(|token| match &token.token {
        Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text) => text.len(),
        Token::DollarQuotedString(text) => text.value.len(),
        _ => 0,
    });
    let sent = values.iter().map(|value| match value {
        ScalarValue::Utf8(Some(text)) => text.len(),
        _ => 0,
    });
    if written.chain(sent).any(|length| length > LONGEST) {
        let what = format!("`||` beside a text of more than {LONGEST} bytes");
        return Err(SqlError::not_answered(what, "join shorter texts"));
    }
    Ok(())
}
