//! A taxonomy while it is read: a tree in reading order, and its layout in leaf order.

use hashbrown::HashMap;

use super::{Node, NodeId, ROOT, Taxonomy, TaxonomyError};

/// More levels than this are a mistake in the file, not a hierarchy.
pub(super) const MOST_LEVELS: usize = 256;

/// A tree while it is read, in reading order.
pub(super) struct Draft {
    file: String,
    nodes: Vec<DraftNode>,
    by_place: HashMap<(usize, Box<str>), usize>,
}

struct DraftNode {
    label: Box<str>,
    parent: usize,
    children: Vec<usize>,
    line: u64,
    is_value: bool,
}

impl Draft {
    pub(super) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            nodes: Vec::new(),
            by_place: HashMap::new(),
        }
    }

    pub(super) fn set_root(&mut self, label: &str, line: u64) -> Result<(), TaxonomyError> {
        match self.nodes.first() {
            None => {
                self.nodes.push(DraftNode {
                    label: label.into(),
                    parent: 0,
                    children: Vec::new(),
                    line,
                    is_value: false,
                });
                Ok(())
            }
            Some(root) if &*root.label == label => Ok(()),
            Some(root) => Err(TaxonomyError::TwoRoots {
                file: self.file.clone(),
                line,
                first: root.label.to_string(),
                second: label.to_owned(),
            }),
        }
    }

    /// Adds a value by its labels from just below the root down to the value itself.
    pub(super) fn add_path<'a>(
        &mut self,
        labels: impl IntoIterator<Item = &'a str>,
        line: u64,
    ) -> Result<(), TaxonomyError> {
        let mut place = 0;
        let mut is_new = false;
        for (level, label) in labels.into_iter().enumerate() {
            if level >= MOST_LEVELS {
                return Err(TaxonomyError::TooDeep {
                    file: self.file.clone(),
                    line,
                    most: MOST_LEVELS,
                });
            }
            if self.nodes[place].is_value {
                return Err(self.leaf_above_leaf(place, line));
            }
            if label.starts_with("[\"") || label.starts_with("{\"") {
                return Err(TaxonomyError::Unreadable {
                    file: self.file.clone(),
                    line,
                    reason: format!(
                        "`{label}` begins as a quoted range or set does in a release\nhint: spell it without the quotes"
                    ),
                });
            }
            (place, is_new) = self.child(place, label, line);
        }
        if !is_new {
            let node = &self.nodes[place];
            if !node.is_value {
                return Err(self.leaf_above_leaf(place, line));
            }
            return Err(TaxonomyError::Repeated {
                file: self.file.clone(),
                line,
                first_line: node.line,
                label: node.label.to_string(),
            });
        }
        self.nodes[place].is_value = true;
        Ok(())
    }

    fn child(&mut self, parent: usize, label: &str, line: u64) -> (usize, bool) {
        let key = (parent, Box::from(label));
        if let Some(found) = self.by_place.get(&key) {
            return (*found, false);
        }
        let index = self.nodes.len();
        self.nodes.push(DraftNode {
            label: label.into(),
            parent,
            children: Vec::new(),
            line,
            is_value: false,
        });
        self.nodes[parent].children.push(index);
        self.by_place.insert(key, index);
        (index, true)
    }

    fn leaf_above_leaf(&self, place: usize, line: u64) -> TaxonomyError {
        TaxonomyError::LeafAboveLeaf {
            file: self.file.clone(),
            line,
            first_line: self.nodes[place].line,
            label: self.nodes[place].label.to_string(),
        }
    }

    /// Numbers nodes in pre-order and leaves from left to right.
    pub(super) fn lay_out(self) -> Result<Taxonomy, TaxonomyError> {
        if self.nodes.len() < 2 {
            return Err(TaxonomyError::Empty { file: self.file });
        }
        let mut nodes: Vec<Node> = Vec::with_capacity(self.nodes.len());
        let mut lines = Vec::with_capacity(self.nodes.len());
        let mut leaves = Vec::new();
        let mut place_of = vec![0 as NodeId; self.nodes.len()];
        let mut stack = vec![0];
        while let Some(index) = stack.pop() {
            let draft = &self.nodes[index];
            let place = nodes.len() as NodeId;
            place_of[index] = place;
            let parent = place_of[draft.parent];
            let first_leaf = leaves.len() as u32;
            if draft.is_value {
                leaves.push(place);
            }
            nodes.push(Node {
                label: draft.label.clone(),
                parent,
                end: place + 1,
                first_leaf,
                last_leaf: first_leaf,
                height: 0,
            });
            lines.push(draft.line);
            stack.extend(draft.children.iter().rev());
        }
        // Children come after their parent, so one pass from the back closes every interval.
        for place in (1..nodes.len()).rev() {
            let (end, last_leaf, height, parent) = {
                let node = &nodes[place];
                (node.end, node.last_leaf, node.height, node.parent as usize)
            };
            let above = &mut nodes[parent];
            above.end = above.end.max(end);
            above.last_leaf = above.last_leaf.max(last_leaf);
            above.height = above.height.max(height + 1);
        }
        let mut taxonomy = Taxonomy {
            by_label: HashMap::with_capacity(nodes.len()),
            nodes,
            leaves,
        };
        for place in 0..taxonomy.node_count() {
            let label = taxonomy.nodes[place as usize].label.clone();
            // Pre-order: a repeated label on one branch is met from the top down, so the lowest
            // one stays.
            if let Some(above) = taxonomy.by_label.insert(label.clone(), place)
                && !taxonomy.is_ancestor(above, place)
            {
                let (first, second) = (lines[above as usize], lines[place as usize]);
                return Err(TaxonomyError::TwoBranches {
                    file: self.file,
                    line: first.max(second),
                    first_line: first.min(second),
                    label: label.into(),
                });
            }
        }
        taxonomy.by_label.insert(ROOT.into(), 0);
        Ok(taxonomy)
    }
}
