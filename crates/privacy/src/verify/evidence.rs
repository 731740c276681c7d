//! What the verifier looks at: the columns of a release, with or without a study that explains
//! them.

use hedgerow_data::files::FileError;
use hedgerow_data::study::GROUP;
use hedgerow_data::{Cell, Domain, Release, Role, Taxonomy, TextColumn, TextTable};

use crate::classes::Classes;
use crate::closeness::Distance;
use crate::counts::Reference;
use crate::identifying::Suspect;
use crate::requirement::{Scope, ScopeAttribute, Sensitive};
use crate::singled_out::SingledOut;

use super::verdict::WorstClass;

/// A release, column by column.
#[derive(Debug, Clone, Default)]
pub struct Evidence<'a> {
    /// Number of rows.
    pub rows: usize,
    /// How many records each row stands for; one each where there are no counts.
    pub counts: Option<&'a [u64]>,
    /// Quasi-identifiers.
    pub quasi: Vec<QuasiColumn<'a>>,
    /// Of a release whose tables only a group joins: the cells of each quasi-identifier as they are printed, by
    /// number, row by row.
    pub printed: Vec<&'a [u32]>,
    /// Sensitive attributes as codes.
    pub sensitive: Vec<SensitiveColumn<'a>>,
    /// The site of each record, where the table names it.
    pub provider: Option<&'a TextColumn>,
    /// Identifiers of the study that stand in the release and should not.
    pub identifiers: Vec<String>,
    /// Columns that nobody gave a role.
    pub unexplained: Vec<String>,
    /// Columns that look like identifiers, whatever their role.
    pub suspects: Vec<Suspect>,
    /// What the columns of role `other` single out.
    pub other: SingledOut,
}

/// A quasi-identifier: its text and, where a study explains them, the cells that the distinct texts
/// stand for.
#[derive(Debug, Clone, Copy)]
pub struct QuasiColumn<'a> {
    /// The quasi-identifier's name.
    pub name: &'a str,
    /// The quasi-identifier's text.
    pub text: &'a TextColumn,
    /// The cell of each distinct text.
    pub cells: Option<&'a [Cell]>,
}

/// A sensitive attribute as codes whose order and taxonomy are known.
#[derive(Debug, Clone)]
pub struct SensitiveColumn<'a> {
    /// The attribute's name.
    pub name: String,
    /// Code of each record.
    pub codes: Vec<u32>,
    /// Number of codes.
    pub size: usize,
    /// The distance that suits the attribute's values.
    pub distance: Distance,
    /// Whether the order of its codes means something.
    pub is_ordered: bool,
    /// The taxonomy over the codes, for the hierarchical distance.
    pub tree: Option<&'a Taxonomy>,
}

/// Why a table cannot be looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceError {
    /// Columns that are missing from the table.
    #[error(transparent)]
    Columns(#[from] FileError),
    /// A table without rows.
    #[error("{file}: the release has no records")]
    NoRecords {
        /// The file.
        file: String,
    },
}

