//! `deploy/` and `scripts/package.sh`: the service, the container and the package are what their readers
//! understand, and run the command with arguments that it knows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use hedgerow_testing::skip;

use super::hedgerow;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// The sections of a unit, with their lines by key.
fn sections(unit: &str) -> BTreeMap<&str, Vec<(&str, &str)>> {
    let mut sections = BTreeMap::new();
    let mut present = None;
    for line in unit
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            present = Some(name);
            assert!(
                sections.insert(name, Vec::new()).is_none(),
                "{name} stands twice"
            );
        } else {
            let pair = line
                .split_once('=')
                .unwrap_or_else(|| panic!("{line}: is no setting"));
            assert!(pair.0.chars().all(char::is_alphanumeric), "{line}");
            sections.get_mut(present.unwrap()).unwrap().push(pair);
        }
    }
    sections
}

/// Sees that the command understands a line of arguments: it complains of the file that is not there, in
/// its log, and of nothing else.
fn assert_understood(arguments: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let done = hedgerow(folder.path(), arguments);
    assert_eq!(done.code, 2, "{}", done.stdout);
    let line: serde_json::Value = serde_json::from_str(done.stderr.trim_end())
        .unwrap_or_else(|error| panic!("{error}: {}", done.stderr));
    let message = line["message"].as_str().unwrap();
    assert!(
        message.starts_with("site.toml: cannot be read"),
        "{message}"
    );
}

#[test]
fn systemd_understands_the_unit() {
    let unit = read("deploy/hedgerow-node.service");
    let sections = sections(&unit);
    assert_eq!(
        sections.keys().copied().collect::<Vec<_>>(),
        ["Install", "Service", "Unit"]
    );
    let of = |key: &str| {
        let found = sections["Service"].iter().find(|(name, _)| *name == key);
        found.unwrap_or_else(|| panic!("no {key}")).1
    };
    let words: Vec<&str> = of("ExecStart").split(' ').collect();
    assert_eq!(words[0], "/usr/local/bin/hedgerow");
    assert_understood(&words[1..]);
    // A reload is what the node takes for one; the node is nobody who may do more.
    assert_eq!(of("ExecReload"), "/bin/kill -HUP $MAINPID");
    assert_eq!(
        (of("User"), of("NoNewPrivileges"), of("LimitCORE")),
        ("hedgerow", "yes", "0")
    );

    if Command::new("systemd-analyze")
        .arg("--version")
        .output()
        .is_err()
    {
        return skip("systemd-analyze", "apt-get install systemd has it");
    }
    // Programs that a unit names must be there.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hedgerow-node.service");
    let here = unit.replace("/usr/local/bin/hedgerow", env!("CARGO_BIN_EXE_hedgerow"));
    assert_ne!(here, unit);
    std::fs::write(&file, &here).unwrap();
    let verified = |file: &Path| {
        let done = Command::new("systemd-analyze")
            .arg("verify")
            .arg(file)
            .output()
            .unwrap();
        (
            done.status.success(),
            String::from_utf8_lossy(&done.stderr).into_owned(),
        )
    };
    let (is_sound, said) = verified(&file);
    let own: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("hedgerow"))
        .collect();
    assert!(is_sound && own.is_empty(), "{said}");
    // And the reader would say so if it were otherwise.
    std::fs::write(&file, here.replace("Restart=on-failure", "Restart=perhaps")).unwrap();
    assert!(verified(&file).1.contains("perhaps"));
}

