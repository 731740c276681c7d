//! The protocol with one party, who has everybody's rows and asks nobody.

use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::Owner;
use hedgerow_smc::{Party, Security, Seed, Settings};

use super::gate::{Beside, Gated};
use super::{Joint, Pace, Step};
use crate::study::plan::Draws;
use crate::study::ready::{Contribution, Ready};

/// What one party ends with, and how often it would have asked others. The owners of the rows draw as
/// they would in a simulation with this seed.
pub(crate) fn one_party(
    ready: &Ready,
    contribution: &Contribution,
    owners: (Owner<'_>, usize),
    (seed, pace): (u64, Pace<'_>),
    each_step: impl FnMut(Step),
) -> Result<(Joint, u64), Error> {
    // What is compared and what is opened decides which cut is made, so a party of one decides at the
    // level of the sites.
    let settings = match ready.run.security {
        Security::Hardened => Settings::hardened(),
        Security::Published => ready.run.of_parties(1),
    };
    // Numbers of groups and an order of people are drawn here too, though a party of one sends them to
    // nobody.
    let mut party = Party::alone(settings, &Seed::for_site(seed, 0));
    let draws = Draws::Simulated(seed);
    let run = ready.take_part(&mut party, contribution, owners, (&draws, pace), each_step);
    let joint = pollster::block_on(run)?;
    Ok((joint, party.calls()))
}

/// What the gate of one party finds in the party's own release.
pub(crate) fn gate_alone(
    ready: &Ready,
    of_run: (&Joint, &Contribution),
    owner: Owner<'_>,
    beside: &Beside,
) -> Result<Gated, Error> {
    // Nothing is drawn, and nobody asked.
    let mut party = Party::alone(Settings::hardened(), &Seed::for_site(0, 0));
    pollster::block_on(async {
        let before = ready.look_back(&mut party, beside).await?;
        ready.gate(&mut party, of_run, owner, &before).await
    })
}
