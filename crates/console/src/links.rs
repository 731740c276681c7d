//! Links that work once: for the first user of a console, and for people whom the officer asks in, so that
//! nobody but the person knows the password. Of a link a hash is kept, in memory alone.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::error::ConsoleError;
use crate::role::Role;
use crate::token::{Hash, fresh, hash};

/// How long the first user's link works, and that of somebody who is asked in.
pub(crate) const FIRST: Duration = Duration::from_secs(60 * 60);
pub(crate) const INVITED: Duration = Duration::from_secs(24 * 60 * 60);
/// Links at a time.
const MOST: usize = 100;

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
        by: String,
    },
    /// Somebody who gets another password.
    Again { name: String, by: String },
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
            Self::New { name, .. } | Self::Again { name, .. } => name,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

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
            by: String::from("anna"),
        };
        let first = links.make(ben(Role::Steward), start).unwrap();
        let second = links.make(ben(Role::Analyst), start).unwrap();
        assert_eq!(links.find(&first, start), None);
        assert_eq!(links.waiting(start), [ben(Role::Analyst)]);
        assert_eq!(links.take(&second, start), Some(ben(Role::Analyst)));
        assert!(links.waiting(start).is_empty());
    }
}
