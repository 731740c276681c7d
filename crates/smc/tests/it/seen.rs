//! Unions and alignments that fail or are lied to: what was seen stands in the ledger, and what a
//! peer says is checked.

use hedgerow_smc::error::{MAXIMUM_CAPACITY, Misbehaviour, OwnConfig};
use hedgerow_smc::ledger::{Ledger, To};
use hedgerow_smc::memory::{Fault, Faults, Outcome, Simulation};
use hedgerow_smc::wire::{HEADER_BYTES, Header, Primitive, WireError};
use hedgerow_smc::{Error, Items, Settings, Site};

use crate::harness::TEST;

type Answer = (Result<Vec<usize>, Error>, Ledger);

/// Three sites that all hold "one" and "two"; sites 0 and 1 also "three".
fn align(settings: Settings, faults: Faults, capacity: usize) -> Outcome<Answer, Error> {
    let simulation = Simulation::new(3, 8).settings(settings).faults(faults);
    simulation.recording().run(|mut party| async move {
        let own: &[&[u8]] = match party.me().index() {
            2 => &[b"one", b"two"],
            _ => &[b"one", b"two", b"three"],
        };
        party.keep_values();
        let mut common = Vec::new();
        let result = party.align(TEST, capacity, own, &mut common).await;
        Ok((result.map(|()| common), party.ledger().clone()))
    })
}

fn union(settings: Settings, faults: Faults, shape: &Items<'_>) -> Outcome<Answer, Error> {
    let simulation = Simulation::new(3, 8).settings(settings).faults(faults);
    simulation.recording().run(|mut party| async move {
        let mut items = vec![vec![party.me().index() as u8]];
        let result = party.union(TEST, shape, &mut items).await;
        Ok((result.map(|()| vec![items.len()]), party.ledger().clone()))
    })
}

/// The values of the entry with such a name: how many, and which.
fn entry(ledger: &Ledger, name: &str) -> Option<(usize, Vec<u64>, To)> {
    let mut entries = ledger.entries().iter();
    let found = entries.find(|entry| entry.disclosure.what.name().starts_with(name))?;
    let recorded = found.recorded.clone().unwrap_or_default();
    Some((found.values, recorded, found.disclosure.to))
}

#[test]
fn overlaps_are_counted_and_kept_where_they_were_seen() {
    // Two sites share one, all three share two.
    let real = vec![2, 0, 1, 1, 3, 0, 1, 2, 2];
    for settings in [Settings::hardened(), Settings::published()] {
        let outcome = align(settings, Faults::default(), 3);
        for (site, (_, ledger)) in outcome.into_values().unwrap().iter().enumerate() {
            let (seen, recorded, to) = entry(ledger, "encrypted").unwrap();
            assert_eq!(seen, 8);
            let sees = to == To::All || to == To::Site(Site::new(site as u16));
            assert_eq!(recorded, if sees { real.clone() } else { Vec::new() });
        }
    }
}

#[test]
fn an_alignment_that_fails_has_its_sizes_in_the_ledger() {
    for settings in [Settings::hardened(), Settings::published()] {
        // Site 1's own set is lost after its size.
        let faults = Faults::default().strike(Site::new(1), Site::new(2), 3, Fault::Drop);
        let values = align(settings, faults, 3).into_values().unwrap();
        for (result, ledger) in &values {
            assert!(result.is_err());
            assert_eq!(entry(ledger, "number of").unwrap().1, [3, 3, 2]);
        }
    }
}

#[test]
fn a_union_that_fails_has_what_passed_in_the_ledger() {
    let shape = Items {
        width: 1,
        capacity: 1,
        domain: 256.0,
        decoy: &|_| vec![9],
    };
    // The site before site 2 on the ring of this run.
    let ring = Simulation::new(3, 8).settings(Settings::published());
    let ring = ring.run(|party| async move { Ok::<_, Error>(party.ring().unwrap().to_vec()) });
    let ring = ring.into_values().unwrap().swap_remove(0);
    let (mut failed, victim) = (0, Site::new(2));
    let place = ring.iter().position(|site| *site == victim).unwrap();
    let before = ring[(place + 2) % 3];
    for frame in 2..41 {
        let faults = Faults::default().strike(before, victim, frame, Fault::Drop);
        let outcome = union(Settings::published(), faults, &shape);
        // The list follows its length; a frame out of turn is refused.
        let view = outcome.view(victim);
        let got = |number: u16| {
            view.iter().any(|received| {
                let header = Header::decode(&received.bytes).unwrap();
                header.primitive == Primitive::Union
                    && header.frame == number
                    && received.bytes.len() > HEADER_BYTES + 8
            })
        };
        let passed = got(1)
            && view.iter().any(|received| {
                let header = Header::decode(&received.bytes).unwrap();
                header.primitive == Primitive::Union && header.frame == 0
            });
        let (result, ledger) = &outcome.into_values().unwrap()[victim.index()];
        assert_eq!(entry(ledger, "items on").is_some(), passed, "{frame}");
        failed += usize::from(passed && result.is_err());
    }
    assert!(failed > 0);
}

