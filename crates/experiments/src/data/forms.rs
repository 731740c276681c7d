//! How attributes of the tables stand in studies: taxonomies, ranges, lists of values.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hedgerow_data::{TextColumn, TextTable};

use crate::error::Error;

/// Adult's columns with a hierarchy of the ARX project beside the table.
pub(super) const ADULT: [&str; 9] = [
    "age",
    "education",
    "marital-status",
    "native-country",
    "occupation",
    "race",
    "salary-class",
    "sex",
    "workclass",
];

/// Adult's fourteen columns and class.
pub(crate) const ADULT14: [&str; 15] = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "salary-class",
];

/// Relationship has no hierarchy there.
const RELATIONSHIP: &str = "Husband;Spouse;*\nWife;Spouse;*\nOwn-child;Relative;*\nOther-relative;Relative;*\nUnmarried;Alone;*\nNot-in-family;Alone;*\n";

/// The lines below `[[attribute]]` of each attribute.
#[derive(Debug, Clone, Default)]
pub(super) struct Forms(BTreeMap<String, String>);

impl Forms {
    /// The form of an attribute.
    pub(super) fn of(&self, attribute: &str) -> &str {
        self.0.get(attribute).map_or("", String::as_str)
    }

    /// Whether an attribute has one.
    pub(super) fn has(&self, attribute: &str) -> bool {
        self.0.contains_key(attribute)
    }

    pub(super) fn set(&mut self, attribute: &str, lines: &str) {
        self.0.insert(attribute.to_owned(), lines.to_owned());
    }

    /// Gives an attribute a taxonomy, whose file goes to the shelf under a name that follows from its
    /// lines.
    pub(super) fn write(
        &mut self,
        shelf: &Path,
        attribute: &str,
        lines: &str,
    ) -> Result<(), Error> {
        let hash = blake3::hash(lines.as_bytes()).to_hex();
        let file = format!("{attribute}-{}.csv", &hash[..12]);
        std::fs::write(shelf.join(&file), lines).map_err(|error| Error::Unusable {
            folder: shelf.to_owned(),
            reason: error.to_string(),
        })?;
        self.set(attribute, &format!("taxonomy = \"{file}\""));
        Ok(())
    }

    /// Adult's nine columns with the hierarchies beside the table.
    pub(super) fn adult() -> Self {
        let mut forms = Self::default();
        for name in ADULT {
            forms.set(name, &format!("taxonomy = \"{}\"", hierarchy(name)));
        }
        forms
    }

    /// Adult's fourteen columns: the hierarchies of nine, and groups of numbers for the others.
    pub(super) fn adult14(text: &TextTable, shelf: &Path) -> Result<Self, Error> {
        let mut forms = Self::adult();
        forms.write(shelf, "relationship", RELATIONSHIP)?;
        for name in [
            "fnlwgt",
            "education-num",
            "capital-gain",
            "capital-loss",
            "hours-per-week",
        ] {
            if let Some(column) = text.column(name) {
                forms.write(shelf, name, &groups_of_numbers(column))?;
            }
        }
        Ok(forms)
    }

    /// The census: age in groups of 5, 10, 20 and 40 years, other values with nothing but `*` above them.
    pub(super) fn census(text: &TextTable, shelf: &Path) -> Result<Self, Error> {
        let mut forms = Self::default();
        for (name, column) in text.names.iter().zip(&text.columns) {
            if name == "age" {
                forms.set(
                    name,
                    "type = \"integer\"\nrange = [0, 90]\nwidths = [5, 10, 20, 40]",
                );
                continue;
            }
            let mut values: Vec<&str> = column.dictionary.iter().map(|value| &**value).collect();
            values.sort_unstable();
            let lines: String = values.iter().map(|value| format!("{value};*\n")).collect();
            forms.write(shelf, name, &lines)?;
        }
        Ok(forms)
    }

    /// The forms of the synthetic census, whose study and taxonomies lie in a folder of the shelf.
    pub(super) fn synthetic(folder: &Path, shelf: &Path) -> Result<Self, Error> {
        let mut forms = Self::default();
        forms.set("sex", "values = [\"female\", \"male\"]");
        forms.set(
            "age",
            "type = \"integer\"\nrange = [17, 96]\nwidths = [5, 10, 20, 40]",
        );
        forms.set("race", "values = [\"white\", \"black\", \"asian\", \"indigenous\", \"pacific\", \"mixed\", \"another\"]");
        for (name, ordered) in [
            ("marital-status", ""),
            ("education", "\nordered = true"),
            ("native-country", ""),
            ("workclass", ""),
            ("occupation", ""),
            ("salary-class", "\nordered = true"),
        ] {
            let file = folder.join("taxonomies").join(format!("{name}.csv"));
            let lines = std::fs::read_to_string(&file).map_err(|error| Error::NoTable {
                file,
                reason: error.to_string(),
            })?;
            forms.write(shelf, name, &lines)?;
            let form = format!("{}{ordered}", forms.of(name));
            forms.set(name, &form);
        }
        Ok(forms)
    }
}

/// Puts the hierarchies beside Adult on the shelf, and says which files they are.
pub(super) fn copy_hierarchies(from: &Path, shelf: &Path) -> Result<Vec<PathBuf>, Error> {
    let copied = ADULT.map(|name| {
        let file = from.join(hierarchy(name));
        match std::fs::copy(&file, shelf.join(hierarchy(name))) {
            Ok(_) => Ok(file),
            Err(error) => Err(Error::NoTable {
                file,
                reason: error.to_string(),
            }),
        }
    });
    copied.into_iter().collect()
}

fn hierarchy(name: &str) -> String {
    format!("adult_hierarchy_{name}.csv")
}

/// The numbers of a column in about twenty groups, and four of these in one.
fn groups_of_numbers(column: &TextColumn) -> String {
    let values = column.dictionary.iter();
    let mut values: Vec<i64> = values.filter_map(|value| value.parse().ok()).collect();
    values.sort_unstable();
    let (Some(least), Some(greatest)) = (values.first(), values.last()) else {
        return String::new();
    };
    let step = ((greatest - least) / 20).max(1);
    let group = |value: i64, width: i64| {
        let from = least + (value - least) / width * width;
        format!("{from} to {}", from + width - 1)
    };
    let lines = values.iter().map(|value| {
        format!(
            "{value};{};{};*\n",
            group(*value, step),
            group(*value, 4 * step)
        )
    });
    lines.collect()
}
