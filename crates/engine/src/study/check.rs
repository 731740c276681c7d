//! Whether a study says what it must, and whether tables fit it: everything that is wrong at once.

use std::path::Path;
use std::sync::Arc;

use hedgerow_data as data;
use hedgerow_data::files::Others;
use hedgerow_data::study::{Partition, Site};
use hedgerow_data::{Attribute, Schema};
use hedgerow_node::agreement::Standing;
use hedgerow_privacy::{Model, Requirement, Sensitive, SingledOut, Suspect};
use hedgerow_protocols::horizontal::mondrian::Plan;
use hedgerow_smc::Security;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::Study;
use super::ready::{Size, refuse_singled_out, refuse_text, see_counts, see_people};
use super::refused::{StudyRefused, TableRefused};
use super::shown::limits;
use super::written::Telling;
use crate::error::Error;
use crate::observe::Observer;
use crate::table::Table;
use crate::words::{aligned, count, singled_out};

/// A study that is sound, and the tables that fit it.
///
/// Its [`Display`](std::fmt::Display) is for people, its JSON for machines.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Checked {
    /// Tables that fit.
    pub tables: Vec<Fitting>,
    /// Columns that may name people though no role says so, and columns whose cells tell who is in the table.
    pub warnings: Vec<String>,
    /// The standing of each site's signature, where the study has signatures.
    pub signatures: Option<Vec<(String, Standing)>>,
    text: String,
    json: Value,
}

/// A table that can be read under a study.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Fitting {
    /// The name of the table.
    pub name: String,
    /// The table's records.
    pub records: u64,
    /// The table's rows, of which each stands for a record or, counted, for several.
    pub rows: u64,
    /// The records that are singled out by columns which are published as they are.
    pub other: SingledOut,
}

impl Study {
    /// Checks the study, and whether tables fit it: every value in its domain, people who can be told
    /// apart, enough records for k. One error lists everything that is wrong.
    ///
    /// ```
    /// use hedgerow::{Draft, Study, Table};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("patients.csv");
    /// # std::fs::write(&path, "age,disease\n31,flu\n")?;
    ///
    /// let study = Study::parse(Study::draft(Draft::Horizontal), ".")?;
    /// let error = study.check(&[Table::file(path)]).unwrap_err();
    /// assert!(error.to_string().contains("k = 10 cannot be met"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self, tables: &[Table]) -> Result<Checked, Error> {
        self.check_as(tables, None, None, &())
    }

    /// As [`Study::check`], of tables with a column that names each record's site, or of the tables of
    /// one site of a vertical study.
    pub fn check_as(
        &self,
        tables: &[Table],
        provider_column: Option<&str>,
        site: Option<&str>,
        observer: &dyn Observer,
    ) -> Result<Checked, Error> {
        let study = self.declared();
        let security = self.opened.run.security;
        let requirement = self.requirement();
        let look = Look {
            study,
            schema: match site {
                Some(site) => columns_of(study, site, &self.opened.path)?,
                None => Arc::clone(&study.schema),
            },
            provider_column,
            is_one_sites: site.is_some(),
            observer,
        };
        let mut errors = Vec::new();
        errors.extend(
            refuse_text(&study.schema, &self.opened.path)
                .err()
                .map(Error::from),
        );
        let (mut fitting, mut suspects) = (Vec::new(), Vec::new());
        for table in tables {
            match look.at(table, &mut errors) {
                Ok((fits, found)) => {
                    fitting.push(fits);
                    suspects.extend(found);
                }
                Err(error) => errors.push(error),
            }
        }
        if fitting.is_empty() {
            let named = look.schema.attributes().iter();
            let named = named.filter(|attribute| attribute.role != data::Role::Identifier);
            suspects.extend(named.filter_map(|attribute| Suspect::by_name(&attribute.name)));
        }
        let mut warnings: Vec<String> = Vec::new();
        for warning in suspects.iter().map(Suspect::to_string) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        let rows = fitting.iter().map(|table| table.records);
        let records = match study.partition {
            Partition::Horizontal => rows.sum(),
            // The same people in each.
            Partition::Vertical => rows.min().unwrap_or(0),
        };
        // The number of records in tables that could not be read is unknown.
        let are_all_read = !fitting.is_empty() && fitting.len() == tables.len();
        if let Some(k) = requirement.as_ref().ok().map(Requirement::k)
            && are_all_read
            && k > records
        {
            let study = self.opened.path.clone();
            errors.push(TableRefused::TooFew { study, k, records }.into());
        }
        if let (Ok(requirement), true) = (&requirement, are_all_read) {
            let name = study.name.as_str();
            let rows = fitting.iter().map(|table| table.rows).sum();
            let size = Size { records, rows };
            let counts = see_counts((study, &self.opened.run), requirement, size, name);
            errors.extend(counts.err().map(Error::from));
            if study.partition == Partition::Horizontal && study.algorithm.cuts() {
                let plan = Plan::of(study, requirement, &self.opened.run);
                let refused = plan.refuse(records, study.sites.len());
                errors.extend(refused.err().map(Error::from));
            }
        }
        let requirement = match requirement {
            Ok(requirement) if errors.is_empty() => requirement,
            refused => {
                errors.splice(0..0, refused.err());
                // Warnings are of use to whoever mends the table.
                let warn = |warning| observer.notice(crate::observe::Notice::Warning(warning));
                warnings.into_iter().for_each(warn);
                return Err(Error::several(errors));
            }
        };
        if self.opened.run.d2pt.restore && requirement.k_printed.is_none() {
            warnings.push(restored(requirement.k()));
        }
        warnings.extend(
            Telling::of(study, &self.opened.run)
                .iter()
                .map(Telling::warning),
        );
        let mut text = text(study, security, &requirement, &fitting);
        let mut json = json(study, security, &requirement, &fitting);
        if !warnings.is_empty() {
            json["warnings"] = warnings.clone().into();
        }
        let signatures = self.signatures()?;
        if let Some(standings) = &signatures {
            text.push_str("signatures\n");
            text.push_str(&signature_table(standings));
            json["signatures_hold"] = are_sound(standings).into();
        }
        Ok(Checked {
            tables: fitting,
            warnings,
            signatures,
            text,
            json,
        })
    }

    /// The standing of each site's signature, if the study has signatures.
    fn signatures(&self) -> Result<Option<Vec<(String, Standing)>>, Error> {
        let mut beside = self.opened.path.clone().into_os_string();
        beside.push(".sig");
        if self.opened.agreement.is_none() || !Path::new(&beside).exists() {
            return Ok(None);
        }
        let agreement = self.agreement()?;
        let names = agreement.study.sites.iter().map(|site| site.name.clone());
        Ok(Some(names.zip(agreement.standings()?).collect()))
    }
}

