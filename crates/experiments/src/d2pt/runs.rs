//! The runs behind figure 4 of D2PT (section 4.1): every way to give seven quasi-identifiers to two sites, of
//! which one holds occupation and the other salary, for all k and t and every synchronizer.
//!
//! The sites' classes meet without keys here (the ideal functionality of the same protocol, which the
//! protocol's tests hold against the real one): what is counted does not depend on how identifiers are
//! hidden. The paper takes the hierarchies of Fung, Wang and Yu (2005), which it does not print; here they
//! are those of the ARX project, and a taxonomy of relationships of our own.

use hedgerow_data::Table;
use hedgerow_data::study::Split;
use hedgerow_privacy::{Requirement, Scope};
use hedgerow_protocols::Error as ProtocolError;
use hedgerow_protocols::vertical::d2pt::{
    Datafly, Joint, Plan, Suppression, Synchronizer, anonymize, columns_of,
};
use hedgerow_smc::memory::Simulation;
use rayon::prelude::*;

use crate::data::Dataset;
use crate::frame::prelude::*;

/// Section 4.1: entries of the training data without missing values.
const RECORDS: usize = 30_162;
/// The quasi-identifiers; the synthetic census has no relationship, and age in its place.
const QUASI: [&str; 7] = [
    "workclass",
    "education",
    "marital-status",
    "relationship",
    "race",
    "sex",
    "native-country",
];
/// The sensitive attribute of each site.
const SENSITIVE: [&str; 2] = ["occupation", "salary-class"];

/// The synchronizers by the paper's names.
pub(super) const SYNCHRONIZERS: [(&str, Synchronizer); 4] = [
    ("IDENTITY", Synchronizer::Identity),
    ("FORK", Synchronizer::Fork),
    ("MERGE", Synchronizer::Merge),
    ("DPP2GA", Synchronizer::Dpp2ga),
];

/// What one run gave.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ran {
    /// Whether the sites' first classes were the same.
    pub(super) same: bool,
    pub(super) synchronizations: u32,
    /// The sum of squared group sizes over the squared number of records.
    pub(super) discernibility: f64,
}

/// The records, and every way to give the quasi-identifiers to two sites.
pub(super) struct Cases {
    pub(super) data: Dataset,
    table: Table,
    splits: Vec<Split>,
}

impl Cases {
    pub(super) fn new(bench: &Bench<'_>) -> Result<Self, Error> {
        // Training records come first in the file.
        let data = bench.data.adult14()?.first(bench.pick(400, RECORDS));
        let data = data.named("Adult, training records");
        let quasi = QUASI.map(|name| if data.has(name) { name } else { "age" });
        let study = data
            .study("d2pt-fig4")
            .quasi(&quasi)
            .sensitive(SENSITIVE[0])
            .sensitive(SENSITIVE[1])
            .require("k = 2")
            .build()?;
        let table = data.coded(&study)?;
        // Each site has one quasi-identifier at least.
        let all = 1..(1u32 << quasi.len()) - 1;
        let splits = all.step_by(bench.pick(16, 1)).map(|choice| {
            let of_site = |site: usize| {
                let has = |place: &usize| (choice >> place & 1 == 1) == (site == 0);
                let own = (0..quasi.len()).filter(has).map(|place| quasi[place]);
                own.chain([SENSITIVE[site]]).collect::<Vec<&str>>()
            };
            Split::new(table.schema(), &[of_site(0), of_site(1)])
        });
        let splits = splits.collect::<Result<_, _>>()?;
        Ok(Self {
            data,
            splits,
            table,
        })
    }

    /// How many ways to give the quasi-identifiers to the sites there are.
    pub(super) fn splits(&self) -> usize {
        self.splits.len()
    }

    /// A run for every split. Splits for which a synchronizer finds no groups at all give nothing.
    pub(super) fn run(
        &self,
        (k, t): (u64, f64),
        synchronizer: Synchronizer,
        suppression: Suppression,
    ) -> Result<Vec<Ran>, Error> {
        let schema = self.table.schema();
        // With t = 1 closeness asks for nothing: DPP2GA, which knows k alone.
        let line = format!("k = {k}, t = {t}");
        let requirement = Requirement::of_line(&line, &Scope::of_schema(schema));
        let requirement = requirement.map_err(hedgerow::Error::from)?;
        let run = |split: &Split| -> Result<Option<Ran>, Error> {
            let plan = Plan {
                schema,
                split,
                requirement: &requirement,
                anonymizer: &Datafly,
                synchronizer,
                suppression,
                restore: false,
            };
            let rows: Vec<u32> = (0..self.table.rows() as u32).collect();
            let columns = columns_of(schema, &self.table);
            let sites = Simulation::new(2, 1).run_ideal(|mut party| {
                let (plan, columns, rows) = (&plan, &columns, &rows);
                async move { anonymize(&mut party, plan, columns, rows, |_, _| {}).await }
            });
            match sites.into_iter().next() {
                Some(Ok(joint)) => Ok(Some(Ran::of(&joint))),
                Some(Err(ProtocolError::Unmeetable { .. })) | None => Ok(None),
                Some(Err(error)) => Err(error.into()),
            }
        };
        let ran: Result<Vec<Option<Ran>>, Error> = self.splits.par_iter().map(run).collect();
        Ok(ran?.into_iter().flatten().collect())
    }
}

impl Ran {
    fn of(joint: &Joint) -> Self {
        let mut sizes: Vec<f64> = Vec::new();
        for group in &joint.group_of {
            let place = *group as usize;
            if sizes.len() <= place {
                sizes.resize(place + 1, 0.0);
            }
            sizes[place] += 1.0;
        }
        let people = joint.group_of.len() as f64;
        Self {
            same: joint.same_at_first,
            synchronizations: joint.synchronizations,
            discernibility: sizes.iter().map(|size| size * size).sum::<f64>() / (people * people),
        }
    }
}
