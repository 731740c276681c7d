//! What a demo of institutions that know the same patients tells the person who runs it.

use hedgerow::Verdict;
use hedgerow::words::{aligned, count, thousands};
use serde_json::{Value, json};

use super::hospitals::{Folder, Town};
use super::{Cost, kept, ncp};
use crate::error::CliError;
use crate::output::Answer;

/// The result of the demo.
pub(super) struct Told<'a> {
    pub(super) town: &'a Town,
    pub(super) joint: &'a Verdict,
    /// What each node says.
    pub(super) answers: &'a [Value],
    pub(super) uses_postgres: bool,
    pub(super) seconds: f64,
}

impl Told<'_> {
    pub(super) fn answer(&self, folder: &Folder) -> Result<Answer, CliError> {
        let cost = Cost::sum(self.answers);
        let ledger = &self.answers[0]["ledger"];
        let sites = self.town.hospitals.iter().enumerate();
        let sites: Vec<Value> = sites
            .map(|(place, site)| json!({ "site": site.name, "people": site.people, "columns": self.columns(place) }))
            .collect();
        let mut value = json!({
            "holds": true,
            "records": self.joint.found.records,
            "sites": sites,
            "together": { "groups": self.joint.found.classes, "ncp": ncp(self.joint) },
            "cost": { "rounds": cost.rounds, "messages": cost.messages, "bytes": cost.bytes },
            "ledger": ledger,
            "postgres": self.uses_postgres,
            "seconds": self.seconds,
        });
        if folder.is_kept() {
            value["release"] = json!(self.town.hospitals[0].release());
        }
        let learned = ledger.as_array().map_or(0, Vec::len);
        let mut text = self.head()?;
        text.push_str(&format!(
            "{} rounds, {} messages, {:.1} MB between the nodes; {:.1} s in all\n",
            thousands(cost.rounds),
            thousands(cost.messages),
            cost.bytes as f64 / 1e6,
            self.seconds
        ));
        text.push_str(&format!(
            "each learned {learned} kinds of things beyond its own table, every one allowed by the study; the\nmanifest lists them with the theorem that allows each\n"
        ));
        text.push_str(&kept(self.town, folder));
        Ok(Answer::new(text, &value, true))
    }

    /// The verdict, which institution holds which columns, and what the verdict means.
    fn head(&self) -> Result<String, CliError> {
        let mut rows = vec![
            ["institution", "people", "holds"]
                .map(String::from)
                .to_vec(),
        ];
        for (place, site) in self.town.hospitals.iter().enumerate() {
            let columns = self.columns(place).join(", ");
            rows.push(vec![site.name.clone(), thousands(site.people), columns]);
        }
        let files = self.town.study.declared().release_tables();
        Ok(format!(
            "the release holds: {} whom all three know in {}, the same at all three and signed by all\n{}\
             who is known to all was found from identifiers under the keys of all three; nobody saw\n\
             another's list. Together they cut everybody into groups: whoever has the widest attribute of a\n\
             group cuts it and tells who goes left; no value left its institution before the end. Published are\n\
             {}\
             joined by the number of a group and by nothing else\n\
             every group satisfies {}; lost is {:.1} % of the detail of quasi-identifiers (NCP)\n",
            count(self.joint.found.records, "patient", "patients"),
            count(self.joint.found.classes, "group", "groups"),
            aligned(&rows),
            files
                .iter()
                .map(|file| format!("  {file}\n"))
                .collect::<String>(),
            self.town.requires()?,
            ncp(self.joint) * 100.0,
        ))
    }

    fn columns(&self, place: usize) -> Vec<&str> {
        let study = self.town.study.declared();
        let split = study.split.as_ref();
        split.map_or_else(Vec::new, |split| split.names(&study.schema, place))
    }
}
