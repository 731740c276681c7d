//! A peer that lies about numbers, where sites hold different facts about the same people.

use hedgerow_data::Recode;
use hedgerow_protocols::vertical::clustering::Loss;
use hedgerow_protocols::vertical::d2pt::{Datafly, Suppression, Synchronizer};
use hedgerow_smc::Settings;
use hedgerow_smc::memory::Simulation;

use super::columns::{How as Clustered, PLAIN, SIZES, Shared};
use super::laws::people;
use super::people::How;
use crate::liars::walk;
use crate::runs::{mixed, requirement};

fn rows(count: u64, columns: u64) -> Vec<Vec<u32>> {
    let word = |row: u64, column: u64| mixed(row * 31 + column) as u32 % 840;
    let row = |row| (0..columns).map(|column| word(row, column)).collect();
    (0..count).map(row).collect()
}

#[test]
fn d2pt_with_every_synchronizer() {
    let people = people(3, &rows(12, 9), None, false);
    let demand = requirement("k = 3, l = 2", &people.schema);
    for (synchronizer, restore, settings) in [
        (Synchronizer::Identity, false, Settings::hardened()),
        (Synchronizer::Fork, false, Settings::hardened()),
        (Synchronizer::Merge, true, Settings::hardened()),
        (Synchronizer::Dpp2ga, false, Settings::hardened()),
        (Synchronizer::Merge, false, Settings::published()),
    ] {
        let how = How {
            requirement: &demand,
            anonymizer: &Datafly,
            synchronizer,
            suppression: Suppression::NONE,
            restore,
        };
        let is_right = |part: &super::people::Part| {
            let groups = &part.joint.fragments.group;
            let mut groups = groups.chunk_by(|one, other| one == other);
            part.joint.fragments.group.len() == part.common.len()
                && groups.all(|group| group.len() >= 3)
        };
        walk(
            &format!("{} {}", synchronizer.name(), settings.security),
            &Simulation::new(3, 5).settings(settings),
            &|simulation| people.run(how, simulation),
            &is_right,
        );
    }
}

#[test]
fn clustering_of_columns() {
    let shared = Shared::new(&rows(14, SIZES.len() as u64));
    let split = shared.split(3, &[0; SIZES.len()]);
    for (line, loss, recode) in [
        ("k = 3, l = 2", Loss::Lm, Recode::Node),
        ("k = 3", Loss::Em, Recode::Set),
    ] {
        let demand = requirement(line, &shared.schema);
        let how = Clustered {
            loss,
            recode,
            is_refined: true,
            starts: 2,
            ..PLAIN
        };
        walk(
            &format!("{line} {loss:?}"),
            &Simulation::new(3, 5),
            &|simulation| shared.run(&split, &demand, how, simulation),
            &|part| {
                let mut clusters = part.found.clusters.iter();
                part.release.rows() == 14 && clusters.all(|cluster| cluster.len() >= 3)
            },
        );
    }
}
