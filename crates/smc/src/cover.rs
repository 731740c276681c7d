//! Covers: lowest common ancestors, ranges and sets, asked together in the rounds of one conjunction.
//!
//! A release writes an attribute as a node, a range or a set of values. At the hardened level each of these
//! is read off bits that follow from it: a bit for each node of a tree ([`crate::lca`]), a bit for each value
//! and end of a range ([`crate::order`], in one step), a bit for each value of a set. So one
//! [`any`](Party::any) over all these bits asks for everything at once, in three rounds. Of few bits, three
//! sites or more ask by comparison whether at least one site has each ([`crate::compare`]): twice the bytes,
//! two rounds, and the same trust. Ranges over domains that one step does not search are asked afterwards,
//! as is everything at the published level, one kind after the other.
//!
//! # Discloses
//! For each question its answer, to all sites. [`crate::bits`] says what colluding sites learn.

use std::ops::RangeInclusive;

use crate::bits::Junction;
use crate::compare::{Bounds, Question};
use crate::error::{Error, OwnConfig};
use crate::lca::{Tree, check_nodes, path_bits, read_paths};
use crate::ledger::{Sealed, What};
use crate::order::{check_ranges, size_of};
use crate::party::Party;
use crate::wire::Primitive;

/// The most bits for which a round is saved: a round between institutions, 30 ms of 100 Mbit/s, is about as
/// long as the other form saves bytes.
const FEW: usize = 1 << 16;

/// Questions for covers, with this site's values, which the answers replace.
#[derive(Debug)]
pub struct Covers<'c> {
    /// The trees of the nodes.
    pub trees: &'c [Tree],
    /// For each node, the place of its tree.
    pub tree_of: &'c [usize],
    /// Nodes, of which the lowest common ancestors are asked, as [`Party::lca`] does.
    pub nodes: &'c mut [Option<u32>],
    /// For each range, the public domain of its values.
    pub domains: &'c [RangeInclusive<u64>],
    /// Ranges, of which the ranges around all sites' are asked, as [`Party::ranges`] does.
    pub ranges: &'c mut [Option<(u64, u64)>],
    /// Whether this site has a value, of each value of the sets, as [`Party::any`] asks.
    pub bits: &'c mut [bool],
}

impl Covers<'_> {
    fn check(&self) -> Result<(), Error> {
        let lengths = [
            (self.tree_of.len(), self.nodes.len()),
            (self.domains.len(), self.ranges.len()),
        ];
        for (left, right) in lengths {
            if left != right {
                return Err(Error::OwnConfig(OwnConfig::Lengths { left, right }));
            }
        }
        check_nodes(self.trees, |index| self.tree_of[index], self.nodes)?;
        check_ranges(self.ranges, &|index| self.domains[index].clone())
    }
}

impl Party {
    /// Replaces this site's nodes, ranges and bits by those that cover all sites'.
    pub async fn cover(&mut self, what: What, covers: Covers<'_>) -> Result<(), Error> {
        self.check_fan_out()?;
        covers.check()?;
        if self.sites == 1 {
            self.calls += 1;
            return Ok(());
        }
        if self.is_published() {
            return self.covers_apart(what, covers).await;
        }
        self.covers_at_once(what, covers).await
    }

    /// One kind after the other.
    async fn covers_apart(&mut self, what: What, covers: Covers<'_>) -> Result<(), Error> {
        if !covers.nodes.is_empty() {
            let tree_of = |index: usize| covers.tree_of[index];
            self.lca(what, covers.trees, tree_of, covers.nodes).await?;
        }
        if !covers.bits.is_empty() {
            self.any(what, covers.bits).await?;
        }
        if !covers.ranges.is_empty() {
            let domain_of = |index: usize| covers.domains[index].clone();
            self.ranges(what, domain_of, covers.ranges).await?;
        }
        Ok(())
    }

