//! What a check of a site's file says to people.

use std::fmt;

use super::{Change, SiteCheck, SiteFault, SiteLine};
use crate::words::{count, one_line};

impl fmt::Display for SiteCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (site, study) = (&self.site, &self.study);
        match self.accepted {
            true => writeln!(
                f,
                "ACCEPTED: `{site}` would take part in a run of `{study}`"
            )?,
            false => writeln!(
                f,
                "REFUSED: `{site}` would not take part in a run of `{study}`, for {}",
                self.number()
            )?,
        }
        for fault in &self.faults {
            self.tell(f, fault)?;
        }
        if let Some(records) = self.records {
            let records = count(records, "record", "records");
            let fit = self.faults.iter().all(|fault| fault.about != "rows");
            let said = if fit { "fit the study" } else { "were read" };
            writeln!(f, "rows: {records} {said}")?;
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        if self.accepted && !self.unsigned.is_empty() {
            let unsigned = hedgerow_data::quoted_list(&self.unsigned);
            writeln!(f, "not signed yet by {unsigned}")?;
        }
        Ok(())
    }
}

impl SiteCheck {
    fn tell(&self, f: &mut fmt::Formatter<'_>, fault: &SiteFault) -> fmt::Result {
        let is_word = |line: &SiteLine| matches!(line.change, Change::Uncomment | Change::Add);
        let why = match fault.lines.len() {
            // Each of them is named below.
            words if words > 1 && fault.lines.iter().all(is_word) => {
                format!("{words} that the study needs are not accepted")
            }
            _ => fault.why.replace('\n', "\n    "),
        };
        writeln!(f, "  {}: {why}", fault.about)?;
        for SiteLine {
            change,
            line,
            last,
            text,
        } in &fault.lines
        {
            let text = one_line(text);
            let mut at = self.file.display().to_string();
            if let Some(line) = line {
                at.push_str(&format!(":{line}"));
            }
            if let Some(last) = last.filter(|_| *change != Change::Add) {
                at.push_str(&format!(" to {last}"));
            }
            match (change, line) {
                (Change::Uncomment, _) => writeln!(f, "    {at}: take the # away: {text}")?,
                (Change::Rewrite, _) => writeln!(f, "    {at}: write {text}")?,
                (Change::Add, Some(_)) => writeln!(f, "    {at}: add {text} to the list")?,
                (Change::Remove, _) => writeln!(f, "    {at}: take {text} away")?,
                (Change::Choose, _) => writeln!(f, "    {at}: set {text}")?,
                (Change::Add, None) => writeln!(f, "    {at}: add to [accept]: {text}")?,
            }
        }
        Ok(())
    }
}
