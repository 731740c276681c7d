//! Who is connected: how many clients there may be, and how one connection stops what another runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ring::rand::{SecureRandom, SystemRandom};
use tokio::sync::{Notify, Semaphore};

/// The most clients whose password was right.
pub(super) const MOST_CLIENTS: usize = 64;
/// The most of them for one user.
pub(super) const MOST_OF_USER: usize = 24;
/// The most statements that run at once; further ones wait.
pub(super) const MOST_RUNNING: usize = 4;
/// The most of them for one user.
pub(super) const MOST_RUNNING_OF_USER: usize = 2;
/// Bytes of the secret with which a statement is cancelled: as many as protocol 3.0 has.
const SECRET: usize = 4;

/// All clients whose password was right.
pub(super) struct Registry {
    clients: Mutex<HashMap<u32, Client>>,
    turns: Arc<Semaphore>,
    of_users: Mutex<HashMap<String, Arc<Semaphore>>>,
}

struct Client {
    user: String,
    secret: [u8; SECRET],
    cancelled: Arc<Notify>,
}

/// A client's place, which is free again when this is gone.
pub(super) struct Place {
    registry: Arc<Registry>,
    pub(super) process: u32,
    pub(super) secret: [u8; SECRET],
    /// Told when what the client runs shall end.
    pub(super) cancelled: Arc<Notify>,
    /// Statements of all users that may run, and of this user.
    pub(super) turns: [Arc<Semaphore>; 2],
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoPlace {
    Full,
    FullForUser,
    NoRandomness,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

impl Registry {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            clients: Mutex::default(),
            turns: Arc::new(Semaphore::new(MOST_RUNNING)),
            of_users: Mutex::default(),
        })
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<u32, Client>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a client of a user that is known.
    pub(super) fn admit(self: &Arc<Self>, user: &str) -> Result<Place, NoPlace> {
        let mut clients = self.clients();
        if clients.len() >= MOST_CLIENTS {
            return Err(NoPlace::Full);
        }
        let own = clients.values().filter(|client| client.user == user);
        if own.count() >= MOST_OF_USER {
            return Err(NoPlace::FullForUser);
        }
        let process = loop {
            // Positive for clients that take it for a signed number.
            let process = random()? & (u32::MAX >> 1);
            if process > 0 && !clients.contains_key(&process) {
                break process;
            }
        };
        let secret = random()?.to_be_bytes();
        let cancelled = Arc::new(Notify::new());
        let client = Client {
            user: user.to_owned(),
            secret,
            cancelled: Arc::clone(&cancelled),
        };
        clients.insert(process, client);
        let mut of_users = self.of_users.lock().unwrap_or_else(PoisonError::into_inner);
        let of_user = of_users
            .entry(user.to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(MOST_RUNNING_OF_USER)));
        let turns = [Arc::clone(of_user), Arc::clone(&self.turns)];
        Ok(Place {
            registry: Arc::clone(self),
            process,
            secret,
            cancelled,
            turns,
        })
    }

    /// Ends what a client runs, for who knows its secret. Nobody is told whether there was anything.
    pub(super) fn cancel(&self, process: u32, secret: &[u8]) {
        let clients = self.clients();
        if let Some(client) = clients.get(&process)
            && is_same(&client.secret, secret)
        {
            client.cancelled.notify_waiters();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.registry.clients().remove(&self.process);
    }
}

/// Whether two secrets are the same, in a time that says nothing about where they differ.
fn is_same(own: &[u8; SECRET], other: &[u8]) -> bool {
    let pairs = own.iter().zip(other);
    own.len() == other.len() && pairs.fold(0, |sum, (own, other)| sum | (own ^ other)) == 0
}

fn random() -> Result<u32, NoPlace> {
    let mut bytes = [0; 4];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| NoPlace::NoRandomness)?;
    Ok(u32::from_be_bytes(bytes))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn places_are_few_and_come_back() {
        let registry = Registry::new();
        let mut places: Vec<Place> = (0..MOST_OF_USER)
            .map(|_| {
                registry
                    .admit("anna")
                    .unwrap_or_else(|why| panic!("{why:?}"))
            })
            .collect();
        assert_eq!(registry.admit("anna").err(), Some(NoPlace::FullForUser));
        while places.len() < MOST_CLIENTS {
            let user = format!("user {}", places.len());
            places.push(registry.admit(&user).ok().unwrap());
        }
        assert_eq!(registry.admit("bert").err(), Some(NoPlace::Full));
        drop(places.split_off(1));
        assert!(registry.admit("bert").is_ok());
    }

    #[tokio::test]
    async fn only_the_secret_cancels() {
        let registry = Registry::new();
        let place = registry.admit("anna").ok().unwrap();
        let notified = place.cancelled.notified();
        tokio::pin!(notified);
        assert!(!notified.as_mut().enable());
        let [a, b, c, d] = place.secret;
        for wrong in [&[a, b, c, d ^ 1][..], &[a, b, c], &[], &[a, b, c, d, 0]] {
            registry.cancel(place.process, wrong);
        }
        registry.cancel(place.process ^ 1, &place.secret);
        assert!(!notified.as_mut().enable());
        registry.cancel(place.process, &place.secret);
        assert!(notified.as_mut().enable());
    }
}
