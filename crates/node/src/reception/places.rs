//! The places of connections that have not greeted yet: few for strangers, fairly shared, and some
//! for each site of the study that no stranger can take.
//!
//! A stranger's place counts for its address, and an address may have half of all places. When an
//! address has too many places, or the strangers together have, the address with the most places loses
//! one, drawn at random. So addresses with few connections lose no place to an address with many; and
//! each connection of an address has a chance to last, however fast new ones come, which the oldest or
//! the newest would not have if age decided. A connection that proves to be a site's leaves the
//! strangers' places; among a site's own connections the oldest makes room for the newest.
//!
//! # Discloses
//! Nothing.

use std::collections::HashMap;
use std::net::IpAddr;

use tokio::sync::oneshot;

/// Connections of one site at a time that have not greeted.
const OF_A_SITE: usize = 4;

/// Who has a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Who {
    /// Somebody at an address.
    Stranger(IpAddr),
    /// A site by its place in the study: it introduced itself, or has proven its key.
    Site(u16),
}

impl Who {
    /// A stranger at an address. IPv6 addresses that begin with the same 64 bits count as one, since
    /// whoever has one of them has them all.
    pub(crate) fn at(address: IpAddr) -> Self {
        Self::Stranger(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::from((u128::from(address) >> 64 << 64).to_be_bytes()),
            address => address,
        })
    }
}

/// All places.
pub(crate) struct Places {
    /// Strangers at a time.
    most: usize,
    /// The places in the order in which they were taken.
    held: Vec<Held>,
    next: u64,
}

struct Held {
    number: u64,
    who: Who,
    /// Dropped with the place, which ends the connection.
    _end: oneshot::Sender<()>,
}

impl Places {
    pub(crate) const fn new(most: usize) -> Self {
        Self {
            most,
            held: Vec::new(),
            next: 0,
        }
    }

    /// A place for a caller who has just connected: its number, and a receiver that tells when the place
    /// is lost.
    pub(crate) fn take(&mut self, stranger: Who) -> (u64, oneshot::Receiver<()>) {
        if self.of(stranger) >= self.most.div_ceil(2) {
            self.draw(|who| who == stranger);
        } else if self.strangers() >= self.most {
            self.shed();
        }
        let (end, ended) = oneshot::channel();
        let number = self.next;
        self.next += 1;
        self.held.push(Held {
            number,
            who: stranger,
            _end: end,
        });
        (number, ended)
    }

    /// Enters that the connection at a place belongs to a site.
    pub(crate) fn is_of(&mut self, number: u64, site: u16) {
        let who = Who::Site(site);
        let held = self.held.iter_mut().find(|held| held.number == number);
        // A connection that has lost its place hears of the loss.
        let Some(held) = held.filter(|held| held.who != who) else {
            return;
        };
        held.who = who;
        if self.of(who) > OF_A_SITE
            && let Some(oldest) = self.held.iter().position(|held| held.who == who)
        {
            self.held.remove(oldest);
        }
    }

    /// Gives a place back: its connection has greeted, or is gone.
    pub(crate) fn leave(&mut self, number: u64) {
        self.held.retain(|held| held.number != number);
    }

    /// Takes the place of one stranger of the address that has most.
    pub(crate) fn shed(&mut self) {
        let mut counts: HashMap<Who, usize> = HashMap::new();
        for held in &self.held {
            if let Who::Stranger(_) = held.who {
                *counts.entry(held.who).or_default() += 1;
            }
        }
        let most = counts.values().max().copied();
        self.draw(|who| counts.get(&who).copied() == most && most.is_some());
    }

    /// Takes the place of one at random.
    fn draw(&mut self, is_candidate: impl Fn(Who) -> bool) {
        let candidates: Vec<usize> = (0..self.held.len())
            .filter(|place| is_candidate(self.held[*place].who))
            .collect();
        // Without randomness the oldest goes.
        let drawn = getrandom::u32().unwrap_or(0) as usize;
        if let Some(rest) = drawn.checked_rem(candidates.len()) {
            self.held.remove(candidates[rest]);
        }
    }

    fn of(&self, who: Who) -> usize {
        self.held.iter().filter(|held| held.who == who).count()
    }

