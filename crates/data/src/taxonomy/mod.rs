//! Taxonomies: the generalization trees of attributes (the papers' value generalization
//! hierarchies), laid out so that a node is an interval of leaf codes.
//!
//! Nodes stand in pre-order and leaves are numbered from left to right. "Is an ancestor" is two
//! comparisons; the lowest common ancestor of a set of leaves is the lowest common ancestor of its least
//! and greatest leaf. A label may stand at several levels of one branch, as in row-per-leaf files that
//! repeat a value to fill their columns; the levels are told apart by position. A label may not stand in
//! two branches.

mod draft;
mod error;
mod file;
mod make;
mod pairs;
mod propose;
mod rows;

use hashbrown::HashMap;

use crate::field::push_field;
use draft::Draft;

pub use error::TaxonomyError;
pub use file::SECRET_KEY;
pub(crate) use make::number_widths;
pub use make::{MOST_VALUES, MakeError, integer_widths, prefixes};
pub use propose::{by_day, by_frequency, by_number, by_prefix, widths};

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
    height: u16,
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

    /// The node above, or `None` for the root.
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

    /// The lowest node that covers exactly the leaves from `least` to `greatest`, if such a node exists.
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
                push_field(&mut text, self.label(current), b';');
                node = self.parent(current);
            }
            text.push(b'\n');
        }
        // Labels and separators are UTF-8 text, so no byte is lost.
        let text = String::from_utf8_lossy(&text).into_owned();
        // A first label that would be taken for the head of another form, or for a byte-order mark
        // of its own, is quoted: neither was quoted above.
        let is_misread = file::has_parent_child_header(&text) || text.starts_with('\u{feff}');
        match text.split_once(';') {
            Some((label, rest)) if is_misread => format!("\"{label}\";{rest}"),
            _ => text,
        }
    }
}

#[cfg(test)]
mod tests;
