//! A site's part in a run, from the journal's first entry to the signatures of all sites.
//!
//! [`Run::start`] opens the lines; [`Run::part`] exchanges openings (see [`crate::opening`]), gives a
//! joined party to the function that knows the protocol and has all sites sign what came of it; the
//! caller writes the release; and [`Run::finish`] stays until every peer has what it needs, then wipes
//! the seed. A process that dies anywhere in between starts over with the same calls and ends with the
//! same release.
//!
//! # Discloses
//! To all sites: what `opening` and `seal` say.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hedgerow_smc::ledger::Watcher as LedgerWatcher;
use hedgerow_smc::{Allowed, Party, Seat, Seed, Settings, Site, Transcript};
use tokio::task::JoinSet;

use crate::agreement::StudyHash;
use crate::connect::Connections;
use crate::events::Watcher;
use crate::identity::{PublicKey, Purpose, Secret};
use crate::journal::{Account, Journal, JournalError, RunName};
use crate::lines::{Limits, LineError, Lines, Shared};
use crate::message::End;
use crate::opening::{Opening, Version, WHOLE, context, is_ahead, today};
use crate::questions::Questions;
use crate::seal::{Sealed, agree};
use crate::star::{Entrance, Star};

/// Why a run ended without a release.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError<E> {
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A peer, or the lines to a peer, failed.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The protocol.
    #[error(transparent)]
    Part(E),
    /// A peer sent something that is no opening.
    #[error("what `{peer}` sent before the run is no commitment of that site to its rows and seed")]
    NoOpening {
        /// The peer.
        peer: String,
    },
    /// A peer says that the run begins on a day that has not come.
    #[error(
        "`{peer}` says that the run begins on a day that lies more than one day ahead of this site's clock\nhint: see that the clocks of both sites are right, then give the run up and start the next"
    )]
    Ahead {
        /// The peer.
        peer: String,
    },
    /// A peer runs another version of hedgerow.
    #[error(
        "`{peer}` runs hedgerow {theirs}, this site {}: what all sign names one version\nhint: have all sites run the same version, then give the run up and start the next",
        Version::OWN
    )]
    OtherHedgerow {
        /// The peer.
        peer: String,
        /// The peer's version.
        theirs: Version,
    },
    /// A peer sent something that is no seal.
    #[error("what `{peer}` sent in place of its signature is none")]
    NoSeal {
        /// The peer.
        peer: String,
    },
    /// A peer has another release.
    #[error(
        "`{peer}` has another release than this site\nhint: nothing was published; compare versions of hedgerow, and give the run up with hedgerow run --abandon"
    )]
    OtherRelease {
        /// The peer.
        peer: String,
    },
    /// A peer has seen other answers or frames.
    #[error(
        "`{peer}` has seen other answers or frames in this run than this site\nhint: nothing was published; one of the two told something else to different sites, or lost what it was told"
    )]
    OtherTranscript {
        /// The peer.
        peer: String,
    },
    /// The protocol panicked.
    #[error("this is a mistake in hedgerow, not in your input: the protocol panicked")]
    Panicked,
}

/// Everything a site brings to a run.
pub struct Setup {
    /// The study and number of the run, and the digest of its rows.
    pub name: RunName,
    /// The site's secret key.
    pub secret: Arc<Secret>,
    /// Names of all sites, in the study's order.
    pub names: Vec<String>,
    /// Keys of all sites, in the study's order.
    pub keys: Vec<PublicKey>,
    /// Where to dial each site.
    pub addresses: Vec<String>,
    /// This site's place in a star; `None` where every site has a way to every other.
    pub star: Option<Star>,
    /// How long things may take.
    pub limits: Limits,
    /// What the sites agreed on.
    pub settings: Settings,
    /// The ledger entries that this site allows; anything else ends the run before it is sent.
    pub allowed: Vec<String>,
    /// The largest share of all records that this site lets one site bring, in parts of
    /// [`WHOLE`].
    pub maximum_share: u32,
    /// The most records of a joint table that this site takes part in: a peer's number of records is
    /// believed up to this limit, which bounds the memory of the run.
    pub most_records: u64,
    /// For how long seed and frames stay after the end, for audits.
    pub keep: Duration,
    /// The seed, for rehearsals and tests; `None` draws it from the operating system.
    pub seed: Option<Seed>,
    /// Told what happens on the lines.
    pub watcher: Watcher,
    /// Where connections for questions go that come meanwhile.
    pub questions: Option<Arc<Questions>>,
}

