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
    let connection = lines.connected(2, 0, true).unwrap();
    lines.ended(1, End::GivenUp);
    assert!(wait(&lines, 2).await.is_err());
    lines.expire();
    assert_eq!(lines.failure(), None);
    assert!(lines.deliver(2, 0, b"received".to_vec()).await);
    assert_eq!(wait(&lines, 2).await.unwrap().unwrap(), b"received");
    assert_eq!(lines.delivered(moment).await, Some(2));
    assert!(wait(&lines, 2).await.is_err());
    lines.disconnected(2, connection.number, String::from("it hung up"));
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

/// A peer may confirm frames that an earlier connection brought while a later one has not sent them: the
/// later one goes on after them.
#[tokio::test]
async fn a_connection_goes_on_after_what_its_peer_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    for frame in [b"one", b"two"] {
        lines.send(1, frame.to_vec()).unwrap();
    }
    assert!(lines.seen(1, 2));
    assert!(matches!(lines.to_say(1, 0, 0).await, Saying::Nothing));
    lines.send(1, b"three".to_vec()).unwrap();
    let said = lines.to_say(1, 0, 0).await;
    assert!(matches!(said, Saying::Frame(2, frame) if frame == b"three"));
}

/// The frame that a connection may send at this place; `None` if there is nothing to send.
async fn said(lines: &Shared, to: u16, cursor: u64) -> Option<Vec<u8>> {
    match lines.to_say(to, cursor, u64::MAX).await {
        Saying::Frame(_, frame) => Some(frame),
        _ => None,
    }
}

/// What came is confirmed when it is on disk, and not before; and before any frame.
#[tokio::test]
async fn what_is_not_on_disk_is_not_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    lines.send(1, b"sent".to_vec()).unwrap();
    assert!(lines.deliver(1, 0, b"received".to_vec()).await);
    assert_eq!(lines.due(1), 1);
    assert!(matches!(lines.to_say(1, 0, 0).await, Saying::Frame(..)));
    assert!(matches!(lines.to_say(1, 1, 0).await, Saying::Nothing));
    lines.sync().await;
    assert!(matches!(lines.to_say(1, 0, 0).await, Saying::Seen(1)));
    // With the seal, at once.
    let durable = lines.journal.ask(|tables| tables.make_durable());
    durable.await.unwrap();
    assert!(lines.deliver(1, 1, b"received".to_vec()).await);
    assert!(matches!(lines.to_say(1, 1, 1).await, Saying::Seen(2)));
    // What is found after a restart is on disk, too.
    drop(lines);
    let again = lines_in(folder.path()).await;
    assert!(matches!(again.to_say(1, 0, 0).await, Saying::Seen(2)));
}

/// A greeting says what has come, not what is on disk.
#[tokio::test]
async fn frames_are_here_until_the_peer_confirms_them() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    for number in 0..4 {
        lines.send(1, vec![number]).unwrap();
    }
    lines.connected(1, 4, true).unwrap();
    // A power cut at the peer takes all of it.
    lines.connected(1, 0, true).unwrap();
    assert_eq!(said(&lines, 1, 0).await, Some(vec![0]));
    assert!(lines.seen(1, 2));
    lines.connected(1, 2, true).unwrap();
    assert_eq!(said(&lines, 1, 2).await, Some(vec![2]));
    assert_eq!(lines.failure(), None);
    // A greeting may be older than what was confirmed; one that comes long after is not.
    assert_eq!(lines.connected(1, 1, true).unwrap().cursor, 2);
    assert_eq!(lines.failure(), None);
    let long_ago = Instant::now() - lines.limits.handshake.saturating_mul(3);
    lines.lock().peers[1].confirmed = Some(long_ago);
    assert_eq!(lines.connected(1, 1, true).unwrap().cursor, 1);
    let lacks = LineError::Lacks {
        peer: String::from("b"),
    };
    assert_eq!(lines.failure(), Some(lacks));
    lines.end(End::Peer(1));
    assert!(matches!(
        lines.to_say(1, 1, u64::MAX).await,
        Saying::Ended(End::Peer(1))
    ));
}

/// Killed with frames that no peer has confirmed: they are made again, and are those that were sent.
#[tokio::test]
async fn frames_that_are_made_again_are_those_that_were_sent() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    for number in 0..3 {
        lines.send(1, vec![number; 2]).unwrap();
    }
    drop(lines);
    let again = lines_in(folder.path()).await;
    // Nothing is here before it is made.
    assert_eq!(said(&again, 1, 0).await, None);
    again.send(1, vec![0; 2]).unwrap();
    assert_eq!(said(&again, 1, 0).await, Some(vec![0; 2]));
    again.send(1, vec![1; 2]).unwrap();
    assert!(again.send(1, vec![9; 2]).is_err());
    let diverged = LineError::Diverged {
        peer: String::from("b"),
        number: 2,
    };
    assert_eq!(again.failure(), Some(diverged));
    assert_eq!(said(&again, 1, 2).await, None);
}

