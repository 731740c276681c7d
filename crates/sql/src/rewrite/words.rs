//! Expressions of plans as analysts wrote them, for messages and `EXPLAIN`.

use datafusion::logical_expr::Expr;

/// How plans write constants of a type: what stands before, and whether it is text.
const CONSTANTS: [(&str, bool); 6] = [
    ("Int64(", false),
    ("Float64(", false),
    ("Boolean(", false),
    ("Utf8View(\"", true),
    ("LargeUtf8(\"", true),
    ("Utf8(\"", true),
];

/// An expression as SQL has it, nearly: constants without their types.
pub(super) fn words(expression: &Expr) -> String {
    let name = match expression {
        Expr::Alias(alias) => return alias.name.clone(),
        other => other.human_display().to_string(),
    };
    let mut rest = name.as_str();
    let mut text = String::with_capacity(name.len());
    while !rest.is_empty() {
        let known = CONSTANTS
            .iter()
            .find_map(|(start, is_text)| Some((rest.strip_prefix(start)?, *is_text)));
        let end = known.and_then(|(inside, is_text)| {
            let end = inside.find(if is_text { "\")" } else { ")" })?;
            Some((inside, is_text, end))
        });
        match end {
            Some((inside, true, end)) => {
                text.push_str(&format!("'{}'", &inside[..end]));
                rest = &inside[end + 2..];
            }
            Some((inside, false, end)) => {
                text.push_str(&inside[..end]);
                rest = &inside[end + 1..];
            }
            None => {
                let next = rest.chars().next().map_or(1, char::len_utf8);
                text.push_str(&rest[..next]);
                rest = &rest[next..];
            }
        }
    }
    // The planner writes what counts rows as a count of ones.
    text.replace("count(1)", "count(*)")
}
