//! The site's daemon. The daemon waits until a site of the study knocks, takes this site's part in the
//! run, and waits for the next run; it reports a run that fails, and waits for that run again.
//!
//! Where the study has `[query]`, questions about earlier runs are answered all the while.
//!
//! Rows are read when a run begins. When the node starts, it looks only whether they can be read, says so,
//! and waits all the same: peers and questions need the node, and a database may be up a little later. A
//! run that was under way when the node last stopped is taken up at once.
//!
//! Asked to, the node reads the site's file and the study anew. What cannot be used changes nothing; what
//! can counts from the next run on, and a run under way ends as it began.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hedgerow_node::journal::{Entry, JournalError};
use hedgerow_node::{Entrance, Watcher};

use super::Site;
use super::due::{answer, due};
use super::part::Part;
use super::post::Post;
use super::refused::SiteRefused;
use super::vitals::Pulse;
use crate::error::Error;
use crate::observe::{Notice, SharedObserver};
use crate::summary::Summary;

/// After a failure the node hears nobody for a while, longer each time, since peers have to notice the
/// failure too. A knock waits longer than this pause.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How often a node that waits looks for what was kept long enough.
const FORGETTING: Duration = Duration::from_secs(3_600);
/// How often a node that waits looks whether a run still keeps it from what was read anew.
const TURNING: Duration = Duration::from_secs(1);

impl Site {
    /// Waits for runs of the study and takes part in them, until the future is dropped; a run under way
    /// goes on when the site serves again. [`Site::reload`] reads the study and the site's file anew.
    pub async fn serve(&self) -> Result<Infallible, Error> {
        let pulse = Pulse::new();
        let node = Node {
            site: self,
            observer: pulse.before(&self.observer),
        };
        let post = Post::take(node.read()?, &pulse).await?;
        node.serve(post).await
    }

    /// Has [`Site::serve`] read the site's file and the study anew. The observer hears whether they can be used;
    /// if not, what was read before still counts. A run under way ends as it began.
    pub fn reload(&self) {
        self.reload.notify_one();
    }
}

/// A node that is up.
struct Node<'s> {
    site: &'s Site,
    /// Hears everything for the node's vitals, too.
    observer: SharedObserver,
}

