//! What lines remember beyond the life of a process.

use hedgerow_smc::Seed;
use tokio::sync::oneshot::error::TryRecvError;

use super::*;
use crate::agreement::StudyHash;
use crate::identity::Secret;
use crate::journal::RunName;

/// The lines of the first of three sites.
async fn lines_in(folder: &std::path::Path) -> Shared {
    let name = RunName {
        study: StudyHash([1; 32]),
        number: 1,
        site: 0,
        sites: 3,
        rows: [2; 32],
    };
    let journal = Arc::new(Journal::open(folder).unwrap());
    let begun = journal
        .begin(
            name,
            &Secret::from_bytes(&[1; 32]),
            Some(Seed::new([3; 32])),
            Duration::ZERO,
        )
        .await
        .unwrap();
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let limits = Limits::with_patience(Duration::from_secs(30));
    Shared::new(0, names, journal, begun.id, limits)
        .await
        .unwrap()
}

/// Without the one that gave the run up nobody can go on, unless it had said all that it had to.
#[tokio::test]
async fn a_peer_that_gave_the_run_up_is_named_and_not_waited_for() {
    let moment = Duration::from_millis(200);
    let given_up = Some(LineError::GivenUp {
        peer: String::from("b"),
    });
    let wait = async |lines: &Shared, from| {
        let frame = std::future::poll_fn(|context| lines.poll_receive(from, context));
        tokio::time::timeout(moment, frame).await
    };

    // What it sent before is taken; then it is waited for in vain.
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    assert!(lines.deliver(1, 0, b"received".to_vec()).await);
    lines.ended(1, End::GivenUp);
    assert_eq!(wait(&lines, 1).await.unwrap().unwrap(), b"received");
    assert!(wait(&lines, 1).await.unwrap().is_err());
    assert_eq!(lines.failure(), given_up);

    // Another that is there may have everything; one that is not has nobody to wait for.
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    lines.send(1, b"sent".to_vec()).unwrap();
    let (connection, _end) = lines.connected(2, 0, true).unwrap();
    lines.ended(1, End::GivenUp);
    assert!(wait(&lines, 2).await.is_err());
    lines.expire();
    assert_eq!(lines.failure(), None);
    assert!(lines.deliver(2, 0, b"received".to_vec()).await);
    assert_eq!(wait(&lines, 2).await.unwrap().unwrap(), b"received");
    assert_eq!(lines.delivered(moment).await, Some(2));
    assert!(wait(&lines, 2).await.is_err());
    lines.disconnected(2, connection, String::from("it hung up"));
    lines.expire();
    assert_eq!(lines.failure(), given_up);
    // And nobody stays for its sake.
    lines.told(2, 1);
    assert_eq!(lines.delivered(moment).await, None);
}

#[tokio::test]
async fn a_peer_that_is_done_is_not_waited_for_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let lines = || lines_in(folder.path());
    let moment = Duration::from_millis(200);
    let first = lines().await;
    for peer in [1, 2] {
        first.send(peer, b"sent".to_vec()).unwrap();
        assert!(first.deliver(peer, 0, b"received".to_vec()).await);
    }
    assert_eq!(first.delivered(moment).await, Some(1));
    assert!(first.seen(1, 1));
    // It has everything, but does not know that this site has.
    assert_eq!(first.delivered(moment).await, Some(1));
    first.told(1, 1);
    assert_eq!(first.delivered(moment).await, Some(2));
    drop(first);

    let again = lines().await;
    assert_eq!(again.delivered(moment).await, Some(2));
    again.over(2);
    assert_eq!(again.delivered(moment).await, None);
}

/// A peer cannot say that it has what was not sent; what it had before a power cut here it may.
#[tokio::test]
async fn a_peer_has_only_what_was_sent() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    lines.send(1, b"sent".to_vec()).unwrap();
    assert!(!lines.seen(1, 2));
    assert!(!lines.seen(1, u64::MAX));
    assert_eq!(lines.delivered(Duration::from_millis(1)).await, Some(1));
    assert!(lines.seen(1, 1));
    lines.connected(1, 5, true).unwrap();
    assert!(lines.seen(1, 5));
    assert!(!lines.seen(1, 6));
}

