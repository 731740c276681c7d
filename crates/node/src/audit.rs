//! An audit: a site's part in a run, done again from its journal, its rows and its seed, and held
//! against what it committed itself to and what its peers signed.
//!
//! A site's part follows from its rows, its seed and the frames it received, so whoever has these can
//! say of every frame whether the protocol sends it: the journal has the mark of each frame that was sent
//! (see `journal`), and a frame that is made again has the same mark or is another. Received frames come
//! from the journal: the peers' seals, which sign every frame between a peer and the site, show that the
//! site did not invent them. What an audit cannot see is a site that invented records before the
//! commitment.
//!
//! # Discloses
//! To whoever audits: rows, seed and frames of this site. To the peers nothing.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hedgerow_smc::network::NetworkError;
use hedgerow_smc::wire::Header;
use hedgerow_smc::{Allowed, Network, Party, Seat, Seed, Settings, Site};

use crate::agreement::StudyHash;
use crate::identity::{PublicKey, Secret};
use crate::journal::{Journal, JournalError, Mark, RunName, Sealing, Tables};
use crate::opening::{Opening, commitment, context};
use crate::run::{Began, Done, statement_digest};
use crate::seal::{Sealed, agree};

/// The part in a run that is audited.
pub struct Audited<'a> {
    /// The study.
    pub study: StudyHash,
    /// The number of the run in the study.
    pub number: u32,
    /// The site's key.
    pub secret: &'a Secret,
    /// Digest of the rows as they are now.
    pub rows: [u8; 32],
    /// Names of all sites, in the study's order.
    pub names: Vec<String>,
    /// Keys of all sites, in the study's order.
    pub keys: Vec<PublicKey>,
    /// What the sites agreed on.
    pub settings: Settings,
    /// The ledger entries that this site allowed.
    pub allowed: Vec<String>,
    /// The most records of a joint table that this site accepts.
    pub most_records: u64,
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Frames of this site that are as they should be.
    pub frames: u64,
    /// What all sites signed of the release; `None` if the run came to no release.
    pub release: Option<[u8; 32]>,
    /// The first thing that is wrong.
    pub finding: Option<Finding>,
}

/// Something that an audit found wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Finding {
    /// The rows are not the rows that the site committed itself to.
    Rows,
    /// The site committed itself to something else than its rows and its seed.
    Commitment {
        /// The peer that received this commitment.
        peer: String,
    },
    /// A frame of this site is not the frame that the protocol sends.
    Frame {
        /// The peer that the frame went to.
        peer: String,
        /// The frame's number on the link.
        number: u64,
        /// Where in the run.
        step: String,
    },
    /// A frame that the protocol sends was not sent.
    Missing {
        /// The peer that the frame should have gone to.
        peer: String,
        /// The frame's number on the link.
        number: u64,
    },
    /// Frames were sent that the protocol does not send.
    Surplus {
        /// The peer that the frames went to.
        peer: String,
        /// The number of such frames.
        frames: u64,
    },
    /// A frame in the journal is no frame that an honest peer sends: the journal is not what the peer
    /// said, or the peer lied.
    Received {
        /// The protocol's objection to the frame.
        why: String,
    },
    /// The journal ends before the run did: entries were taken out of it.
    Cut,
    /// A peer's seal does not fit the frames between the peer and this site.
    Signed {
        /// The peer.
        peer: String,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows => write!(
                formatter,
                "the rows are not those that the site committed itself to before the run"
            ),
            Self::Commitment { peer } => write!(
                formatter,
                "the commitment that went to `{peer}` is not one to this site's rows and seed"
            ),
            Self::Frame { peer, number, step } => write!(
                formatter,
                "frame {number} to `{peer}`, {step}, is not the one that follows from rows, seed and what was received"
            ),
            Self::Missing { peer, number } => {
                write!(formatter, "frame {number} to `{peer}` was never sent")
            }
            Self::Surplus { peer, frames } => write!(
                formatter,
                "{frames} frames to `{peer}` do not follow from rows, seed and what was received"
            ),
            Self::Received { why } => write!(
                formatter,
                "what the journal has as received does not fit: {why}"
            ),
            Self::Cut => write!(
                formatter,
                "the run came to a release, and the journal ends before it: something was taken out"
            ),
            Self::Signed { peer } => write!(
                formatter,
                "what `{peer}` signed of the frames between the two sites is not what is here"
            ),
        }
    }
}

/// Why there can be no audit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError<E> {
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The protocol failed for a reason of this site's own.
    #[error(transparent)]
    Part(E),
}

