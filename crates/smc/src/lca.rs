//! Lowest common ancestor: where in public trees the nodes of all sites meet.
//!
//! `published`: TG12 section 4.2, a depth-first search with one conjunction per node; many
//! searches go in step, so that a step is one conjunction for all.
//! `hardened`: one [`all`](crate::Party::all) over every node of all trees at once: three rounds
//! for any number of trees. By TG12 Proposition 8.3 the answers for all nodes follow from the
//! lowest common ancestor, so asking for all of them discloses nothing more.
//!
//! A site without a record under a question holds no node; every node is then an ancestor for it.
//!
//! # Discloses
//! For each question the lowest common ancestor, or that no site has a node, to all sites.
//! [`crate::bits`] says what colluding sites learn.

use crate::bits::Junction;
use crate::error::{Error, OwnConfig, OwnData};
use crate::ledger::{Sealed, What};
use crate::party::{Engine, Party};
use crate::wire::Primitive;

/// A public tree: node 0 is the root, and each parent stands before its children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    parents: Vec<u32>,
    children: Vec<Vec<u32>>,
}

impl Tree {
    /// A tree from the parent of each node; the root's own entry is 0.
    pub fn new(parents: Vec<u32>) -> Result<Self, Error> {
        let mut children = vec![Vec::new(); parents.len()];
        for (node, &parent) in parents.iter().enumerate() {
            let fits = if node == 0 {
                parent == 0
            } else {
                (parent as usize) < node
            };
            if !fits {
                return Err(Error::OwnConfig(OwnConfig::Tree { node }));
            }
            if node > 0 {
                children[parent as usize].push(node as u32);
            }
        }
        if parents.is_empty() {
            return Err(Error::OwnConfig(OwnConfig::Tree { node: 0 }));
        }
        Ok(Self { parents, children })
    }

    /// The number of nodes.
    pub const fn len(&self) -> usize {
        self.parents.len()
    }

    /// Whether the root is the only node.
    pub const fn is_empty(&self) -> bool {
        self.parents.len() == 1
    }

    /// The parent of each node.
    pub(crate) fn parents(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.parents.iter().map(|&parent| u64::from(parent))
    }

    fn parent(&self, node: u32) -> Option<u32> {
        (node != 0).then(|| self.parents[node as usize])
    }

    /// The node and all above it.
    fn ancestors(&self, node: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(node), |&node| self.parent(node))
    }
}

impl Party {
    /// Replaces each node by the lowest common ancestor of all sites' nodes for that question;
    /// question `i` is about `trees[tree_of(i)]`. `None` is a site without a node.
    pub async fn lca(
        &mut self,
        what: What,
        trees: &[Tree],
        tree_of: impl Fn(usize) -> usize,
        nodes: &mut [Option<u32>],
    ) -> Result<(), Error> {
        self.calls += 1;
        check_nodes(trees, &tree_of, nodes)?;
        if self.sites == 1 {
            return Ok(());
        }
        let tree = |index: usize| &trees[tree_of(index)];
        let asked = trees
            .iter()
            .fold(
                self.asking(what, &[])?.word(trees.len() as u64),
                |asking, tree| asking.words(tree.parents()),
            )
            .words((0..nodes.len()).map(|index| tree_of(index) as u64))
            .finish();
        let caveat = self.bits_caveat();
        let begun = self.begin(what, Primitive::Lca, caveat, nodes.len());
        if let Engine::Ideal(chair) = &self.engine {
            let answer = chair
                .ask(Primitive::Lca, asked, nodes.to_vec(), |inputs| {
                    meet(tree, inputs)
                })
                .await?;
            nodes.copy_from_slice(&answer);
        } else if self.is_published() {
            self.lca_depth_first(asked, tree, nodes).await?;
        } else {
            self.lca_at_once(asked, tree, nodes).await?;
        }
        self.ledger.finish(begun, Sealed::new(nodes));
        Ok(())
    }

