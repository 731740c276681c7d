//! A study made ready, in the form that its protocols take, and the random draws of a run.

use hedgerow_data::study::Algorithm;
use hedgerow_protocols::horizontal::clustering::{self, Support};
use hedgerow_protocols::horizontal::mondrian::Plan;
use hedgerow_protocols::vertical;
use hedgerow_protocols::vertical::d2pt;
use hedgerow_smc::settings::Shape;
use hedgerow_smc::{Seed, Settings};

use super::ready::Ready;

/// The context from which seeds for labels and orders are derived.
pub(crate) const LABELS: &str = "hedgerow 2026 labels and orders of clusters v1";

/// What a run draws apart from what its parties send: labels of clusters, orders of records. Each site's
/// draws follow from its own seed, so that one party with everybody's rows can draw the same.
pub(crate) enum Draws {
    /// All sites', of a run with a number as seed.
    Simulated(u64),
    /// This site's own: derived for [`LABELS`] from the secret seed of the run.
    Own(Seed),
}

impl Draws {
    /// The seed of a site's draws at a start.
    pub(crate) fn seed(&self, site: u32, start: u32) -> Seed {
        let of_site = match self {
            Self::Simulated(seed) => Seed::for_site(*seed, site as usize).derive(LABELS, 0),
            Self::Own(seed) => seed.clone(),
        };
        of_site.derive(
            "hedgerow 2026 one start of a clustering v1",
            u64::from(start),
        )
    }
}

impl Ready {
    /// What the parties of a run agree on.
    pub(crate) fn settings(&self) -> Settings {
        self.run.of_parties(self.sites)
    }

    /// The shape of a run of so many sites, where not every site sends to every other.
    pub(crate) fn shape_but_mesh(&self, sites: usize) -> Option<Shape> {
        let shape = self.run.of_parties(sites).shape;
        (sites > 2 && shape != Shape::Mesh).then_some(shape)
    }

    /// The study as top-down cuts take it.
    pub(crate) fn plan(&self) -> Plan<'_> {
        Plan::of(&self.study, &self.requirement, &self.run)
    }

    /// The study as sequential clustering takes it.
    pub(crate) fn clustering_plan<'a>(
        &'a self,
        seeds: &'a (dyn Fn(u32, u32) -> Seed + Sync),
    ) -> clustering::Plan<'a> {
        clustering::Plan::of(&self.study, &self.requirement, &self.run, seeds)
    }

    /// The study as clustering among sites that hold the same people takes it.
    pub(crate) fn shared_clustering_plan<'a>(
        &'a self,
        seeds: &'a (dyn Fn(u32) -> Seed + Sync),
    ) -> vertical::clustering::Plan<'a> {
        let (study, requirement) = (&self.study, &self.requirement);
        vertical::clustering::Plan::of(study, requirement, &self.run, &self.split, seeds)
    }

    /// The study as cuts of the same people take it.
    pub(crate) fn shared_cuts_plan(&self) -> vertical::mondrian::Plan<'_> {
        let (study, requirement) = (&self.study, &self.requirement);
        vertical::mondrian::Plan::of(study, requirement, &self.run, &self.split)
    }

    /// The study as D2Pt takes it.
    pub(crate) fn d2pt_plan(&self) -> d2pt::Plan<'_> {
        d2pt::Plan::of(&self.study, &self.requirement, &self.run, &self.split)
    }

    /// Site diversity that clusters satisfy by how they are written.
    pub(crate) fn support(&self) -> Option<Support> {
        match self.study.algorithm {
            Algorithm::Clustering => Support::of_study(&self.study, &self.requirement),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_draws_what_a_simulation_with_its_seed_does_and_every_start_another() {
        let simulated = Draws::Simulated(7);
        let own = Draws::Own(Seed::for_site(7, 2).derive(LABELS, 0));
        let mut seen = vec![*Seed::for_site(7, 2).as_bytes()];
        for start in 0..3 {
            let seed = own.seed(2, start);
            assert_eq!(seed.as_bytes(), simulated.seed(2, start).as_bytes());
            assert_ne!(seed.as_bytes(), simulated.seed(1, start).as_bytes());
            assert!(!seen.contains(seed.as_bytes()));
            seen.push(*seed.as_bytes());
        }
    }
}
