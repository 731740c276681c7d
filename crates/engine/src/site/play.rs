//! A site's part in a run from the joined party to the statement that all sites sign: what a run does,
//! and what an audit does again.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use hedgerow_data::Release;
use hedgerow_node::accept::Accept;
use hedgerow_node::agreement::StudyHash;
use hedgerow_node::opening::WHOLE;
use hedgerow_node::run::{Began, Done};
use hedgerow_protocols::horizontal::Owner;
use hedgerow_protocols::horizontal::share::within_share;
use hedgerow_smc::Party;

use super::folder::publish;
use super::refused::SiteRefused;
use crate::error::Error;
use crate::joint::gate::Beside;
use crate::joint::{Convergence, Groups, Pace, Step};
use crate::release::cost::Cost;
use crate::release::manifest::{Disclosed, Statement};
use crate::release::published::Published;
use crate::release::statement::{self, RunOf};
use crate::study::plan::{Draws, LABELS};
use crate::study::ready::{Contribution, Ready};

/// A part that is to be taken.
pub(super) struct Play {
    pub(super) ready: Arc<Ready>,
    pub(super) accept: Accept,
    pub(super) beside: Beside,
    pub(super) place: u16,
    pub(super) study: StudyHash,
    pub(super) number: u32,
    /// Where the release is made.
    pub(super) unfinished: PathBuf,
}

/// What came of a site's part in a run.
pub(super) struct Played {
    pub(super) published: Published,
    pub(super) signed: Statement,
    pub(super) ledger: Vec<Disclosed>,
    pub(super) cost: Cost,
    pub(super) convergence: Option<Convergence>,
    pub(super) groups: Option<Groups>,
    /// This site's local anonymized data set, where sites hold different people.
    pub(super) local: Option<Release>,
}

impl Play {
    /// Takes the part.
    pub(super) async fn play(
        self,
        mut party: Party,
        began: Began,
        contribution: &Contribution,
        each_step: impl FnMut(Step),
    ) -> Result<Done<Played>, Error> {
        let names: Vec<&str> = self.names().collect();
        let owners = (Owner::Site(u32::from(self.place)), names.len());
        let started = Instant::now();
        self.ask_shares(&mut party, &began, contribution, &names)
            .await?;
        let before = self.ready.look_back(&mut party, &self.beside).await?;
        before.see()?;
        let draws = Draws::Own(began.derive_seed(LABELS));
        let joint = self
            .ready
            .take_part(
                &mut party,
                contribution,
                owners,
                (&draws, Pace::COUNTED),
                each_step,
            )
            .await?;
        let of_run = (&joint, contribution);
        let gate = self.ready.gate(&mut party, of_run, owners.0, &before);
        let gated = gate.await?;
        let protocol_seconds = started.elapsed().as_secs_f64();
        let ledger = party.ledger().summary();
        // A site does not sign a release of a run that disclosed something against the site's rules.
        let allows = |what: &str| self.accept.allows_disclosure(what);
        if let Some(line) = ledger.iter().find(|line| !allows(line.what)) {
            return Err(SiteRefused::Disclosed { what: line.what }.into());
        }
        gated.see()?;
        let traffic = party.traffic();
        let cost = Cost {
            rounds: traffic.map_or(0, |traffic| u64::from(traffic.rounds)),
            messages: traffic.map_or(0, |traffic| traffic.messages()),
            bytes: traffic.map_or(0, |traffic| traffic.bytes()),
            smc_calls: party.calls(),
            protocol_seconds,
            ..Cost::default()
        };
        let transcript = party.transcript().cloned();
        let transcript = transcript.ok_or(SiteRefused::Alone)?;
        let (mut published, release) = publish(&self.ready, &joint.release, &self.unfinished)?;
        published.gate = gated.tried();
        let local = self.ready.local(&joint, contribution);
        let mut reasons = self.ready.unsound(&joint.opened, &release, &published);
        reasons.extend(self.ready.unfit_rows(&joint, contribution, local.as_ref()));
        if !reasons.is_empty() {
            let _ = super::folder::clear(&self.unfinished);
            return Err(Error::Unsound { reasons });
        }
        let commitments = names.iter().copied().zip(&began.openings);
        let run = RunOf {
            study: self.study,
            number: self.number,
            day: began.day(),
            commitments: commitments
                .map(|(name, opening)| (name, opening.commitment))
                .collect(),
            transcript: transcript.opened,
        };
        let signed = Statement::of_run(&self.ready, &run, &published)?;
        let statement = signed.bytes();
        let played = Played {
            published,
            signed,
            ledger: statement::ledger(&ledger),
            cost,
            convergence: joint.convergence,
            groups: joint.groups,
            local,
        };
        Ok(Done {
            value: played,
            statement,
            transcript,
        })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let sites = self.ready.study.sites.iter();
        sites.map(|site| site.name.as_str())
    }

    /// Ends the run, before anything else is asked, where a site brings more than a site accepts.
    async fn ask_shares(
        &self,
        party: &mut Party,
        began: &Began,
        contribution: &Contribution,
        names: &[&str],
    ) -> Result<(), Error> {
        let (Some(share), Contribution::People(columns)) = (began.maximum_share(), contribution)
        else {
            // Sites that hold the same people all bring as many.
            return Ok(());
        };
        let own = columns.records();
        let most = (u64::from(share), u64::from(WHOLE));
        let within = within_share(party, own, most).await?;
        let above = names.iter().zip(within).filter(|(_, within)| !within);
        let sites: Vec<String> = above.map(|(name, _)| (*name).to_owned()).collect();
        if sites.is_empty() {
            return Ok(());
        }
        let most = f64::from(share) / f64::from(WHOLE);
        Err(SiteRefused::TooLargeShare { sites, most }.into())
    }
}
