//! The ledger: complete, chained, readable.

use hedgerow_smc::memory::Simulation;
use hedgerow_smc::{Error, Ledger, Party, Settings, Site, To, What};

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
