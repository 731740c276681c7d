//! Faults on demand: what happens to which frame on which link.
//!
//! # Discloses
//! See [`crate::memory`].

use std::time::Duration;

use crate::network::Site;

/// What happens to a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The frame comes later.
    Delay(Duration),
    /// The frame never comes.
    Drop,
    /// The frame comes twice.
    Duplicate,
    /// The frame comes after the next frame of its link.
    Reorder,
    /// Only the frame's first bytes come.
    Truncate(usize),
    /// One byte of the frame is changed.
    Corrupt {
        /// The place of the byte.
        at: usize,
        /// The mask that is xored into the byte.
        mask: u8,
    },
    /// The frame's payload is replaced, as by a peer that lies. The header stays.
    Replace(Vec<u8>),
    /// The frame's payload is xored with these bytes, over and over: a lie of the right length.
    Lie(Vec<u8>),
    /// A number is added to each 64-bit word of the frame's payload, or to one word, as by a peer that
    /// adds the number to its own summand.
    Add {
        /// The word to change; `None` is all words.
        word: Option<usize>,
        /// The number to add.
        amount: u64,
    },
    /// The frame names another site as its sender.
    Impersonate(Site),
}

/// Which frames a fault strikes; `None` in a field is any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The sender.
    pub from: Option<Site>,
    /// The receiver.
    pub to: Option<Site>,
    /// The number of the frame on its link, counted over the whole run.
    pub frame: Option<u32>,
    /// What happens to such a frame.
    pub fault: Fault,
}

/// All faults of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    rules: Vec<Rule>,
    cuts: Vec<(Site, u32)>,
    random: Option<(u64, u64)>,
}

impl Faults {
    /// Adds a rule; the first that fits a frame counts.
    pub fn with(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Strikes one frame of one link.
    pub fn strike(self, from: Site, to: Site, frame: u32, fault: Fault) -> Self {
        self.with(Rule {
            from: Some(from),
            to: Some(to),
            frame: Some(frame),
            fault,
        })
    }

    /// Cuts a site off: after `frames` frames on a link, nothing passes to or from the site.
    pub fn cut(mut self, site: Site, frames: u32) -> Self {
        self.cuts.push((site, frames));
        self
    }

    /// Strikes a frame in `one_in` at random with a random fault, the same for the same seed.
    pub fn random(mut self, seed: u64, one_in: u64) -> Self {
        self.random = Some((seed, one_in));
        self
    }

    pub(super) fn is_cut(&self, site: Site, frame: u32) -> bool {
        self.cuts
            .iter()
            .any(|&(cut, after)| cut == site && frame >= after)
    }

    pub(super) fn verdict(&self, from: Site, to: Site, frame: u32) -> Verdict {
        if self.is_cut(from, frame) || self.is_cut(to, frame) {
            return Verdict::Drop;
        }
        let fits = |rule: &&Rule| {
            rule.from.is_none_or(|site| site == from)
                && rule.to.is_none_or(|site| site == to)
                && rule.frame.is_none_or(|number| number == frame)
        };
        if let Some(rule) = self.rules.iter().find(fits) {
            return Verdict::of(&rule.fault);
        }
        match self.random {
            Some((seed, one_in)) => random_verdict(seed, one_in, from, to, frame),
            None => Verdict::Deliver,
        }
    }
}

/// What the lines do with a frame.
pub(super) enum Verdict {
    Deliver,
    Delay(Duration),
    Drop,
    Duplicate,
    Hold,
    Truncate(usize),
    Corrupt { at: usize, mask: u8 },
    Replace(Vec<u8>),
    Lie(Vec<u8>),
    Add { word: Option<usize>, amount: u64 },
    Impersonate(Site),
}

impl Verdict {
    fn of(fault: &Fault) -> Self {
        match *fault {
            Fault::Delay(by) => Verdict::Delay(by),
            Fault::Drop => Verdict::Drop,
            Fault::Duplicate => Verdict::Duplicate,
            Fault::Reorder => Verdict::Hold,
            Fault::Truncate(length) => Verdict::Truncate(length),
            Fault::Corrupt { at, mask } => Verdict::Corrupt { at, mask },
            Fault::Replace(ref payload) => Verdict::Replace(payload.clone()),
            Fault::Lie(ref mask) => Verdict::Lie(mask.clone()),
            Fault::Add { word, amount } => Verdict::Add { word, amount },
            Fault::Impersonate(site) => Verdict::Impersonate(site),
        }
    }
}

/// Depends on the link and the frame only, not on the order in which sites are polled.
fn random_verdict(seed: u64, one_in: u64, from: Site, to: Site, frame: u32) -> Verdict {
    let mut hasher = blake3::Hasher::new_derive_key("hedgerow random faults v1");
    for number in [
        seed,
        from.index() as u64,
        to.index() as u64,
        u64::from(frame),
    ] {
        hasher.update(&number.to_le_bytes());
    }
    let bytes = *hasher.finalize().as_bytes();
    let word = |at: usize| {
        u64::from(u32::from_le_bytes([
            bytes[at],
            bytes[at + 1],
            bytes[at + 2],
            bytes[at + 3],
        ]))
    };
    if one_in == 0 || word(0) % one_in != 0 {
        return Verdict::Deliver;
    }
    match word(4) % 6 {
        0 => Verdict::Delay(Duration::from_millis(word(8) % 60_000)),
        1 => Verdict::Drop,
        2 => Verdict::Duplicate,
        3 => Verdict::Hold,
        4 => Verdict::Truncate((word(8) % 64) as usize),
        _ => Verdict::Corrupt {
            at: (word(8) % 64) as usize,
            mask: bytes[12] | 1,
        },
    }
}
