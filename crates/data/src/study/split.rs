//! Which site holds which column, where sites hold the same people.

use crate::attribute::{Role, Schema};
use crate::nearest::quoted_list;

/// The columns of each site: every attribute but the identifiers stands at one site, the
/// identifiers at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// For each site, positions in the schema, ascending.
    of_site: Vec<Vec<usize>>,
}

/// Why columns cannot be split so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// A name that the study does not have.
    #[error(
        "site {site} has a column `{column}`, which the study does not have\nhint: it has {names}"
    )]
    Unknown {
        /// The site, from 1.
        site: usize,
        /// The column.
        column: String,
        /// The columns of the study.
        names: String,
    },
    /// The same column at two sites.
    #[error(
        "column `{column}` stands at site {first} and at site {second}\nhint: identifiers stand at every site; any other column belongs to one"
    )]
    Twice {
        /// The column.
        column: String,
        /// One site, from 1.
        first: usize,
        /// The other; the same where it lists the column twice.
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
    /// Columns by name, site by site. Identifiers may be named and mean nothing: all sites have them.
    pub fn new<S: AsRef<str>>(schema: &Schema, columns: &[Vec<S>]) -> Result<Self, SplitError> {
        let attributes = schema.attributes();
        let mut owner: Vec<Option<usize>> = vec![None; attributes.len()];
        for (site, names) in columns.iter().enumerate() {
            for name in names {
                let name = name.as_ref();
                let position = schema.position(name).ok_or_else(|| SplitError::Unknown {
                    site: site + 1,
                    column: name.to_owned(),
                    names: quoted_list(attributes.iter().map(|attribute| &attribute.name)),
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

    /// What a site's own table has: the identifiers and its columns, in the study's order.
    pub fn schema_of(&self, schema: &Schema, site: usize) -> Schema {
        let attributes = schema.attributes().iter().enumerate();
        let own = attributes.filter(|(position, attribute)| {
            attribute.role == Role::Identifier || self.of_site[site].contains(position)
        });
        Schema::new(own.map(|(_, attribute)| attribute.clone()).collect())
    }
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
        assert!(refused(&[vec!["a", "b"], vec!["c"]]).contains("`id`, `a`, `b`, `s`"));
    }
}
