//! Three sites of a ward study in a folder, each with its own file, key, rows and rules.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use hedgerow::data::files::read_release_of;
use hedgerow::data::{Release, Study as Declared};
use hedgerow::node::identity::Secret;
use hedgerow::protocols::query::{Answered, Held, Question, ask};
use hedgerow::smc::{Party, Seed, Settings, Site as Place};
use hedgerow::{Site, Study};
use serde_json::Value;

pub(crate) const SITES: [&str; 3] = ["north", "south", "east"];

const STUDY: &str = r#"[study]
name = "ward"
partition = "horizontal"
security = "SECURITY"
release = "RELEASE"
[[attribute]]
name = "age"
role = "quasi"
type = "integer"
range = [0, 99]
[[attribute]]
name = "place"
role = "quasi"
values = ["east", "north", "south", "west"]
[[attribute]]
name = "days"
role = "sensitive"
type = "integer"
range = [-5, 40]
[[attribute]]
name = "disease"
role = "sensitive"
values = ["asthma", "flu", "ulcer"]
[require]
k = 4
l = 2
m = 0
"#;

/// Sites in a folder, whose run 1 is over.
pub(crate) struct World(tempfile::TempDir);

impl World {
    /// The sites, with what the study says of questions and what each site accepts.
    pub(crate) fn new(security: &str, query: &str, accept: [&str; 3]) -> Self {
        Self::of(security, "published", query, accept)
    }

    /// The sites of a study whose table is published or virtual.
    pub(crate) fn of(security: &str, release: &str, query: &str, accept: [&str; 3]) -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        let study = world.path("study.toml");
        let mut text = STUDY.replace("SECURITY", security);
        text = format!("{}{query}\n", text.replace("RELEASE", release));
        for site in SITES {
            let secret = Secret::generate().unwrap();
            secret
                .write_new(&world.path(&format!("{site}.key")))
                .unwrap();
            let address = free_address();
            text.push_str(&format!(
                "[[site]]\nname = \"{site}\"\naddress = \"{address}\"\nkey = \"{}\"\n",
                secret.public()
            ));
        }
        std::fs::write(&study, text).unwrap();
        let opened = Study::open(&study).unwrap();
        let disclosures = opened.discloses().unwrap();
        let disclosures: Vec<&str> = disclosures.iter().map(|what| what.name()).collect();
        let agreement = opened.agreement().unwrap();
        for (place, (site, accept)) in SITES.iter().zip(accept).enumerate() {
            agreement
                .sign(&Secret::open(&world.path(&format!("{site}.key"))).unwrap())
                .unwrap();
            std::fs::write(world.path(&format!("{site}.csv")), rows(place)).unwrap();
            let text = format!(
                "site = \"{site}\"\nstudy = \"study.toml\"\nkey = \"{site}.key\"\ndata = \"{site}\"\npatience = 30\n[source]\nfile = \"{site}.csv\"\n[accept]\nminimum_k = 2\nminimum_l = 2\nminimum_m = 0\nmodels = [\"k\", \"l\"]\nalgorithms = [\"mondrian\"]\nsecurity = [\"{security}\"]\ncolumns = [\"age\", \"place\", \"days\", \"disease\"]\ndisclosures = {disclosures:?}\n{accept}\n"
            );
            let file = world.path(&format!("{site}.toml"));
            std::fs::write(&file, text).unwrap();
            let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&file, private).unwrap();
        }
        world
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn site(&self, name: &str) -> Site {
        Site::open(self.path(&format!("{name}.toml"))).unwrap()
    }

    /// Runs the study, and then a test while the nodes of all sites wait.
    pub(crate) fn ask(&self, test: impl AsyncFnOnce()) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let [north, south, east] = SITES.map(|site| self.site(site));
            let (first, second, third) =
                tokio::join!(north.run(1, None), south.run(1, None), east.run(1, None));
            first.and(second).and(third).unwrap();
            let waiting = async { tokio::join!(north.serve(), south.serve(), east.serve()) };
            let test = async {
                // A node's socket comes with it.
                for site in SITES {
                    while !self.path(&format!("{site}/questions.sock")).exists() {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                }
                test().await;
            };
            let test = tokio::time::timeout(Duration::from_secs(100), test);
            tokio::select! {
                ended = waiting => panic!("{ended:?}"),
                test = test => test.unwrap(),
            }
        });
        runtime.shutdown_timeout(Duration::from_secs(5));
    }

    /// What a question finds in the release, which is one table with all rows.
    pub(crate) fn of_release(&self, question: &Question) -> Answered {
        let study = Declared::open(&self.path("study.toml")).unwrap();
        let path = self.path("north/release-1/release.csv");
        let text = read_release_of(&path, &study, &()).unwrap().text;
        let release = Release::from_text(&text, &study.schema, &[]).unwrap();
        let held = Held::release(&release);
        let mut party = Party::alone(Settings::default(), &Seed::new([1; 32]));
        // One site waits for nobody.
        pollster::block_on(ask(&mut party, &held, question, Place::new(0))).unwrap()
    }

    pub(crate) fn log(&self, site: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path(&format!("{site}/questions.log"))).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }

    pub(crate) fn question(&self, sql: &str) -> Question {
        let study = Study::open(self.path("study.toml")).unwrap();
        study.statement(sql).unwrap().questions()[0].clone()
    }
}

/// Rows of a site that nobody else has.
fn rows(place: usize) -> String {
    let row = |row: usize| {
        let age = (row * 7 + place * 13) % 100;
        let town = ["east", "north", "south", "west"][(row + place) % 4];
        let disease = ["asthma", "flu", "ulcer"][(row * row + place) % 3];
        format!("{age},{town},{},{disease}\n", (row * 3 + place) % 40)
    };
    let rows: String = (0..60 - 20 * place).map(row).collect();
    format!("age,place,days,disease\n{rows}")
}

pub(crate) const OPEN: &str = "[accept.query]\nfrom = [\"north\", \"south\", \"east\"]\nanswers = [\"totals\", \"rows\"]\ncolumns = [\"age\", \"place\", \"days\", \"disease\"]";
pub(crate) const BOTH: &str = "[query]\nanswers = [\"totals\", \"rows\"]";

/// An address that no other test of this process is given, below the ports that a system gives out by itself: those
/// another socket may have by the time that a node listens.
fn free_address() -> std::net::SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 12_000 + (std::process::id() % 180) as u16 * 100;
    loop {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed);
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], port));
        if std::net::TcpListener::bind(address).is_ok() {
            return address;
        }
    }
}
