//! Studies of a table, of which a figure says only what matters to it.

use std::path::Path;

use hedgerow::Study;

use super::forms::Forms;
use crate::error::Error;

/// A study that is being written.
///
/// `data.adult()?.study("jx09").quasi(&QI8).sensitive("salary-class").require("k = 10").build()?`
#[derive(Debug, Clone)]
pub(crate) struct StudyOf<'d> {
    forms: &'d Forms,
    folder: &'d Path,
    name: String,
    partition: &'static str,
    head: String,
    attributes: String,
    require: String,
    algorithm: String,
}

impl<'d> StudyOf<'d> {
    pub(super) fn new(forms: &'d Forms, folder: &'d Path, name: &str) -> Self {
        Self {
            forms,
            folder,
            name: name.to_owned(),
            partition: "horizontal",
            head: String::new(),
            attributes: String::new(),
            require: String::new(),
            algorithm: String::new(),
        }
    }

    /// Sites hold the same people.
    pub(crate) fn vertical(mut self) -> Self {
        self.partition = "vertical";
        self
    }

    /// Adds quasi-identifiers.
    pub(crate) fn quasi(self, names: &[&str]) -> Self {
        let add = |study: Self, name: &&str| study.attribute(name, "quasi");
        names.iter().fold(self, add)
    }

    /// Adds a sensitive attribute.
    pub(crate) fn sensitive(self, name: &str) -> Self {
        self.attribute(name, "sensitive")
    }

    /// Adds an attribute of another role: `other`, `identifier`.
    pub(crate) fn attribute(mut self, name: &str, role: &str) -> Self {
        let form = self.forms.of(name);
        self.attributes.push_str(&format!(
            "[[attribute]]\nname = \"{name}\"\nrole = \"{role}\"\n{form}\n"
        ));
        self
    }

    /// Adds lines below `[study]`: `security = "published"`.
    pub(crate) fn head(mut self, lines: impl AsRef<str>) -> Self {
        add(&mut self.head, lines.as_ref());
        self
    }

    /// Adds lines below `[require]`: `k = 10`.
    pub(crate) fn require(mut self, lines: impl AsRef<str>) -> Self {
        add(&mut self.require, lines.as_ref());
        self
    }

    /// Adds lines below `[algorithm]`: `name = "mondrian"`.
    pub(crate) fn algorithm(mut self, lines: impl AsRef<str>) -> Self {
        add(&mut self.algorithm, lines.as_ref());
        self
    }

    /// Reads the study that was written.
    pub(crate) fn build(&self) -> Result<Study, Error> {
        let text = format!(
            "[study]\nname = \"{}\"\npartition = \"{}\"\n{}{}[require]\n{}[algorithm]\n{}",
            self.name, self.partition, self.head, self.attributes, self.require, self.algorithm
        );
        Ok(Study::parse(text, self.folder)?)
    }
}

fn add(text: &mut String, lines: &str) {
    text.push_str(lines);
    text.push('\n');
}
