//! The loss of privacy that a run's own transcript shows: JX08 section 5.2, equation 1.
//!
//! LoP = P(C | IR, R) - P(C | R): how much more often a claim C about a site's data is right when it is
//! made with what passed by (IR) beside the result (R). The adversary is always the next site on the ring,
//! which follows the protocol and keeps what it receives. [`Witness`] is what one site held and saw;
//! [`measure`] makes the claims of every site about its predecessor and counts how often they are right.
//! The measure asks nothing of what the calls were for: anonymization, a query, or a union of its own.
//!
//! Extremes (after Xiong, Chitti and Liu, ICDCS 2005, from whom JX08 has the protocol): a site claims
//! that its predecessor holds the value that it passed on, in each lap anew. Where that value is the
//! result, the result alone names it, so nothing is lost (LoP 0 by definition). Where nothing has passed
//! yet, no claim is made. Otherwise P(C | R) is the chance of a guess among the values that the result
//! leaves. Values that several sites hold count as right: the claim is about the value.
//!
//! Unions: the leader's successor claims that the leader's set is what passed and is in the result
//! (equation 4: it knows who leads; equation 5: every site claims that of its predecessor), and of a
//! single item that came so that it is the leader's (equation 7). [`crate::union::loss`] has the bounds.
//!
//! Sums show a single neighbour a uniform number, whatever was summed, so there is no claim to make: the
//! medians and sizes of JX08's anonymization lose nothing to a single site beyond the counts that it opens.
//!
//! # Discloses
//! Nothing in a run. A witness holds data of its site: only a simulation, which has everybody's data
//! already, keeps witnesses.

mod extremes;
mod unions;

pub use extremes::Extremes;
pub use unions::{LEVEL, Unions};

use serde::{Deserialize, Serialize};

use crate::network::Site;

/// What one site held, and what it saw pass by, in the published calls of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Witness {
    /// The site whose messages this site saw.
    pub predecessor: Site,
    /// The calls of extremes of data, in order.
    pub extremes: Vec<Laps>,
    /// The unions, in order.
    pub unions: Vec<Lists>,
}

/// A call of extremes at one site. Numbers count from the end of the domain that is not asked for, from 1
/// on; 0 stands for no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Laps {
    /// What the site holds, question by question.
    pub held: Vec<u64>,
    /// The answers.
    pub found: Vec<u64>,
    /// What the predecessor passed on, lap by lap, question by question.
    pub seen: Vec<u64>,
}

/// A union at one site; items as words, sorted.
#[derive(Debug, Clone, PartialEq)]
pub struct Lists {
    /// The items that the site holds.
    pub held: Vec<u64>,
    /// The list that the predecessor passed on.
    pub seen: Vec<u64>,
    /// The result.
    pub united: Vec<u64>,
    /// Whether the site led.
    pub leads: bool,
    /// The random items of a leader.
    pub random: usize,
    /// How many items the domain has.
    pub domain: f64,
}

impl Witness {
    /// A witness of what this predecessor passes on, that has seen nothing yet.
    pub const fn of(predecessor: Site) -> Self {
        Self {
            predecessor,
            extremes: Vec::new(),
            unions: Vec::new(),
        }
    }
}

/// The loss of privacy of a run, as its transcript shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossOfPrivacy {
    /// Of extremes, where the run asked for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extremes: Option<Extremes>,
    /// Of unions, where the run made any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unions: Option<Unions>,
}

/// Measures the loss of privacy on what all sites held and saw, in the order of the sites.
pub fn measure(witnesses: &[Witness]) -> LossOfPrivacy {
    let watched: Vec<(&Witness, &Witness)> = witnesses
        .iter()
        .filter_map(|successor| {
            let watched = witnesses.get(successor.predecessor.index())?;
            Some((watched, successor))
        })
        .collect();
    LossOfPrivacy {
        extremes: Extremes::measure(&watched),
        unions: Unions::measure(&watched),
    }
}
