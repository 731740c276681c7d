//! How much one site may ask: so much at once, and so much each second, by the bytes that its questions leave
//! in the log.

use std::time::Instant;

/// Bytes at once.
const BURST: f64 = (32u32 << 20) as f64;
/// Bytes each second.
const EACH_SECOND: f64 = (1u32 << 20) as f64;
/// What a question costs besides its own bytes.
const EACH: usize = 1 << 10;

/// What a site may still ask.
pub(super) struct Rate {
    left: f64,
    at: Instant,
}

impl Rate {
    pub(super) const fn new(now: Instant) -> Self {
        Self {
            left: BURST,
            at: now,
        }
    }

    /// Whether a question of so many bytes may be asked now.
    pub(super) fn spend(&mut self, bytes: usize, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.left = (self.left + passed * EACH_SECOND).min(BURST);
        self.at = now;
        let cost = (bytes + EACH) as f64;
        let may = cost <= self.left;
        if may {
            self.left -= cost;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_site_that_asks_without_pause_is_slowed_down() {
        let start = Instant::now();
        let mut rate = Rate::new(start);
        let asked = (0..100_000).filter(|_| rate.spend(1 << 10, start)).count();
        assert_eq!(asked, 16_384);
        let later = start + Duration::from_secs(1);
        let asked = (0..100_000).filter(|_| rate.spend(1 << 10, later)).count();
        assert_eq!(asked, 512);
        assert!(rate.spend(1 << 20, start + Duration::from_secs(60)));
    }
}
