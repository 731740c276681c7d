//! Journals that no honest site writes: a frame that went to one peer only, frames taken out, put in,
//! or made to look honest afterwards.

use hedgerow_smc::memory::{Fault, Faults, Outcome as Ran, Simulation};
use hedgerow_smc::{Error, What};

use super::*;
use crate::journal::RunName;

const SITES: u16 = 4;
const TEST: What = What::new("answers", "the test");
const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn secret(site: u16) -> Secret {
    Secret::from_bytes(&[site as u8 + 1; 32])
}

fn seed(site: u16) -> Seed {
    Seed::for_site(3, usize::from(site))
}

fn name(site: u16) -> RunName {
    RunName {
        study: StudyHash([1; 32]),
        number: 1,
        site,
        sites: SITES,
        rows: [2; 32],
    }
}

fn openings() -> Vec<Opening> {
    (0..SITES)
        .map(|site| Opening::new(&secret(site), &name(site), &seed(site), 1_000_000, 20_000))
        .collect()
}

/// Two sums and a comparison; what is signed are the sums.
async fn part(mut party: Party) -> Result<Done<()>, Error> {
    let me = party.me().index() as u64;
    let mut sums = [me, 7];
    party.sum(TEST, &mut sums).await?;
    let mut answers = [false];
    party.at_least(TEST, 50, &[me], &[3], &mut answers).await?;
    let mut last = [me * 3];
    party.sum(TEST, &mut last).await?;
    let statement = format!("{sums:?} {answers:?} {last:?}").into_bytes();
    let transcript = party.transcript().cloned();
    Ok(Done {
        value: (),
        statement,
        transcript: transcript.unwrap_or_else(|| unreachable!("four sites are joined")),
    })
}

/// All sites in memory, with faults.
fn ran(faults: Faults) -> Ran<Done<()>, Error> {
    let context = context(name(0).study, 1, &openings());
    Simulation::new(usize::from(SITES), 3)
        .context(context)
        .faults(faults)
        .recording()
        .run(part)
}

/// The frames of the links of a site, with openings and, where the run came to its end, seals.
fn links(site: u16, ran: &Ran<Done<()>, Error>) -> Vec<[Vec<Vec<u8>>; 2]> {
    let context = context(name(0).study, 1, &openings());
    let seal = |of: u16| {
        let done = ran.results[usize::from(of)].as_ref().ok()?;
        let sealed = Sealed {
            study: name(0).study,
            run: 1,
            context,
            release: statement_digest(name(0).study, 1, &done.statement),
        };
        Some(sealed.seal(&secret(of), of, &done.transcript))
    };
    let between = |from: u16, to: u16| {
        let mut frames = vec![openings()[usize::from(from)].encode()];
        let view = ran.view(Site::new(to));
        let seen = view.iter().filter(|frame| frame.from == Site::new(from));
        frames.extend(seen.map(|frame| frame.bytes.clone()));
        frames.extend(seal(from));
        frames
    };
    (0..SITES)
        .map(|peer| {
            if peer == site {
                [Vec::new(), Vec::new()]
            } else {
                [between(site, peer), between(peer, site)]
            }
        })
        .collect()
}

/// What an audit finds in a journal with these frames.
fn found(site: u16, links: &[[Vec<Vec<u8>>; 2]]) -> Outcome {
    found_of(site, links, false)
}

/// The same of a run that came to a release, or did not.
fn found_of(site: u16, links: &[[Vec<Vec<u8>>; 2]], is_over: bool) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let own = secret(site);
    let keep = std::time::Duration::from_secs(60);
    let begun = journal
        .begin_here(&name(site), &own, Some(&seed(site)), keep)
        .unwrap();
    let opening = &openings()[usize::from(site)];
    journal.keep_opening(begun.id, &opening.encode()).unwrap();
    for (peer, [sent, received]) in (0u16..).zip(links) {
        for (number, frame) in (0u64..).zip(sent) {
            journal.mark(peer, number, frame).unwrap();
        }
        for frame in received {
            journal.put(peer, frame).unwrap();
        }
    }
    if is_over {
        journal.finish(begun.id, &[0; 32]).unwrap();
    }
    let case = Audited {
        study: name(site).study,
        number: 1,
        secret: &own,
        rows: name(site).rows,
        names: NAMES.map(String::from).to_vec(),
        keys: (0..SITES).map(|site| secret(site).public()).collect(),
        settings: Settings::default(),
        allowed: vec![String::from("answers")],
        most_records: u64::MAX,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let outcome = runtime.block_on(audit(&journal, &case, |party, _| part(party)));
    outcome.unwrap()
}

