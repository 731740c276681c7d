//! How many handshakes a second this site does, for whom: a handshake is a key exchange and a
//! signature, and whoever asks for many must not keep the machine from its run.
//!
//! # Discloses
//! Nothing.

use std::collections::HashMap;
use std::time::Instant;

use super::places::Who;

/// Handshakes that may come at once after a pause, and in a second: of all strangers together.
const OF_STRANGERS: Rate = Rate(128.0, 64.0);
/// Handshakes of the strangers at one address.
const OF_AN_ADDRESS: Rate = Rate(64.0, 16.0);
/// Handshakes of one site, whose lines may break again and again.
const OF_A_SITE: Rate = Rate(64.0, 16.0);

/// Handshakes at once, and in a second.
#[derive(Clone, Copy)]
struct Rate(f64, f64);

/// Handshakes that are left.
struct Left {
    handshakes: f64,
    at: Instant,
}

impl Left {
    const fn all(rate: Rate, at: Instant) -> Self {
        Self {
            handshakes: rate.0,
            at,
        }
    }

    /// Adds what has accrued since the last call.
    fn refill(&mut self, rate: Rate, now: Instant) {
        let more = now.saturating_duration_since(self.at).as_secs_f64() * rate.1;
        self.handshakes = (self.handshakes + more).min(rate.0);
        self.at = now;
    }
}

/// The handshakes that each caller has left.
pub(crate) struct Budget {
    strangers: Left,
    each: HashMap<Who, Left>,
}

impl Budget {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            strangers: Left::all(OF_STRANGERS, now),
            each: HashMap::new(),
        }
    }

    /// Whether one more handshake is done for a caller; if so, it is counted.
    pub(crate) fn spend(&mut self, who: Who, now: Instant) -> bool {
        let rate = match who {
            Who::Site(_) => OF_A_SITE,
            Who::Stranger(_) => {
                self.strangers.refill(OF_STRANGERS, now);
                if self.strangers.handshakes < 1.0 {
                    return false;
                }
                OF_AN_ADDRESS
            }
        };
        // Callers with a full budget need no entry, so entries are as few as recent handshakes.
        let is_full = |who: &Who, left: &mut Left| {
            let rate = match who {
                Who::Site(_) => OF_A_SITE,
                Who::Stranger(_) => OF_AN_ADDRESS,
            };
            left.refill(rate, now);
            left.handshakes >= rate.0
        };
        self.each.retain(|who, left| !is_full(who, left));
        let left = self.each.entry(who).or_insert(Left::all(rate, now));
        if left.handshakes < 1.0 {
            return false;
        }
        left.handshakes -= 1.0;
        if let Who::Stranger(_) = who {
            self.strangers.handshakes -= 1.0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;
    use std::time::Duration;

    use super::*;

    #[test]
    fn strangers_have_few_handshakes_and_take_none_of_a_site() {
        let start = Instant::now();
        let mut budget = Budget::new(start);
        let at = |host: u32| Who::at(IpAddr::from(host.to_be_bytes()));
        // 5,000 a second from one address for ten seconds.
        let mut done = 0;
        for number in 0..50_000u64 {
            let now = start + Duration::from_micros(200 * number);
            done += u32::from(budget.spend(at(1), now));
        }
        assert!((150..=64 + 160).contains(&done), "{done}");
        // And from as many addresses.
        let mut done = 0;
        let start = start + Duration::from_secs(10);
        for number in 0..50_000u64 {
            let now = start + Duration::from_micros(200 * number);
            done += u32::from(budget.spend(at(number as u32), now));
            assert!(budget.each.len() <= 1 + 128 + 64 * 10);
        }
        assert!((500..=128 + 640).contains(&done), "{done}");
        // A site has a budget of its own, and no more than that.
        let now = start + Duration::from_secs(10);
        let done = (0..1000)
            .filter(|_| budget.spend(Who::Site(2), now))
            .count();
        assert_eq!(done, 64);
        assert!(budget.spend(Who::Site(3), now));
        assert!(budget.spend(Who::Site(2), now + Duration::from_secs(1)));
        // No entry is kept for callers that have not come for a while.
        assert!(budget.spend(at(9), now + Duration::from_secs(60)));
        assert_eq!(budget.each.len(), 1);
    }
}
