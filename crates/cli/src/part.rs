//! A site's part in a run of a signed study: what `run` and `node` share.
//!
//! Before anything leaves this site, the study must be signed by all, accepted by this site's
//! rules, and its rows must fit. The release appears under its own name when all sites have signed
//! it, and not before.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use hedgerow_data::Release;
use hedgerow_data::files::FileError;
use hedgerow_data::study::Security;
use hedgerow_node::agreement::Agreement;
use hedgerow_node::identity::{PublicKey, Secret};
use hedgerow_node::journal::{Entry, Journal, JournalError, RunName};
use hedgerow_node::knock::Door;
use hedgerow_node::run::{Run, Setup};
use hedgerow_node::site::SiteFile;
use hedgerow_node::source::digest;
use hedgerow_node::{End, Limits, Watcher};
use hedgerow_protocols::horizontal::Owner;
use hedgerow_smc::{Seed, Settings};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::disclosures::disclosures;
use crate::due::require_due;
use crate::error::CliError;
use crate::joint::{Brought, Published, Ready};
use crate::log::Log;
use crate::manifest;
use crate::output::{Answer, talk};
use crate::plan::{Draws, LABELS};
use crate::progress::Bar;
use crate::standing::Board;
use crate::summary::{Cost, OfSites, Summary};

/// A study that this site may run, with everything that it takes.
pub(crate) struct Part {
    pub(crate) site: SiteFile,
    pub(crate) agreement: Arc<Agreement>,
    keys: Vec<PublicKey>,
    secret: Arc<Secret>,
    place: u16,
    ready: Arc<Ready>,
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
        journal.abandon(self.agreement.hash, number)?;
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
            "run {number} was given up; nothing of it is kept but its number\nhint: have the others give it up too, and start the next with --number {}\n",
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

