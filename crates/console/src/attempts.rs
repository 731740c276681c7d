//! Limits of passwords that may be tried: of those who sign in by the name that is tried and by the address that
//! tries, of those who have signed in by their session, which nobody else reaches. What is over the limit is not
//! looked at, whether the name is somebody's or not.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::token::Hash;
use crate::users::see_name;

/// Wrong passwords in a row before a name waits, a session, and an address; the wait doubles with each one more.
const OF_NAME: u32 = 5;
const OF_ADDRESS: u32 = 20;
const FIRST_WAIT: Duration = Duration::from_secs(5);
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// Names and addresses that are remembered; of more, those whose wait ends first are forgotten.
const MOST: usize = 10_000;

/// What tries of passwords are counted by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Of {
    /// A name that somebody can have.
    Name(String),
    /// All that cannot be a name.
    NoName,
    Address(IpAddr),
    Session(Hash),
}

/// Why a password is not looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) wait: Duration,
    /// Whether this is the first that was refused since the wait began: of the others nothing is written down.
    pub(crate) is_first: bool,
}

#[derive(Debug, Clone, Copy)]
struct Wrong {
    times: u32,
    /// When the next password is looked at.
    from: Instant,
    last: Instant,
    /// Whether somebody was refused since the wait began.
    has_refused: bool,
}

/// What was tried.
#[derive(Default)]
pub(crate) struct Attempts {
    wrong: Mutex<HashMap<Of, Wrong>>,
}

impl Of {
    /// What signing in is counted by.
    pub(crate) fn signing_in(name: &str, address: IpAddr) -> [Self; 2] {
        let name = match see_name(name) {
            Ok(()) => Self::Name(name.to_owned()),
            Err(_) => Self::NoName,
        };
        [name, Self::Address(network(address))]
    }

    const fn free(&self) -> u32 {
        match self {
            Self::Address(_) => OF_ADDRESS,
            Self::Name(_) | Self::NoName | Self::Session(_) => OF_NAME,
        }
    }
}

impl Attempts {
    /// Counts a password that is about to be tried, as if it were wrong; how long to wait where it is not to be
    /// looked at. Counting comes first, so that many tries at a time are no way around the limit.
    pub(crate) fn enter(&self, of: &[Of], now: Instant) -> Result<(), Refused> {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let mut refused: Option<Refused> = None;
        for of in of {
            let Some(one) = wrong.get_mut(of).filter(|one| one.from > now) else {
                continue;
            };
            let wait = one.from.saturating_duration_since(now);
            let is_first = !std::mem::replace(&mut one.has_refused, true);
            refused = Some(Refused {
                wait: refused.map_or(wait, |before| before.wait.max(wait)),
                is_first: is_first || refused.is_some_and(|before| before.is_first),
            });
        }
        if let Some(refused) = refused {
            return Err(refused);
        }
        for of in of {
            let before = wrong.get(of).copied();
            // What was long ago is forgotten.
            let before =
                before.filter(|one| now.saturating_duration_since(one.last) < LONGEST_WAIT);
            let times = before.map_or(0, |one| one.times).saturating_add(1);
            let doublings = times.saturating_sub(of.free()).min(16);
            let wait = match times < of.free() {
                true => Duration::ZERO,
                false => (FIRST_WAIT * (1 << doublings)).min(LONGEST_WAIT),
            };
            wrong.insert(
                of.clone(),
                Wrong {
                    times,
                    from: now + wait,
                    last: now,
                    has_refused: false,
                },
            );
        }
        if wrong.len() > MOST {
            let mut ends: Vec<Instant> = wrong.values().map(|one| one.from).collect();
            ends.sort_unstable();
            let middle = ends[ends.len() / 2];
            wrong.retain(|_, one| one.from > middle);
        }
        Ok(())
    }

    /// The password was right: name and session start anew, and this try of an address does not count.
    pub(crate) fn right(&self, of: &[Of]) {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        for of in of {
            match of {
                Of::Address(_) => {
                    if let Some(one) = wrong.get_mut(of) {
                        one.times = one.times.saturating_sub(1);
                        one.from = one.last;
                    }
                }
                Of::Name(_) | Of::NoName | Of::Session(_) => {
                    wrong.remove(of);
                }
            }
        }
    }
}

