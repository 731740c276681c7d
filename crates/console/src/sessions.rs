//! Who is signed in: sessions live in memory alone, by the hash of the token that the browser's cookie holds.
//!
//! A session ends when nobody used it for a while, after a day's work whatever happens, when its user is taken
//! away or gets another password, and when the console stops.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::ConsoleError;
use crate::routes::Route;
use crate::token::{Hash, fresh, hash};
use crate::users::User;

/// A session that nobody used for so long ends.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// A session ends after so long, whoever uses it.
const LONGEST: Duration = Duration::from_secs(12 * 60 * 60);
/// Sessions of one user; one more ends the one that was used least recently.
const OF_ONE: usize = 16;

/// What a page says once, after something was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) is_good: bool,
}

/// A session.
#[derive(Clone)]
pub(crate) struct Session {
    /// Under which the session is kept.
    pub(crate) id: Hash,
    /// The user's name.
    pub(crate) user: String,
    /// What stands in every form of the session.
    pub(crate) csrf: String,
    /// What the user's password was held against.
    kept: String,
    begun: Instant,
    used: Instant,
    said: Option<Said>,
    /// Pages that the session was denied, and forms.
    denied: Vec<(bool, &'static str)>,
}

/// All sessions.
#[derive(Default)]
pub(crate) struct Sessions {
    all: Mutex<HashMap<Hash, Session>>,
}

impl Sessions {
    /// Begins a session; returns the token for the cookie.
    pub(crate) fn begin(&self, user: &User, now: Instant) -> Result<String, ConsoleError> {
        let (token, csrf) = (fresh()?, fresh()?);
        let mut all = self.lock();
        all.retain(|_, session| session.is_alive(now));
        let own = all.values().filter(|session| session.user == user.name);
        if own.clone().count() >= OF_ONE
            && let Some(oldest) = own
                .min_by_key(|session| session.used)
                .map(|session| session.id)
        {
            all.remove(&oldest);
        }
        let id = hash(&token);
        all.insert(
            id,
            Session {
                id,
                user: user.name.clone(),
                csrf,
                kept: user.password.clone(),
                begun: now,
                used: now,
                said: None,
                denied: Vec::new(),
            },
        );
        Ok(token)
    }

    /// The session of a token. Using it keeps the session from ending, unless a page merely looked for news.
    pub(crate) fn find(&self, token: &str, now: Instant, is_use: bool) -> Option<Session> {
        let mut all = self.lock();
        let session = all.get_mut(&hash(token))?;
        if !session.is_alive(now) {
            let id = session.id;
            all.remove(&id);
            return None;
        }
        if is_use {
            session.used = now;
        }
        Some(session.clone())
    }

    /// Whether a session has not ended.
    pub(crate) fn is_alive(&self, id: &Hash, now: Instant) -> bool {
        self.lock()
            .get(id)
            .is_some_and(|session| session.is_alive(now))
    }

    /// Ends a session.
    pub(crate) fn end(&self, id: &Hash) {
        self.lock().remove(id);
    }

    /// What the next page of a session says.
    pub(crate) fn say(&self, id: &Hash, said: Said) {
        if let Some(session) = self.lock().get_mut(id) {
            session.said = Some(said);
        }
    }

    /// Takes what the next page says.
    pub(crate) fn hear(&self, id: &Hash) -> Option<Said> {
        self.lock().get_mut(id)?.said.take()
    }

    /// Whether a session is denied a page of the table for the first time.
    pub(crate) fn is_first_denied(&self, id: &Hash, route: &Route) -> bool {
        let mut all = self.lock();
        let Some(session) = all.get_mut(id) else {
            return false;
        };
        let denied = (route.is_form, route.path);
        let is_first = !session.denied.contains(&denied);
        if is_first {
            session.denied.push(denied);
        }
        is_first
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Hash, Session>> {
        // Every change leaves the table whole.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn is_alive(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used) < IDLE
            && now.saturating_duration_since(self.begun) < LONGEST
    }

    /// Whether the user is still who began the session, with the same password.
    pub(crate) fn is_of(&self, user: &User) -> bool {
        self.user == user.name && self.kept == user.password
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::role::Role;

    fn anna() -> User {
        User {
            name: String::from("anna"),
            role: Role::Officer,
            added: String::new(),
            password: String::from("kept"),
        }
    }

    #[test]
    fn sessions_end_when_nobody_uses_them_and_after_a_day() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let token = sessions.begin(&anna(), start).unwrap();
        let minute = |minutes: u64| start + Duration::from_secs(60 * minutes);
        assert!(sessions.find("x", start, true).is_none());
        assert!(sessions.find(&token, minute(29), true).is_some());
        // Looking for news is no use.
        assert!(sessions.find(&token, minute(50), false).is_some());
        assert!(sessions.find(&token, minute(60), false).is_none());
        assert!(sessions.find(&token, minute(0), true).is_none());
        let token = sessions.begin(&anna(), start).unwrap();
        for minutes in (0..720).step_by(20) {
            assert!(sessions.find(&token, minute(minutes), true).is_some());
        }
        assert!(sessions.find(&token, minute(720), true).is_none());
    }

    #[test]
    fn a_user_has_so_many_sessions_and_no_more() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let tokens: Vec<String> = (0..=OF_ONE as u64)
            .map(|number| {
                sessions
                    .begin(&anna(), start + Duration::from_secs(number))
                    .unwrap()
            })
            .collect();
        let end = start + Duration::from_secs(60);
        let alive = tokens
            .iter()
            .filter(|token| sessions.find(token, end, true).is_some());
        assert_eq!(alive.count(), OF_ONE);
        assert!(sessions.find(&tokens[0], end, true).is_none());
    }

    #[test]
    fn another_password_ends_what_began_with_the_old_one() {
        let sessions = Sessions::default();
        let token = sessions.begin(&anna(), Instant::now()).unwrap();
        let session = sessions.find(&token, Instant::now(), true).unwrap();
        assert!(session.is_of(&anna()));
        let other = User {
            password: String::from("other"),
            ..anna()
        };
        assert!(!session.is_of(&other));
        sessions.end(&session.id);
        assert!(!sessions.is_alive(&session.id, Instant::now()));
    }
}
