//! Which site holds which columns, where sites hold the same people.
//!
//! ```toml
//! [[site]]
//! name = "clinic"
//! columns = ["age", "diagnosis"]   # the identifiers stand at every site
//! ```

use crate::attribute::{Role, Schema};
use crate::document::{DocumentError, Section};
use crate::nearest::{nearest, quoted_list};

/// The columns of each site: every attribute but the identifiers stands at one site, the
/// identifiers at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// For each site, positions in the schema, ascending.
    of_site: Vec<Vec<usize>>,
}

/// Why columns cannot be split among sites in this way.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// A name that the study does not have.
    #[error("site {site} has a column `{column}`, which the study does not have\nhint: {hint}")]
    Unknown {
        /// The site, from 1.
        site: usize,
        /// The column.
        column: String,
        /// The nearest column of the study, or all.
        hint: String,
    },
    /// The same column at two sites.
    #[error(
        "column `{column}` stands at site {first} and at site {second}\nhint: identifiers stand at every site; any other column belongs to one"
    )]
    Twice {
        /// The column.
        column: String,
        /// The first site that lists the column, counted from 1.
        first: usize,
        /// The second site; the same as the first where one site lists the column twice.
        second: usize,
    },
    /// A column of no site.
    #[error(
        "no site has column `{column}`\nhint: name it with the columns of the site that holds it"
    )]
    Nobody {
        /// The column.
        column: String,
    },
    /// A site without columns.
    #[error(
        "site {site} has no column\nhint: a site brings quasi-identifiers, sensitive attributes or both"
    )]
    Nothing {
        /// The site, from 1.
        site: usize,
    },
}

impl Split {
    /// Columns by name, site by site. Identifiers may be named without effect, since all sites have
    /// them.
    pub fn new<S: AsRef<str>>(schema: &Schema, columns: &[Vec<S>]) -> Result<Self, SplitError> {
        let attributes = schema.attributes();
        let mut owner: Vec<Option<usize>> = vec![None; attributes.len()];
        for (site, names) in columns.iter().enumerate() {
            for name in names {
                let name = name.as_ref();
                let position = schema.position(name).ok_or_else(|| SplitError::Unknown {
                    site: site + 1,
                    column: name.to_owned(),
                    hint: hint(schema, name),
                })?;
                if attributes[position].role == Role::Identifier {
                    continue;
                }
                if let Some(first) = owner[position] {
                    return Err(SplitError::Twice {
                        column: name.to_owned(),
                        first: first + 1,
                        second: site + 1,
                    });
                }
                owner[position] = Some(site);
            }
        }
        let is_owned = |position: &usize| {
            attributes[*position].role == Role::Identifier || owner[*position].is_some()
        };
        if let Some(position) = (0..attributes.len()).find(|position| !is_owned(position)) {
            return Err(SplitError::Nobody {
                column: attributes[position].name.clone(),
            });
        }
        let mut of_site: Vec<Vec<usize>> = vec![Vec::new(); columns.len()];
        for (position, owner) in owner.iter().enumerate() {
            if let Some(site) = owner {
                of_site[*site].push(position);
            }
        }
        match of_site.iter().position(Vec::is_empty) {
            Some(site) => Err(SplitError::Nothing { site: site + 1 }),
            None => Ok(Self { of_site }),
        }
    }

    /// The split with all columns at one site.
    pub fn whole(schema: &Schema) -> Self {
        let is_own = |at: &usize| schema.attributes()[*at].role != Role::Identifier;
        Self {
            of_site: vec![(0..schema.attributes().len()).filter(is_own).collect()],
        }
    }

    /// How many sites there are.
    pub fn sites(&self) -> usize {
        self.of_site.len()
    }

    /// Positions in the schema of a site's columns with this role, ascending.
    pub fn with_role(&self, schema: &Schema, site: usize, role: Role) -> Vec<usize> {
        let own = self.of_site[site].iter().copied();
        own.filter(|position| schema.attributes()[*position].role == role)
            .collect()
    }

