//! Nothing raw leaves a site: every frame of every site before it is encrypted, and everything that
//! its process says, searched for its rows in every encoding there is.

use std::path::Path;
use std::time::{Duration, Instant};

use hedgerow_data::files::{Others, read_table};
use hedgerow_data::{Role, Study};
use hedgerow_node::identity::Secret;
use hedgerow_node::journal::Journal;

use super::{SITES, Shape, Site, USUAL, prepared, progress, simulate, start_all};

/// What a row could look like, and in which encoding.
pub(super) type Form = (&'static str, Vec<u8>);

/// LEB128, as postcard writes numbers.
fn varint(number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = number;
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

/// Codes, one after the other, in every encoding of numbers.
pub(super) fn number_forms(codes: &[u32]) -> Vec<Form> {
    // What is mostly zeros is everywhere.
    if codes.iter().filter(|code| **code > 0).count() < 5 {
        return Vec::new();
    }
    let all = |encode: fn(u32) -> Vec<u8>| codes.iter().flat_map(|code| encode(*code)).collect();
    vec![
        ("u8", all(|code| vec![code as u8])),
        (
            "u16, little end first",
            all(|code| (code as u16).to_le_bytes().to_vec()),
        ),
        (
            "u16, big end first",
            all(|code| (code as u16).to_be_bytes().to_vec()),
        ),
        (
            "u32, little end first",
            all(|code| code.to_le_bytes().to_vec()),
        ),
        (
            "u32, big end first",
            all(|code| code.to_be_bytes().to_vec()),
        ),
        (
            "u64, little end first",
            all(|code| u64::from(code).to_le_bytes().to_vec()),
        ),
        (
            "u64, big end first",
            all(|code| u64::from(code).to_be_bytes().to_vec()),
        ),
        ("varint", all(|code| varint(u64::from(code)))),
    ]
}

/// Words, one after the other, in every encoding of text.
pub(super) fn text_forms(words: &[&str]) -> Vec<Form> {
    let mut forms: Vec<Form> = [",", ";", "\t", "\0", "", "|", " ", ", ", "\",\""]
        .iter()
        .map(|separator| ("text", words.join(separator).into_bytes()))
        .collect();
    let postcard = words.iter().flat_map(|word| {
        let mut bytes = varint(word.len() as u64);
        bytes.extend(word.bytes());
        bytes
    });
    forms.push(("text with lengths", postcard.collect()));
    forms
}

/// What a site's rows and columns could look like on a line.
fn raw_forms(folder: &Path, site: &str) -> Vec<Form> {
    let study = Study::open(&folder.join("c/study.toml")).unwrap();
    let rows = folder.join(format!("c/{site}.csv"));
    let table = read_table(&rows, &study.schema, &Others::Refuse, &()).unwrap();
    let quasi = study.schema.with_role(Role::Quasi);
    let mut forms: Vec<Form> = Vec::new();
    for row in 0..table.rows() {
        let code = |position: &usize| table.codes(*position).unwrap().get(row);
        forms.extend(number_forms(&quasi.iter().map(code).collect::<Vec<u32>>()));
    }
    for position in 0..study.schema.attributes().len() {
        if let Some(codes) = table.codes(position) {
            let beginning: Vec<u32> = codes.iter().take(24).collect();
            forms.extend(number_forms(&beginning));
        }
    }
    let text = std::fs::read_to_string(rows).unwrap();
    for line in text.lines().skip(1) {
        let words: Vec<&str> = line.split(',').collect();
        let (person, values) = words.split_last().unwrap();
        let (_, quasi) = values.split_last().unwrap();
        forms.extend(text_forms(quasi));
        forms.push(("identifier", person.as_bytes().to_vec()));
        forms.push(("identifier", person.to_lowercase().into_bytes()));
    }
    forms
}

/// The first form that is in the bytes.
pub(super) fn leak<'a>(bytes: &[u8], forms: &'a [Form]) -> Option<&'a Form> {
    let mut forms = forms.iter();
    forms.find(|(_, form)| memchr::memmem::find(bytes, form).is_some())
}

/// All frames of a site that its peers have received, one after the other, as the peers open them.
pub(super) fn sent(folder: &Path, names: &[&str], site: &str) -> Vec<u8> {
    let place = names.iter().position(|name| *name == site).unwrap();
    let peers = names.iter().filter(|name| **name != site);
    let frames = peers.flat_map(|peer| {
        let data = folder.join(format!("{peer}-data"));
        let entry = &Journal::look(&data).unwrap()[0];
        let run = (entry.study, entry.number);
        let secret = Secret::open(&folder.join(format!("{peer}.key"))).unwrap();
        let journal = Journal::open(&data).unwrap();
        journal.received(run, &secret, place as u16).unwrap()
    });
    frames.flatten().collect()
}

