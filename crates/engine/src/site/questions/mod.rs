//! Questions about the table that sites hold together, between machines: what a site's node answers with, and
//! how its front ends ask.

mod answer;
mod answering;
mod held;
mod joint_table;

pub use joint_table::JointTable;

use std::path::Path;
use std::sync::Arc;

use hedgerow_node::Watcher;
use hedgerow_node::agreement::Agreement;
use hedgerow_node::journal::{Entry, Journal};
use hedgerow_node::questions::{Desk, DeskError, Limits, Questions, Serving, Setup};
use hedgerow_protocols::query::{Answered, Question};

use super::Site;
use super::part::Part;
use super::refused::SiteRefused;
use crate::error::Error;
use crate::observe::Notice;
use crate::query::AskError;
use answering::Rows;

impl Site {
    /// Asks the table that all sites hold together since a run; the last run, where none is named. This site's
    /// node must be waiting (`hedgerow node`), and so must every other site's. If the future is dropped, the
    /// question ends at all sites.
    ///
    /// The answer has low, estimate and high for every total, and for rows what each says about the
    /// condition, by the codes of the study's columns.
    pub async fn ask(&self, run: Option<u32>, question: &Question) -> Result<Answered, Error> {
        let agreement = Agreement::open(&self.file.study)?;
        if agreement.study.query.is_none() {
            return Err(SiteRefused::NoQuery.into());
        }
        // What is wrong with the question itself is found here, in words.
        question
            .check(&agreement.study.schema)
            .map_err(AskError::Question)?;
        let run = match run {
            Some(run) => run,
            None => last_run(&self.file.data, &agreement)?,
        };
        let bytes = serde_json::to_vec(question).map_err(|_| AskError::Unwritable)?;
        let mut desk = Desk::find(&self.file.data, agreement.hash)
            .await
            .map_err(SiteRefused::Desk)?;
        let answer = desk.ask(run, &bytes).await.map_err(SiteRefused::Desk)?;
        answer::decode(&answer).ok_or_else(|| {
            let words = String::from("this site's node answered with something that is no answer");
            let is_of_peer = false;
            SiteRefused::Desk(DeskError::Unanswered { words, is_of_peer }).into()
        })
    }
}

/// The last run of this version of the study that is over.
fn last_run(data: &Path, agreement: &Agreement) -> Result<u32, Error> {
    let entries = Journal::look(data)?;
    let is_own = |entry: &&Entry| is_asked(entry, agreement);
    let last = entries
        .iter()
        .filter(is_own)
        .map(|entry| entry.number)
        .max();
    last.ok_or_else(|| SiteRefused::NoTable.into())
}

/// Whether the table of a run can be asked.
fn is_asked(entry: &Entry, agreement: &Agreement) -> bool {
    entry.study == agreement.hash && entry.is_over && !entry.is_given_up
}

impl Part {
    /// Answers questions as long as the returned value lasts, if the study allows any. A node that cannot
    /// answer questions still takes part in runs, and says so.
    pub(super) fn serve_questions(&self) -> Option<Serving> {
        let study = &self.agreement.study;
        study.query.as_ref()?;
        let names: Vec<String> = study.sites.iter().map(|site| site.name.clone()).collect();
        let places = 0..self.keys.len() as u16;
        let addresses: Result<Vec<String>, Error> =
            places.map(|place| self.address(place)).collect();
        let addresses = match addresses {
            Ok(addresses) => addresses,
            Err(error) => return self.no_questions(&error),
        };
        let attributes = study.schema.attributes().iter();
        let observer = Arc::clone(&self.observer);
        let watcher: Watcher = Arc::new(move |event| observer.notice(Notice::Question(event)));
        let setup = Setup {
            study: self.agreement.hash,
            me: self.place,
            secret: Arc::clone(&self.secret),
            names,
            keys: self.keys.clone(),
            addresses,
            star: self.star.get().cloned(),
            columns: attributes.map(|attribute| attribute.name.clone()).collect(),
            settings: self.ready.settings(),
            limits: Limits::default(),
            data: self.site.data.clone(),
            answering: Arc::new(Rows::new(self)),
            watcher,
        };
        match Questions::serve(setup) {
            Ok(serving) => {
                // A part is served once.
                let _ = self.questions.set(Arc::clone(serving.questions()));
                Some(serving)
            }
            Err(error) => self.no_questions(&error),
        }
    }

    fn no_questions(&self, error: &dyn std::fmt::Display) -> Option<Serving> {
        let warning = format!("this node answers no questions: {error}");
        self.observer.notice(Notice::Warning(warning));
        None
    }
}
