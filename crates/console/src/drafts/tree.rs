//! A taxonomy as text that people edit: a label a line, each below its parent by two spaces more, the root first.
//! A label that begins or ends with a space, or has a line break or a quotation mark, stands in quotes as JSON
//! writes it.

use hedgerow::data::Taxonomy;

/// What one level is indented by.
const INDENT: usize = 2;

/// The text of a taxonomy.
pub(crate) fn text(tree: &Taxonomy) -> String {
    let mut text = String::new();
    let mut stack = vec![(tree.root(), 0)];
    while let Some((node, depth)) = stack.pop() {
        text.push_str(&" ".repeat(INDENT * depth));
        text.push_str(&written(tree.label(node)));
        text.push('\n');
        let children: Vec<_> = tree.children(node).collect();
        stack.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
    }
    text
}

fn written(label: &str) -> String {
    let is_plain = label.trim() == label
        && !label.is_empty()
        && !label.starts_with('"')
        && !label.contains(char::is_control);
    match is_plain {
        true => label.to_owned(),
        // Text can always be written as JSON.
        false => serde_json::to_string(label).unwrap_or_default(),
    }
}

/// The taxonomy that a text says; or which line is wrong, and what to do.
pub(crate) fn read(text: &str) -> Result<Taxonomy, String> {
    let lines = (1..).zip(text.lines());
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    let mut root: Option<String> = None;
    // The labels from below the root down to the last line, and the paths of what has nothing below.
    let mut path: Vec<String> = Vec::new();
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut lines = lines.peekable();
    while let Some((number, line)) = lines.next() {
        let (depth, label) = label(line, number)?;
        if root.is_none() {
            if depth > 0 {
                return Err(format!(
                    "line {number}: the first line is indented\nhint: begin with the root, e.g. *, without spaces before it"
                ));
            }
            root = Some(label);
            continue;
        }
        if depth == 0 {
            return Err(format!(
                "line {number}: `{label}` is a second root\nhint: put two spaces before it, so that it stands below the root"
            ));
        }
        if depth > path.len() + 1 {
            return Err(format!(
                "line {number}: `{label}` is {depth} levels deep, and the line above is {} deep\nhint: each level has two spaces more than the one above",
                path.len()
            ));
        }
        path.truncate(depth - 1);
        path.push(label);
        let below = match lines.peek() {
            Some((next, line)) => self::label(line, *next)?.0,
            None => 0,
        };
        if below <= depth {
            paths.push(path.clone());
        }
    }
    let root = root.ok_or("there is no line\nhint: begin with the root, e.g. *")?;
    if paths.is_empty() {
        return Err(String::from(
            "there is nothing below the root\nhint: put the values below it, each on a line with two spaces before it",
        ));
    }
    Taxonomy::from_paths(&root, &paths, "the tree").map_err(|error| error.to_string())
}

/// How deep a line stands, and its label.
fn label(line: &str, number: usize) -> Result<(usize, String), String> {
    let spaces: usize = line
        .chars()
        .take_while(|letter| matches!(letter, ' ' | '\t'))
        .map(|letter| if letter == '\t' { INDENT } else { 1 })
        .sum();
    let label = line.trim();
    if !spaces.is_multiple_of(INDENT) {
        return Err(format!(
            "line {number}: `{label}` has {spaces} spaces before it\nhint: each level has two spaces more than the one above"
        ));
    }
    let label = match label.starts_with('"') {
        true => serde_json::from_str(label)
            .map_err(|_| format!("line {number}: {label} is no text in quotes"))?,
        false => label.to_owned(),
    };
    Ok((spaces / INDENT, label))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for rows in [
            "1;*\n2;*\n",
            "10115;101**;1****;*\n10117;101**;1****;*\n20095;200**;2****;*\n",
            " spaced;*\n\"a\"\"b\";c;*\nflu;c;*\n",
            "ulcer;stomach;*\nflu;*\n",
        ] {
            let tree = Taxonomy::from_text(rows, "rows").unwrap();
            let text = text(&tree);
            assert_eq!(read(&text).unwrap(), tree, "{text}");
        }
        let tabs = read("*\n\tstomach\n\t\tulcer\n\tflu\n").unwrap();
        assert_eq!(tabs, read("*\n\n  stomach\n    ulcer\n\n  flu\n").unwrap());
        assert_eq!((tabs.leaf_count(), tabs.height()), (2, 2));
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, told) in [
            ("", "there is no line"),
            ("*\n", "nothing below the root"),
            ("  *\n", "line 1: the first line is indented"),
            ("*\n  a\nb\n", "line 3: `b` is a second root"),
            ("*\n   a\n", "line 2: `a` has 3 spaces"),
            ("*\n    a\n", "line 2: `a` is 2 levels deep"),
            ("*\n  \"a\n", "line 2: \"a is no text in quotes"),
            ("*\n  a\n  a\n", "a"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(told), "{text:?} {error}");
        }
    }
}
