//! All sites of a study in one process, with exact counts of what they send.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Instant;

use hedgerow_data::files::{FileError, Others};
use hedgerow_data::study::Split;
use hedgerow_data::{Schema, UncountableError};
use hedgerow_protocols::horizontal::Owner;
use hedgerow_smc::exposure::{self, LossOfPrivacy, Witness};
use hedgerow_smc::memory::{self, LinkModel};
use hedgerow_smc::{MAXIMUM_SITES, Security};

use super::baselines::Baselines;
use super::colluders::Parts;
use super::local::{refuse_local, write_local};
use super::refused::SplitRefused;
use super::split::{Deal, Dealer, Owners, own_order};
use super::{Outcome, destination};
use crate::error::Error;
use crate::joint::gate::{Beside, Gated};
use crate::joint::{Groups, Joint, Pace};
use crate::observe::{Notice, Work};
use crate::options::Options;
use crate::release::achieved::OfSites;
use crate::release::close::write_unsigned;
use crate::release::cost::Cost;
use crate::release::manifest::Disclosed;
use crate::release::statement::{Account, ledger, most_learned};
use crate::study::Study;
use crate::study::plan::Draws;
use crate::study::ready::{Contribution, Ready, refuse_singled_out, see_people};
use crate::study::refused::StudyRefused;
use crate::summary::Summary;
use crate::table::Table;

/// Where the rows of each simulated site come from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Sites {
    /// A table for each site. Where sites hold the same people, in the study's order.
    Tables(Vec<Table>),
    /// One table, whose rows are dealt to so many sites.
    Dealt {
        /// The table of all sites together.
        table: Table,
        /// How many sites there are.
        sites: usize,
        /// How rows are dealt.
        deal: Deal,
    },
    /// One table, a column of which names each record's site.
    Named {
        /// The table of all sites together.
        table: Table,
        /// The column.
        column: String,
    },
    /// One table of people whom all sites hold, each with columns of its own.
    Columns {
        /// The table with all columns.
        table: Table,
        /// The columns of each site beside the identifiers; the split of the study where the caller
        /// names none.
        columns: Option<Vec<Vec<String>>>,
    },
}

/// What a simulated run ended with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Simulation {
    /// The summary, with rounds, messages and bytes in [`Summary::cost`], and the release.
    pub outcome: Outcome,
    /// What each site learned, in the order of the sites.
    pub ledgers: Vec<Vec<Disclosed>>,
    /// The local anonymized data set of each site (a_i of JX08), in the order of the sites: the site's
    /// own rows as the joint classes write them. Together they are the release. Empty where sites hold
    /// the same people.
    pub local: Vec<hedgerow_data::Release>,
}

/// Runs all sites of a study in one process.
///
/// ```
/// use hedgerow::{Options, Sites, Study, simulate};
/// # use hedgerow::Table;
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("patients.csv");
/// # let rows: String = (0..90).map(|row| format!("{},{}\n", row, ["flu", "ulcer"][row % 2])).collect();
/// # std::fs::write(&path, format!("age,disease\n{rows}"))?;
/// # let study = Study::parse("[study]\nname = \"s\"\npartition = \"horizontal\"\n[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 119]\n[[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"flu\", \"ulcer\"]\n[require]\nk = 5\nm = 1\n", ".")?;
/// let sites = Sites::dealt(Table::file(path), 3);
/// let simulation = simulate(&study, &sites, &Options::new().independent())?;
/// let summary = &simulation.outcome.summary;
/// assert!(summary.holds && summary.cost.rounds > 0);
/// assert_eq!(simulation.ledgers.len(), 3);
/// let baselines = summary.baselines.as_ref();
/// assert!(baselines.is_some_and(|beside| beside.joint_equals_central));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simulate(study: &Study, sites: &Sites, options: &Options) -> Result<Simulation, Error> {
    if let Some(column) = options.provider_column.clone() {
        return Err(SplitRefused::OwnersTwice { column }.into());
    }
    refuse_local(options, study.is_vertical())?;
    match study.is_vertical() {
        false => of_different_people(study, sites, options),
        true => of_the_same_people(study, sites, options),
    }
}

impl Sites {
    /// One table, whose rows are dealt to so many sites in turn.
    pub const fn dealt(table: Table, sites: usize) -> Self {
        Self::Dealt {
            table,
            sites,
            deal: Deal::RoundRobin,
        }
    }
}