impl Checked {
    /// Whether no signature of the study is void or forged.
    pub fn holds(&self) -> bool {
        self.signatures.as_deref().is_none_or(are_sound)
    }
}

impl std::fmt::Display for Checked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Checked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

fn are_sound(standings: &[(String, Standing)]) -> bool {
    let wrong = |(_, one): &(String, Standing)| matches!(one, Standing::Void | Standing::Forged);
    !standings.iter().any(wrong)
}

/// The standing of each site's signature, a line for each.
fn signature_table(standings: &[(String, Standing)]) -> String {
    let rows = standings.iter();
    let rows = rows.map(|(site, standing)| vec![format!("  {site}"), standing.text().to_owned()]);
    aligned(&rows.collect::<Vec<_>>())
}

/// How tables are looked at.
struct Look<'a> {
    study: &'a data::Study,
    schema: Arc<Schema>,
    provider_column: Option<&'a str>,
    is_one_sites: bool,
    observer: &'a dyn Observer,
}

impl Look<'_> {
    /// Reads a table. What would stop a run is an error, whatever else is wrong.
    fn at(&self, table: &Table, errors: &mut Vec<Error>) -> Result<(Fitting, Vec<Suspect>), Error> {
        let others = Others::but(self.provider_column);
        let read = table.read(&self.schema, &others, self.observer);
        let read = read.map_err(|error| match error {
            Error::File(error)
                if error.is_of_missing_columns()
                    && self.study.split.is_some()
                    && !self.is_one_sites =>
            {
                TableRefused::OneSites { source: error }.into()
            }
            other => other,
        })?;
        let name = table.name();
        if self.study.partition == Partition::Vertical {
            // People who cannot be told apart.
            let refused = see_people(self.study, &read, &name).err();
            errors.extend(refused.map(Error::from));
        }
        errors.extend(refuse_singled_out(self.study, &read, &name).err());
        let fitting = Fitting {
            records: read.records(),
            rows: read.rows() as u64,
            other: SingledOut::of_table(&read, self.study.is_fragmented()),
            name,
        };
        Ok((fitting, Suspect::of_table(&read)))
    }
}

/// The columns of a site's own table.
fn columns_of(study: &data::Study, site: &str, path: &Path) -> Result<Arc<Schema>, StudyRefused> {
    let names: Vec<&str> = study.sites.iter().map(|site| site.name.as_str()).collect();
    let Some(place) = names.iter().position(|name| *name == site) else {
        let hint = match data::nearest(site, names.iter().copied(), 1).first() {
            Some(best) => format!("did you mean `{best}`?"),
            None => format!("it has {}", data::quoted_list(&names)),
        };
        return Err(StudyRefused::UnknownSite {
            file: path.to_owned(),
            site: site.to_owned(),
            hint,
        });
    };
    Ok(study.schema_at(place))
}

