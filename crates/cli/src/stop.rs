//! Ctrl-C while work runs that can end at any time: once ends it with the best that was found, twice ends the
//! process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::signal::unix::{SignalKind, signal};

use crate::output::talk;

/// The code of a process that Ctrl-C ended, as shells have it.
const INTERRUPTED: i32 = 130;

/// What Ctrl-C does while clusters are sought for a release.
const OF_A_RELEASE: &str =
    "note: the search ends with the best clusters so far; Ctrl-C again ends without a release";
/// What Ctrl-C does while choices are compared.
const OF_A_COMPARISON: &str =
    "note: the comparison ends with the choice at hand; Ctrl-C again ends without an answer";

/// Whether somebody has asked for the end of a search. Until the search asks for the first time, and after its
/// end, Ctrl-C ends the process.
pub(crate) struct Stop {
    state: OnceLock<Arc<State>>,
    words: &'static str,
}

#[derive(Default)]
struct State {
    is_asked: AtomicBool,
    is_over: AtomicBool,
}

impl Stop {
    /// The end of a search for one release.
    pub(crate) const fn of_a_release() -> Self {
        Self {
            state: OnceLock::new(),
            words: OF_A_RELEASE,
        }
    }

    /// The end of a comparison.
    pub(crate) const fn of_a_comparison() -> Self {
        Self {
            state: OnceLock::new(),
            words: OF_A_COMPARISON,
        }
    }

    /// Whether the search is to end.
    pub(crate) fn is_asked(&self) -> bool {
        let state = self.state.get_or_init(|| listen(self.words));
        state.is_asked.load(Ordering::Relaxed)
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        if let Some(state) = self.state.get() {
            state.is_over.store(true, Ordering::Relaxed);
        }
    }
}

/// Hears Ctrl-C from here on, on a thread of its own. Where signals cannot be had, Ctrl-C ends the process.
fn listen(words: &'static str) -> Arc<State> {
    let state = Arc::new(State::default());
    let heard = Arc::clone(&state);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            let Ok(mut interrupted) = signal(SignalKind::interrupt()) else {
                return;
            };
            while interrupted.recv().await.is_some() {
                let was_asked = heard.is_asked.swap(true, Ordering::Relaxed);
                if was_asked || heard.is_over.load(Ordering::Relaxed) {
                    std::process::exit(INTERRUPTED);
                }
                talk(words);
            }
        });
    });
    state
}