/// A site's part in a run.
pub struct Run {
    shared: Arc<Shared>,
    journal: Arc<Journal>,
    id: i64,
    seed: Seed,
    name: RunName,
    secret: Arc<Secret>,
    keys: Vec<PublicKey>,
    settings: Settings,
    allowed: Allowed,
    maximum_share: u32,
    most_records: u64,
    /// Whether others speak with each other through this site.
    is_hub: bool,
    /// The tasks of the connections, which end when the run is dropped.
    _connections: JoinSet<()>,
}

/// What a run begins with: the openings of all sites, and this site's seed.
pub struct Began {
    /// The openings, in the study's order of sites.
    pub openings: Vec<Opening>,
    pub(crate) seed: Seed,
}

impl Began {
    /// A seed for what the protocol draws apart from its party, the same in every process of the run.
    pub fn derive_seed(&self, purpose: &'static str) -> Seed {
        self.seed.derive(purpose, 0)
    }

    /// The day of the run in days since 1970: the latest day that a site began on.
    pub fn day(&self) -> u32 {
        let days = self.openings.iter().map(|opening| opening.day);
        days.max().unwrap_or(0)
    }

    /// The smallest of the limits that sites set on one site's share of the records, in parts of
    /// [`WHOLE`]; `None` where no site sets a limit.
    pub fn maximum_share(&self) -> Option<u32> {
        let shares = self.openings.iter().map(|opening| opening.maximum_share);
        shares.min().filter(|share| *share < WHOLE)
    }
}

/// The result of a site's part.
pub struct Done<T> {
    /// The value that the part returned to the caller.
    pub value: T,
    /// The statement that the sites sign, the same at all of them.
    pub statement: Vec<u8>,
    /// What the party sent, received and saw opened.
    pub transcript: Transcript,
}

/// What all sites signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seals {
    /// The digest that was signed, see [`statement_digest`].
    pub digest: [u8; 32],
    /// The signatures, in the study's order of sites.
    pub signatures: Vec<[u8; 64]>,
}

/// The digest that the sites of a run sign: of the study, the run and the statement about the release.
pub fn statement_digest(study: StudyHash, run: u32, statement: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("hedgerow statement v1");
    hasher
        .update(&study.0)
        .update(&run.to_le_bytes())
        .update(&(statement.len() as u64).to_le_bytes())
        .update(statement);
    *hasher.finalize().as_bytes()
}

impl Run {
    /// Begins the run, or goes on where the run stands, and opens the lines.
    ///
    /// Must be called on a tokio runtime with time and network.
    pub async fn start<E>(
        setup: Setup,
        journal: Journal,
        entrance: impl Into<Entrance>,
    ) -> Result<Self, RunError<E>> {
        let journal = Arc::new(journal);
        let begun = journal
            .begin(setup.name, &setup.secret, setup.seed, setup.keep)
            .await?;
        let shared = Shared::new(
            setup.name.site,
            setup.names,
            Arc::clone(&journal),
            begun.id,
            setup.limits,
        );
        let shared = Arc::new(shared.await?);
        let connections = Connections::new(
            Arc::clone(&shared),
            setup.name.study,
            setup.name.number,
            Arc::clone(&setup.secret),
            setup.keys.clone(),
            setup.addresses,
            setup.watcher,
        )
        .with_questions(setup.questions)
        .in_star(setup.star.clone());
        Ok(Self {
            shared,
            journal,
            id: begun.id,
            seed: Seed::new(*begun.seed),
            name: setup.name,
            secret: setup.secret,
            keys: setup.keys,
            settings: setup.settings,
            maximum_share: setup.maximum_share,
            most_records: setup.most_records,
            allowed: Allowed {
                rule: "accept.disclosures",
                names: setup.allowed,
            },
            is_hub: matches!(setup.star, Some(Star::Hub(_))),
            _connections: connections.start(entrance.into()),
        })
    }