/// Runs a study to the signatures and not to its end, where the journal would forget.
pub(super) fn run_to_the_seals(path: &Path, names: &[&str], messages: u64) -> Vec<Site> {
    let mut running = start_all(path, names, 0);
    let seals = (names.len() * (names.len() - 1)) as u64;
    let expected = messages + seals;
    let started = Instant::now();
    for name in names {
        // Something comes to lie where the release should: everything is said by then.
        while progress(path, name).1 == 0 {
            assert!(started.elapsed() < Duration::from_secs(100));
            std::thread::sleep(Duration::from_millis(1));
        }
        std::fs::create_dir(path.join(format!("{name}-data/release-1"))).unwrap();
    }
    let received = |name: &&str| -> u64 {
        let entries = Journal::look(&path.join(format!("{name}-data"))).unwrap();
        entries[0].frames.iter().map(|frames| frames.2).sum()
    };
    // What is received is whole once everybody has the others' seals.
    while names.iter().map(|name| progress(path, name).1).sum::<u64>() < expected
        || names.iter().map(received).sum::<u64>() < expected
    {
        let said: Vec<String> = running.iter().map(Site::said).collect();
        assert!(started.elapsed() < Duration::from_secs(100), "{said:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    // The one that finds the release in its way says so; nobody waits for the others.
    while !running
        .iter_mut()
        .any(|site| site.child.try_wait().unwrap().is_some())
    {
        assert!(started.elapsed() < Duration::from_secs(100));
        std::thread::sleep(Duration::from_millis(20));
    }
    for site in &mut running {
        let _ = site.child.kill();
        site.child.wait().unwrap();
    }
    running
}

fn nothing_leaks(shape: &Shape) {
    let folder = prepared(shape);
    let path = folder.path();
    let cost = &simulate(path, &SITES)["cost"];
    let running = run_to_the_seals(path, &SITES, cost["messages"].as_u64().unwrap());
    let mut all = Vec::new();
    for (name, site) in SITES.iter().zip(&running) {
        let forms = raw_forms(path, name);
        let frames = sent(path, &SITES, name);
        assert_eq!(leak(&frames, &forms), None, "in the frames of {name}");
        let mut said = site.said().into_bytes();
        said.extend(std::fs::read(path.join(format!("{name}-0.out"))).unwrap());
        assert!(!said.is_empty());
        assert_eq!(leak(&said, &forms), None, "in what {name} says");
        // The search finds a row that is there.
        let rows = std::fs::read(path.join(format!("c/{name}.csv"))).unwrap();
        assert!(leak(&rows, &forms).is_some());
        all.extend(frames);
    }
    assert!(all.len() as u64 >= cost["bytes"].as_u64().unwrap());
}

const WITH_NAMES: Shape = Shape {
    rows: 300,
    has_names: true,
    ..USUAL
};

#[test]
fn nothing_raw_leaves_a_site_at_the_hardened_level() {
    nothing_leaks(&WITH_NAMES);
}

#[test]
fn nothing_raw_leaves_a_site_at_the_published_level() {
    nothing_leaks(&Shape {
        security: "published",
        ..WITH_NAMES
    });
}

#[test]
fn nothing_raw_leaves_a_site_that_is_aware_of_providers() {
    nothing_leaks(&Shape {
        require: "k = 10\nl = 2\nm = 1",
        algorithm: "name = \"provider-aware\"",
        ..WITH_NAMES
    });
}

#[test]
fn nothing_raw_leaves_a_site_that_clusters() {
    nothing_leaks(&Shape {
        algorithm: "name = \"clustering\"",
        ..WITH_NAMES
    });
}

/// The search finds what is planted, in every encoding and at every place.
#[test]
fn a_planted_leak_is_found() {
    let folder = prepared(&Shape {
        rows: 60,
        ..WITH_NAMES
    });
    let forms = raw_forms(folder.path(), "north");
    let mut noise = vec![0; 4096];
    blake3::Hasher::new().finalize_xof().fill(&mut noise);
    assert_eq!(leak(&noise, &forms), None);
    let mut kinds: Vec<&str> = forms.iter().map(|(kind, _)| *kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 8 + 2 + 1);
    for (number, (kind, form)) in forms.iter().enumerate() {
        let mut planted = noise.clone();
        let place = number * 7 % (noise.len() - form.len());
        planted[place..place + form.len()].copy_from_slice(form);
        assert!(leak(&planted, &forms).is_some(), "{kind}");
    }
}
