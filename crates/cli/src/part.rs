//! A site's part in a run of a signed study: what `run` and `node` share.
//!
//! Before anything leaves this site, the study must be signed by all, accepted by this site's
//! rules, and its rows must fit. The release appears under its own name when all sites have signed
//! it, and not before.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_node::agreement::{Agreement, StudyHash};
use hedgerow_node::audit::{AuditError, Audited, Outcome, audit};
use hedgerow_node::identity::{PublicKey, Secret};
use hedgerow_node::journal::{Entry, Journal, JournalError, RunName};
use hedgerow_node::memory::{How, Mark, Memory, Print};
use hedgerow_node::opening::WHOLE;
use hedgerow_node::run::{Run, Setup};
use hedgerow_node::site::SiteFile;
use hedgerow_node::source::digest;
use hedgerow_node::{End, Limits, Watcher};
use hedgerow_privacy::Ratio;
use hedgerow_smc::Seed;
use serde_json::json;
use tokio::net::TcpListener;

use crate::disclosures::disclosures;
use crate::due::require_due;
use crate::error::CliError;
use crate::joint::{Brought, Ready};
use crate::log::Log;
use crate::manifest;
use crate::output::{Answer, talk};
use crate::progress::Bar;
use crate::standing::Board;
use crate::summary::{OfSites, Summary};

mod folder;
mod gate;
mod play;
mod ways;

pub(crate) use folder::release_folder;
pub(crate) use gate::what_to_type;

use folder::{clear, settle};
use play::{Play, Played};

/// A study that this site may run, with everything that it takes.
pub(crate) struct Part {
    pub(crate) site: SiteFile,
    pub(crate) agreement: Arc<Agreement>,
    keys: Vec<PublicKey>,
    secret: Arc<Secret>,
    place: u16,
    ready: Arc<Ready>,
    pub(crate) memory: Memory,
    pub(crate) log: Arc<Log>,
}

impl Part {
    /// Sees that the study is signed by all and accepted here.
    pub(crate) fn open(path: &Path) -> Result<Self, CliError> {
        let site = SiteFile::open(path)?;
        warn(&site);
        let agreement = Arc::new(Agreement::open(&site.study)?);
        let keys = agreement.keys()?;
        let names: Vec<&str> = agreement
            .study
            .sites
            .iter()
            .map(|site| site.name.as_str())
            .collect();
        let unknown = |name: &str| {
            CliError::Usage(format!(
                "{}: the study has no site `{name}`\nhint: it has {}",
                path.display(),
                hedgerow_data::quoted_list(&names)
            ))
        };
        let place = names.iter().position(|name| *name == site.name);
        let place = place.ok_or_else(|| unknown(&site.name))?;
        if let Some((peer, _)) = site
            .peers
            .iter()
            .find(|(peer, _)| !names.contains(&peer.as_str()))
        {
            return Err(unknown(peer));
        }
        let secret = Secret::open(&site.key)?;
        if secret.public() != keys[place] {
            return Err(CliError::Usage(format!(
                "{}: is not the key that the study has for `{}`\nhint: the study has {}, this key is {}",
                site.key.display(),
                site.name,
                keys[place],
                secret.public()
            )));
        }
        agreement.require_signed()?;
        let ready = Ready::of(&agreement)?;
        let refusals = site
            .accept
            .refusals(&agreement, place, &disclosures(&ready));
        if !refusals.is_empty() {
            let lines: Vec<String> = refusals.iter().map(|one| format!("\n  {one}")).collect();
            return Err(CliError::Usage(format!(
                "{}: this site does not accept the study:{}\nhint: what is not written there is refused; hedgerow study show says what the study asks for",
                path.display(),
                lines.concat()
            )));
        }
        Ok(Self {
            // A study has at most 250 sites that can run.
            place: place as u16,
            memory: Memory::at(&site.memory),
            site,
            agreement,
            keys,
            secret: Arc::new(secret),
            ready: Arc::new(ready),
            log: Arc::default(),
        })
    }