/// What the protocol of a simulated run ended with.
struct Ran {
    /// How many sites there were.
    sites: usize,
    /// What the first site has; of the release, every other has the same.
    joint: Joint,
    /// For each site its own rows, class by class.
    rows: Vec<Vec<RowOfClass>>,
    /// How each site found groups.
    groups: Vec<Groups>,
    ledgers: Vec<Vec<Disclosed>>,
    /// The local anonymized data set of each site.
    local: Vec<hedgerow_data::Release>,
    loss_of_privacy: Option<LossOfPrivacy>,
    cost: Cost,
    /// What the gate found, the same at every site.
    gated: Gated,
}

/// A row of a site in a class.
struct RowOfClass {
    /// The number of the class.
    class: u32,
    row: u32,
    /// How many of the row's records are in the class.
    records: u64,
}

/// What one site of a simulated run ended with.
struct Seat {
    /// Of the first site: a thousand releases have no room.
    joint: Option<Joint>,
    gated: Gated,
    rows: Vec<RowOfClass>,
    groups: Option<Groups>,
    calls: u64,
    ledger: Vec<Disclosed>,
    local: Option<hedgerow_data::Release>,
    witness: Option<Witness>,
}

/// Runs all sites, each with what it contributes.
fn run(
    ready: &Ready,
    count: usize,
    options: &Options,
    contribute: impl Fn(usize) -> Contribution + Sync,
) -> Result<Ran, Error> {
    let beside = Beside::of(ready, &options.earlier)?;
    let watch = options.observer.begin(Work::Run);
    let draws = Draws::Simulated(options.seed);
    let simulation = memory::Simulation::new(count, options.seed)
        .settings(ready.settings())
        .model(LinkModel::WAN);
    let began = Instant::now();
    let outcome = simulation.run(|mut party| {
        let (contribute, watch, draws) = (&contribute, &watch, &draws);
        let beside = &beside;
        let seat = async move {
            let site = party.me().index();
            let contribution = contribute(site);
            if ready.run.security == Security::Published {
                party.keep_witness();
            }
            let each_step = |step| {
                if site == 0 {
                    watch.step(step);
                }
            };
            let owners = (Owner::Site(site as u32), count);
            let before = ready.look_back(&mut party, beside).await?;
            let joint = ready
                .take_part(
                    &mut party,
                    &contribution,
                    owners,
                    (draws, Pace::COUNTED),
                    each_step,
                )
                .await?;
            let of_run = (&joint, &contribution);
            let gated = ready.gate(&mut party, of_run, owners.0, &before).await?;
            let seat = Seat {
                gated,
                local: ready.local(&joint, &contribution),
                rows: rows_by_class(&joint),
                groups: joint.groups.clone(),
                joint: (site == 0).then_some(joint),
                calls: party.calls(),
                ledger: ledger(&party.ledger().summary()),
                witness: party.take_witness(),
            };
            Ok::<_, hedgerow_protocols::Error>(seat)
        };
        let mut seat = Box::pin(seat);
        poll_fn(move |context| {
            watch.turn();
            seat.as_mut().poll(context)
        })
    });
    let protocol_seconds = began.elapsed().as_secs_f64();
    let (traffic, elapsed) = (outcome.traffic.clone(), outcome.elapsed);
    let mut seats = outcome.into_values()?;
    let smc_calls = seats.first().map_or(0, |seat| seat.calls);
    let witnesses: Vec<Witness> = seats
        .iter_mut()
        .filter_map(|seat| seat.witness.take())
        .collect();
    let loss = exposure::measure(&witnesses);
    let is_measured = loss.extremes.is_some() || loss.unions.is_some();
    let ledgers = seats
        .iter_mut()
        .map(|seat| std::mem::take(&mut seat.ledger));
    let ledgers: Vec<Vec<Disclosed>> = ledgers.collect();
    let gated = seats
        .first_mut()
        .map(|seat| std::mem::take(&mut seat.gated));
    Ok(Ran {
        ledgers,
        gated: gated.unwrap_or_default(),
        local: seats
            .iter_mut()
            .filter_map(|seat| seat.local.take())
            .collect(),
        loss_of_privacy: is_measured.then_some(loss),
        cost: Cost {
            rounds: u64::from(traffic.rounds),
            messages: traffic.messages(),
            bytes: traffic.bytes(),
            smc_calls,
            protocol_seconds,
            wan_seconds: Some(elapsed.as_secs_f64()),
            ..Cost::default()
        },
        sites: seats.len(),
        rows: seats
            .iter_mut()
            .map(|seat| std::mem::take(&mut seat.rows))
            .collect(),
        groups: seats
            .iter_mut()
            .filter_map(|seat| seat.groups.take())
            .collect(),
        // A run has a site: the number was seen to.
        joint: seats
            .into_iter()
            .find_map(|seat| seat.joint)
            .ok_or(SplitRefused::NoSites)?,
    })
}

