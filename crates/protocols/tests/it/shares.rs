//! Whether no site brings too much: ideal = real = what one who has all numbers counts, with sites of
//! very different sizes.

use hedgerow_protocols::Error;
use hedgerow_protocols::horizontal::share::{MOST_RECORDS, SHARES, within_share};
use hedgerow_smc::Settings;
use hedgerow_smc::memory::Simulation;
use proptest::prelude::*;

/// Numbers of records from nobody to billions, some of them alike.
fn records() -> impl Strategy<Value = Vec<u64>> {
    let one = prop_oneof![
        Just(0u64),
        1u64..20,
        (0u32..32, 0u64..1000).prop_map(|(power, more)| ((1u64 << power) + more).min(MOST_RECORDS)),
        Just(MOST_RECORDS),
    ];
    prop::collection::vec(one, 2..7)
}

fn shares() -> impl Strategy<Value = (u64, u64)> {
    prop_oneof![
        (1u64..=10).prop_map(|tenths| (tenths, 10)),
        Just((1, 3)),
        Just((1, 1_000_000)),
        (1u64..1_000_000).prop_map(|share| (share, 1_000_000)),
    ]
}

/// Recounted with numbers that cannot overflow.
fn counted(records: &[u64], (numerator, denominator): (u64, u64)) -> Vec<bool> {
    let all: u128 = records.iter().map(|one| u128::from(*one)).sum();
    let holds =
        |own: &u64| u128::from(*own) * u128::from(denominator) <= u128::from(numerator) * all;
    records.iter().map(holds).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn each_site_is_told_apart_by_its_share_alone(records in records(), share in shares()) {
        let sites = records.len();
        let ask = |mut party: hedgerow_smc::Party| {
            let own = records[party.me().index()];
            async move {
                let found = within_share(&mut party, own, share).await?;
                let ledger = party.ledger().summary();
                Ok::<_, Error>((found, ledger, party.calls()))
            }
        };
        let real = Simulation::new(sites, 5).run(ask).into_values().unwrap();
        let ideal: Result<Vec<_>, Error> = Simulation::new(sites, 5).run_ideal(ask).into_iter().collect();
        let expected = counted(&records, share);
        for (found, ledger, calls) in real.iter().chain(&ideal.unwrap()) {
            prop_assert_eq!(found, &expected);
            // One call, and one bit for each site.
            prop_assert_eq!(*calls, 1);
            prop_assert_eq!(ledger.len(), 1);
            prop_assert_eq!((ledger[0].what, ledger[0].values), (SHARES.name(), sites));
        }
    }
}

#[test]
fn exactly_the_share_is_within_it() {
    let ask = |share: (u64, u64)| {
        let outcome = Simulation::new(3, 1).run(|mut party| {
            let own = [50, 30, 20][party.me().index()];
            async move { within_share(&mut party, own, share).await }
        });
        outcome.into_values().unwrap().remove(0)
    };
    assert_eq!(ask((1, 2)), [true, true, true]);
    assert_eq!(ask((499, 1000)), [false, true, true]);
    assert_eq!(ask((1, 5)), [false, false, true]);
    assert_eq!(ask((1, 1)), [true, true, true]);
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_sent() {
    for (own, share, settings, expected) in [
        (1, (0, 1), Settings::hardened(), "0/1"),
        (1, (3, 2), Settings::hardened(), "3/2"),
        (1, (1, 1_000_001), Settings::hardened(), "1/1000001"),
        (MOST_RECORDS + 1, (1, 2), Settings::hardened(), "4294967296"),
        (1, (1, 2), Settings::published(), "published"),
    ] {
        let outcome = Simulation::new(3, 1)
            .settings(settings)
            .run(|mut party| async move { within_share(&mut party, own, share).await });
        let error = outcome.into_values().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
