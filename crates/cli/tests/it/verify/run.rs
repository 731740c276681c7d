//! The signed release that tests look at: made once, by three processes.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use hedgerow_testing::{StudyText, integer, values};

use crate::{hedgerow, json};

/// The sites of the run.
pub(super) const SITES: [&str; 3] = ["north", "south", "east"];

/// The files of the signed release.
pub(super) const SIGNED_FILES: [&str; 6] = [
    "datapackage.json",
    "manifest.json",
    "release.csv",
    "release.parquet",
    "report.html",
    "taxonomies/disease.csv",
];

/// A study of three sites, their rows, and the release that all of them signed: every file of it,
/// made by three processes once.
fn files_of_a_signed_run() -> &'static [(PathBuf, Vec<u8>)] {
    static FILES: OnceLock<Vec<(PathBuf, Vec<u8>)>> = OnceLock::new();
    FILES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let mut study = StudyText::new("<b>stroke</b> & co")
            .quasi("age", integer(0..=99))
            .quasi("<script>alert(1)</script>", integer(0..=9))
            .sensitive("disease", values(["flu", "ulcer", "asthma"]))
            .require("k = 5\nl = 2\nsite_diversity = 2\nm = 1")
            .algorithm("covers = \"box\"");
        for name in SITES {
            let done = hedgerow(path, &["keygen", "--out", &format!("{name}.key")]);
            assert_eq!(done.code, 0, "{}", done.stderr);
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let lines = format!("address = \"{address}\"\n{}", done.stdout);
            study = study.site(name, &lines);
        }
        std::fs::write(path.join("study.toml"), study.to_string()).unwrap();
        for name in SITES {
            let key = format!("{name}.key");
            let done = hedgerow(path, &["study", "sign", "--key", &key, "study.toml"]);
            assert_eq!(done.code, 0, "{}", done.stderr);
        }
        let shown = json(&hedgerow(path, &["study", "show", "study.toml", "--json"]));
        let disclosures: Vec<&str> = shown["discloses"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["what"].as_str().unwrap())
            .collect();
        let mut pooled = String::from("age,<script>alert(1)</script>,disease,site\n");
        let mut running = Vec::new();
        for (place, name) in SITES.iter().enumerate() {
            let mut rows = String::from("age,<script>alert(1)</script>,disease\n");
            for row in 0..60 {
                let number = row * 3 + place;
                let disease = ["flu", "ulcer", "asthma"][number / 7 % 3];
                let line = format!("{},{},{disease}", number * 37 % 100, number * 13 % 10);
                rows.push_str(&format!("{line}\n"));
                pooled.push_str(&format!("{line},{name}\n"));
            }
            std::fs::write(path.join(format!("{name}.csv")), rows).unwrap();
            let file = path.join(format!("{name}.toml"));
            let text = format!(
                "site = \"{name}\"\nstudy = \"study.toml\"\nkey = \"{name}.key\"\ndata = \"{name}-data\"\npatience = 60\n[source]\nfile = \"{name}.csv\"\n[accept]\nminimum_k = 5\nmodels = [\"k\", \"l\", \"site_diversity\", \"m\"]\nminimum_l = 2\nminimum_site_diversity = 2\nminimum_m = 1\nalgorithms = [\"mondrian\"]\nsecurity = [\"hardened\"]\ncolumns = [\"age\", \"<script>alert(1)</script>\", \"disease\"]\ndisclosures = {disclosures:?}\n"
            );
            std::fs::write(&file, text).unwrap();
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&file, private).unwrap();
        }
        std::fs::write(path.join("pooled.csv"), pooled).unwrap();
        for name in SITES {
            let said = std::fs::File::create(path.join(format!("{name}.err"))).unwrap();
            let child = Command::new(env!("CARGO_BIN_EXE_hedgerow"))
                .args(["run", "--site", &format!("{name}.toml")])
                .current_dir(path)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(said)
                .spawn()
                .unwrap();
            running.push((name, child));
        }
        // All end by themselves: at the latest when their patience does.
        for (name, mut child) in running {
            let status = child.wait().unwrap();
            let said = std::fs::read_to_string(path.join(format!("{name}.err"))).unwrap();
            assert!(status.success(), "{name}: {said}");
        }
        let mut files = Vec::new();
        let mut keep = |from: &str, to: &str| {
            let bytes = std::fs::read(path.join(from)).unwrap();
            files.push((PathBuf::from(to), bytes));
        };
        keep("study.toml", "study.toml");
        keep("pooled.csv", "pooled.csv");
        for name in SIGNED_FILES {
            keep(&format!("north-data/release-1/{name}"), &format!("release/{name}"));
        }
        files
    })
}

/// A folder with `study.toml`, `pooled.csv` and the signed `release`.
pub(crate) fn signed() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("release/taxonomies")).unwrap();
    for (name, bytes) in files_of_a_signed_run() {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}
