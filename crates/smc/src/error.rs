//! What can end a primitive, at which step and through whose fault.
//!
//! # Discloses
//! Errors name sites, steps, lengths and places, never a value.

use std::fmt;

use crate::network::{NetworkError, Site};
use crate::wire::{Primitive, WireError};

/// Where in a run something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The primitive that was running.
    pub primitive: Primitive,
    /// The number of the call within the run.
    pub call: u32,
    /// The frame on the link to the peer, within the call.
    pub frame: u16,
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} (call {}, frame {})",
            self.primitive.name(),
            self.call,
            self.frame
        )
    }
}

/// Why a primitive ended without an answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The line to a peer failed, or the peer is gone.
    #[error("{peer} {source}, in {step}")]
    Line {
        /// The peer.
        peer: Site,
        /// Where in the run.
        step: Step,
        /// The network's error.
        source: NetworkError,
    },
    /// A peer's bytes do not decode.
    #[error("invalid message from {peer} in {step}: {source}")]
    InvalidMessage {
        /// The peer.
        peer: Site,
        /// Where in the run.
        step: Step,
        /// What is wrong with the bytes.
        source: WireError,
    },
    /// A peer's message decodes but does not belong here.
    #[error("{peer} misbehaved in {step}: {problem}")]
    PeerMisbehaved {
        /// The peer.
        peer: Site,
        /// Where in the run.
        step: Step,
        /// What the peer did.
        problem: Misbehaviour,
    },
    /// Numbers that the sites opened together and that no tables could give. Who lied cannot be told.
    #[error(
        "the sites' numbers do not fit together in question {question}, `{what}`: {problem}\nhint: some site sent what its records cannot be; nothing of this run can be relied on"
    )]
    Misfit {
        /// The number of the question in the run.
        question: u64,
        /// The name of what was opened.
        what: &'static str,
        /// How the numbers do not fit.
        problem: &'static str,
    },
    /// All sites together have more records than this site accepts.
    #[error(
        "accept.maximum_records: all sites together have {records} records in question {question}, `{what}`, and this site accepts {most} at most\nhint: write a greater maximum_records into the site's file if the sites can have so many; otherwise some site sent what its records cannot be"
    )]
    TooManyRecords {
        /// The number of the question in the run.
        question: u64,
        /// The name of what was opened.
        what: &'static str,
        /// The records of all sites.
        records: u64,
        /// The most that this site accepts.
        most: u64,
    },
    /// Numbers that one peer told all sites and that no table of its own could give.
    #[error(
        "{peer} told numbers that cannot be in question {question}, `{what}`: {problem}\nhint: nothing of this run can be relied on; ask the people of that site"
    )]
    Told {
        /// The peer.
        peer: Site,
        /// The number of the question in the run.
        question: u64,
        /// The name of what was told.
        what: &'static str,
        /// Why the numbers cannot be.
        problem: &'static str,
    },
    /// This site's own values cannot be used.
    #[error("own data: {0}")]
    OwnData(OwnData),
    /// This site's own settings cannot be used.
    #[error("own configuration: {0}")]
    OwnConfig(OwnConfig),
    /// A disclosure that this site's rules do not have.
    #[error("{rule}: does not allow `{what}`; nothing was sent for it")]
    NotAllowed {
        /// The rule, by its name in the site's file.
        rule: &'static str,
        /// The name of what would have been disclosed.
        what: &'static str,
    },
}

impl Error {
    /// The peer that the error speaks of.
    pub const fn peer(&self) -> Option<Site> {
        match self {
            Self::Line { peer, .. }
            | Self::InvalidMessage { peer, .. }
            | Self::PeerMisbehaved { peer, .. }
            | Self::Told { peer, .. } => Some(*peer),
            Self::Misfit { .. }
            | Self::TooManyRecords { .. }
            | Self::OwnData(_)
            | Self::OwnConfig(_)
            | Self::NotAllowed { .. } => None,
        }
    }
}

/// A peer's deed that no honest site does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misbehaviour {
    /// A frame that was already taken.
    #[error("it sent a frame of call {call} again (frame {frame})")]
    Replayed {
        /// Call of the frame.
        call: u32,
        /// Number of the frame.
        frame: u16,
    },
    /// A frame that belongs to another link.
    #[error("it sent a frame from {sender} to {receiver}")]
    WrongSite {
        /// Sender named in the frame.
        sender: Site,
        /// Receiver named in the frame.
        receiver: Site,
    },
    /// A frame of a step that this site is not at.
    #[error("it sent frame {frame} of {} (call {call})", primitive.name())]
    WrongStep {
        /// Primitive of the frame.
        primitive: Primitive,
        /// Call of the frame.
        call: u32,
        /// Number of the frame.
        frame: u16,
    },
    /// A key agreement to which the peer contributed nothing.
    #[error("its public key gives a shared secret that anyone knows")]
    WeakKey,
    /// A first message that differs from the peer's commitment.
    #[error("its keys are not those that it had committed itself to")]
    OtherHello,
    /// Keys of all sites other than those that this site was told.
    #[error("it was told other keys of the sites than this site: who passed them on changed some")]
    OtherKeys,
    /// Other settings than this site's.
    #[error("it runs with other settings than this site")]
    OtherSettings,
    /// Another question than this site's: other lengths, bounds, domains, trees or names; or the same
    /// question after other answers or frames than this site has seen.
    #[error("it asks another question than this site, or was told other answers")]
    OtherQuestion,
    /// A reply that does not fit what was asked.
    #[error("its reply does not fit the question")]
    Inconsistent,
    /// Two items of a mix with one key or one ciphertext: a copy, by which the first could be followed.
    #[error("item {index} is a copy of another")]
    Copied {
        /// The item's place among the items.
        index: usize,
    },
    /// A united list without this site's own items.
    #[error("what it says all sites have together lacks items of this site")]
    Lacking,
}

