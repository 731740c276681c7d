//! What the same rows lose in other hands: one party with all of them (central), and every site
//! alone with its own, the releases united (each alone). The distribution baselines of JX09
//! section 5.1.

use std::sync::Arc;

use hedgerow_data::files::Others;
use hedgerow_data::study::ReleaseKind;
use hedgerow_data::{Cell, GeneralizedColumn, Release, Role, Table};
use hedgerow_privacy::Model;
use hedgerow_privacy::classes::Classes;
use hedgerow_privacy::utility::{Measured, utility};
use hedgerow_protocols::Error as ProtocolError;
use hedgerow_protocols::horizontal::Owner;
use serde::Serialize;

use super::split::Owners;
use crate::error::Error;
use crate::joint::{Pace, one_party};
use crate::observe::{Observer, Work};
use crate::query::Released;
use crate::study::Study;
use crate::study::ready::{Contribution, Ready};
use crate::table::Table as Rows;
use crate::verify::read::histogram;
use crate::words::{aligned, count, thousands};

/// The seed of a run where the caller gives no seed.
pub const DEFAULT_SEED: u64 = 1;

/// The most sites that are named to a person; JSON has them all.
const MOST_NAMED: usize = 5;

/// Three ways to publish the same rows.
#[derive(Debug, Clone, Serialize)]
pub struct Baselines {
    /// One party with all rows.
    pub central: Losses,
    /// The release of all sites together.
    pub joint: Losses,
    /// Every site alone, the releases united.
    pub each_alone: EachAlone,
    /// Whether the joint release equals the release of one party, row for row.
    pub joint_equals_central: bool,
}

/// The losses of one way to publish; losses are fractions.
#[derive(Debug, Clone, Serialize)]
pub struct Losses {
    /// Classes.
    pub classes: u64,
    /// Records of a class, on average.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_class_size: Option<f64>,
    /// Discernibility: the sum of the squares of class sizes (JX08 equation 11).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discernibility: Option<u64>,
    /// NCP over the values present.
    pub ncp_present: f64,
    /// NCP over the declared domains.
    pub ncp: f64,
    /// LM.
    pub lm: f64,
}

/// Every site publishes alone.
#[derive(Debug, Clone, Serialize)]
pub struct EachAlone {
    /// What the releases of all sites lose, put together.
    #[serde(flatten)]
    pub losses: Losses,
    /// Models that speak of sites, which a site alone cannot meet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Records of the sites that cannot publish; each counts as loss 1.
    pub unpublished: u64,
    /// The sites that cannot publish.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cannot_publish: Vec<CannotPublish>,
}

/// A site whose rows alone do not satisfy the requirement.
#[derive(Debug, Clone, Serialize)]
pub struct CannotPublish {
    /// The site.
    pub site: String,
    /// The site's records.
    pub records: u64,
    /// The model that fails.
    pub fails: String,
}

impl Baselines {
    /// Runs both beside a joint release of these sites.
    pub(crate) fn run(
        ready: &Ready,
        table: &Table,
        sites: &Owners,
        joint: &Release,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let meter = Meter::new(ready, table);
        let bar = observer.begin(Work::Run);
        let columns = Contribution::People(ready.columns(table, 0..table.rows()));
        let owners = (Owner::Column(&sites.owners), sites.count());
        let (central, _) = one_party(ready, &columns, owners, (seed, Pace::COUNTED), |step| {
            bar.step(step);
        })?;
        drop(bar);
        Ok(Self {
            joint_equals_central: *joint == central.release,
            central: meter.losses(&[&central.release]),
            joint: meter.losses(&[joint]),
            each_alone: each_alone(ready, table, sites, &meter, (seed, observer))?,
        })
    }

    /// The baselines as a small table, and what a person should know about it.
    pub(crate) fn text(&self) -> String {
        let head = [
            "",
            "classes",
            "average",
            "NCP, present",
            "NCP, declared",
            "LM",
        ];
        let mut rows = vec![head.map(String::from).to_vec()];
        let ways = [
            ("  central", &self.central),
            ("  joint", &self.joint),
            ("  each alone", &self.each_alone.losses),
        ];
        let percent = |loss: f64| format!("{:.2} %", loss * 100.0);
        rows.extend(ways.map(|(name, losses)| {
            let average = losses.average_class_size;
            vec![
                name.to_owned(),
                thousands(losses.classes),
                average.map_or_else(String::new, |size| format!("{size:.1}")),
                percent(losses.ncp_present),
                percent(losses.ncp),
                percent(losses.lm),
            ]
        }));
        let mut text =
            String::from("baselines (loss over the values present, and over those declared)\n");
        text.push_str(&aligned(&rows));
        text.push_str(match self.joint_equals_central {
            true => "  joint equals central, row for row\n",
            false => "  JOINT DIFFERS FROM CENTRAL\n",
        });
        for model in &self.each_alone.left_out {
            text.push_str(&format!(
                "  each alone leaves out {model}, which speaks of other sites\n"
            ));
        }
        if !self.each_alone.cannot_publish.is_empty() {
            text.push_str(&self.each_alone.lost());
        }
        text
    }
}

