//! The disclosures of all protocols in plain words, for whoever decides and is no cryptographer: what is
//! told, to whom, and what a peer could work out from it. A protocol's own documentation (`# Discloses`)
//! is what these words say; a test sees that every disclosure of every protocol is explained.

mod horizontal;
mod vertical;

use hedgerow_protocols::horizontal::requirement::COALITIONS;
use hedgerow_smc::{RoleChoice, Security, What};

/// A disclosure in plain words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explained {
    /// The name of the disclosure in ledgers and in `accept.disclosures`.
    pub name: &'static str,
    /// Who learns it.
    pub learners: Learners,
    /// What is told.
    pub tells: &'static str,
    /// What a peer could work out from it.
    pub reveals: &'static str,
}

/// Who learns something in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Learners {
    /// All sites.
    All,
    /// Each site, about its own people.
    Each,
    /// The next site on the ring.
    Next,
    /// The first site of the study.
    First,
    /// The site that compares encrypted identifiers; at the published level all sites.
    Comparer,
    /// The sites that hold no quasi-identifier.
    WithoutQuasi,
    /// The site that asks a question.
    Asker,
}

impl Learners {
    /// The learners in words.
    pub const fn words(self, security: Security) -> &'static str {
        match (self, security) {
            (Self::All, _) | (Self::Comparer, Security::Published) => "every site",
            (Self::Each, _) => "each site, about its own people",
            (Self::Next, _) => "the next site on the ring",
            (Self::First, _) => "the site that the study names first",
            (Self::Comparer, Security::Hardened) => "one site, drawn anew in each run",
            (Self::WithoutQuasi, _) => "each site that holds no quasi-identifier",
            (Self::Asker, _) => "the site that asks",
        }
    }
}

const fn all(name: &'static str, tells: &'static str, reveals: &'static str) -> Explained {
    to(Learners::All, name, tells, reveals)
}

const fn to(
    learners: Learners,
    name: &'static str,
    tells: &'static str,
    reveals: &'static str,
) -> Explained {
    Explained {
        name,
        learners,
        tells,
        reveals,
    }
}

/// A disclosure in plain words.
///
/// ```
/// use hedgerow::{Draft, Study, explained};
///
/// let study = Study::parse(Study::draft(Draft::Horizontal), ".")?;
/// for what in study.discloses()? {
///     assert!(explained(what).is_some(), "{}", what.name());
/// }
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub fn explained(what: What) -> Option<&'static Explained> {
    let mut all = horizontal::EXPLAINED.iter().chain(vertical::EXPLAINED);
    all.find(|explained| explained.name == what.name())
}

/// What a security level cannot hide besides, among so many sites: from common numbers and answers, to a
/// site that knows its own part of them, or to sites that put together what they saw.
pub(crate) fn besides(
    sites: usize,
    (security, roles): (Security, RoleChoice),
    discloses: &[What],
) -> Option<&'static str> {
    let leaves_sites_out = discloses.contains(&COALITIONS);
    match (sites, security) {
        (0 | 1, _) => None,
        (2, _) => Some(
            "with two sites, each takes its own records away from a common number and has the other's, a value that is not its own is the other's, and a yes or no bounds the other's: no protocol can hide that",
        ),
        (_, Security::Published) => Some(
            "at the published level the two neighbours of a site on the ring can together work out that site's own numbers",
        ),
        (_, Security::Hardened) if leaves_sites_out && roles == RoleChoice::Spread => Some(
            "two sites that both hold a role in a question can together learn the number behind its yes or no: of questions that leave one site out, the counts of at most one other site (with four sites, of both others)",
        ),
        (_, Security::Hardened) if leaves_sites_out => Some(
            "two of the three sites that hold roles in a run, drawn for each run, can together learn the numbers behind each yes or no, and from questions that leave one site out how many records every site has in a part",
        ),
        (_, Security::Hardened) => Some(
            "two of the three sites that hold roles in a run, drawn for each run, can together learn the numbers behind each yes or no, and how far the sites' numbers differ where it is asked who has the greatest",
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// The names of all disclosures, as the sources of the protocols write them outside of tests and
    /// examples.
    fn names() -> BTreeSet<String> {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut files = Vec::new();
        for folder in ["protocols/src", "smc/src"] {
            gather(&crates.join(folder), &mut files);
        }
        let mut names = BTreeSet::new();
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            for declared in text.split("\npub const ").skip(1) {
                let Some((head, rest)) = declared.split_once("What::new(") else {
                    continue;
                };
                if head.contains(';') || !head.contains(": What") {
                    continue;
                }
                let mut quoted = rest.split('"');
                names.extend(quoted.nth(1).map(str::to_owned));
            }
        }
        names
    }

    fn gather(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                gather(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }

    #[test]
    fn every_disclosure_of_every_protocol_is_explained_once_and_no_other() {
        let names = names();
        assert!(names.len() > 60, "{}", names.len());
        let all = horizontal::EXPLAINED.iter().chain(vertical::EXPLAINED);
        let mut seen = BTreeSet::new();
        for explained in all {
            let Explained {
                name,
                tells,
                reveals,
                ..
            } = explained;
            assert!(seen.insert((*name).to_owned()), "explained twice: {name}");
            for text in [tells, reveals] {
                assert!(
                    text.ends_with('.') && !text.contains('\n'),
                    "{name}: {text}"
                );
            }
        }
        let missing: Vec<&String> = names.difference(&seen).collect();
        let left: Vec<&String> = seen.difference(&names).collect();
        assert!(
            missing.is_empty() && left.is_empty(),
            "{missing:?} {left:?}"
        );
    }
}
