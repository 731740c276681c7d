//! What `anonymize` and `simulate` share: a study made ready for a run, one site's part in it, and
//! the summary of what came of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::files::{FileError, read_text, write_release};
use hedgerow_data::study::{self, Algorithm, Cuts, Partition as Spread, Security};
use hedgerow_data::{Codes, Domain, Recode, Release, Role, Study, Table};
use hedgerow_node::agreement::Agreement;
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::m_privacy::{Strategy, WEIGHT_OF_DIVERSITY};
use hedgerow_privacy::utility::{Measured, Utility, utility};
use hedgerow_privacy::verify::{Evidence, Verdict, verify};
use hedgerow_privacy::{Model, Requirement, Scope, Sensitive};
use hedgerow_protocols::horizontal::assembly::assemble;
use hedgerow_protocols::horizontal::cover::{Writing, covers};
use hedgerow_protocols::horizontal::mondrian::{
    Choice, Cutting, Medians, Partition, Plan, Quasi, Widths, partition,
};
use hedgerow_protocols::horizontal::requirement::{Demands, SensitiveAttribute};
use hedgerow_protocols::horizontal::{OwnRows, Owner, SensitiveCodes};
use hedgerow_smc::Party;

use crate::error::CliError;
use crate::manifest;
use crate::opened::Opened;

/// A study that can be run here.
pub(crate) struct Ready {
    pub(crate) study: Study,
    pub(crate) requirement: Requirement,
    /// What it was made of.
    pub(crate) opened: Arc<Opened>,
}

/// What a site has when a run is over.
pub(crate) struct Joint {
    pub(crate) partition: Partition,
    pub(crate) release: Release,
}

/// The most combinations of sensitive values that are counted as one attribute.
const MOST_COMBINATIONS: u64 = 100_000;

/// One site's columns, by the attribute's position; text has none.
pub(crate) type Columns = Vec<Option<Codes>>;

impl Ready {
    /// Reads a study and sees that this command can run it.
    pub(crate) fn open(path: &Path, sites: Option<u64>) -> Result<Self, CliError> {
        Self::new(Opened::open(path)?, path, sites)
    }

    /// Sees that a study that has been read can be run: what sites signed is what they run, even if
    /// its file has changed since.
    pub(crate) fn of(agreement: &Arc<Agreement>) -> Result<Self, CliError> {
        Self::new(Opened::of(agreement), agreement.path(), None)
    }

    fn new(opened: Opened, path: &Path, sites: Option<u64>) -> Result<Self, CliError> {
        let study = opened.study.clone();
        let scope = Scope {
            sites: sites.or(Scope::of_study(&study).sites),
            ..Scope::of_study(&study)
        };
        let requirement = Requirement::of_document(study.document(), &scope)?;
        let refuse = |what: &str| Err(CliError::Usage(format!("{}: {what}", path.display())));
        if study.partition != Spread::Horizontal {
            return refuse("only horizontal studies can be run so far");
        }
        if !matches!(
            study.algorithm,
            Algorithm::Mondrian | Algorithm::ProviderAware
        ) {
            return refuse(
                "only algorithm name = \"mondrian\" or \"provider-aware\" can be run so far",
            );
        }
        let combinations = scope.sensitive.iter().map(|attribute| attribute.values);
        let combinations = combinations.fold(1, u64::saturating_mul);
        if requirement.sensitive == Sensitive::Product && combinations > MOST_COMBINATIONS {
            return refuse(&format!(
                "sensitive = \"product\" makes {combinations} combinations of values, at most {MOST_COMBINATIONS} can be counted\nhint: use sensitive = \"each\""
            ));
        }
        let attributes = study.schema.attributes().iter();
        let text = attributes
            .clone()
            .find(|attribute| attribute.role == Role::Other && attribute.domain == Domain::Text);
        if let Some(attribute) = text {
            return refuse(&format!(
                "column `{}` is text, which a joint release cannot carry\nhint: declare its values, or give it role = \"identifier\"",
                attribute.name
            ));
        }
        Ok(Self {
            study,
            requirement,
            opened: Arc::new(opened),
        })
    }