impl Node<'_> {
    fn read(&self) -> Result<Part, Error> {
        hedgerow_node::aside(|| Part::open(&self.site.path, &self.observer))
    }

    fn notice(&self, notice: Notice) {
        self.observer.notice(notice);
    }

    async fn serve(&self, mut post: Post) -> Result<Infallible, Error> {
        // What was read anew, and waits for the end of a run.
        let mut waiting = None;
        let mut next = next_run(&post.part)?;
        let mut pause = FIRST_PAUSE;
        loop {
            if self.turn(&mut post, &mut waiting).await? {
                next = next_run(&post.part)?;
            }
            let open = post.entrance.clone();
            let number = match next.take() {
                Some(number) => number,
                None => tokio::select! {
                    number = wait(&post.part, &open) => number?,
                    () = self.read_anew(&post, &mut waiting) => continue,
                },
            };
            self.notice(Notice::Begins { run: number });
            match self.take(&post.part, number, open, &mut waiting).await {
                Ok(_) => {
                    pause = FIRST_PAUSE;
                    self.notice(Notice::Over {
                        run: number,
                        folder: post.part.folder(number),
                    });
                }
                Err(error) => {
                    self.notice(Notice::Failed {
                        run: number,
                        why: error.without_values(),
                    });
                    if matches!(error, Error::Source(_)) {
                        post.look_at_rows();
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// Takes the site's part in a run. What is read anew meanwhile waits for its end.
    async fn take(
        &self,
        part: &Part,
        number: u32,
        open: Entrance,
        waiting: &mut Option<Part>,
    ) -> Result<Summary, Error> {
        let mut taking = pin!(part.take(number, None, open));
        loop {
            tokio::select! {
                taken = &mut taking => return taken,
                () = self.site.reload.notified() => match self.read() {
                    Ok(part) => {
                        *waiting = Some(part);
                        self.notice(Notice::ReadWhenOver { run: number });
                    }
                    Err(error) => self.notice(Notice::NotReadAnew(error.without_values())),
                },
            }
        }
    }

    /// Returns when something that was read anew waits and may count.
    async fn read_anew(&self, post: &Post, waiting: &mut Option<Part>) {
        loop {
            tokio::select! {
                () = self.site.reload.notified() => match self.read() {
                    Ok(part) => {
                        let in_the_way = post.in_the_way_of(&part);
                        *waiting = Some(part);
                        match in_the_way {
                            Ok(Some(run)) => self.notice(Notice::ReadWhenOver { run }),
                            _ => return,
                        }
                    }
                    Err(error) => self.notice(Notice::NotReadAnew(error.without_values())),
                },
                () = tokio::time::sleep(TURNING), if waiting.is_some() => {
                    let part = waiting.as_ref();
                    let in_the_way = part.map(|part| post.in_the_way_of(part));
                    if !matches!(in_the_way, Some(Ok(Some(_)))) {
                        return;
                    }
                }
            }
        }
    }

    /// Turns to what was read anew, unless a run is in its way. Returns whether runs of another study or
    /// folder are due from now on.
    async fn turn(&self, post: &mut Post, waiting: &mut Option<Part>) -> Result<bool, Error> {
        let Some(part) = waiting.take() else {
            return Ok(false);
        };
        if let Ok(Some(_)) = post.in_the_way_of(&part) {
            *waiting = Some(part);
            return Ok(false);
        }
        let of = |part: &Part| (part.agreement.hash, part.site.data.clone());
        let before = of(&post.part);
        if let Err(error) = post.turn_to(part).await {
            self.notice(Notice::NotReadAnew(error.without_values()));
            return Ok(false);
        }
        Ok(before != of(&post.part))
    }
}

/// The run to take up when a node begins: a run under way goes on by itself, since its peers may be waiting;
/// peers have left behind a run that a later run came after.
fn next_run(part: &Part) -> Result<Option<u32>, Error> {
    let last: Option<Entry> = part.runs()?.into_iter().max_by_key(|entry| entry.number);
    let is_own = |entry: &Entry| entry.study == part.agreement.hash;
    let under_way = last.filter(|entry| !entry.is_over && is_own(entry));
    match under_way {
        Some(entry) => Ok(Some(entry.number)),
        None => waiting_for_word(part),
    }
}

/// A run that waited for the privacy officer when the node last stopped: the run waits again, or goes on
/// if the officer has decided.
fn waiting_for_word(part: &Part) -> Result<Option<u32>, Error> {
    let versions = part.versions()?;
    let questions = part
        .memory
        .questions(&part.site.name, part.agreement.hash)?;
    let is_due = |number: &u32| answer(&part.site.data, &versions, *number).is_ok();
    let mut numbers = questions.iter().map(|question| question.number);
    Ok(numbers.find(is_due))
}

/// Wipes what was kept for audits when their time is over, for as long as the node waits.
async fn forget_old(part: &Part) -> Infallible {
    loop {
        tokio::time::sleep(FORGETTING).await;
        // Opening the journal wipes what is out of date; another process may be at work with it just
        // now.
        if let Err(error) = part.journal()
            && !matches!(error, Error::Journal(JournalError::Busy { .. }))
        {
            part.observer
                .notice(Notice::Warning(error.without_values()));
        }
    }
}

/// Waits for a knock: for a run that is under way, or the one after the last.
async fn wait(part: &Part, entrance: &Entrance) -> Result<u32, Error> {
    part.observer.notice(Notice::Waiting);
    let (data, versions) = (part.site.data.clone(), part.versions()?);
    let (asked, known) = (data.clone(), versions.clone());
    let takes = move |number: u32| answer(&data, &versions, number);
    let due = move || due(&asked, &known);
    let observer = Arc::clone(&part.observer);
    let watcher: Watcher = Arc::new(move |event| observer.notice(Notice::Line(event)));
    let door = part.door();
    let heard = tokio::select! {
        heard = door.wait(entrance, takes, due, &watcher) => heard,
        never = forget_old(part) => match never {},
    };
    let (site, run) = heard.map_err(SiteRefused::Door)?;
    part.observer.notice(Notice::Asked {
        site: part.name_of(site).to_owned(),
        run,
    });
    Ok(run)
}
