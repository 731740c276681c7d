//! What lines remember beyond the life of a process.

use hedgerow_smc::Seed;
use tokio::sync::oneshot::error::TryRecvError;

use super::*;
use crate::agreement::StudyHash;
use crate::identity::Secret;
use crate::journal::RunName;

/// The lines of the first of three sites.
fn lines_in(folder: &std::path::Path) -> Shared {
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
            &name,
            &Secret::from_bytes(&[1; 32]),
            Some(&Seed::new([3; 32])),
            Duration::ZERO,
        )
        .unwrap();
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let limits = Limits::with_patience(Duration::from_secs(30));
    Shared::new(0, names, journal, begun.id, limits).unwrap()
}

/// Without the one that gave the run up nobody can go on, unless it had said all that it had to.
#[tokio::test]
async fn a_peer_that_gave_the_run_up_is_named_and_not_waited_for() {
    let moment = Duration::from_millis(20);
    let given_up = Some(LineError::GivenUp {
        peer: String::from("b"),
    });
    let wait = async |lines: &Shared, from| {
        let frame = std::future::poll_fn(|context| lines.poll_receive(from, context));
        tokio::time::timeout(moment, frame).await
    };

    // What it sent before is taken; then it is waited for in vain.
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path());
    assert!(lines.deliver(1, 0, b"received"));
    lines.ended(1, End::GivenUp);
    assert_eq!(wait(&lines, 1).await.unwrap().unwrap(), b"received");
    assert!(wait(&lines, 1).await.unwrap().is_err());
    assert_eq!(lines.failure(), given_up);

    // Another that is there may have everything; one that is not has nobody to wait for.
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path());
    lines.send(1, b"sent").unwrap();
    let (connection, _end) = lines.connected(2, 0, true).unwrap();
    lines.ended(1, End::GivenUp);
    assert!(wait(&lines, 2).await.is_err());
    lines.expire();
    assert_eq!(lines.failure(), None);
    assert!(lines.deliver(2, 0, b"received"));
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
    let moment = Duration::from_millis(20);
    let first = lines();
    for peer in [1, 2] {
        first.send(peer, b"sent").unwrap();
        assert!(first.deliver(peer, 0, b"received"));
    }
    assert_eq!(first.delivered(moment).await, Some(1));
    assert!(first.seen(1, 1));
    // It has everything, but does not know that this site has.
    assert_eq!(first.delivered(moment).await, Some(1));
    first.told(1, 1);
    assert_eq!(first.delivered(moment).await, Some(2));
    drop(first);

    let again = lines();
    assert_eq!(again.delivered(moment).await, Some(2));
    again.over(2);
    assert_eq!(again.delivered(moment).await, None);
}

/// A peer cannot say that it has what was not sent; what it had before a power cut here it may.
#[tokio::test]
async fn a_peer_has_only_what_was_sent() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path());
    lines.send(1, b"sent").unwrap();
    assert!(!lines.seen(1, 2));
    assert!(!lines.seen(1, u64::MAX));
    assert_eq!(lines.delivered(Duration::from_millis(1)).await, Some(1));
    assert!(lines.seen(1, 1));
    lines.connected(1, 5, true).unwrap();
    assert!(lines.seen(1, 5));
    assert!(!lines.seen(1, 6));
}

/// One that the second of a pair dialed is of no use where there is one, the first's takes over.
#[test]
fn of_two_connections_of_a_pair_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path());
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
    let lines = lines_in(folder.path());
    let mut sent = 0;
    while !lines.is_far_ahead(1) {
        assert!(lines.deliver(1, sent, &[7; 1 << 18]));
        sent += 1;
        assert!(sent < 300);
    }
    drop(lines);
    let again = lines_in(folder.path());
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
        assert!(again.deliver(1, number, b""));
    }
    assert!(again.is_far_ahead(1));
}
