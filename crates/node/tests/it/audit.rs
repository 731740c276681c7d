//! Audits of sites that took part honestly and of sites that did not, over real connections.

use std::sync::Arc;
use std::time::Duration;

use hedgerow_node::agreement::StudyHash;
use hedgerow_node::audit::{Audited, Finding, Outcome, audit};
use hedgerow_node::journal::{Journal, JournalError};
use hedgerow_smc::{Error, Settings};

use super::secret;
use super::world::{Lie, Odd, World, done, protocol, run_test};

const KEEP: Duration = Duration::from_secs(3_600);

/// A run of three sites that all keep their journals, in which the second may lie.
async fn after_a_run(lie: Lie) -> Arc<World> {
    let world = Arc::new(World::new(3));
    let life = |place: usize| {
        let odd = Odd {
            lie: if place == 1 { lie } else { Lie::default() },
            keep: KEEP,
            ..Odd::none(place)
        };
        Arc::clone(&world).live_oddly(place, odd)
    };
    let (first, second, third) = tokio::join!(life(0), life(1), life(2));
    // A lie that is kept to leaves everybody with the same answers: all sign.
    first.unwrap();
    second.unwrap();
    third.unwrap();
    world
}

/// What an audit of a site finds, by what an honest site does.
async fn audited(world: &World, place: usize, rows: [u8; 32]) -> Outcome {
    let journal = loop {
        match Journal::open(&world.data(place)) {
            Err(JournalError::Busy { .. }) => tokio::time::sleep(Duration::from_millis(5)).await,
            journal => break journal.unwrap(),
        }
    };
    let secret_key = secret(place as u8);
    let case = Audited {
        study: StudyHash([9; 32]),
        number: 1,
        secret: &secret_key,
        rows,
        names: (0..3).map(|site| format!("s{site}")).collect(),
        keys: (0..3).map(|site| secret(site).public()).collect(),
        settings: Settings::default(),
        allowed: vec![String::from("answers")],
        most_records: u64::MAX,
    };
    let turns = (world.turns, world.wide);
    let outcome = audit::<_, Error, _>(&journal, &case, |mut party, _| async move {
        let learned = protocol(&mut party, turns, Lie::default(), None).await?;
        Ok(done(learned, &party, ""))
    });
    outcome.await.unwrap()
}

#[test]
fn honest_sites_are_as_they_should_be() {
    run_test(async {
        let world = after_a_run(Lie::default()).await;
        for place in 0..3 {
            let outcome = audited(&world, place, [4; 32]).await;
            assert_eq!(outcome.finding, None, "site {place}");
            assert!(
                outcome.release.is_some() && outcome.frames > 40,
                "{outcome:?}"
            );
        }
    });
}

#[test]
fn a_site_that_lied_in_one_sum_is_named_with_the_frame() {
    run_test(async {
        let lie = Lie {
            by: 1 << 40,
            from_turn: 2,
            to_turn: 3,
        };
        let world = after_a_run(lie).await;
        let outcome = audited(&world, 1, [4; 32]).await;
        let Some(Finding::Frame { peer, number, step }) = outcome.finding else {
            panic!("{outcome:?}");
        };
        assert_eq!(peer, "s0");
        assert!(step.contains("(sum)"), "{step}");
        assert!(number > 3 && outcome.release.is_none(), "{number}");
        // Its peers did as they should, whatever they were told.
        for place in [0, 2] {
            assert_eq!(audited(&world, place, [4; 32]).await.finding, None);
        }
    });
}

/// Records that everybody counted until the last sum are missing from it.
#[test]
fn a_site_that_left_its_rows_out_of_the_last_sum_is_named() {
    run_test(async {
        let lie = Lie {
            by: 40u64.wrapping_neg(),
            from_turn: 5,
            to_turn: 6,
        };
        let world = after_a_run(lie).await;
        let outcome = audited(&world, 1, [4; 32]).await;
        let finding = outcome.finding.unwrap();
        assert!(matches!(&finding, Finding::Frame { .. }), "{finding}");
        assert!(finding.to_string().contains("is not the one that follows"));
    });
}

#[test]
fn rows_that_changed_after_the_commitment_are_named() {
    run_test(async {
        let world = after_a_run(Lie::default()).await;
        let outcome = audited(&world, 2, [5; 32]).await;
        assert_eq!(outcome.finding, Some(Finding::Rows));
    });
}

/// Without a study that demands audits nothing is kept, and nothing can be shown.
#[test]
fn what_is_not_kept_cannot_be_audited() {
    run_test(async {
        let world = Arc::new(World::new(2));
        let life = |place| Arc::clone(&world).live(place);
        let (first, second) = tokio::join!(life(0), life(1));
        first.unwrap();
        second.unwrap();
        let journal = Journal::open(&world.data(0)).unwrap();
        let secret = secret(0);
        let case = Audited {
            study: StudyHash([9; 32]),
            number: 1,
            secret: &secret,
            rows: [4; 32],
            names: Vec::new(),
            keys: Vec::new(),
            settings: Settings::default(),
            allowed: Vec::new(),
            most_records: u64::MAX,
        };
        let refused = audit::<(), Error, _>(&journal, &case, |_, _| async {
            unreachable!("nothing is replayed")
        });
        let error = refused.await.unwrap_err().to_string();
        assert!(error.contains("nothing is kept of run 1"), "{error}");
    });
}
