//! Whether the parts of a cut satisfy the requirement.
//!
//! What follows from sizes and sensitive counts is decided by every site alone, from the sums that
//! were opened. What speaks of sites is asked as thresholds: nobody learns how many records a site
//! has in a part, or which sites have any.
//!
//! # Discloses
//! Site diversity: one bit a part, to all sites.

use hedgerow_privacy::closeness::EarthMover;
use hedgerow_privacy::{ClassView, Counts, Model, Reference, Requirement, SiteSupport, TableView};
use hedgerow_smc::Party;

use super::wave::Open;
use super::{Plan, SENSITIVE, SITES};
use crate::Error;
use crate::horizontal::rows::{Arranged, OwnRows};

/// What is known of the whole table, and what the requirement needs.
pub(super) struct Table<'a> {
    records: u64,
    sites: u64,
    /// Models that follow from sizes and sensitive counts.
    by_counts: Vec<Model>,
    /// At least so many sites, where that is demanded.
    site_diversity: Option<u64>,
    /// Positions and sizes of the sensitive attributes, where the requirement needs their counts.
    sensitive: Vec<usize>,
    sizes: Vec<usize>,
    references: Vec<Reference>,
    plan: &'a Plan<'a>,
}

/// Refuses what the secure form cannot decide yet.
pub(super) fn refuse_undecidable(requirement: &Requirement) -> Result<(), Error> {
    if requirement.m.is_some_and(|m| m > 0) {
        return Err(Error::Undecidable {
            model: String::from("m-privacy inside Mondrian"),
            instead: "leave m out of the requirement and verify the release for it",
        });
    }
    let is_other = |model: &Model| {
        matches!(
            model,
            Model::SiteDiversity {
                support: SiteSupport::Taxonomy,
                ..
            } | Model::SiteDiversity {
                attributes: Some(_),
                ..
            }
        )
    };
    match requirement.models.iter().find(|model| is_other(model)) {
        Some(model) => Err(Error::Undecidable {
            model: model.to_string(),
            instead: "ask for site diversity of the class, over all quasi-identifiers",
        }),
        None => Ok(()),
    }
}

impl<'a> Table<'a> {
    /// Asks for the sensitive counts of the whole table, where the requirement needs them.
    pub(super) async fn ask(
        party: &mut Party,
        rows: &OwnRows<'_>,
        plan: &'a Plan<'a>,
        records: u64,
    ) -> Result<Self, Error> {
        let by_counts: Vec<Model> = plan
            .requirement
            .models
            .iter()
            .filter(|model| !matches!(model, Model::SiteDiversity { .. }))
            .cloned()
            .collect();
        let needs_counts = by_counts
            .iter()
            .any(|model| !matches!(model, Model::KAnonymity { .. }));
        let sensitive: Vec<usize> = if needs_counts {
            (0..rows.sensitive.len()).collect()
        } else {
            Vec::new()
        };
        let sizes: Vec<usize> = sensitive
            .iter()
            .map(|index| rows.sensitive[*index].size as usize)
            .collect();
        let mut counts: Vec<u64> = Vec::new();
        for (index, size) in sensitive.iter().zip(&sizes) {
            let mut own = vec![0; *size];
            for code in rows.sensitive[*index].codes.iter() {
                own[code as usize] += 1;
            }
            counts.extend(own);
        }
        if needs_counts {
            party.sum(SENSITIVE, &mut counts).await?;
        }
        let mut references = Vec::new();
        let mut from = 0;
        for size in &sizes {
            references.push(Reference::new(counts[from..from + size].to_vec()));
            from += size;
        }
        let site_diversity = plan
            .requirement
            .models
            .iter()
            .find_map(|model| match model {
                Model::SiteDiversity { l, .. } if *l > 1 => Some(*l),
                _ => None,
            });
        let sites = rows.sites as u64;
        Ok(Self {
            records,
            sites,
            by_counts,
            site_diversity,
            sensitive,
            sizes,
            references,
            plan,
        })
    }

    /// Records of the whole table.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    /// Sensitive counts of the whole table, one attribute after the other.
    pub(super) fn whole(&self) -> Vec<u64> {
        self.references
            .iter()
            .flat_map(|reference| reference.counts().to_vec())
            .collect()
    }

    /// Positions of the sensitive attributes whose counts are needed.
    pub(super) fn sensitive(&self) -> &[usize] {
        &self.sensitive
    }

