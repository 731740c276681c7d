//! A form with a file, as browsers send one (RFC 7578): parts between lines of a boundary, each with its name.

/// A part of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part<'b> {
    pub(crate) name: &'b str,
    /// What the file is called where it came from.
    pub(crate) file: Option<&'b str>,
    pub(crate) bytes: &'b [u8],
}

/// The parts of a form; nothing where it is none. `kind` is the header that says what was sent.
pub(crate) fn parts<'b>(kind: &str, body: &'b [u8]) -> Option<Vec<Part<'b>>> {
    let (_, boundary) = kind.split_once("boundary=")?;
    let boundary = boundary.split(';').next()?.trim().trim_matches('"');
    if boundary.is_empty() {
        return None;
    }
    let mut rest = body
        .strip_prefix(b"--")?
        .strip_prefix(boundary.as_bytes())?;
    let end = format!("\r\n--{boundary}");
    let mut parts = Vec::new();
    loop {
        if rest.starts_with(b"--") {
            return Some(parts);
        }
        rest = rest.strip_prefix(b"\r\n")?;
        let head = find(rest, b"\r\n\r\n")?;
        let (lines, after) = (&rest[..head], &rest[head + 4..]);
        let length = find(after, end.as_bytes())?;
        let (name, file) = named(std::str::from_utf8(lines).ok()?)?;
        let bytes = &after[..length];
        parts.push(Part { name, file, bytes });
        rest = &after[length + end.len()..];
    }
}

/// The name of a part, and that of its file.
fn named(head: &str) -> Option<(&str, Option<&str>)> {
    let mut lines = head.split("\r\n");
    let line = lines.find(|line| {
        let start = line.get(..20).unwrap_or_default();
        start.eq_ignore_ascii_case("content-disposition:")
    })?;
    // `filename="` ends with `name="` too, so the name is the one after a space.
    let value = |key: &str| {
        let (_, rest) = line.split_once(key)?;
        rest.split('"').next()
    };
    Some((value(" name=\"")?, value(" filename=\"")))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    let first = *what.first()?;
    let mut from = 0;
    loop {
        let place = from + text[from..].iter().position(|byte| *byte == first)?;
        if text[place..].starts_with(what) {
            return Some(place);
        }
        from = place + 1;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const KIND: &str = "multipart/form-data; boundary=----x";

    fn body(boundary: &str) -> Vec<u8> {
        format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\nabc\r\n--{boundary}\r\nContent-Disposition: form-data; name=\"table\"; filename=\"my table.csv\"\r\nContent-Type: text/csv\r\n\r\na,b\r\n1,2\r\n\r\n--{boundary}--\r\n"
        )
        .into_bytes()
    }

    #[test]
    fn parts_are_read_as_browsers_write_them() {
        let body = body("----x");
        let parts = parts(KIND, &body).unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!(
            (parts[0].name, parts[0].file, parts[0].bytes),
            ("csrf", None, &b"abc"[..])
        );
        assert_eq!(
            (parts[1].name, parts[1].file),
            ("table", Some("my table.csv"))
        );
        assert_eq!(parts[1].bytes, b"a,b\r\n1,2\r\n");
    }

    #[test]
    fn what_is_cut_short_or_of_another_boundary_is_no_form() {
        let whole = body("----x");
        for length in 0..whole.len() - 4 {
            assert_eq!(parts(KIND, &whole[..length]), None, "{length}");
        }
        assert_eq!(parts(KIND, &body("----y")), None);
        assert_eq!(parts("multipart/form-data", &whole), None);
        assert_eq!(parts("multipart/form-data; boundary=", &whole), None);
    }
}
