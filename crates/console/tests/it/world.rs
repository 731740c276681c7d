//! Two sites with a study, each in a folder of its own as institutions have it, and their consoles.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow::node::identity::Secret;
use hedgerow::node::journal::Journal;
use hedgerow::{Options, Site, SiteDraft, Study, Table};
use hedgerow_console::{Console, ConsoleSettings, Role, Users};

use crate::browser::{Browser, HOST};

pub(crate) const SITES: [&str; 2] = ["north", "south"];
/// A word that stands in rows and nowhere else.
pub(crate) const PLANTED: &str = "Quillfeather";

/// A user of every role; the password is the role's word, twice over.
pub(crate) const USERS: [(&str, Role); 4] = [
    ("stella", Role::Steward),
    ("otto", Role::Officer),
    ("anna", Role::Analyst),
    ("audra", Role::Auditor),
];

pub(crate) fn password(role: Role) -> String {
    format!("{role} of green hedges")
}

/// The folder of the sites.
pub(crate) struct World(tempfile::TempDir);

impl World {
    /// A site's file, whose study is not there yet.
    pub(crate) fn bare() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(world.path("north")).unwrap();
        world.write_site("north", "[accept]\nminimum_k = 10\n");
        world
    }

    /// Sites of a study that all have signed and accept.
    pub(crate) fn signed() -> Self {
        Self::named("ward", "age", |_| String::from("flu"))
    }

    /// The same, with the names of study and column, and another sensitive value beside `ulcer`.
    pub(crate) fn named(study: &str, column: &str, value: impl Fn(usize) -> String) -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        let quoted = |text: &str| hedgerow::data::document::quoted(text);
        let mut text = format!(
            "[study]\nname = {}\npartition = \"horizontal\"\n[[attribute]]\nname = {}\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 99]\n[[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [{}, \"ulcer\"]\n[[attribute]]\nname = \"person\"\nrole = \"identifier\"\n[require]\nk = 3\nl = 2\n",
            quoted(study),
            quoted(column),
            quoted(&value(0))
        );
        for name in SITES {
            std::fs::create_dir(world.path(name)).unwrap();
            let secret = Secret::generate().unwrap();
            secret
                .write_new(&world.path(&format!("{name}/site.key")))
                .unwrap();
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = free.local_addr().unwrap();
            text.push_str(&format!(
                "[[site]]\nname = \"{name}\"\naddress = \"{address}\"\nkey = \"{}\"\n",
                secret.public()
            ));
        }
        std::fs::write(world.path("study.toml"), text).unwrap();
        let study = Study::open(world.path("study.toml")).unwrap();
        let agreement = study.agreement().unwrap();
        for (place, name) in SITES.iter().enumerate() {
            agreement
                .sign(&Secret::open(&world.path(&format!("{name}/site.key"))).unwrap())
                .unwrap();
            let rows: String = (0..60)
                .map(|row| {
                    let disease = if (row + place) % 2 == 0 {
                        value(0)
                    } else {
                        String::from("ulcer")
                    };
                    let disease = disease.replace('"', "\"\"");
                    format!(
                        "{},\"{disease}\",{PLANTED}-{name}-{row}\n",
                        (row * 7 + place) % 100
                    )
                })
                .collect();
            let head = column.replace('"', "\"\"");
            let rows = format!("\"{head}\",disease,person\n{rows}");
            std::fs::write(world.path(&format!("{name}/rows.csv")), rows).unwrap();
            let options = SiteDraft {
                site: Some((*name).to_owned()),
                ..SiteDraft::default()
            };
            let drafted = study
                .draft_site(world.path(&format!("{name}/site.toml")), &options)
                .unwrap();
            world.write_site(name, &drafted.accepted());
        }
        world
    }

    /// Sites of which one has had many runs: all were given up, and releases are there that other runs left.
    pub(crate) fn long(runs: u32) -> Self {
        let world = Self::signed();
        let study = Study::open(world.path("study.toml")).unwrap();
        let hash = study.agreement().unwrap().hash;
        let data = world.path("north/data");
        let journal = Journal::open(&data).unwrap();
        for number in 1..=runs {
            journal.renounce(hash, number, (0, 2)).unwrap();
        }
        drop(journal);
        let first = data.join("release-1");
        let table = Table::file(world.path("north/rows.csv"));
        hedgerow::anonymize(&study, &table, &Options::new().out(&first)).unwrap();
        for number in 2..=runs {
            let folder = data.join(format!("release-{number}"));
            std::fs::create_dir(&folder).unwrap();
            let manifest = folder.join("manifest.json");
            std::fs::hard_link(first.join("manifest.json"), manifest).unwrap();
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn site(&self, name: &str) -> Site {
        Site::open(self.file(name)).unwrap()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path(&format!("{name}/site.toml"))
    }

    /// Has the officer of the first site be asked about a second run, which the other site allows.
    pub(crate) fn ask_before_a_second_run(&self) {
        for (name, rule) in SITES.iter().zip(["rerun = \"ask\"", "runs = 9"]) {
            let text = std::fs::read_to_string(self.file(name)).unwrap();
            let (head, accept) = text.split_once("[accept]\n").unwrap();
            let accept: String = accept
                .lines()
                .filter(|line| !line.starts_with("rerun") && !line.starts_with("runs"))
                .map(|line| format!("{line}\n"))
                .collect();
            let text = format!("{head}[accept]\n{rule}\n{accept}");
            self.write(&self.file(name), &text);
        }
    }

    fn write_site(&self, name: &str, accept: &str) {
        let head = format!(
            "site = \"{name}\"\nstudy = \"../study.toml\"\nkey = \"site.key\"\ndata = \"data\"\npatience = 30\n[source]\nfile = \"rows.csv\"\n"
        );
        self.write(&self.file(name), &format!("{head}{accept}"));
    }

    fn write(&self, path: &Path, text: &str) {
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }

    /// The console of a site, with a user of every role.
    pub(crate) fn console(&self, name: &str) -> Arc<Console> {
        let users = Users::beside(&self.file(name));
        if users.all().unwrap().is_empty() {
            for (name, role) in USERS {
                users
                    .add(name, role, &password(role), ("test", "shell"))
                    .unwrap();
            }
        }
        self.console_of_nobody(name)
    }

    /// The console of a site, with the users that are there.
    pub(crate) fn console_of_nobody(&self, name: &str) -> Arc<Console> {
        let at = HOST.parse().unwrap();
        Console::new(self.file(name), ConsoleSettings::at(at), at).unwrap()
    }
}

/// A browser of somebody with a role.
pub(crate) async fn browser_of(console: &Arc<Console>, role: Role) -> Browser {
    let (name, _) = USERS.into_iter().find(|(_, other)| *other == role).unwrap();
    Browser::signed_in(console, name, &password(role)).await
}