/// One that the second of a pair dialed is of no use where there is one, the first's takes over.
#[tokio::test]
async fn of_two_connections_of_a_pair_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    let (_, mut second) = lines.connected(1, 0, false).unwrap();
    assert!(lines.connected(1, 0, false).is_none());
    assert!(
        second
            .try_recv()
            .is_err_and(|error| error == TryRecvError::Empty)
    );
    let (number, mut first) = lines.connected(1, 0, true).unwrap();
    assert!(
        second
            .try_recv()
            .is_err_and(|error| error == TryRecvError::Closed)
    );
    assert!(lines.connected(1, 0, false).is_none());
    assert!(
        first
            .try_recv()
            .is_err_and(|error| error == TryRecvError::Empty)
    );
    lines.disconnected(1, number, String::from("it hung up"));
    assert!(lines.connected(1, 0, false).is_some());
}

/// Neither with frames of a few bytes, nor with each restart of this site.
#[tokio::test]
async fn a_peer_is_not_ahead_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    let mut sent = 0;
    while !lines.is_far_ahead(1) {
        assert!(lines.deliver(1, sent, [7; 1 << 18].to_vec()).await);
        sent += 1;
        assert!(sent < 300);
    }
    drop(lines);
    let again = lines_in(folder.path()).await;
    assert!(again.is_far_ahead(1));
    assert!(!again.is_far_ahead(2));
    // What was here is taken; then the peer may be ahead again.
    for _ in 0..sent {
        assert!(again.is_far_ahead(1));
        let frame = std::future::poll_fn(|context| again.poll_receive(1, context));
        assert_eq!(frame.await.unwrap().len(), 1 << 18);
    }
    assert!(!again.is_far_ahead(1));
    // Of the shortest frames there are not more than fit into the same.
    again.lock().peers[1].ahead = MOST_AHEAD - 3 * OF_A_FRAME;
    for number in sent..sent + 3 {
        assert!(!again.is_far_ahead(1));
        assert!(again.deliver(1, number, b"".to_vec()).await);
    }
    assert!(again.is_far_ahead(1));
}

/// A connection that ends while a frame is written loses nothing, and the next one that brings the
/// same frame is no mistake.
#[tokio::test]
async fn a_frame_is_kept_once_whoever_brings_it() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    for number in 0..20 {
        {
            let mut cut_off = pin!(lines.deliver(1, number, vec![7]));
            let polled =
                std::future::poll_fn(|context| Poll::Ready(cut_off.as_mut().poll(context)));
            let _ = polled.await;
        }
        let (one, other) = tokio::join!(
            lines.deliver(1, number, vec![7]),
            lines.deliver(1, number, vec![7])
        );
        assert!(one && other);
        assert_eq!(lines.due(1), number + 1);
    }
    assert_eq!(lines.failure(), None);
    assert!(!lines.deliver(1, 21, vec![7]).await);
    for _ in 0..20 {
        let frame = std::future::poll_fn(|context| lines.poll_receive(1, context));
        assert_eq!(frame.await.unwrap(), [7]);
    }
}

/// What cannot be kept is neither sent nor used, and ends the run at once, for whoever sends and
/// whoever waits.
#[tokio::test]
async fn a_journal_that_cannot_be_written_ends_the_run() {
    let break_it = async |lines: &Shared| {
        let broken = lines.journal.ask(|tables| {
            tables.refuse_writes();
            Ok(())
        });
        broken.await.unwrap();
    };
    let is_journal = |lines: &Shared| matches!(lines.failure(), Some(LineError::Journal(_)));

    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    lines.send(1, b"sent".to_vec()).unwrap();
    break_it(&lines).await;
    assert!(lines.send(1, b"more".to_vec()).is_err());
    assert!(is_journal(&lines));
    // What was kept before may still be said; what was not is not.
    assert!(matches!(lines.to_say(1, 0, 0).await, Saying::Frame(_)));
    assert!(matches!(lines.to_say(1, 1, 0).await, Saying::Nothing));

    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    break_it(&lines).await;
    let frame = std::future::poll_fn(|context| lines.poll_receive(1, context));
    let (frame, delivered) = tokio::join!(frame, lines.deliver(1, 0, b"received".to_vec()));
    assert!(frame.is_err() && delivered);
    assert!(is_journal(&lines));
    assert_eq!(lines.due(1), 0);
}