/// What a peer has confirmed is not kept for it after a restart.
#[tokio::test]
async fn what_a_peer_has_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    let frame = |number: u8| vec![number; 1 << 19];
    for number in 0..4 {
        lines.send(1, frame(number)).unwrap();
    }
    // Less than is worth a note.
    assert!(lines.seen(1, 1));
    assert!(lines.seen(1, 3));
    drop(lines);
    let again = lines_in(folder.path()).await;
    for number in 0..4 {
        again.send(1, frame(number)).unwrap();
    }
    assert_eq!(again.lock().unseen, 1 << 19);
    assert_eq!(said(&again, 1, 3).await, Some(frame(3)));
    again.connected(1, 2, true).unwrap();
    assert!(matches!(again.failure(), Some(LineError::Lacks { .. })));
}

/// A power cut takes the end of the file: what came in it was not confirmed and comes again, and what
/// was sent in it is made again, also where the peer has it.
#[tokio::test]
async fn a_power_cut_takes_nothing_that_was_confirmed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run-1.frames");
    let lines = lines_in(folder.path()).await;
    lines.send(1, b"first".to_vec()).unwrap();
    assert!(lines.deliver(1, 0, b"confirmed".to_vec()).await);
    lines.sync().await;
    assert!(matches!(lines.to_say(1, 0, 0).await, Saying::Seen(1)));
    let synced = std::fs::metadata(&file).unwrap().len();
    assert!(lines.deliver(1, 1, b"not confirmed".to_vec()).await);
    lines.send(1, b"second".to_vec()).unwrap();
    drop(lines);
    let whole = std::fs::read(&file).unwrap();
    // Cut anywhere after what was synced, or with zeros in place of what was written.
    for cut in synced as usize..whole.len() {
        for zeros in [0, whole.len() - cut] {
            let mut left = whole[..cut].to_vec();
            left.resize(cut + zeros, 0);
            std::fs::write(&file, left).unwrap();
            let again = lines_in(folder.path()).await;
            let due = again.due(1);
            assert!((1..=2).contains(&due));
            again.connected(1, 2, true).unwrap();
            assert!(again.seen(1, 1));
            if due == 1 {
                assert!(again.deliver(1, 1, b"not confirmed".to_vec()).await);
            }
            again.send(1, b"first".to_vec()).unwrap();
            again.send(1, b"second".to_vec()).unwrap();
            assert!(again.seen(1, 2));
            assert_eq!(again.failure(), None);
            assert_eq!(again.due(1), 2);
            drop(again);
            assert_eq!(std::fs::read(&file).unwrap().len(), whole.len());
        }
    }
}

/// Memory is bounded whatever peers do; whoever sends goes on, since peers may do the same.
#[tokio::test(flavor = "multi_thread")]
async fn frames_that_no_peer_confirms_wait_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let lines = Arc::new(lines_in(folder.path()).await);
    let frame = |number: u8| vec![number; 1 << 24];
    let sender = Arc::clone(&lines);
    let sent = tokio::task::spawn_blocking(move || {
        for number in 0..11 {
            sender.send(1, frame(number)).unwrap();
        }
    });
    sent.await.unwrap();
    assert_eq!(lines.lock().unseen, 1 << 27);
    let waiting = folder.path().join("run-1.waiting");
    assert!(std::fs::metadata(&waiting).unwrap().len() > 3 << 24);
    for number in [0, 7, 8, 10] {
        assert_eq!(said(&lines, 1, number).await, Some(frame(number as u8)));
    }
    assert!(lines.seen(1, 9));
    assert_eq!(said(&lines, 1, 10).await, Some(frame(10)));
    assert!(lines.seen(1, 11));
    assert_eq!((said(&lines, 1, 10).await, lines.lock().unseen), (None, 0));
    lines.journal.ask(|_| Ok(())).await.unwrap();
    assert_eq!(std::fs::metadata(&waiting).unwrap().len(), 0);
}

/// Whoever sends waits while peers confirm, and nothing goes to disk.
#[tokio::test(flavor = "multi_thread")]
async fn who_sends_more_than_there_is_room_for_waits_for_peers_that_confirm() {
    let folder = tempfile::tempdir().unwrap();
    let lines = Arc::new(lines_in(folder.path()).await);
    let sender = Arc::clone(&lines);
    let sent = tokio::task::spawn_blocking(move || {
        for number in 0..11 {
            sender.send(1, vec![number; 1 << 24]).unwrap();
        }
    });
    let mut confirmed = 0;
    while confirmed < 11 {
        let has_more = lines.lock().peers[1].sent > confirmed;
        if has_more {
            confirmed += 1;
            assert!(lines.seen(1, confirmed));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    sent.await.unwrap();
    assert!(!folder.path().join("run-1.waiting").exists());
    assert_eq!(lines.lock().unseen, 0);
}

/// One that the second of a pair dialed is of no use where there is one, the first's takes over.
#[tokio::test]
async fn of_two_connections_of_a_pair_one_stays() {
    let folder = tempfile::tempdir().unwrap();
    let lines = lines_in(folder.path()).await;
    let mut second = lines.connected(1, 0, false).unwrap().ended;
    assert!(lines.connected(1, 0, false).is_none());
    assert!(
        second
            .try_recv()
            .is_err_and(|error| error == TryRecvError::Empty)
    );
    let Ready {
        number,
        ended: mut first,
        ..
    } = lines.connected(1, 0, true).unwrap();
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
    assert!(matches!(lines.to_say(1, 0, 0).await, Saying::Frame(..)));
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
