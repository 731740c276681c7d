//! Room for connections: so many of all, and so many of one address, so that no one machine keeps the others out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::attempts::network;

/// Connections at a time; one more waits.
const MOST: usize = 256;
/// Connections of one address; one more is closed.
const OF_ADDRESS: usize = 64;

/// The places that are taken.
#[derive(Clone)]
pub(crate) struct Room {
    all: Arc<Semaphore>,
    by_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A place of a connection, free again when it is dropped.
pub(crate) struct Place {
    room: Room,
    address: IpAddr,
    _permit: OwnedSemaphorePermit,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self {
            all: Arc::new(Semaphore::new(MOST)),
            by_address: Arc::default(),
        }
    }

    /// Waits until there is a place for anybody.
    pub(crate) async fn wait(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        Arc::clone(&self.all).acquire_owned().await.ok()
    }

    /// Takes the place for an address, unless the address has its share.
    pub(crate) fn take(&self, permit: OwnedSemaphorePermit, address: IpAddr) -> Option<Place> {
        let address = network(address.to_canonical());
        let mut by_address = self.lock();
        let taken = by_address.entry(address).or_default();
        if *taken >= OF_ADDRESS {
            return None;
        }
        *taken += 1;
        Some(Place {
            room: self.clone(),
            address,
            _permit: permit,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        // Every change leaves the table whole.
        self.by_address
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut by_address = self.room.lock();
        if let Some(taken) = by_address.get_mut(&self.address) {
            *taken -= 1;
            if *taken == 0 {
                by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_address_leaves_room_for_others() {
        let room = Room::new();
        let here = IpAddr::from([10, 0, 0, 7]);
        let mut places = Vec::new();
        for _ in 0..MOST {
            let permit = room.wait().await.unwrap();
            places.extend(room.take(permit, here));
        }
        assert_eq!(places.len(), OF_ADDRESS);
        let mapped = "::ffff:10.0.0.7".parse().unwrap();
        assert!(room.take(room.wait().await.unwrap(), mapped).is_none());
        let other = IpAddr::from([10, 0, 0, 8]);
        assert!(room.take(room.wait().await.unwrap(), other).is_some());
        // A network of addresses has one share.
        let six = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]);
        for last in 0..100 {
            let permit = room.wait().await.unwrap();
            places.extend(room.take(permit, six(last)));
        }
        assert_eq!(places.len(), 2 * OF_ADDRESS);
        drop(places);
        assert!(room.take(room.wait().await.unwrap(), here).is_some());
        assert!(room.lock().is_empty());
    }
}