/// Does a site's part again. `part` is the function that knows the protocol, as in a run.
pub async fn audit<T, E, F>(
    journal: &Journal,
    audited: &Audited<'_>,
    part: impl FnOnce(Party, Began) -> F,
) -> Result<Outcome, AuditError<E>>
where
    E: From<hedgerow_smc::Error>,
    F: Future<Output = Result<Done<T>, E>>,
{
    let (name, begun, is_over) = journal
        .kept(audited.study, audited.number, audited.secret)
        .await?;
    let seed = Seed::new(*begun.seed);
    let (log, opening) = journal
        .ask(move |tables| Ok((Log::read(tables, &name)?, tables.opening(begun.id)?)))
        .await?;
    let log = Arc::new(log);
    let mut outcome = Outcome {
        frames: 0,
        release: None,
        finding: None,
    };
    if name.rows != audited.rows {
        outcome.finding = Some(Finding::Rows);
        return Ok(outcome);
    }
    let began = match opened(audited, &name, &seed, &log, opening) {
        Ok(began) => began,
        Err(finding) => {
            outcome.finding = Some(finding);
            return Ok(outcome);
        }
    };
    let context = context(name.study, name.number, &began.openings);
    let seat = Seat {
        me: Site::new(name.site),
        sites: audited.keys.len(),
        settings: audited.settings,
        seed,
        context,
        network: Box::new(Replay(Arc::clone(&log))),
    };
    let allowed = Allowed {
        rule: "accept.disclosures",
        names: audited.allowed.clone(),
    };
    let joined = Party::join(seat).await.map_err(E::from);
    let done = match joined {
        Ok(mut party) => {
            party.allow_only(allowed);
            party.limit_records(audited.most_records);
            part(party, began).await
        }
        Err(error) => Err(error),
    };
    let name_of = |peer: u16| audited.names[usize::from(peer)].clone();
    let (same, first) = log.compared();
    outcome.frames = same;
    outcome.finding = first.map(|first| first.named(&name_of));
    if outcome.finding.is_some() {
        return Ok(outcome);
    }
    let Done {
        statement,
        transcript,
        ..
    } = match done {
        Ok(done) => done,
        Err(_) if is_over && log.is_at_its_end() => {
            outcome.finding = Some(Finding::Cut);
            return Ok(outcome);
        }
        // The journal of a run that came to no release ends somewhere, and so did the part: with what a
        // site could not accept, say.
        Err(_) if !is_over && log.is_empty() => return Ok(outcome),
        Err(error) => return Err(AuditError::Part(error)),
    };
    let sealed = Sealed {
        study: name.study,
        run: name.number,
        context,
        release: statement_digest(name.study, name.number, &statement),
    };
    let own = sealed.seal(audited.secret, name.site, &transcript);
    for (peer, key) in (0u16..).zip(&audited.keys) {
        if peer == name.site {
            continue;
        }
        if let Some(first) = log.see(peer, &own) {
            outcome.finding = Some(first.named(&name_of));
            return Ok(outcome);
        }
        outcome.frames += 1;
        let surplus = log.surplus(peer);
        if surplus > 0 {
            let peer = name_of(peer);
            outcome.finding = Some(Finding::Surplus {
                peer,
                frames: surplus,
            });
            return Ok(outcome);
        }
        let Some(said) = log.next(peer) else {
            outcome.finding = is_over.then_some(Finding::Cut);
            return Ok(outcome);
        };
        let seal = sealed.read(&said, key, peer, audited.keys.len());
        let agrees = seal.is_some_and(|seal| {
            seal.release == sealed.release
                && agree((name.site, &transcript), (peer, &seal.transcript))
        });
        if !agrees {
            let peer = name_of(peer);
            outcome.finding = Some(Finding::Signed { peer });
            return Ok(outcome);
        }
    }
    outcome.release = Some(sealed.release);
    Ok(outcome)
}

/// The openings of all sites, if this site committed itself to its rows and seed, before each of its
/// peers with the opening that the journal has.
fn opened(
    audited: &Audited<'_>,
    name: &RunName,
    seed: &Seed,
    log: &Log,
    own: Option<Vec<u8>>,
) -> Result<Began, Finding> {
    let read = |bytes: &[u8], key: &PublicKey, site: u16| {
        Opening::decode(bytes, key, name.study, name.number, site)
    };
    let own_key = &audited.keys[usize::from(name.site)];
    let own = own.and_then(|bytes| Some((read(&bytes, own_key, name.site)?, bytes)));
    let own = own.filter(|(own, _)| own.commitment == commitment(name, seed));
    let mut openings = Vec::with_capacity(audited.keys.len());
    for (place, key) in (0u16..).zip(&audited.keys) {
        if place == name.site {
            openings.push(None);
            continue;
        }
        let peer = || audited.names[usize::from(place)].clone();
        let told = own.as_ref().and_then(|(_, own)| log.take_sent(place, own));
        if told != Some(true) {
            return Err(Finding::Commitment { peer: peer() });
        }
        let said = log.next(place);
        let said = said.and_then(|bytes| read(&bytes, key, place));
        let why = || format!("`{}` sent no commitment of its own", peer());
        openings.push(Some(said.ok_or_else(|| Finding::Received { why: why() })?));
    }
    let openings = openings
        .into_iter()
        .map(|opening| opening.or(own.as_ref().map(|(own, _)| *own)))
        .collect();
    let openings: Option<Vec<Opening>> = openings;
    let why = String::from("there are no other sites");
    let openings = openings.ok_or(Finding::Received { why })?;
    Ok(Began {
        openings,
        seed: seed.clone(),
    })
}

