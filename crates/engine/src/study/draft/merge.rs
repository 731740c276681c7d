//! Drafts of several sites joined into one: ranges that hold all ranges, values of all lists, taxonomies
//! put together. Sites that say different things of one column are a conflict, and all conflicts are told
//! at once.

mod join;

use std::path::PathBuf;

use hedgerow_data::document::{Section, quoted};
use hedgerow_data::study::Partition;
use hedgerow_data::{Attribute, Domain, Role};
use toml_edit::{DocumentMut, Table};

use super::form::{Form, listed_form};
use super::refused::DraftRefused;
use super::save::Drafted;
use super::{Column, Setting, Sketch};
use crate::error::Error;
use crate::study::Study;
use crate::words::count;
use join::{Joined, join};

/// A study's name where the drafts have different ones.
const NAME: &str = "joint";

/// One of the studies that are joined.
struct Part<'a> {
    path: PathBuf,
    study: &'a Study,
    toml: DocumentMut,
}

impl Study {
    /// Joins the drafts that sites made of their own tables. `name` is the name of the study; without it
    /// the name that all drafts have, or `joint`.
    ///
    /// ```
    /// use hedgerow::Study;
    ///
    /// let draft = |range: &str, values: &str| {
    ///     let text = format!(
    ///         "[study]\nname = \"s\"\npartition = \"horizontal\"\n[[attribute]]\nname = \"age\"\nrole = \"quasi\"\ntype = \"integer\"\nrange = {range}\n[[attribute]]\nname = \"ward\"\nrole = \"sensitive\"\nvalues = {values}\n[require]\nk = 5\n"
    ///     );
    ///     Study::parse(text, ".")
    /// };
    /// let north = draft("[10, 79]", "[\"a\", \"b\"]")?;
    /// let south = draft("[0, 59]", "[\"b\", \"c\"]")?;
    /// let joined = Study::merge(&[north, south], None)?;
    /// assert!(joined.text().contains("range = [0, 79]"));
    /// assert!(joined.text().contains("values = [\"a\", \"b\", \"c\"]"));
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    pub fn merge(studies: &[Self], name: Option<&str>) -> Result<Drafted, Error> {
        if studies.len() < 2 {
            return Err(DraftRefused::OneStudy.into());
        }
        let mut errors: Vec<Error> = Vec::new();
        let mut parts = Vec::new();
        for study in studies {
            match Part::of(study) {
                Ok(part) => parts.push(part),
                Err(error) => errors.push(error),
            }
        }
        Error::all(errors)?;
        let mut merging = Merging {
            parts: &parts,
            errors: Vec::new(),
            notes: Vec::new(),
        };
        let columns = merging.columns();
        let [study, require, algorithm] =
            ["study", "require", "algorithm"].map(|table| merging.settings(table));
        let Merging { errors, notes, .. } = merging;
        Error::all(errors.into_iter().map(Error::from).collect())?;
        let names: Vec<&str> = studies.iter().map(Self::name).collect();
        let name = name.unwrap_or(match names.windows(2).all(|two| two[0] == two[1]) {
            true => names[0],
            false => NAME,
        });
        let mut head = vec![Setting::new("name", quoted(name), None)];
        head.extend(study.into_iter().filter(|setting| setting.key != "name"));
        let sketch = Sketch {
            head: vec![
                format!(
                    "Joined of {}.",
                    count(parts.len() as u64, "draft", "drafts")
                ),
                String::from(
                    "Every site sees that its own table fits: hedgerow study check names values that are still missing.",
                ),
            ],
            study: head,
            columns,
            require,
            require_todo: None,
            algorithm,
            tells: Vec::new(),
        };
        let mut drafted = Drafted::of(sketch, None);
        drafted.notes = notes;
        Ok(drafted)
    }
}

impl<'a> Part<'a> {
    /// A study that is a draft: of different people, without sites.
    fn of(study: &'a Study) -> Result<Self, Error> {
        let path = study.opened.path.clone();
        let declared = study.declared();
        let root = declared.document().root();
        let why = if declared.partition == Partition::Vertical {
            Some("it is a vertical study")
        } else if !declared.sites.is_empty() {
            Some("it names sites")
        } else if root.has("query") || root.has("identity") {
            Some("it has tables beside columns, requirement and algorithm")
        } else {
            None
        };
        if let Some(why) = why {
            return Err(DraftRefused::NoDraft { study: path, why }.into());
        }
        // The text has been read before, so it is TOML.
        let toml = declared.document().text().parse().unwrap_or_default();
        Ok(Self { path, study, toml })
    }