    /// Gives a run up, and tells the peers: it cannot go on without this site.
    pub(crate) async fn abandon(&self, number: u32) -> Result<Answer, CliError> {
        let journal = Journal::open(&self.site.data).map_err(|error| match error {
            JournalError::Busy { folder } => CliError::Usage(format!(
                "{folder}: another hedgerow of this site is at work here, so run {number} is not given up\nhint: stop it, then type this again"
            )),
            other => other.into(),
        })?;
        // It may be one of an earlier version, which this study cannot go on with.
        let runs = self.runs()?;
        let entry = runs.iter().find(|entry| entry.number == number);
        let study = entry.map_or(self.agreement.hash, |entry| entry.study);
        journal.abandon(study, number)?;
        self.memory.ends(
            &Mark {
                study,
                ..self.mark(number)
            },
            How::GivenUp,
        )?;
        for left in [
            self.unfinished(number),
            self.unfinished(number).with_extension("old"),
        ] {
            let _ = clear(&left);
        }
        Board::forget(&self.site.data, number);
        drop(journal);
        self.decline(number, End::GivenUp).await;
        let last = self.runs()?.iter().map(|entry| entry.number).max();
        let text = format!(
            "run {number} was given up; nothing of it is kept but its number and what was learned\nhint: have the others give it up too, and start the next with --number {}\n",
            last.unwrap_or(number).saturating_add(1)
        );
        Ok(Answer::new(text, &json!({ "abandoned": number }), true))
    }

    /// Where the release will lie.
    pub(crate) fn folder(&self, number: u32) -> PathBuf {
        release_folder(&self.site.data, number)
    }

    /// Where it is made.
    fn unfinished(&self, number: u32) -> PathBuf {
        self.site.data.join(format!(".release-{number}.tmp"))
    }

    /// The runs of this study, in all its versions, in the journal.
    pub(crate) fn runs(&self) -> Result<Vec<Entry>, CliError> {
        let versions = self.versions()?;
        let mut entries = Journal::look(&self.site.data)?;
        entries.retain(|entry| versions.contains(&entry.study));
        Ok(entries)
    }

    /// This study and those that it is a new version of, as far as this site knows them.
    pub(crate) fn versions(&self) -> Result<Vec<StudyHash>, CliError> {
        let (study, parent) = (self.agreement.hash, self.agreement.parent());
        Ok(Journal::versions(&self.site.data, study, parent)?)
    }

    /// Opens the journal, for this process alone.
    pub(crate) fn journal(&self) -> Result<Journal, CliError> {
        let journal = Journal::open(&self.site.data)?;
        if let Some(parent) = self.agreement.parent() {
            journal.descends(self.agreement.hash, parent)?;
        }
        Ok(journal)
    }

    /// A run of this study in the memory.
    pub(crate) fn mark(&self, number: u32) -> Mark {
        Mark {
            site: self.site.name.clone(),
            study: self.agreement.hash,
            number,
        }
    }

    /// Takes this site's part in a run, begun or found again, and shows on a board how it stands.
    pub(crate) async fn take(
        &self,
        number: u32,
        seed: Option<u64>,
        listener: TcpListener,
    ) -> Result<Answer, CliError> {
        let peers = self.peers().map(|(_, name)| name.to_owned()).collect();
        let board = Arc::new(Board::new(
            &self.site.data,
            self.agreement.hash,
            number,
            peers,
        ));
        let _showing = Board::show(&board);
        let taken = match self.begin(number, seed, listener, &board).await {
            Ok((run, brought)) => self.take_on(number, seed, run, brought, &board).await,
            Err(error) => {
                if is_own_fault(&error) {
                    self.decline(number, End::Own).await;
                }
                Err(error)
            }
        };
        match &taken {
            Ok(answer) => board.done(answer),
            Err(error) => board.failed(&error.without_values()),
        }
        taken
    }

