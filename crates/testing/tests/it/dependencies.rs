//! The bans and sources of `deny.toml`, held against what is built: without `cargo deny`, and without a
//! network.

use std::path::Path;

use toml_edit::DocumentMut;

/// A file of the workspace.
fn read(name: &str) -> DocumentMut {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(name);
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap()
}

/// A package of `Cargo.lock`: its name, its version, and where it comes from if that is not the
/// workspace.
struct Package {
    name: String,
    version: String,
    source: Option<String>,
}

fn locked(lock: &DocumentMut) -> Vec<Package> {
    let packages = lock["package"].as_array_of_tables().unwrap().iter();
    let text = |table: &toml_edit::Table, key: &str| Some(table.get(key)?.as_str()?.to_owned());
    packages
        .map(|package| Package {
            name: text(package, "name").unwrap(),
            version: text(package, "version").unwrap(),
            source: text(package, "source"),
        })
        .collect()
}

/// Whether a ban, `name` or `name:<major`, is of a package.
fn is_of(ban: &str, package: &Package) -> bool {
    let Some((name, versions)) = ban.split_once(':') else {
        return ban == package.name;
    };
    let below = versions
        .strip_prefix('<')
        .and_then(|major| major.parse().ok());
    let below: u64 = below.unwrap_or_else(|| panic!("{ban}: expected name:<major"));
    let major = package.version.split('.').next().unwrap();
    name == package.name && major.parse::<u64>().unwrap() < below
}

#[test]
fn nothing_that_is_banned_is_built() {
    let rules = read("deny.toml");
    let bans: Vec<&str> = rules["bans"]["deny"]
        .as_array()
        .unwrap()
        .iter()
        .map(|ban| ban.as_inline_table().unwrap()["crate"].as_str().unwrap())
        .collect();
    assert!(bans.contains(&"rsa"), "{bans:?}");
    // The fuzz targets and SQL are workspaces of their own.
    for lock in ["Cargo.lock", "fuzz/Cargo.lock", "crates/sql/Cargo.lock"] {
        let packages = locked(&read(lock));
        assert!(
            packages
                .iter()
                .any(|package| package.name == "curve25519-dalek")
        );
        for package in packages {
            let ban = bans.iter().find(|ban| is_of(ban, &package));
            let Package { name, version, .. } = &package;
            assert_eq!(ban, None, "{lock}: {name} {version} is banned");
        }
    }
}

#[test]
fn every_package_comes_from_an_allowed_registry() {
    let rules = read("deny.toml");
    let allowed = rules["sources"]["allow-registry"].as_array().unwrap();
    let allowed: Vec<String> = allowed
        .iter()
        .map(|url| format!("registry+{}", url.as_str().unwrap()))
        .collect();
    for lock in ["Cargo.lock", "fuzz/Cargo.lock", "crates/sql/Cargo.lock"] {
        for package in locked(&read(lock)) {
            let source = package.source.as_ref();
            let is_allowed = source.map_or(package.name.starts_with("hedgerow"), |source| {
                allowed.contains(source)
            });
            assert!(is_allowed, "{lock}: {} is from {source:?}", package.name);
        }
    }
}

#[test]
fn a_ban_is_of_the_versions_it_names() {
    let package = |name: &str, version: &str| Package {
        name: name.to_owned(),
        version: version.to_owned(),
        source: None,
    };
    assert!(is_of("rsa", &package("rsa", "0.9.8")));
    assert!(!is_of("rsa", &package("rsa-keys", "0.9.8")));
    let old = "curve25519-dalek:<5";
    assert!(is_of(old, &package("curve25519-dalek", "4.1.3")));
    assert!(!is_of(old, &package("curve25519-dalek", "5.0.0")));
    assert!(!is_of(old, &package("x25519-dalek", "2.0.1")));
}

/// Every crate is checked with the Rust that the workspace declares, so every crate declares it.
#[test]
fn every_crate_declares_the_same_rust() {
    let workspace = read("Cargo.toml");
    let declared = workspace["workspace"]["package"]["rust-version"].as_str();
    assert!(declared.is_some());
    let members = workspace["workspace"]["members"].as_array().unwrap();
    for member in members.iter().map(|member| member.as_str().unwrap()) {
        let manifest = read(&format!("{member}/Cargo.toml"));
        let rust = &manifest["package"]["rust-version"];
        let is_the_workspaces = rust.get("workspace").and_then(|item| item.as_bool());
        assert_eq!(is_the_workspaces, Some(true), "{member}");
    }
}