    /// The runs of this study in the journal.
    pub(crate) fn runs(&self) -> Result<Vec<Entry>, CliError> {
        let mut entries = Journal::look(&self.site.data)?;
        entries.retain(|entry| entry.study == self.agreement.hash);
        Ok(entries)
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

    /// Tells the peers that this site does not take its part, so that they do not wait for it.
    async fn decline(&self, number: u32, end: End) {
        let door = Arc::new(self.door());
        let mut telling = JoinSet::new();
        for (peer, _) in self.peers() {
            if let Ok(address) = self.address(peer) {
                let door = Arc::clone(&door);
                telling.spawn(async move { door.decline(peer, &address, number, end).await });
            }
        }
        telling.join_all().await;
    }

    /// The other sites, by place and name.
    fn peers(&self) -> impl Iterator<Item = (u16, &str)> {
        let sites = self.agreement.study.sites.iter().enumerate();
        // A study has at most 250 sites that can run.
        sites
            .map(|(place, site)| (place as u16, site.name.as_str()))
            .filter(|(place, _)| *place != self.place)
    }

    /// Where a waiting node hears of a run, and this site knocks.
    pub(crate) fn door(&self) -> Door {
        Door {
            me: self.place,
            study: self.agreement.hash,
            secret: Arc::clone(&self.secret),
            keys: self.keys.clone(),
        }
    }

    /// The way to a site.
    fn address(&self, place: u16) -> Result<String, CliError> {
        let site = &self.agreement.study.sites[usize::from(place)];
        let way = self.site.peers.iter().find(|(name, _)| *name == site.name);
        let way = way.map(|(_, address)| address).or(site.address.as_ref());
        way.cloned().ok_or_else(|| {
            CliError::Usage(format!(
                "`{}` has no address\nhint: add a [[peer]] with name and address to the site's file",
                site.name
            ))
        })
    }

    /// Where this site listens.
    pub(crate) fn listens_at(&self) -> Result<&str, CliError> {
        let own = &self.agreement.study.sites[usize::from(self.place)];
        let listen = self.site.listen.as_ref().or(own.address.as_ref());
        listen.map(String::as_str).ok_or_else(|| {
            CliError::Usage(format!(
                "`{}` has no address\nhint: write listen = \"0.0.0.0:7401\" into the site's file, or an address into the study",
                own.name
            ))
        })
    }

    pub(crate) async fn listen(&self) -> Result<TcpListener, CliError> {
        let listen = self.listens_at()?;
        TcpListener::bind(listen).await.map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::AddrInUse => {
                    "\nhint: another program has it, perhaps another hedgerow of this site; stop it, or write another listen = \"host:port\" into the site's file"
                }
                _ => {
                    "\nhint: this machine does not have that address, or may not use it; write listen = \"0.0.0.0:port\" into the site's file"
                }
            };
            CliError::Usage(format!("this site cannot listen at {listen}: {error}{hint}"))
        })
    }

    /// The name of a site.
    pub(crate) fn name_of(&self, place: u16) -> &str {
        &self.agreement.study.sites[usize::from(place)].name
    }

    /// Reads the rows, and begins the run or finds it again.
    async fn begin(
        &self,
        number: u32,
        seed: Option<u64>,
        listener: TcpListener,
        board: &Arc<Board>,
    ) -> Result<(Run, Brought), CliError> {
        require_due(&self.site.data, self.agreement.hash, number)?;
        // Held while rows are read, so that whoever asks sees that somebody is at work. A folder
        // that is not there yet is made when the rows fit.
        let is_there = self.site.data.exists();
        let held = is_there.then(|| Journal::open(&self.site.data));
        let held = held.transpose()?;
        let schema = self.ready.study.schema_at(usize::from(self.place));
        let table = self.site.source.table(&schema, &()).await?;
        let rows = digest(&table);
        let brought = self.ready.bring(table, &self.site.source.name())?;
        let journal = match held {
            Some(journal) => journal,
            None => Journal::open(&self.site.data)?,
        };
        let run = self.start(number, seed, journal, rows, listener, board)?;
        Ok((run, brought))
    }

    async fn take_on(
        &self,
        number: u32,
        seed: Option<u64>,
        run: Run,
        brought: Brought,
        board: &Arc<Board>,
    ) -> Result<Answer, CliError> {
        let started = Instant::now();
        let (patience, sites) = (self.site.patience, self.keys.len());
        let (ready, unfinished) = (Arc::clone(&self.ready), self.unfinished(number));
        let (accept, place) = (self.site.accept.clone(), u32::from(self.place));
        let (study, shown) = (self.agreement.hash, Arc::clone(board));
        let draws = Draws::Own(run.derive_seed(LABELS));
        let part = run
            .part(move |mut party| async move {
                let bar = Bar::steps();
                let each_step = |step| {
                    bar.step(step);
                    shown.step(step);
                };
                let owners = (Owner::Site(place), sites);
                let began = Instant::now();
                let joint = ready
                    .take_part(&mut party, &brought, owners, &draws, each_step)
                    .await?;
                drop(bar);
                let protocol_seconds = began.elapsed().as_secs_f64();
                let ledger = party.ledger().summary();
                // A site does not sign what it learned against its own rules.
                if let Some(line) = ledger.iter().find(|line| !accept.allows_disclosure(line.what))
                {
                    return Err(CliError::Usage(format!(
                        "accept.disclosures: the run disclosed `{}`, which is not allowed here; nothing is published",
                        line.what
                    )));
                }
                let ledger = manifest::ledger(&ledger);
                let traffic = party.traffic();
                let cost = Cost {
                    rounds: traffic.map_or(0, |traffic| u64::from(traffic.rounds)),
                    messages: traffic.map_or(0, |traffic| traffic.messages()),
                    bytes: traffic.map_or(0, |traffic| traffic.bytes()),
                    smc_calls: party.calls(),
                    protocol_seconds,
                    ..Cost::default()
                };
                let published = publish(&ready, &joint.release, &unfinished)?;
                let signed = manifest::signed(&ready, study, number, &published)?;
                let statement = manifest::statement(&signed);
                let (convergence, groups) = (joint.convergence, joint.groups);
                Ok(((published, signed, ledger, cost, convergence, groups), statement))
            })
            .await;
        let ((mut published, signed, ledger, mut cost, convergence, groups), seals) = match part {
            Ok(done) => done,
            Err(error) => {
                run.leave().await;
                return Err(error.into());
            }
        };
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
            settings: match study.security {
                Security::Hardened => Settings {
                    fan_out: 128,
                    ..Settings::hardened()
                },
                Security::Published => Settings::published(),
            },
            allowed: self.site.accept.disclosures.clone().unwrap_or_default(),
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
        CliError::Journal(
            JournalError::Busy { .. }
                | JournalError::Over { .. }
                | JournalError::GivenUp { .. }
                | JournalError::NotDue { .. }
        )
    )
}