/// What is wrong with this site's own values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OwnData {
    /// A value above its public bound.
    #[error("value {index} is above the public bound")]
    AboveBound {
        /// The value's place in the slice.
        index: usize,
    },
    /// A value outside its public domain.
    #[error("value {index} is outside its domain")]
    OutsideDomain {
        /// The value's place in the slice.
        index: usize,
    },
    /// A range whose ends are the wrong way round.
    #[error("range {index} ends before it begins")]
    Reversed {
        /// The range's place in the slice.
        index: usize,
    },
    /// A node that the tree does not have.
    #[error("question {index} names a node that its tree does not have")]
    NoSuchNode {
        /// The question's place in the slice.
        index: usize,
    },
    /// An identifier that this site holds twice.
    #[error("identifier {index} stands twice")]
    Duplicate {
        /// The identifier's place in the slice.
        index: usize,
    },
    /// An item of another length than the agreed width.
    #[error("item {index} is not of the agreed width")]
    Width {
        /// The item's place in the slice.
        index: usize,
    },
    /// More items than the agreed capacity.
    #[error("{found} items, above the agreed {capacity}")]
    AboveCapacity {
        /// Items at this site.
        found: usize,
        /// Items agreed.
        capacity: usize,
    },
}

/// What is wrong with this site's own settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OwnConfig {
    /// More sites than a run may have.
    #[error("{found} sites, above the limit of {MAXIMUM_SITES}")]
    Sites {
        /// Sites named.
        found: usize,
    },
    /// Slices that belong together differ in length.
    #[error("{left} questions but {right} answers or thresholds")]
    Lengths {
        /// The length of the first slice.
        left: usize,
        /// The length of the second slice.
        right: usize,
    },
    /// A bound above 2^62.
    #[error("the bound {bound} is above 2^62")]
    Bound {
        /// The bound.
        bound: u64,
    },
    /// A disjunction of comparisons among two sites.
    #[error(
        "a disjunction of comparisons needs three sites: two hold the answers apart, and a third tells whether one holds"
    )]
    Disjunction,
    /// A domain that is empty or holds all 2^64 numbers.
    #[error("the domain of question {index} is empty or too large")]
    Domain {
        /// The question's place in the slice.
        index: usize,
    },
    /// More calls than a run has numbers for.
    #[error("a run has room for 2^32 - 1 calls")]
    Calls,
    /// A question of a standing party whose number does not come after the last of its asker.
    #[error("question {number} of {asker} does not come after its question {last}")]
    Repeated {
        /// The site that asks.
        asker: Site,
        /// The number of the question.
        number: u64,
        /// The number of the site's last question.
        last: u64,
    },
    /// A fan-out below 2.
    #[error("a search needs a fan-out of at least 2")]
    FanOut,
    /// The published threshold's hash sets would be too long to send.
    #[error("the published threshold would send {hashes} hashes; it is meant for small bounds")]
    HashSets {
        /// Hashes in all.
        hashes: u64,
    },
    /// A list that is no tree in which each parent stands before its children.
    #[error("node {node} is not preceded by its parent")]
    Tree {
        /// The node.
        node: usize,
    },
    /// A question about a tree that was not given.
    #[error("question {index} asks about a tree that was not given")]
    NoSuchTree {
        /// The question's place in the slice.
        index: usize,
    },
    /// A capacity above [`MAXIMUM_CAPACITY`], or one whose items together are longer than memory.
    #[error("a capacity of {capacity} items is more than a run can hold")]
    Capacity {
        /// The capacity.
        capacity: usize,
    },
    /// A function that draws random items of another length than the agreed width.
    #[error("a random item has {found} bytes, not the agreed {width}")]
    DecoyWidth {
        /// Bytes of the item.
        found: usize,
        /// Bytes agreed.
        width: usize,
    },
    /// A site that is not in the run.
    #[error("{site} is not in this run")]
    NoSuchSite {
        /// The site.
        site: Site,
    },
}

/// The largest number of sites in a run. Every site hears of every other when it joins, 128 bytes of each.
pub const MAXIMUM_SITES: usize = 1_000;

/// The largest number of items or identifiers that one site may have.
pub const MAXIMUM_CAPACITY: usize = 1 << 28;

/// Refuses a capacity with which the length of a message of all sites' items of `bytes` each, and `more`
/// items, could not be counted. `None` for `bytes` means a length that was too large already.
pub(crate) fn check_capacity(
    sites: usize,
    capacity: usize,
    more: usize,
    bytes: Option<usize>,
) -> Result<(), Error> {
    let items = sites
        .checked_mul(capacity)
        .and_then(|items| items.checked_add(more));
    let length = items
        .zip(bytes)
        .and_then(|(items, bytes)| items.checked_mul(bytes));
    match length {
        Some(length) if capacity <= MAXIMUM_CAPACITY && length <= isize::MAX as usize => Ok(()),
        _ => Err(Error::OwnConfig(OwnConfig::Capacity { capacity })),
    }
}
