//! Which runs may begin or go on at this site: numbers increase by one, through all versions of a study,
//! a run that is over does not begin again, and a run does not share its files with one of another
//! study.

use std::path::Path;

use hedgerow_node::Reason;
use hedgerow_node::agreement::StudyHash;
use hedgerow_node::journal::{Entry, Journal, JournalError};
use hedgerow_node::knock::Due;

use super::refused::SiteRefused;
use crate::error::Error;

/// Refuses a run that may not begin or go on here, before anything of it is sent. In `versions` the
/// study's own hash stands first.
pub(crate) fn require_due(data: &Path, versions: &[StudyHash], number: u32) -> Result<(), Error> {
    let entries = Journal::list(data)?;
    let (own, others): (Vec<&Entry>, Vec<&Entry>) = entries
        .iter()
        .partition(|entry| versions.contains(&entry.study));
    let is_left = |entry: &&&Entry| Some(&entry.study) != versions.first() && !entry.is_over;
    if let Some(left) = own.iter().find(is_left) {
        return Err(Error::Site(SiteRefused::EarlierVersion {
            data: data.to_owned(),
            run: left.number,
            study: left.study,
        }));
    }
    if let Some(entry) = own.iter().find(|entry| entry.number == number) {
        return match entry {
            Entry {
                is_given_up: true, ..
            } => Err(JournalError::GivenUp { run: number }.into()),
            Entry { is_over: true, .. } => Err(JournalError::Over { run: number }.into()),
            _ => Ok(()),
        };
    }
    if !is_due(&own, number) {
        return Err(Error::Journal(JournalError::NotDue {
            run: number,
            last: own.iter().map(|entry| entry.number).max(),
        }));
    }
    let is_under_way = |entry: &&&Entry| entry.number == number && !entry.is_over;
    if let Some(other) = others.iter().find(is_under_way) {
        return Err(Error::Site(SiteRefused::OtherStudy {
            data: data.to_owned(),
            run: number,
            study: other.study,
        }));
    }
    let folders = ["release", "virtual"].map(|name| data.join(format!("{name}-{number}")));
    match folders.into_iter().find(|folder| folder.exists()) {
        Some(folder) => Err(SiteRefused::ReleaseThere {
            folder,
            run: number,
        }
        .into()),
        None => Ok(()),
    }
}

/// What this site's node says to a site that asks for a run.
pub(crate) fn answer(data: &Path, versions: &[StudyHash], number: u32) -> Result<(), Reason> {
    let entries = Journal::list(data).unwrap_or_default();
    let own = of_versions(&entries, versions);
    match own.iter().find(|entry| entry.number == number) {
        Some(entry) if entry.is_given_up => Err(Reason::GivenUp),
        Some(entry) if entry.is_over => Err(Reason::Over),
        _ => is_due(&own, number).then_some(()).ok_or(Reason::OtherRun),
    }
}

/// The run that is due at this site: the last run, or the run after it if the last is over.
pub(crate) fn due(data: &Path, versions: &[StudyHash]) -> Due {
    let entries = Journal::list(data).unwrap_or_default();
    let own = of_versions(&entries, versions);
    match own.iter().max_by_key(|entry| entry.number) {
        Some(last) if !last.is_over => Due {
            number: last.number,
            is_under_way: true,
        },
        last => Due {
            number: last.map_or(1, |last| last.number.saturating_add(1)),
            is_under_way: false,
        },
    }
}

fn of_versions<'e>(entries: &'e [Entry], versions: &[StudyHash]) -> Vec<&'e Entry> {
    let own = entries.iter();
    own.filter(|entry| versions.contains(&entry.study))
        .collect()
}

/// Whether a run of a study with these runs may begin or go on, by its number.
fn is_due(entries: &[&Entry], number: u32) -> bool {
    let last = entries.iter().map(|entry| entry.number).max().unwrap_or(0);
    let is_under_way = |entry: &&Entry| entry.number == number && !entry.is_over;
    last.checked_add(1) == Some(number) || entries.iter().any(is_under_way)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u32, is_over: bool) -> Entry {
        Entry {
            study: StudyHash([0; 32]),
            number,
            site: 0,
            sites: 2,
            rows: vec![7; 32],
            is_over,
            is_given_up: false,
            started: String::new(),
            ended: None,
            frames: Vec::new(),
        }
    }

    #[test]
    fn runs_under_way_and_the_next_are_due() {
        assert!(is_due(&[], 1) && !is_due(&[], 2));
        let entries = [entry(1, true), entry(2, false), entry(3, true)];
        let entries: Vec<&Entry> = entries.iter().collect();
        let due: Vec<u32> = (0..6).filter(|number| is_due(&entries, *number)).collect();
        assert_eq!(due, [2, 4]);
        assert!(!is_due(&[&entry(u32::MAX, true)], 0));
    }
}