/// A site's own rows, class by class; none where sites hold the same people.
fn rows_by_class(joint: &Joint) -> Vec<RowOfClass> {
    let Some(partition) = &joint.partition else {
        return Vec::new();
    };
    let classes = (0..).zip(&partition.classes);
    let rows = classes.flat_map(|(class, found)| {
        let rows = partition.counted_rows(found);
        rows.map(move |(row, records)| RowOfClass {
            class,
            row,
            records,
        })
    });
    rows.collect()
}

fn refuse_number(sites: usize) -> Result<(), SplitRefused> {
    match sites {
        0 => Err(SplitRefused::NoSites),
        sites if sites > MAXIMUM_SITES => Err(SplitRefused::TooManySites { sites }),
        _ => Ok(()),
    }
}

/// The rows of all sites that hold different people, and who owns them.
fn rows_of(
    study: &Study,
    sites: &Sites,
    options: &Options,
) -> Result<(Ready, hedgerow_data::Table, Owners), Error> {
    let observer = &*options.observer;
    let ready = |sites: usize| {
        refuse_number(sites)?;
        Ready::new(Arc::clone(&study.opened), Some(sites as u64))
    };
    let fit = |ready: &Ready, read: hedgerow_data::Table, name: &str| {
        ready.refuse_counted(&read, name)?;
        refuse_singled_out(&ready.study, &read, name)?;
        Ok::<_, Error>(read)
    };
    let read = |ready: &Ready, table: &Table, others: &Others| {
        let schema = &ready.study.schema;
        let read = match ready.study.is_counted() {
            true => table.count(schema, others, observer)?,
            false => table.read(schema, others, observer)?,
        };
        fit(ready, read, &table.name())
    };
    match sites {
        Sites::Columns { .. } => Err(SplitRefused::HasAllColumns.into()),
        Sites::Named { table, .. } if table.is_counted() => Err(SplitRefused::CountedOwners.into()),
        Sites::Named { table, column } => {
            let text = table.read_text(std::slice::from_ref(column), observer)?;
            let owners = Owners::of_column(&text, column)?;
            let ready = ready(owners.count())?;
            // Whose each record is would be lost by counting.
            let others = Others::but(Some(column));
            let rows = table.read(&ready.study.schema, &others, observer)?;
            let rows = fit(&ready, rows, &table.name())?;
            let (rows, owners) = counted_by_site(&ready, rows, owners)?;
            Ok((ready, rows, owners))
        }
        Sites::Dealt { table, sites, deal } => {
            let ready = ready(*sites)?;
            let dealer = Dealer::new(deal, *sites, options.seed, &ready.study.schema)?;
            let rows = read(&ready, table, &Others::but(None))?;
            let schema = &ready.study.schema;
            let (rows, owners) = match rows.counts() {
                None => {
                    let owners = dealer.owners(&rows);
                    (rows, owners)
                }
                Some(counts) => {
                    let sites = dealer.counted(&rows, counts);
                    let tables = sites.iter().map(|of_site| part(&rows, of_site));
                    let tables: Vec<hedgerow_data::Table> = tables.collect::<Result<_, _>>()?;
                    side_by_side(schema, &tables)?
                }
            };
            let held = owners.rows().iter().filter(|rows| !rows.is_empty()).count();
            if let Some(note) = dealer.note(held) {
                observer.notice(Notice::Remark(note));
            }
            Ok((ready, rows, owners))
        }
        Sites::Tables(tables) => {
            let ready = ready(tables.len())?;
            let rows = tables
                .iter()
                .map(|table| read(&ready, table, &Others::Refuse));
            let rows: Vec<hedgerow_data::Table> = rows.collect::<Result<_, _>>()?;
            let (all, owners) = side_by_side(&ready.study.schema, &rows)?;
            Ok((ready, all, owners))
        }
    }
}

/// The rows of each site counted, where the study counts rows: site by site.
fn counted_by_site(
    ready: &Ready,
    table: hedgerow_data::Table,
    owners: Owners,
) -> Result<(hedgerow_data::Table, Owners), Error> {
    if !ready.study.is_counted() {
        return Ok((table, owners));
    }
    let counted = |rows: &Vec<usize>| table.picked(rows).into_counted().map_err(FileError::from);
    let tables: Result<Vec<hedgerow_data::Table>, FileError> =
        owners.rows().iter().map(counted).collect();
    let (stacked, counted) = side_by_side(&ready.study.schema, &tables?)?;
    let counted = Owners {
        names: owners.names,
        ..counted
    };
    Ok((stacked, counted))
}

