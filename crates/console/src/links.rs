//! Links that work once: for the first user of a console, and for people whom the officer asks in, so that
//! nobody but the person knows the password. Of a link a hash is kept, in memory alone.
//!
//! A link works for as long as the officer who made it is one, with the same password: whoever is taken away, or
//! locks a stranger out by another password, takes their links along.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::ConsoleError;
use crate::role::Role;
use crate::token::{Hash, fresh, hash};
use crate::users::User;

/// How long the first user's link works, and that of somebody who is asked in.
pub(crate) const FIRST: Duration = Duration::from_secs(60 * 60);
pub(crate) const INVITED: Duration = Duration::from_secs(24 * 60 * 60);
/// Links at a time.
const MOST: usize = 100;

/// Somebody as they were when a link was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) name: String,
    /// Names what the password was held against.
    kept: Hash,
}

/// Whom a link is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum For {
    /// The first user, who says name and role.
    First,
    /// Somebody new.
    New {
        name: String,
        role: Role,
        /// Who asked the person in.
        by: Known,
    },
    /// Somebody who gets another password.
    Again { user: Known, by: Known },
}

/// The links that work.
#[derive(Default)]
pub(crate) struct Links {
    all: Mutex<HashMap<Hash, (For, Instant)>>,
}

impl Links {
    /// A link that works until it is used, or for so long; an earlier one for the same person ends.
    pub(crate) fn make(&self, whom: For, now: Instant) -> Result<String, ConsoleError> {
        let token = fresh()?;
        let longest = match whom {
            For::First => FIRST,
            _ => INVITED,
        };
        let mut all = self.lock();
        all.retain(|_, (other, end)| *end > now && other.name() != whom.name());
        if all.len() >= MOST {
            return Err(ConsoleError::NoHash(format!(
                "{MOST} people are asked in and have not come"
            )));
        }
        all.insert(hash(&token), (whom, now + longest));
        Ok(token)
    }

    /// Whom a link is for, if it works.
    pub(crate) fn find(&self, token: &str, now: Instant) -> Option<For> {
        let all = self.lock();
        let (whom, _) = all.get(&hash(token)).filter(|(_, end)| *end > now)?;
        Some(whom.clone())
    }

    /// Takes a link, which works no more: of two who use it at the same moment, one has it.
    pub(crate) fn take(&self, token: &str, now: Instant) -> Option<For> {
        let (whom, end) = self.lock().remove(&hash(token))?;
        (end > now).then_some(whom)
    }

    /// Who is asked in and has not come yet.
    pub(crate) fn waiting(&self, now: Instant) -> Vec<For> {
        let all = self.lock();
        let mut waiting: Vec<For> = all
            .values()
            .filter(|(whom, end)| *end > now && *whom != For::First)
            .map(|(whom, _)| whom.clone())
            .collect();
        waiting.sort_by(|one, other| one.name().cmp(other.name()));
        waiting
    }

    /// Ends the links for somebody.
    pub(crate) fn withdraw(&self, name: &str) {
        self.lock().retain(|_, (whom, _)| whom.name() != name);
    }

    /// Ends the links for somebody who is taken away, and those that they made.
    pub(crate) fn forget(&self, name: &str) {
        self.lock().retain(|_, (whom, _)| {
            whom.name() != name && whom.by().is_none_or(|by| by.name != name)
        });
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Hash, (For, Instant)>> {
        // Every change leaves the table whole.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl For {
    /// The person's name; the first user has none yet.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::First => "",
            Self::New { name, .. } => name,
            Self::Again { user, .. } => &user.name,
        }
    }

    /// The officer who made the link.
    pub(crate) const fn by(&self) -> Option<&Known> {
        match self {
            Self::First => None,
            Self::New { by, .. } | Self::Again { by, .. } => Some(by),
        }
    }

