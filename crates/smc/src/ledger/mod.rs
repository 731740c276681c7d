//! The ledger: every value that a run disclosed to a site beyond that site's own data.
//!
//! A primitive hands its answer over as [`Sealed`]; only [`Ledger::open`] takes the seal off, and
//! it takes a [`Disclosure`] to do so. A call that fails before its answer is whole wipes the
//! caller's slice; a search, whose first step already opens something, is entered before that step,
//! and its entry says so if it ends early. So no caller reads an answer without an entry:
//!
//! ```compile_fail,E0061
//! # async fn protocol(mut party: hedgerow_smc::Party) -> Result<(), hedgerow_smc::Error> {
//! let mut sizes = [10, 20];
//! party.sum(&mut sizes).await?; // what does it disclose?
//! # Ok(()) }
//! ```
//! ```compile_fail,E0616
//! fn peek(answer: hedgerow_smc::Sealed<u64>) -> u64 {
//!     answer.0 // the seal is the ledger's
//! }
//! ```
//!
//! Entries are chained by BLAKE3 from the run's level, sites and public randomness on, so that an entry
//! taken out, changed or cut off later is found, and so is a relabelled ledger.
//!
//! # Discloses
//! The ledger holds names and counts. It holds values only where a test has asked for them.

mod disclosure;
mod summary;
mod values;
mod watch;

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::network::Site;
use crate::settings::Security;

pub use disclosure::{Allowed, Disclosure, To, What};
pub use summary::Line;
pub use values::{Values, Word};
pub use watch::Watcher;
use watch::Watching;

/// An answer that no site has read yet.
#[must_use = "an answer is read by opening it in the ledger"]
pub struct Sealed<T>(T);

impl<T> Sealed<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(value)
    }

    /// Takes the seal off inside a primitive whose own disclosure implies the value; the primitive's
    /// documentation says why, and the primitive enters its own disclosure.
    pub(crate) fn implied(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Sealed<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Sealed")
    }
}

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// What was disclosed, and to whom.
    #[serde(flatten)]
    pub disclosure: Disclosure,
    /// How many values; the greatest possible number where the call ended early.
    pub values: usize,
    /// Whether the call came to its end. A call that did not may have disclosed a part.
    pub complete: bool,
    /// The values themselves, where a test has asked for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Vec<u64>>,
    /// BLAKE3 of this entry and the hash before it.
    #[serde(serialize_with = "as_hex")]
    pub hash: [u8; 32],
}

/// The run and the site of a ledger: where its chain begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// The security level of the run.
    pub security: Security,
    /// How many sites there are.
    pub sites: usize,
    /// Whose ledger this is.
    pub site: Site,
    /// The run's public randomness; zeros where no keys are agreed on.
    #[serde(serialize_with = "as_hex")]
    pub session: [u8; 32],
}

impl Origin {
    fn seed(&self) -> [u8; 32] {
        let Self {
            security,
            sites,
            site,
            session,
        } = self;
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow ledger v2");
        for number in [*security as u64, *sites as u64, site.index() as u64] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(session);
        *hasher.finalize().as_bytes()
    }
}

/// An entry of a call that is under way.
#[must_use = "a call that ends well is finished"]
pub(crate) struct Begun(usize);

/// Every disclosure of a run to one site, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    origin: Origin,
    roles: Option<[Site; 3]>,
    entries: Vec<Entry>,
    keeps_values: bool,
    watching: Watching,
}

impl Ledger {
    pub(crate) const fn new(origin: Origin, roles: Option<[Site; 3]>) -> Self {
        Self {
            origin,
            roles,
            entries: Vec::new(),
            keeps_values: false,
            watching: Watching(None),
        }
    }

    /// Tells of every entry from now on.
    pub(crate) fn watch(&mut self, watcher: Arc<Watcher>) {
        self.watching = Watching(Some(watcher));
    }

    /// Writes down the values too, from now on. For tests: a ledger that leaves the site must not hold
    /// values.
    pub(crate) const fn keep_values(&mut self) {
        self.keeps_values = true;
    }

