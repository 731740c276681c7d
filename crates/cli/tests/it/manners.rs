//! What every command does alike: no release is written over, nothing is said to those who want quiet, and the
//! command explains itself to shells and to `man`.

use std::path::Path;
use std::process::Command;

use super::{assert_refused, hedgerow, json, study};
use hedgerow_testing::ZIP_CODES;

/// A folder with a study and a table.
fn table() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("study.toml", &study().to_string());
    write("zip.csv", ZIP_CODES);
    let zips: Vec<&str> = ZIP_CODES
        .lines()
        .map(|line| line.split(';').next().unwrap())
        .collect();
    let row = |row: usize| format!("{},{},flu\n", 20 + row % 40, zips[row % zips.len()]);
    let rows: String = (0..40).map(row).collect();
    write("t.csv", &format!("age,zip,disease\n{rows}"));
    folder
}

#[test]
fn a_folder_of_files_is_a_table_and_several_tables_need_an_engine() {
    let folder = table();
    let path = folder.path();
    std::fs::create_dir(path.join("parts")).unwrap();
    let text = std::fs::read_to_string(path.join("t.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    for (place, rows) in rows.lines().collect::<Vec<_>>().chunks(15).enumerate() {
        let part = format!("{header}\n{}\n", rows.join("\n"));
        std::fs::write(path.join(format!("parts/{place}.csv")), part).unwrap();
    }
    let anonymize = ["anonymize", "--study", "study.toml"];
    for (table, out) in [("t.csv", "one"), ("parts", "many")] {
        let done = hedgerow(path, &[&anonymize[..], &[table, "--out", out]].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let release = |folder: &str| std::fs::read(path.join(folder).join("release.csv")).unwrap();
    assert_eq!(release("one"), release("many"));

    let refused = |words: &[&str], message: &str| {
        assert_refused(&hedgerow(path, &[&anonymize[..], words].concat()), message);
    };
    refused(
        &["t.csv", "parts"],
        "several tables are named\nhint: put files of the same columns into one folder and name the folder, or give --engine local",
    );
    refused(
        &["-", "--engine", "local"],
        "an engine reads files, not standard input\nhint: name a file or a folder",
    );
    refused(
        &["parts", "--engine", "df://engine:1", "--memory", "2GB"],
        "--memory and --spill are for --engine local: the executors of a cluster have limits of their own\nhint: leave them out",
    );
    refused(
        &["parts", "--engine", "local", "--engine-anywhere"],
        "--engine-anywhere is said of a scheduler\nhint: leave it out, or give --engine df://host:port",
    );
}

#[test]
fn a_release_is_written_over_only_by_force() {
    let folder = table();
    let path = folder.path();
    for command in ["anonymize", "simulate"] {
        let mut line = vec![command, "--study", "study.toml", "t.csv", "--out", command];
        if command == "simulate" {
            line.extend(["--sites", "2"]);
        }
        let done = hedgerow(path, &line);
        assert_eq!(done.code, 0, "{}", done.stderr);
        let release = path.join(command).join("release.csv");
        let before = std::fs::read(&release).unwrap();
        std::fs::write(path.join("t2.csv"), "age,zip,disease\n").unwrap();
        line[3] = "t2.csv";
        // Refused before the table is read, which has no rows.
        assert_refused(
            &hedgerow(path, &line),
            &format!(
                "{command}: holds a release already, which is kept\nhint: name another folder with --out, or write over it with --force"
            ),
        );
        assert_eq!(std::fs::read(&release).unwrap(), before);
        line[3] = "t.csv";
        line.push("--force");
        let done = hedgerow(path, &line);
        assert_eq!(done.code, 0, "{}", done.stderr);
        // Force does not take what is no release.
        std::fs::write(path.join(command).join("notes.txt"), "mine").unwrap();
        let done = hedgerow(path, &line);
        assert_eq!(done.code, 2);
        assert!(done.stderr.contains("holds `notes.txt`"), "{}", done.stderr);
    }
    // A folder that is there and empty is nobody's.
    std::fs::create_dir(path.join("empty")).unwrap();
    let line = [
        "anonymize",
        "--study",
        "study.toml",
        "t.csv",
        "--out",
        "empty",
    ];
    assert_eq!(hedgerow(path, &line).code, 0);
}

#[test]
fn who_wants_quiet_hears_results_and_errors_alone() {
    let folder = table();
    let path = folder.path();
    let loud = hedgerow(path, &["demo", "--rows", "400", "--remove"]);
    assert!(
        loud.stderr.contains("starting a node for each"),
        "{}",
        loud.stderr
    );
    let quiet = hedgerow(path, &["demo", "--rows", "400", "--remove", "--quiet"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""));
    assert!(!quiet.stdout.is_empty());
    let done = hedgerow(path, &["-q", "anonymize", "--study", "none.toml", "t.csv"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.starts_with("error: none.toml"),
        "{}",
        done.stderr
    );
    // A study that was drafted on the way is told to those who want to hear of it.
    let line = "anonymize t.csv --k 2 --quasi age,zip --sensitive disease";
    let drafted = |line: &str| {
        let done = hedgerow(path, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(done.code, 0, "{}", done.stderr);
        for made in ["release", "release-study"] {
            std::fs::remove_dir_all(path.join(made)).unwrap();
        }
        done.stderr
    };
    let said = drafted(line);
    assert!(said.contains("no study was given"), "{said}");
    assert_eq!(drafted(&format!("{line} --quiet")), "");
}

#[test]
fn shells_complete_what_the_command_knows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for shell in ["bash", "zsh", "fish"] {
        let done = hedgerow(path, &["completions", shell]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        for word in ["anonymize", "node", "quiet", "provider-column", "rejoin"] {
            assert!(done.stdout.contains(word), "{shell}: {word}");
        }
        let as_json = json(&hedgerow(path, &["completions", shell, "--json"]));
        assert_eq!(as_json["shell"], shell);
        std::fs::write(path.join(shell), &done.stdout).unwrap();
    }
    // The shell at hand understands it.
    let script = "source ./bash; COMP_WORDS=(hedgerow stat); COMP_CWORD=1; _hedgerow hedgerow stat hedgerow; echo \"${COMPREPLY[@]}\"";
    let done = Command::new("bash")
        .args(["-c", script])
        .current_dir(path)
        .output();
    let done = done.unwrap();
    assert_eq!(
        String::from_utf8_lossy(&done.stdout).trim(),
        "status",
        "{done:?}"
    );
    assert_eq!(hedgerow(path, &["completions", "tcsh"]).code, 2);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let done = hedgerow(path, &["man", "--out", "share/man1"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let help = hedgerow(path, &["--help"]).stdout;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let (commands, _) = commands.split_once("\n\n").unwrap();
    let names: Vec<&str> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(names.len() > 15, "{names:?}");
    let page = |name: &str| {
        let file = path.join(format!("share/man1/hedgerow{name}.1"));
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    for name in names {
        assert!(page(&format!("-{name}")).contains(".SH SYNOPSIS"), "{name}");
    }
    assert!(page("").contains("Exit codes"));
    assert!(page("-run-approve").contains(".SH OPTIONS"));
    assert!(page("-node").contains("SIGHUP"));
    std::fs::write(path.join("file"), "").unwrap();
    let done = hedgerow(path, &["man", "--out", "file/below"]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("file/below: cannot be written"),
        "{}",
        done.stderr
    );
    assert!(!Path::new(&path.join("file/below")).exists());
}