fn text(
    study: &data::Study,
    security: Security,
    requirement: &Requirement,
    tables: &[Fitting],
) -> String {
    let mut text = format!(
        "study `{}` is sound: {}, {}, {}, {}\n",
        study.name,
        study.partition.name(),
        study.algorithm.name(),
        security.name(),
        match study.sites.len() {
            0 => String::from("no sites named"),
            sites => count(sites as u64, "site", "sites"),
        }
    );
    let rows: Vec<Vec<String>> = study
        .schema
        .attributes()
        .iter()
        .map(|attribute| {
            vec![
                String::from(" "),
                attribute.name.clone(),
                attribute.role.name().into(),
                domain(attribute),
            ]
        })
        .collect();
    text.push_str(&aligned(&rows));
    text.push_str(&holders(study));
    let models = requirement.models.iter().map(Model::to_string);
    let printed = requirement
        .k_printed
        .map(|k| format!("k = {k} of what is printed"));
    let demands: Vec<String> = models.chain(printed).collect();
    text.push_str(&format!("requires {}", demands.join(", ")));
    if let Some(m) = requirement.m {
        text.push_str(&format!(
            ", against any {} colluding",
            count(m, "site", "sites")
        ));
    }
    text.push_str(match requirement.sensitive_of(&study.schema) {
        Sensitive::Each => "",
        Sensitive::Product => ", sensitive attributes taken together",
        Sensitive::Both => ", of each sensitive attribute and of all taken together",
    });
    text.push('\n');
    if let Some(gate) = &study.gate {
        let limits = gate.limits();
        let limits: Vec<String> = limits
            .map(|(attack, limit)| format!("{attack} {}", limit.number()))
            .collect();
        text.push_str(&format!("may fall at most: {}\n", limits.join(", ")));
    }
    for table in tables {
        let records = count(table.records, "record", "records");
        text.push_str(&format!("{} fits: {records}\n", table.name));
        text.push_str(&aligned(&singled_out(&table.other)));
    }
    text
}

/// What k does not say where original quasi-identifiers are restored. `scripts/attacks.py` measures the share.
fn restored(k: u64) -> String {
    format!(
        "restore = true prints quasi-identifiers as they are: k = {k} counts the people of a group, and a row may be printed like no other, as 66 % of 8,000 records of Adult were at k = 10\nhint: leave restore out, or say k_printed in [require] for how many must be printed alike"
    )
}

/// Which site holds which columns of the same people, a line for each.
fn holders(study: &data::Study) -> String {
    let Some(split) = &study.split else {
        return String::new();
    };
    let sites = study.sites.iter().enumerate();
    let line = |(place, site): (usize, &Site)| {
        let columns = split.names(&study.schema, place).join(", ");
        format!("`{}` holds {columns}\n", site.name)
    };
    sites.map(line).collect()
}

fn json(
    study: &data::Study,
    security: Security,
    requirement: &Requirement,
    tables: &[Fitting],
) -> Value {
    let attributes: Vec<_> = study
        .schema
        .attributes()
        .iter()
        .map(|attribute| {
            let mut value = json!({ "name": attribute.name, "role": attribute.role, "values": attribute.domain.size() });
            if attribute.publish_unique {
                value["publish_unique"] = true.into();
            }
            value
        })
        .collect();
    let mut value = json!({
        "study": study.name,
        "sound": true,
        "partition": study.partition.name(),
        "security": security.name(),
        "algorithm": study.algorithm.name(),
        "sites": study.sites.len(),
        "attributes": attributes,
        "requires": requirement,
    });
    if let Some(gate) = &study.gate {
        value["gate"] = limits(gate);
    }
    if let Some(split) = &study.split {
        let sites = study.sites.iter().enumerate();
        let columns = sites.map(|(place, site)| {
            json!({ "site": site.name, "columns": split.names(&study.schema, place) })
        });
        value["columns"] = columns.collect();
    }
    if !tables.is_empty() {
        let tables = tables.iter().map(|table| {
            let mut value = json!({ "path": table.name, "records": table.records });
            if !table.other.is_empty() {
                value["other"] = json!(table.other);
            }
            value
        });
        value["tables"] = tables.collect();
    }
    value
}

fn domain(attribute: &Attribute) -> String {
    let mut text = attribute.domain.describe();
    if let Some(tree) = attribute.domain.taxonomy()
        && tree.height() > 1
    {
        text.push_str(&format!(", taxonomy of height {}", tree.height()));
    }
    if attribute.publish_unique {
        text.push_str(", published though it may single records out");
    }
    text
}