/// Says what the owner of a site's file should see to.
pub(crate) fn warn(site: &SiteFile) {
    for warning in &site.warnings {
        talk(&format!("warning: {warning}"));
    }
}

/// Where the release of a run lies in a data folder.
pub(crate) fn release_folder(data: &Path, number: u32) -> PathBuf {
    data.join(format!("release-{number}"))
}

/// Writes the release where it is made; what an earlier life left there goes.
fn publish(ready: &Ready, release: &Release, unfinished: &Path) -> Result<Published, CliError> {
    clear(unfinished)?;
    ready.publish(release, unfinished)
}

/// Removes a folder, where there is one.
fn clear(folder: &Path) -> Result<(), CliError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(unwritable(folder, &error))
        }
        _ => Ok(()),
    }
}

/// Gives the finished release its name. One that an earlier life has put there gives way if all sites
/// signed the same of it: whether the rest of it is whole, nobody has to ask.
fn settle(unfinished: &Path, folder: &Path) -> Result<PathBuf, CliError> {
    let former = unfinished.with_extension("old");
    if folder.exists() {
        let found = manifest::signed_part(folder);
        if found.is_none() || found != manifest::signed_part(unfinished) {
            return Err(CliError::Usage(format!(
                "{}: is in the way of the release\nhint: move it away, then the same command goes on",
                folder.display()
            )));
        }
        clear(&former)?;
        std::fs::rename(folder, &former).map_err(|error| unwritable(folder, &error))?;
    }
    std::fs::rename(unfinished, folder).map_err(|error| unwritable(folder, &error))?;
    clear(&former)?;
    // The journal forgets the run after this: the names must be on disk too, as the files are.
    for named in [Some(folder), folder.parent()].into_iter().flatten() {
        let synced = std::fs::File::open(named).and_then(|folder| folder.sync_all());
        synced.map_err(|error| unwritable(named, &error))?;
    }
    Ok(folder.to_owned())
}

fn unwritable(path: &Path, error: &std::io::Error) -> CliError {
    CliError::File(FileError::Unwritable {
        file: path.display().to_string(),
        reason: error.to_string(),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn release(folder: &Path, manifest: &serde_json::Value) {
        std::fs::create_dir(folder).unwrap();
        std::fs::write(folder.join("manifest.json"), manifest.to_string()).unwrap();
    }

    #[test]
    fn a_release_of_an_earlier_life_gives_way_to_the_same_one_only() {
        let data = tempfile::tempdir().unwrap();
        let (unfinished, folder) = (data.path().join(".release-1.tmp"), data.path().join("it"));
        let whole = json!({ "signed": { "k": 10 }, "account": "whole" });
        // Killed before the journal knew; what this site says of it was damaged since.
        release(
            &folder,
            &json!({ "signed": { "k": 10 }, "account": "damaged" }),
        );
        release(&unfinished, &whole);
        assert_eq!(settle(&unfinished, &folder).unwrap(), folder);
        let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
        assert_eq!(text, whole.to_string());
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 1);

        // Killed between the two names.
        std::fs::rename(&folder, data.path().join(".release-1.old")).unwrap();
        release(&unfinished, &whole);
        settle(&unfinished, &folder).unwrap();
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 1);

        release(&unfinished, &json!({ "signed": { "k": 11 } }));
        let error = settle(&unfinished, &folder).unwrap_err().to_string();
        assert!(error.contains("is in the way of the release"), "{error}");
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 2);
    }
}
