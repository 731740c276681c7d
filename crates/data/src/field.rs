//! A field of a file of separated values, quoted where it must be.

/// Appends a field, quoted where a reader would otherwise split or drop it.
pub(crate) fn push_field(bytes: &mut Vec<u8>, text: &str, delimiter: u8) {
    let must_quote = text.is_empty()
        || text
            .bytes()
            .any(|byte| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r'));
    if must_quote {
        bytes.push(b'"');
        bytes.extend_from_slice(text.replace('"', "\"\"").as_bytes());
        bytes.push(b'"');
    } else {
        bytes.extend_from_slice(text.as_bytes());
    }
}
