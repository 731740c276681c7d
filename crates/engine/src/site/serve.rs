//! The site's daemon. The daemon waits until a site of the study knocks, takes this site's part in the
//! run, and waits for the next run; it reports a run that fails, and waits for that run again.
//!
//! Where the study has `[query]`, questions about earlier runs are answered all the while.
//!
//! Rows are read when a run begins, not when the node starts. A run that was under way when the
//! node last stopped is taken up at once.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hedgerow_node::Watcher;
use hedgerow_node::journal::{Entry, JournalError};
use tokio::net::TcpListener;

use super::Site;
use super::due::{answer, due};
use super::part::Part;
use super::refused::SiteRefused;
use crate::error::Error;
use crate::observe::Notice;

/// After a failure the node hears nobody for a while, longer each time, since peers have to notice the
/// failure too. A knock waits longer than this pause.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How often a node that waits looks for what was kept long enough.
const FORGETTING: Duration = Duration::from_secs(3_600);

impl Site {
    /// Waits for runs of the study and takes part in them, until the future is dropped; a run under way
    /// goes on when the site serves again. After a change of the study or the site's file, open the site
    /// anew.
    pub async fn serve(&self) -> Result<Infallible, Error> {
        serve(&self.part()?).await
    }
}

async fn serve(part: &Part) -> Result<Infallible, Error> {
    let notice = |notice| part.observer.notice(notice);
    // Makes the data folder, and sees that nobody else is at work in it.
    drop(part.journal()?);
    // Questions are answered while the node waits, and during runs.
    let _questions = part.serve_questions();
    // A run under way goes on by itself, since its peers may be waiting; peers have left behind a run
    // that a later run came after.
    let last: Option<Entry> = part.runs()?.into_iter().max_by_key(|entry| entry.number);
    let is_own = |entry: &Entry| entry.study == part.agreement.hash;
    let under_way = last.filter(|entry| !entry.is_over && is_own(entry));
    let mut next = under_way.map(|entry| entry.number);
    if next.is_none() {
        next = waiting_for_word(part)?;
    }
    // The listener is held from run to run, so that no other process gets the address in between.
    let cannot = |error| Error::Site(SiteRefused::Listener(error));
    let listener = part.listen().await?.into_std().map_err(cannot)?;
    let mut pause = FIRST_PAUSE;
    loop {
        let open = listener.try_clone().and_then(TcpListener::from_std);
        let open = match open.map_err(cannot) {
            Ok(open) => open,
            Err(error) => {
                notice(Notice::Trouble(error.to_string()));
                tokio::time::sleep(LONGEST_PAUSE).await;
                continue;
            }
        };
        let number = match next.take() {
            Some(number) => number,
            None => wait(part, &open).await?,
        };
        notice(Notice::Begins { run: number });
        match part.take(number, None, open).await {
            Ok(_) => {
                pause = FIRST_PAUSE;
                notice(Notice::Over {
                    run: number,
                    folder: part.folder(number),
                });
            }
            Err(error) => {
                notice(Notice::Failed {
                    run: number,
                    why: error.without_values(),
                });
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
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
async fn wait(part: &Part, listener: &TcpListener) -> Result<u32, Error> {
    part.observer.notice(Notice::Waiting);
    let (data, versions) = (part.site.data.clone(), part.versions()?);
    let (asked, known) = (data.clone(), versions.clone());
    let takes = move |number: u32| answer(&data, &versions, number);
    let due = move || due(&asked, &known);
    let observer = Arc::clone(&part.observer);
    let watcher: Watcher = Arc::new(move |event| observer.notice(Notice::Line(event)));
    let door = part.door();
    let heard = tokio::select! {
        heard = door.wait(listener, takes, due, &watcher) => heard,
        never = forget_old(part) => match never {},
    };
    let (site, run) = heard.map_err(SiteRefused::Door)?;
    part.observer.notice(Notice::Asked {
        site: part.name_of(site).to_owned(),
        run,
    });
    Ok(run)
}
