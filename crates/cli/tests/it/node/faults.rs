//! Machines that fail: a full disk, a folder that may not be written. Clear words, nothing
//! half-written.

use std::process::Command;

use super::{SITES, Site, files, make_private, simulated, sites, start_all};

/// Where no more can be written, a site says so; once there is room, the run goes on.
#[test]
fn a_full_disk_is_named_and_the_run_goes_on_when_there_is_room() {
    let folder = sites(600);
    let path = folder.path();
    let mut others: Vec<Site> = SITES[1..]
        .iter()
        .map(|name| Site::start(path, name, 0))
        .collect();
    // Writes beyond this size fail as they do on a full disk.
    let script = format!(
        "trap '' XFSZ; ulimit -f 120; exec '{}' run --site north.toml --seed 7",
        env!("CARGO_BIN_EXE_hedgerow")
    );
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(path)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    // Whichever comes first.
    let is_named = ["run-1.frames: a frame", "journal.sqlite: what was learned"]
        .iter()
        .any(|what| said.contains(&format!("north-data/{what} cannot be kept")));
    assert!(is_named, "{said}");
    for other in &mut others {
        let status = other.child.wait().unwrap();
        assert_eq!(status.code(), Some(2), "{}", other.said());
        // From itself, or from the other that heard it first.
        let said = other.said();
        let is_told = said.contains("has ended its part in the run") && said.contains("`north`");
        assert!(is_told, "{said}");
    }
    let mut running = start_all(path, &SITES, 1);
    running.iter_mut().for_each(Site::end);
    let release = std::fs::read(path.join("north-data/release-1/release.csv")).unwrap();
    assert_eq!(release, simulated(path));
}

/// Runs the command as somebody who may not write into the folder, whoever runs the test.
fn run_without_leave(folder: &std::path::Path) -> (Option<i32>, String) {
    let mode = |path: &std::path::Path, mode| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(path, permissions).unwrap();
    };
    // Somewhere that everybody may read.
    let program = folder.join("hedgerow");
    if !program.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_hedgerow"), &program).unwrap();
    }
    let arguments = ["run", "--site", "north.toml"];
    let identity = Command::new("id").arg("-u").output().unwrap();
    let mut command = if identity.stdout == b"0\n" {
        mode(folder, 0o755);
        // The nobody of every system.
        for file in ["north.key", "north.toml"] {
            std::os::unix::fs::chown(folder.join(file), Some(65534), Some(65534)).unwrap();
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.arg(&program);
        command
    } else {
        mode(folder, 0o555);
        Command::new(&program)
    };
    let output = command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    mode(folder, 0o755);
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_folder_that_may_not_be_written_is_named() {
    let folder = sites(100);
    let path = folder.path();
    let (code, said) = run_without_leave(path);
    assert_eq!(code, Some(2), "{said}");
    let expected = "hedgerow-memory.sqlite: what this site remembers of its runs cannot be opened: Permission denied";
    assert!(said.contains(expected), "{said}");
    assert!(
        said.contains("hint: see that this user may read and write there"),
        "{said}"
    );

    // What it remembers is elsewhere.
    let elsewhere = path.join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(&elsewhere, open).unwrap();
    let file = path.join("north.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("memory = \"elsewhere/memory\"\n{text}")).unwrap();
    let (code, said) = run_without_leave(path);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("north-data: cannot be made: Permission denied"),
        "{said}"
    );
    assert!(!path.join("north-data").exists());

    // It is there, but somebody else's.
    let data = path.join("north-data");
    std::fs::create_dir(&data).unwrap();
    let closed = std::os::unix::fs::PermissionsExt::from_mode(0o555);
    std::fs::set_permissions(&data, closed).unwrap();
    let (code, said) = run_without_leave(path);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("north-data/lock: cannot be opened: Permission denied"),
        "{said}"
    );
    assert_eq!(files(&data), [""; 0].map(std::path::PathBuf::from));
}

/// A secret that its owner alone may read stays so, and others' files are warned of.
#[test]
fn a_file_that_everyone_may_read_is_warned_of() {
    let folder = sites(100);
    let path = folder.path();
    let file = path.join("north.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("patience = 60", "patience = 1")).unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&file, open).unwrap();
    let done = super::hedgerow(path, &["run", "--site", "north.toml"]);
    let warning = "warning: north.toml: others than its owner may read this file (mode 644)";
    assert!(done.stderr.contains(warning), "{}", done.stderr);
    let done = super::hedgerow(path, &["status", "--site", "north.toml"]);
    assert!(done.stderr.contains(warning), "{}", done.stderr);
    make_private(&file);
    let done = super::hedgerow(path, &["run", "--site", "north.toml"]);
    assert!(!done.stderr.contains("warning"), "{}", done.stderr);
}