impl EachAlone {
    fn lost(&self) -> String {
        let sites = &self.cannot_publish;
        let mut text = format!(
            "  alone, {} cannot meet the requirement: {} unpublished, counted as fully generalized (loss 1)\n",
            count(sites.len() as u64, "site", "sites"),
            count(self.unpublished, "record", "records"),
        );
        for site in sites.iter().take(MOST_NAMED) {
            let records = count(site.records, "record", "records");
            text.push_str(&format!(
                "    site {}: {records} fail {}\n",
                site.site, site.fails
            ));
        }
        if sites.len() > MOST_NAMED {
            text.push_str(&format!("    and {} more\n", sites.len() - MOST_NAMED));
        }
        text
    }
}

/// What a site achieves that publishes alone.
#[derive(Debug, Clone, Serialize)]
pub struct Alone {
    /// Classes.
    pub classes: u64,
    /// NCP over the declared domains.
    pub ncp: f64,
    /// What the site would publish, to be asked.
    #[serde(skip)]
    pub table: Released,
}

/// What a site achieves that publishes its table alone: its records and, where they cannot meet the
/// requirement, the model that fails.
pub fn alone(study: &Study, table: &Rows) -> Result<(u64, Result<Alone, String>), Error> {
    let ready = Ready::new(Arc::clone(&study.opened), None)?;
    let table = table.read(&ready.study.schema, &Others::Refuse, &())?;
    Ok((table.records(), alone_of(&ready, &table)?))
}

/// What a site achieves that publishes rows alone which have been read, or the model that they cannot meet.
pub(crate) fn alone_of(ready: &Ready, table: &Table) -> Result<Result<Alone, String>, Error> {
    let (alone, _) = without_other_sites(ready);
    let columns = Contribution::People(alone.columns(table, 0..table.rows()));
    match one_party(
        &alone,
        &columns,
        (Owner::Site(0), 1),
        (DEFAULT_SEED, Pace::COUNTED),
        |_| {},
    ) {
        Ok((joint, _)) => {
            let losses = Meter::new(&alone, table).losses(&[&joint.release]);
            Ok(Ok(Alone {
                classes: losses.classes,
                ncp: losses.ncp,
                table: Released::of(&alone.study, &joint.release),
            }))
        }
        Err(ProtocolError::Unmeetable { model, .. }) => Ok(Err(model)),
        Err(other) => Err(other.into()),
    }
}

/// The study for a site alone, and the models left out because they speak of other sites.
fn without_other_sites(ready: &Ready) -> (Ready, Vec<String>) {
    let mut requirement = ready.requirement.clone();
    let m = requirement.m.take().filter(|m| *m > 0);
    let (of_sites, models) = requirement
        .models
        .into_iter()
        .partition(Model::speaks_of_sites);
    requirement.models = models;
    let of_sites: Vec<Model> = of_sites;
    let mut left_out: Vec<String> = of_sites.iter().map(Model::to_string).collect();
    left_out.extend(m.map(|m| format!("m = {m}")));
    let mut study = ready.study.clone();
    study.release = ReleaseKind::Published;
    let alone = Ready {
        study,
        requirement,
        run: ready.run,
        split: ready.split.clone(),
        sites: 1,
        opened: Arc::clone(&ready.opened),
    };
    (alone, left_out)
}

