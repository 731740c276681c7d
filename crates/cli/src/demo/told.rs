//! What a demo tells the person who ran it: whether the release holds, what each would lose alone, what the run
//! cost, and where to look.

use hedgerow::Verdict;
use hedgerow::data::{Role, Schema};
use hedgerow::words::{count, thousands};
use serde_json::{Value, json};

use super::AloneOf;
use super::folder::Folder;
use super::hospitals::Town;
use super::question::Asked;
use crate::chart::{Bar, chart};
use crate::error::CliError;
use crate::output::Answer;

/// The result of a demo.
pub(super) struct Told<'a> {
    pub(super) town: &'a Town,
    pub(super) folder: &'a Folder,
    pub(super) joint: &'a Verdict,
    pub(super) alone: &'a [AloneOf],
    /// What each node says.
    pub(super) standings: &'a [Value],
    pub(super) uses_postgres: bool,
    pub(super) seconds: f64,
}

impl Told<'_> {
    /// What four hospitals are told that have different patients.
    pub(super) fn hospitals(&self, asked: &Asked) -> Result<Answer, CliError> {
        let mut value = self.value("records", "classes");
        value["question"] = asked.json();
        let mut text = format!(
            "The release holds: {} of four hospitals in {}, the same at all four and signed by all;\nevery class satisfies {}.\n\n",
            count(self.joint.found.records, "record", "records"),
            count(self.joint.found.classes, "class", "classes"),
            self.town.requires()?
        );
        text.push_str(
            "detail of age, sex and zip that is lost (NCP), with the same requirement for all\n",
        );
        text.push_str(&self.losses(|place| format!("{} alone", self.town.hospitals[place].name)));
        text.push_str(&format!("\n{}\n", asked.text()));
        text.push_str(&self.costs("hospital", "its own records"));
        text.push_str(
            "This study asks for no protection from hospitals that put together what they know: m = 1 under\n[require] in place of m = 0 would, and costs detail.\n",
        );
        self.end(text, value)
    }

    /// What institutions are told that know the same people.
    pub(super) fn institutions(&self) -> Result<Answer, CliError> {
        let study = self.town.study.declared();
        let columns = |place: usize| {
            let split = study.split.as_ref();
            split.map_or_else(Vec::new, |split| split.names(&study.schema, place))
        };
        let mut value = self.value("people", "groups");
        for place in 0..self.town.hospitals.len() {
            value["sites"][place]["columns"] = json!(columns(place));
        }
        let mut text = format!(
            "The release holds: {} whom all three know in {}, the same at all three and signed by all;\nevery group satisfies {}.\n\n",
            count(self.joint.found.records, "patient", "patients"),
            count(self.joint.found.classes, "group", "groups"),
            self.town.requires()?
        );
        text.push_str(
            "detail of age, sex and zip that is lost (NCP); who publishes alone loses what only others know\n",
        );
        text.push_str(&self.losses(|place| {
            let name = &self.town.hospitals[place].name;
            format!("{name} alone ({})", columns(place).join(", "))
        }));
        let files = study.release_tables();
        text.push_str(&format!(
            "\nWho is known to all was found from identifiers under the keys of all three; nobody saw another's\nlist. Together they cut everybody into groups: whoever has the widest attribute of a group cuts it\nand tells who goes left; no value left its institution before the end. Published are\n{}joined by the number of a group and by nothing else.\n\n",
            files.iter().map(|file| format!("  {file}\n")).collect::<String>(),
        ));
        text.push_str(&self.costs("institution", "its own table"));
        self.end(text, value)
    }

    /// What each loses who publishes alone, of the detail of all quasi-identifiers: all of it in those that only
    /// others know. Or the model that fails.
    fn alone(&self, place: usize) -> Result<f64, &str> {
        let study = self.town.study.declared();
        let quasi = |schema: &Schema| schema.with_role(Role::Quasi).len() as f64;
        let (all, own) = (quasi(&study.schema), quasi(&study.schema_at(place)));
        match &self.alone[place].1 {
            Some(Ok(alone)) => Ok((alone.ncp * own + (all - own)) / all),
            Some(Err(fails)) => Err(fails),
            None => Ok(1.0),
        }
    }

    fn together(&self) -> f64 {
        let utility = self.joint.utility.as_ref();
        utility.map_or(0.0, |utility| utility.ncp)
    }

    /// A chart of what is lost together and by each alone, and how the two compare.
    fn losses(&self, name: impl Fn(usize) -> String) -> String {
        let mut bars = vec![Bar {
            name: String::from("together"),
            loss: Some(self.together()),
            remark: String::new(),
        }];
        let places = 0..self.town.hospitals.len();
        bars.extend(places.clone().map(|place| Bar {
            name: name(place),
            loss: self.alone(place).ok(),
            remark: match self.alone(place) {
                Ok(_) => String::new(),
                Err(fails) => format!("can publish nothing: its records fail {fails}"),
            },
        }));
        let mut text = chart(&bars);
        let losses = places.filter_map(|place| Some((self.alone(place).ok()?, place)));
        let least = losses.min_by(|one, other| one.0.total_cmp(&other.0));
        if let Some((least, place)) = least {
            let (name, together) = (&self.town.hospitals[place].name, self.together());
            text.push_str(&match together < least {
                true => format!(
                    "Together they lose {:.2} times what {name} would, which loses least alone.\n",
                    together / least
                ),
                false => format!(
                    "{name} would lose less alone: what more people have in common tells with more of them (--rows).\n"
                ),
            });
        }
        text
    }

    /// What the run cost, and that nobody learned more than the study allows.
    fn costs(&self, who: &str, what: &str) -> String {
        let learned = self.standings[0]["ledger"].as_array().map_or(0, Vec::len);
        format!(
            "{} rounds, {} messages, {:.1} MB between the nodes; {:.1} s in all. Each {who} learned {learned} kinds of things\nbeyond {what}, every one allowed by the study; the manifest lists them with the theorem\nthat allows each.\n",
            thousands(self.most("rounds")),
            thousands(self.sum("messages")),
            self.sum("bytes") as f64 / 1e6,
            self.seconds
        )
    }

    fn cost(&self, name: &str) -> impl Iterator<Item = u64> {
        let each = self
            .standings
            .iter()
            .map(move |answer| &answer["cost"][name]);
        each.map(|cost| cost.as_u64().unwrap_or(0))
    }

    fn most(&self, name: &str) -> u64 {
        self.cost(name).max().unwrap_or(0)
    }

    fn sum(&self, name: &str) -> u64 {
        self.cost(name).sum()
    }

    /// The result for machines, as far as all demos have it in common.
    fn value(&self, records: &str, classes: &str) -> Value {
        let sites = self.town.hospitals.iter().enumerate();
        let sites = sites.map(|(place, site)| {
            let mut value = json!({ "site": site.name, records: self.alone[place].0 });
            match self.alone(place) {
                Ok(ncp) => value["alone"] = json!({ "ncp": ncp }),
                Err(fails) => value["cannot_publish"] = json!(fails),
            }
            value
        });
        let mut value = json!({
            "holds": true,
            "records": self.joint.found.records,
            "sites": sites.collect::<Vec<Value>>(),
            "together": { classes: self.joint.found.classes, "ncp": self.together() },
            "cost": {
                "rounds": self.most("rounds"),
                "messages": self.sum("messages"),
                "bytes": self.sum("bytes"),
            },
            "ledger": self.standings[0]["ledger"],
            "postgres": self.uses_postgres,
            "seconds": self.seconds,
        });
        if self.folder.is_kept() {
            value["release"] = json!(self.town.hospitals[0].release());
        }
        value
    }

    /// Says where everything is, here and in the folder.
    fn end(&self, mut text: String, value: Value) -> Result<Answer, CliError> {
        let folder = self.folder;
        if folder.is_kept() {
            let release = self.town.hospitals[0].release();
            let study = folder.shown(&folder.path().join("study/study.toml"));
            folder.explain(&explanation(&folder.shown(&release), &study))?;
            text.push_str(&format!(
                "\nreport: {}\nkept: {} (README.txt says what is what)\n",
                folder.shown(&release.join("report.html")),
                folder.shown(folder.path())
            ));
        } else {
            text.push_str("\nEverything is removed again, as --remove says.\n");
        }
        Ok(Answer::new(text, &value, true))
    }
}

/// What is what in the folder of a demo.
fn explanation(release: &str, study: &str) -> String {
    format!(
        "study/                  the study that all have read and signed, with its taxonomies
NAME/patients.csv       the records of one of them, which nobody else has seen
NAME/secret.key         its key
NAME/site.toml          what its node may do: where its records are, and what it accepts
NAME/node.log           what its node has said
NAME/data/release-1/    the release, the same at all: its table, manifest.json and report.html

Open {release}/report.html in a browser.
See for yourself that the release holds:
  hedgerow verify {release} --study {study}
"
    )
}
