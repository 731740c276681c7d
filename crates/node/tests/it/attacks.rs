//! Strangers and peers that do what they should not: refused with a reason, and the run goes on.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::impostor::{acceptor, connect, connector, framed, hear, hello, hello_to};
use super::world::{Odd, World, run_test};

/// A world of two in which site 1 waits for a peer that the test plays.
pub(super) fn waiting() -> Arc<World> {
    let mut world = World::new(2);
    world.limits.patience = Duration::from_secs(3);
    world.limits.handshake = Duration::from_secs(1);
    Arc::new(world)
}

#[test]
fn a_stranger_is_told_nothing() {
    run_test(async {
        let world = waiting();
        let site = tokio::spawn(Arc::clone(&world).live(1));
        let address = &world.listening[1];
        // No certificate, and one of a key that is not in the study, though self-signed well.
        for stranger in [connector(None, |_| {}), connector(Some(50), |_| {})] {
            assert_eq!(hear(address, &stranger, &hello(0, [9; 32])).await, b"");
        }
        // A plaintext client gets a TLS alert at most.
        for say in [
            &b"GET / HTTP/1.1\r\n\r\n"[..],
            &[0; 200],
            &hello(0, [9; 32]),
        ] {
            let mut socket = connect(address).await;
            let _ = socket.write_all(say).await;
            let mut heard = Vec::new();
            let _ = socket.read_to_end(&mut heard).await;
            assert!(heard.len() <= 7, "{heard:?}");
        }
        world.until_said(1, "TurnedAway", 5).await;
        assert!(
            site.await
                .unwrap()
                .unwrap_err()
                .contains("`s0` has been gone")
        );
    });
}

/// First words of 16 MB are not gathered until they are whole.
#[test]
fn a_stranger_cannot_fill_the_memory() {
    run_test(async {
        let mut world = World::new(2);
        world.limits.handshake = Duration::from_secs(100);
        let world = Arc::new(world);
        let site = tokio::spawn(Arc::clone(&world).live(1));
        let mut socket = connect(&world.listening[1]).await;
        let mut record = vec![22, 3, 1, 0x40, 0];
        record.resize(5 + 0x4000, 7);
        let mut first = record.clone();
        // A ClientHello that says how long it is.
        first[5..9].copy_from_slice(&[1, 255, 255, 255]);
        let mut written = 0;
        let mut next = &first;
        while written < 16 << 20 && socket.write_all(next).await.is_ok() {
            written += next.len();
            next = &record;
        }
        assert!(written < 16 << 20, "{written}");
        world.until_said(1, "TurnedAway", 1).await;
        site.abort();
    });
}

/// What a site whose clock is wrong shows: dates long gone, or yet to come.
fn of_another_day(is_early: bool) -> impl Fn(&mut rcgen::CertificateParams) {
    move |parameters| {
        let year = if is_early { 3000 } else { 1999 };
        parameters.not_before = rcgen::date_time_ymd(year, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(year, 1, 3);
    }
}

#[test]
fn a_caller_whose_clock_is_wrong_is_told_so() {
    run_test(async {
        let world = waiting();
        let site = tokio::spawn(Arc::clone(&world).live(1));
        for (times, is_early) in [(1, false), (2, true)] {
            let caller = connector(Some(0), of_another_day(is_early));
            let name = ServerName::try_from("hedgerow").unwrap();
            let socket = connect(&world.listening[1]).await;
            let mut stream = caller.connect(name, socket).await.unwrap();
            let _ = stream.write_all(&hello(0, [9; 32])).await;
            let alert = stream.read_to_end(&mut Vec::new()).await.unwrap_err();
            assert!(alert.to_string().contains("CertificateExpired"), "{alert}");
            world.until_said(1, "its clock is wrong", times).await;
        }
        site.abort();
    });
}

#[test]
fn a_site_that_is_called_and_whose_clock_is_wrong_is_named_on_both_ends() {
    for is_early in [false, true] {
        run_test(async move {
            let mut world = World::new(2);
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            world.ways[0][1] = listener.local_addr().unwrap().to_string();
            world.limits.patience = Duration::from_secs(1);
            let world = Arc::new(world);
            let called = acceptor(1, of_another_day(is_early), false);
            let refused = tokio::spawn(async move {
                let (socket, _) = listener.accept().await.unwrap();
                called.accept(socket).await.unwrap_err().to_string()
            });
            let error = Arc::clone(&world).live(0).await.unwrap_err();
            assert!(error.contains("`s1` has been gone"), "{error}");
            assert!(world.said(0).contains("its clock is wrong"));
            let alert = refused.await.unwrap();
            assert!(alert.contains("CertificateExpired"), "{alert}");
        });
    }
}

/// What this site says when the other end finds its clock wrong.
#[test]
fn a_site_hears_that_its_own_clock_may_be_wrong() {
    run_test(async {
        let mut world = World::new(2);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        world.ways[0][1] = listener.local_addr().unwrap().to_string();
        world.limits.patience = Duration::from_secs(1);
        let world = Arc::new(world);
        let called = acceptor(1, |_| {}, true);
        tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let _ = called.accept(socket).await;
            }
        });
        Arc::clone(&world).live(0).await.unwrap_err();
        let words = "takes this site's certificate for one of another day";
        assert!(world.said(0).contains(words), "{}", world.said(0));
    });
}

