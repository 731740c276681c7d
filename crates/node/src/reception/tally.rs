//! The log of callers who were turned away: the first callers one by one, and then, once a minute, the
//! number of further ones. A flood does not fill a log, and does not go unmentioned.
//!
//! # Discloses
//! To this site's steward: addresses and counts.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::places::Who;
use crate::events::{Event, Watcher};

/// How often the number of further callers is reported.
const MINUTE: Duration = Duration::from_secs(60);
/// Refused callers of one address or site that are reported one by one in a minute.
const ONE_BY_ONE: u64 = 8;
/// Addresses and sites that are counted apart; all further ones are counted together.
const MOST: usize = 256;

/// Counts the callers who were turned away.
pub(crate) struct Tally {
    watcher: Watcher,
    /// Counts by caller; `None` is everybody who is counted together.
    counts: Mutex<HashMap<Option<Who>, Count>>,
}

struct Count {
    since: Instant,
    times: u64,
    address: SocketAddr,
    why: String,
}

impl Tally {
    pub(crate) fn new(watcher: Watcher) -> Self {
        Self {
            watcher,
            counts: Mutex::new(HashMap::new()),
        }
    }

    /// Somebody was turned away.
    pub(crate) fn turned_away(&self, who: Who, address: SocketAddr, why: String, now: Instant) {
        let mut counts = self.lock();
        let is_told_apart = counts.contains_key(&Some(who)) || counts.len() < MOST;
        let count = counts
            .entry(is_told_apart.then_some(who))
            .or_insert_with(|| Count {
                since: now,
                times: 0,
                address,
                why: String::new(),
            });
        count.times += 1;
        count.address = address;
        count.why = why;
        let is_one = (is_told_apart && count.times <= ONE_BY_ONE).then(|| count.why.clone());
        drop(counts);
        if let Some(why) = is_one {
            let address = address.to_string();
            (self.watcher)(Event::TurnedAway { address, why });
        }
    }

    /// Says of whom more came in the minute that is over.
    pub(crate) fn sum_up(&self, now: Instant) {
        let mut over = Vec::new();
        self.lock().retain(|who, count| {
            let is_over = now.saturating_duration_since(count.since) >= MINUTE;
            let told = who.map_or(0, |_| ONE_BY_ONE);
            if is_over && count.times > told {
                let more = count.times - told;
                let address = count.address;
                let (address, others) = match who {
                    Some(_) => (address.to_string(), ""),
                    None => (String::from("many addresses"), " in all"),
                };
                let why = format!(
                    "{more} more connections{others} in the last minute; of the last one: {}",
                    count.why
                );
                over.push(Event::TurnedAway { address, why });
            }
            !is_over
        });
        over.into_iter().for_each(|event| (self.watcher)(event));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Option<Who>, Count>> {
        // Counts are whole after every step.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::net::IpAddr;
    use std::sync::Arc;

    use super::*;

    /// Address and reason of each report.
    type Said = Arc<Mutex<Vec<(String, String)>>>;

    fn tally() -> (Tally, Said) {
        let said = Said::default();
        let noted = Arc::clone(&said);
        let watcher: Watcher = Arc::new(move |event| {
            if let Event::TurnedAway { address, why } = event {
                noted.lock().unwrap().push((address, why));
            }
        });
        (Tally::new(watcher), said)
    }

    #[test]
    fn a_flood_is_counted_and_a_site_beside_it_is_named() {
        let (tally, said) = tally();
        let start = Instant::now();
        let address = SocketAddr::from(([10, 0, 0, 1], 4000));
        let flood = Who::at(address.ip());
        for number in 0..1242 {
            let why = format!("reason {number}");
            tally.turned_away(flood, address, why, start + Duration::from_millis(number));
        }
        let why = String::from("different studies");
        tally.turned_away(Who::Site(1), address, why, start + Duration::from_secs(2));
        tally.sum_up(start + Duration::from_secs(59));
        let first = said.lock().unwrap().clone();
        assert_eq!(first.len(), 9);
        assert_eq!(first[8].1, "different studies");
        tally.sum_up(start + MINUTE);
        tally.sum_up(start + 2 * MINUTE);
        tally.sum_up(start + 3 * MINUTE);
        let all = said.lock().unwrap().clone();
        assert_eq!(all.len(), 10);
        let expected = "1234 more connections in the last minute; of the last one: reason 1241";
        assert_eq!(all[9], (address.to_string(), String::from(expected)));
        assert!(tally.lock().is_empty());
    }

    #[test]
    fn ever_new_addresses_fill_neither_a_log_nor_memory() {
        let (tally, said) = tally();
        let start = Instant::now();
        for host in 0..20_000u32 {
            let ip = IpAddr::from(host.to_be_bytes());
            let address = SocketAddr::from((ip, 7));
            tally.turned_away(Who::at(ip), address, String::from("it hung up"), start);
        }
        assert!(tally.lock().len() <= MOST + 1);
        assert_eq!(said.lock().unwrap().len(), MOST);
        tally.sum_up(start + MINUTE);
        let last = said.lock().unwrap().last().unwrap().clone();
        let expected =
            "19744 more connections in all in the last minute; of the last one: it hung up";
        assert_eq!(
            last,
            (String::from("many addresses"), String::from(expected))
        );
        assert_eq!(said.lock().unwrap().len(), MOST + 1);
    }
}
