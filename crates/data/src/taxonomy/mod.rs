//! Taxonomies: the generalization trees of attributes (the papers' value generalization
//! hierarchies), laid out so that a node is an interval of leaf codes.
//!
//! Nodes stand in pre-order and leaves are numbered from left to right. "Is an ancestor" is two
//! comparisons; the lowest common ancestor of a set of leaves is that of its least and greatest
//! leaf. A label may stand at several levels of one branch, as in row-per-leaf files that repeat a
//! value to fill their columns; the levels are told apart by position. It may not stand in two
//! branches.

mod make;
mod pairs;
mod rows;

use hashbrown::HashMap;

pub use make::{MakeError, integer_widths, prefixes};

/// The label that stands for the root of every taxonomy in a release.
pub const ROOT: &str = "*";

/// A node of a taxonomy: its position in pre-order.
pub type NodeId = u32;

/// A generalization tree over the values of one attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taxonomy {
    nodes: Vec<Node>,
    /// Leaf code to node.
    leaves: Vec<NodeId>,
    /// Label to the lowest node that carries it; `*` to the root.
    by_label: HashMap<Box<str>, NodeId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    label: Box<str>,
    parent: NodeId,
    /// One past the last node of this node's subtree, in pre-order.
    end: NodeId,
    first_leaf: u32,
    last_leaf: u32,
    depth: u16,
    height: u16,
}

/// Why a taxonomy was refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaxonomyError {
    /// There is no value in it.
    #[error("{file}: the taxonomy is empty\nhint: write one row for each value: value;parent;…;*")]
    Empty {
        /// The file.
        file: String,
    },
    /// The file cannot be read as text.
    #[error("{file}:{line}: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// Its line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// Two rows end in different roots, or two nodes have no parent.
    #[error(
        "{file}:{line}: two roots: `{second}` here, `{first}` before\nhint: every row must end in the same root, usually `*`"
    )]
    TwoRoots {
        /// The file.
        file: String,
        /// Line of the second root.
        line: u64,
        /// The root seen first.
        first: String,
        /// The other one.
        second: String,
    },
    /// The same label stands in two branches.
    #[error(
        "{file}:{line}: `{label}` stands in two branches: here and at line {first_line}\nhint: a value may have one parent only; rename one of the two"
    )]
    TwoBranches {
        /// The file.
        file: String,
        /// Line of the second place.
        line: u64,
        /// Line of the first place.
        first_line: u64,
        /// The label.
        label: String,
    },
    /// The same value has two rows.
    #[error(
        "{file}:{line}: value `{label}` stands here again; it first stands at line {first_line}"
    )]
    Repeated {
        /// The file.
        file: String,
        /// Line of the second row.
        line: u64,
        /// Line of the first row.
        first_line: u64,
        /// The value.
        label: String,
    },
    /// A label is both a value and a node above other values.
    #[error(
        "{file}:{line}: `{label}` is both a value and a node above other values (line {first_line})\nhint: repeat it to give the value a place of its own below the node: {label};{label};…"
    )]
    LeafAboveLeaf {
        /// The file.
        file: String,
        /// The line that was read second.
        line: u64,
        /// The line that was read first.
        first_line: u64,
        /// The label.
        label: String,
    },
    /// Parent/child pairs go round in a circle.
    #[error("{file}:{line}: `{label}` is its own ancestor")]
    Cycle {
        /// The file.
        file: String,
        /// A line of the circle.
        line: u64,
        /// A label on the circle.
        label: String,
    },
    /// The tree is deeper than any hierarchy of values is.
    #[error("{file}:{line}: more than {most} levels")]
    TooDeep {
        /// The file.
        file: String,
        /// The line.
        line: u64,
        /// The limit.
        most: usize,
    },
}

impl Taxonomy {
    /// A tree with one level: each value, and the root above them all.
    pub fn flat<S: AsRef<str>>(values: &[S], name: &str) -> Result<Self, TaxonomyError> {
        let mut draft = Draft::new(name);
        draft.set_root(ROOT, 1)?;
        for (index, value) in values.iter().enumerate() {
            draft.add_path([value.as_ref()], index as u64 + 1)?;
        }
        draft.lay_out()
    }

