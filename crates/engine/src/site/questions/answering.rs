//! What a site answers questions with: its own rows of a run, by the study's rules and its own.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hedgerow_data::study::AnswerKind;
use hedgerow_node::accept::AcceptQuery;
use hedgerow_node::agreement::Agreement;
use hedgerow_node::identity::PublicKey;
use hedgerow_node::journal::Journal;
use hedgerow_node::questions::{
    Answering, Disclosed, Done, Given, PartError, Prepared, Refusal, Unprepared,
};
use hedgerow_protocols::query::{self, Answer, Answered, Question};
use hedgerow_smc::settings::Uniting;
use hedgerow_smc::{Party, Security, Site, To, What};

use super::held::{Table, read};
use super::{answer, is_asked};
use crate::site::part::Part;

/// Runs whose tables are at hand.
const MOST_TABLES: usize = 4;

/// A site's own rows of its runs.
pub(super) struct Rows {
    data: PathBuf,
    agreement: Arc<Agreement>,
    me: u16,
    /// This site's key in the study.
    key: PublicKey,
    accept: AcceptQuery,
    security: Security,
    /// The names of all sites, in the study's order.
    names: Arc<Vec<String>>,
    /// The tables that were asked last, by run.
    tables: Mutex<Vec<(u32, Arc<Table>)>>,
}

impl Rows {
    pub(super) fn new(part: &Part) -> Self {
        Self {
            data: part.site.data.clone(),
            agreement: Arc::clone(&part.agreement),
            me: part.place,
            key: part.secret.public(),
            accept: part.site.accept.query.clone(),
            security: part.ready.run.security,
            names: Arc::new({
                let sites = part.agreement.study.sites.iter();
                sites.map(|site| site.name.clone()).collect()
            }),
            tables: Mutex::default(),
        }
    }

    /// Whether the study's rules and this site's let a site ask a question.
    fn permit(&self, asker: u16, question: &Question) -> Result<(), Refusal> {
        let study = &self.agreement.study;
        let kind = match question.answer {
            Answer::Rows { .. } => AnswerKind::Rows,
            Answer::Totals { .. } => AnswerKind::Totals,
        };
        let allowed = study.query.as_ref().map(|query| query.answers.as_slice());
        if !allowed.is_some_and(|answers| answers.contains(&kind)) {
            return Err(Refusal::Study);
        }
        let asker = study.sites.get(usize::from(asker));
        if !asker.is_some_and(|asker| self.accept.from.contains(&asker.name)) {
            return Err(Refusal::From);
        }
        if !self.accept.answers.contains(&kind) {
            return Err(Refusal::Answers);
        }
        let attributes = study.schema.attributes();
        let is_refused = |column: &usize| {
            let attribute = attributes.get(*column);
            !attribute.is_some_and(|attribute| self.accept.columns.contains(&attribute.name))
        };
        let refused = question.columns().into_iter().filter(is_refused);
        // A question that was checked names columns of the schema only.
        let refused: Vec<u16> = refused
            .filter_map(|column| u16::try_from(column).ok())
            .collect();
        match refused.is_empty() {
            true => Ok(()),
            false => Err(Refusal::Columns(refused)),
        }
    }

    /// The table of a run, read once.
    fn table(&self, run: u32) -> Result<Arc<Table>, Unprepared> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, table)) = tables.iter().find(|(number, _)| *number == run) {
            return Ok(Arc::clone(table));
        }
        let own = |why: String| Unprepared {
            refusal: Refusal::Own,
            why: Some(why),
        };
        let entries = Journal::look(&self.data).map_err(|error| own(error.to_string()))?;
        let mut entries = entries.iter();
        if !entries.any(|entry| entry.number == run && is_asked(entry, &self.agreement)) {
            return Err(Refusal::Run.into());
        }
        let table = read(&self.data, run, &self.agreement, &self.key);
        let table = Arc::new(table.map_err(|error| own(error.without_values()))?);
        if tables.len() >= MOST_TABLES {
            tables.remove(0);
        }
        tables.push((run, Arc::clone(&table)));
        Ok(table)
    }
}

