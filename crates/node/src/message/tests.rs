//! Messages as they are written and read, and as other versions do.

use proptest::prelude::*;

use super::*;

const IDLE: Duration = Duration::from_secs(5);

fn message() -> impl Strategy<Value = Message> {
    let hello = (any::<[u8; 32]>(), any::<(u32, u16, u16, u64)>()).prop_map(
        |(study, (run, from, to, next))| {
            Message::Hello(Hello {
                study: StudyHash(study),
                run,
                from,
                to,
                next,
            })
        },
    );
    let reason = prop::sample::select(vec![
        Reason::OtherStudy,
        Reason::OtherRun,
        Reason::OtherSite,
        Reason::NoGreeting,
        Reason::Over,
        Reason::Begins,
        Reason::GivenUp,
        Reason::Connected,
        Reason::NoQuestions,
        Reason::NoHub,
    ]);
    let end = prop_oneof![
        any::<u16>().prop_map(End::Peer),
        Just(End::Own),
        Just(End::Unsound),
        Just(End::HeldBack),
        Just(End::Stopped),
        Just(End::GivenUp),
    ];
    prop_oneof![
        hello,
        reason.prop_map(Message::Refused),
        any::<(u64, Vec<u8>)>().prop_map(|(number, bytes)| Message::Frame { number, bytes }),
        any::<u64>().prop_map(|next| Message::Seen { next }),
        Just(Message::Alive),
        end.clone().prop_map(Message::Ended),
        (any::<([u8; 32], u32)>(), end).prop_map(|((study, run), end)| Message::Declined {
            study: StudyHash(study),
            run,
            end
        }),
        any::<([u8; 32], u16, u16)>().prop_map(|(study, from, to)| Message::Attend {
            study: StudyHash(study),
            from,
            to
        }),
        any::<([u8; 32], u16, u16, bool)>().prop_map(|(study, from, to, awaits)| Message::Relay {
            study: StudyHash(study),
            from,
            to,
            awaits
        }),
    ]
}

fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(future)
}

proptest! {
    #[test]
    fn what_is_written_is_read(message in message()) {
        prop_assert_eq!(Message::decode(message.encode()).unwrap(), message.clone());
        let mut bytes = Vec::new();
        block_on(write(&mut bytes, &message)).unwrap();
        let found = block_on(read(&mut bytes.as_slice(), LONGEST, IDLE)).unwrap();
        prop_assert_eq!(found, message);
    }

    /// There is one way to write a message, and nothing panics.
    #[test]
    fn arbitrary_bytes_never_panic(bytes in any::<Vec<u8>>()) {
        if let Ok(message) = Message::decode(bytes.clone()) {
            prop_assert_eq!(message.encode(), bytes.clone());
        }
        let _ = block_on(read(&mut bytes.as_slice(), LONGEST_GREETING, IDLE));
    }

    #[test]
    fn a_cut_message_is_no_message(message in message(), cut in any::<prop::sample::Index>()) {
        let mut bytes = Vec::new();
        block_on(write(&mut bytes, &message)).unwrap();
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(block_on(read(&mut bytes.as_slice(), LONGEST, IDLE)).is_err());
    }
}

#[test]
fn a_length_of_4_gb_is_refused_before_anything_is_allocated() {
    let bytes = u32::MAX.to_le_bytes();
    let error = block_on(read(&mut bytes.as_slice(), LONGEST, IDLE)).unwrap_err();
    assert!(
        matches!(error, ReadError::Message(MessageError::TooLong { .. })),
        "{error}"
    );
}

proptest! {
    /// Whatever another version says first, of whatever kind and length, its version is heard.
    #[test]
    fn another_version_is_told_apart_from_nonsense(
        kind in any::<u8>().prop_filter("a frame", |kind| *kind != 2),
        language in any::<u8>(),
        frames in any::<u8>(),
        rest in prop::collection::vec(any::<u8>(), 0..LONGEST_GREETING - 11),
    ) {
        let version = Version { language, frames };
        prop_assume!(version != VERSION);
        let mut bytes = vec![kind];
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&[language, frames]);
        bytes.extend_from_slice(&rest);
        let other = MessageError::OtherVersion(version);
        prop_assert_eq!(Message::decode(bytes.clone()), Err(other));
        let mut line = (bytes.len() as u32).to_le_bytes().to_vec();
        line.extend(bytes);
        let found = block_on(read(&mut line.as_slice(), LONGEST_GREETING, IDLE));
        prop_assert!(matches!(found, Err(ReadError::Message(error)) if error == other));
    }
}

/// The two versions that met are named at both ends, however the other one refuses.
#[test]
fn a_refusal_for_its_version_says_this_sites_own() {
    let later = Version {
        language: 9,
        frames: 4,
    };
    let said = Message::Refused(Reason::OtherVersion(later)).encode();
    // What the first version reads: eight letters, then another number than its own.
    assert_eq!(said[..9], *b"\0hedgerow");
    assert_eq!(said[9..], [VERSION.language, VERSION.frames]);
    // And how it refuses.
    let error = Message::decode(vec![1, 0]).unwrap_err();
    assert_eq!(error, MessageError::OtherVersion(FIRST));
    let words = Reason::OtherVersion(later).to_string();
    assert!(words.contains(&format!("version {VERSION} ")), "{words}");
    assert!(words.contains("the other 9.4;"), "{words}");
}
