//! What the tests share: one question asked of the ideal twin and of both levels.

use std::future::Future;

use hedgerow_smc::memory::Simulation;
use hedgerow_smc::settings::{Ring, Shape};
use hedgerow_smc::{Error, Party, Settings, What};

/// The name under which tests disclose things.
pub(crate) const TEST: What = What::new("test values", "the test");

/// Both levels, with every shape and ring.
pub(crate) fn levels() -> Vec<Settings> {
    vec![
        Settings::hardened(),
        Settings {
            shape: Shape::Star,
            ..Settings::hardened()
        },
        Settings {
            shape: Shape::Tree,
            fan_out: 2,
            ..Settings::hardened()
        },
        Settings::published(),
        Settings {
            ring: Ring::OneMask,
            ..Settings::published()
        },
    ]
}

/// Asks the ideal twin and each level, and checks that every site gets the same answers.
pub(crate) fn agree<T, F>(sites: usize, seed: u64, site: impl Fn(Party) -> F) -> Vec<T>
where
    T: PartialEq + std::fmt::Debug,
    F: Future<Output = Result<T, Error>>,
{
    let ideal: Vec<T> = Simulation::new(sites, seed)
        .run_ideal(&site)
        .into_iter()
        .collect::<Result<_, Error>>()
        .unwrap();
    for settings in levels() {
        let simulation = Simulation::new(sites, seed).settings(settings);
        let real = simulation.run(&site).into_values().unwrap();
        assert_eq!(real, ideal, "{sites} sites, {settings:?}");
    }
    ideal
}