    /// A column by its name.
    fn column(&self, name: &str) -> Result<Option<Column>, Error> {
        let declared = self.study.declared();
        let sections = declared.document().root().sections("attribute")?;
        let mut both = declared.schema.attributes().iter().zip(&sections);
        let found = both.find(|(attribute, _)| attribute.name == name);
        found
            .map(|(attribute, section)| column(attribute, section))
            .transpose()
    }
}

/// A study's column as a draft has it.
fn column(attribute: &Attribute, section: &Section<'_>) -> Result<Column, Error> {
    let missing = section.texts("missing")?.unwrap_or_default();
    let last = attribute
        .domain
        .size()
        .saturating_sub(1 + u32::from(!missing.is_empty()));
    let taxonomy = |widths: &[i64]| {
        let taxonomy = attribute.domain.taxonomy();
        taxonomy.filter(|_| widths.is_empty()).cloned()
    };
    let form = match &attribute.domain {
        _ if attribute.role == Role::Identifier => Form::Text,
        Domain::Text => Form::Text,
        Domain::Integer(integers) => {
            let widths = section.integers("widths")?.unwrap_or_default();
            Form::Numbers {
                digits: 0,
                format: attribute.spelling.number_format(),
                range: (integers.value(0), integers.value(last)),
                step: integers.step(),
                taxonomy: taxonomy(&widths),
                widths,
                missing,
            }
        }
        Domain::Decimal(decimals) => {
            let digits = decimals.digits();
            let widths = section.decimals("widths")?.unwrap_or_default().into_iter();
            // The study was read, so its widths have no more digits than its step.
            let widths: Vec<i64> = widths.filter_map(|width| width.units(digits)).collect();
            Form::Numbers {
                digits,
                format: attribute.spelling.number_format(),
                range: (decimals.units(0), decimals.units(last)),
                step: decimals.step().units(digits).unwrap_or(1),
                taxonomy: taxonomy(&widths),
                widths,
                missing,
            }
        }
        Domain::Date(days) => Form::Days {
            range: (days.day(0), days.day(last)),
            format: attribute.spelling.format().map(str::to_owned),
            missing,
        },
        Domain::Category(_) if attribute.spelling.is_truth() => Form::Truth { missing },
        Domain::Category(categories) => Form::Tree {
            tree: categories.taxonomy().clone(),
            ordered: attribute.domain.is_ordered(),
            missing,
        },
    };
    let mut more = Vec::new();
    if let Some(recode) = attribute.recode {
        more.push(Setting::new(
            "recode",
            format!("\"{}\"", recode.name()),
            None,
        ));
    }
    if attribute.publish_unique {
        more.push(Setting::new("publish_unique", "true", None));
    }
    Ok(Column {
        name: attribute.name.clone(),
        role: attribute.role,
        form,
        more,
        comments: Vec::new(),
        todo: None,
        tells: String::new(),
    })
}

/// Studies while they are joined.
struct Merging<'a> {
    parts: &'a [Part<'a>],
    errors: Vec<DraftRefused>,
    notes: Vec<String>,
}

