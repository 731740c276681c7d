//! Questions to the sites of a simulation: the virtual database that they hold together, with what a
//! question costs and, at the published level, what it gives away.

use hedgerow_protocols::query::{Answered, Held, ask};
use hedgerow_smc::exposure::{self, LossOfPrivacy, Witness};
use hedgerow_smc::memory::{self, LinkModel};
use hedgerow_smc::{Security, Site};
use serde::Serialize;

use super::statement::Statement;
use super::table::Answers;
use crate::error::Error;
use crate::exposure::rows;
use crate::simulate::Simulation;
use crate::study::Study;
use crate::words::{aligned, count, thousands};

/// What simulated sites answered, and what the question cost.
///
/// Its [`Display`](std::fmt::Display) is for people, its JSON for machines.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Asked {
    /// The answer.
    #[serde(flatten)]
    pub answers: Answers,
    /// The sites that were asked.
    pub sites: usize,
    /// Rounds of messages.
    pub rounds: u64,
    /// Messages.
    pub messages: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// What the messages would take between institutions: 30 ms, 100 Mbit/s.
    pub wan_seconds: f64,
    /// The loss of privacy, measured on what went around the ring; at the published level, where something
    /// did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_of_privacy: Option<LossOfPrivacy>,
}

impl Simulation {
    /// Asks the table that the simulated sites hold together, each its own rows as the run left them. The
    /// first site asks.
    ///
    /// ```
    /// use hedgerow::{Options, Sites, Study, Table, simulate};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("patients.csv");
    /// # let rows: String = (0..90).map(|row| format!("{},{}\n", row, ["flu", "ulcer"][row % 2])).collect();
    /// # std::fs::write(&path, format!("age,disease\n{rows}"))?;
    /// # let study = Study::parse("[study]\nname = \"s\"\npartition = \"horizontal\"\n[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 119]\n[[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"flu\", \"ulcer\"]\n[require]\nk = 5\nm = 1\n", ".")?;
    /// let statement = study.statement("SELECT count(*) FROM s WHERE age < 30 AND disease = 'flu'")?;
    /// let options = Options::new();
    /// let simulation = simulate(&study, &Sites::dealt(Table::file(path), 3), &options)?;
    /// let asked = simulation.ask(&study, &statement, &options)?;
    /// let row = &asked.answers.rows[0];
    /// let (low, high) = (row[0].as_i64(), row[2].as_i64());
    /// assert!(low <= Some(15) && Some(15) <= high && asked.rounds <= 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ask(
        &self,
        study: &Study,
        statement: &Statement,
        options: &crate::options::Options,
    ) -> Result<Asked, Error> {
        let held = Held::shared(&self.local);
        if held.is_empty() {
            return Err(super::error::AskError::NoSites.into());
        }
        let is_published = study.settings().security == Security::Published;
        let simulation = memory::Simulation::new(held.len(), options.seed)
            .settings(study.settings().of_parties(held.len()))
            .model(LinkModel::WAN);
        // Sites that keep their lines are joined before a question is asked.
        let joining = simulation.run(|_| async { Ok::<_, hedgerow_protocols::Error>(()) });
        let outcome = simulation.run(|mut party| {
            let held = &held[party.me().index()];
            async move {
                if is_published {
                    party.keep_witness();
                }
                let mut answered = Vec::with_capacity(statement.questions().len());
                for question in statement.questions() {
                    answered.push(ask(&mut party, held, question, Site::new(0)).await?);
                }
                Ok::<_, hedgerow_protocols::Error>((answered, party.take_witness()))
            }
        });
        let (traffic, elapsed) = (outcome.traffic.clone(), outcome.elapsed);
        let (answered, witnesses): (Vec<Vec<Answered>>, Vec<Option<Witness>>) =
            outcome.into_values()?.into_iter().unzip();
        let witnesses: Vec<Witness> = witnesses.into_iter().flatten().collect();
        let loss = exposure::measure(&witnesses);
        Ok(Asked {
            answers: statement.answers(answered.first().map_or(&[], Vec::as_slice)),
            sites: held.len(),
            rounds: u64::from(traffic.rounds.saturating_sub(joining.traffic.rounds)),
            messages: traffic.messages() - joining.traffic.messages(),
            bytes: traffic.bytes() - joining.traffic.bytes(),
            wan_seconds: elapsed.saturating_sub(joining.elapsed).as_secs_f64(),
            loss_of_privacy: (loss.extremes.is_some() || loss.unions.is_some()).then_some(loss),
        })
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.answers)?;
        writeln!(
            f,
            "asked of {}: {}, {}, {} bytes, {:.2} s between institutions",
            count(self.sites as u64, "site", "sites"),
            count(self.rounds, "round", "rounds"),
            count(self.messages, "message", "messages"),
            thousands(self.bytes),
            self.wan_seconds,
        )?;
        if let Some(loss) = &self.loss_of_privacy {
            let rows = rows(loss).into_iter().map(|row| row.to_vec());
            f.write_str(&aligned(&rows.collect::<Vec<_>>()))?;
        }
        Ok(())
    }
}