    /// Takes this site's part: exchanges openings with the other sites, joins, runs `part`, and has all
    /// sites sign the statement that `part` returns, which must be the same at all of them. `end_of`
    /// gives the word that the peers hear of an error of `part`.
    ///
    /// The protocol computes for long stretches, so `part` runs on a thread of its own.
    pub async fn part<T, E, F>(
        &self,
        part: impl FnOnce(Party, Began) -> F + Send + 'static,
        end_of: impl Fn(&E) -> End,
    ) -> Result<(T, Seals), RunError<E>>
    where
        T: Send + 'static,
        E: From<hedgerow_smc::Error> + Send + 'static,
        F: Future<Output = Result<Done<T>, E>>,
    {
        let outcome = self.opened_part(part).await;
        outcome.map_err(|error| {
            // A failed line is told in full, with the peer's name; but a site that finds itself that the release is
            // held back says so, whoever found it first.
            let is_held = matches!(&error, RunError::Part(error) if end_of(error) == End::HeldBack);
            let failure = self.shared.failure().filter(|_| !is_held);
            self.shared.end(match (&failure, &error) {
                (Some(LineError::Stopped), _) => End::Stopped,
                (Some(failure), _) => self.culprit(failure),
                (
                    None,
                    RunError::OtherRelease { peer }
                    | RunError::OtherTranscript { peer }
                    | RunError::NoOpening { peer }
                    | RunError::Ahead { peer }
                    | RunError::OtherHedgerow { peer, .. }
                    | RunError::NoSeal { peer },
                ) => self.blame(peer),
                (None, RunError::Part(error)) => end_of(error),
                (None, _) => End::Own,
            });
            failure.map_or(error, RunError::Line)
        })
    }

    async fn opened_part<T, E, F>(
        &self,
        part: impl FnOnce(Party, Began) -> F + Send + 'static,
    ) -> Result<(T, Seals), RunError<E>>
    where
        T: Send + 'static,
        E: From<hedgerow_smc::Error> + Send + 'static,
        F: Future<Output = Result<Done<T>, E>>,
    {
        let began = self.open().await?;
        let context = context(self.name.study, self.name.number, &began.openings);
        let seat = Seat {
            me: Site::new(self.name.site),
            sites: self.keys.len(),
            settings: self.settings,
            seed: self.seed.clone(),
            context,
            network: Box::new(Lines(Arc::clone(&self.shared))),
        };
        let (allowed, most) = (self.allowed.clone(), self.most_records);
        let account = self.account().await?;
        let runtime = tokio::runtime::Handle::current();
        let done = tokio::task::spawn_blocking(move || {
            runtime.block_on(async {
                let mut party = Party::join(seat).await?;
                party.allow_only(allowed);
                party.limit_records(most);
                party.watch_ledger(account);
                part(party, began).await
            })
        });
        match done.await {
            Ok(Ok(Done {
                value,
                statement,
                transcript,
            })) => {
                let release = statement_digest(self.name.study, self.name.number, &statement);
                let sealed = Sealed {
                    study: self.name.study,
                    run: self.name.number,
                    context,
                    release,
                };
                let seals = self.seal(&sealed, &transcript).await?;
                Ok((value, seals))
            }
            Ok(Err(error)) => Err(RunError::Part(error)),
            Err(_) => Err(RunError::Panicked),
        }
    }

    /// Exchanges what sites say before a run.
    async fn open<E>(&self) -> Result<Began, RunError<E>> {
        let id = self.id;
        let day = self.journal.ask(move |tables| tables.began_on(id)).await?;
        let (name, share) = (&self.name, self.maximum_share);
        let own = Opening::new(&self.secret, name, &self.seed, share, day);
        let encoded = own.encode();
        let kept = encoded.clone();
        self.journal
            .ask(move |tables| tables.keep_opening(id, &kept))
            .await?;
        let said = self.exchange(&encoded).await?;
        let mut openings = Vec::with_capacity(self.keys.len());
        for (place, (key, said)) in (0u16..).zip(self.keys.iter().zip(said)) {
            let RunName { study, number, .. } = self.name;
            openings.push(match said {
                None => own,
                Some(said) => {
                    let opening = Opening::decode(&said, key, study, number, place);
                    let peer = self.shared.name(place).to_owned();
                    match opening {
                        // Time goes on: what is not ahead now is not ahead when the run is taken
                        // up again.
                        Some(opening) if is_ahead(opening.day, today()) => {
                            return Err(RunError::Ahead { peer });
                        }
                        Some(opening) if opening.version != Version::OWN => {
                            let theirs = opening.version;
                            return Err(RunError::OtherHedgerow { peer, theirs });
                        }
                        Some(opening) => opening,
                        None => return Err(RunError::NoOpening { peer }),
                    }
                }
            });
        }
        Ok(Began {
            openings,
            seed: self.seed.clone(),
        })
    }

