//! When a run stops waiting for a peer, and what the run reports then.

use super::peer::Peer;
use super::{LineError, Shared};
use crate::message::End;

/// A peer that comes and goes without sending the awaited frame gets this many times the patience of a
/// peer that stays.
const LONGEST_WAIT: u32 = 3;

impl Shared {
    /// Ends the patience with peers that are gone or stuck while somebody waits for them.
    pub(crate) fn expire(&self) {
        let mut state = self.lock();
        let missing = state.missing();
        let mut failure = None;
        for peer in self.peers() {
            let link = &state.peers[usize::from(peer)];
            if link.waiting.is_some() {
                failure = failure.or_else(|| self.lost(peer, link, missing));
            }
        }
        if let Some(failure) = failure {
            state.fail(failure);
        }
    }

    fn lost(&self, peer: u16, link: &Peer, missing: Option<(u16, End)>) -> Option<LineError> {
        let name = || self.name(peer).to_owned();
        // Each time the peer comes back its time starts again, but not without end.
        if let Some(awaited) = link.awaited.map(|since| since.elapsed())
            && awaited >= self.limits.silence.saturating_mul(LONGEST_WAIT)
        {
            return Some(LineError::Stuck {
                peer: name(),
                waited: awaited,
            });
        }
        if link.connection.is_none() {
            // A peer that comes later finds that it waits in vain too. A connected peer may have
            // everything that it takes to end well.
            if let Some((missing, end)) = missing {
                return Some(self.ended_error(missing, end));
            }
            let waited = link.since.elapsed();
            return (waited >= self.limits.patience).then(|| LineError::Gone {
                peer: name(),
                waited,
                last: link.last.clone(),
            });
        }
        let waited = link.waiting.as_ref()?.1.elapsed();
        (waited >= self.limits.silence).then(|| LineError::Stuck {
            peer: name(),
            waited,
        })
    }

    pub(super) fn given_up(&self, by: u16) -> LineError {
        let peer = self.name(by).to_owned();
        LineError::GivenUp { peer }
    }

    pub(super) fn ended_error(&self, peer: u16, end: End) -> LineError {
        let why = match end {
            End::Own => String::from("a fault of its own; its steward knows more"),
            End::Unsound => String::from(
                "it does not sign the release, because what it counts there is not what was opened; nothing is published",
            ),
            End::HeldBack => String::from(
                "more falls to a known attack than the study's [gate] allows, so it does not sign the release; nothing is published",
            ),
            End::Stopped => String::from("somebody stopped it"),
            End::GivenUp => return self.given_up(peer),
            End::Peer(culprit) if culprit == self.me => {
                String::from("this site was gone, silent or wrong")
            }
            End::Peer(culprit) => match self.names.get(usize::from(culprit)) {
                Some(name) => format!("`{name}` was gone, silent or wrong"),
                None => String::from("a site that the study does not have was gone"),
            },
        };
        LineError::Ended {
            peer: self.name(peer).to_owned(),
            why,
        }
    }
}