/// Every site runs the same algorithm on its own rows.
fn each_alone(
    ready: &Ready,
    table: &Table,
    sites: &Owners,
    meter: &Meter<'_>,
    (seed, observer): (u64, &dyn Observer),
) -> Result<EachAlone, Error> {
    let (alone, left_out) = without_other_sites(ready);
    let records = table.records();
    let bar = observer.begin(Work::Alone { records });
    let mut releases = Vec::new();
    let mut cannot_publish = Vec::new();
    for (rows, name) in sites.rows().iter().zip(&sites.names) {
        // A site without records has nothing to publish, and nothing to lose.
        if rows.is_empty() {
            continue;
        }
        let columns = alone.columns(table, rows.iter().copied());
        let records = columns.records();
        match one_party(
            &alone,
            &Contribution::People(columns),
            (Owner::Site(0), 1),
            (seed, Pace::COUNTED),
            |_| {},
        ) {
            Ok((joint, _)) => releases.push(joint.release),
            Err(ProtocolError::Unmeetable { model, .. }) => cannot_publish.push(CannotPublish {
                site: name.clone(),
                records,
                fails: model,
            }),
            Err(other) => return Err(other.into()),
        }
        bar.advance(records);
    }
    Ok(EachAlone {
        losses: meter.losses(&releases.iter().collect::<Vec<_>>()),
        left_out,
        unpublished: cannot_publish.iter().map(|site| site.records).sum(),
        cannot_publish,
    })
}

/// Measures releases of one table.
struct Meter<'a> {
    ready: &'a Ready,
    records: u64,
    /// The quasi-identifiers, and how often each of their values occurs in the table.
    present: Vec<(usize, Vec<u64>)>,
}

impl<'a> Meter<'a> {
    fn new(ready: &'a Ready, table: &Table) -> Self {
        let quasi = ready.study.schema.with_role(Role::Quasi).into_iter();
        let present = quasi.filter_map(|position| {
            let size = ready.study.schema.attributes()[position].domain.size();
            let codes = (table.codes(position)?, table.counts());
            Some((position, histogram(codes, size)))
        });
        Self {
            ready,
            records: table.records(),
            present: present.collect(),
        }
    }

    /// What releases of parts of the table lose together; a record in no release counts as fully
    /// generalized.
    fn losses(&self, releases: &[&Release]) -> Losses {
        let published: u64 = releases.iter().map(|release| release.records()).sum();
        let columns: Vec<GeneralizedColumn> = self
            .present
            .iter()
            .map(|(position, _)| united(releases, *position))
            .collect();
        let codes: Vec<&[u32]> = columns.iter().map(|column| &*column.codes).collect();
        let rows = releases.iter().map(|release| release.rows()).sum();
        let counts = records_of(releases);
        let classes = Classes::group(&codes, rows).counted(counts.as_deref());
        let attributes = self.ready.study.schema.attributes();
        let measured: Vec<Measured<'_>> = self
            .present
            .iter()
            .zip(&columns)
            .map(|((position, present), column)| Measured {
                name: &attributes[*position].name,
                domain: &attributes[*position].domain,
                column,
                counts: counts.as_deref(),
                original: Some(present),
            })
            .collect();
        let utility =
            (published > 0).then(|| utility(&measured, &classes, self.ready.requirement.k()));
        let share = published as f64 / self.records.max(1) as f64;
        let loss = |pick: &dyn Fn(&hedgerow_privacy::utility::Utility) -> f64| {
            1.0 - share + share * utility.as_ref().map_or(0.0, pick)
        };
        Losses {
            classes: if published > 0 {
                classes.count() as u64
            } else {
                0
            },
            average_class_size: utility.as_ref().map(|found| found.average_class_size),
            discernibility: utility.as_ref().map(|found| found.discernibility),
            // The original is given, so the loss against the original is there.
            ncp_present: loss(&|found| found.ncp_present.unwrap_or(found.ncp)),
            ncp: loss(&|found| found.ncp),
            lm: loss(&|found| found.lm),
        }
    }
}

/// How many records each row of several releases stands for, one after the other; one each where rows are single
/// records in all of them.
fn records_of(releases: &[&Release]) -> Option<Vec<u64>> {
    releases.iter().find_map(|release| release.counts())?;
    let records = releases.iter().flat_map(|release| {
        let counts = release.counts();
        (0..release.rows()).map(move |row| counts.map_or(1, |counts| counts[row]))
    });
    Some(records.collect())
}

/// One column of several releases, one after the other.
fn united(releases: &[&Release], position: usize) -> GeneralizedColumn {
    let columns = releases
        .iter()
        .filter_map(|release| release.generalized(position));
    let mut cells: Vec<Cell> = columns
        .clone()
        .flat_map(|column| column.cells.clone())
        .collect();
    cells.sort_unstable();
    cells.dedup();
    let mut codes = Vec::new();
    for column in columns {
        // Every cell is among the distinct ones.
        let place = |cell: &Cell| cells.binary_search(cell).unwrap_or(0) as u32;
        let places: Vec<u32> = column.cells.iter().map(place).collect();
        codes.extend(column.codes.iter().map(|code| places[*code as usize]));
    }
    GeneralizedColumn { cells, codes }
}
