//! What the verifier looks at: the columns of a release, with or without a study that explains
//! them.

use std::borrow::Cow;

use hedgerow_data::{Domain, Release, Role, Taxonomy, TextColumn, TextTable, quoted_list};

use crate::classes::Classes;
use crate::closeness::Distance;
use crate::counts::Reference;
use crate::requirement::Scope;

use super::verdict::WorstClass;

/// A release, column by column.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    /// Number of records.
    pub records: usize,
    /// Quasi-identifiers as text.
    pub quasi: Vec<(&'a str, &'a TextColumn)>,
    /// Sensitive attributes as codes.
    pub sensitive: Vec<SensitiveColumn<'a>>,
    /// The site of each record, where it is known.
    pub provider: Option<&'a TextColumn>,
    /// Columns that should not be there: identifiers of the study.
    pub identifiers: Vec<String>,
}

/// A sensitive attribute as codes whose order and taxonomy are known.
#[derive(Debug, Clone)]
pub struct SensitiveColumn<'a> {
    /// Its name.
    pub name: String,
    /// Code of each record.
    pub codes: Cow<'a, [u32]>,
    /// Number of codes.
    pub size: usize,
    /// The distance that suits it.
    pub distance: Distance,
    /// The taxonomy over the codes, for the hierarchical distance.
    pub tree: Option<&'a Taxonomy>,
}

/// Why a table cannot be looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceError {
    /// A column that is not there.
    #[error("{file}:1: there is no column `{column}`\nhint: the file has {names}")]
    NoColumn {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// The columns it has.
        names: String,
    },
    /// A table without rows.
    #[error("{file}: the release has no records")]
    NoRecords {
        /// The file.
        file: String,
    },
}

impl<'a> Evidence<'a> {
    /// A release of a study: domains give sensitive values their order and taxonomy.
    pub fn of_release(
        text: &'a TextTable,
        release: &'a Release,
        provider: Option<&str>,
    ) -> Result<Self, EvidenceError> {
        let attributes = release.schema().attributes();
        let mut quasi = Vec::new();
        let mut sensitive = Vec::new();
        let mut identifiers = Vec::new();
        for (position, attribute) in attributes.iter().enumerate() {
            match attribute.role {
                Role::Quasi => {
                    quasi.push((attribute.name.as_str(), find(text, &attribute.name)?));
                }
                Role::Sensitive => {
                    let codes = release
                        .verbatim(position)
                        .map(|codes| codes.iter().collect());
                    sensitive.push(SensitiveColumn {
                        name: attribute.name.clone(),
                        codes: Cow::Owned(codes.unwrap_or_default()),
                        size: attribute.domain.size() as usize,
                        distance: natural_distance(&attribute.domain),
                        tree: attribute.domain.taxonomy(),
                    });
                }
                Role::Identifier if text.column(&attribute.name).is_some() => {
                    identifiers.push(attribute.name.clone());
                }
                Role::Identifier | Role::Other => {}
            }
        }
        let provider = provider.map(|name| find(text, name)).transpose()?;
        Ok(Self {
            records: text.rows(),
            quasi,
            sensitive,
            provider,
            identifiers,
        })
    }

    /// A table that no study explains: cells are compared as text; a sensitive column of numbers
    /// is ordered by number.
    pub fn of_table(
        text: &'a TextTable,
        quasi: &'a [String],
        sensitive: &[String],
        provider: Option<&str>,
    ) -> Result<Self, EvidenceError> {
        if text.rows() == 0 {
            return Err(EvidenceError::NoRecords {
                file: text.file.clone(),
            });
        }
        let quasi = quasi
            .iter()
            .map(|name| Ok((name.as_str(), find(text, name)?)))
            .collect::<Result<_, EvidenceError>>()?;
        let sensitive = sensitive
            .iter()
            .map(|name| Ok(SensitiveColumn::of_text(name, find(text, name)?)))
            .collect::<Result<_, EvidenceError>>()?;
        let provider = provider.map(|name| find(text, name)).transpose()?;
        Ok(Self {
            records: text.rows(),
            quasi,
            sensitive,
            provider,
            identifiers: Vec::new(),
        })
    }

