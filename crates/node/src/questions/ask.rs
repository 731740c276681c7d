//! Asking: a question of this site's own front ends, signed and sent to all sites.

use std::sync::{Arc, PoisonError};

use hedgerow_smc::{Allowed, Branch, Party, Site, Standing};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::error::QuestionError;
use super::lines::Lines;
use super::log::utc;
use super::refusal::Refusal;
use super::state::{Failure, place};
use super::word::{Asking, Name, PartEnd, Word};
use super::{Done, Given, LONGEST_QUESTION, Part, PartError, Prepared, Questions, Unprepared};
use crate::identity::Purpose;

/// The rule by which a party refuses what a question does not disclose.
const RULE: &str = "accept.query";
/// How often a question is asked again where a site has other keys: its node may just have started.
const TIMES: usize = 3;
/// How long this site listens for what others say of a question that failed.
const GRACE: std::time::Duration = std::time::Duration::from_millis(300);

/// How often it is looked meanwhile whether all have been heard.
const LOOK: std::time::Duration = std::time::Duration::from_millis(2);

impl Questions {
    /// Asks a question about the table of a run. If the future is dropped, the question ends at all sites.
    pub async fn ask(
        self: &Arc<Self>,
        run: u32,
        question: Vec<u8>,
    ) -> Result<Vec<u8>, QuestionError> {
        if question.len() > LONGEST_QUESTION {
            return Err(QuestionError::TooLong {
                length: question.len(),
                most: LONGEST_QUESTION,
            });
        }
        let late = QuestionError::Late {
            seconds: self.limits.longest.as_secs(),
        };
        let place = timeout(self.limits.longest, self.places.acquire()).await;
        let _place = place.map_err(|_| late)?;
        let mut times = 1;
        loop {
            let refused = match self.ask_once(run, &question).await {
                Err(Unanswered::Refused(refused)) => refused,
                Err(Unanswered::Failed(error)) => return Err(error),
                Ok(answer) => return Ok(answer),
            };
            let is_of_keys = |(_, refusal): &(u16, Refusal)| *refusal == Refusal::Keys;
            if times == TIMES || !refused.iter().all(is_of_keys) {
                return Err(self.refused(&refused));
            }
            times += 1;
            sleep(GRACE).await;
        }
    }

    /// Every site that refuses, in words.
    fn refused(&self, refused: &[(u16, Refusal)]) -> QuestionError {
        let me = self.name(self.shared.me);
        let mut words = Vec::with_capacity(refused.len());
        for (by, refusal) in refused {
            let why = refusal.in_words(self.name(*by), me, &self.columns);
            // What the study says is the same at every site.
            if !words.contains(&why) {
                words.push(why);
            }
        }
        let sites = refused.iter().map(|(by, _)| self.name(*by).to_owned());
        QuestionError::Refused {
            sites: sites.collect(),
            words,
        }
    }

    async fn ask_once(self: &Arc<Self>, run: u32, question: &[u8]) -> Result<Vec<u8>, Unanswered> {
        let prepared = self.prepare(run, question).await?;
        let standing = self.ready().await?;
        let (open, party, part) = self.send(&standing, run, question, prepared).await?;
        let allotted = self.limits.longest;
        let done = Arc::clone(self).do_part(open.name, open.kind, party, part);
        let outcome = match timeout(allotted, done).await {
            Ok(outcome) => outcome,
            Err(_) => {
                return Err(QuestionError::Late {
                    seconds: allotted.as_secs(),
                }
                .into());
            }
        };
        match outcome {
            Ok(Given { answer, .. }) => {
                open.answered();
                Ok(answer)
            }
            Err(error) => Err(self.why(&open.name, error).await),
        }
    }

    /// Looks at the question as every other site will.
    async fn prepare(&self, run: u32, question: &[u8]) -> Result<Prepared, Unanswered> {
        let (answering, me) = (Arc::clone(&self.answering), self.shared.me);
        let bytes = question.to_vec();
        let prepared =
            tokio::task::spawn_blocking(move || answering.prepare(me, run, &bytes)).await;
        match prepared {
            Ok(Ok(prepared)) => Ok(prepared),
            Ok(Err(Unprepared { refusal, why })) => {
                let more = json!({
                    "asker": self.name(me),
                    "run": run,
                    "question": serde_json::from_slice(question).unwrap_or(Value::Null),
                    "why": refusal.rule(),
                });
                // Nothing is answered, so nothing depends on the log.
                let id = blake3::hash(question);
                let _ = self.log.add("refused", id.as_bytes(), more);
                Err(match why {
                    Some(why) => QuestionError::Refused {
                        sites: vec![self.name(me).to_owned()],
                        words: vec![why],
                    }
                    .into(),
                    None => Unanswered::Refused(vec![(me, refusal)]),
                })
            }
            Err(_) => Err(panicked().into()),
        }
    }