    /// Reads the rows, and begins the run or finds it again.
    async fn begin(
        &self,
        number: u32,
        seed: Option<u64>,
        listener: TcpListener,
        board: &Arc<Board>,
    ) -> Result<(Run, (Brought, Print)), CliError> {
        require_due(&self.site.data, &self.versions()?, number)?;
        // Held while rows are read, so that whoever asks sees that somebody is at work. A folder
        // that is not there yet is made when the rows fit.
        let is_there = self.site.data.exists();
        let held = is_there.then(|| self.journal());
        let held = held.transpose()?;
        let schema = self.ready.study.schema_at(usize::from(self.place));
        let table = self.site.source.table(&schema, &()).await?;
        let rows = digest(&table);
        let print = self.memory.print(&self.site.source, &table)?;
        let brought = self.ready.bring(table, &self.site.source.name())?;
        let journal = self.permit(number, &print, held, board).await?;
        let run = self.start(number, seed, journal, rows, listener, board)?;
        let study = &self.agreement.study.name;
        self.memory.enter(&self.mark(number), study, &print)?;
        Ok((run, (brought, print)))
    }

    async fn take_on(
        &self,
        number: u32,
        seed: Option<u64>,
        run: Run,
        (brought, print): (Brought, Print),
        board: &Arc<Board>,
    ) -> Result<Answer, CliError> {
        let started = Instant::now();
        let (patience, sites) = (self.site.patience, self.keys.len());
        let play = self.play(number, self.unfinished(number));
        let shown = Arc::clone(board);
        let (memory, mark) = (self.memory.clone(), self.mark(number));
        let may_send = self.may_send(number, &print)?;
        let part = run
            .part(
                move |party, began| async move {
                    // All have joined: what is sent from here on carries this site's rows.
                    if !memory.sends(&mark, &print, may_send)? {
                        return Err(CliError::Usage(String::from(
                            "accept.runs: another run of the same source went first, so this one sends nothing\nhint: hedgerow ledger shows the runs of this site",
                        )));
                    }
                    let bar = Bar::steps();
                    let each_step = |step| {
                        bar.step(step);
                        shown.step(step);
                    };
                    play.play(party, began, &brought, each_step).await
                },
                end_of,
            )
            .await;
        let (played, seals) = match part {
            Ok(done) => done,
            Err(error) => {
                run.leave().await;
                return Err(error.into());
            }
        };
        let Played {
            mut published,
            signed,
            ledger,
            mut cost,
            convergence,
            groups,
        } = played;
        let names = self
            .agreement
            .study
            .sites
            .iter()
            .map(|site| site.name.as_str());
        cost.seconds = started.elapsed().as_secs_f64();
        let account = manifest::Account {
            published: &published,
            sites,
            of_sites: OfSites::default(),
            ledger: &ledger,
            cost: &cost,
            convergence: convergence.as_ref(),
            shared: self.ready.shared(groups, sites),
        };
        let manifest = manifest::whole(signed, names, &self.keys, &seals, &account);
        let writer = (self.site.name.as_str(), &*self.secret);
        manifest::close(
            &published.folder,
            manifest,
            &self.ready.opened,
            Some(writer),
        )?;
        published.folder = settle(&self.unfinished(number), &self.folder(number))?;
        board.settling();
        talk(&format!(
            "the release lies in {}; waiting until every site has what it needs",
            published.folder.display()
        ));
        let behind = run
            .finish::<CliError>(&seals, patience)
            .await
            .map_err(CliError::from)?;
        self.memory.ends(&self.mark(number), How::Released)?;
        if let Some(peer) = behind {
            talk(&format!(
                "warning: `{peer}` may lack this site's last messages and has not been heard of since"
            ));
        }
        cost.seconds = started.elapsed().as_secs_f64();
        let of_sites = OfSites::default();
        let summary = Summary::new(&self.ready, &published, sites, seed, cost, ledger, of_sites);
        Ok(summary.converged(convergence).grouped(groups).answer())
    }

    /// This site's part in a run, whose release is made there.
    fn play(&self, number: u32, unfinished: PathBuf) -> Play {
        Play {
            ready: Arc::clone(&self.ready),
            accept: self.site.accept.clone(),
            place: self.place,
            study: self.agreement.hash,
            number,
            unfinished,
        }
    }

