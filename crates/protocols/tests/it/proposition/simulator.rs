//! TG12 Proposition 8.9 as a program: from sizes and closures of clusters, and from which clusters a site
//! asks about in its turn (8.2.3), every value of every site's ledger. It sees no record.

use hedgerow_protocols::horizontal::clustering::{
    ASKED_CLUSTERS, CLOSURES_WITHOUT_RECORD, CLUSTER_CLOSURES, CLUSTER_SIZES,
};
use hedgerow_protocols::horizontal::mondrian::RECORDS;
use hedgerow_smc::What;

/// What a site learns of a cluster: c, and the closure as a node of each taxonomy. With its own records of
/// the cluster, which it has anyway, this is I(C) of the proposition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Known {
    pub(crate) closure: Vec<u32>,
    pub(crate) size: u64,
}

/// An attribute, and the node of a cluster without a record there.
pub(crate) type Without = (usize, Option<u32>);

/// What the players learn, step by step.
#[derive(Debug)]
pub(crate) enum Learned {
    /// The first clustering (step 3).
    Start(Vec<Known>),
    /// In a turn, for clusters that the site asks about, the closure without one of its records in the
    /// attributes where it may change (step 6); `None` if nobody has another record there.
    Asked(Vec<(usize, Vec<Without>)>),
    /// The end of a turn: the clusters that changed (step 19).
    Turn(Vec<(usize, Known)>),
    /// Large clusters and their new halves (step 23); nothing became of a split with an empty half.
    Split(Vec<((usize, usize), [Known; 2])>),
}

/// One entry of a ledger: what was disclosed, and all its values.
pub(crate) type Line = (What, Vec<u64>);

/// The whole ledger of a clustering, the same at every site.
pub(crate) fn ledger(learned: &[Learned]) -> Vec<Line> {
    let mut simulator = Simulator {
        clusters: Vec::new(),
        lines: Vec::new(),
    };
    learned.iter().for_each(|learned| simulator.step(learned));
    simulator.lines
}

struct Simulator {
    /// All clusters as the players know them; closures of clusters that are gone stay.
    clusters: Vec<Known>,
    lines: Vec<Line>,
}

impl Simulator {
    fn step(&mut self, learned: &Learned) {
        match learned {
            Learned::Start(known) => {
                let sizes: Vec<u64> = known.iter().map(|known| known.size).collect();
                self.lines.push((RECORDS, vec![sizes.iter().sum()]));
                self.lines.push((CLUSTER_SIZES, sizes));
                // Searched from the roots on, which have the number 0.
                let nodes = known.iter().flat_map(|known| &known.closure);
                let nodes = nodes.copied().map(u64::from).collect();
                self.lines.push((CLUSTER_CLOSURES, nodes));
                self.clusters = known.clone();
            }
            Learned::Asked(asked) => {
                let mut masks = vec![0; self.clusters.len()];
                let mut nodes = Vec::new();
                for (cluster, found) in asked {
                    for (attribute, node) in found {
                        masks[*cluster] |= 1 << attribute;
                        let from = self.clusters[*cluster].closure[*attribute];
                        nodes.push(node.map_or(u64::MAX, |node| u64::from(node - from)));
                    }
                }
                self.lines.push((ASKED_CLUSTERS, masks));
                self.lines.push((CLOSURES_WITHOUT_RECORD, nodes));
            }
            Learned::Turn(changed) => {
                // Nothing more is asked about.
                self.lines
                    .push((ASKED_CLUSTERS, vec![0; self.clusters.len()]));
                let mut has_changed = vec![false; self.clusters.len()];
                let mut closures = Vec::new();
                for (cluster, now) in changed {
                    has_changed[*cluster] = true;
                    let known = &mut self.clusters[*cluster];
                    known.size = now.size;
                    // Of a cluster that is gone, the closure that everybody knew before.
                    if now.size > 0 {
                        known.closure.clone_from(&now.closure);
                    }
                    closures.extend(known.closure.iter().copied().map(u64::from));
                }
                let sizes = self.clusters.iter().zip(has_changed);
                let sizes =
                    sizes.map(|(known, has_changed)| known.size << 1 | u64::from(has_changed));
                let sizes = sizes.collect();
                self.lines.push((CLUSTER_SIZES, sizes));
                if !changed.is_empty() {
                    self.lines.push((CLUSTER_CLOSURES, closures));
                }
            }
            Learned::Split(parts) => {
                let of = |half: usize| parts.iter().map(move |(_, known)| known[half].size);
                self.lines
                    .push((CLUSTER_SIZES, of(0).chain(of(1)).collect()));
                let mut nodes = Vec::new();
                for ((cluster, half), parts) in parts {
                    let before = self.clusters[*cluster].closure.clone();
                    // A half that nothing came of stays without records.
                    let empty = Known {
                        closure: vec![0; before.len()],
                        size: 0,
                    };
                    self.clusters.resize(half + 1, empty);
                    if parts.iter().any(|part| part.size == 0) {
                        continue;
                    }
                    for (place, part) in [cluster, half].into_iter().zip(parts) {
                        let found = part.closure.iter().zip(&before);
                        nodes.extend(found.map(|(node, from)| u64::from(node - from)));
                        self.clusters[*place].clone_from(part);
                    }
                }
                if !nodes.is_empty() {
                    self.lines.push((CLUSTER_CLOSURES, nodes));
                }
            }
        }
    }
}