    /// Whether the link still counts among these users.
    pub(crate) fn counts(&self, users: &[User]) -> bool {
        let is_there = |known: &Known| users.iter().find(|user| known.is(user));
        let is_by_officer = self
            .by()
            .and_then(is_there)
            .is_some_and(|by| by.role == Role::Officer);
        match self {
            Self::First => users.is_empty(),
            Self::New { .. } => is_by_officer,
            Self::Again { user, .. } => is_by_officer && is_there(user).is_some(),
        }
    }
}

impl Known {
    pub(crate) fn of(user: &User) -> Self {
        Self {
            name: user.name.clone(),
            kept: hash(&user.password),
        }
    }

    fn is(&self, user: &User) -> bool {
        self.name == user.name && self.kept == hash(&user.password)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn user(name: &str, role: Role, password: &str) -> User {
        User {
            name: name.to_owned(),
            role,
            added: String::new(),
            password: password.to_owned(),
        }
    }

    #[test]
    fn a_link_counts_as_long_as_who_made_it_is_an_officer_and_whom_it_is_for_is_the_same() {
        let anna = user("anna", Role::Officer, "kept");
        let ben = user("ben", Role::Analyst, "his");
        let by = Known::of(&anna);
        let new = For::New {
            name: String::from("eve"),
            role: Role::Officer,
            by: by.clone(),
        };
        let again = For::Again {
            user: Known::of(&ben),
            by,
        };
        let both = [anna.clone(), ben.clone()];
        assert!(new.counts(&both) && again.counts(&both));
        for others in [
            vec![ben.clone()],
            vec![user("anna", Role::Auditor, "kept"), ben.clone()],
            vec![user("anna", Role::Officer, "another"), ben],
        ] {
            assert!(!new.counts(&others) && !again.counts(&others), "{others:?}");
        }
        let changed = [anna.clone(), user("ben", Role::Analyst, "another")];
        assert!(new.counts(&changed) && !again.counts(&changed));
        assert!(For::First.counts(&[]) && !For::First.counts(&[anna]));
    }

    #[test]
    fn links_are_withdrawn_and_go_with_who_made_them() {
        let (links, start) = (Links::default(), Instant::now());
        let anna = user("anna", Role::Officer, "kept");
        let of = |name: &str| For::New {
            name: name.to_owned(),
            role: Role::Analyst,
            by: Known::of(&anna),
        };
        let [ben, eve] = ["ben", "eve"].map(|name| links.make(of(name), start).unwrap());
        links.withdraw("ben");
        assert_eq!(links.take(&ben, start), None);
        assert!(links.find(&eve, start).is_some());
        links.forget("anna");
        assert_eq!(links.take(&eve, start), None);
    }

    #[test]
    fn a_link_works_once_and_for_a_while() {
        let (links, start) = (Links::default(), Instant::now());
        let token = links.make(For::First, start).unwrap();
        assert_eq!(links.find(&token, start), Some(For::First));
        assert_eq!(links.find(&token, start + FIRST), None);
        assert_eq!(links.find("x", start), None);
        assert_eq!(links.take(&token, start), Some(For::First));
        assert_eq!(links.take(&token, start), None);
        let token = links.make(For::First, start).unwrap();
        assert_eq!(links.take(&token, start + FIRST), None);
    }

    #[test]
    fn a_person_has_one_link() {
        let (links, start) = (Links::default(), Instant::now());
        let ben = |role| For::New {
            name: String::from("ben"),
            role,
            by: Known::of(&user("anna", Role::Officer, "kept")),
        };
        let first = links.make(ben(Role::Steward), start).unwrap();
        let second = links.make(ben(Role::Analyst), start).unwrap();
        assert_eq!(links.find(&first, start), None);
        assert_eq!(links.waiting(start), [ben(Role::Analyst)]);
        assert_eq!(links.take(&second, start), Some(ben(Role::Analyst)));
        assert!(links.waiting(start).is_empty());
    }
}
