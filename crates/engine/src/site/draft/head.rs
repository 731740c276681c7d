//! The part of a drafted `site.toml` above `[accept]`: who the site is, where its rows are, and the ways to
//! its peers.

use std::path::{Path, PathBuf};

use hedgerow_data::document::quoted;
use hedgerow_node::agreement::Agreement;

use super::{SiteDraft, comment, relative};

/// The head of the file that belongs at `file`, and what a person must still fill in.
pub(super) fn head(
    agreement: &Agreement,
    place: usize,
    file: &Path,
    options: &SiteDraft,
) -> (String, Vec<String>) {
    let study = &agreement.study;
    let own = &study.sites[place];
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut todo = Vec::new();
    let mut text = comment(
        "",
        &format!(
            "What is `{}`'s alone in the study `{}`: nobody else sees this file. The privacy officer decides what stands below [accept].",
            own.name, study.name
        ),
    );
    text.push_str(&comment("", "A line that begins with # and no space is a rule to which nobody has agreed yet. Read the words above it, and take the # away to agree. What stays behind a # is refused."));
    text.push_str(&comment(
        "",
        "hedgerow site check says which lines are still closed, before anybody signs.",
    ));
    let mut set = |key: &str, value: &str, comment: &str| {
        let line = format!("{key} = {value}");
        text.push_str(&format!("{line:<36}# {comment}\n"));
    };
    text_line(&mut set, "site", &own.name, "its name in the study");
    let study_file = relative(folder, agreement.path());
    text_line(
        &mut set,
        "study",
        &shown(&study_file),
        "signatures lie beside it",
    );
    let key = match &options.key {
        Some(key) => relative(folder, key),
        None => PathBuf::from(key_file(&own.name)),
    };
    text_line(
        &mut set,
        "key",
        &shown(&key),
        "the secret key, which hedgerow keygen makes",
    );
    text_line(
        &mut set,
        "data",
        "data",
        "the journal and the releases lie here",
    );
    match &own.address {
        Some(address) => text.push_str(&comment(
            "",
            &format!("The node listens at {address}, as the study says; listen = \"0.0.0.0:7401\" says another address of this machine."),
        )),
        None => {
            text.push_str(&comment("", "TODO: where the node listens, which the study does not say, such as 0.0.0.0:7401: write it here, and take the # and the space away."));
            text.push_str("# listen = \"TODO\"\n");
            todo.push(String::from("`listen`: the study has no address of this site"));
        }
    }
    text.push_str("\n[source]\n");
    match &options.rows {
        Some(rows) => text.push_str(&format!(
            "file = {}\n",
            quoted(&shown(&relative(folder, rows)))
        )),
        None => {
            text.push_str("file = \"patients.csv\"               # TODO: where the rows are; [source.postgres] reads a database\n");
            todo.push(String::from("`source.file`: where this site's rows are"));
        }
    }
    let peers = study.sites.iter().enumerate();
    for (_, peer) in peers.filter(|(other, peer)| *other != place && peer.address.is_none()) {
        text.push('\n');
        text.push_str(&comment(
            "",
            &format!("TODO: the study has no address of `{}`: ask its steward, write it here, and take each # and the space behind it away.", peer.name),
        ));
        text.push_str(&format!(
            "# [[peer]]\n# name = {}\n# address = \"TODO\"\n",
            quoted(&peer.name)
        ));
        todo.push(format!(
            "`peer`: the study has no address of `{}`",
            peer.name
        ));
    }
    text.push('\n');
    (text, todo)
}

fn text_line(set: &mut impl FnMut(&str, &str, &str), key: &str, value: &str, comment: &str) {
    set(key, &quoted(value), comment);
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The file of a site's key, where nobody says.
fn key_file(site: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    match !site.is_empty() && site.chars().all(is_plain) {
        true => format!("{site}.key"),
        false => String::from("secret.key"),
    }
}
