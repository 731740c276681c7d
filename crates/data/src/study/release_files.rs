//! The files of a release: its tables, the package that describes them, and the taxonomies that its
//! cells are made of. Which files these are follows from the study alone.

use super::Study;
use super::fragments::{QUASI_FILE, fragment_files};
use super::virtual_database::CLASSES_FILE;
use crate::attribute::{Role, Schema};

/// The table of a release that is not fragmented, as text.
pub const CSV_FILE: &str = "release.csv";

/// The release's table as Parquet, with types.
pub const PARQUET_FILE: &str = "release.parquet";

/// The description of the CSV files, a Frictionless Data Package.
pub const PACKAGE_FILE: &str = "datapackage.json";

/// The folder of taxonomies in the folder of a release.
pub const TAXONOMIES: &str = "taxonomies";

/// The longest part of a file's name that is taken from an attribute's, in bytes.
const LONGEST: usize = 100;

impl Study {
    /// The tables of a release; the table that is read first stands first.
    pub fn release_tables(&self) -> Vec<String> {
        if self.is_virtual() {
            return vec![String::from(CLASSES_FILE)];
        }
        if !self.is_fragmented() {
            return [CSV_FILE, PARQUET_FILE].map(String::from).into();
        }
        let fragments = fragment_files(&self.schema).into_iter();
        let fragments = fragments.map(|(_, file)| file);
        std::iter::once(String::from(QUASI_FILE))
            .chain(fragments)
            .collect()
    }

    /// The files of a release, or of what all sites of a virtual database know, that all sites have alike,
    /// in a fixed order: tables, package, taxonomies. Folders are told by `/`.
    pub fn release_files(&self) -> Vec<String> {
        let mut files = self.release_tables();
        if !self.is_virtual() {
            files.push(String::from(PACKAGE_FILE));
        }
        files.extend(taxonomy_files(&self.schema).into_iter().flatten());
        files
    }
}

/// For each attribute of a schema the file of its taxonomy in the folder of a release, where the
/// attribute has a taxonomy and may have a column. Names are safe on every machine and differ by more
/// than case.
pub fn taxonomy_files(schema: &Schema) -> Vec<Option<String>> {
    let mut files = TaxonomyFiles::default();
    let attributes = schema.attributes().iter();
    attributes
        .map(|attribute| {
            let is_told = attribute.role != Role::Identifier;
            attribute.domain.taxonomy().filter(|_| is_told)?;
            files.file(&attribute.name)
        })
        .collect()
}

/// Gives each attribute's taxonomy the name of a file in a folder of taxonomies.
#[derive(Debug, Default)]
pub struct TaxonomyFiles {
    taken: Vec<String>,
}

impl TaxonomyFiles {
    /// The file for an attribute of this name.
    pub fn file(&mut self, name: &str) -> Option<String> {
        let stem = safe_name(name);
        let numbered = (2u32..).map(|number| format!("{stem}-{number}"));
        let mut stems = std::iter::once(stem.clone()).chain(numbered);
        let stem = stems.find(|stem| !self.taken.contains(&stem.to_lowercase()))?;
        self.taken.push(stem.to_lowercase());
        Some(format!("{TAXONOMIES}/{stem}.csv"))
    }
}

/// A name of letters, digits, `-` and `_` alone, and no name that an operating system reserves.
pub(crate) fn safe_name(name: &str) -> String {
    let letters = name.chars().map(|letter| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => letter,
        _ => '_',
    });
    let safe: String = letters.take(LONGEST).collect();
    let lower = safe.to_lowercase();
    let is_device = matches!(lower.as_str(), "con" | "prn" | "aux" | "nul")
        || ["com", "lpt"].iter().any(|device| {
            let number = lower.strip_prefix(device);
            number.is_some_and(|number| number.len() == 1 && number.as_bytes()[0].is_ascii_digit())
        });
    match safe.is_empty() || is_device {
        true => format!("_{safe}"),
        false => safe,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::attribute::Attribute;
    use crate::domain::Domain;
    use crate::taxonomy::Taxonomy;

    fn attribute(name: &str, role: Role) -> Attribute {
        Attribute {
            name: name.to_owned(),
            role,
            domain: Domain::category(Taxonomy::flat(&["a", "b"], "values").unwrap(), false),
            recode: None,
            spelling: crate::spelling::Spelling::default(),
            publish_unique: false,
        }
    }

    #[test]
    fn names_are_safe_and_differ_by_more_than_case() {
        let names = [
            "Zip", "zip", "../etc", "a/b", "a:b", "nul", "COM1", "ü", "", "who",
        ];
        let mut all: Vec<Attribute> = names
            .iter()
            .map(|name| attribute(name, Role::Quasi))
            .collect();
        all.last_mut().unwrap().role = Role::Identifier;
        let files = taxonomy_files(&Schema::new(all));
        let files: Vec<&str> = files
            .iter()
            .map(|file| file.as_deref().unwrap_or(""))
            .collect();
        assert_eq!(
            files,
            [
                "taxonomies/Zip.csv",
                "taxonomies/zip-2.csv",
                "taxonomies/___etc.csv",
                "taxonomies/a_b.csv",
                "taxonomies/a_b-2.csv",
                "taxonomies/_nul.csv",
                "taxonomies/_COM1.csv",
                "taxonomies/_.csv",
                "taxonomies/_-2.csv",
                "",
            ]
        );
    }

    proptest! {
        #[test]
        fn no_two_attributes_share_a_file(names in proptest::collection::vec("\\PC{0,3}|[aA_./-]{0,3}|a_?-?2?", 0..12)) {
            let all = names.iter().map(|name| attribute(name, Role::Sensitive)).collect();
            let files = taxonomy_files(&Schema::new(all));
            let mut lower: Vec<String> = files.iter().flatten().map(|file| file.to_lowercase()).collect();
            prop_assert_eq!(lower.len(), names.len());
            lower.sort_unstable();
            lower.dedup();
            prop_assert_eq!(lower.len(), names.len());
            for file in &lower {
                let stem = file.strip_prefix("taxonomies/").and_then(|file| file.strip_suffix(".csv")).unwrap();
                prop_assert!(!stem.is_empty() && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            }
        }
    }
}
