//! The node as its neighbours see it: agreements, rules, lines, journals, sources.

// Tests fail by panicking, and say why they were skipped.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod accept;
mod agreement;
mod attacks;
mod audit;
mod flood;
mod impostor;
mod memory;
mod postgres;
mod proxy;
mod run;
mod server;
mod versions;
mod world;

use std::path::Path;

use hedgerow_node::identity::Secret;

/// The secret of a test's site.
fn secret(site: u8) -> Secret {
    Secret::from_bytes(&[site + 1; 32])
}

/// A study of these sites, with a taxonomy beside it.
fn write_study(folder: &Path, sites: &[&str]) {
    let mut text = String::from("[study]\nname = \"small\"\npartition = \"horizontal\"\n");
    for (place, name) in sites.iter().enumerate() {
        let key = secret(place as u8).public();
        text.push_str(&format!(
            "[[site]]\nname = \"{name}\"\naddress = \"127.0.0.1:{}\"\nkey = \"{key}\"\n",
            7401 + place
        ));
    }
    text.push_str(
        r#"[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
[[attribute]]
name = "zip"
role = "quasi"
taxonomy = "zip.csv"
[[attribute]]
name = "disease"
role = "sensitive"
values = ["flu", "ulcer", "asthma"]
[require]
k = 3
l = 2
"#,
    );
    if sites.len() > 2 {
        text.push_str("m = 0\n");
    }
    std::fs::write(folder.join("study.toml"), text).unwrap();
    std::fs::write(folder.join("zip.csv"), "101;1**;*\n102;1**;*\n201;2**;*\n").unwrap();
}
