//! The steps of setting a site up: what is done, what is open, and by which command.

use std::path::{Path, PathBuf};

use hedgerow::node::agreement::{Agreement, Standing};
use hedgerow::node::identity::Secret;
use hedgerow::node::source::Source;
use hedgerow::{NodeStatus, Site};

use super::faults;
use crate::html::parts::shell;
use crate::jobs::Job;
use crate::role::Role;

/// How a step stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Done,
    Open,
    /// Another step comes before it, or it is being looked at.
    Waiting,
}

/// A step.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) title: &'static str,
    pub(super) is: State,
    pub(super) words: String,
    /// What is public and can be copied.
    pub(super) public: Option<String>,
    /// Whether the page can make the key.
    pub(super) makes_key: bool,
    pub(super) link: Option<(&'static str, &'static str)>,
    pub(super) command: Option<String>,
}

/// What is known of the site without asking anybody else.
pub(super) struct Facts {
    name: String,
    warnings: Vec<String>,
    /// The public half of the key; or why there is none.
    key: Result<String, String>,
    is_key_there: bool,
    key_path: PathBuf,
    study_path: PathBuf,
    pub(super) study: Result<StudyOf, String>,
    source: Source,
    accepts: bool,
    node: Option<NodeStatus>,
}

/// The study, as far as a set-up needs it.
pub(super) struct StudyOf {
    /// The sites: name, whether a key is pinned, whether an address is known, the standing of the signature.
    sites: Vec<(String, bool, bool, Option<Standing>)>,
    /// The key that is pinned for this site.
    own_key: Option<String>,
}

impl Facts {
    pub(super) fn of(site: &Site) -> Self {
        let file = site.file();
        let known = |name: &str| file.peers.iter().any(|(peer, _)| peer == name);
        let study = Agreement::open(&file.study).map_err(|error| error.to_string());
        let study = study.map(|agreement| {
            let standings = agreement.standings().ok();
            let sites = agreement.study.sites.iter().enumerate();
            let own = agreement
                .study
                .sites
                .iter()
                .find(|one| one.name == file.name);
            StudyOf {
                own_key: own.and_then(|one| one.key.clone()),
                sites: sites
                    .map(|(place, one)| {
                        let standing = standings.as_ref().and_then(|all| all.get(place).copied());
                        let is_known = one.address.is_some() || known(&one.name);
                        (one.name.clone(), one.key.is_some(), is_known, standing)
                    })
                    .collect(),
            }
        });
        let secret = Secret::open(&file.key);
        Self {
            name: file.name.clone(),
            warnings: file.warnings.clone(),
            key: secret
                .map(|one| one.public().to_string())
                .map_err(|error| error.to_string()),
            is_key_there: file.key.symlink_metadata().is_ok(),
            key_path: file.key.clone(),
            study_path: file.study.clone(),
            study,
            source: file.source.clone(),
            accepts: file.accept.minimum_k.is_some(),
            node: site.node().ok(),
        }
    }
}

impl Item {
    fn new(title: &'static str, is: State, words: impl Into<String>) -> Self {
        Self {
            title,
            is,
            words: words.into(),
            public: None,
            makes_key: false,
            link: None,
            command: None,
        }
    }

    fn command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    const fn link(mut self, path: &'static str, words: &'static str) -> Self {
        self.link = Some((path, words));
        self
    }
}

const fn done_if(is_done: bool) -> State {
    match is_done {
        true => State::Done,
        false => State::Open,
    }
}

/// All steps.
pub(super) fn items(
    facts: &Facts,
    check: Option<&Job>,
    roles: &[Role],
    (site, path): (&str, &Path),
) -> Vec<Item> {
    vec![
        file(facts, site, path),
        users(roles, site),
        key(facts),
        study(facts),
        peers(facts),
        rows(facts, check, site),
        rules(facts, check, site),
        signed(facts, site),
        node(facts, site),
    ]
}

fn file(facts: &Facts, site: &str, path: &Path) -> Item {
    let title = "The site’s file";
    match facts.warnings.as_slice() {
        [] => Item::new(
            title,
            State::Done,
            format!(
                "This is the site {}; its file is {}.",
                facts.name,
                path.display()
            ),
        ),
        warnings => Item::new(title, State::Open, warnings.join("\n")),
    }
    .command(format!(
        "hedgerow site new --study {} --site {} --out {site}",
        shell(&facts.study_path),
        shell(Path::new(&facts.name))
    ))
}

