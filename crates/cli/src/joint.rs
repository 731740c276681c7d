//! What `anonymize` and `simulate` share: a study made ready for a run, one site's part in it, and
//! the summary of what came of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hedgerow_data::files::{FileError, write_folder};
use hedgerow_data::study::{Algorithm, Partition as Spread, Split};
use hedgerow_data::{Codes, Domain, Recode, Release, Role, Study, Table};
use hedgerow_node::agreement::Agreement;
use hedgerow_privacy::utility::Utility;
use hedgerow_privacy::verify::Verdict;
use hedgerow_privacy::{Requirement, Scope, Sensitive, SingledOut};
use hedgerow_protocols::horizontal::assembly::assemble;
use hedgerow_protocols::horizontal::clustering::cluster;
use hedgerow_protocols::horizontal::cover::covers;
use hedgerow_protocols::horizontal::mondrian::{Partition, partition};
use hedgerow_protocols::horizontal::{OwnRows, Owner, SensitiveCodes};
use hedgerow_smc::Party;

use crate::check;
use crate::convergence::{Convergence, Step, Steps};
use crate::error::CliError;
use crate::manifest;
use crate::opened::Opened;
use crate::output::one_line;
use crate::plan::Draws;
use crate::shared::Groups;
use crate::verify::Read;

/// A study that can be run here.
pub(crate) struct Ready {
    pub(crate) study: Study,
    pub(crate) requirement: Requirement,
    /// Which site holds which column, where sites hold the same people; all at one, where nobody says.
    pub(crate) split: Split,
    /// What it was made of.
    pub(crate) opened: Arc<Opened>,
}

/// What a site has when a run is over.
pub(crate) struct Joint {
    /// This site's rows by class, where sites hold different people.
    pub(crate) partition: Option<Partition>,
    pub(crate) release: Release,
    /// How the loss fell, where classes were found by clustering.
    pub(crate) convergence: Option<Convergence>,
    /// How groups were found, where they were.
    pub(crate) groups: Option<Groups>,
    /// What the release is counted by before it is signed.
    pub(crate) opened: check::Opened,
}