    /// Number of values.
    pub fn leaf_count(&self) -> u32 {
        self.leaves.len() as u32
    }

    /// Number of nodes, values included.
    pub fn node_count(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// Levels between the root and the deepest value.
    pub fn height(&self) -> u16 {
        self.nodes[0].height
    }

    /// The root.
    pub fn root(&self) -> NodeId {
        0
    }

    /// The node of a leaf code.
    pub fn leaf(&self, code: u32) -> NodeId {
        self.leaves[code as usize]
    }

    /// The label as the file spells it.
    pub fn label(&self, node: NodeId) -> &str {
        &self.nodes[node as usize].label
    }

    /// The node above, or none for the root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        (node != 0).then(|| self.nodes[node as usize].parent)
    }

    /// The nodes right below, from left to right.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let end = self.nodes[node as usize].end;
        let mut next = node + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            next = self.nodes[child as usize].end;
            Some(child)
        })
    }

    /// Steps from the root down to the node.
    pub fn depth(&self, node: NodeId) -> u16 {
        self.nodes[node as usize].depth
    }

    /// Steps from the node down to its deepest value: 0 for a value.
    pub fn node_height(&self, node: NodeId) -> u16 {
        self.nodes[node as usize].height
    }

    /// The least and greatest leaf code under a node.
    pub fn interval(&self, node: NodeId) -> (u32, u32) {
        let node = &self.nodes[node as usize];
        (node.first_leaf, node.last_leaf)
    }

    /// Whether `ancestor` is `node` or stands above it.
    pub fn is_ancestor(&self, ancestor: NodeId, node: NodeId) -> bool {
        ancestor <= node && node < self.nodes[ancestor as usize].end
    }

    /// The lowest node above all leaves from `least` to `greatest`.
    pub fn lowest_common_ancestor(&self, least: u32, greatest: u32) -> NodeId {
        let mut node = self.leaves[least as usize];
        while self.nodes[node as usize].last_leaf < greatest {
            node = self.nodes[node as usize].parent;
        }
        node
    }

    /// The lowest node that covers exactly the leaves from `least` to `greatest`, if there is one.
    pub fn node_of_interval(&self, least: u32, greatest: u32) -> Option<NodeId> {
        let node = self.lowest_common_ancestor(least, greatest);
        (self.interval(node) == (least, greatest)).then_some(node)
    }

    /// The lowest node with this label; `*` is always the root.
    pub fn find(&self, label: &str) -> Option<NodeId> {
        self.by_label.get(label).copied()
    }

    /// The leaf code of a value.
    pub fn value(&self, label: &str) -> Option<u32> {
        let node = &self.nodes[self.find(label)? as usize];
        (node.height == 0).then_some(node.first_leaf)
    }

    /// All labels, in pre-order.
    pub fn labels(&self) -> impl Iterator<Item = &str> + '_ {
        self.nodes.iter().map(|node| &*node.label)
    }

    /// The values, in leaf order.
    pub fn values(&self) -> impl Iterator<Item = &str> + '_ {
        self.leaves.iter().map(|node| self.label(*node))
    }

    /// The tree as a row-per-leaf file, which [`Taxonomy::from_rows`] reads back.
    pub fn to_rows(&self) -> String {
        let mut text = Vec::new();
        for leaf in &self.leaves {
            let mut node = Some(*leaf);
            while let Some(current) = node {
                if current != *leaf {
                    text.push(b';');
                }
                crate::files::push_field(&mut text, self.label(current), b';');
                node = self.parent(current);
            }
            text.push(b'\n');
        }
        // Labels are text and so are the separators: nothing is lost.
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// More levels than this are a mistake in the file, not a hierarchy.
const MOST_LEVELS: usize = 256;

/// A tree while it is read, in reading order.
struct Draft {
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
    fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            nodes: Vec::new(),
            by_place: HashMap::new(),
        }
    }

    fn set_root(&mut self, label: &str, line: u64) -> Result<(), TaxonomyError> {
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
    fn add_path<'a>(
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
    fn lay_out(self) -> Result<Taxonomy, TaxonomyError> {
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
            let depth = if place == 0 {
                0
            } else {
                nodes[parent as usize].depth + 1
            };
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
                depth,
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

#[cfg(test)]
mod tests;
