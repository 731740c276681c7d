//! A site's part in a run of a signed study: what `run` and `node` share.
//!
//! Before anything leaves this site, the study must be signed by all, accepted by this site's
//! rules, and its rows must fit. The release appears under its own name when all sites have signed
//! it, and not before.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use hedgerow_data::{Schema, Table};
use hedgerow_node::agreement::{Agreement, StudyHash};
use hedgerow_node::audit::{AuditError, Audited, Outcome, audit};
use hedgerow_node::identity::{PublicKey, Secret};
use hedgerow_node::journal::{Entry, Journal, JournalError, RunName};
use hedgerow_node::memory::{How, Mark, Memory, Print};
use hedgerow_node::opening::WHOLE;
use hedgerow_node::questions::Questions;
use hedgerow_node::run::{Run, Setup};
use hedgerow_node::site::SiteFile;
use hedgerow_node::source::digest;
use hedgerow_node::{End, Entrance, Limits, Star, Watcher};
use hedgerow_privacy::Ratio;
use hedgerow_smc::Seed;

use super::acceptance::Admission;
use super::due::require_due;
use super::folder::{clear, settle, table_folder};
use super::local::keep_local;
use super::past::Past;
use super::play::{Play, Played};
use super::refused::SiteRefused;
use super::standing::Board;
use crate::error::Error;
use crate::observe::{Notice, SharedObserver, Work};
use crate::release::achieved::OfSites;
use crate::release::close::close;
use crate::release::refused::FolderRefused;
use crate::release::statement::Account;
use crate::study::ready::{Contribution, Ready};
use crate::summary::Summary;

/// A study that this site may run, with everything that a run of it needs.
pub(crate) struct Part {
    pub(crate) site: SiteFile,
    pub(crate) agreement: Arc<Agreement>,
    pub(super) keys: Vec<PublicKey>,
    pub(super) secret: Arc<Secret>,
    pub(super) place: u16,
    pub(super) ready: Arc<Ready>,
    pub(crate) memory: Memory,
    pub(crate) observer: SharedObserver,
    /// Where connections for questions go, once questions are served.
    pub(super) questions: OnceLock<Arc<Questions>>,
    /// This site's place in a star, once others come in.
    pub(super) star: OnceLock<Star>,
}

impl Part {
    /// Sees that the study is signed by all and accepted here.
    pub(crate) fn open(path: &Path, observer: &SharedObserver) -> Result<Self, Error> {
        let site = SiteFile::open(path)?;
        warn(&site, observer);
        let agreement = Arc::new(Agreement::open(&site.study)?);
        let admission = Admission {
            path,
            site: &site,
            agreement: &agreement,
        };
        let place = admission.place()?;
        admission.see_peers()?;
        let keys = agreement.keys()?;
        let secret = admission.secret(&keys[place])?;
        agreement.require_signed()?;
        let ready = Ready::of(&agreement)?;
        let refusals = admission.refusals(place, &ready);
        if !refusals.is_empty() {
            return Err(Error::Site(SiteRefused::NotAccepted {
                file: path.to_owned(),
                reasons: refusals.iter().map(ToString::to_string).collect(),
            }));
        }
        Ok(Self {
            // A study has at most 1,000 sites that can run.
            place: place as u16,
            memory: Memory::at(&site.memory),
            site,
            agreement,
            keys,
            secret: Arc::new(secret),
            ready: Arc::new(ready),
            observer: Arc::clone(observer),
            questions: OnceLock::new(),
            star: OnceLock::new(),
        })
    }

    /// Gives a run up, and tells the peers, since the run cannot go on without this site. Returns the
    /// number of the next run.
    pub(crate) async fn abandon(&self, number: u32) -> Result<u32, Error> {
        let journal = Journal::open(&self.site.data).map_err(|error| match error {
            JournalError::Busy { folder } => Error::Site(SiteRefused::Busy {
                folder,
                run: number,
            }),
            other => other.into(),
        })?;
        // The run may be of an earlier version of the study, which this version cannot go on with.
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
        Ok(last.unwrap_or(number).saturating_add(1))
    }

    /// Where the release will lie, or what all sites know of a virtual database.
    pub(crate) fn folder(&self, number: u32) -> PathBuf {
        table_folder(&self.site.data, number, &self.ready.study)
    }

    /// The folder in which the release is made.
    fn unfinished(&self, number: u32) -> PathBuf {
        self.site.data.join(format!(".release-{number}.tmp"))
    }

