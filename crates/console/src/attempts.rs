//! Limits of passwords that may be tried, by the name that is tried and by the address that tries. What is
//! over the limit is not looked at, whether the name is somebody's or not.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Wrong passwords in a row before a name waits, and an address; the wait doubles with each one more.
const OF_NAME: u32 = 5;
const OF_ADDRESS: u32 = 20;
const FIRST_WAIT: Duration = Duration::from_secs(5);
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// Names and addresses that are remembered; of more, those whose wait ends first are forgotten.
const MOST: usize = 10_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Of {
    Name(String),
    Address(IpAddr),
}

#[derive(Debug, Clone, Copy)]
struct Wrong {
    times: u32,
    /// When the next password is looked at.
    from: Instant,
    last: Instant,
}

/// What was tried.
#[derive(Default)]
pub(crate) struct Attempts {
    wrong: Mutex<HashMap<Of, Wrong>>,
}

impl Attempts {
    /// Counts a password that is about to be tried, as if it were wrong; how long to wait where it is not to be
    /// looked at. Counting comes first, so that many tries at a time are no way around the limit.
    pub(crate) fn enter(&self, name: &str, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let both = of(name, address);
        let waits = both.iter().filter_map(|(of, _)| wrong.get(of));
        let wait = waits
            .map(|one| one.from.saturating_duration_since(now))
            .max();
        if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
            return Err(wait);
        }
        for (of, free) in both {
            let before = wrong.get(&of).copied();
            // What was long ago is forgotten.
            let before =
                before.filter(|one| now.saturating_duration_since(one.last) < LONGEST_WAIT);
            let times = before.map_or(0, |one| one.times).saturating_add(1);
            let doublings = times.saturating_sub(free).min(16);
            let wait = match times < free {
                true => Duration::ZERO,
                false => (FIRST_WAIT * (1 << doublings)).min(LONGEST_WAIT),
            };
            wrong.insert(
                of,
                Wrong {
                    times,
                    from: now + wait,
                    last: now,
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

    /// The password was right: the name starts anew, and this try of the address does not count.
    pub(crate) fn right(&self, name: &str, address: IpAddr) {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        let [(name, _), (address, _)] = of(name, address);
        wrong.remove(&name);
        if let Some(one) = wrong.get_mut(&address) {
            one.times = one.times.saturating_sub(1);
            one.from = one.last;
        }
    }
}

fn of(name: &str, address: IpAddr) -> [(Of, u32); 2] {
    // A longer name is nobody's.
    let name: String = name.chars().take(65).collect();
    // Whoever has an IPv6 address has a whole network of them.
    let address = match address {
        IpAddr::V6(six) if !six.is_loopback() => {
            let [a, b, c, d, ..] = six.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        other => other,
    };
    [
        (Of::Name(name), OF_NAME),
        (Of::Address(address), OF_ADDRESS),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn a_name_waits_longer_and_longer() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        for _ in 0..OF_NAME {
            assert_eq!(attempts.enter("anna", HERE, start), Ok(()));
        }
        assert_eq!(attempts.enter("anna", HERE, start), Err(FIRST_WAIT));
        // Another name, and somebody's or nobody's name, are told apart by nothing.
        assert_eq!(attempts.enter("nobody", HERE, start), Ok(()));
        let later = start + FIRST_WAIT;
        assert_eq!(attempts.enter("anna", HERE, later), Ok(()));
        assert_eq!(attempts.enter("anna", HERE, later), Err(FIRST_WAIT * 2));
        attempts.right("anna", HERE);
        assert_eq!(attempts.enter("anna", HERE, later), Ok(()));
    }

    #[test]
    fn an_address_waits_whatever_names_it_tries() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        let tried = (0..100).take_while(|number| {
            attempts
                .enter(&format!("name {number}"), HERE, start)
                .is_ok()
        });
        assert_eq!(tried.count(), OF_ADDRESS as usize);
        let elsewhere = IpAddr::from([10, 0, 0, 7]);
        assert_eq!(attempts.enter("anna", elsewhere, start), Ok(()));
    }

    #[test]
    fn a_network_of_addresses_is_one() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        let tried = (0..1_000u16).take_while(|number| {
            let address = IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, *number]);
            attempts.enter(&format!("{number}"), address, start).is_ok()
        });
        assert_eq!(tried.count(), OF_ADDRESS as usize);
    }

    #[test]
    fn memory_is_bounded_and_waits_end() {
        let (attempts, start) = (Attempts::default(), Instant::now());
        for number in 0..30_000u32 {
            let address = IpAddr::from(number.to_be_bytes());
            assert!(attempts.enter(&format!("{number}"), address, start).is_ok());
        }
        let held = attempts.wrong.lock().map(|wrong| wrong.len());
        assert!(held.is_ok_and(|held| held <= MOST + 2));
        for _ in 0..100 {
            let _ = attempts.enter("anna", HERE, start);
        }
        let day = start + Duration::from_secs(86_400);
        for _ in 0..OF_NAME {
            assert_eq!(attempts.enter("anna", HERE, day), Ok(()));
        }
    }
}