#[test]
fn names_in_a_certificate_mean_nothing_the_key_does() {
    run_test(async {
        let world = waiting();
        let site = tokio::spawn(Arc::clone(&world).live(1));
        let named = connector(Some(0), |parameters| {
            parameters
                .distinguished_name
                .push(rcgen::DnType::CommonName, "s1");
        });
        // Its key is that of site 0, so it is heard: it has another study, and is told so.
        let heard = hear(&world.listening[1], &named, &hello(0, [8; 32])).await;
        assert_eq!(heard, framed(&[1, 1]));
        world.until_said(1, "different studies", 1).await;
        // The right names under another key are not.
        let named = connector(Some(50), |parameters| {
            parameters
                .distinguished_name
                .push(rcgen::DnType::CommonName, "s0");
        });
        assert_eq!(
            hear(&world.listening[1], &named, &hello(0, [9; 32])).await,
            b""
        );
        site.abort();
    });
}

#[test]
fn a_peer_that_does_not_fit_gets_the_reason() {
    run_test(async {
        let world = waiting();
        let site = tokio::spawn(Arc::clone(&world).live(1));
        let peer = connector(Some(0), |_| {});
        let address = &world.listening[1];
        let cases = [
            (hello(0, [8; 32]), 1, "different studies"),
            (hello(5, [9; 32]), 3, "not the one that its key has"),
            (framed(b"nonsense"), 4, "no greeting"),
            (framed(&[]), 4, "no greeting"),
            // 4 GB of greeting.
            (vec![255; 4], 4, "no greeting"),
        ];
        for (say, reason, words) in cases {
            assert_eq!(hear(address, &peer, &say).await, framed(&[1, reason]));
            world.until_said(1, words, 1).await;
        }
        site.abort();
    });
}

#[test]
fn a_peer_that_goes_wrong_after_the_greeting_loses_its_connection_only() {
    run_test(async {
        let world = waiting();
        let site = tokio::spawn(Arc::clone(&world).live(1));
        let peer = connector(Some(0), |_| {});
        let frame = |number: u64| {
            let mut body = vec![2];
            body.extend(number.to_le_bytes());
            body.extend([0; 40]);
            framed(&body)
        };
        let seen = |next: u64| framed(&[&[3][..], &next.to_le_bytes()].concat());
        let cases = [
            // 4 GB, a frame out of order, one of no bytes, frames that were never sent, a second
            // greeting, an unknown kind.
            (vec![255; 4], "4294967295 bytes"),
            (frame(5), "it left out frames"),
            (framed(&frame(0)[4..13]), "shorter than any"),
            (seen(1 << 40), "frames that were not sent"),
            (seen(u64::MAX), "frames that were not sent"),
            (hello(0, [9; 32]), "out of place"),
            (framed(&[77]), "unknown kind 77"),
        ];
        for (wrong, words) in cases {
            let say = [hello(0, [9; 32]), wrong].concat();
            let times = world.said(1).matches(words).count();
            let heard = hear(&world.listening[1], &peer, &say).await;
            assert!(!heard.is_empty());
            world.until_said(1, words, times + 1).await;
        }
        // Nonsense in a frame's place ends the run with the peer's name, not with a panic.
        let say = [hello(0, [9; 32]), frame(0)].concat();
        tokio::spawn({
            let (world, peer) = (Arc::clone(&world), peer.clone());
            async move { hear(&world.listening[1], &peer, &say).await }
        });
        let error = site.await.unwrap().unwrap_err();
        assert!(error.contains("`s0`"), "{error}");
    });
}

