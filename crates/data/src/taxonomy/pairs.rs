//! Parent/child files: two columns, one edge a row, `parent;child`, with or without that header.
//! The node without a parent is the root; nodes without children are the values, in the order in
//! which they stand in the file.

use hashbrown::HashMap;

use super::draft::{Draft, MOST_LEVELS};
use super::file::{for_each_row, has_parent_child_header};
use super::{Taxonomy, TaxonomyError};

impl Taxonomy {
    /// Reads parent/child text.
    pub fn from_pairs(text: &str, name: &str) -> Result<Self, TaxonomyError> {
        let mut parent_of: HashMap<String, (String, u64)> = HashMap::new();
        let mut order: Vec<(String, u64)> = Vec::new();
        let mut is_parent: HashMap<String, u64> = HashMap::new();
        let skip_header = has_parent_child_header(text);
        for_each_row(text, name, |line, fields| {
            if line == 1 && skip_header {
                return Ok(());
            }
            let [parent, child] = fields else {
                return Err(TaxonomyError::Unreadable {
                    file: name.to_owned(),
                    line,
                    reason: format!("{} columns, expected two: parent;child", fields.len()),
                });
            };
            if parent.is_empty() {
                return Err(TaxonomyError::Unreadable {
                    file: name.to_owned(),
                    line,
                    reason: String::from("the parent is empty, expected a label"),
                });
            }
            is_parent.entry((*parent).to_owned()).or_insert(line);
            let place = ((*parent).to_owned(), line);
            if let Some((first_parent, first_line)) = parent_of.insert((*child).to_owned(), place) {
                let (label, file) = ((*child).to_owned(), name.to_owned());
                return Err(if first_parent == *parent {
                    TaxonomyError::Repeated {
                        file,
                        line,
                        first_line,
                        label,
                    }
                } else {
                    TaxonomyError::TwoBranches {
                        file,
                        line,
                        first_line,
                        label,
                    }
                });
            }
            order.push(((*child).to_owned(), line));
            Ok(())
        })?;

        refuse_cycles(&order, &parent_of, name)?;
        let mut draft = Draft::new(name);
        for (child, line) in &order {
            if is_parent.contains_key(child) {
                continue;
            }
            let mut path = vec![child.as_str()];
            while let Some((parent, _)) = parent_of.get(path[path.len() - 1]) {
                if path.len() > MOST_LEVELS {
                    return Err(TaxonomyError::TooDeep {
                        file: name.to_owned(),
                        line: *line,
                        most: MOST_LEVELS,
                    });
                }
                path.push(parent);
            }
            // A value has a parent, so the path holds at least two labels and the last is a root.
            let root = path[path.len() - 1];
            draft.set_root(root, is_parent[root])?;
            draft.add_path(path[..path.len() - 1].iter().rev().copied(), *line)?;
        }
        draft.lay_out()
    }
}

/// Nodes that no value hangs under stand on a circle: follow parents from each of them.
fn refuse_cycles(
    order: &[(String, u64)],
    parent_of: &HashMap<String, (String, u64)>,
    name: &str,
) -> Result<(), TaxonomyError> {
    let mut is_safe: HashMap<&str, bool> = HashMap::new();
    for (start, line) in order {
        let mut walked = Vec::new();
        let mut node = start.as_str();
        loop {
            match is_safe.get(node) {
                Some(true) => break,
                Some(false) => {
                    return Err(TaxonomyError::Cycle {
                        file: name.to_owned(),
                        line: *line,
                        label: node.to_owned(),
                    });
                }
                None => {
                    is_safe.insert(node, false);
                    walked.push(node);
                }
            }
            match parent_of.get(node) {
                Some((parent, _)) => node = parent,
                None => break,
            }
        }
        for node in walked {
            is_safe.insert(node, true);
        }
    }
    Ok(())
}
