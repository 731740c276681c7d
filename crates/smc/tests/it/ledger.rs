//! The ledger: complete, chained, readable.

use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Error, Items, Ledger, Party, Rank, Settings, Site, To, Tree, What};

const SIZES: What = What::new("class sizes", "JX09 Theorem 1");
const COSTS: What = What::new("cost changes", "TG12 section 8.3");

async fn protocol(mut party: Party) -> Result<Ledger, Error> {
    party.ledger_mut().keep_values();
    party.sum(SIZES, &mut [4, 5]).await?;
    party.sum(SIZES, &mut [6]).await?;
    party.sum_to(COSTS, Site::new(1), &mut [1, 2, 3]).await?;
    party
        .at_least(SIZES, 40, &[4, 5], &[9, 40], &mut [false; 2])
        .await?;
    Ok(party.ledger().clone())
}

fn ledgers(sites: usize, settings: Settings) -> Vec<Ledger> {
    Simulation::new(sites, 1)
        .settings(settings)
        .run(protocol)
        .into_values()
        .unwrap()
}

/// Every primitive once, with its answers in the ledger.
async fn everything(mut party: Party) -> Result<Ledger, Error> {
    party.ledger_mut().keep_values();
    let me = party.me().index() as u64;
    let mut entries = 0;
    let mut grows = |party: &Party| {
        assert!(
            party.ledger().entries().len() > entries,
            "an entry per call"
        );
        entries = party.ledger().entries().len();
    };
    party.sum(SIZES, &mut [me]).await?;
    grows(&party);
    party.sum_to(SIZES, Site::new(0), &mut [me]).await?;
    grows(&party);
    party.all(SIZES, &mut [me == 0, true]).await?;
    grows(&party);
    party.any(SIZES, &mut [me == 0, false]).await?;
    grows(&party);
    party
        .at_least(SIZES, 30, &[me, 3], &[1, 30], &mut [false; 2])
        .await?;
    grows(&party);
    let tree = [Tree::new(vec![0, 0, 1, 1])?];
    party
        .lca(
            SIZES,
            &tree,
            |_| 0,
            &mut [Some(2), Some(2 + me as u32 % 2), None],
        )
        .await?;
    grows(&party);
    party
        .minimum(SIZES, |_| 0..=99, &mut [Some(me + 40), None])
        .await?;
    grows(&party);
    party
        .maximum(SIZES, |_| 0..=99, &mut [Some(me + 40), None])
        .await?;
    grows(&party);
    party
        .ranges(SIZES, |_| 0..=99, &mut [Some((me, 50 + me)), None])
        .await?;
    grows(&party);
    let questions = [1, 2, 99].map(|rank| Rank {
        rank,
        domain: 0..=9,
    });
    party
        .kth(
            SIZES,
            30,
            &questions,
            |_, value| u64::from(value >= me),
            &mut [None; 3],
        )
        .await?;
    grows(&party);
    let shape = Items {
        width: 1,
        capacity: 2,
        decoy: &|_| vec![9],
    };
    party
        .union(SIZES, &shape, &mut vec![vec![me as u8]])
        .await?;
    grows(&party);
    Ok(party.ledger().clone())
}

/// What a site reads in the real run is what it reads from a trusted third, value by value.
#[test]
fn every_opened_value_is_the_ideal_one() {
    for sites in [2, 3, 5] {
        let simulation = Simulation::new(sites, 3);
        let ideal: Result<Vec<Ledger>, Error> =
            simulation.run_ideal(everything).into_iter().collect();
        assert_eq!(simulation.run(everything).into_values(), ideal);
        let published = simulation.settings(Settings::published());
        assert!(published.run(everything).into_values().is_ok());
    }
}

#[test]
fn ideal_and_hardened_ledgers_are_the_same() {
    for sites in [2, 3, 5] {
        let ideal: Result<Vec<Ledger>, Error> = Simulation::new(sites, 1)
            .run_ideal(protocol)
            .into_iter()
            .collect();
        assert_eq!(ledgers(sites, Settings::hardened()), ideal.unwrap());
    }
}

#[test]
fn entries_are_chained() {
    let ledger = &ledgers(3, Settings::hardened())[0];
    assert_eq!(Ledger::first_broken(ledger.entries()), None);
    let mut changed = ledger.entries().to_vec();
    changed[1].values += 1;
    assert_eq!(Ledger::first_broken(&changed), Some(1));
    let mut taken_out = ledger.entries().to_vec();
    taken_out.remove(2);
    assert_eq!(Ledger::first_broken(&taken_out), Some(2));
    let mut redirected = ledger.entries().to_vec();
    redirected[2].disclosure.to = To::All;
    assert_eq!(Ledger::first_broken(&redirected), Some(2));
    assert_eq!(ledger.head(), ledger.entries()[3].hash);
}

#[test]
fn values_are_kept_only_where_asked_for() {
    let ledger = &ledgers(3, Settings::hardened())[1];
    let recorded: Vec<_> = ledger
        .entries()
        .iter()
        .map(|entry| entry.recorded.clone().unwrap())
        .collect();
    assert_eq!(
        recorded,
        [vec![12, 15], vec![18], vec![3, 6, 9], vec![1, 0]]
    );
    // The pivot's sums are at the pivot only.
    assert_eq!(
        ledgers(3, Settings::hardened())[0].entries()[2].recorded,
        Some(vec![0, 0, 0])
    );
    let silent = Simulation::new(3, 1).run(|mut party| async move {
        party.sum(SIZES, &mut [1]).await?;
        Ok::<_, Error>(party.ledger().clone())
    });
    assert_eq!(silent.into_values().unwrap()[0].entries()[0].recorded, None);
}

#[test]
fn people_read_a_table() {
    let text = ledgers(3, Settings::hardened())[0].to_string();
    let expected = "\
what          to      by         calls     values  allowed by
class sizes   all     sum            2          3  JX09 Theorem 1
cost changes  site 1  sum            1          3  TG12 section 8.3
class sizes   all     at_least       1          2  JX09 Theorem 1
level: hardened
";
    assert_eq!(text, expected);
    let two = ledgers(2, Settings::hardened())[0].to_string();
    assert!(two.contains("note: with two sites a sum tells each site the other's summand"));
    let published = ledgers(3, Settings::published())[0].to_string();
    assert!(published.contains("note: the two neighbours of a site on the ring"));
}

#[test]
fn machines_read_json() {
    let json = ledgers(3, Settings::hardened())[0].to_json();
    assert_eq!(json["security"], "hardened");
    assert_eq!(json["summary"][0]["what"], "class sizes");
    assert_eq!(json["summary"][0]["to"], "all");
    assert_eq!(json["summary"][0]["values"], 3);
    assert_eq!(json["entries"].as_array().unwrap().len(), 4);
    assert_eq!(json["entries"][3]["hash"], json["head"]);
}
