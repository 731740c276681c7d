//! The node as its neighbours see it: agreements, rules, lines, journals, sources.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod accept;
mod agreement;
mod attacks;
mod audit;
mod flood;
mod impostor;
mod journal;
mod memory;
mod postgres;
mod proxy;
mod run;
mod star;
mod versions;
mod world;

use std::path::Path;

use hedgerow_node::identity::Secret;
use hedgerow_testing::{StudyText, ZIP_CODES};

/// The secret of a test's site.
fn secret(site: u8) -> Secret {
    Secret::from_bytes(&[site + 1; 32])
}

/// A study of these sites, with a taxonomy beside it.
fn write_study(folder: &Path, sites: &[&str]) {
    let mut study = StudyText::small().require("k = 3\nl = 2");
    for (place, name) in sites.iter().enumerate() {
        let (port, key) = (7401 + place, secret(place as u8).public());
        let lines = format!("address = \"127.0.0.1:{port}\"\nkey = \"{key}\"");
        study = study.site(name, &lines);
    }
    if sites.len() > 2 {
        study = study.require("m = 0");
    }
    std::fs::write(folder.join("study.toml"), study.to_string()).unwrap();
    std::fs::write(folder.join("zip.csv"), ZIP_CODES).unwrap();
}