    /// What this site's rows were in before.
    pub(super) fn past(&self) -> Past<'_> {
        Past {
            site: &self.site,
            agreement: &self.agreement,
            memory: &self.memory,
        }
    }

    /// The runs of this study, in all its versions, in the journal.
    pub(crate) fn runs(&self) -> Result<Vec<Entry>, Error> {
        self.past().runs()
    }

    /// This study and those that it is a new version of, as far as this site knows them.
    pub(crate) fn versions(&self) -> Result<Vec<StudyHash>, Error> {
        self.past().versions()
    }

    /// Opens the journal, for this process alone.
    pub(crate) fn journal(&self) -> Result<Journal, Error> {
        let journal = Journal::open(&self.site.data)?;
        if let Some(parent) = self.agreement.parent() {
            journal.descends(self.agreement.hash, parent)?;
        }
        Ok(journal)
    }

    /// A run of this study in the memory.
    pub(crate) fn mark(&self, number: u32) -> Mark {
        self.past().mark(number)
    }

    /// Takes this site's part in a run, begun or found again, and shows its state on a board.
    pub(crate) async fn take(
        &self,
        number: u32,
        seed: Option<u64>,
        entrance: Entrance,
    ) -> Result<Summary, Error> {
        let peers = self.peers().map(|(_, name)| name.to_owned()).collect();
        let board = Arc::new(Board::new(
            &self.site.data,
            self.agreement.hash,
            number,
            peers,
            self.through().map(str::to_owned),
        ));
        let _showing = Board::show(&board);
        let taken = match self.begin(number, seed, entrance, &board).await {
            Ok((run, rows)) => self.take_on(number, seed, run, rows, &board).await,
            Err(error) => {
                if is_own_fault(&error) {
                    self.decline(number, End::Own).await;
                }
                Err(error)
            }
        };
        match &taken {
            Ok(summary) => board.done(summary),
            Err(error) => board.failed(&error.without_values()),
        }
        taken
    }

    /// Reads the rows, and begins the run or finds it again.
    async fn begin(
        &self,
        number: u32,
        seed: Option<u64>,
        entrance: Entrance,
        board: &Arc<Board>,
    ) -> Result<(Run, (Contribution, Print)), Error> {
        require_due(&self.site.data, &self.versions()?, number)?;
        // Held while rows are read, so that whoever asks sees that somebody is at work. A folder
        // that is not there yet is made when the rows fit.
        let is_there = self.site.data.exists();
        let held = is_there.then(|| self.journal());
        let held = held.transpose()?;
        let schema = self.ready.study.schema_at(usize::from(self.place));
        let table = self.rows(&schema).await?;
        let rows = digest(&table);
        let print = self
            .memory
            .print(&self.site.source, &table, self.ready.study.partition)?;
        self.ready.see_room(table.records())?;
        let contribution = self.ready.contribution(table, &self.site.source.name())?;
        let journal = self.permit(number, &print, held, board).await?;
        let run = self
            .start(number, seed, journal, rows, entrance, board)
            .await?;
        let study = &self.agreement.study.name;
        self.memory.enter(&self.mark(number), study, &print)?;
        Ok((run, (contribution, print)))
    }

    async fn take_on(
        &self,
        number: u32,
        seed: Option<u64>,
        run: Run,
        (contribution, print): (Contribution, Print),
        board: &Arc<Board>,
    ) -> Result<Summary, Error> {
        let started = Instant::now();
        let (patience, sites) = (self.site.patience, self.keys.len());
        let play = self.play(number, self.unfinished(number))?;
        let (shown, observer) = (Arc::clone(board), Arc::clone(&self.observer));
        let (memory, mark) = (self.memory.clone(), self.mark(number));
        let may_send = self.may_send(number, &print)?;
        let part = run
            .part(
                move |party, began| async move {
                    // All have joined: what is sent from here on carries this site's rows.
                    if !memory.sends(&mark, &print, may_send)? {
                        return Err(SiteRefused::OtherWentFirst.into());
                    }
                    let watch = observer.begin(Work::Run);
                    let each_step = |step| {
                        watch.step(step);
                        shown.step(step);
                    };
                    play.play(party, began, &contribution, each_step).await
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
            local,
        } = played;
        let names = self
            .agreement
            .study
            .sites
            .iter()
            .map(|site| site.name.as_str());
        cost.seconds = started.elapsed().as_secs_f64();
        let account = Account {
            published: &published,
            sites,
            of_sites: OfSites::default(),
            ledger: &ledger,
            cost: &cost,
            convergence: convergence.as_ref(),
            loss_of_privacy: None,
            shared: self.ready.shared(groups.as_ref(), sites),
        };
        let of_run = (self.agreement.hash, number, &*self.secret);
        let local = local
            .map(|local| keep_local(&self.site.data, &local, &self.ready.study, &signed, of_run))
            .transpose()?;
        let manifest = account.signed(signed, names, &self.keys, &seals);
        let writer = (self.site.name.as_str(), &*self.secret);
        close(
            &published.folder,
            manifest,
            &self.ready.opened,
            Some(writer),
        )?;
        published.folder = settle(&self.unfinished(number), &self.folder(number))?;
        board.settling();
        let folder = published.folder.clone();
        self.observer.notice(Notice::Settling { folder });
        let behind = run
            .finish::<Error>(&seals, patience)
            .await
            .map_err(Error::from)?;
        self.memory.ends(&self.mark(number), How::Released)?;
        if let Some(peer) = behind {
            self.observer.notice(Notice::Behind { peer });
        }
        cost.seconds = started.elapsed().as_secs_f64();
        let of_sites = OfSites::default();
        let summary = Summary::new(&self.ready, &published, sites, seed, cost, ledger, of_sites);
        let summary = summary.converged(convergence).grouped(groups);
        Ok(summary.kept_locally(local))
    }

    /// The site's rows; counted as they are read where the study counts rows.
    async fn rows(&self, schema: &Arc<Schema>) -> Result<Table, Error> {
        let is_counted = self.ready.study.is_counted();
        Ok(self.site.source.table(schema, is_counted, &()).await?)
    }

    /// This site's part in a run, whose release is made in the folder `unfinished`.
    fn play(&self, number: u32, unfinished: PathBuf) -> Result<Play, Error> {
        Ok(Play {
            ready: Arc::clone(&self.ready),
            accept: self.site.accept.clone(),
            beside: self.past().beside(number, &self.ready)?,
            place: self.place,
            study: self.agreement.hash,
            number,
            unfinished,
        })
    }

    /// Does this site's part in a run again, and says whether the part was as it should be.
    pub(crate) async fn audit(&self, number: u32) -> Result<Outcome, Error> {
        let journal = self.journal()?;
        let schema = self.ready.study.schema_at(usize::from(self.place));
        let table = self.rows(&schema).await?;
        let rows = digest(&table);
        self.ready.see_room(table.records())?;
        let contribution = self.ready.contribution(table, &self.site.source.name())?;
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
        let made =
            tempfile::tempdir_in(&self.site.data).map_err(|error| FolderRefused::Unusable {
                folder: self.site.data.clone(),
                reason: error.to_string(),
            })?;
        let play = self.play(number, made.path().join("release"))?;
        let watch = self.observer.begin(Work::Run);
        let outcome = audit(&journal, &audited, |party, began| {
            play.play(party, began, &contribution, |step| watch.step(step))
        });
        outcome.await.map_err(|error| match error {
            AuditError::Journal(error) => error.into(),
            AuditError::Part(error) => error,
            other => Box::new(other).into(),
        })
    }

    async fn start(
        &self,
        number: u32,
        seed: Option<u64>,
        journal: Journal,
        rows: [u8; 32],
        entrance: Entrance,
        board: &Arc<Board>,
    ) -> Result<Run, Error> {
        let study = &self.agreement.study;
        let places = 0..self.keys.len() as u16;
        let addresses: Result<Vec<String>, Error> =
            places.map(|place| self.address(place)).collect();
        let (shown, observer) = (Arc::clone(board), Arc::clone(&self.observer));
        let watcher: Watcher = Arc::new(move |event| {
            shown.event(&event);
            observer.notice(Notice::Line(event));
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
            star: self.star.get().cloned(),
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
            questions: self.questions.get().cloned(),
        };
        Ok(Run::start::<Error>(setup, journal, entrance).await?)
    }
}

/// Whether a site that could not begin a run lets its peers down; otherwise no run is to begin, or
/// another process is at work on it.
fn is_own_fault(error: &Error) -> bool {
    !matches!(
        error,
        // The peers have heard of this end already.
        Error::Refused { .. }
            | Error::Journal(
                JournalError::Busy { .. }
                    | JournalError::Over { .. }
                    | JournalError::GivenUp { .. }
                    | JournalError::NotDue { .. }
            )
    )
}

/// What the peers hear of an error in this site's part.
fn end_of(error: &Error) -> End {
    match error {
        Error::Unsound { .. } => End::Unsound,
        Error::HeldBack { .. } => End::HeldBack,
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
pub(crate) fn warn(site: &SiteFile, observer: &SharedObserver) {
    for warning in &site.warnings {
        observer.notice(Notice::Warning(warning.to_string()));
    }
}