    /// Sizes of their domains.
    pub(super) fn sensitive_sizes(&self) -> impl Iterator<Item = usize> + '_ {
        self.sizes.iter().copied()
    }

    /// A part's sensitive counts, out of those of all parts.
    pub(super) fn sensitive_of_part(&self, counts: &[u64], part: usize, parts: usize) -> Vec<u64> {
        let mut from = parts;
        let mut found = Vec::new();
        for size in &self.sizes {
            found.extend_from_slice(&counts[from + part * size..from + (part + 1) * size]);
            from += parts * size;
        }
        found
    }

    /// Refuses a requirement that not even the whole table satisfies.
    pub(super) async fn refuse_unmeetable(
        &self,
        party: &mut Party,
        arranged: &Arranged<'_>,
        root: &Open,
    ) -> Result<(), Error> {
        let view = self.view();
        for model in &self.by_counts {
            if !self.holds(
                std::slice::from_ref(model),
                &view,
                root.size,
                &root.sensitive,
            ) {
                return Err(self.unmeetable(model, root.size));
            }
        }
        let mut wanted = [root.size];
        let whole = [(0, &[u32::MAX][..])];
        let enough = self
            .enough_sites(party, arranged, &[root], &whole, &mut wanted)
            .await?;
        if enough != [true] {
            let model = self.plan.requirement.models.iter();
            let mut model = model.filter(|model| matches!(model, Model::SiteDiversity { .. }));
            let model = model.next();
            return Err(Error::Unmeetable {
                records: self.records,
                model: model.map_or_else(String::new, Model::to_string),
                best: format!("at most {}, the number of sites with records", self.sites),
            });
        }
        Ok(())
    }

    /// For each class, whether all non-empty parts of its cut satisfy the requirement.
    pub(super) async fn allowed(
        &self,
        party: &mut Party,
        arranged: &Arranged<'_>,
        open: &[Open],
        cuts: &[(usize, &[u32])],
        counts: &[Vec<u64>],
    ) -> Result<Vec<bool>, Error> {
        let view = self.view();
        let mut allowed: Vec<bool> = cuts
            .iter()
            .zip(counts)
            .map(|((_, ends), counts)| {
                let sizes = &counts[..ends.len()];
                // A cut that leaves everything in one part is none.
                sizes.iter().filter(|size| **size > 0).count() > 1
                    && (0..ends.len()).all(|part| {
                        let sensitive = self.sensitive_of_part(counts, part, ends.len());
                        self.holds(&self.by_counts, &view, sizes[part], &sensitive)
                    })
            })
            .collect();
        if self.site_diversity.is_none() {
            return Ok(allowed);
        }
        // Only cuts that are allowed so far are worth the question.
        let asked: Vec<usize> = (0..cuts.len()).filter(|index| allowed[*index]).collect();
        let classes: Vec<&Open> = asked.iter().map(|index| &open[*index]).collect();
        let their_cuts: Vec<(usize, &[u32])> = asked.iter().map(|index| cuts[*index]).collect();
        let mut sizes: Vec<u64> = asked
            .iter()
            .flat_map(|index| counts[*index][..cuts[*index].1.len()].to_vec())
            .collect();
        let enough = self
            .enough_sites(party, arranged, &classes, &their_cuts, &mut sizes)
            .await?;
        for (index, enough) in asked.into_iter().zip(enough) {
            allowed[index] = enough;
        }
        Ok(allowed)
    }

    /// For each cut, whether every non-empty part has records of enough sites.
    async fn enough_sites(
        &self,
        party: &mut Party,
        arranged: &Arranged<'_>,
        classes: &[&Open],
        cuts: &[(usize, &[u32])],
        sizes: &mut [u64],
    ) -> Result<Vec<bool>, Error> {
        let Some(least) = self.site_diversity else {
            return Ok(vec![true; classes.len()]);
        };
        let mut present: Vec<u64> = Vec::with_capacity(sizes.len());
        for (class, (attribute, ends)) in classes.iter().zip(cuts) {
            let owners = arranged.owners_in_parts(*attribute, &class.stretch, ends);
            let parts = owners.chunks(self.sites.max(1) as usize);
            present
                .extend(parts.map(|part| part.iter().filter(|count| **count > 0).count() as u64));
        }
        let thresholds = vec![least; present.len()];
        let mut bits = vec![false; present.len()];
        party
            .at_least(SITES, self.sites, &present, &thresholds, &mut bits)
            .await?;
        let mut next = bits.into_iter().zip(sizes.iter());
        let enough = cuts.iter().map(|(_, ends)| {
            let parts: Vec<bool> = next
                .by_ref()
                .take(ends.len())
                .map(|(bit, size)| bit || *size == 0)
                .collect();
            parts.into_iter().all(|is_fine| is_fine)
        });
        Ok(enough.collect())
    }

    fn view(&self) -> TableView<'_> {
        let attributes = self.references.iter().zip(&self.sensitive);
        let movers = attributes.map(|(reference, index)| {
            let attribute = self.plan.sensitive[*index];
            EarthMover::new(reference, attribute.distance, attribute.tree)
        });
        TableView {
            references: &self.references,
            movers: movers.collect(),
        }
    }

    fn holds(&self, models: &[Model], view: &TableView<'_>, size: u64, sensitive: &[u64]) -> bool {
        let values: Vec<Vec<u32>> = self
            .sizes
            .iter()
            .map(|size| (0..*size as u32).collect())
            .collect();
        let mut from = 0;
        let counts: Vec<Counts<'_>> = values
            .iter()
            .map(|values| {
                let counts = Counts::new(values, &sensitive[from..from + values.len()]);
                from += values.len();
                counts
            })
            .collect();
        let class = ClassView {
            size,
            sensitive: &counts,
            sites: None,
        };
        models.iter().all(|model| model.holds(&class, view))
    }

    fn unmeetable(&self, model: &Model, size: u64) -> Error {
        use hedgerow_privacy::measure;
        let values: Vec<Vec<u32>> = self
            .sizes
            .iter()
            .map(|size| (0..*size as u32).collect())
            .collect();
        let of_each = |measured: &dyn Fn(Counts<'_>) -> f64| {
            let counts = values.iter().zip(&self.references);
            counts
                .map(|(values, reference)| measured(Counts::new(values, reference.counts())))
                .fold(f64::INFINITY, f64::min)
        };
        let best = match model {
            Model::KAnonymity { .. } => size.to_string(),
            Model::DistinctDiversity { .. } => {
                of_each(&|counts| measure::distinct(counts) as f64).to_string()
            }
            Model::EntropyDiversity { .. } => {
                format!("{:.4}", of_each(&measure::entropy_diversity))
            }
            Model::FrequencyDiversity { .. } => {
                format!(
                    "{:.4}",
                    of_each(&|counts| measure::frequency_diversity(counts).to_f64())
                )
            }
            _ => String::from("not a matter of size: the sensitive values are too unequal"),
        };
        Error::Unmeetable {
            records: self.records,
            model: model.to_string(),
            best,
        }
    }
}