    async fn covers_at_once(&mut self, what: What, covers: Covers<'_>) -> Result<(), Error> {
        self.calls += 1;
        let tree = |index: usize| &covers.trees[covers.tree_of[index]];
        let (at_once, later) = self.searched_at_once(covers.domains)?;
        let mut asking = self.asking(what, &[])?.word(covers.trees.len() as u64);
        for tree in covers.trees {
            asking = asking.words(tree.parents());
        }
        asking = asking.words(covers.tree_of.iter().map(|&tree| tree as u64));
        for index in &at_once {
            asking = asking.domain(&covers.domains[*index]);
        }
        let asked = asking.word(covers.bits.len() as u64).finish();

        // An ancestor is one at all sites unless it is none at any.
        let mut bits = path_bits(tree, covers.nodes);
        bits.iter_mut().for_each(|bit| *bit = !*bit);
        let of_nodes = bits.len();
        for index in &at_once {
            push_ends(&covers.domains[*index], covers.ranges[*index], &mut bits);
        }
        let of_ranges = bits.len();
        bits.extend_from_slice(covers.bits);

        let nodes = (Primitive::Lca, self.bits_caveat(), covers.nodes.len());
        let ranges = (
            Primitive::Extremum,
            self.extremes_caveat(),
            2 * at_once.len(),
        );
        let sets = (Primitive::Bits, self.bits_caveat(), covers.bits.len());
        let begun = [nodes, sets, ranges].map(|(by, caveat, values)| {
            let is_asked = values > 0;
            is_asked.then(|| self.begin(what, by, caveat, values))
        });
        if !bits.is_empty() {
            self.any_of(asked, &mut bits).await?;
        }

        let [nodes, sets, ranges] = begun;
        let (found, rest) = bits.split_at_mut(of_nodes);
        found.iter_mut().for_each(|bit| *bit = !*bit);
        read_paths(tree, found, covers.nodes);
        if let Some(begun) = nodes {
            self.ledger.finish(begun, Sealed::new(&mut *covers.nodes));
        }
        let (found, of_sets) = rest.split_at(of_ranges - of_nodes);
        let mut found = found;
        for index in &at_once {
            covers.ranges[*index] = take_ends(&covers.domains[*index], &mut found);
        }
        if let Some(begun) = ranges {
            let ends = at_once.iter().flat_map(|index| {
                let range = covers.ranges[*index];
                [range.map(|(low, _)| low), range.map(|(_, high)| high)]
            });
            let ends: Vec<Option<u64>> = ends.collect();
            self.ledger.finish(begun, Sealed::new(ends));
        }
        covers.bits.copy_from_slice(of_sets);
        if let Some(begun) = sets {
            self.ledger.finish(begun, Sealed::new(&mut *covers.bits));
        }
        self.cover_later(what, covers.domains, &later, covers.ranges)
            .await
    }

    /// Replaces each bit by whether any site has it; all bits follow from the answers that the ledger names.
    async fn any_of(&mut self, asked: u64, bits: &mut [bool]) -> Result<(), Error> {
        if self.sites == 2 || bits.len() > FEW {
            let sealed = self.sealed_junction(Primitive::Bits, asked, Junction::Any, bits);
            sealed.await?.implied();
            return Ok(());
        }
        let counts: Vec<u64> = bits.iter().map(|&bit| u64::from(bit)).collect();
        let question = Question {
            bounds: Bounds::All(self.sites as u64),
            counts: &counts,
            thresholds: &vec![1; counts.len()],
        };
        let sealed = self.sealed_at_least(Primitive::Bits, asked, &question, bits);
        sealed.await?.implied();
        Ok(())
    }

    /// Which domains are searched in one step, and which are not: all of them or none, since who takes more
    /// steps for one range can take them for all.
    fn searched_at_once(
        &self,
        domains: &[RangeInclusive<u64>],
    ) -> Result<(Vec<usize>, Vec<usize>), Error> {
        let sizes = domains.iter().enumerate();
        let sizes: Vec<u64> = sizes
            .map(|(index, domain)| size_of(index, domain))
            .collect::<Result<_, Error>>()?;
        let all: u128 = sizes.iter().map(|size| 2 * u128::from(*size)).sum();
        let are_few = all <= self.settings.at_once as u128;
        let mut sizes = sizes.into_iter();
        let is_one_step = are_few || sizes.all(|size| size < self.settings.fan_out as u64);
        let all = (0..domains.len()).collect();
        Ok(match is_one_step {
            true => (all, Vec::new()),
            false => (Vec::new(), all),
        })
    }

    /// Asks for ranges that take more than one step.
    async fn cover_later(
        &mut self,
        what: What,
        domains: &[RangeInclusive<u64>],
        later: &[usize],
        ranges: &mut [Option<(u64, u64)>],
    ) -> Result<(), Error> {
        if later.is_empty() {
            return Ok(());
        }
        let mut found: Vec<Option<(u64, u64)>> = later.iter().map(|index| ranges[*index]).collect();
        let domain_of = |place: usize| domains[later[place]].clone();
        self.ranges(what, domain_of, &mut found).await?;
        for (index, range) in later.iter().zip(found) {
            ranges[*index] = range;
        }
        Ok(())
    }
}

/// For each value whether this site has it or a lesser one; then, for each but the first, whether this site
/// has it or a greater one.
fn push_ends(domain: &RangeInclusive<u64>, own: Option<(u64, u64)>, bits: &mut Vec<bool>) {
    bits.extend(
        domain
            .clone()
            .map(|value| own.is_some_and(|(low, _)| low <= value)),
    );
    let behind_first = domain.clone().skip(1);
    bits.extend(behind_first.map(|value| own.is_some_and(|(_, high)| value <= high)));
}

/// The range that the bits of [`push_ends`] of all sites say; `None` where no site has a value.
fn take_ends(domain: &RangeInclusive<u64>, bits: &mut &[bool]) -> Option<(u64, u64)> {
    // One step searches the domain, so its size is small.
    let size = (domain.end() - domain.start()) as usize + 1;
    let (up_to, behind) = bits.split_at(size);
    let (from, behind) = behind.split_at(size - 1);
    *bits = behind;
    let low = up_to.iter().position(|bit| *bit)? as u64;
    let high = from
        .iter()
        .rposition(|bit| *bit)
        .map_or(0, |place| place + 1) as u64;
    // Bits of honest sites are monotone; a liar's must not turn the range inside out.
    Some((domain.start() + low, domain.start() + high.max(low)))
}