    /// The keys of all sites, once all are connected.
    async fn ready(&self) -> Result<Arc<Standing>, QuestionError> {
        let deadline = Instant::now() + self.limits.waiting;
        let mut standing = self.shared.standing.subscribe();
        let mut changes = self.shared.watch_changes();
        loop {
            standing.borrow_and_update();
            changes.borrow_and_update();
            if let Some(standing) = self.present_keys() {
                return Ok(standing);
            }
            let waited = timeout_at(deadline, async {
                tokio::select! {
                    _ = standing.changed() => {}
                    _ = changes.changed() => {}
                }
            });
            if waited.await.is_err() {
                break;
            }
        }
        let mut away = self.away();
        away.extend(self.shared.silent().into_iter().map(|peer| {
            let name = self.name(peer);
            format!("`{name}` is connected, and has not said that it answers questions")
        }));
        if away.is_empty() {
            let why = self.no_keys.lock().unwrap_or_else(PoisonError::into_inner);
            let why = why.clone();
            let why = why.unwrap_or_else(|| String::from("two other sites may not be connected"));
            return Err(QuestionError::NoKeys { why });
        }
        Err(QuestionError::Away { away })
    }

    /// Every site that is away, with since when and why.
    fn away(&self) -> Vec<String> {
        let away = self.shared.gone().into_iter().map(|gone| {
            let (name, since) = (self.name(gone.peer), utc(gone.since));
            format!("`{name}` is away since {since}: {}", gone.why)
        });
        away.collect()
    }

    /// The keys that belong to the present lives of all sites.
    fn present_keys(&self) -> Option<Arc<Standing>> {
        let lives = self.shared.all_lives()?;
        let found = self.shared.standing.borrow();
        let (name, standing) = found.as_ref()?;
        (*name == self.name_of(&lives)).then(|| Arc::clone(standing))
    }

    /// Numbers, signs and sends a question. Questions go out in the order of their numbers.
    async fn send(
        self: &Arc<Self>,
        standing: &Standing,
        run: u32,
        question: &[u8],
        prepared: Prepared,
    ) -> Result<(Open, Party, Part), Unanswered> {
        let me = self.shared.me;
        let mut last = self.last.lock().await;
        let number = *last + 1;
        let mut asking = Asking {
            session: standing.session(),
            run,
            number,
            table: prepared.table,
            signature: [0; 64],
            question: question.to_vec(),
        };
        let name = self.digest(me, &asking);
        asking.signature = self.secret.sign(Purpose::Question, &name);
        if !self.shared.enter(name, Some(me)) {
            return Err(Unanswered::Refused(vec![(me, Refusal::Busy)]));
        }
        *last = number;
        let mut open = Open {
            questions: Arc::clone(self),
            name,
            kind: prepared.kind,
            is_sent: false,
            is_answered: false,
        };
        let line = self.line(me, &asking, prepared.words);
        self.log.add("asked", &name, line).map_err(unwritten)?;
        let branch = Branch {
            asker: Site::new(me),
            number,
            digest: name,
        };
        // Whoever asks waits a little longer than the others, so that it hears whom they wait for.
        let silence = self.limits.silence + self.limits.silence / 2;
        let lines = Lines::new(&self.shared, name, silence);
        let party = standing.party(&branch, Box::new(lines));
        let mut party = party.map_err(|error| QuestionError::Own(error.to_string()))?;
        party.allow_only(Allowed {
            rule: RULE,
            names: prepared.allowed,
        });
        open.is_sent = true;
        let word = Word::Ask(Box::new(asking));
        for peer in self.shared.peers() {
            if !self.shared.say(peer, &word) {
                self.shared.fail(&name, Failure::Away(peer));
            }
        }
        Ok((open, party, prepared.part))
    }

    /// What a question is known by, and what its asker signs.
    pub(super) fn digest(&self, asker: u16, asking: &Asking) -> Name {
        let mut hasher = blake3::Hasher::new_derive_key("hedgerow question between nodes v1");
        hasher
            .update(&self.study.0)
            .update(&asking.session)
            .update(&asker.to_le_bytes())
            .update(&asking.run.to_le_bytes())
            .update(&asking.number.to_le_bytes())
            .update(&asking.table)
            .update(&(asking.question.len() as u64).to_le_bytes())
            .update(&asking.question);
        *hasher.finalize().as_bytes()
    }

    /// Does this site's part in a question that it asks on a thread of its own, since it computes for long
    /// stretches. What it disclosed is written down there, also where nobody wants the answer any more.
    async fn do_part(
        self: Arc<Self>,
        name: Name,
        kind: &'static str,
        party: Party,
        part: Part,
    ) -> Result<Given, PartError> {
        let runtime = tokio::runtime::Handle::current();
        let done = tokio::task::spawn_blocking(move || {
            let done = runtime.block_on(part(party));
            // The question itself stands in the log; a line that is lost says less of its end.
            let _ = self.write_end(&name, self.shared.me, kind, &done);
            done.result
        });
        done.await.unwrap_or_else(|_| {
            Err(PartError {
                peer: None,
                why: panicked().to_string(),
            })
        })
    }

