//! Sites whose versions of hedgerow do not fit: each end names both.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::attacks::waiting;
use super::impostor::{acceptor, connector, framed, hear, opening};
use super::world::{World, run_test};

/// What a site says first in a version that is not this one.
fn of_version(language: u8, frames: u8, rest: &[u8]) -> Vec<u8> {
    let mut body = opening(0);
    body.truncate(9);
    body.extend([language, frames]);
    body.extend(rest);
    framed(&body)
}

/// How both ends name the two versions that met.
fn names_both(language: u8, frames: u8) -> String {
    let own = hedgerow_smc::wire::VERSION;
    format!(
        "speaks version 4.{own} of what hedgerow says between sites, the other {language}.{frames};"
    )
}

#[test]
fn a_caller_of_another_version_is_told_this_one_and_both_are_named() {
    run_test(async {
        let world = waiting();
        let site = tokio::spawn(Arc::clone(&world).live(1));
        let peer = connector(Some(0), |_| {});
        let own = hedgerow_smc::wire::VERSION;
        // The version before this one, later ones that say more or less, and other frames.
        let cases = [
            (3, 0, &[7; 48][..]),
            (5, own, &[]),
            (9, 4, &[8; 2000]),
            (4, own + 1, &[9; 48]),
        ];
        for (language, frames, rest) in cases {
            let say = of_version(language, frames, rest);
            let heard = hear(&world.listening[1], &peer, &say).await;
            // Eight letters and a version: what every version reads.
            assert_eq!(heard, framed(&opening(0)));
            let words = names_both(language, frames);
            world.until_said(1, &words, 1).await;
        }
        // So is one that does not take its part, in words of another version.
        let mut declined = of_version(5, 1, &[5; 30]);
        declined[4] = 6;
        let heard = hear(&world.listening[1], &peer, &declined).await;
        assert_eq!(heard, framed(&opening(0)));
        world.until_said(1, &names_both(5, 1), 1).await;
        site.abort();
    });
}

#[test]
fn a_site_that_calls_one_of_another_version_names_both() {
    let cases = [
        // A later one answers with its own beginning; the one before this said no number.
        (of_version(4, 7, &[]), names_both(4, 7)),
        (framed(&[1, 0]), names_both(1, 0)),
    ];
    for (answer, words) in cases {
        run_test(async move {
            let mut world = World::new(2);
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            world.ways[0][1] = listener.local_addr().unwrap().to_string();
            world.limits.patience = Duration::from_secs(2);
            let world = Arc::new(world);
            let called = acceptor(1, |_| {}, false);
            tokio::spawn(async move {
                loop {
                    let (socket, _) = listener.accept().await.unwrap();
                    let mut stream = called.accept(socket).await.unwrap();
                    let _ = stream.read(&mut [0; 1024]).await;
                    stream.write_all(&answer).await.unwrap();
                    let _ = stream.shutdown().await;
                }
            });
            let error = Arc::clone(&world).live(0).await.unwrap_err();
            assert!(error.contains("`s1` has been gone"), "{error}");
            assert!(error.contains(&words), "{error}");
        });
    }
}
