//! What a study is told as to people.

use std::fmt;

use hedgerow_smc::What;

use super::Shown;
use crate::study::explained::explained;
use crate::words::{NO_RELEASE, aligned, one_line, short};

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nIn plain words\n==============\n{}", self.sites)?;
        writeln!(f, "\nwhat becomes of each column")?;
        let rows = self.columns.iter().map(|column| {
            vec![
                format!("  {}", short(&column.name)),
                column.role.to_owned(),
                column.becomes.to_owned(),
            ]
        });
        f.write_str(&aligned(&rows.collect::<Vec<_>>()))?;
        for (site, columns) in &self.holders {
            let columns: Vec<String> = columns.iter().map(|name| short(name)).collect();
            let columns = columns.join(", ");
            writeln!(f, "  {}", one_line(&format!("`{site}` holds {columns}")))?;
        }
        writeln!(f, "\nwhat is demanded")?;
        for demand in &self.demands {
            writeln!(f, "  - {}", one_line(demand))?;
        }
        writeln!(f, "\nwhat comes of it")?;
        for said in &self.published {
            writeln!(f, "  - {}", one_line(said))?;
        }
        writeln!(f, "\nhow the sites compute it")?;
        for (name, said) in &self.ways {
            writeln!(f, "  - {name}: {said}")?;
        }
        writeln!(
            f,
            "\nwhat a run may show beyond what comes of it; raw rows never leave a site"
        )?;
        for said in self
            .besides
            .into_iter()
            .chain(self.is_virtual.then_some(NO_RELEASE))
        {
            writeln!(f, "  ({said})")?;
        }
        self.tell(f, &self.discloses)?;
        if !self.questions.is_empty() {
            writeln!(f, "\nwhat a question may show, where a site answers it")?;
            self.tell(f, &self.questions)?;
        }
        writeln!(
            f,
            "\nTheorems\n========\nrequires {}",
            one_line(&self.requires)
        )?;
        writeln!(f, "each site may learn")?;
        if self.is_virtual {
            writeln!(f, "  ({NO_RELEASE})")?;
        }
        let rows = self.discloses.iter();
        let rows =
            rows.map(|what| vec![format!("  {}", what.name()), what.allowed_by().to_owned()]);
        f.write_str(&aligned(&rows.collect::<Vec<_>>()))
    }
}

impl Shown {
    /// Disclosures, each with who learns it and what a peer could work out.
    fn tell(&self, f: &mut fmt::Formatter<'_>, disclosed: &[What]) -> fmt::Result {
        for what in disclosed {
            writeln!(f, "  {}", what.name())?;
            if let Some(said) = explained(*what) {
                let learners = said.learners.words(self.security);
                writeln!(f, "    to {learners}: {}", said.tells)?;
                writeln!(f, "    what a peer could work out: {}", said.reveals)?;
            }
        }
        Ok(())
    }
}