/// The address that is counted: whoever has an IPv6 address has a whole network of them.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) if !six.is_loopback() => {
            let [a, b, c, d, ..] = six.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        other => other,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn enter(attempts: &Attempts, name: &str, now: Instant) -> Result<(), Duration> {
        let tried = attempts.enter(&Of::signing_in(name, HERE), now);
        tried.map_err(|refused| refused.wait)
    }

    #[test]
    fn a_name_waits_longer_and_longer() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        for _ in 0..OF_NAME {
            assert_eq!(enter(&attempts, "anna", start), Ok(()));
        }
        assert_eq!(enter(&attempts, "anna", start), Err(FIRST_WAIT));
        // Another name, and somebody's or nobody's name, are told apart by nothing.
        assert_eq!(enter(&attempts, "nobody", start), Ok(()));
        let later = start + FIRST_WAIT;
        assert_eq!(enter(&attempts, "anna", later), Ok(()));
        assert_eq!(enter(&attempts, "anna", later), Err(FIRST_WAIT * 2));
        attempts.right(&Of::signing_in("anna", HERE));
        assert_eq!(enter(&attempts, "anna", later), Ok(()));
    }

    #[test]
    fn of_a_wait_the_first_who_is_refused_is_told_apart() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        let of = Of::signing_in("anna", HERE);
        for _ in 0..OF_NAME {
            assert_eq!(attempts.enter(&of, start), Ok(()));
        }
        let mut now = start;
        for _ in 0..3 {
            let firsts = (0..100).filter(|_| attempts.enter(&of, now).unwrap_err().is_first);
            assert_eq!(firsts.count(), 1);
            now += attempts.enter(&of, now).unwrap_err().wait;
            assert_eq!(attempts.enter(&of, now), Ok(()));
        }
    }

    #[test]
    fn a_session_waits_for_nobody_elses_passwords() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        let (own, other) = ([Of::Session([1; 32])], [Of::Session([2; 32])]);
        for number in 0..1_000 {
            let _ = enter(&attempts, &format!("name-{number}"), start);
            let _ = enter(&attempts, "anna again", start);
            let _ = enter(&attempts, "anna", start);
            let _ = attempts.enter(&other, start);
        }
        assert_eq!(attempts.enter(&own, start), Ok(()));
    }

    #[test]
    fn what_cannot_be_a_name_is_counted_as_one() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        let tried = (0..100).take_while(|number| {
            let name = format!("no name {number}");
            enter(&attempts, &name, start).is_ok()
        });
        assert_eq!(tried.count(), OF_NAME as usize);
        assert_eq!(enter(&attempts, "anna", start), Ok(()));
    }

    #[test]
    fn an_address_waits_whatever_names_it_tries() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        let tried = (0..100).take_while(|number| {
            let name = format!("name-{number}");
            enter(&attempts, &name, start).is_ok()
        });
        assert_eq!(tried.count(), OF_ADDRESS as usize);
        let elsewhere = Of::signing_in("anna", IpAddr::from([10, 0, 0, 7]));
        assert_eq!(attempts.enter(&elsewhere, start), Ok(()));
    }

    #[test]
    fn a_network_of_addresses_is_one() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        let tried = (0..1_000u16).take_while(|number| {
            let address = IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, *number]);
            let of = Of::signing_in(&format!("{number}"), address);
            attempts.enter(&of, start).is_ok()
        });
        assert_eq!(tried.count(), OF_ADDRESS as usize);
    }

    #[test]
    fn memory_is_bounded_and_waits_end() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        for number in 0..30_000u32 {
            let address = IpAddr::from(number.to_be_bytes());
            let of = Of::signing_in(&format!("{number}"), address);
            assert!(attempts.enter(&of, start).is_ok());
        }
        let held = attempts.wrong.lock().map(|wrong| wrong.len());
        assert!(held.is_ok_and(|held| held <= MOST + 2));
        for _ in 0..100 {
            let _ = enter(&attempts, "anna", start);
        }
        let day = start + Duration::from_secs(86_400);
        for _ in 0..OF_NAME {
            assert_eq!(enter(&attempts, "anna", day), Ok(()));
        }
    }
}
