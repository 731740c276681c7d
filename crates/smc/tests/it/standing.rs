//! Parties of questions, made of one joining: what they answer, that no two share a mask, and vectors of what
//! goes on the line.

use std::fs;
use std::path::PathBuf;

use hedgerow_smc::error::{Misbehaviour, OwnConfig};
use hedgerow_smc::memory::{Outcome, Simulation};
use hedgerow_smc::wire::HEADER_BYTES;
use hedgerow_smc::{Branch, Error, Generator, Items, Party, Settings, Site};
use serde_json::{Value, json};

use crate::harness::{TEST, levels};

const FIRST: Branch = Branch {
    asker: Site::new(1),
    number: 1,
    digest: [7; 32],
};

/// A sum to the asker, a sum to all, a comparison and a union: everything that questions may be made of.
async fn ask(party: &mut Party) -> Result<Value, Error> {
    let me = party.me().index() as u64;
    let mut told = [me + 1, 10 * me];
    party.sum_to(TEST, FIRST.asker, &mut told).await?;
    let mut found = [me];
    party.sum(TEST, &mut found).await?;
    let mut large = [false; 2];
    let own = [me, 3];
    party
        .at_least(TEST, 100, &own, &[3, 100], &mut large)
        .await?;
    let decoy = |generator: &mut Generator| vec![generator.below(30) as u8];
    let shape = Items {
        width: 1,
        capacity: 4,
        domain: 30.0,
        decoy: &decoy,
    };
    let mut items = vec![vec![me as u8]; 2];
    party.union(TEST, &shape, &mut items).await?;
    Ok(json!([told, found, large, items]))
}

fn asked(simulation: &Simulation, name: Branch) -> Outcome<Value, Error> {
    simulation
        .clone()
        .recording()
        .stand(|standing, line| async move {
            let mut party = standing.party(&name, line)?;
            ask(&mut party).await
        })
}

#[test]
fn a_party_of_a_question_answers_as_a_party_of_a_run() {
    for sites in [2, 3, 5] {
        for settings in levels() {
            let simulation = Simulation::new(sites, 9).settings(settings);
            let of_run = simulation.run(|mut party| async move { ask(&mut party).await });
            let of_question = asked(&simulation, FIRST);
            let expected = of_run.into_values().unwrap();
            assert_eq!(of_question.into_values().unwrap(), expected, "{settings:?}");
        }
    }
    let alone = Simulation::new(1, 9).stand(|standing, line| async move {
        let name = Branch {
            asker: Site::new(0),
            ..FIRST
        };
        let mut values = [5];
        let mut party = standing.party(&name, line)?;
        party.sum(TEST, &mut values).await?;
        Ok::<_, Error>(values)
    });
    assert_eq!(alone.into_values().unwrap(), [[5]]);
}

/// The masked vectors that the asker gets of one sum, by what the question is called.
fn masked(name: Branch) -> Vec<Vec<u8>> {
    let simulation = Simulation::new(3, 4).recording();
    let outcome = simulation.stand(|standing, line| async move {
        let mut party = standing.party(&name, line)?;
        party.sum_to(TEST, FIRST.asker, &mut [5; 64]).await
    });
    let view = outcome.view(FIRST.asker);
    view.iter()
        .map(|frame| frame.bytes[HEADER_BYTES..].to_vec())
        .collect()
}

#[test]
fn no_two_questions_share_a_mask() {
    let mut changed = FIRST;
    changed.digest[31] ^= 1;
    let names = [
        FIRST,
        changed,
        Branch { number: 2, ..FIRST },
        Branch {
            asker: Site::new(0),
            ..FIRST
        },
        Branch {
            number: u64::MAX,
            ..FIRST
        },
    ];
    let sent: Vec<Vec<Vec<u8>>> = names.map(masked).to_vec();
    for (place, one) in sent.iter().enumerate() {
        assert_eq!(one.len(), 2);
        for other in &sent[place + 1..] {
            for (one, other) in one.iter().zip(other) {
                // The same values: words that agree would have the same mask.
                let words = one.chunks(8).zip(other.chunks(8));
                assert_eq!(words.filter(|(one, other)| one == other).count(), 0);
            }
        }
    }
    assert_eq!(masked(FIRST), sent[0]);
}