/// Some rows of a counted table, each with so many of its records: one site's.
fn part(
    table: &hedgerow_data::Table,
    rows: &[(usize, u64)],
) -> Result<hedgerow_data::Table, FileError> {
    let (places, counts): (Vec<usize>, Vec<u64>) = rows.iter().copied().unzip();
    let attributes = 0..table.schema().attributes().len();
    let columns = attributes.map(|position| table.column(position).picked(&places));
    let schema = Arc::clone(table.schema());
    let part = hedgerow_data::Table::counted(schema, columns.collect(), counts);
    let part = part.map_err(UncountableError::from)?;
    Ok(part.into_counted()?)
}

/// The tables of sites as one, and whose each row is.
fn side_by_side(
    schema: &Arc<Schema>,
    tables: &[hedgerow_data::Table],
) -> Result<(hedgerow_data::Table, Owners), FileError> {
    let sizes: Vec<usize> = tables.iter().map(hedgerow_data::Table::rows).collect();
    let stacked = hedgerow_data::Table::stacked(schema, tables).map_err(UncountableError::from)?;
    Ok((stacked, Owners::of_tables(&sizes)))
}

/// Sites that hold different people.
fn of_different_people(
    study: &Study,
    sites: &Sites,
    options: &Options,
) -> Result<Simulation, Error> {
    let started = Instant::now();
    let destination = destination(options, &study.opened.study)?;
    let (ready, table, owners) = rows_of(study, sites, options)?;
    let count = owners.count();
    if count > 2 && ready.requirement.m.is_none() {
        options.observer.notice(Notice::Hint(String::from(
            "a study that names three sites or more says m, how many of them may collude: m = 1 under [require] keeps each site safe from each other",
        )));
    }
    let rows_of = owners.rows();
    let ran = run(&ready, count, options, |site| {
        Contribution::People(ready.columns(&table, rows_of[site].iter().copied()))
    })?;
    // Each class with everybody's rows, which no site of a real run sees.
    let cut = ran.joint.partition.as_ref();
    let cut = cut.map_or(&[][..], |partition| partition.classes.as_slice());
    let mut classes: Vec<Vec<(u32, u64)>> = vec![Vec::new(); cut.len()];
    for (own, rows_of) in ran.rows.iter().zip(&rows_of) {
        for own in own {
            let row = rows_of[own.row as usize] as u32;
            classes[own.class as usize].push((row, own.records));
        }
    }
    let columns = ready.columns(&table, 0..table.rows());
    let parts = Parts { classes, cut };
    let of_sites = ready.of_sites(&columns, &owners, &ran.joint.release, &parts);
    let baselines = |joint: &Joint| match options.independent {
        true => Baselines::run(
            &ready,
            &table,
            &owners,
            &joint.release,
            options.seed,
            &*options.observer,
        )
        .map(Some),
        false => Ok(None),
    };
    let published = Publishing {
        study,
        ready: &ready,
        options,
        of_sites,
        started,
    };
    published.publish(ran, destination, baselines)
}

/// Sites that hold the same people: each has the identifiers and its own columns, in an order of its
/// own.
fn of_the_same_people(
    study: &Study,
    sites: &Sites,
    options: &Options,
) -> Result<Simulation, Error> {
    let started = Instant::now();
    let mut ready = Ready::new(Arc::clone(&study.opened), None)?;
    if options.independent {
        return Err(SplitRefused::HasNoRows.into());
    }
    match sites {
        Sites::Named { .. } => return Err(SplitRefused::HasNoOwners.into()),
        Sites::Dealt { deal, .. } if *deal != Deal::RoundRobin => {
            return Err(SplitRefused::HasNoRows.into());
        }
        Sites::Columns {
            columns: Some(columns),
            ..
        } => {
            let split = Split::new(&ready.study.schema, columns);
            ready.split = split.map_err(SplitRefused::Columns)?;
            // The simulated holders of columns may differ from the holders that the study names.
            ready.study.split = None;
        }
        _ if ready.study.split.is_none() => {
            let study = ready.opened.path.clone();
            return Err(StudyRefused::NoColumns { study }.into());
        }
        _ => {}
    }
    let count = ready.split.sites();
    refuse_number(count)?;
    ready.sites = count;
    let destination = destination(options, &ready.study)?;
    let contributions = contributions(&ready, sites, options)?;
    let ran = run(&ready, count, options, |site| {
        Contribution::Columns(contributions[site].clone())
    })?;
    let published = Publishing {
        study,
        ready: &ready,
        options,
        of_sites: OfSites::default(),
        started,
    };
    published.publish(ran, destination, |_| Ok(None))
}