/// A peer that says it has everything already is sent nothing, and is not waited for without end.
#[test]
fn a_peer_that_expects_a_frame_that_will_never_be_is_named_in_time() {
    for next in [1 << 40, u64::MAX] {
        run_test(async move {
            let mut world = World::new(2);
            world.limits.silence = Duration::from_secs(2);
            let world = Arc::new(world);
            let site = tokio::spawn(Arc::clone(&world).live(1));
            let peer = connector(Some(0), |_| {});
            let name = ServerName::try_from("hedgerow").unwrap();
            let socket = connect(&world.listening[1]).await;
            let mut stream = peer.connect(name, socket).await.unwrap();
            let greeting = hello_to(1, 0, [9; 32], next);
            stream.write_all(&greeting).await.unwrap();
            world.until_said(1, "Connected", 1).await;
            let error = site.await.unwrap().unwrap_err();
            assert!(
                error.contains("`s0` connects but has sent nothing"),
                "{error}"
            );
        });
    }
}

/// Neither gone for long nor there for long, so that each limit by itself is never reached.
#[test]
fn a_peer_that_comes_and_goes_and_says_nothing_is_named_in_time() {
    run_test(async {
        let mut world = World::new(2);
        world.limits.silence = Duration::from_secs(1);
        let world = Arc::new(world);
        let site = tokio::spawn(Arc::clone(&world).live(1));
        let peer = connector(Some(0), |_| {});
        let address = world.listening[1].clone();
        let flapping = tokio::spawn(async move {
            loop {
                let name = ServerName::try_from("hedgerow").unwrap();
                let socket = connect(&address).await;
                let Ok(mut stream) = peer.connect(name, socket).await else {
                    continue;
                };
                let _ = stream.write_all(&hello(0, [9; 32])).await;
                tokio::time::sleep(Duration::from_millis(300)).await;
            }
        });
        let error = site.await.unwrap().unwrap_err();
        assert!(
            error.contains("`s0` connects but has sent nothing"),
            "{error}"
        );
        flapping.abort();
    });
}

/// It greets well and hangs up, each time: it is called, and spoken of, less and less often.
#[test]
fn a_peer_that_hangs_up_after_each_greeting_is_called_less_and_less() {
    run_test(async {
        let mut world = World::new(2);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        world.ways[0][1] = listener.local_addr().unwrap().to_string();
        world.limits.longest_pause = Duration::from_secs(60);
        let world = Arc::new(world);
        let called = acceptor(1, |_| {}, false);
        tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let mut stream = called.accept(socket).await.unwrap();
                let _ = stream.read(&mut [0; 1024]).await;
                let greeting = hello_to(0, 1, [9; 32], 0);
                stream.write_all(&greeting).await.unwrap();
                let _ = stream.shutdown().await;
            }
        });
        let site = tokio::spawn(Arc::clone(&world).live(0));
        world.until_said(0, "Connected", 3).await;
        tokio::time::sleep(Duration::from_secs(5)).await;
        // Pauses of 20 ms, 40 ms and so on: ten in 20 s.
        let times = world.said(0).matches("Connected").count();
        assert!((3..=16).contains(&times), "{times}");
        site.abort();
    });
}

/// Of a pair the second dials where the first cannot.
#[test]
fn a_run_completes_where_only_the_second_of_a_pair_can_call() {
    run_test(async {
        let mut world = World::new(3);
        // Nobody listens there, and nothing comes back.
        let blocked = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let nowhere = blocked.local_addr().unwrap().to_string();
        world.ways[0][1].clone_from(&nowhere);
        world.ways[0][2].clone_from(&nowhere);
        world.ways[1][2] = nowhere;
        let world = Arc::new(world);
        let expected = world.in_memory();
        let lives = (0..3).map(|place| tokio::spawn(Arc::clone(&world).live(place)));
        let lives: Vec<_> = lives.collect();
        for (life, expected) in lives.into_iter().zip(expected) {
            assert_eq!(life.await.unwrap().unwrap().0, expected);
        }
    });
}

#[test]
fn another_key_another_study_another_run_are_named_on_both_ends() {
    let none = Odd::none(1);
    let cases = [
        (
            Odd { key: 60, ..none },
            "its key is not the one that the study has",
            "it does not take this site's key",
        ),
        (
            Odd {
                study: [1; 32],
                ..none
            },
            "different studies",
            "different studies",
        ),
        (
            Odd { number: 2, ..none },
            "different runs",
            "different runs",
        ),
    ];
    for (odd, at_dialer, at_listener) in cases {
        run_test(async move {
            let mut world = World::new(2);
            world.limits.patience = Duration::from_secs(1);
            let world = Arc::new(world);
            let other = tokio::spawn(Arc::clone(&world).live_oddly(1, odd));
            let error = Arc::clone(&world).live(0).await.unwrap_err();
            assert!(error.contains("`s1` has been gone"), "{error}");
            assert!(error.contains(at_dialer), "{error}");
            assert!(other.await.unwrap().is_err());
            assert!(world.said(1).contains(at_listener), "{}", world.said(1));
        });
    }
}