    /// Takes the seal off an answer and enters that the answer was read.
    pub fn open<T: Values>(&mut self, disclosure: Disclosure, answer: Sealed<T>) -> T {
        let begun = self.begin(disclosure, 0);
        self.finish(begun, answer)
    }

    /// Enters a call whose steps open something before its end: at most so many values. Until
    /// [`Ledger::finish`], the entry says that the call ended early.
    pub(crate) fn begin(&mut self, disclosure: Disclosure, values: usize) -> Begun {
        let place = self.entries.len();
        self.entries.push(Entry {
            disclosure,
            values,
            complete: false,
            recorded: None,
            hash: [0; 32],
        });
        self.chain_from(place);
        self.watching.tell(None, &self.entries[place]);
        Begun(place)
    }

    /// Takes the seal off the answer of a call that was entered when it began.
    pub(crate) fn finish<T: Values>(&mut self, Begun(place): Begun, answer: Sealed<T>) -> T {
        // Entries are never taken out, so the place is still there.
        let entry = &mut self.entries[place];
        let before = entry.clone();
        entry.values = answer.0.count();
        entry.recorded = self.keeps_values.then(|| answer.0.words());
        entry.complete = true;
        self.chain_from(place);
        self.watching.tell(Some(&before), &self.entries[place]);
        answer.0
    }

    fn chain_from(&mut self, place: usize) {
        let (before, rest) = self.entries.split_at_mut(place);
        let mut head = before.last().map_or(self.origin.seed(), |entry| entry.hash);
        for entry in rest {
            head = chain(head, entry);
            entry.hash = head;
        }
    }

    /// The entries, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The security level of the run.
    pub const fn security(&self) -> Security {
        self.origin.security
    }

    /// The run and the site of the ledger.
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Holder, keeper and judge of the run's comparisons; see [`crate::Party::roles`].
    pub const fn roles(&self) -> Option<[Site; 3]> {
        self.roles
    }

    /// The hash of the last entry: names the whole ledger, once no call is under way.
    pub fn head(&self) -> [u8; 32] {
        let last = self.entries.last();
        last.map_or_else(|| self.origin.seed(), |entry| entry.hash)
    }

    /// The first entry whose hash does not follow from the run and the entries before it; the place
    /// behind the last entry if entries are missing there, since the chain does not lead to `head`.
    pub fn first_broken(origin: &Origin, entries: &[Entry], head: [u8; 32]) -> Option<usize> {
        let mut found = origin.seed();
        let broken = entries.iter().position(|entry| {
            found = chain(found, entry);
            found != entry.hash
        });
        broken.or_else(|| (found != head).then_some(entries.len()))
    }

    /// The summary, the entries and the head as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "security": self.origin.security,
            "origin": self.origin,
            "roles": self.roles.map(|[holder, keeper, judge]| {
                serde_json::json!({ "holder": holder, "keeper": keeper, "judge": judge })
            }),
            "summary": self.summary(),
            "entries": self.entries,
            "head": blake3::Hash::from(self.head()).to_hex().as_str(),
        })
    }
}

fn chain(head: [u8; 32], entry: &Entry) -> [u8; 32] {
    let Disclosure {
        what,
        by,
        to,
        caveat,
    } = &entry.disclosure;
    let mut hasher = blake3::Hasher::new_derive_key("hedgerow ledger entry v2");
    hasher.update(&head);
    for text in [
        what.name(),
        what.allowed_by(),
        by.name(),
        &to.to_string(),
        caveat.unwrap_or(""),
    ] {
        hasher
            .update(&(text.len() as u64).to_le_bytes())
            .update(text.as_bytes());
    }
    hasher
        .update(&(entry.values as u64).to_le_bytes())
        .update(&[u8::from(entry.complete)]);
    *hasher.finalize().as_bytes()
}

fn as_hex<S: serde::Serializer>(hash: &[u8; 32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(blake3::Hash::from(*hash).to_hex().as_str())
}