    /// Writes down what became of a question.
    pub(super) fn write_end(
        &self,
        name: &Name,
        asker: u16,
        kind: &'static str,
        done: &Done,
    ) -> std::io::Result<()> {
        let mut line = json!({ "asker": self.name(asker), "answer": kind });
        let event = match &done.result {
            Ok(Given { size, .. }) => {
                line[kind] = json!(size);
                "answered"
            }
            Err(error) => {
                // A question that nobody wants any more has left.
                line["why"] = match self.shared.failure(name) {
                    Some(Failure::Cancelled) => json!("cancelled"),
                    None if !self.shared.is_under_way(name) => json!("cancelled"),
                    _ => json!(error.why),
                };
                "ended"
            }
        };
        if !done.disclosed.is_empty() {
            line["disclosed"] = json!(done.disclosed);
        }
        self.log.add(event, name, line)
    }

    /// Every site that refuses: the others have a moment to be heard too.
    async fn all_refusals(&self, name: &Name, by: u16, refusal: Refusal) -> Vec<(u16, Refusal)> {
        let deadline = Instant::now() + GRACE;
        loop {
            let (refused, is_all) = self.shared.refusals(name);
            if is_all || Instant::now() > deadline {
                return match refused.is_empty() {
                    true => vec![(by, refusal)],
                    false => refused,
                };
            }
            sleep(LOOK).await;
        }
    }

    /// Why a question that was sent has no answer: the site whose fault it is, where that can be told.
    async fn why(&self, name: &Name, error: PartError) -> Unanswered {
        let failure = self.shared.failure(name);
        if failure.is_none() && error.peer.is_none() {
            return QuestionError::Own(error.why).into();
        }
        let (blamed, why) = match failure {
            Some(Failure::Refused { by, refusal }) => {
                return Unanswered::Refused(self.all_refusals(name, by, refusal).await);
            }
            Some(Failure::Away(peer)) => {
                // Others may be gone with it.
                sleep(GRACE).await;
                let away = self.away();
                if away.len() > 1 {
                    return QuestionError::Away { away }.into();
                }
                let gone = self.shared.gone().into_iter();
                let mut why = gone.filter(|gone| gone.peer == peer).map(|gone| gone.why);
                return Unanswered::Failed(QuestionError::Lost {
                    peer: self.name(peer).to_owned(),
                    why: why
                        .next_back()
                        .unwrap_or_else(|| String::from("its line broke")),
                });
            }
            Some(Failure::Flooded(peer)) => (peer, String::from("it sent more than it may")),
            Some(Failure::Said { by, end }) => match end {
                PartEnd::Peer(peer) if peer != self.shared.me => {
                    (peer, format!("`{}` says so", self.name(by)))
                }
                PartEnd::Peer(_) => (by, String::from("it blames this site")),
                PartEnd::Own | PartEnd::Cancelled => (
                    by,
                    String::from("it ended its part for a reason of its own"),
                ),
            },
            Some(Failure::Cancelled) => {
                return QuestionError::Own(String::from("this node has ended")).into();
            }
            None => (error.peer.unwrap_or(self.shared.me), error.why),
        };
        // The site that is blamed may itself have waited for another.
        sleep(GRACE).await;
        let (refused, _) = self.shared.refusals(name);
        if !refused.is_empty() {
            return Unanswered::Refused(refused);
        }
        let culprit = self.shared.culprit(name, blamed);
        let why = match culprit == blamed {
            true => why,
            false => format!("`{}` says so", self.name(blamed)),
        };
        Unanswered::Failed(QuestionError::Peer {
            peer: self.name(culprit).to_owned(),
            why,
        })
    }
}

fn panicked() -> QuestionError {
    QuestionError::Own(String::from(
        "this is a mistake in hedgerow, not in your input: the protocol panicked",
    ))
}

fn unwritten(error: std::io::Error) -> QuestionError {
    QuestionError::Own(format!("the log of questions cannot be written: {error}"))
}

/// The peer that an error of a primitive speaks of.
pub(super) fn peer_of(error: &hedgerow_smc::Error) -> Option<u16> {
    error.peer().map(place)
}

/// Why a question has no answer.
enum Unanswered {
    /// The sites that refuse, with their reasons.
    Refused(Vec<(u16, Refusal)>),
    Failed(QuestionError),
}

impl From<QuestionError> for Unanswered {
    fn from(error: QuestionError) -> Self {
        Self::Failed(error)
    }
}

/// A question that this site has under way. Where it ends without an answer, all sites hear of it.
struct Open {
    questions: Arc<Questions>,
    name: Name,
    kind: &'static str,
    is_sent: bool,
    is_answered: bool,
}

impl Open {
    fn answered(mut self) {
        self.is_answered = true;
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let shared = &self.questions.shared;
        if self.is_sent && !self.is_answered {
            let (name, end) = (self.name, PartEnd::Cancelled);
            for peer in shared.peers() {
                shared.say(peer, &Word::Ended { name, end });
            }
        }
        shared.leave(&self.name);
    }
}