    /// One conjunction over "I have no node" and every node of every question's tree.
    async fn lca_at_once<'t>(
        &mut self,
        asked: u64,
        tree: impl Fn(usize) -> &'t Tree,
        nodes: &mut [Option<u32>],
    ) -> Result<(), Error> {
        let mut answers = path_bits(&tree, nodes);
        self.conjunction(asked, &mut answers).await?;
        read_paths(tree, &answers, nodes);
        Ok(())
    }

    /// All questions search their trees in step, one node each per conjunction.
    async fn lca_depth_first<'t>(
        &mut self,
        asked: u64,
        tree: impl Fn(usize) -> &'t Tree,
        nodes: &mut [Option<u32>],
    ) -> Result<(), Error> {
        let mut empty: Vec<bool> = nodes.iter().map(Option::is_none).collect();
        self.conjunction(asked, &mut empty).await?;
        // The lowest node known to be common, and which of its children comes next.
        let mut searches: Vec<(usize, u32, usize)> = (0..nodes.len())
            .filter(|&index| !empty[index])
            .map(|index| (index, 0, 0))
            .collect();
        let own = nodes.to_vec();
        nodes
            .iter_mut()
            .zip(&empty)
            .for_each(|(node, &empty)| *node = (!empty).then_some(0));
        loop {
            searches.retain(|&(index, node, next)| {
                nodes[index] = Some(node);
                next < tree(index).children[node as usize].len()
            });
            if searches.is_empty() {
                return Ok(());
            }
            let next_node = |&(index, node, next): &(usize, u32, usize)| {
                tree(index).children[node as usize][next]
            };
            let mut bits: Vec<bool> = searches
                .iter()
                .map(|search| {
                    own[search.0].is_none_or(|own| {
                        tree(search.0)
                            .ancestors(own)
                            .any(|above| above == next_node(search))
                    })
                })
                .collect();
            self.conjunction(asked, &mut bits).await?;
            for (search, common) in searches.iter_mut().zip(bits) {
                *search = if common {
                    (search.0, next_node(search), 0)
                } else {
                    (search.0, search.1, search.2 + 1)
                };
            }
        }
    }

    /// A conjunction whose answers follow from the primitive's own disclosure.
    async fn conjunction(&mut self, asked: u64, bits: &mut [bool]) -> Result<(), Error> {
        let sealed = self
            .sealed_junction(Primitive::Lca, asked, Junction::All, bits)
            .await?;
        sealed.implied();
        Ok(())
    }
}

/// For each question "I have no node", and for every node of its tree whether the node is an ancestor.
pub(crate) fn path_bits<'t>(tree: impl Fn(usize) -> &'t Tree, nodes: &[Option<u32>]) -> Vec<bool> {
    let mut bits = Vec::with_capacity((0..nodes.len()).map(|index| tree(index).len() + 1).sum());
    for (index, node) in nodes.iter().enumerate() {
        bits.push(node.is_none());
        let start = bits.len();
        bits.resize(start + tree(index).len(), node.is_none());
        if let Some(node) = *node {
            tree(index)
                .ancestors(node)
                .for_each(|above| bits[start + above as usize] = true);
        }
    }
    bits
}

/// Sets each node from the conjunctions of [`path_bits`].
pub(crate) fn read_paths<'t>(
    tree: impl Fn(usize) -> &'t Tree,
    answers: &[bool],
    nodes: &mut [Option<u32>],
) {
    let mut rest = answers;
    for (index, node) in nodes.iter_mut().enumerate() {
        let (answer, behind) = rest.split_at(tree(index).len() + 1);
        rest = behind;
        // Common ancestors form one path from the root, so the last of them is the lowest.
        *node = if answer[0] {
            None
        } else {
            answer[1..]
                .iter()
                .rposition(|&bit| bit)
                .map(|node| node as u32)
        };
    }
}

/// Refuses nodes that their trees do not have.
pub(crate) fn check_nodes(
    trees: &[Tree],
    tree_of: impl Fn(usize) -> usize,
    nodes: &[Option<u32>],
) -> Result<(), Error> {
    for (index, node) in nodes.iter().enumerate() {
        let tree = trees.get(tree_of(index));
        let tree = tree.ok_or(Error::OwnConfig(OwnConfig::NoSuchTree { index }))?;
        if node.is_some_and(|node| node as usize >= tree.len()) {
            return Err(Error::OwnData(OwnData::NoSuchNode { index }));
        }
    }
    Ok(())
}

/// The ideal answer: the nodes of all sites, met one after the other.
fn meet<'t>(tree: impl Fn(usize) -> &'t Tree, inputs: &[Vec<Option<u32>>]) -> Vec<Option<u32>> {
    let questions = inputs.first().map_or(0, Vec::len);
    let meet_two = |index: usize, left: u32, right: u32| {
        let above: Vec<u32> = tree(index).ancestors(left).collect();
        tree(index)
            .ancestors(right)
            .find(|node| above.contains(node))
            .unwrap_or(0)
    };
    (0..questions)
        .map(|index| {
            let held = inputs.iter().filter_map(|input| input[index]);
            held.reduce(|left, right| meet_two(index, left, right))
        })
        .collect()
}
