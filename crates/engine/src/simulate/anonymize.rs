//! Anonymizes one table at one party, by the same protocol as between many sites.

use std::sync::Arc;
use std::time::Instant;

use hedgerow_data::files::Others;
use hedgerow_data::study::Algorithm;
use hedgerow_privacy::classes::Classes;
use hedgerow_protocols::clustering::CountsChoice;
use hedgerow_protocols::horizontal::Owner;

use super::baselines::DEFAULT_SEED;
use super::colluders::Parts;
use super::refused::SplitRefused;
use super::split::Owners;
use super::{Outcome, destination};
use crate::error::Error;
use crate::joint::gate::Beside;
use crate::joint::{Pace, gate_alone, one_party};
use crate::observe::Work;
use crate::options::Options;
use crate::release::achieved::OfSites;
use crate::release::close::write_unsigned;
use crate::release::cost::Cost;
use crate::release::statement::Account;
use crate::study::Study;
use crate::study::algorithm::{Wanted, rewritten};
use crate::study::ready::{Contribution, Ready};
use crate::study::refused::StudyRefused;
use crate::summary::{Instead, Summary};
use crate::table::Table;
use crate::verify::read::losses;

/// So many records are cut in a second, or more.
pub(crate) const CUT_IN_A_SECOND: f64 = 20_000.0;

/// Anonymizes one table, as one party that has all rows.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("patients.csv");
/// # let rows: String = (0..40).map(|row| format!("{},{}\n", 20 + row, ["flu", "ulcer"][row % 2])).collect();
/// # std::fs::write(&path, format!("age,disease\n{rows}"))?;
/// use hedgerow::{Options, Study, Table, anonymize};
///
/// let study = Study::parse(r#"
/// [study]
/// name = "patients"
/// partition = "horizontal"
/// [[attribute]]
/// name = "age"
/// role = "quasi"
/// type = "integer"
/// range = [0, 119]
/// [[attribute]]
/// name = "disease"
/// role = "sensitive"
/// values = ["flu", "ulcer"]
/// [require]
/// k = 5
/// l = 2
/// "#, ".")?;
/// let outcome = anonymize(&study, &Table::file(path), &Options::new())?;
/// assert!(outcome.summary.holds);
/// assert_eq!(outcome.summary.records, 40);
/// println!("{}", outcome.summary);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn anonymize(study: &Study, table: &Table, options: &Options) -> Result<Outcome, Error> {
    let started = Instant::now();
    if options.independent {
        return Err(SplitRefused::OneParty.into());
    }
    let (observer, column) = (&*options.observer, options.provider_column.as_deref());
    let owners = match column {
        Some(column) => {
            let text = table.read_text(&[column.to_owned()], observer)?;
            Some(Owners::of_column(&text, column)?)
        }
        None => None,
    };
    let count = owners.as_ref().map_or(1, Owners::count);
    let sites = owners.as_ref().map(|_| count as u64);
    let ready = Ready::new(Arc::clone(&study.opened), sites)?;
    if ready.study.is_virtual() {
        let study = ready.opened.path.clone();
        return Err(StudyRefused::OneParty { study }.into());
    }
    if options.time.is_some() && !can_end(&ready, owners.is_some()) {
        return Err(SplitRefused::HasNoTime.into());
    }
    if ready.is_vertical() {
        if column.is_some() {
            return Err(SplitRefused::HasNoOwners.into());
        }
    } else if owners.is_none() {
        refuse_sites(&ready)?;
    }
    let beside = Beside::of(&ready, &options.earlier)?;
    let destination = destination(options, &ready.study)?;
    // Whose each record is would be lost by counting.
    let counts = ready.study.is_counted() && owners.is_none();
    if table.is_counted() && owners.is_some() {
        return Err(SplitRefused::CountedOwners.into());
    }
    let read = match counts {
        true => table.count(&ready.study.schema, &Others::but(None), observer)?,
        false => table.read(&ready.study.schema, &Others::but(column), observer)?,
    };
    let contribution = ready.contribution(read, &table.name())?;
    let owner = match &owners {
        Some(owners) => Owner::Column(&owners.owners),
        None => Owner::Site(0),
    };
    let watch = observer.begin(Work::Run);
    let began = Instant::now();
    let used = || match options.time {
        _ if watch.is_over() => 1.0,
        _ if options.limit.is_some_and(|limit| began.elapsed() >= limit) => 1.0,
        Some(time) => began.elapsed().as_secs_f64() / time.as_secs_f64().max(f64::MIN_POSITIVE),
        None => 0.0,
    };
    let pace = Pace {
        used: &used,
        is_timed: options.time.is_some(),
        // A bound for one release, which is not looked for where several are compared.
        finds_least: options.limit.is_none(),
    };
    let (joint, smc_calls) = one_party(
        &ready,
        &contribution,
        (owner, count),
        (options.seed, pace),
        |step| watch.step(step),
    )?;
    let protocol_seconds = began.elapsed().as_secs_f64();
    drop(watch);
    let instead = match options.beside && owners.is_none() {
        true => instead(&ready, &contribution, protocol_seconds),
        false => None,
    };
    let of_sites = match (&owners, &joint.partition, &contribution) {
        (Some(owners), Some(partition), Contribution::People(columns)) => {
            let classes = partition.classes.iter();
            let classes = classes
                .map(|class| partition.counted_rows(class).collect())
                .collect();
            let parts = Parts {
                classes,
                cut: &partition.classes,
            };
            ready.of_sites(columns, owners, &joint.release, &parts)
        }
        _ => OfSites::default(),
    };
    let watch = observer.begin(Work::Judging);
    let gated = gate_alone(&ready, (&joint, &contribution), owner, &beside)?;
    gated.see()?;
    let (mut published, _) = ready.publish(&joint.release, destination.folder())?;
    published.gate = gated.tried();
    let cost = Cost {
        smc_calls,
        seconds: started.elapsed().as_secs_f64(),
        protocol_seconds,
        ..Cost::default()
    };
    let account = Account {
        published: &published,
        sites: count,
        of_sites,
        ledger: &[],
        cost: &cost,
        convergence: joint.convergence.as_ref(),
        loss_of_privacy: None,
        shared: ready.shared(joint.groups.as_ref(), 1),
    };
    write_unsigned(&ready, &account)?;
    drop(watch);
    // Cuts draw nothing.
    let draws = matches!(
        ready.study.algorithm,
        Algorithm::Clustering | Algorithm::D2pt
    );
    let seed = draws.then_some(options.seed);
    let summary = Summary::new(&ready, &published, count, seed, cost, Vec::new(), of_sites);
    Ok(Outcome {
        summary: summary
            .checked(joint.partition.as_ref())
            .converged(joint.convergence)
            .bounded(joint.least_loss)
            .instead(instead)
            .grouped(joint.groups),
        release: destination.release(study)?,
    })
}