fn users(roles: &[Role], site: &str) -> Item {
    let missing: Vec<&str> = [Role::Steward, Role::Officer]
        .into_iter()
        .filter(|role| !roles.contains(role))
        .map(Role::name)
        .collect();
    let words = match missing.as_slice() {
        [] => String::from(
            "There is a steward, who sets studies up, and an officer, who signs. Nobody is both.",
        ),
        missing => format!(
            "There is no {} yet. Who sets a study up does not sign it.",
            missing.join(" and no ")
        ),
    };
    let role = missing.first().copied().unwrap_or("analyst");
    Item::new(
        "Who may use these pages",
        done_if(missing.is_empty()),
        words,
    )
    .link("/users", "To the users")
    .command(format!(
        "hedgerow console user add NAME --role {role} --site {site}"
    ))
}

fn key(facts: &Facts) -> Item {
    let command = format!("hedgerow keygen --out {}", shell(&facts.key_path));
    let pinned = facts
        .study
        .as_ref()
        .ok()
        .and_then(|study| study.own_key.as_ref());
    match (&facts.key, pinned) {
        (Ok(public), Some(pinned)) if pinned != public => Item {
            public: Some(format!("key = \"{public}\"")),
            ..Item::new("This site’s key", State::Open, "The study has another key for this site. Either this is not the key that was made for it, or the study has an old line. The public half of the key here is:")
        },
        (Ok(public), _) => Item {
            public: Some(format!("key = \"{public}\"")),
            ..Item::new("This site’s key", State::Done, "The key is there, and its owner alone may read it. This line is public, and belongs below this site’s [[site]] in the study:")
        },
        (Err(_), _) if !facts.is_key_there => Item {
            makes_key: true,
            ..Item::new("This site’s key", State::Open, "There is no key yet. It is made once, on this machine, and stays here: nobody sees it, and none can be sent to this page.")
        },
        (Err(why), _) => Item::new("This site’s key", State::Open, why.clone()),
    }
    .command(command)
}

fn study(facts: &Facts) -> Item {
    let title = "The study";
    match &facts.study {
        Ok(_) => Item::new(
            title,
            State::Done,
            format!("The study can be read: {}.", facts.study_path.display()),
        )
        .link("/study", "Read it"),
        Err(_) if !facts.study_path.exists() => Item::new(
            title,
            State::Open,
            "There is no study yet. The steward drafts one here, or puts the one that another site has sent to where this site’s file says.",
        )
        .link("/draft", "Draft one"),
        Err(why) => Item::new(title, State::Open, why.clone()).link("/draft", "Draft one"),
    }
    .command(format!("hedgerow study check {}", shell(&facts.study_path)))
}

fn peers(facts: &Facts) -> Item {
    let title = "The other sites are pinned";
    let Ok(study) = &facts.study else {
        return Item::new(
            title,
            State::Waiting,
            "The study says which sites take part.",
        );
    };
    let peers: Vec<_> = study
        .sites
        .iter()
        .filter(|(name, ..)| *name != facts.name)
        .collect();
    let mut words = Vec::new();
    if peers.is_empty() {
        words.push(String::from("The study names no other site.\nhint: add a [[site]] with name, address and key for each to its text"));
    }
    if peers.len() == study.sites.len() {
        words.push(format!("The study has no site named {}.", facts.name));
    }
    for (name, has_key, has_address, _) in &peers {
        if !has_key {
            words.push(format!("{name} has no key in the study: it sends the line that its hedgerow keygen printed."));
        }
        if !has_address {
            words.push(format!(
                "{name} has no address: in the study, or as a [[peer]] of this site’s file."
            ));
        }
    }
    let names: Vec<&str> = peers.iter().map(|(name, ..)| name.as_str()).collect();
    let item = match words.is_empty() {
        true => Item::new(
            title,
            State::Done,
            format!(
                "Key and address are known of {}. Whether they answer shows when the node is up.",
                names.join(", ")
            ),
        ),
        false => Item::new(title, State::Open, words.join("\n")),
    };
    item.command(format!("hedgerow study show {}", shell(&facts.study_path)))
}

