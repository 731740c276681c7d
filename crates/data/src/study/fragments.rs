//! The files of a fragmented release: a table of quasi-identifiers and one of each other attribute,
//! whose names are made of the attributes'.

use super::Algorithm;
use crate::attribute::{Role, Schema};
use crate::document::{DocumentError, Section};
use crate::nearest::shorten;

/// The column that joins the tables of a fragmented release.
pub const GROUP: &str = "group";

/// The table of quasi-identifiers.
pub const QUASI_FILE: &str = "quasi.csv";

/// The longest name of an attribute that a file is named after, in bytes.
const LONGEST: usize = 200;

/// Refuses attributes that no file or column can be named after.
pub(super) fn refuse(
    root: &Section<'_>,
    schema: &Schema,
    algorithm: Algorithm,
) -> Result<(), DocumentError> {
    let mut files: Vec<String> = Vec::new();
    for (section, attribute) in root.sections("attribute")?.iter().zip(schema.attributes()) {
        let name = &attribute.name;
        if name == GROUP {
            let message = format!(
                "a fragmented release has a column `{GROUP}` of its own\nhint: call this one something else"
            );
            return Err(section.wrong("name", message));
        }
        let is_odd = |letter: char| matches!(letter, '/' | '\\' | ':') || letter.is_control();
        if let Some(file) = file_of(attribute.role, name) {
            if name.contains(is_odd) || name.len() > LONGEST {
                let message = format!(
                    "a fragmented release has a file named after `{}`, which no file can be\nhint: call it something of at most {LONGEST} bytes without / \\ : and control characters",
                    shorten(&name.escape_debug().to_string())
                );
                return Err(section.wrong("name", message));
            }
            // Some machines do not tell files apart by case.
            let file = file.to_lowercase();
            if files.contains(&file) {
                let message = format!(
                    "a fragmented release has a file named after `{name}`, and another attribute's differs by case only\nhint: call it something else"
                );
                return Err(section.wrong("name", message));
            }
            files.push(file);
        }
        if attribute.recode.is_some() && algorithm == Algorithm::D2pt {
            let message = "`attribute.recode` has no meaning for `d2pt`, which writes nodes of taxonomies\nhint: leave it out";
            return Err(section.wrong("recode", message));
        }
    }
    Ok(())
}

/// The file that holds an attribute alone, if the attribute's role has such a file.
fn file_of(role: Role, name: &str) -> Option<String> {
    match role {
        Role::Sensitive => Some(format!("sensitive-{name}.csv")),
        Role::Other => Some(format!("other-{name}.csv")),
        Role::Quasi | Role::Identifier => None,
    }
}

/// The attributes of a fragmented release that have a file to themselves, by position.
pub(crate) fn fragment_files(schema: &Schema) -> Vec<(usize, String)> {
    let attributes = schema.attributes().iter().enumerate();
    attributes
        .filter_map(|(at, attribute)| Some((at, file_of(attribute.role, &attribute.name)?)))
        .collect()
}