/// Whether classes are found by a search that can end at any time.
pub(crate) fn can_end(ready: &Ready, has_owners: bool) -> bool {
    ready.study.algorithm == Algorithm::Clustering
        && ready.run.is_refined()
        && ready.run.clustering.counts == CountsChoice::Opened
        && !ready.is_vertical()
        && !has_owners
}

/// What the same records lose by cuts, where clusters were found and cuts take little time beside that.
fn instead(ready: &Ready, contribution: &Contribution, seconds: f64) -> Option<Instead> {
    let Contribution::People(columns) = contribution else {
        return None;
    };
    let is_clustered = ready.study.algorithm == Algorithm::Clustering;
    let records = columns.rows();
    if !is_clustered || records as f64 / CUT_IN_A_SECOND > seconds {
        return None;
    }
    let wanted = Wanted {
        algorithm: Algorithm::Mondrian,
        recode: None,
        covers: ready.run.top_down.covers,
    };
    let (other, _) = rewritten(&ready.opened, wanted).ok()?;
    let other = Ready::new(Arc::new(other), None).ok()?;
    let owners = (Owner::Site(0), 1);
    let draws = (DEFAULT_SEED, Pace::COUNTED);
    let (joint, _) = one_party(&other, contribution, owners, draws, |_| {}).ok()?;
    // Only cells count here, and not in which classes they stand.
    let classes = Classes::from_assignment(vec![0; records], 1);
    let utility = losses((&joint.release, &classes), &other.study, None, None);
    Some(Instead {
        algorithm: Algorithm::Mondrian.name(),
        ncp: utility.ncp,
    })
}

/// Refuses a requirement that speaks of several sites, which a table of one site cannot meet.
pub(crate) fn refuse_sites(ready: &Ready) -> Result<(), StudyRefused> {
    let requirement = &ready.requirement;
    let mut models = requirement.models.iter();
    let model = models.find(|model| model.demands_sites());
    let m = requirement.m.filter(|m| *m > 0);
    match StudyRefused::of_sites(ready.opened.path.clone(), model, m) {
        Some(refused) => Err(refused),
        None => Ok(()),
    }
}