#[test]
fn a_name_serves_once_and_numbers_of_an_asker_increase() {
    let outcome = Simulation::new(2, 4).stand(|standing, line| async move {
        drop(standing.party(&FIRST, line)?);
        Ok::<_, Error>(standing)
    });
    for standing in outcome.into_values().unwrap() {
        let try_name = |asker: u16, number: u64| {
            let name = Branch {
                asker: Site::new(asker),
                number,
                digest: [9; 32],
            };
            let line = Box::new(Nowhere);
            standing.party(&name, line).map(drop)
        };
        let repeated = |number, last| {
            Err(Error::OwnConfig(OwnConfig::Repeated {
                asker: Site::new(1),
                number,
                last,
            }))
        };
        assert_eq!(try_name(1, 1), repeated(1, 1));
        assert_eq!(try_name(1, 0), repeated(0, 1));
        assert_eq!(try_name(0, 1), Ok(()));
        assert_eq!(try_name(1, 9), Ok(()));
        assert_eq!(try_name(1, 5), repeated(5, 9));
        let nobody = OwnConfig::NoSuchSite { site: Site::new(2) };
        assert_eq!(try_name(2, 1), Err(Error::OwnConfig(nobody)));
    }
}

/// Lines to nobody.
struct Nowhere;

impl hedgerow_smc::Network for Nowhere {
    fn send(&mut self, _: Site, _: Vec<u8>) -> Result<(), hedgerow_smc::network::NetworkError> {
        Err(hedgerow_smc::network::NetworkError::Closed)
    }

    fn poll_receive(
        &mut self,
        _: Site,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<Vec<u8>, hedgerow_smc::network::NetworkError>> {
        std::task::Poll::Ready(Err(hedgerow_smc::network::NetworkError::Closed))
    }
}

/// An asker that tells one site another question gets no answer, and finds that out by name.
#[test]
fn sites_that_were_told_different_questions_give_no_answer() {
    let odd = Site::new(2);
    let outcome = Simulation::new(3, 4).stand(|standing, line| async move {
        // A party knows its place; so does the one that is told something else.
        let mut name = FIRST;
        if standing.me() == odd {
            name.digest = [8; 32];
        }
        let mut party = standing.party(&name, line)?;
        let mut values = [1];
        party.sum_to(TEST, FIRST.asker, &mut values).await?;
        Ok::<_, Error>(values)
    });
    match &outcome.results[1] {
        Err(Error::PeerMisbehaved { peer, problem, .. }) => {
            assert_eq!((*peer, *problem), (odd, Misbehaviour::OtherQuestion));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn questions_go_as_their_vectors_say() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/vectors/standing/v1");
    let bless = std::env::var_os("HEDGEROW_BLESS").is_some();
    for settings in [Settings::hardened(), Settings::published()] {
        for sites in [2usize, 3, 5] {
            let path = root.join(format!("{}-{sites}.json", settings.security));
            let seed = 2_000 + sites as u64;
            let simulation = Simulation::new(sites, seed).settings(settings);
            let outcome = asked(&simulation, FIRST);
            let found = json!({
                "seed": seed,
                "asker": FIRST.asker,
                "number": FIRST.number,
                "digest": FIRST.digest,
                "transcript": outcome.transcript_digest(),
                "outputs": outcome.into_values().unwrap(),
            });
            if bless {
                fs::create_dir_all(&root).unwrap();
                fs::write(&path, format!("{found}\n")).unwrap();
            } else {
                let text = fs::read_to_string(&path).unwrap();
                assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), found);
            }
        }
    }
}
