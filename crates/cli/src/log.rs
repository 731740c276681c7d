//! What a site says of its lines. Anybody can knock at a port again and again: what was said a
//! moment ago is counted, not repeated, and a log does not grow with the patience of a stranger.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hedgerow::Notice;
use hedgerow::node::Event;

/// The same line is written at most this often.
const PAUSE: Duration = Duration::from_secs(60);
/// Different things that are told apart; what comes on top is one thing.
const MOST: usize = 256;

/// Remembers which lines were written.
#[derive(Default)]
pub(crate) struct Log(Mutex<HashMap<String, Line>>);

/// A line that was written.
struct Line {
    last: Instant,
    /// How often the line has been left out since.
    unsaid: u64,
}

impl Log {
    /// What to say of a notice now, if anything: what happened on the lines is said once and counted.
    pub(crate) fn line(&self, notice: &Notice) -> Option<String> {
        let line = notice.to_string();
        match notice {
            _ if line.is_empty() => None,
            Notice::Line(Event::Connected { .. }) => Some(line),
            Notice::Line(_) => self.admit(line, Instant::now()),
            _ => Some(line),
        }
    }

    /// The line to write now, if it is due.
    fn admit(&self, line: String, now: Instant) -> Option<String> {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |one: &Line| now.saturating_duration_since(one.last) < PAUSE;
        if !said.contains_key(&line) && said.len() >= MOST {
            said.retain(|_, one| is_recent(one));
        }
        let line = if said.contains_key(&line) || said.len() < MOST {
            line
        } else {
            String::from("turned away many others, for many reasons")
        };
        match said.get_mut(&line) {
            Some(one) if is_recent(one) => {
                one.unsaid += 1;
                None
            }
            Some(one) => {
                let unsaid = std::mem::take(&mut one.unsaid);
                one.last = now;
                Some(match unsaid {
                    0 => line,
                    _ => format!("{line} (and {unsaid} times since this was last said)"),
                })
            }
            None => {
                let one = Line {
                    last: now,
                    unsaid: 0,
                };
                said.insert(line.clone(), one);
                Some(line)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_is_said_once_a_minute_and_counted() {
        let (log, start) = (Log::default(), Instant::now());
        let admit = |line: &str, second: u64| {
            log.admit(line.to_owned(), start + Duration::from_secs(second))
        };
        assert_eq!(admit("a", 0).as_deref(), Some("a"));
        assert_eq!(admit("b", 0).as_deref(), Some("b"));
        assert_eq!(admit("a", 1), None);
        assert_eq!(admit("a", 59), None);
        let again = "a (and 2 times since this was last said)";
        assert_eq!(admit("a", 60).as_deref(), Some(again));
        assert_eq!(admit("b", 60).as_deref(), Some("b"));
    }

    #[test]
    fn ever_new_reasons_do_not_fill_a_log() {
        let (log, start) = (Log::default(), Instant::now());
        let said = (0..10_000).filter(|number| log.admit(number.to_string(), start).is_some());
        assert_eq!(said.count(), MOST + 1);
        assert!(log.0.lock().is_ok_and(|said| said.len() <= MOST + 1));
        // A minute later the log has room for new lines.
        let later = start + PAUSE;
        let line = log.admit(String::from("new"), later);
        assert_eq!(line.as_deref(), Some("new"));
    }
}
