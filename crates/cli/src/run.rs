//! `hedgerow run` and `hedgerow node`: a site's part in a run of a signed study.
//!
//! Before anything leaves this site, the study must be signed by all, accepted by this site's
//! rules, and its rows must fit. The release appears under its own name when all sites have signed
//! it, and not before.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_data::Release;
use hedgerow_data::files::FileError;
use hedgerow_data::study::Security;
use hedgerow_node::agreement::Agreement;
use hedgerow_node::identity::{PublicKey, Secret};
use hedgerow_node::journal::{Journal, RunName};
use hedgerow_node::run::{Run, Setup};
use hedgerow_node::site::SiteFile;
use hedgerow_node::source::digest;
use hedgerow_node::{Event, Limits};
use hedgerow_protocols::horizontal::Owner;
use hedgerow_smc::{Seed, Settings};
use serde_json::json;

use crate::disclosures::disclosures;
use crate::error::CliError;
use crate::joint::{Published, Ready};
use crate::manifest;
use crate::output::{Answer, talk};
use crate::progress::Bar;
use crate::summary::{Cost, OfSites, Summary};

/// Longer than any run: for a node that waits until the others come.
const ENDLESS: Duration = Duration::from_secs(u32::MAX as u64);

/// Take part in a run of a study, or go on with one.
#[derive(clap::Args)]
#[command(
    after_help = "Killed or cut off at any moment, the same command goes on where the run stands.\nExit codes: 0 the release lies in the data folder, 1 it does not hold, 2 there is none.\nExample: hedgerow run --site north.toml"
)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    common: Common,
    /// Give the run up: forget everything about it.
    #[arg(long)]
    abandon: bool,
}

/// Wait for the other sites for as long as it takes, and take part in the run.
#[derive(clap::Args)]
#[command(after_help = "Example: hedgerow node --site north.toml")]
pub(crate) struct NodeArguments {
    #[command(flatten)]
    common: Common,
}

#[derive(clap::Args)]
struct Common {
    /// This site's file.
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
    /// Which run of the study.
    #[arg(long, default_value_t = 1)]
    number: u32,
    /// For rehearsals with invented rows only: whoever knows the seed can unmask this site.
    #[arg(long, hide = true)]
    seed: Option<u64>,
}

pub(crate) fn run(arguments: &RunArguments) -> Result<Answer, CliError> {
    let part = Part::open(&arguments.common)?;
    if arguments.abandon {
        return part.abandon();
    }
    let patience = part.site.patience;
    block_on(part.take(patience))
}

pub(crate) fn node(arguments: &NodeArguments) -> Result<Answer, CliError> {
    let part = Part::open(&arguments.common)?;
    block_on(part.take(ENDLESS))
}

fn block_on(part: impl Future<Output = Result<Answer, CliError>>) -> Result<Answer, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::Usage(format!("no threads can be had: {error}")))?;
    let answer = runtime.block_on(async {
        tokio::select! {
            answer = part => answer,
            _ = tokio::signal::ctrl_c() => Err(CliError::Usage(String::from(
                "stopped\nhint: the same command goes on where the run stands",
            ))),
        }
    });
    // The protocol's thread ends by itself once its lines are gone.
    runtime.shutdown_background();
    answer
}

/// A study that this site may run, with everything that it takes.
struct Part {
    site: SiteFile,
    agreement: Agreement,
    keys: Vec<PublicKey>,
    secret: Arc<Secret>,
    place: u16,
    ready: Arc<Ready>,
    number: u32,
    seed: Option<u64>,
}