    /// Does this site's part in a run again, and says whether it was as it should be.
    pub(crate) async fn audit(&self, number: u32) -> Result<Outcome, CliError> {
        let journal = self.journal()?;
        let schema = self.ready.study.schema_at(usize::from(self.place));
        let table = self.site.source.table(&schema, &()).await?;
        let rows = digest(&table);
        let brought = self.ready.bring(table, &self.site.source.name())?;
        let sites = self.agreement.study.sites.iter();
        let audited = Audited {
            study: self.agreement.hash,
            number,
            secret: &self.secret,
            rows,
            names: sites.map(|site| site.name.clone()).collect(),
            keys: self.keys.clone(),
            settings: self.ready.settings(),
            allowed: self.site.accept.disclosures.clone().unwrap_or_default(),
            most_records: self.site.accept.maximum_records(),
        };
        let made = tempfile::tempdir_in(&self.site.data)
            .map_err(|error| CliError::Usage(format!("{}: {error}", self.site.data.display())))?;
        let play = self.play(number, made.path().join("release"));
        let bar = Bar::steps();
        let outcome = audit(&journal, &audited, |party, began| {
            play.play(party, began, &brought, |step| bar.step(step))
        });
        outcome.await.map_err(|error| match error {
            AuditError::Journal(error) => error.into(),
            AuditError::Part(error) => error,
            other => Box::new(other).into(),
        })
    }

    fn start(
        &self,
        number: u32,
        seed: Option<u64>,
        journal: Journal,
        rows: [u8; 32],
        listener: TcpListener,
        board: &Arc<Board>,
    ) -> Result<Run, CliError> {
        let study = &self.agreement.study;
        let places = 0..self.keys.len() as u16;
        let addresses: Result<Vec<String>, CliError> =
            places.map(|place| self.address(place)).collect();
        let (shown, log) = (Arc::clone(board), Arc::clone(&self.log));
        let watcher: Watcher = Arc::new(move |event| {
            shown.event(&event);
            log.say(event);
        });
        let setup = Setup {
            name: RunName {
                study: self.agreement.hash,
                number,
                site: self.place,
                sites: self.keys.len() as u16,
                rows,
            },
            secret: Arc::clone(&self.secret),
            names: study.sites.iter().map(|site| site.name.clone()).collect(),
            keys: self.keys.clone(),
            addresses: addresses?,
            limits: Limits::with_patience(self.site.patience),
            settings: self.ready.settings(),
            allowed: self.site.accept.disclosures.clone().unwrap_or_default(),
            maximum_share: self.site.accept.maximum_share.map_or(WHOLE, parts),
            most_records: self.site.accept.maximum_records(),
            keep: study.audit.as_ref().map_or(Duration::ZERO, |audit| {
                Duration::from_secs(u64::from(audit.days) * 86_400)
            }),
            seed: seed.map(|seed| Seed::for_site(seed, usize::from(self.place))),
            watcher,
        };
        Ok(Run::start::<CliError>(setup, journal, listener)?)
    }
}

/// Whether a site that could not begin a run lets its peers down; otherwise there is nothing to
/// begin, or another process is at it.
fn is_own_fault(error: &CliError) -> bool {
    !matches!(
        error,
        // The peers have heard of it.
        CliError::Refused { .. }
            | CliError::Journal(
                JournalError::Busy { .. }
                    | JournalError::Over { .. }
                    | JournalError::GivenUp { .. }
                    | JournalError::NotDue { .. }
            )
    )
}

/// What the peers hear of an error in this site's part.
fn end_of(error: &CliError) -> End {
    match error {
        CliError::Unsound { .. } => End::Unsound,
        _ => End::Own,
    }
}

/// A share in parts of the whole, rounded down: what sites tell each other is never more than is
/// accepted.
fn parts(share: Ratio) -> u32 {
    let (numerator, denominator) = share.parts();
    let parts = numerator.saturating_mul(u128::from(WHOLE)) / denominator.max(1);
    u32::try_from(parts).unwrap_or(WHOLE).clamp(1, WHOLE)
}

/// Says what the owner of a site's file should see to.
pub(crate) fn warn(site: &SiteFile) {
    for warning in &site.warnings {
        talk(&format!("warning: {warning}"));
    }
}
