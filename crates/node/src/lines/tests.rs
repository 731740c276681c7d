//! What lines remember beyond the life of a process.

use hedgerow_smc::Seed;

use super::*;
use crate::agreement::StudyHash;
use crate::journal::RunName;

#[tokio::test]
async fn a_peer_that_is_done_is_not_waited_for_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let name = RunName {
        study: StudyHash([1; 32]),
        number: 1,
        site: 0,
        sites: 3,
        rows: [2; 32],
    };
    let lines = || {
        let journal = Arc::new(Journal::open(folder.path()).unwrap());
        let begun = journal.begin(&name, Some(&Seed::new([3; 32]))).unwrap();
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let limits = Limits::with_patience(Duration::from_secs(30));
        Shared::new(0, names, journal, begun.id, limits).unwrap()
    };
    let moment = Duration::from_millis(20);
    let first = lines();
    for peer in [1, 2] {
        first.send(peer, b"sent").unwrap();
        assert!(first.deliver(peer, 0, b"received"));
    }
    assert_eq!(first.delivered(moment).await, Some(1));
    first.seen(1, 1);
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
