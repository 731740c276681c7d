//! The text of a study, so that a test says only what matters to it.

use std::fmt;
use std::ops::RangeInclusive;

/// The text of a study, part by part. Names and values stand in quotation marks as they are given:
/// whoever wants a control character there writes TOML's escape for it.
///
/// ```
/// use hedgerow_testing::{StudyText, integer, values};
///
/// let study = StudyText::new("ages")
///     .quasi("age", integer(0..=99))
///     .sensitive("disease", values(["flu", "ulcer"]))
///     .require("k = 2");
/// assert!(study.to_string().starts_with("[study]\nname = \"ages\"\npartition = \"horizontal\"\n"));
/// assert!(study.to_string().ends_with("[require]\nk = 2\n"));
/// ```
#[derive(Debug, Clone)]
pub struct StudyText {
    head: String,
    attributes: String,
    require: String,
    algorithm: String,
    sites: String,
}

/// The taxonomy of `zip` in [`StudyText::small`], as the file `zip.csv` has it.
pub const ZIP_CODES: &str = "101;1**;*\n102;1**;*\n201;2**;*\n";

impl StudyText {
    /// A horizontal study without attributes.
    pub fn new(name: &str) -> Self {
        Self::of(name, "horizontal")
    }

    /// A vertical study without attributes.
    pub fn vertical(name: &str) -> Self {
        Self::of(name, "vertical")
    }

    fn of(name: &str, partition: &str) -> Self {
        Self {
            head: format!("[study]\nname = \"{name}\"\npartition = \"{partition}\"\n"),
            attributes: String::new(),
            require: String::new(),
            algorithm: String::new(),
            sites: String::new(),
        }
    }

    /// The study that most tests of commands and nodes use: `age`, `zip` (a taxonomy, [`ZIP_CODES`] in
    /// `zip.csv`) and the sensitive `disease`, with nothing required yet.
    pub fn small() -> Self {
        Self::new("small")
            .quasi("age", integer(0..=99))
            .quasi("zip", taxonomy("zip.csv"))
            .sensitive("disease", values(["flu", "ulcer", "asthma"]))
    }

    /// Adds a quasi-identifier.
    #[must_use]
    pub fn quasi(self, name: &str, form: impl AsRef<str>) -> Self {
        self.attribute(name, "quasi", form)
    }

    /// Adds a sensitive attribute.
    #[must_use]
    pub fn sensitive(self, name: &str, form: impl AsRef<str>) -> Self {
        self.attribute(name, "sensitive", form)
    }

    /// Adds an attribute that is published as it is.
    #[must_use]
    pub fn other(self, name: &str, form: impl AsRef<str>) -> Self {
        self.attribute(name, "other", form)
    }

    /// Adds an identifier.
    #[must_use]
    pub fn identifier(self, name: &str) -> Self {
        self.attribute(name, "identifier", "")
    }

    /// Adds an attribute of a role that the test works out. The form is what [`integer`], [`values`] or
    /// [`taxonomy`] writes, other lines below `[[attribute]]`, or nothing.
    #[must_use]
    pub fn attribute(mut self, name: &str, role: &str, form: impl AsRef<str>) -> Self {
        let lines = format!("[[attribute]]\nname = \"{name}\"\nrole = \"{role}\"");
        add(&mut self.attributes, &lines);
        add(&mut self.attributes, form.as_ref());
        self
    }

    /// Adds lines below `[study]`.
    #[must_use]
    pub fn head(mut self, lines: &str) -> Self {
        add(&mut self.head, lines);
        self
    }

    /// Adds a site, with these lines below its name.
    #[must_use]
    pub fn site(mut self, name: &str, lines: &str) -> Self {
        add(&mut self.sites, &format!("[[site]]\nname = \"{name}\""));
        add(&mut self.sites, lines);
        self
    }

    /// Adds lines below `[require]`.
    #[must_use]
    pub fn require(mut self, lines: &str) -> Self {
        add(&mut self.require, lines);
        self
    }

    /// Adds lines below `[algorithm]`.
    #[must_use]
    pub fn algorithm(mut self, lines: &str) -> Self {
        add(&mut self.algorithm, lines);
        self
    }
}

impl fmt::Display for StudyText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.head)?;
        formatter.write_str(&self.attributes)?;
        for (table, lines) in [("require", &self.require), ("algorithm", &self.algorithm)] {
            if !lines.is_empty() {
                write!(formatter, "[{table}]\n{lines}")?;
            }
        }
        formatter.write_str(&self.sites)
    }
}

/// The form of a whole number between two, both included.
pub fn integer(range: RangeInclusive<i64>) -> String {
    format!(
        "type = \"integer\"\nrange = [{}, {}]",
        range.start(),
        range.end()
    )
}

/// The form of one of a few values.
pub fn values<'v>(values: impl IntoIterator<Item = &'v str>) -> String {
    let quoted = values.into_iter().map(|value| format!("\"{value}\""));
    format!("values = [{}]", quoted.collect::<Vec<_>>().join(", "))
}

/// The form of a taxonomy in a file beside the study.
pub fn taxonomy(file: &str) -> String {
    format!("taxonomy = \"{file}\"")
}

/// Adds lines, each ended, to a text.
fn add(text: &mut String, lines: &str) {
    text.push_str(lines);
    if !lines.is_empty() && !lines.ends_with('\n') {
        text.push('\n');
    }
}
