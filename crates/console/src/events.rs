//! News, for pages that are open: a stream of one word, on which a page asks for itself again (EventSource). The
//! stream says that something changed and never what, so it knows nothing that the page does not show.

use std::collections::hash_map::DefaultHasher;
use std::convert::Infallible;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use hedgerow::Site;
use hedgerow::node::journal::{Journal, Up};
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use crate::console::Console;
use crate::guard::Visit;

/// How often it is looked whether something changed, and how long a page is left in peace after news.
const LOOKING: Duration = Duration::from_millis(400);
const PEACE: Duration = Duration::from_millis(800);
/// A stream on which nothing happens says so, so that nobody takes the line for dead.
const QUIET: Duration = Duration::from_secs(15);
/// Files that are rewritten without anything new in them are looked into if they were written lately.
const LATELY: Duration = Duration::from_secs(10);

/// What changed until now, as a number.
pub(crate) struct Changes {
    number: watch::Sender<u64>,
    now: Notify,
}

impl Changes {
    pub(crate) fn new() -> Self {
        Self {
            number: watch::Sender::new(0),
            now: Notify::new(),
        }
    }

    /// Something was done here: it is looked at once.
    pub(crate) fn look(&self) {
        self.now.notify_one();
    }
}

impl Console {
    /// Watches the site for as long as pages are open.
    pub(crate) async fn watch(self: &Arc<Self>) -> Infallible {
        let mut seen = 0;
        loop {
            let _ = timeout(LOOKING, self.changes.now.notified()).await;
            if self.changes.number.receiver_count() == 0 {
                continue;
            }
            let console = Arc::clone(self);
            let print = tokio::task::spawn_blocking(move || console.print()).await;
            let print = print.unwrap_or(0);
            if print != seen {
                seen = print;
                self.changes.number.send_modify(|number| *number += 1);
                sleep(PEACE).await;
            }
        }
    }

    /// A number that is another when anything is that a page shows.
    fn print(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.jobs.count().hash(&mut hasher);
        file(self.path(), &mut hasher);
        file(self.users.path(), &mut hasher);
        file(self.record.path(), &mut hasher);
        let Ok(site) = Site::open(self.path()) else {
            return hasher.finish();
        };
        let site = site.file();
        file(&site.study, &mut hasher);
        let mut beside = site.study.clone().into_os_string();
        beside.push(".sig");
        file(Path::new(&beside), &mut hasher);
        file(&site.memory, &mut hasher);
        Up::is_taken(&site.data)
            .unwrap_or_default()
            .hash(&mut hasher);
        Journal::is_held(&site.data)
            .unwrap_or_default()
            .hash(&mut hasher);
        folder(&site.data, &mut hasher);
        hasher.finish()
    }
}

/// Who a file is, by its length and when it was written.
fn file(path: &Path, hasher: &mut DefaultHasher) {
    let found = std::fs::metadata(path).ok();
    found.as_ref().map(std::fs::Metadata::len).hash(hasher);
    let modified = found.and_then(|found| found.modified().ok());
    modified.hash(hasher);
}

/// The files of the data folder. The state of a run is written again and again, mostly with the same words.
fn folder(data: &Path, hasher: &mut DefaultHasher) {
    let files = std::fs::read_dir(data).into_iter().flatten().flatten();
    let mut files: Vec<_> = files.map(|file| file.path()).collect();
    files.sort();
    let now = SystemTime::now();
    for path in files {
        path.hash(hasher);
        if path.extension().is_none_or(|kind| kind != "json") {
            file(&path, hasher);
            continue;
        }
        let modified = path.metadata().and_then(|found| found.modified());
        let age = modified.ok().and_then(|at| now.duration_since(at).ok());
        if age.is_none_or(|age| age < LATELY) {
            std::fs::read(&path).unwrap_or_default().hash(hasher);
        }
    }
}

/// Whether somebody may still hear: the session has not ended, and is of a user who is there.
async fn is_heard(console: &Console, visit: &Visit) -> bool {
    let is_alive = console.sessions.is_alive(&visit.session.id, Instant::now());
    let user = console.find(&visit.name).await.ok().flatten();
    is_alive && user.is_some_and(|user| visit.session.is_of(&user))
}

/// `GET /events`.
pub(crate) async fn stream(
    State(console): State<Arc<Console>>,
    Extension(visit): Extension<Visit>,
) -> Response {
    let heard = console.changes.number.subscribe();
    let end = console.streams.begin(visit.session.id);
    let begin = Some((console, visit, (heard, end), true));
    let body = stream::unfold(begin, async |state| {
        let (console, visit, (mut heard, mut end), is_first) = state?;
        let word = match is_first {
            true => "retry: 2000\n\n",
            false => tokio::select! {
                _ = &mut end => return None,
                news = timeout(QUIET, heard.changed()) => match news {
                    Ok(Ok(())) => "event: change\ndata: 1\n\n",
                    Ok(Err(_)) => return None,
                    Err(_) => ": nothing new\n\n",
                },
            },
        };
        // Somebody who is not signed in any more, or no user, hears nothing more.
        if !is_heard(&console, &visit).await {
            return None;
        }
        heard.mark_unchanged();
        let word = Ok::<_, Infallible>(Bytes::from_static(word.as_bytes()));
        Some((word, Some((console, visit, (heard, end), false))))
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    (kind, Body::from_stream(body)).into_response()
}