/// The frames of a journal, and how far a replay has come.
struct Log {
    links: Mutex<Links>,
    /// What marks are made with.
    marker: Option<Arc<Sealing>>,
}

#[derive(Default)]
struct Links {
    /// For each peer: the marks of the frames that went to it, and the frames that came from it, in
    /// order.
    sent: Vec<VecDeque<Mark>>,
    received: Vec<VecDeque<Vec<u8>>>,
    /// For each peer: the number of the next frame to it.
    numbers: Vec<u64>,
    /// Frames that were the same.
    same: u64,
    /// The first that was not.
    first: Option<First>,
    /// Whether the replay wanted more than the journal has.
    is_at_its_end: bool,
}

/// The first frame that is wrong.
#[derive(Clone)]
struct First {
    peer: u16,
    number: u64,
    /// The step of the run, or `None` if the frame is missing.
    step: Option<String>,
}

impl First {
    fn named(self, name_of: &impl Fn(u16) -> String) -> Finding {
        let (peer, number) = (name_of(self.peer), self.number);
        match self.step {
            Some(step) => Finding::Frame { peer, number, step },
            None => Finding::Missing { peer, number },
        }
    }
}

impl Log {
    fn read(tables: &Tables, name: &RunName) -> Result<Self, JournalError> {
        let mut links = Links::default();
        for peer in 0..name.sites {
            let received = (0..tables.received(peer)).map(|number| tables.get(peer, number));
            links.received.push(received.collect::<Result<_, _>>()?);
            links
                .sent
                .push(tables.marks(peer).iter().copied().collect());
            links.numbers.push(0);
        }
        Ok(Self {
            links: Mutex::new(links),
            marker: tables.marker(),
        })
    }

    fn links(&self) -> std::sync::MutexGuard<'_, Links> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a frame is the next that went to a peer; `None` where nothing more went there.
    fn take_sent(&self, peer: u16, frame: &[u8]) -> Option<bool> {
        let mut links = self.links();
        let number = links.numbers[usize::from(peer)];
        links.numbers[usize::from(peer)] += 1;
        let sent = links.sent[usize::from(peer)].pop_front()?;
        let marker = self.marker.as_ref();
        Some(marker.is_some_and(|marker| marker.mark(peer, number, frame) == sent))
    }

    /// The next frame that came from a peer.
    fn next(&self, peer: u16) -> Option<Vec<u8>> {
        let mut links = self.links();
        let next = links.received[usize::from(peer)].pop_front();
        links.is_at_its_end |= next.is_none();
        next
    }

    /// Holds this frame against the next one that went to a peer.
    fn see(&self, peer: u16, frame: &[u8]) -> Option<First> {
        let number = self.links().numbers[usize::from(peer)];
        let is_same = self.take_sent(peer, frame);
        let mut links = self.links();
        if is_same == Some(true) {
            links.same += 1;
            return None;
        }
        let step = || match Header::decode(frame) {
            Ok(header) => format!("call {} ({})", header.call, header.primitive.name()),
            Err(_) => String::from("the seal"),
        };
        let first = First {
            peer,
            number,
            step: is_same.map(|_| step()),
        };
        Some(links.first.get_or_insert(first).clone())
    }

    fn surplus(&self, peer: u16) -> u64 {
        self.links().sent[usize::from(peer)].len() as u64
    }

    /// Whether nothing is left that this site sent.
    fn is_empty(&self) -> bool {
        self.links().sent.iter().all(VecDeque::is_empty)
    }

    fn compared(&self) -> (u64, Option<First>) {
        let links = self.links();
        (links.same, links.first.clone())
    }

    fn is_at_its_end(&self) -> bool {
        self.links().is_at_its_end
    }
}

/// The network of a replay.
struct Replay(Arc<Log>);

impl Network for Replay {
    fn send(&mut self, to: Site, frame: Vec<u8>) -> Result<(), NetworkError> {
        // A run has at most 1,000 sites.
        match self.0.see(to.index() as u16, &frame) {
            None => Ok(()),
            Some(_) => Err(NetworkError::Closed),
        }
    }

    fn poll_receive(
        &mut self,
        from: Site,
        _: &mut Context<'_>,
    ) -> Poll<Result<Vec<u8>, NetworkError>> {
        let next = self.0.next(from.index() as u16);
        Poll::Ready(next.ok_or(NetworkError::Closed))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