    /// The study as its protocol takes it.
    pub(crate) fn plan(&self) -> Plan<'_> {
        let schema = &self.study.schema;
        let named = |role| {
            schema
                .with_role(role)
                .into_iter()
                .map(|index| &schema.attributes()[index])
        };
        let demanded = self
            .requirement
            .models
            .iter()
            .find_map(|model| match model {
                Model::Closeness { distance, .. } => *distance,
                _ => None,
            });
        let top_down = &self.study.top_down;
        let quasi = named(Role::Quasi).map(|attribute| {
            let tree = attribute.domain.taxonomy();
            let cutting = match tree {
                Some(tree) if top_down.cuts == Cuts::Children => Cutting::Children(tree),
                _ => Cutting::Median,
            };
            let is_node = attribute.recode_or(self.study.recode) == Recode::Node;
            Quasi {
                size: attribute.domain.size(),
                is_coarsened: is_node && tree.is_some() && matches!(cutting, Cutting::Median),
                cutting,
            }
        });
        let sensitive = named(Role::Sensitive).map(|attribute| SensitiveAttribute {
            distance: demanded.unwrap_or_else(|| Distance::natural(&attribute.domain)),
            tree: attribute.domain.taxonomy(),
        });
        Plan {
            quasi: quasi.collect(),
            demands: Demands {
                requirement: &self.requirement,
                sensitive: if self.is_product() {
                    vec![SensitiveAttribute {
                        distance: Distance::Equal,
                        tree: None,
                    }]
                } else {
                    sensitive.collect()
                },
                strategy: match self.study.security {
                    // All coalitions at once: the fewest rounds.
                    Security::Hardened => Strategy::Direct,
                    Security::Published => Strategy::Adaptive,
                },
                may_write_alike: false,
            },
            choice: self.choice(),
            cuts_sites: self.cuts_sites(),
            medians: match top_down.medians {
                study::Medians::Strict => Medians::Strict,
                study::Medians::Relaxed => Medians::Relaxed,
            },
            widths: match top_down.widths {
                study::Widths::Box => Widths::Box,
                study::Widths::Data => Widths::Data,
            },
        }
    }

    /// Whether a class may be cut between sites.
    fn cuts_sites(&self) -> bool {
        self.study.algorithm == Algorithm::ProviderAware
    }

    /// JX08, JX09 or MPRIV: which of a class's cuts is made. Between sites, width loses less than
    /// the fitness of the paper, which is kept in its published form.
    fn choice(&self) -> Choice {
        let is_diverse = |model: &Model| matches!(model, Model::SiteDiversity { l, .. } if *l > 1);
        let alpha = self.study.top_down.alpha;
        if self.cuts_sites() && self.study.security == Security::Published {
            Choice::Fitness {
                weight: WEIGHT_OF_DIVERSITY,
            }
        } else if alpha < 1.0 && self.requirement.models.iter().any(is_diverse) {
            Choice::Diversity { alpha }
        } else {
            Choice::Width
        }
    }

    /// Whether the sensitive attributes count as one.
    fn is_product(&self) -> bool {
        self.requirement.sensitive == Sensitive::Product
            && self.study.schema.with_role(Role::Sensitive).len() > 1
    }

    /// The sensitive attributes as one: the code of each combination.
    pub(crate) fn product(&self, columns: &Columns) -> Option<(Codes, u32)> {
        if !self.is_product() {
            return None;
        }
        let positions = self.study.schema.with_role(Role::Sensitive);
        let coded = |position: &usize| Some((columns[*position].as_ref()?, self.size(*position)));
        let coded: Vec<(&Codes, u32)> = positions.iter().filter_map(coded).collect();
        // `open` saw to it that the product is small.
        let size = coded.iter().map(|(_, size)| size).product();
        let mut product = Codes::for_size(size);
        for row in 0..coded.first().map_or(0, |(codes, _)| codes.len()) {
            let combined = coded
                .iter()
                .fold(0, |code, (codes, size)| code * size + codes.get(row));
            product.push(combined);
        }
        Some((product, size))
    }

    /// The sensitive attributes as the requirement counts them: each, or their product.
    pub(crate) fn sensitive<'c>(
        &self,
        columns: &'c Columns,
        product: Option<&'c (Codes, u32)>,
    ) -> Vec<SensitiveCodes<'c>> {
        if let Some((codes, size)) = product {
            return vec![SensitiveCodes { codes, size: *size }];
        }
        let positions = self.study.schema.with_role(Role::Sensitive).into_iter();
        let coded = |position: usize| {
            Some(SensitiveCodes {
                codes: columns[position].as_ref()?,
                size: self.size(position),
            })
        };
        positions.filter_map(coded).collect()
    }

    fn size(&self, position: usize) -> u32 {
        self.study.schema.attributes()[position].domain.size()
    }

    /// The rows of a table that belong to a site, by its columns.
    pub(crate) fn columns(
        &self,
        table: &Table,
        rows: impl Iterator<Item = usize> + Clone,
    ) -> Columns {
        let attributes = self.study.schema.attributes().iter().enumerate();
        let pick = |(position, attribute): (usize, &hedgerow_data::Attribute)| {
            let codes = table.codes(position)?;
            let mut own = Codes::for_size(attribute.domain.size());
            rows.clone().for_each(|row| own.push(codes.get(row)));
            Some(own)
        };
        attributes.map(pick).collect()
    }

    /// A site's part in a run: cuts, covers, and the joint release.
    pub(crate) async fn take_part(
        &self,
        party: &mut Party,
        columns: &Columns,
        owner: Owner<'_>,
        sites: usize,
        each_wave: impl FnMut(u32, usize),
    ) -> Result<Joint, hedgerow_protocols::Error> {
        let schema = &self.study.schema;
        let coded = |role| {
            let positions = schema.with_role(role).into_iter();
            positions.filter_map(|position| Some((position, columns[position].as_ref()?)))
        };
        let product = self.product(columns);
        let rows = OwnRows {
            count: columns.iter().flatten().map(Codes::len).next().unwrap_or(0),
            quasi: coded(Role::Quasi).map(|(_, codes)| codes).collect(),
            sensitive: self.sensitive(columns, product.as_ref()),
            owner,
            sites,
        };
        let partition = partition(party, &rows, &self.plan(), each_wave).await?;
        let writings: Vec<Writing<'_>> = schema
            .with_role(Role::Quasi)
            .into_iter()
            .map(|position| {
                let attribute = &schema.attributes()[position];
                Writing {
                    domain: &attribute.domain,
                    recode: attribute.recode_or(self.study.recode),
                }
            })
            .collect();
        let cells = covers(
            party,
            &rows,
            &partition,
            &writings,
            self.study.top_down.covers,
        )
        .await?;
        let mut verbatim: Vec<(usize, &Codes)> =
            coded(Role::Sensitive).chain(coded(Role::Other)).collect();
        verbatim.sort_by_key(|(position, _)| *position);
        let release = assemble(party, schema, &partition, &cells, &verbatim).await?;
        Ok(Joint { partition, release })
    }

    /// Writes the release and looks at what was written.
    pub(crate) fn publish(&self, release: &Release, folder: &Path) -> Result<Published, CliError> {
        if release.rows() == 0 {
            return Err(CliError::Usage(String::from(
                "there are no records, so there is nothing to publish",
            )));
        }
        std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        write_release(&folder.join("release.parquet"), release, &())?;
        write_release(&folder.join("release.csv"), release, &())?;
        self.look(folder)
    }

    /// Looks at a release that was written as a stranger would.
    pub(crate) fn look(&self, folder: &Path) -> Result<Published, CliError> {
        let path = folder.join("release.csv");
        let attributes = self.study.schema.attributes().iter();
        let names: Vec<String> = attributes.map(|attribute| attribute.name.clone()).collect();
        let text = read_text(&path, &names, &())?;
        let read = Release::from_text(&text, &self.study.schema, &[])?;
        let mut evidence = Evidence::of_release(&text, &read, None)?;
        if self.is_product() {
            evidence = evidence.with_product();
        }
        // Sites are not in a release: what speaks of them was seen to during the run.
        let (visible, _) = crate::verify::visible(&self.requirement);
        let verdict = verify(&evidence, Some(&visible));
        let measured: Vec<Measured<'_>> = self
            .study
            .schema
            .with_role(Role::Quasi)
            .into_iter()
            .filter_map(|position| {
                let attribute = &self.study.schema.attributes()[position];
                Some(Measured {
                    name: &attribute.name,
                    domain: &attribute.domain,
                    column: read.generalized(position)?,
                    original: None,
                })
            })
            .collect();
        let utility = utility(&measured, &evidence.classes(), self.requirement.k());
        Ok(Published {
            folder: folder.to_owned(),
            verdict,
            utility,
            recode: self.study.recode,
        })
    }
}

/// Sees that a release can be written, before a run, so that nobody waits for one that cannot. Makes
/// nothing: a run that is refused leaves nothing behind. A folder with other files is none for a
/// release, which is all that its manifest lists.
pub(crate) fn probe(folder: &Path) -> Result<(), CliError> {
    if let Some(name) = manifest::strangers(folder).first() {
        return Err(CliError::Usage(format!(
            "{}: holds `{name}`, which is no file of a release\nhint: name another folder; it need not exist",
            folder.display()
        )));
    }
    let there = folder.ancestors().find(|ancestor| ancestor.exists());
    let there = there.unwrap_or(Path::new("."));
    tempfile::tempfile_in(there).map_err(|error| unwritable(folder, &error))?;
    Ok(())
}

fn unwritable(folder: &Path, error: &std::io::Error) -> FileError {
    FileError::Unwritable {
        file: folder.display().to_string(),
        reason: error.to_string(),
    }
}

/// A release that was written, and what a stranger finds in it.
pub(crate) struct Published {
    pub(crate) folder: PathBuf,
    pub(crate) verdict: Verdict,
    pub(crate) utility: Utility,
    pub(crate) recode: Recode,
}