#[test]
fn no_capacity_overflows() {
    let shape = |width, capacity| Items {
        width,
        capacity,
        domain: 256.0,
        decoy: &|_| vec![0],
    };
    for settings in [Settings::hardened(), Settings::published()] {
        for capacity in [usize::MAX, usize::MAX / 2, MAXIMUM_CAPACITY + 1] {
            let refused = Error::OwnConfig(OwnConfig::Capacity { capacity });
            let aligned = align(settings, Faults::default(), capacity);
            let united = union(settings, Faults::default(), &shape(1, capacity));
            for outcome in [aligned, united] {
                for (result, _) in outcome.into_values().unwrap() {
                    assert_eq!(result.unwrap_err(), refused);
                }
            }
        }
        // The largest size that is allowed, from a site that then sends less.
        let size = (MAXIMUM_CAPACITY as u64).to_le_bytes().to_vec();
        let (liar, victim) = (Site::new(1), Site::new(2));
        let faults = Faults::default().strike(liar, victim, 2, Fault::Replace(size));
        let outcome = align(settings, faults, MAXIMUM_CAPACITY);
        let (result, _) = &outcome.into_values().unwrap()[2];
        assert!(matches!(
            result,
            Err(Error::InvalidMessage { peer, source: WireError::Length { .. }, .. }) if *peer == liar
        ));
    }
}

#[test]
fn a_random_item_of_another_width_is_refused() {
    let shape = Items {
        width: 1,
        capacity: 1,
        domain: 256.0,
        decoy: &|_| vec![9, 9],
    };
    let outcome = union(Settings::published(), Faults::default(), &shape);
    let values = outcome.into_values().unwrap();
    let (found, width) = (2, 1);
    let refused = Err(Error::OwnConfig(OwnConfig::DecoyWidth { found, width }));
    assert!(values.iter().any(|(result, _)| *result == refused));
}

#[test]
fn a_comparing_site_that_lies_about_common_records_is_named() {
    let honest = align(Settings::hardened(), Faults::default(), 3);
    let (_, ledger) = honest.results[0].as_ref().unwrap();
    let (_, _, To::Site(comparer)) = entry(ledger, "encrypted").unwrap() else {
        panic!("one site compares");
    };
    let before = Site::new(((comparer.index() + 2) % 3) as u16);
    // To its predecessor it sends size, number of common tags, tags and places.
    let view = honest.view(before);
    let from_comparer: Vec<&[u8]> = view
        .iter()
        .filter(|frame| frame.from == comparer)
        .map(|frame| &frame.bytes[HEADER_BYTES..])
        .collect();
    let tags = from_comparer[4];
    assert_eq!(tags.len(), 32);
    let said = |frame: u32, payload: Vec<u8>| {
        let faults = Faults::default().strike(comparer, before, frame, Fault::Replace(payload));
        let outcome = align(Settings::hardened(), faults, 3);
        let (result, _) = outcome.into_values().unwrap().swap_remove(before.index());
        result.unwrap_err()
    };
    let (left, right) = tags.split_at(16);
    for lie in [[right, left].concat(), [left, left].concat()] {
        let error = said(4, lie);
        assert!(
            matches!(
                error,
                Error::PeerMisbehaved { peer, problem: Misbehaviour::Inconsistent, .. } if peer == comparer
            ),
            "{error}"
        );
    }
    let error = said(5, vec![0; 16]);
    assert!(
        matches!(
            error,
            Error::InvalidMessage { peer, source: WireError::Range { index: 1 }, .. } if peer == comparer
        ),
        "{error}"
    );
}