    /// Names of a site's columns, in the study's order.
    pub fn names<'s>(&self, schema: &'s Schema, site: usize) -> Vec<&'s str> {
        let own = self.of_site[site].iter();
        own.map(|position| schema.attributes()[*position].name.as_str())
            .collect()
    }

    /// The schema of a site's own table: the identifiers and the site's columns, in the study's order.
    pub fn schema_of(&self, schema: &Schema, site: usize) -> Schema {
        let attributes = schema.attributes().iter().enumerate();
        let own = attributes.filter(|(position, attribute)| {
            attribute.role == Role::Identifier || self.of_site[site].contains(position)
        });
        Schema::new(own.map(|(_, attribute)| attribute.clone()).collect())
    }
}

fn hint(schema: &Schema, name: &str) -> String {
    let names = schema.attributes().iter().map(|one| one.name.as_str());
    match nearest(name, names.clone(), 1).first() {
        Some(best) => format!("did you mean `{best}`?"),
        None => format!("it has {}", quoted_list(names)),
    }
}

/// The split that the sites of a study declare, if they declare columns.
pub(super) fn read(
    root: &Section<'_>,
    schema: &Schema,
    columns: &[Option<Vec<String>>],
) -> Result<Option<Split>, DocumentError> {
    if columns.iter().all(Option::is_none) {
        return Ok(None);
    }
    let sites = root.sections("site")?;
    if let Some(site) = columns.iter().position(Option::is_none) {
        let message = "`site.columns` is missing, other sites have it\nhint: name the columns that this site holds";
        return Err(sites[site].wrong_section(message));
    }
    let columns: Vec<Vec<String>> = columns.iter().flatten().cloned().collect();
    let split = Split::new(schema, &columns).map_err(|error| {
        let message = error.to_string();
        let (section, key) = match &error {
            SplitError::Unknown { site, .. } | SplitError::Nothing { site } => {
                (&sites[*site - 1], "columns")
            }
            SplitError::Twice { second, .. } => (&sites[*second - 1], "columns"),
            SplitError::Nobody { column } => {
                // Attributes of the study and of its schema are the same.
                let position = schema.position(column).unwrap_or(0);
                return match root.sections("attribute") {
                    Ok(attributes) => attributes[position].wrong("name", message),
                    Err(error) => error,
                };
            }
        };
        section.wrong(key, message)
    })?;
    Ok(Some(split))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::document::Document;
    use crate::study::Study;

    #[test]
    fn every_column_stands_at_one_site() {
        let mut text = String::from("[study]\nname = \"s\"\npartition = \"vertical\"\n");
        for (name, role) in [
            ("id", "identifier"),
            ("a", "quasi"),
            ("b", "quasi"),
            ("s", "sensitive"),
        ] {
            text.push_str(&format!(
                "[[attribute]]\nname = \"{name}\"\nrole = \"{role}\"\n"
            ));
            if name != "id" {
                text.push_str("values = [\"x\", \"y\"]\n");
            }
        }
        let document = Document::parse(text, Path::new("study.toml")).unwrap();
        let schema = Study::read(document, Path::new(".")).unwrap().schema;
        let split = |columns: &[Vec<&str>]| Split::new(&schema, columns);
        let good = split(&[vec!["id", "b"], vec!["s", "a", "id"]]).unwrap();
        assert_eq!(good.with_role(&schema, 1, Role::Quasi), [1]);
        assert_eq!(good.with_role(&schema, 1, Role::Sensitive), [3]);
        let own: Vec<String> = good
            .schema_of(&schema, 1)
            .attributes()
            .iter()
            .map(|one| one.name.clone())
            .collect();
        assert_eq!(own, ["id", "a", "s"]);
        let refused = |columns: &[Vec<&str>]| split(columns).unwrap_err().to_string();
        assert!(
            refused(&[vec!["a", "b"], vec!["s", "b"]])
                .starts_with("column `b` stands at site 1 and at site 2")
        );
        assert!(refused(&[vec!["a"], vec!["s"]]).starts_with("no site has column `b`"));
        assert!(refused(&[vec!["a", "b", "s"], vec!["id"]]).starts_with("site 2 has no column"));
        assert!(refused(&[vec!["a", "b"], vec!["zz"]]).contains("`id`, `a`, `b`, `s`"));
    }
}