    fn strangers(&self) -> usize {
        let is_stranger = |held: &&Held| matches!(held.who, Who::Stranger(_));
        self.held.iter().filter(is_stranger).count()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;
    use tokio::sync::oneshot::error::TryRecvError;

    use super::*;

    fn at(host: u8) -> Who {
        Who::at(IpAddr::from([10, 0, 0, host]))
    }

    #[test]
    fn whoever_has_an_ipv6_address_has_its_neighbours() {
        let who = |text: &str| Who::at(text.parse().unwrap());
        assert_eq!(who("2001:db8::1"), who("2001:db8::ffff:1"));
        assert_ne!(who("2001:db8::1"), who("2001:db8:0:1::1"));
        assert_eq!(who("::ffff:10.0.0.1"), at(1));
        assert_ne!(at(1), at(2));
    }

    /// What happens at a port.
    #[derive(Debug, Clone)]
    enum Step {
        Comes(u8),
        IsOf(prop::sample::Index, u16),
        Leaves(prop::sample::Index),
        Shed,
    }

    fn step() -> impl Strategy<Value = Step> {
        // Most come from one address, as a flood does.
        let host = prop_oneof![8 => Just(0u8), 1 => 1..4u8];
        prop_oneof![
            8 => host.prop_map(Step::Comes),
            2 => (any::<prop::sample::Index>(), 0..3u16).prop_map(|(one, site)| Step::IsOf(one, site)),
            1 => any::<prop::sample::Index>().prop_map(Step::Leaves),
            1 => Just(Step::Shed),
        ]
    }

    proptest! {
        #[test]
        fn strangers_are_few_and_take_no_place_of_a_site(
            steps in prop::collection::vec(step(), 0..400),
            most in 1..24usize,
        ) {
            let mut places = Places::new(most);
            // The test's own list of connections that have a place.
            let mut all: Vec<(u64, Who, oneshot::Receiver<()>)> = Vec::new();
            for step in steps {
                let before: Vec<(u64, Who)> =
                    all.iter().map(|(number, who, _)| (*number, *who)).collect();
                let count = |who: Who| before.iter().filter(|(_, one)| *one == who).count();
                let mut site = None;
                match step {
                    Step::Comes(host) => {
                        let (number, ended) = places.take(at(host));
                        all.push((number, at(host), ended));
                    }
                    Step::IsOf(one, place) if !all.is_empty() => {
                        let one = one.index(all.len());
                        places.is_of(all[one].0, place);
                        all[one].1 = Who::Site(place);
                        site = Some(Who::Site(place));
                    }
                    Step::Leaves(one) if !all.is_empty() => {
                        let one = all.swap_remove(one.index(all.len()));
                        places.leave(one.0);
                    }
                    Step::Shed => places.shed(),
                    _ => {}
                }
                let is_lost = |ended: &mut oneshot::Receiver<()>| {
                    ended.try_recv() == Err(TryRecvError::Closed)
                };
                let mut lost = Vec::new();
                all.retain_mut(|(number, who, ended)| {
                    let is_lost = is_lost(ended);
                    if is_lost {
                        lost.push((*number, *who));
                    }
                    !is_lost
                });
                prop_assert!(lost.len() <= 1);
                for (_, who) in lost {
                    match who {
                        // A site's place goes to the same site only.
                        Who::Site(_) => prop_assert_eq!(site, Some(who)),
                        // A stranger's goes because nobody has more.
                        Who::Stranger(_) => {
                            let mine = count(who);
                            prop_assert!((0..4).all(|host| count(at(host)) <= mine));
                        }
                    }
                }
                let now = |who: Who| all.iter().filter(|(_, one, _)| *one == who).count();
                let strangers: Vec<usize> = (0..4).map(|host| now(at(host))).collect();
                prop_assert!(strangers.iter().sum::<usize>() <= most);
                prop_assert!(strangers.iter().all(|mine| *mine <= most.div_ceil(2)));
                prop_assert!((0..3).all(|site| now(Who::Site(site)) <= OF_A_SITE));
                prop_assert_eq!(places.held.len(), all.len());
            }
        }
    }

    /// However fast others come from its own address, a connection has a chance to last.
    #[test]
    fn a_place_is_lost_by_chance_and_not_by_age() {
        let mut lasting = 0;
        for _ in 0..400 {
            let mut places = Places::new(64);
            for _ in 0..32 {
                places.take(at(0));
            }
            let (_, mut ended) = places.take(at(0));
            for _ in 0..64 {
                places.take(at(0));
            }
            lasting += usize::from(ended.try_recv() == Err(TryRecvError::Empty));
        }
        // 400 times (31/32)^64, about 52; if the oldest went, no connection would last.
        assert!((10..200).contains(&lasting), "{lasting}");
    }
}