impl Merging<'_> {
    /// The columns of all, in the order in which they are met.
    fn columns(&mut self) -> Vec<Column> {
        let mut names: Vec<&str> = Vec::new();
        for part in self.parts {
            let attributes = part.study.declared().schema.attributes().iter();
            let new = attributes.map(|attribute| attribute.name.as_str());
            let new: Vec<&str> = new.filter(|name| !names.contains(name)).collect();
            names.extend(new);
        }
        names
            .into_iter()
            .filter_map(|name| self.joined(name))
            .collect()
    }

    /// A column of all studies; `None` after a conflict.
    fn joined(&mut self, name: &str) -> Option<Column> {
        let found = self
            .parts
            .iter()
            .map(|part| (part, part.column(name).ok().flatten()));
        let (there, lacking): (Vec<_>, Vec<_>) = found.partition(|(_, column)| column.is_some());
        let mut there = there
            .into_iter()
            .filter_map(|(part, column)| Some((part, column?)));
        let (first, mut joined) = there.next()?;
        let lacking = lacking.into_iter().map(|(part, _)| DraftRefused::Lacks {
            column: name.to_owned(),
            has: first.path.clone(),
            lacks: part.path.clone(),
        });
        let mut errors: Vec<DraftRefused> = lacking.collect();
        for (part, column) in there {
            let conflict = |first_says: String, second: String| DraftRefused::Conflict {
                column: name.to_owned(),
                one: first.path.clone(),
                first: first_says,
                other: part.path.clone(),
                second,
            };
            if joined.role != column.role {
                let [one, other] = [joined.role, column.role].map(|role| role.name().to_owned());
                errors.push(conflict(one, other));
                continue;
            }
            let keys = |column: &Column| -> Vec<String> {
                let more = column.more.iter();
                more.map(|setting| format!("{} = {}", setting.key, setting.value))
                    .collect()
            };
            let (one, other) = (keys(&joined).join(", "), keys(&column).join(", "));
            if one != other {
                let said = |keys: String| match keys.is_empty() {
                    true => String::from("without recode and publish_unique"),
                    false => format!("with {keys}"),
                };
                errors.push(conflict(said(one), said(other)));
            }
            match join(&joined.form, &column.form) {
                Ok(Joined { form, note }) => {
                    joined.form = form;
                    if let Some(note) = note {
                        let note = format!("`{name}` of {}: {note}", part.path.display());
                        self.notes.push(note);
                        joined.todo = Some(String::from(
                            "where values belong of which the drafts said different things",
                        ));
                    }
                }
                Err((one, other)) => errors.push(conflict(one, other)),
            }
        }
        if let Form::Tree {
            tree,
            ordered: false,
            missing,
        } = &joined.form
            && tree.height() == 1
        {
            let values = tree.values().map(str::to_owned).collect();
            joined.form = listed_form(values).with_missing(missing.clone());
        }
        let is_whole = errors.is_empty();
        self.errors.extend(errors);
        is_whole.then_some(joined)
    }

    /// The keys of a table of all studies.
    fn settings(&mut self, table: &'static str) -> Vec<Setting> {
        let mut joined: Vec<(Setting, &PathBuf)> = Vec::new();
        for (place, part) in self.parts.iter().enumerate() {
            let own = part.toml.get(table).and_then(toml_edit::Item::as_table);
            let own: Vec<(String, String)> = own.map(settings_of).unwrap_or_default();
            for (setting, path) in &joined {
                let is_missing = !own.iter().any(|(key, _)| *key == setting.key);
                if is_missing && setting.key != "l" && setting.key != "name" {
                    self.errors.push(DraftRefused::Setting {
                        key: format!("{table}.{}", setting.key),
                        one: (*path).clone(),
                        first: setting.value.clone(),
                        other: part.path.clone(),
                        second: String::from("not set"),
                    });
                }
            }
            for (key, value) in own {
                match joined.iter_mut().find(|(setting, _)| setting.key == key) {
                    None if place == 0 || key == "l" => {
                        joined.push((Setting::new(&key, value, None), &part.path));
                    }
                    None => self.errors.push(DraftRefused::Setting {
                        key: format!("{table}.{key}"),
                        one: self.parts[0].path.clone(),
                        first: String::from("not set"),
                        other: part.path.clone(),
                        second: value,
                    }),
                    Some((setting, _)) if setting.value == value => {}
                    Some((setting, path)) => match agreed(table, &key, &setting.value, &value) {
                        Some(agreed) => {
                            if key != "name" || table != "study" {
                                self.notes.push(format!(
                                    "{key} is {} and {value} in the drafts, and {agreed} here",
                                    setting.value
                                ));
                            }
                            setting.value = agreed;
                        }
                        None => self.errors.push(DraftRefused::Setting {
                            key: format!("{table}.{key}"),
                            one: (*path).clone(),
                            first: setting.value.clone(),
                            other: part.path.clone(),
                            second: value,
                        }),
                    },
                }
            }
        }
        joined.into_iter().map(|(setting, _)| setting).collect()
    }
}

/// What is written where drafts differ in something that each drafted from its own table: the stricter
/// number, and the algorithm that also ends soon in large tables.
fn agreed(table: &str, key: &str, one: &str, other: &str) -> Option<String> {
    match (table, key) {
        ("study", "name") => Some(one.to_owned()),
        ("require", "k" | "l") => {
            let (first, second): (u64, u64) = (one.parse().ok()?, other.parse().ok()?);
            Some(first.max(second).to_string())
        }
        ("algorithm", "name") => {
            let both = ["\"clustering\"", "\"mondrian\""];
            let are_drafted = both.contains(&one) && both.contains(&other);
            are_drafted.then(|| both[1].to_owned())
        }
        _ => None,
    }
}

/// The keys of a table, with values as TOML writes them, without comments.
fn settings_of(table: &Table) -> Vec<(String, String)> {
    let pairs = table.iter().filter_map(|(key, item)| {
        let mut value = item.as_value()?.clone();
        value.decor_mut().clear();
        Some((key.to_owned(), value.to_string()))
    });
    pairs.collect()
}