/// What the check says about something: done where it found nothing.
fn by_check(title: &'static str, check: Option<&Job>, about: &str, done: &str) -> Item {
    match (check, faults(check, about)) {
        (_, Some(faults)) if faults.is_empty() => Item::new(title, State::Done, done),
        (_, Some(faults)) => Item::new(title, State::Open, faults.join("\n")),
        (Some(Job::Failed(why)), None) => Item::new(title, State::Open, why.clone()),
        (Some(_), None) => Item::new(
            title,
            State::Waiting,
            "This is being looked at. Reload the page in a moment.",
        ),
        (None, None) => Item::new(
            title,
            State::Waiting,
            "The study says what is looked for, and cannot be read yet.",
        ),
    }
}

fn rows(facts: &Facts, check: Option<&Job>, site: &str) -> Item {
    let what = match &facts.source {
        Source::File(path) => format!("the file {}", path.display()),
        Source::Postgres(_) => String::from("a PostgreSQL database"),
        Source::Engine(_) => String::from("files whose records an engine counts"),
    };
    let done = format!("The rows can be read and fit the study: {what}. They stay there.");
    let mut item = by_check("The rows", check, "rows", &done);
    if item.is == State::Open {
        item.words = format!("The rows are in {what}.\n{}", item.words);
    }
    item.command(format!("hedgerow site check {site}"))
}

fn rules(facts: &Facts, check: Option<&Job>, site: &str) -> Item {
    if !facts.accepts {
        return Item::new(
            "What this site accepts",
            State::Open,
            "Nothing is accepted: [accept] in the site’s file has no minimum_k. What is not written there is refused.\nhint: the privacy officer reads the lines of a drafted file and takes the # away where the site agrees",
        )
        .command(format!("hedgerow site new --study {} --site {} --out drafted.toml", shell(&facts.study_path), shell(Path::new(&facts.name))));
    }
    let done = "The rules of this site let the study in.";
    let item = by_check("What this site accepts", check, "accept", done);
    item.link("/study", "The rules beside the study")
        .command(format!("hedgerow site check {site}"))
}

fn signed(facts: &Facts, site: &str) -> Item {
    let title = "Everybody has signed";
    let Ok(study) = &facts.study else {
        return Item::new(title, State::Waiting, "There is nothing to sign yet.");
    };
    let unsigned = study.sites.iter();
    let unsigned = unsigned.filter(|(.., standing)| *standing != Some(Standing::Signed));
    let unsigned: Vec<&str> = unsigned.map(|(name, ..)| name.as_str()).collect();
    match unsigned.is_empty() && !study.sites.is_empty() {
        true => Item::new(
            title,
            State::Done,
            "Every site has signed the study as it is.",
        ),
        false if unsigned.is_empty() => {
            Item::new(title, State::Waiting, "The study names no sites.")
        }
        false => Item::new(
            title,
            State::Open,
            format!("Not signed yet by {}.", unsigned.join(", ")),
        ),
    }
    .link("/study", "Read and sign")
    .command(format!("hedgerow study sign --site {site}"))
}

fn node(facts: &Facts, site: &str) -> Item {
    let title = "The node is up";
    let command = format!("hedgerow node --site {site}");
    let Some(node) = &facts.node else {
        return Item::new(
            title,
            State::Waiting,
            "The node serves a study, and there is none.",
        )
        .command(command);
    };
    let away: Vec<&str> = node
        .peers
        .iter()
        .filter(|peer| !peer.is_connected)
        .map(|peer| peer.site.as_str())
        .collect();
    match (node.is_up, away.as_slice()) {
        (false, _) => Item::new(
            title,
            State::Open,
            "The node is down. It waits for runs and takes this site’s part in them.",
        ),
        (true, []) => Item::new(
            title,
            State::Done,
            "The node is up, and every peer is connected.",
        ),
        (true, away) => Item::new(
            title,
            State::Done,
            format!(
                "The node is up. Not connected now: {}; sites connect when a run begins.",
                away.join(", ")
            ),
        ),
    }
    .link("/", "To the overview")
    .command(command)
}