#[test]
fn an_honest_journal_is_as_it_should_be() {
    let ran = ran(Faults::default());
    for site in 0..SITES {
        let outcome = found(site, &links(site, &ran));
        assert_eq!(outcome.finding, None);
        assert!(outcome.release.is_some());
    }
}

/// One peer was told something else than the others, in the last frame of the protocol and in an
/// earlier one.
#[test]
fn a_site_that_told_two_peers_different_things_is_named() {
    let (liar, victim) = (1, 2);
    let honest = ran(Faults::default());
    let frames = links(liar, &honest)[usize::from(victim)][0].len() as u32 - 2;
    // Two frames of the join come first.
    for frame in [2, frames - 1] {
        let (from, to) = (Site::new(liar), Site::new(victim));
        let ran = ran(Faults::default().strike(from, to, frame, Fault::Lie(vec![1])));
        let outcome = found(liar, &links(liar, &ran));
        let Some(Finding::Frame { peer, number, .. }) = &outcome.finding else {
            panic!("{outcome:?}");
        };
        assert_eq!((peer.as_str(), *number), ("c", u64::from(frame) + 1));
        assert_eq!(outcome.release, None);
        // The victim did as it should; if it came to an end, to another than its peers.
        let finding = found(victim, &links(victim, &ran)).finding;
        let is_innocent = matches!(finding, None | Some(Finding::Signed { .. }));
        assert!(is_innocent, "{finding:?}");
    }
}

#[test]
fn a_journal_that_was_made_to_look_honest_is_not_what_the_peers_signed() {
    let ran = ran(Faults::default());
    let honest = links(1, &ran);
    // A frame that was received is another one.
    let mut changed = honest.clone();
    let (header, mut payload) = Header::open(changed[0][1][3].clone()).unwrap();
    payload[0] ^= 1;
    changed[0][1][3] = header.frame(&payload);
    assert!(found(1, &changed).finding.is_some());
    // What a peer signed is of other frames.
    let mut other = honest.clone();
    let sealed = Sealed {
        study: name(0).study,
        run: 1,
        context: context(name(0).study, 1, &openings()),
        release: statement_digest(
            name(0).study,
            1,
            &ran.results[0].as_ref().unwrap().statement,
        ),
    };
    let mut transcript = ran.results[0].as_ref().unwrap().transcript.clone();
    transcript.received[1] = [9; 32];
    *other[0][1].last_mut().unwrap() = sealed.seal(&secret(0), 0, &transcript);
    let expected = Finding::Signed {
        peer: String::from("a"),
    };
    assert_eq!(found(1, &other).finding, Some(expected));
}

#[test]
fn frames_that_are_missing_or_too_many_are_named() {
    let ran = ran(Faults::default());
    let honest = links(1, &ran);
    let mut missing = honest.clone();
    missing[3][0].truncate(3);
    let outcome = found(1, &missing);
    let expected = Finding::Missing {
        peer: String::from("d"),
        number: 3,
    };
    assert_eq!(outcome.finding, Some(expected));
    let mut surplus = honest.clone();
    surplus[0][0].push(b"one more".to_vec());
    let expected = Finding::Surplus {
        peer: String::from("a"),
        frames: 1,
    };
    assert_eq!(found(1, &surplus).finding, Some(expected));
}

/// Frames that were received and are gone: what is left looks like a run that ended early.
#[test]
fn a_journal_that_was_cut_is_named() {
    let ran = ran(Faults::default());
    let honest = links(1, &ran);
    assert_eq!(found_of(1, &honest, true).finding, None);
    for left in [3, 5, honest[0][1].len() - 1] {
        let mut cut = honest.clone();
        cut.iter_mut()
            .for_each(|[_, received]| received.truncate(left));
        let outcome = found_of(1, &cut, true);
        assert_eq!(
            (outcome.finding, outcome.release),
            (Some(Finding::Cut), None),
            "{left}"
        );
    }
}

/// A commitment to other rows, or another to each peer.
#[test]
fn a_commitment_to_something_else_is_named() {
    let ran = ran(Faults::default());
    let mut links = links(1, &ran);
    let other = RunName {
        rows: [7; 32],
        ..name(1)
    };
    let opening = Opening::new(&secret(1), &other, &seed(1), 1_000_000, 20_000);
    links[2][0][0] = opening.encode();
    let expected = Finding::Commitment {
        peer: String::from("c"),
    };
    assert_eq!(found(1, &links).finding, Some(expected));
}