impl<'a> Evidence<'a> {
    /// A release of a study: domains give sensitive values their order and taxonomy. Where it is
    /// fragmented, records of a group cannot be told apart, whatever quasi-identifiers stand in it: only
    /// the group leads from quasi-identifiers to sensitive values.
    pub fn of_release(
        text: &'a TextTable,
        release: &'a Release,
        provider: Option<&str>,
    ) -> Result<Self, EvidenceError> {
        let schema = release.schema();
        let attributes = schema.attributes();
        let mut quasi = Vec::new();
        let mut printed = Vec::new();
        let mut sensitive = Vec::new();
        let mut identifiers = Vec::new();
        if release.groups().is_some() {
            quasi.push(QuasiColumn {
                name: GROUP,
                text: text.named(GROUP)?,
                cells: None,
            });
        }
        for (position, attribute) in attributes.iter().enumerate() {
            match attribute.role {
                Role::Quasi if release.groups().is_some() => {
                    let column = release.generalized(position);
                    printed.extend(column.map(|column| column.codes.as_slice()));
                }
                Role::Quasi => {
                    quasi.push(QuasiColumn {
                        name: &attribute.name,
                        text: text.named(&attribute.name)?,
                        cells: release
                            .generalized(position)
                            .map(|column| column.cells.as_slice()),
                    });
                }
                // What all sites know of a virtual database has no sensitive values.
                Role::Sensitive => sensitive.extend(release.verbatim(position).map(|codes| {
                    let codes = codes.iter().collect();
                    SensitiveColumn::of_domain(&attribute.name, codes, &attribute.domain)
                })),
                Role::Identifier if text.column(&attribute.name).is_some() => {
                    identifiers.push(attribute.name.clone());
                }
                Role::Identifier | Role::Other => {}
            }
        }
        let is_group = |name: &str| release.groups().is_some() && name == GROUP;
        let role = |name: &str| match schema.position(name) {
            Some(position) => Some(attributes[position].role),
            None if Some(name) == provider || is_group(name) => Some(Role::Identifier),
            None => None,
        };
        let (unexplained, mut suspects) = doubtful(text, role);
        let named = provider;
        let provider = provider.map(|name| text.named(name)).transpose()?;
        // A column of names that is called the sites' does not name sites.
        let as_sites = named.zip(provider);
        suspects.extend(
            as_sites
                .and_then(|(name, column)| Suspect::of_text(name, column, text.counts.as_deref())),
        );
        Ok(Self {
            rows: text.rows(),
            counts: text.counts.as_deref(),
            quasi,
            printed,
            sensitive,
            provider,
            identifiers,
            unexplained,
            suspects,
            other: SingledOut::of_release(release),
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
        let named = quasi.iter().chain(sensitive).map(String::as_str);
        text.see_columns(named.chain(provider))?;
        let role = |name: &str| {
            let is_in = |names: &[String]| names.iter().any(|one| one == name);
            let roles = [
                (is_in(quasi), Role::Quasi),
                (is_in(sensitive), Role::Sensitive),
                (Some(name) == provider, Role::Identifier),
            ];
            let role = roles.into_iter().find(|(is_of, _)| *is_of);
            role.map(|(_, role)| role)
        };
        let (unexplained, mut suspects) = doubtful(text, role);
        let quasi = quasi
            .iter()
            .map(|name| {
                Ok(QuasiColumn {
                    name,
                    text: text.named(name)?,
                    cells: None,
                })
            })
            .collect::<Result<_, EvidenceError>>()?;
        let sensitive = sensitive
            .iter()
            .map(|name| Ok(SensitiveColumn::of_text(name, text.named(name)?)))
            .collect::<Result<_, EvidenceError>>()?;
        let named = provider;
        let provider = provider.map(|name| text.named(name)).transpose()?;
        // A column of names that is called the sites' does not name sites.
        let as_sites = named.zip(provider);
        suspects.extend(
            as_sites
                .and_then(|(name, column)| Suspect::of_text(name, column, text.counts.as_deref())),
        );
        Ok(Self {
            rows: text.rows(),
            counts: text.counts.as_deref(),
            quasi,
            printed: Vec::new(),
            sensitive,
            provider,
            identifiers: Vec::new(),
            unexplained,
            suspects,
            other: SingledOut::default(),
        })
    }

    /// The same table, with columns that have no role but are not complained about.
    #[must_use]
    pub fn ignoring(mut self, columns: &[String]) -> Self {
        self.unexplained.retain(|name| !columns.contains(name));
        self
    }

    /// The same release with its sensitive attributes each on its own, taken together as one, or both.
    #[must_use]
    pub fn counting(mut self, sensitive: Sensitive) -> Self {
        if self.sensitive.len() < 2 || !sensitive.has_product() {
            return self;
        }
        let columns: Vec<&[u32]> = self
            .sensitive
            .iter()
            .map(|column| column.codes.as_slice())
            .collect();
        let combined = Classes::group(&columns, self.rows);
        let names: Vec<&str> = self
            .sensitive
            .iter()
            .map(|column| column.name.as_str())
            .collect();
        let product = SensitiveColumn {
            name: names.join(" × "),
            codes: (0..self.rows)
                .map(|row| combined.of_row(row) as u32)
                .collect(),
            size: combined.count(),
            distance: Distance::Equal,
            is_ordered: false,
            tree: None,
        };
        if !sensitive.has_each() {
            self.sensitive.clear();
        }
        self.sensitive.push(product);
        self
    }

    /// What a requirement may speak of.
    pub fn scope(&self) -> Scope {
        Scope {
            sensitive: self
                .sensitive
                .iter()
                .map(|column| ScopeAttribute {
                    name: column.name.clone(),
                    values: column.size as u64,
                    is_ordered: column.is_ordered,
                    has_taxonomy: column.tree.is_some(),
                })
                .collect(),
            quasi: self
                .quasi
                .iter()
                .map(|column| column.name.to_owned())
                .collect(),
            sites: self.provider.map(|column| column.dictionary.len() as u64),
            is_vertical: false,
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
            .filter(|column| is_seen(column.name))
            .map(|column| column.text.codes.as_slice())
            .collect();
        Classes::group(&columns, self.rows).counted(self.counts)
    }

    /// A class as seen by a reader who sees some of the quasi-identifiers.
    pub(super) fn describe(
        &self,
        classes: &Classes,
        class: usize,
        is_seen: impl Fn(&str) -> bool,
    ) -> WorstClass {
        let row = classes.rows(class)[0] as usize;
        let seen = self.quasi.iter().filter(|column| is_seen(column.name));
        let before = match self.counts {
            None => row as u64,
            Some(counts) => counts[..row].iter().sum(),
        };
        WorstClass {
            quasi: seen
                .map(|column| (column.name.to_owned(), column.text.get(row).to_owned()))
                .collect(),
            size: classes.size(class),
            first_record: before + 1,
        }
    }
}

impl<'a> SensitiveColumn<'a> {
    /// Codes of a domain. Where only their order matters they are made dense, so that what is
    /// counted is as long as the values that occur, not as the domain.
    fn of_domain(name: &str, mut codes: Vec<u32>, domain: &'a Domain) -> Self {
        let mut size = domain.size() as usize;
        if domain.taxonomy().is_none() {
            let mut present = codes.clone();
            present.sort_unstable();
            present.dedup();
            size = present.len();
            for code in &mut codes {
                *code = present.partition_point(|other| *other < *code) as u32;
            }
        }
        Self {
            name: name.to_owned(),
            codes,
            size,
            distance: Distance::natural(domain),
            is_ordered: domain.is_ordered(),
            tree: domain.taxonomy(),
        }
    }

    /// Codes of text. Different texts are different values, whatever numbers they spell; where all
    /// are numbers, they are ordered by number.
    fn of_text(name: &str, column: &TextColumn) -> Self {
        let number = |text: &str| {
            text.trim()
                .parse::<f64>()
                .ok()
                .filter(|number| number.is_finite())
        };
        let numbers: Option<Vec<f64>> = column.dictionary.iter().map(|text| number(text)).collect();
        let mut order: Vec<usize> = (0..column.dictionary.len()).collect();
        if let Some(numbers) = &numbers {
            order.sort_by(|a, b| {
                numbers[*a]
                    .total_cmp(&numbers[*b])
                    .then_with(|| column.dictionary[*a].cmp(&column.dictionary[*b]))
            });
        }
        let mut code_of = vec![0; order.len()];
        for (code, entry) in order.iter().enumerate() {
            code_of[*entry] = code as u32;
        }
        Self {
            name: name.to_owned(),
            codes: column
                .codes
                .iter()
                .map(|code| code_of[*code as usize])
                .collect(),
            size: order.len(),
            distance: if numbers.is_some() {
                Distance::Ordered
            } else {
                Distance::Equal
            },
            is_ordered: numbers.is_some(),
            tree: None,
        }
    }

    pub(super) fn reference(&self, counts_of_rows: Option<&[u64]>) -> Reference {
        let mut counts = vec![0; self.size];
        for (row, code) in self.codes.iter().enumerate() {
            counts[*code as usize] += counts_of_rows.map_or(1, |counts| counts[row]);
        }
        Reference::new(counts)
    }
}

/// The columns of a table that have no role, and those that look like identifiers. A column that names
/// people or sites by its role, or numbers groups, is neither.
fn doubtful(text: &TextTable, role: impl Fn(&str) -> Option<Role>) -> (Vec<String>, Vec<Suspect>) {
    let (mut unexplained, mut suspects) = (Vec::new(), Vec::new());
    let counts = text.counts.as_deref();
    for (name, column) in text.names.iter().zip(&text.columns) {
        let role = role(name);
        if role.is_none() {
            unexplained.push(name.clone());
        }
        suspects.extend(match role {
            Some(Role::Identifier) => None,
            Some(Role::Quasi) => Suspect::by_name(name),
            Some(Role::Sensitive | Role::Other) | None => Suspect::of_text(name, column, counts),
        });
    }
    (unexplained, suspects)
}
