//! Who is told of a ledger's entries as they are made, so that what a run disclosed is known although
//! the run does not come to its end.

use std::fmt;
use std::sync::Arc;

use super::Entry;

/// Told of an entry when it is made, and again when it changes: how it was, and how it is. Before the
/// caller of a primitive sees its answer, so that nothing is read and not told.
pub type Watcher = dyn Fn(Option<&Entry>, &Entry) + Send + Sync;

/// Whoever is told. It makes no difference to what a ledger says.
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
