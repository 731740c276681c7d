//! Watchers, which hear of a ledger's entries as they are made, so that the disclosures of a run are
//! known even if the run does not come to its end.

use std::fmt;
use std::sync::Arc;

use super::Entry;

/// Hears of an entry when it is made, and again when it changes: the entry before the change, and the
/// entry now. The call comes before the caller of a primitive sees its answer, so no answer is read
/// unheard.
pub type Watcher = dyn Fn(Option<&Entry>, &Entry) + Send + Sync;

/// The watcher of a ledger, if it has one. Two ledgers are equal whoever watches them.
#[derive(Clone)]
pub(super) struct Watching(pub(super) Option<Arc<Watcher>>);

impl Watching {
    pub(super) fn tell(&self, before: Option<&Entry>, entry: &Entry) {
        if let Some(watcher) = &self.0 {
            watcher(before, entry);
        }
    }
}

impl fmt::Debug for Watching {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.0.is_some() {
            "watched"
        } else {
            "unwatched"
        })
    }
}

impl PartialEq for Watching {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Watching {}