/// The table of each site that holds the same people as the others.
fn contributions(
    ready: &Ready,
    sites: &Sites,
    options: &Options,
) -> Result<Vec<hedgerow_data::Table>, Error> {
    let observer = &*options.observer;
    let count = ready.split.sites();
    let own = |site| Arc::new(ready.split.schema_of(&ready.study.schema, site));
    let table = match sites {
        Sites::Dealt { sites, .. } if *sites != count => {
            return Err(SplitRefused::SitesOfColumns { sites: count }.into());
        }
        Sites::Tables(tables) if tables.len() != count => {
            let (tables, sites) = (tables.len(), count);
            return Err(SplitRefused::TablesOfColumns { tables, sites }.into());
        }
        Sites::Tables(tables) => {
            let read = |(site, table): (usize, &Table)| {
                let read = table.read(&own(site), &Others::Refuse, observer)?;
                ready.refuse_counted(&read, &table.name())?;
                refuse_singled_out(&ready.study, &read, &table.name())?;
                see_people(&ready.study, &read, &table.name())?;
                Ok(read)
            };
            return tables.iter().enumerate().map(read).collect();
        }
        Sites::Dealt { table, .. } | Sites::Named { table, .. } | Sites::Columns { table, .. } => {
            table
        }
    };
    let schema = &ready.study.schema;
    let name = table.name();
    let table = table.read(schema, &Others::Refuse, observer)?;
    ready.refuse_counted(&table, &name)?;
    refuse_singled_out(&ready.study, &table, &name)?;
    see_people(&ready.study, &table, &name)?;
    let of_site = |site: usize| {
        // A site's own order says nothing about the file.
        let order = own_order(table.rows(), options.seed, site);
        let schema_of_site = own(site);
        let attributes = schema_of_site.attributes().iter();
        let columns = attributes.filter_map(|attribute| {
            let position = schema.position(&attribute.name)?;
            Some(table.column(position).picked(&order))
        });
        let columns = columns.collect();
        hedgerow_data::Table::new(schema_of_site, columns)
    };
    Ok((0..count).map(of_site).collect())
}

/// A run whose release is to be published.
struct Publishing<'a> {
    study: &'a Study,
    ready: &'a Ready,
    options: &'a Options,
    of_sites: OfSites,
    started: Instant,
}

impl Publishing<'_> {
    /// Publishes what a run ended with: every site has the same release, made from the same numbers.
    fn publish(
        &self,
        ran: Ran,
        destination: super::Destination,
        baselines: impl FnOnce(&Joint) -> Result<Option<Baselines>, Error>,
    ) -> Result<Simulation, Error> {
        let (ready, of_sites) = (self.ready, self.of_sites);
        let (count, mut cost) = (ran.sites, ran.cost);
        let joint = &ran.joint;
        let learned = most_learned(&ran.ledgers);
        let watch = self.options.observer.begin(Work::Judging);
        ran.gated.see()?;
        let (mut published, _) = ready.publish(&joint.release, destination.folder())?;
        published.gate = ran.gated.tried();
        cost.seconds = self.started.elapsed().as_secs_f64();
        // Somebody whom several sites suppress is one person.
        let of_sites_groups = ran.groups.iter();
        let groups = joint.groups.clone();
        let groups = groups.map(|groups| of_sites_groups.fold(groups, Groups::with_suppressed_at));
        let account = Account {
            published: &published,
            sites: count,
            of_sites,
            ledger: &learned,
            cost: &cost,
            convergence: joint.convergence.as_ref(),
            loss_of_privacy: ran.loss_of_privacy.as_ref(),
            shared: ready.shared(groups.as_ref(), count),
        };
        write_unsigned(ready, &account)?;
        if let Some(folder) = &self.options.local {
            write_local(folder, &ran.local, &ready.study)?;
        }
        drop(watch);
        let baselines = baselines(joint)?;
        let seed = Some(self.options.seed);
        let summary = Summary::new(ready, &published, count, seed, cost, learned, of_sites)
            .checked(joint.partition.as_ref())
            .converged(joint.convergence.clone())
            .grouped(groups)
            .exposed(ran.loss_of_privacy)
            .kept_locally(self.options.local.clone())
            .beside(baselines);
        Ok(Simulation {
            outcome: Outcome {
                summary,
                release: destination.release(self.study)?,
            },
            ledgers: ran.ledgers,
            local: ran.local,
        })
    }
}
