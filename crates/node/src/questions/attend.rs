//! Answering: a question of another site, looked at, written down, and then answered.
//!
//! What is wrong with a question is told in a fixed word. Nothing of this site's rows is read before signature
//! and number of the question are in order, and nothing is sent before the question stands in the log.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use hedgerow_smc::{Allowed, Branch, Party, Site, Standing};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::lines::Lines;
use super::refusal::Refusal;
use super::state::{Failure, MOST_OF_ONE};
use super::word::{Asking, Name, PartEnd, Word};
use super::{LONGEST_QUESTION, PartError, Questions, Unprepared};
use crate::identity::{Purpose, hex};

impl Questions {
    /// Takes the questions of a peer, one after the other, as long as its connection lasts.
    pub(super) fn admit(self: &Arc<Self>, asker: u16) -> mpsc::Sender<Asking> {
        let (sender, mut asked) = mpsc::channel(MOST_OF_ONE);
        let this = Arc::clone(self);
        self.spawn(async move {
            while let Some(asking) = asked.recv().await {
                this.take(asker, asking).await;
            }
        });
        sender
    }

    /// A question beyond those that can be heard.
    pub(super) fn turn_away(&self, asker: u16, asking: &Asking) {
        let (name, refusal) = (self.digest(asker, asking), Refusal::Busy);
        self.shared.say(asker, &Word::Refused { name, refusal });
    }

    /// A question that is longer than any.
    pub(super) fn refuse_long(&self, asker: u16, asking: &Asking) {
        let name = self.digest(asker, asking);
        match self.is_soon(asker, 0) {
            true => self.refuse(asker, &name, asking, Refusal::Question, None),
            false => self.turn_away(asker, asking),
        }
    }

    /// Whether a site may ask so much now. The log grows by what is asked, so it is bounded before anything
    /// is written.
    fn is_soon(&self, asker: u16, bytes: usize) -> bool {
        let mut rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        rates[usize::from(asker)].spend(bytes, Instant::now())
    }

    async fn take(self: &Arc<Self>, asker: u16, asking: Asking) {
        if !self.is_soon(asker, asking.question.len()) {
            return self.turn_away(asker, &asking);
        }
        let name = self.digest(asker, &asking);
        match self.seat(asker, &name, &asking).await {
            Ok(party) => {
                let this = Arc::clone(self);
                let runtime = tokio::runtime::Handle::current();
                // Rows are read and counted on a thread of its own.
                tokio::task::spawn_blocking(move || {
                    let left = Left {
                        questions: &this,
                        name,
                    };
                    runtime.block_on(this.attend(asker, &name, &asking, party));
                    drop(left);
                });
            }
            Err(refusal) => self.refuse(asker, &name, &asking, refusal, None),
        }
    }

    /// The party for a question, if the question is of the asker and new.
    async fn seat(
        self: &Arc<Self>,
        asker: u16,
        name: &Name,
        asking: &Asking,
    ) -> Result<Party, Refusal> {
        let key = &self.keys[usize::from(asker)];
        if !key.verifies(Purpose::Question, name, &asking.signature) {
            return Err(Refusal::Signature);
        }
        let standing = self.standing_of(asking.session).await;
        let standing = standing.ok_or(Refusal::Keys)?;
        if !self.shared.enter(*name, Some(asker)) {
            return Err(Refusal::Busy);
        }
        let branch = Branch {
            asker: Site::new(asker),
            number: asking.number,
            digest: *name,
        };
        let lines = Lines::new(&self.shared, *name, self.limits.silence);
        let party = standing.party(&branch, Box::new(lines));
        party.map_err(|_| {
            self.shared.leave(name);
            Refusal::Repeated
        })
    }

    /// The keys that a question was asked under: this site may be about to agree on them.
    async fn standing_of(&self, session: [u8; 32]) -> Option<Arc<Standing>> {
        let mut standing = self.shared.standing.subscribe();
        let found = timeout(
            self.limits.waiting,
            standing.wait_for(|found| {
                let found = found.as_ref();
                found.is_some_and(|(_, standing)| standing.session() == session)
            }),
        );
        let found = found.await.ok()?.ok()?;
        found.as_ref().map(|(_, standing)| Arc::clone(standing))
    }

    /// This site's part in a question that was taken.
    async fn attend(&self, asker: u16, name: &Name, asking: &Asking, mut party: Party) {
        let prepared = self
            .answering
            .prepare(asker, asking.run, &asking.question)
            .and_then(|prepared| match prepared.table == asking.table {
                true => Ok(prepared),
                false => Err(Refusal::Table.into()),
            });
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(Unprepared { refusal, why }) => {
                return self.refuse(asker, name, asking, refusal, why);
            }
        };
        let line = self.line(asker, asking, prepared.words);
        if let Err(error) = self.log.add("asked", name, line) {
            let why = format!("the log of questions cannot be written: {error}");
            return self.refuse(asker, name, asking, Refusal::Own, Some(why));
        }
        party.allow_only(Allowed {
            rule: "accept.query",
            names: prepared.allowed,
        });
        let done = (prepared.part)(party).await;
        if let Err(error) = &done.result {
            let end = self.end_of(name, error);
            self.shared.say(asker, &Word::Ended { name: *name, end });
        }
        // The question itself stands in the log; a line that is lost says less of its end.
        let _ = self.write_end(name, asker, prepared.kind, &done);
    }

    /// What the asker hears of an error in this site's part.
    fn end_of(&self, name: &Name, error: &PartError) -> PartEnd {
        match (self.shared.failure(name), error.peer) {
            (Some(Failure::Cancelled), _) => PartEnd::Cancelled,
            (Some(Failure::Away(peer) | Failure::Flooded(peer)), _) => PartEnd::Peer(peer),
            (_, Some(peer)) => PartEnd::Peer(peer),
            (_, None) => PartEnd::Own,
        }
    }

    /// Refuses a question, and writes that down.
    fn refuse(
        &self,
        asker: u16,
        name: &Name,
        asking: &Asking,
        refusal: Refusal,
        why: Option<String>,
    ) {
        let question = match asking.question.len() {
            length if length > LONGEST_QUESTION => Value::Null,
            // A question that is not signed, or not understood, is no more than bytes.
            _ => serde_json::from_slice(&asking.question).unwrap_or(Value::Null),
        };
        let mut line = self.line(asker, asking, question);
        line["why"] = json!(refusal.rule());
        if let Some(why) = why {
            line["reason"] = json!(why);
        }
        // Nothing is answered, so nothing depends on the log.
        let _ = self.log.add("refused", name, line);
        let name = *name;
        self.shared.say(asker, &Word::Refused { name, refusal });
    }

    /// A question for the log, with everything that its asker signed.
    pub(super) fn line(&self, asker: u16, asking: &Asking, question: Value) -> Value {
        json!({
            "asker": self.name(asker),
            "run": asking.run,
            "session": hex(&asking.session),
            "number": asking.number,
            "table": hex(&asking.table),
            "question": question,
            "signature": hex(&asking.signature),
        })
    }
}

/// Takes a question out when this site's part is over, however that comes.
struct Left<'q> {
    questions: &'q Questions,
    name: Name,
}

impl Drop for Left<'_> {
    fn drop(&mut self) {
        self.questions.shared.leave(&self.name);
    }
}