/// What a site brings to a run.
pub(crate) enum Brought {
    /// Its own people, by column.
    People(Columns),
    /// Its own columns of people whom other sites know too.
    Columns(Table),
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
        let ready = Self::new(Opened::of(agreement), agreement.path(), None)?;
        if ready.is_vertical() && ready.study.split.is_none() {
            return Err(CliError::Usage(format!(
                "{}: the study does not say which site holds which column\nhint: write columns = [\"…\"] below each [[site]]",
                agreement.path().display()
            )));
        }
        Ok(ready)
    }

    /// Whether sites hold the same people.
    pub(crate) fn is_vertical(&self) -> bool {
        self.study.partition == Spread::Vertical
    }

    /// One that has been read from there.
    pub(crate) fn new(opened: Opened, path: &Path, sites: Option<u64>) -> Result<Self, CliError> {
        let study = opened.study.clone();
        let scope = Scope {
            sites: sites.or(Scope::of_study(&study).sites),
            ..Scope::of_study(&study)
        };
        let requirement = Requirement::of_document(study.document(), &scope)?;
        requirement.see_that_m_is_said(&study)?;
        let refuse = |what: &str| Err(CliError::Usage(format!("{}: {what}", path.display())));
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
            split: match &study.split {
                Some(split) => split.clone(),
                None => Split::whole(&study.schema),
            },
            study,
            requirement,
            opened: Arc::new(opened),
        })
    }

    /// Whether the sensitive attributes count as one.
    pub(crate) fn is_product(&self) -> bool {
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

    /// What a site brings that has this table, which is called so.
    pub(crate) fn bring(&self, table: Table, name: &str) -> Result<Brought, CliError> {
        refuse_singled_out(&self.study, &table, name)?;
        if self.is_vertical() {
            see_people(&self.study, &table, name)?;
            Ok(Brought::Columns(table))
        } else {
            Ok(Brought::People(self.columns(&table, 0..table.rows())))
        }
    }

    /// A site's part in a run.
    pub(crate) async fn take_part(
        &self,
        party: &mut Party,
        brought: &Brought,
        owners: (Owner<'_>, usize),
        draws: &Draws,
        each_step: impl FnMut(Step),
    ) -> Result<Joint, hedgerow_protocols::Error> {
        match brought {
            Brought::People(columns) => {
                self.with_people(party, columns, owners, draws, each_step)
                    .await
            }
            Brought::Columns(table) => self.with_columns(party, table, draws, each_step).await,
        }
    }

    /// Where sites hold different people: classes, how they are written, and the joint release.
    pub(crate) async fn with_people(
        &self,
        party: &mut Party,
        columns: &Columns,
        (owner, sites): (Owner<'_>, usize),
        draws: &Draws,
        mut each_step: impl FnMut(Step),
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
        let (partition, cells, convergence) = if self.study.algorithm == Algorithm::Clustering {
            let seeds = |site, start| draws.seed(site, start);
            let plan = self.clustering_plan(&seeds);
            let mut steps = Steps::default();
            let found = cluster(party, &rows, &plan, |progress| {
                each_step(steps.next(&progress));
            });
            let found = found.await?;
            let convergence = Convergence::new(&found, self.study.clustering.loss);
            (found.partition, found.cells, Some(convergence))
        } else {
            let each_wave = |wave, open| each_step(Step::Wave { wave, open });
            let partition = partition(party, &rows, &self.plan(), each_wave).await?;
            let (writings, way) = (self.writings(), self.study.top_down.covers);
            let cells = covers(party, &rows, &partition, &writings, way).await?;
            (partition, cells, None)
        };
        let mut verbatim: Vec<(usize, &Codes)> =
            coded(Role::Sensitive).chain(coded(Role::Other)).collect();
        verbatim.sort_by_key(|(position, _)| *position);
        let release = assemble(party, schema, &partition, &cells, &verbatim).await?;
        let sizes = partition.classes.iter().map(|class| class.size);
        let opened = check::Opened {
            records: Some(partition.records),
            sensitive: partition.sensitive.clone(),
            classes: Some(cells.into_iter().zip(sizes).collect()),
            own: Vec::new(),
        };
        Ok(Joint {
            partition: Some(partition),
            release,
            convergence,
            groups: None,
            opened,
        })
    }

    /// Writes the release and looks at what was written: what a stranger finds there, and the release as
    /// it reads.
    pub(crate) fn publish(
        &self,
        release: &Release,
        folder: &Path,
    ) -> Result<(Published, Release), CliError> {
        if release.rows() == 0 {
            return Err(CliError::Usage(String::from(
                "there are no records, so there is nothing to publish",
            )));
        }
        std::fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        write_folder(folder, release, &self.study, &())?;
        self.look(folder)
    }

    /// Looks at a release that was written as a stranger would.
    pub(crate) fn look(&self, folder: &Path) -> Result<(Published, Release), CliError> {
        let files = self.study.release_tables();
        let path = folder.join(files.first().map_or("", String::as_str));
        let read = Read::open(&path, &self.study)?;
        // Sites are not in a release: what speaks of them was seen to during the run.
        let (visible, _) = crate::verify::visible(&self.requirement);
        let (classes, verdict) = read.judge(None, &[], Some(&visible))?;
        let utility = read.losses(&self.study, &classes, None, Some(&self.requirement));
        let published = Published {
            folder: folder.to_owned(),
            verdict,
            utility,
            recode: self.study.recode,
        };
        Ok((published, read.release))
    }
}

/// Sees, before anything is sent, that a table whose people other sites know has some and tells them
/// apart.
pub(crate) fn see_people(study: &Study, table: &Table, name: &str) -> Result<(), CliError> {
    if table.rows() == 0 {
        return Err(CliError::Usage(format!(
            "{name}: has no records, so there is nobody whom all sites know\nhint: is this the whole table?"
        )));
    }
    let keys = study.identity.keys(table);
    keys.map_err(|error| CliError::Usage(format!("{name}: {error}")))?;
    Ok(())
}

/// Sees, before anything is sent, that columns which are published as they are do not single out more
/// records than the study allows. Says everything that does.
pub(crate) fn refuse_singled_out(study: &Study, table: &Table, name: &str) -> Result<(), CliError> {
    let refusals = SingledOut::of_table(table, study.is_fragmented()).refusals();
    let errors = refusals
        .into_iter()
        .map(|refusal| CliError::Usage(format!("{name}: {refusal}")));
    CliError::all(errors.collect())
}

/// Sees that a release can be written, before a run, so that nobody waits for one that cannot. Makes
/// nothing: a run that is refused leaves nothing behind. A folder with other files is none for a
/// release, which is all that its manifest lists.
pub(crate) fn probe(folder: &Path, study: &Study) -> Result<(), CliError> {
    if let Some(name) = manifest::strangers(folder, study).first() {
        return Err(CliError::Usage(format!(
            "{}: holds `{}`, which is no file of a release\nhint: name another folder; it need not exist",
            folder.display(),
            one_line(name)
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
