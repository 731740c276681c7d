//! A site's part in a run of sites that hold the same people: alignment by identifiers, then groups
//! (D2Pt), clusters or cuts of the people whom all have, and the release of it.

use hedgerow_data::study::{Algorithm, Split};
use hedgerow_data::{Codes, Release, ReleaseColumn, Role, Table};
use hedgerow_protocols::Error;
use hedgerow_protocols::vertical::align::{align, by_identifier};
use hedgerow_protocols::vertical::clustering::{assemble, cluster};
use hedgerow_protocols::vertical::d2pt::{self, Fragments, anonymize, columns_of};
use hedgerow_protocols::vertical::mondrian;
use hedgerow_smc::Party;

use super::convergence::{Convergence, Step, Steps};
use super::{Groups, Joint};
use crate::release::manifest::{Holder, Shared};
use crate::release::recount;
use crate::study::plan::Draws;
use crate::study::ready::Ready;

impl Ready {
    /// A site's part, with the columns that it holds.
    pub(super) async fn with_columns(
        &self,
        party: &mut Party,
        table: &Table,
        draws: &Draws,
        mut each_step: impl FnMut(Step),
    ) -> Result<Joint, Error> {
        let schema = &self.study.schema;
        let rows = align(party, &self.study.identity, table).await?;
        let columns = columns_of(schema, table);
        if self.study.algorithm == Algorithm::Clustering {
            let rows = by_identifier(&self.study.identity, table, rows)?;
            // What a site draws is its own, as in a simulation with the same seed.
            let seeds = |site| draws.seed(site, 0);
            let plan = self.shared_clustering_plan(&seeds);
            let mut steps = Steps::default();
            let found = cluster(party, &plan, &columns, &rows, |progress| {
                each_step(steps.change(&progress));
            });
            let found = found.await?;
            return Ok(Joint {
                partition: None,
                release: assemble(party, &plan, &columns, &rows, &found).await?,
                convergence: Some(Convergence::of_changes(&found, self.run.clustering.loss)),
                least_loss: None,
                groups: None,
                opened: self.contributed(&columns, &rows),
            });
        }
        if self.study.algorithm == Algorithm::Mondrian {
            let plan = self.shared_cuts_plan();
            let each_wave = |wave, open| each_step(Step::Wave { wave, open });
            let found = mondrian::partition(party, &plan, &columns, &rows, each_wave).await?;
            let release = match self.study.is_fragmented() {
                true => {
                    let fragments = mondrian::fragment(party, &plan, &columns, &rows, &found);
                    self.fragmented(&fragments.await?)
                }
                false => mondrian::assemble(party, &plan, &columns, &rows, &found).await?,
            };
            return Ok(Joint {
                partition: None,
                release,
                convergence: None,
                least_loss: None,
                groups: None,
                opened: self.contributed(&columns, &rows),
            });
        }
        let plan = self.d2pt_plan();
        let each_time = |time, classes| each_step(Step::Synchronization { time, classes });
        let joint = anonymize(party, &plan, &columns, &rows, each_time).await?;
        Ok(Joint {
            partition: None,
            release: self.fragmented(&joint.fragments),
            convergence: None,
            least_loss: None,
            groups: Some(Groups::of(&joint)),
            opened: self.contributed(&columns, &rows),
        })
    }

    /// What this site contributed about the people whom all sites hold, which the release must show too.
    fn contributed(&self, columns: &[(usize, &Codes)], rows: &[u32]) -> recount::Opened {
        let attributes = self.study.schema.attributes();
        let verbatim = [Role::Sensitive, Role::Other];
        let own = columns
            .iter()
            .filter(|(position, _)| verbatim.contains(&attributes[*position].role));
        let own = own.map(|(position, codes)| {
            let mut counts = vec![0; attributes[*position].domain.size() as usize];
            let people = rows.iter().map(|row| codes.get(*row as usize));
            people.for_each(|code| counts[code as usize] += 1);
            (*position, counts)
        });
        recount::Opened {
            records: Some(rows.len() as u64),
            own: own.collect(),
            ..recount::Opened::default()
        }
    }

    /// The release that fragments are.
    fn fragmented(&self, fragments: &Fragments) -> Release {
        let schema = &self.study.schema;
        let mut columns = vec![ReleaseColumn::Absent; schema.attributes().len()];
        for (position, cells) in &fragments.quasi {
            columns[*position] = ReleaseColumn::Generalized(cells.clone());
        }
        for (position, codes) in &fragments.verbatim {
            let codes = hedgerow_data::Column::Coded(codes.clone());
            columns[*position] = ReleaseColumn::Verbatim(codes);
        }
        Release::fragmented(schema.clone(), columns, &fragments.group)
    }

    /// Which site held which columns, and how groups were found among so many sites, for a release's
    /// manifest.
    pub(crate) fn shared(&self, groups: Option<&Groups>, sites: usize) -> Option<Shared> {
        if !self.is_vertical() {
            return None;
        }
        let schema = &self.study.schema;
        let whole = Split::whole(schema);
        // One party has everybody's columns, whatever the study says.
        let is_one = sites == 1;
        let split = if is_one { &whole } else { &self.split };
        let names = self.study.sites.iter().map(|site| site.name.clone());
        let numbers = (1..=split.sites()).map(|site| site.to_string());
        let names: Vec<String> = match self.study.split {
            _ if is_one => vec![String::from("one party")],
            Some(_) => names.collect(),
            None => numbers.collect(),
        };
        let sites = names.into_iter().enumerate();
        let sites = sites.map(|(place, site)| {
            let columns = split.names(schema, place).into_iter();
            let columns = columns.map(str::to_owned).collect();
            Holder { site, columns }
        });
        let d2pt = &self.run.d2pt;
        Some(Shared {
            identifiers: self.study.identity.columns.clone(),
            sites: sites.collect(),
            synchronizer: groups.map(|_| d2pt.synchronizer.name().to_owned()),
            synchronizations: groups.map(|groups| groups.synchronizations),
            same_at_first: groups.map(|groups| groups.same_at_first),
            restored: groups.map(|_| d2pt.restore),
        })
    }
}

impl Groups {
    /// The people whom this site wrote as `*`, with those whom another did.
    pub(crate) fn with_suppressed_at(mut self, other: &Self) -> Self {
        let people = self.suppressed.len().max(other.suppressed.len());
        self.suppressed.resize(people, false);
        let both = self.suppressed.iter_mut().zip(&other.suppressed);
        both.for_each(|(own, other)| *own |= other);
        self
    }

    fn of(joint: &d2pt::Joint) -> Self {
        Self {
            synchronizations: joint.synchronizations,
            attempts: joint.attempts.clone(),
            same_at_first: joint.same_at_first,
            suppressed: joint.suppressed.clone(),
        }
    }
}
