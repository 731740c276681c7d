//! The keys for questions: agreed on by all sites once all are connected, and again when one of them has
//! started anew.
//!
//! Each site has a life, a random number that it tells all others: another when its node starts, and after a
//! joining that failed. A joining belongs to the lives of all sites, so that nobody's frames of another
//! joining pass for this one's; keys stay as long as all lives do, though lines may break and come back.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use hedgerow_smc::{Seat, Seed, Site, Standing};
use tokio::time::{sleep, timeout};

use super::Questions;
use super::lines::Lines;
use super::state::Shared;
use super::word::Name;
use crate::identity::random;

/// The pause between two joinings.
const LEAST_PAUSE: Duration = Duration::from_millis(10);
/// The pause after a joining that failed; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl Questions {
    /// Keeps the keys of all sites, as long as the node lasts.
    pub(super) async fn keep_keys(self: Arc<Self>) {
        let mut changes = self.shared.watch_changes();
        let mut pause = FIRST_PAUSE;
        let mut known = None;
        loop {
            changes.borrow_and_update();
            let name = self.shared.all_lives().map(|lives| self.name_of(&lives));
            let Some(name) = name.filter(|name| known != Some(*name)) else {
                // The sender lives as long as this node's questions.
                let _ = changes.changed().await;
                continue;
            };
            let joined = {
                // Whoever says nothing is named before this time is over.
                let joining = timeout(2 * self.limits.handshake, self.join(name));
                tokio::pin!(joining);
                loop {
                    tokio::select! {
                        joined = &mut joining => break Some(joined),
                        _ = changes.changed() => {
                            changes.borrow_and_update();
                            let lives = self.shared.all_lives();
                            // Whoever began another life has left this joining.
                            if lives.map(|lives| self.name_of(&lives)) != Some(name) {
                                break None;
                            }
                        }
                    }
                }
            };
            let why = match joined {
                Some(Ok(Ok(standing))) => {
                    known = Some(name);
                    pause = FIRST_PAUSE;
                    self.set_no_keys(None);
                    let standing = Some((name, Arc::new(standing)));
                    self.shared.standing.send_replace(standing);
                    sleep(LEAST_PAUSE).await;
                    continue;
                }
                // The next turn of the loop sees what has changed; a peer that lives anew all the time does not
                // keep this site busy.
                None => {
                    sleep(LEAST_PAUSE).await;
                    continue;
                }
                Some(Ok(Err(why))) => why,
                Some(Err(_)) => String::from("a site did not join in time"),
            };
            self.set_no_keys(Some(why));
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            if let Ok(life) = random() {
                self.shared.live_anew(*life);
            }
        }
    }

    fn set_no_keys(&self, why: Option<String>) {
        *self.no_keys.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    pub(super) fn name_of(&self, lives: &[[u8; 32]]) -> Name {
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow joining for questions v1");
        hasher.update(&self.study.0);
        for life in lives {
            hasher.update(life);
        }
        *hasher.finalize().as_bytes()
    }

    async fn join(&self, name: Name) -> Result<Standing, String> {
        if !self.shared.enter(name, None) {
            return Err(String::from("the joining was begun before"));
        }
        let _left = Left {
            shared: &self.shared,
            name,
        };
        let seed = random().map_err(|error| error.to_string())?;
        let seat = Seat {
            me: Site::new(self.shared.me),
            sites: self.keys.len(),
            settings: self.settings,
            seed: Seed::new(*seed),
            context: name,
            network: Box::new(Lines::new(&self.shared, name, self.limits.handshake)),
        };
        Standing::join(seat)
            .await
            .map_err(|error| self.in_words(&error))
    }

    /// An error of a primitive, with the peer's name.
    fn in_words(&self, error: &hedgerow_smc::Error) -> String {
        match super::ask::peer_of(error) {
            Some(peer) => format!("`{}`: {error}", self.name(peer)),
            None => error.to_string(),
        }
    }
}

/// Takes a joining out when it is over, however that comes.
struct Left<'s> {
    shared: &'s Shared,
    name: Name,
}

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.shared.leave(&self.name);
    }
}