    /// Sends a frame to all peers and takes the next frame from each; `None` at the own place.
    async fn exchange<E>(&self, own: &[u8]) -> Result<Vec<Option<Vec<u8>>>, RunError<E>> {
        let failed = || self.shared.failure().unwrap_or(LineError::Stopped);
        for peer in self.shared.peers() {
            let sent = self.shared.send_on(peer, own.to_vec()).await;
            sent.map_err(|_| failed())?;
        }
        let mut all = Vec::with_capacity(self.keys.len());
        // There are at most 1,000 sites.
        for peer in 0..self.keys.len() as u16 {
            all.push(if peer == self.name.site {
                None
            } else {
                let found = poll_fn(|context| self.shared.poll_receive(peer, context)).await;
                Some(found.map_err(|_| failed())?)
            });
        }
        Ok(all)
    }

    /// Exchanges signatures under the statement and under what each site has seen.
    async fn seal<E>(
        &self,
        sealed: &Sealed,
        transcript: &Transcript,
    ) -> Result<Seals, RunError<E>> {
        let (me, sites) = (self.name.site, self.keys.len());
        let own = sealed.seal(&self.secret, me, transcript);
        // Once a peer has the seal, the peer may forget frames that this site lost in a power cut.
        self.journal.ask(|tables| tables.make_durable()).await?;
        let said = self.exchange(&own).await?;
        let mut signatures = Vec::with_capacity(sites);
        for (place, (key, said)) in (0u16..).zip(self.keys.iter().zip(said)) {
            let Some(said) = said else {
                signatures.push(self.secret.sign(Purpose::Release, &sealed.release));
                continue;
            };
            let peer = self.shared.name(place).to_owned();
            let Some(seal) = sealed.read(&said, key, place, sites) else {
                return Err(RunError::NoSeal { peer });
            };
            if seal.release != sealed.release {
                return Err(RunError::OtherRelease { peer });
            }
            if !agree((me, transcript), (place, &seal.transcript)) {
                return Err(RunError::OtherTranscript { peer });
            }
            signatures.push(seal.signature);
        }
        Ok(Seals {
            digest: sealed.release,
            signatures,
        })
    }

    /// Writes the ledger down as it grows. An entry that cannot be written ends the run.
    async fn account(&self) -> Result<Arc<LedgerWatcher>, JournalError> {
        let names = (0..self.keys.len() as u16).map(|place| self.shared.name(place).to_owned());
        let account = Account::open(Arc::clone(&self.journal), self.id, names.collect()).await?;
        let (account, shared) = (Mutex::new(account), Arc::clone(&self.shared));
        Ok(Arc::new(move |before, entry| {
            let mut account = account.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = account.note(before, entry) {
                shared.journal_failed(&error);
            }
        }))
    }

    /// Stays until every peer has every frame, and the hub of a star until every leaf has hung up, at most
    /// for `limit`, then marks the run as over
    /// and wipes its seed and frames, unless they are kept for audits. Returns the name of a peer that may lack something.
    pub async fn finish<E>(
        self,
        seals: &Seals,
        limit: Duration,
    ) -> Result<Option<String>, RunError<E>> {
        let deadline = Instant::now() + limit;
        let behind = self.shared.delivered(limit).await;
        if self.is_hub {
            // A leaf hangs up when it has everything of every site, and until then may need this one.
            let left = deadline.saturating_duration_since(Instant::now());
            self.shared.alone(left).await;
        }
        let (id, digest) = (self.id, seals.digest);
        // The end and its answer are one step: a caller that stops here must not find a run that is over
        // but was never reported.
        self.journal
            .call(move |tables| tables.finish(id, &digest))?;
        Ok(behind.map(|peer| self.shared.name(peer).to_owned()))
    }

    /// Gives peers the time to hear why this site's part has ended.
    pub async fn leave(self) {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }

    fn culprit(&self, failure: &LineError) -> End {
        match failure {
            LineError::Gone { peer, .. }
            | LineError::Stuck { peer, .. }
            | LineError::Over { peer }
            | LineError::Lacks { peer }
            | LineError::GivenUp { peer }
            | LineError::Ended { peer, .. } => self.blame(peer),
            LineError::Diverged { .. } | LineError::Journal(_) | LineError::Stopped => End::Own,
        }
    }

    fn blame(&self, name: &str) -> End {
        let found = self
            .shared
            .peers()
            .find(|peer| self.shared.name(*peer) == name);
        found.map_or(End::Own, End::Peer)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // The protocol's thread must not go on without its lines.
        self.shared.stop();
    }
}