impl Answering for Rows {
    fn prepare(&self, asker: u16, run: u32, bytes: &[u8]) -> Result<Prepared, Unprepared> {
        let no_question = |why: String| Unprepared {
            refusal: Refusal::Question,
            why: Some(why),
        };
        let question: Question =
            serde_json::from_slice(bytes).map_err(|error| no_question(error.to_string()))?;
        let schema = &self.agreement.study.schema;
        let checked = question.check(schema);
        checked.map_err(|error| no_question(error.to_string()))?;
        self.permit(asker, &question)?;
        let table = self.table(run)?;
        let totals = query::totals(&table.held, &question);
        let totals = totals.map_err(|error| no_question(error.to_string()))?;
        let words = serde_json::to_value(&question);
        let words = words.map_err(|error| no_question(error.to_string()))?;
        // The log has the question in words, from which the bytes that were signed must follow.
        if serde_json::to_vec(&question).ok().as_deref() != Some(bytes) {
            return Err(no_question(String::from(
                "the question is not written as questions are",
            )));
        }
        let on_the_way = self.security.discloses().iter();
        let may_disclose = query::discloses();
        let allowed = may_disclose.iter().chain(on_the_way).map(What::name);
        let is_mine = asker == self.me;
        let names = Arc::clone(&self.names);
        Ok(Prepared {
            table: table.digest,
            words,
            kind: match question.answer {
                Answer::Rows { .. } => "rows",
                Answer::Totals { .. } => "totals",
            },
            allowed: allowed.map(str::to_owned).collect(),
            part: Box::new(move |mut party| {
                Box::pin(async move {
                    let asked = query::ask(&mut party, &table.held, &question, Site::new(asker));
                    let answered = asked.await;
                    let different = different(answered.as_ref().ok());
                    let disclosed = disclosed(&party, &table, &question, different, &names);
                    let result = answered.map_err(|error| failed(&error)).map(|answered| {
                        let size = match (&answered, totals) {
                            (Answered::Rows(rows), _) => rows.len() as u64,
                            (Answered::Totals(_), totals) => totals.unwrap_or(0),
                        };
                        let answer = match is_mine {
                            true => answer::encode(&answered),
                            false => Vec::new(),
                        };
                        Given { answer, size }
                    });
                    Done { result, disclosed }
                })
            }),
        })
    }
}

/// How many different rows an answer has.
fn different(answered: Option<&Answered>) -> usize {
    let Some(Answered::Rows(rows)) = answered else {
        return 0;
    };
    let mut cells: Vec<_> = rows.iter().map(|row| &row.cells).collect();
    cells.sort_unstable();
    cells.dedup();
    cells.len()
}

/// What a question disclosed, from the ledger of its party; with the loss of privacy that is expected of a union
/// at the published level.
fn disclosed(
    party: &Party,
    table: &Table,
    question: &Question,
    different: usize,
    names: &[String],
) -> Vec<Disclosed> {
    let settings = party.settings();
    let loss = || match &question.answer {
        Answer::Rows { columns } if settings.security == Security::Published => {
            let (held, condition) = (&table.held, &question.condition);
            let setting = query::setting(held, condition, columns, party.sites(), different);
            let setting = setting.ok().filter(|_| party.sites() > 1)?;
            Some(match settings.union {
                Uniting::Secure => setting.set_exposure(settings.decoys),
                // What the first site of the ring has is known for certain.
                Uniting::Naive => 1.0,
            })
        }
        _ => None,
    };
    let entries = party.ledger().entries().iter();
    let disclosed = entries.map(|entry| {
        let of = &entry.disclosure;
        let to = match of.to {
            To::Site(site) => names.get(site.index()).cloned(),
            _ => None,
        };
        Disclosed {
            what: of.what.name().to_owned(),
            to: to.unwrap_or_else(|| of.to.to_string()),
            allowed_by: of.what.allowed_by().to_owned(),
            caveat: of.caveat.map(str::to_owned),
            values: entry.values as u64,
            is_complete: entry.complete,
            loss: match of.what == query::ROWS {
                true => loss(),
                false => None,
            },
        }
    });
    disclosed.collect()
}

fn failed(error: &hedgerow_protocols::Error) -> PartError {
    let peer = match error {
        hedgerow_protocols::Error::Party(error) => error.peer(),
        _ => None,
    };
    PartError {
        // A study has at most 1,000 sites that can run.
        peer: peer.map(|peer| peer.index() as u16),
        why: error.to_string(),
    }
}
