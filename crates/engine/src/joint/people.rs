//! A site's part in a run of sites that hold different people: classes by cuts or by clustering, how they
//! are written, and the joint release.

use hedgerow_data::study::Algorithm;
use hedgerow_data::{Cell, Codes, Release, Role};
use hedgerow_protocols::horizontal::assembly::{self, assemble, assemble_counted, known};
use hedgerow_protocols::horizontal::clustering::cluster;
use hedgerow_protocols::horizontal::cover::{covers, writings};
use hedgerow_protocols::horizontal::mondrian::partition;
use hedgerow_protocols::horizontal::{OwnRows, Owner};
use hedgerow_smc::Party;

use super::convergence::{Convergence, Step, Steps};
use super::{Joint, Pace};
use crate::release::recount;
use crate::study::plan::Draws;
use crate::study::ready::{Columns, Contribution, Ready};

impl Ready {
    /// Where sites hold different people: classes, how they are written, and the joint release; of a virtual
    /// database, what all sites know of it instead.
    pub(super) async fn with_people(
        &self,
        party: &mut Party,
        columns: &Columns,
        (owner, sites): (Owner<'_>, usize),
        (draws, pace): (&Draws, Pace<'_>),
        mut each_step: impl FnMut(Step),
    ) -> Result<Joint, hedgerow_protocols::Error> {
        let schema = &self.study.schema;
        let coded = |role| {
            let positions = schema.with_role(role).into_iter();
            positions.filter_map(|position| Some((position, columns[position].as_ref()?)))
        };
        let product = self.product(columns);
        let rows = OwnRows {
            count: columns.rows(),
            counts: columns.counts.as_deref(),
            quasi: coded(Role::Quasi).map(|(_, codes)| codes).collect(),
            sensitive: self.sensitive(columns, product.as_ref()),
            other: coded(Role::Other).map(|(_, codes)| codes).collect(),
            owner,
            sites,
        };
        let mut least_loss = None;
        let (partition, cells, convergence) = if self.study.algorithm == Algorithm::Clustering {
            let seeds = |site, start| draws.seed(site, start);
            let mut plan = self.clustering_plan(&seeds);
            plan.used = pace.used;
            plan.finds_least = pace.finds_least;
            if pace.is_timed {
                plan.effort = u32::MAX;
            }
            let mut steps = Steps::default();
            let found = cluster(party, &rows, &plan, |progress| {
                each_step(steps.next(&progress));
            });
            let found = found.await?;
            least_loss = found.least_loss;
            let convergence = Convergence::new(&found, self.run.clustering.loss);
            (found.partition, found.cells, Some(convergence))
        } else {
            let each_wave = |wave, open| each_step(Step::Wave { wave, open });
            let partition = partition(party, &rows, &self.plan(), each_wave).await?;
            let (writings, way) = (writings(schema, self.run.recode), self.run.top_down.covers);
            let cells = covers(party, &rows, &partition, &writings, way).await?;
            (partition, cells, None)
        };
        let verbatim = self.verbatim(columns);
        let release = match self.study.is_virtual() {
            true => known(party, schema, &partition, &cells)?,
            // Rows that were counted stay so until they are written, also where they are published singly.
            false if self.study.is_counted() || columns.counts.is_some() => {
                assemble_counted(party, schema, &partition, &cells, &verbatim).await?
            }
            false => assemble(party, schema, &partition, &cells, &verbatim).await?,
        };
        let sizes = partition.classes.iter().map(|class| class.size);
        let opened = recount::Opened {
            records: Some(partition.records),
            sensitive: partition.sensitive.clone(),
            classes: Some(cells.into_iter().zip(sizes).collect()),
            own: Vec::new(),
        };
        Ok(Joint {
            partition: Some(partition),
            release,
            convergence,
            least_loss,
            groups: None,
            opened,
        })
    }

    /// A site's local anonymized data set (a_i of JX08): its own rows as the joint classes write them.
    /// Nothing where sites hold the same people.
    pub(crate) fn local(&self, joint: &Joint, contribution: &Contribution) -> Option<Release> {
        let Contribution::People(columns) = contribution else {
            return None;
        };
        let (partition, classes) = (joint.partition.as_ref()?, joint.opened.classes.as_ref()?);
        let cells: Vec<Vec<Cell>> = classes.iter().map(|(cells, _)| cells.clone()).collect();
        let verbatim = self.verbatim(columns);
        Some(assembly::local(
            &self.study.schema,
            partition,
            &cells,
            &verbatim,
        ))
    }

    /// The columns that a release has as they are, by the attribute's position.
    fn verbatim<'c>(&self, columns: &'c Columns) -> Vec<(usize, &'c Codes)> {
        let attributes = self.study.schema.attributes().iter().enumerate();
        let verbatim = attributes
            .filter(|(_, attribute)| matches!(attribute.role, Role::Sensitive | Role::Other));
        verbatim
            .filter_map(|(position, _)| Some((position, columns[position].as_ref()?)))
            .collect()
    }
}
