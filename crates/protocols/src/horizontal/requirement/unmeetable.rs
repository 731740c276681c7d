//! Requirements that not even the whole table satisfies, and what the whole table would satisfy.
//!
//! # Discloses
//! As `sites`, `spread` and `coalitions` say, of the whole table.

use hedgerow_privacy::{Counts, Model, measure};
use hedgerow_smc::Party;

use super::{Table, Trials, coalitions, sites, spread};
use crate::error::Error;

impl Table<'_> {
    /// Refuses a requirement that not even the whole table satisfies: `whole` is a try with the table as
    /// one part. Returns the number of coalitions that were checked.
    pub(in crate::horizontal) async fn refuse_unmeetable(
        &self,
        party: &mut Party,
        whole: &impl Trials,
    ) -> Result<u64, Error> {
        let view = self.view();
        let size = self.records;
        let sensitive = self.whole();
        let failing = self.by_counts.iter().find(|model| {
            let models = std::slice::from_ref(*model);
            !self.holds(models, &view, size, &sensitive)
        });
        if let Some(model) = failing {
            return Err(self.unmeetable(model.to_string(), self.best(model, size)));
        }
        let mut allowed = [size > 0];
        sites::check(party, self, whole, &mut allowed).await?;
        if let (Some((l, model)), [false], 1..) = (sites::demanded(self), allowed, size) {
            let most = l.saturating_sub(1).min(self.sites as u64);
            let best = format!(
                "fewer than {l} sites have records; the largest value that could be met is at most {most}"
            );
            return Err(self.unmeetable(model.to_string(), best));
        }
        spread::check(party, self, whole, &mut allowed).await?;
        if let (Some((_, model)), [false], 1..) = (spread::demanded(self), allowed, size) {
            let best =
                String::from("the records of the whole table are spread over sites too unevenly");
            return Err(self.unmeetable(model.to_string(), best));
        }
        let m = self.demands.requirement.m.unwrap_or(0);
        let mut checks = 0;
        for least in (1..=m).rev() {
            let mut allowed = [size > 0];
            checks += coalitions::check(party, self, least, whole, &mut allowed).await?;
            if allowed == [true] || size == 0 {
                if least < m {
                    return Err(
                        self.unmeetable(format!("m = {m}"), could_be(&format!("m = {least}")))
                    );
                }
                return Ok(checks);
            }
        }
        if m > 0 {
            return Err(self.unmeetable(format!("m = {m}"), self.no_m()));
        }
        Ok(checks)
    }

    /// Why not even one colluder can be withstood.
    fn no_m(&self) -> String {
        let is_held_by_more = |model: &&Model| {
            matches!(model, Model::EntropyDiversity { .. })
                || matches!(model, Model::RecursiveDiversity { l, .. } if *l > 2)
        };
        let held = self.by_counts.iter().find(is_held_by_more);
        held.map_or_else(
            || String::from("there is a site without whose records the others do not satisfy it"),
            |model| {
                format!(
                    "against colluders {model} is held by a stronger rule that can be asked without showing counts; use l of kind \"distinct\" or \"frequency\", or leave m out"
                )
            },
        )
    }

    fn unmeetable(&self, model: String, best: String) -> Error {
        Error::Unmeetable {
            records: self.records,
            model,
            best,
        }
    }

    /// The most that the whole table achieves of a model.
    fn best(&self, model: &Model, size: u64) -> String {
        best_of(model, size, &self.counts(&self.whole()))
    }
}

/// The most that records of this size and these sensitive counts achieve of a model, as a sentence.
pub(crate) fn best_of(model: &Model, size: u64, sensitive: &[Counts<'_>]) -> String {
    let of_each = |measured: &dyn Fn(Counts<'_>) -> f64| {
        let measured = sensitive.iter().map(|counts| measured(*counts));
        measured.fold(f64::INFINITY, f64::min)
    };
    match model {
        Model::KAnonymity { .. } => could_be(&size.to_string()),
        Model::DistinctDiversity { .. } => {
            could_be(&of_each(&|counts| measure::distinct(counts) as f64).to_string())
        }
        Model::EntropyDiversity { .. } => {
            could_be(&format!("{:.4}", of_each(&measure::entropy_diversity)))
        }
        Model::FrequencyDiversity { .. } => {
            let diversity = |counts: Counts<'_>| measure::frequency_diversity(counts).to_f64();
            could_be(&format!("{:.4}", of_each(&diversity)))
        }
        _ => String::from("the sensitive values of the whole table are too unequal for it"),
    }
}

fn could_be(best: &str) -> String {
    format!("the largest value that could be met is {best}")
}
