//! What `anonymize` and `simulate` share: a study made ready for a run, one site's part in it, and
//! the summary of what came of it.

use std::path::{Path, PathBuf};

use hedgerow_data::files::{FileError, read_text, write_release};
use hedgerow_data::study::{Algorithm, Cuts, Partition as Spread};
use hedgerow_data::{Codes, Domain, Recode, Release, Role, Study, Table};
use hedgerow_privacy::closeness::Distance;
use hedgerow_privacy::utility::{Measured, Utility, utility};
use hedgerow_privacy::verify::{Evidence, Verdict, verify};
use hedgerow_privacy::{Model, Requirement, Scope, Sensitive};
use hedgerow_protocols::horizontal::assembly::assemble;
use hedgerow_protocols::horizontal::cover::{Writing, covers};
use hedgerow_protocols::horizontal::mondrian::{
    Cutting, Partition, Plan, Quasi, SensitiveAttribute, partition,
};
use hedgerow_protocols::horizontal::{OwnRows, Owner, SensitiveCodes};
use hedgerow_smc::Party;

use crate::error::CliError;

/// A study that can be run here.
pub(crate) struct Ready {
    pub(crate) study: Study,
    pub(crate) requirement: Requirement,
}

/// What a site has when a run is over.
pub(crate) struct Joint {
    pub(crate) partition: Partition,
    pub(crate) release: Release,
}

/// One site's columns, by the attribute's position; text has none.
pub(crate) type Columns = Vec<Option<Codes>>;

impl Ready {
    /// Reads a study and sees that this command can run it.
    pub(crate) fn open(path: &Path, sites: Option<u64>) -> Result<Self, CliError> {
        let study = Study::open(path)?;
        let scope = Scope {
            sites: sites.or(Scope::of_study(&study).sites),
            ..Scope::of_study(&study)
        };
        let requirement = Requirement::of_document(study.document(), &scope)?;
        let refuse = |what: &str| Err(CliError::Usage(format!("{}: {what}", path.display())));
        if study.partition != Spread::Horizontal {
            return refuse("only horizontal studies can be run so far");
        }
        if study.algorithm != Algorithm::Mondrian {
            return refuse("only algorithm name = \"mondrian\" can be run so far");
        }
        if requirement.sensitive == Sensitive::Product && scope.sensitive.len() > 1 {
            return refuse("sensitive = \"product\" can be verified, but not run so far");
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
        Ok(Self { study, requirement })
    }

    fn plan(&self) -> Plan<'_> {
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
        Plan {
            quasi: named(Role::Quasi)
                .map(|attribute| Quasi {
                    size: attribute.domain.size(),
                    cutting: match attribute.domain.taxonomy() {
                        Some(tree) if self.study.cuts == Cuts::Children => Cutting::Children(tree),
                        _ => Cutting::Median,
                    },
                })
                .collect(),
            sensitive: named(Role::Sensitive)
                .map(|attribute| SensitiveAttribute {
                    distance: demanded.unwrap_or_else(|| Distance::natural(&attribute.domain)),
                    tree: attribute.domain.taxonomy(),
                })
                .collect(),
            requirement: &self.requirement,
        }
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
        let rows = OwnRows {
            count: columns.iter().flatten().map(Codes::len).next().unwrap_or(0),
            quasi: coded(Role::Quasi).map(|(_, codes)| codes).collect(),
            sensitive: coded(Role::Sensitive)
                .map(|(position, codes)| SensitiveCodes {
                    codes,
                    size: schema.attributes()[position].domain.size(),
                })
                .collect(),
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
        let cells = covers(party, &rows, &partition, &writings).await?;
        let mut verbatim: Vec<(usize, &Codes)> =
            coded(Role::Sensitive).chain(coded(Role::Other)).collect();
        verbatim.sort_by_key(|(position, _)| *position);
        let release = assemble(party, schema, &partition, &cells, &verbatim).await?;
        Ok(Joint { partition, release })
    }

    /// Writes the release and looks at what was written as a stranger would.
    pub(crate) fn publish(&self, release: &Release, folder: &Path) -> Result<Published, CliError> {
        std::fs::create_dir_all(folder).map_err(|error| FileError::Unwritable {
            file: folder.display().to_string(),
            reason: error.to_string(),
        })?;
        write_release(&folder.join("release.parquet"), release, &())?;
        let path = folder.join("release.csv");
        write_release(&path, release, &())?;

        let attributes = self.study.schema.attributes().iter();
        let names: Vec<String> = attributes.map(|attribute| attribute.name.clone()).collect();
        let text = read_text(&path, &names, &())?;
        let read = Release::from_text(&text, &self.study.schema, &[])?;
        let evidence = Evidence::of_release(&text, &read, None)?;
        // Sites are not in a release: what speaks of them was seen to during the run.
        let mut visible = self.requirement.clone();
        visible.m = None;
        visible
            .models
            .retain(|model| !matches!(model, Model::SiteDiversity { .. }));
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

/// A release that was written, and what a stranger finds in it.
pub(crate) struct Published {
    pub(crate) folder: PathBuf,
    pub(crate) verdict: Verdict,
    pub(crate) utility: Utility,
    pub(crate) recode: Recode,
}