impl Part {
    /// Sees that the study is signed by all and accepted here.
    fn open(common: &Common) -> Result<Self, CliError> {
        let site = SiteFile::open(&common.site)?;
        for warning in &site.warnings {
            talk(&format!("warning: {warning}"));
        }
        let agreement = Agreement::open(&site.study)?;
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
                common.site.display(),
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
        let ready = Ready::open(&site.study, None)?;
        let refusals = site.accept.refusals(&agreement, &disclosures(&ready));
        if !refusals.is_empty() {
            let lines: Vec<String> = refusals.iter().map(|one| format!("\n  {one}")).collect();
            return Err(CliError::Usage(format!(
                "{}: this site does not accept the study:{}\nhint: what is not written there is refused; hedgerow study show says what the study asks for",
                common.site.display(),
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
            number: common.number,
            seed: common.seed,
        })
    }

    fn abandon(&self) -> Result<Answer, CliError> {
        let journal = Journal::open(&self.site.data)?;
        journal.abandon(self.agreement.hash, self.number)?;
        let _ = std::fs::remove_dir_all(self.unfinished());
        let text = format!("run {} was given up; nothing of it is kept\n", self.number);
        Ok(Answer::new(
            text,
            &json!({ "abandoned": self.number }),
            true,
        ))
    }

    /// Where the release will lie.
    fn folder(&self) -> PathBuf {
        self.site.data.join(format!("release-{}", self.number))
    }

    /// Where it is made.
    fn unfinished(&self) -> PathBuf {
        self.site.data.join(format!(".release-{}.tmp", self.number))
    }

    async fn take(self, patience: Duration) -> Result<Answer, CliError> {
        let started = Instant::now();
        let sites = self.keys.len();
        let schema = &self.ready.study.schema;
        let table = self.site.source.table(schema, &()).await?;
        let rows = digest(&table);
        let columns = self.ready.columns(&table, 0..table.rows());
        drop(table);
        let journal = Journal::open(&self.site.data)?;
        let run = self.start(journal, rows, patience).await?;

        let (ready, unfinished) = (Arc::clone(&self.ready), self.unfinished());
        let (accept, place) = (self.site.accept.clone(), u32::from(self.place));
        let (study, number) = (self.agreement.hash, self.number);
        let part = run
            .part(move |mut party| async move {
                let bar = Bar::waves();
                let each_wave = |wave, open| bar.wave(wave, open);
                let owner = Owner::Site(place);
                let joint = ready
                    .take_part(&mut party, &columns, owner, sites, each_wave)
                    .await?;
                drop(bar);
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
                    ..Cost::default()
                };
                let published = publish(&ready, &joint.release, &unfinished)?;
                let signed = manifest::signed(&ready, study, number, &published)?;
                let statement = manifest::statement(&signed);
                Ok(((published, signed, ledger, cost), statement))
            })
            .await;
        let ((mut published, signed, ledger, mut cost), seals) = match part {
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
        };
        let manifest = manifest::whole(signed, names, &self.keys, &seals, &account);
        manifest::write(&published.folder, &manifest)?;
        crate::report::write(&published.folder, &self.site.study)?;
        published.folder = settle(&self.unfinished(), &self.folder())?;
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
        let summary = Summary::new(
            &self.ready,
            &published,
            sites,
            self.seed,
            cost,
            ledger,
            OfSites::default(),
        );
        Ok(summary.answer())
    }

    async fn start(
        &self,
        journal: Journal,
        rows: [u8; 32],
        patience: Duration,
    ) -> Result<Run, CliError> {
        let study = &self.agreement.study;
        let own = &study.sites[usize::from(self.place)];
        let listen = self.site.listen.as_ref().or(own.address.as_ref());
        let listen = listen.ok_or_else(|| {
            CliError::Usage(format!(
                "`{}` has no address\nhint: write listen = \"0.0.0.0:7401\" into the site's file, or an address into the study",
                own.name
            ))
        })?;
        let listener = tokio::net::TcpListener::bind(listen).await;
        let listener = listener.map_err(|error| {
            CliError::Usage(format!("this site cannot listen at {listen}: {error}"))
        })?;
        let mut addresses = Vec::with_capacity(study.sites.len());
        for site in &study.sites {
            let way = self.site.peers.iter().find(|(name, _)| *name == site.name);
            let way = way.map(|(_, address)| address).or(site.address.as_ref());
            addresses.push(way.cloned().ok_or_else(|| {
                CliError::Usage(format!(
                    "`{}` has no address\nhint: add a [[peer]] with name and address to the site's file",
                    site.name
                ))
            })?);
        }
        let setup = Setup {
            name: RunName {
                study: self.agreement.hash,
                number: self.number,
                site: self.place,
                sites: self.keys.len() as u16,
                rows,
            },
            secret: Arc::clone(&self.secret),
            names: study.sites.iter().map(|site| site.name.clone()).collect(),
            keys: self.keys.clone(),
            addresses,
            limits: Limits::with_patience(patience),
            settings: match study.security {
                Security::Hardened => Settings {
                    fan_out: 128,
                    ..Settings::hardened()
                },
                Security::Published => Settings::published(),
            },
            allowed: self.site.accept.disclosures.clone().unwrap_or_default(),
            seed: self
                .seed
                .map(|seed| Seed::for_site(seed, usize::from(self.place))),
            watcher: Arc::new(say),
        };
        Ok(Run::start::<CliError>(setup, journal, listener)?)
    }
}

/// Says what happens on the lines.
fn say(event: Event) {
    match event {
        Event::Connected { peer } => talk(&format!("connected with `{peer}`")),
        Event::Disconnected { peer, why } => talk(&format!("not connected with `{peer}`: {why}")),
        Event::TurnedAway { address, why } => talk(&format!("turned away {address}: {why}")),
        _ => {}
    }
}

/// Writes the release where it is made; what an earlier life left there goes.
fn publish(ready: &Ready, release: &Release, unfinished: &Path) -> Result<Published, CliError> {
    match std::fs::remove_dir_all(unfinished) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(unwritable(unfinished, &error));
        }
        _ => {}
    }
    ready.publish(release, unfinished)
}

/// Gives the finished release its name. One that an earlier life has put there stays if it is the
/// same.
fn settle(unfinished: &Path, folder: &Path) -> Result<PathBuf, CliError> {
    if folder.exists() {
        let found = manifest::signed_part(folder);
        if found.is_none() || found != manifest::signed_part(unfinished) {
            return Err(CliError::Usage(format!(
                "{}: is in the way of the release\nhint: move it away, then the same command goes on",
                folder.display()
            )));
        }
        std::fs::remove_dir_all(unfinished).map_err(|error| unwritable(unfinished, &error))?;
    } else {
        std::fs::rename(unfinished, folder).map_err(|error| unwritable(folder, &error))?;
    }
    Ok(folder.to_owned())
}

fn unwritable(path: &Path, error: &std::io::Error) -> CliError {
    CliError::File(FileError::Unwritable {
        file: path.display().to_string(),
        reason: error.to_string(),
    })
}