#[test]
fn a_caller_with_another_key_is_named_on_both_ends() {
    run_test(async {
        let mut world = World::new(2);
        world.limits.patience = Duration::from_secs(1);
        let world = Arc::new(world);
        let listener = tokio::spawn(Arc::clone(&world).live(1));
        let odd = Odd {
            key: 60,
            ..Odd::none(0)
        };
        let error = Arc::clone(&world).live_oddly(0, odd).await.unwrap_err();
        assert!(error.contains("does not take this site's key"), "{error}");
        let error = listener.await.unwrap().unwrap_err();
        assert!(error.contains("`s0` has been gone"), "{error}");
        let words = "its key is not the one that the study has";
        world.until_said(1, words, 1).await;
    });
}

#[test]
fn a_recorded_handshake_is_worth_nothing() {
    run_test(async {
        let mut world = World::new(2);
        // Site 0 finds site 1 behind somebody who writes everything down.
        let tap = TcpListener::bind("127.0.0.1:0").await.unwrap();
        world.ways[0][1] = tap.local_addr().unwrap().to_string();
        world.limits.handshake = Duration::from_secs(1);
        let world = Arc::new(world);
        let recorded = Arc::new(Mutex::new(Vec::new()));
        let (notes, target) = (Arc::clone(&recorded), world.listening[1].clone());
        tokio::spawn(async move {
            loop {
                let (caller, _) = tap.accept().await.unwrap();
                let called = connect(&target).await;
                let (mut from_caller, mut to_caller) = caller.into_split();
                let (mut from_called, mut to_called) = called.into_split();
                tokio::spawn(
                    async move { tokio::io::copy(&mut from_called, &mut to_caller).await },
                );
                let mut buffer = [0; 4096];
                while let Ok(read @ 1..) = from_caller.read(&mut buffer).await {
                    notes.lock().unwrap().extend_from_slice(&buffer[..read]);
                    if to_called.write_all(&buffer[..read]).await.is_err() {
                        break;
                    }
                }
            }
        });
        let lives = (0..2).map(|place| tokio::spawn(Arc::clone(&world).live(place)));
        for life in lives.collect::<Vec<_>>() {
            life.await.unwrap().unwrap();
        }
        let recorded = recorded.lock().unwrap().clone();
        assert!(recorded.len() > 1000);

        let again = waiting();
        let site = tokio::spawn(Arc::clone(&again).live(1));
        let mut socket = connect(&again.listening[1]).await;
        let _ = socket.write_all(&recorded).await;
        let mut heard = Vec::new();
        let _ = socket.read_to_end(&mut heard).await;
        again.until_said(1, "TurnedAway", 1).await;
        assert!(!again.said(1).contains("Connected {"));
        site.abort();
    });
}

#[test]
fn a_peer_cannot_fill_the_disk() {
    run_test(async {
        let mut world = World::new(3);
        world.limits.patience = Duration::from_secs(8);
        let world = Arc::new(world);
        // It waits for site 0, which is not there, while site 1 sends without end.
        let site = tokio::spawn(Arc::clone(&world).live(2));
        let peer = connector(Some(1), |_| {});
        let name = ServerName::try_from("hedgerow").unwrap();
        let socket = connect(&world.listening[2]).await;
        let mut stream = peer.connect(name, socket).await.unwrap();
        let greeting = hello_to(2, 1, [9; 32], 0);
        stream.write_all(&greeting).await.unwrap();
        let mut written = 0;
        for number in 0u64..400 {
            let mut body = vec![2];
            body.extend(number.to_le_bytes());
            body.resize(1 << 20, 7);
            let frame = framed(&body);
            let send = stream.write_all(&frame);
            let Ok(sent) = tokio::time::timeout(Duration::from_secs(2), send).await else {
                break;
            };
            sent.unwrap();
            written += frame.len();
        }
        // 64 MiB, and what the line itself holds.
        assert!(written > 60 << 20, "{written}");
        assert!(written < 100 << 20, "{written}");
        let error = site.await.unwrap().unwrap_err();
        assert!(error.contains("`s0` has been gone"), "{error}");
    });
}