    /// The same release with its sensitive attributes taken together as one.
    #[must_use]
    pub fn with_product(mut self) -> Self {
        if self.sensitive.len() < 2 {
            return self;
        }
        let columns: Vec<&[u32]> = self.sensitive.iter().map(|column| &*column.codes).collect();
        let combined = Classes::group(&columns, self.records);
        let names: Vec<&str> = self
            .sensitive
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        self.sensitive = vec![SensitiveColumn {
            name: names.join(" × "),
            codes: (0..self.records)
                .map(|row| combined.of_row(row) as u32)
                .collect(),
            size: combined.count(),
            distance: Distance::Equal,
            tree: None,
        }];
        self
    }

    /// What a requirement may speak of.
    pub fn scope(&self) -> Scope {
        Scope {
            sensitive: self
                .sensitive
                .iter()
                .map(|column| (column.name.clone(), column.size as u64))
                .collect(),
            quasi: self
                .quasi
                .iter()
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            sites: self.provider.map(|column| column.dictionary.len() as u64),
        }
    }

    /// The rows that a reader cannot tell apart.
    pub fn classes(&self) -> Classes {
        self.classes_by(|_| true)
    }

    /// The rows that a reader who sees only some quasi-identifiers cannot tell apart.
    pub fn classes_by(&self, is_seen: impl Fn(&str) -> bool) -> Classes {
        let columns: Vec<&[u32]> = self
            .quasi
            .iter()
            .filter(|(name, _)| is_seen(name))
            .map(|(_, column)| column.codes.as_slice())
            .collect();
        Classes::group(&columns, self.records)
    }

    /// A class as a reader sees it.
    pub(super) fn describe(&self, classes: &Classes, class: usize) -> WorstClass {
        let row = classes.rows(class)[0] as usize;
        let cells = self.quasi.iter();
        WorstClass {
            quasi: cells
                .map(|(name, column)| ((*name).to_owned(), column.get(row).to_owned()))
                .collect(),
            size: classes.size(class),
            first_record: row as u64 + 1,
        }
    }
}

impl SensitiveColumn<'_> {
    fn of_text(name: &str, column: &TextColumn) -> Self {
        let numbers: Option<Vec<f64>> = column
            .dictionary
            .iter()
            .map(|text| {
                text.trim()
                    .parse()
                    .ok()
                    .filter(|number: &f64| number.is_finite())
            })
            .collect();
        let size = column.dictionary.len();
        let Some(numbers) = numbers else {
            return Self {
                name: name.to_owned(),
                codes: Cow::Owned(column.codes.clone()),
                size,
                distance: Distance::Equal,
                tree: None,
            };
        };
        // Codes in ascending order of the numbers; `1` and `1.0` are one value.
        let mut order: Vec<f64> = numbers.clone();
        order.sort_by(f64::total_cmp);
        order.dedup();
        let code_of: Vec<u32> = numbers
            .iter()
            .map(|number| order.partition_point(|other| other < number) as u32)
            .collect();
        Self {
            name: name.to_owned(),
            codes: column
                .codes
                .iter()
                .map(|code| code_of[*code as usize])
                .collect(),
            size: order.len(),
            distance: Distance::Ordered,
            tree: None,
        }
    }

    pub(super) fn reference(&self) -> Reference {
        let mut counts = vec![0; self.size];
        for code in &*self.codes {
            counts[*code as usize] += 1;
        }
        Reference::new(counts)
    }
}

/// Ordered for numbers, days and declared orders; by tree where there is one with levels; equal
/// otherwise.
fn natural_distance(domain: &Domain) -> Distance {
    if domain.is_ordered() {
        Distance::Ordered
    } else if domain.taxonomy().is_some_and(|tree| tree.height() > 1) {
        Distance::Hierarchical
    } else {
        Distance::Equal
    }
}

fn find<'a>(text: &'a TextTable, name: &str) -> Result<&'a TextColumn, EvidenceError> {
    text.column(name).ok_or_else(|| EvidenceError::NoColumn {
        file: text.file.clone(),
        column: name.to_owned(),
        names: quoted_list(&text.names),
    })
}