#[test]
fn the_container_file_builds_what_a_package_holds() {
    let text = read("deploy/Containerfile");
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<(&str, &str)> = lines.map(|line| line.split_once(' ').unwrap()).collect();
    let order: Vec<&str> = lines.iter().map(|(instruction, _)| *instruction).collect();
    assert_eq!(
        order,
        [
            "ARG",
            "FROM",
            "COPY",
            "USER",
            "WORKDIR",
            "VOLUME",
            "EXPOSE",
            "STOPSIGNAL",
            "ENTRYPOINT",
            "CMD"
        ]
    );
    let of = |name: &str| {
        lines
            .iter()
            .find(|(instruction, _)| *instruction == name)
            .unwrap()
            .1
    };
    let (argument, base) = of("ARG").split_once('=').unwrap();
    assert_eq!(
        (of("FROM"), base),
        (&*format!("${{{argument}}}"), "scratch")
    );
    let (from, to) = of("COPY").split_once(' ').unwrap();
    assert!(
        read("scripts/package.sh").contains(&format!("\"$package/{from}\"")),
        "{from}"
    );
    let words = |name: &str| serde_json::from_str::<Vec<String>>(of(name)).unwrap();
    assert_eq!(words("ENTRYPOINT"), [to]);
    let command = words("CMD");
    assert_understood(&command.iter().map(String::as_str).collect::<Vec<_>>());
    // Nobody's number but root's is 0.
    assert!(
        of("USER")
            .split(':')
            .all(|number| number.parse::<u32>().unwrap() > 0)
    );
    assert_eq!(of("WORKDIR"), of("VOLUME"));
}

#[test]
fn a_package_has_what_runs_its_checksums_and_the_licence_of_everything_in_it() {
    let missing = ["readelf", "sha256sum", "tar", "gzip"]
        .into_iter()
        .find(|program| Command::new(program).arg("--version").output().is_err());
    if let Some(program) = missing {
        return skip(
            program,
            "apt-get install binutils coreutils tar gzip has it",
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let pack = || {
        let packed = Command::new(root().join("scripts/package.sh"))
            .args(["--binary", env!("CARGO_BIN_EXE_hedgerow"), "--out", "p"])
            .current_dir(path)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&packed.stderr).into_owned();
        assert!(packed.status.success(), "{said}");
        (String::from_utf8(packed.stdout).unwrap(), said)
    };
    let (printed, said) = pack();
    let files: Vec<&str> = printed.lines().collect();
    let [archive, sums] = files[..] else {
        panic!("{printed}")
    };
    // Tests are built for this machine's C library, and a package says so.
    let is_static = archive.contains("-linux-musl");
    assert_eq!(said.contains("It needs glibc 2."), !is_static, "{said}");
    let run = |line: &str| {
        let done = Command::new("sh")
            .args(["-c", line])
            .current_dir(path)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{line}: {text}");
        String::from_utf8(done.stdout).unwrap()
    };
    run(&format!(
        "tar -xzf '{archive}' -C p && cd p && sha256sum --check --quiet '{sums}'"
    ));
    let name = Path::new(archive).file_name().unwrap().to_str().unwrap();
    let package = format!("p/{}", name.strip_suffix(".tar.gz").unwrap());
    assert!(run(&format!("{package}/hedgerow --version")).starts_with("hedgerow "));
    for file in [
        "LICENSE",
        "man/hedgerow-node.1",
        "completions/hedgerow.bash",
        "deploy/Containerfile",
        "deploy/hedgerow-node.service",
    ] {
        assert!(path.join(&package).join(file).exists(), "{file}");
    }
    let list = std::fs::read_to_string(path.join(&package).join("DEPENDENCIES.txt")).unwrap();
    let crates: Vec<Vec<&str>> = list
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split('\t').collect())
        .collect();
    assert!(crates.len() > 100, "{list}");
    for entry in &crates {
        assert!(
            entry.len() == 3 && entry.iter().all(|cell| !cell.is_empty()),
            "{entry:?}"
        );
    }
    for name in ["tokio", "rusqlite", "ring", "hyper"] {
        assert!(crates.iter().any(|entry| entry[0] == name), "{name}");
    }
    // What tests alone need is not built in.
    assert!(!crates.iter().any(|entry| entry[0] == "proptest"));

    // The same files make the same bytes.
    let first = std::fs::read(archive).unwrap();
    pack();
    assert!(std::fs::read(archive).unwrap() == first);
    let refused = Command::new(root().join("scripts/package.sh"))
        .arg("--nonsense")
        .output();
    assert_eq!(refused.unwrap().status.code(), Some(2));
}
