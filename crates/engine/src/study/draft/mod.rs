//! Studies to begin with: templates, and drafts made of a table, which are sound for that table and say in
//! comments what is guessed and what a person must decide.

mod diversity;
mod form;
mod hierarchies;
mod merge;
pub(crate) mod refused;
mod roles;
mod save;
mod template;
mod write;

use std::path::PathBuf;

use hedgerow_data::profile::{Kind, Profile};
use hedgerow_data::{NumberFormat, Role, TextTable, nearest};
use hedgerow_privacy::name_words;

use super::Study;
use crate::error::Error;
use crate::observe::Observer;
use crate::table::Table;
use crate::words::{count, thousands};
use diversity::{Facts, diversity};
use form::{Form, Formed, Making, is_sayable};
use hierarchies::Hierarchies;
use refused::DraftRefused;
use roles::Guess;

pub use save::{Drafted, DraftedColumn};
pub use template::Draft;

/// How a study is drafted of a table.
#[derive(Debug, Clone, Default)]
pub struct DraftOptions {
    /// The k that is required; 10, or all records of a smaller table, if nobody says.
    pub k: Option<u64>,
    /// Quasi-identifiers. Where columns are named here or as sensitive, a release has no others.
    pub quasi: Vec<String>,
    /// Sensitive columns.
    pub sensitive: Vec<String>,
    /// A column that names each record's site, which is no part of the study.
    pub provider_column: Option<String>,
    /// A folder of hierarchies in ARX's form, named after their columns.
    pub hierarchies: Option<PathBuf>,
    /// Whether others are to see the draft: ranges are rounded, and values that fewer than k records have
    /// are left out.
    pub share: bool,
}

/// The k of a draft if nobody says another.
const DEFAULT_K: u64 = 10;

/// In tables with fewer records than this clustering ends in about a minute.
const MOST_CLUSTERED: u64 = 300_000;

/// A study before it is text.
struct Sketch {
    /// What the file says first, a line each.
    head: Vec<String>,
    /// The keys of `[study]`, with the values as TOML writes them.
    study: Vec<Setting>,
    columns: Vec<Column>,
    require: Vec<Setting>,
    /// What a person must decide of the requirement.
    require_todo: Option<String>,
    algorithm: Vec<Setting>,
    /// What it tells others about the table.
    tells: Vec<String>,
}

/// A key with its value as TOML writes it, and a comment.
#[derive(Debug, Clone)]
struct Setting {
    key: String,
    value: String,
    comment: Option<String>,
}

impl Setting {
    fn new(key: &str, value: impl Into<String>, comment: Option<&str>) -> Self {
        Self {
            key: key.to_owned(),
            value: value.into(),
            comment: comment.map(str::to_owned),
        }
    }
}

/// A column of a sketch.
struct Column {
    name: String,
    role: Role,
    form: Form,
    /// Keys that the form does not have, such as `recode`.
    more: Vec<Setting>,
    comments: Vec<String>,
    todo: Option<String>,
    /// What the form tells about the table.
    tells: String,
}

impl Study {
    /// Drafts a study of a table: which values columns have, which role they seem to play and why. The
    /// draft is sound: [`Study::check`] passes on this table (with [`DraftOptions::share`], once people
    /// have added the values that were left out).
    ///
    /// ```
    /// use hedgerow::{DraftOptions, Study, Table};
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("patients.csv");
    /// # let rows: String = (0..60).map(|row| format!("{},{}\n", 20 + row % 30, ["flu", "ulcer"][row % 2])).collect();
    /// # std::fs::write(&path, format!("age,diagnosis\n{rows}"))?;
    ///
    /// let table = Table::file(path);
    /// let drafted = Study::draft_of(&table, &DraftOptions::default(), &())?;
    /// let study = drafted.save(folder.path().join("study"))?;
    /// assert!(study.check(&[table])?.holds());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn draft_of(
        table: &Table,
        options: &DraftOptions,
        observer: &dyn Observer,
    ) -> Result<Drafted, Error> {
        let name = table.name();
        let text = table.read_text(&options.named(), observer)?;
        options.see_fit(&name, &text)?;
        let hierarchies = options.hierarchies.as_deref();
        let hierarchies = hierarchies.map(|folder| Hierarchies::of(folder, &text.names));
        let hierarchies = hierarchies.transpose()?;
        let records = text.rows() as u64;
        let k = options.k.unwrap_or(match options.share {
            true => DEFAULT_K,
            false => DEFAULT_K.min(records),
        });
        if k > records {
            let refused = DraftRefused::TooFew {
                table: name,
                k,
                records,
            };
            return Err(refused.into());
        }
        let drafting = Drafting {
            text: &text,
            options,
            hierarchies,
            k,
        };
        let mut errors = Vec::new();
        let mut columns: Vec<Column> = Vec::new();
        let mut sensitive: Vec<(usize, Facts)> = Vec::new();
        let profiles = profiles(&text);
        // A column that becomes the quasi-identifier where no other is one: its place among the columns.
        let mut spare = None;
        for (place, (column, profile)) in text.names.iter().zip(profiles).enumerate() {
            if options.provider_column.as_ref() == Some(column) {
                continue;
            }
            let guess = drafting.guess(place, &profile);
            let is_spare = guess.as_ref().is_ok_and(|guess| guess.is_of_values);
            match guess.and_then(|guess| drafting.column(place, &profile, guess)) {
                Ok(column) => {
                    if is_spare && spare.is_none() {
                        spare = Some((columns.len(), place, profile));
                    } else if column.role == Role::Sensitive {
                        let facts = Facts::of(&profile, &column.form, drafting.least_records());
                        sensitive.push((columns.len(), facts));
                    }
                    columns.push(column);
                }
                Err(error) => errors.push(error),
            }
        }
        Error::all(errors)?;
        let has_quasi =
            |columns: &[Column]| columns.iter().any(|column| column.role == Role::Quasi);
        if let (false, Some((position, place, profile))) = (has_quasi(&columns), spare) {
            columns[position] = drafting.column(place, &profile, Guess::spare())?;
        }
        let require_todo = see_poor(&mut columns, &mut sensitive);
        if !has_quasi(&columns) {
            return Err(DraftRefused::NoQuasi { table: name }.into());
        }
        let facts: Vec<Facts> = sensitive.into_iter().map(|(_, facts)| facts).collect();
        let sketch = Sketch {
            require_todo,
            ..drafting.sketch(&table.file_name(), columns, &facts)
        };
        Ok(Drafted::of(sketch, Some(records)))
    }
}

impl DraftOptions {
    fn named(&self) -> Vec<String> {
        self.quasi.iter().chain(&self.sensitive).cloned().collect()
    }

    /// Refuses a table that has no records or no names, and columns that it does not have.
    fn see_fit(&self, table: &str, text: &TextTable) -> Result<(), Error> {
        let mut errors: Vec<Error> = Vec::new();
        for (place, name) in (1..).zip(&text.names) {
            if name.trim().is_empty() || name.contains(['\n', '\r']) {
                let table = table.to_owned();
                errors.push(DraftRefused::NoName { table, place }.into());
            }
        }
        for column in self.named().iter().chain(&self.provider_column) {
            if !text.names.contains(column) {
                let names = text.names.iter().map(String::as_str);
                let refused = DraftRefused::NoColumn {
                    table: table.to_owned(),
                    column: column.clone(),
                    near: nearest(column, names, 1).into_iter().next(),
                    names: text.names.clone(),
                };
                errors.push(refused.into());
            }
        }
        for column in &self.quasi {
            if self.sensitive.contains(column) {
                let column = column.clone();
                errors.push(DraftRefused::TwoRoles { column }.into());
            }
        }
        if text.rows() == 0 {
            let table = table.to_owned();
            errors.push(DraftRefused::NoRecords { table }.into());
        }
        Error::all(errors)
    }

    /// The role that somebody gave a column, where any column was given one.
    fn role(&self, column: &str) -> Option<Guess> {
        let is_in = |names: &[String]| names.iter().any(|name| name == column);
        let (role, reason) = if is_in(&self.quasi) {
            (Role::Quasi, "named as a quasi-identifier")
        } else if is_in(&self.sensitive) {
            (Role::Sensitive, "named as sensitive")
        } else if self.quasi.is_empty() && self.sensitive.is_empty() {
            return None;
        } else {
            (Role::Identifier, "not named, so no release has the column")
        };
        Some(Guess {
            role,
            reason: reason.to_owned(),
            doubt: None,
            is_of_values: false,
        })
    }
}

/// A table that is being drafted.
struct Drafting<'a> {
    text: &'a TextTable,
    options: &'a DraftOptions,
    hierarchies: Option<Hierarchies>,
    k: u64,
}

impl Drafting<'_> {
    /// With `--share`, how many records a value needs to be told.
    fn least_records(&self) -> Option<u64> {
        self.options.share.then_some(self.k)
    }

    /// The role of a column: the one that somebody named, or a guess.
    fn guess(&self, place: usize, profile: &Profile) -> Result<Guess, Error> {
        let name = &self.text.names[place];
        let named = self.options.role(name);
        let is_named = named.is_some();
        let guess = named.unwrap_or_else(|| roles::guess(name, profile));
        match profile.texts().find(|text| !is_sayable(text)) {
            None => Ok(guess),
            Some(_) if guess.role == Role::Identifier => Ok(Guess {
                is_of_values: false,
                ..guess
            }),
            Some(value) if is_named => Err(self.unsayable(place, value).into()),
            Some(_) => Ok(Guess::unsayable()),
        }
    }

    fn column(&self, place: usize, profile: &Profile, guess: Guess) -> Result<Column, Error> {
        let name = &self.text.names[place];
        let formed = self.formed(name, profile, guess.role)?;
        let mut column = Column {
            name: name.clone(),
            role: guess.role,
            form: formed.form,
            more: Vec::new(),
            comments: vec![format!("{}: {}", guess.role.name(), guess.reason)],
            todo: formed.todo,
            tells: formed.tells,
        };
        column
            .comments
            .extend(guess.doubt.map(|doubt| format!("doubt: {doubt}")));
        column.comments.extend(formed.notes);
        if column.form == Form::Text && column.role != Role::Identifier {
            column.todo = Some(format!(
                "no value has {} here, so its values are for people to list; then it is {}",
                count(self.k, "record", "records"),
                column.role.name()
            ));
            column.role = Role::Identifier;
        }
        Ok(column)
    }

    fn formed(&self, name: &str, profile: &Profile, role: Role) -> Result<Formed, Error> {
        if role == Role::Identifier {
            return Ok(form::text());
        }
        let hierarchy = match &self.hierarchies {
            Some(hierarchies) => hierarchies.find(name)?,
            None => None,
        };
        if let Some(hierarchy) = hierarchy {
            let least = self.least_records();
            return Ok(hierarchies::form(&hierarchy, name, profile, role, least)?);
        }
        let words = name_words(name);
        let is_code = words.iter().any(|word| CODES.contains(&word.as_str()));
        let making = Making {
            role,
            is_code: is_code && form::may_be_codes(profile),
            least_records: self.least_records(),
        };
        Ok(form::form(profile, making))
    }

    fn unsayable(&self, place: usize, value: &str) -> DraftRefused {
        let column = &self.text.columns[place];
        let code = column.dictionary.iter().position(|text| **text == *value);
        let record = code.map_or(1, |code| column.first_place[code]);
        DraftRefused::Unsayable {
            table: self.text.file.clone(),
            line: self.text.line(record),
            column: self.text.names[place].clone(),
            value: value.to_owned(),
        }
    }

    fn sketch(&self, file: &str, columns: Vec<Column>, sensitive: &[Facts]) -> Sketch {
        let records = self.text.rows() as u64;
        let k_comment = match self.k < DEFAULT_K && self.options.k.is_none() {
            true => "no more records are there; 10 is usual",
            false => "every class has at least so many records",
        };
        let mut require = vec![Setting::new("k", self.k.to_string(), Some(k_comment))];
        if !sensitive.is_empty() {
            let (l, is_easy) = diversity(sensitive, self.k);
            let comment = match is_easy {
                true => "and so many different values of each sensitive column",
                false => "costs much, since few records have another value than most",
            };
            require.push(Setting::new("l", l.to_string(), Some(comment)));
        }
        let (algorithm, why) = match records < MOST_CLUSTERED {
            true => (
                "clustering",
                "loses least; takes about a minute for 300,000 records",
            ),
            false => (
                "mondrian",
                "fast; clustering loses less, and takes minutes here",
            ),
        };
        let algorithm = vec![Setting::new("name", format!("\"{algorithm}\""), Some(why))];
        let tells = match self.least_records() {
            None => Vec::new(),
            Some(least) => told(&columns, least, records >= MOST_CLUSTERED),
        };
        let head = match self.least_records() {
            None => vec![
                format!(
                    "Drafted of {} with {}. Roles are guesses, each with its reason; TODO marks what a person must decide.",
                    file,
                    count(records, "record", "records")
                ),
                String::from(
                    "Ranges and values are those of the table: a draft that others are to see is made with --share.",
                ),
            ],
            Some(least) => {
                let head = format!(
                    "Drafted to be shown to others: ranges are rounded outward, and values that fewer than {} have are left out. It tells of the table:",
                    count(least, "record", "records")
                );
                let told = tells.iter().map(|what| format!("- {what}"));
                std::iter::once(head).chain(told).collect()
            }
        };
        Sketch {
            head,
            study: vec![
                Setting::new("name", hedgerow_data::document::quoted(stem(file)), None),
                Setting::new("partition", "\"horizontal\"", None),
            ],
            columns,
            require,
            require_todo: None,
            algorithm,
            tells,
        }
    }
}

/// What the columns look like, each in view of the others: numbers that could be read in two ways are read
/// with the point that the numbers of the other columns have.
fn profiles(text: &TextTable) -> Vec<Profile> {
    let profiles = text.columns.iter().map(Profile::of);
    let mut profiles: Vec<Profile> = profiles.collect();
    let certain = profiles.iter().filter_map(|profile| match profile.kind {
        Kind::Numbers {
            format,
            is_ambiguous: false,
        } if format != NumberFormat::PLAIN => Some(format),
        _ => None,
    });
    let certain: Vec<NumberFormat> = certain.collect();
    if let Some((first, others)) = certain.split_first()
        && others.iter().all(|other| other.has_point_of(*first))
    {
        for profile in &mut profiles {
            profile.read_with_point_of(*first);
        }
    }
    profiles
}

/// Leaves the sensitive columns out of releases that have fewer than two different values, where others have
/// more: an l for all could not be met. What remains is what l is for; returned is what people must decide.
fn see_poor(columns: &mut [Column], sensitive: &mut Vec<(usize, Facts)>) -> Option<String> {
    if sensitive.is_empty() {
        let todo =
            "no column looks sensitive: give the role to one that is, and require l = 2 or more";
        return Some(todo.to_owned());
    }
    let poor: Vec<usize> = sensitive
        .iter()
        .filter(|(_, facts)| facts.are_poor())
        .map(|(place, _)| *place)
        .collect();
    sensitive.retain(|(_, facts)| !facts.are_poor());
    if sensitive.is_empty() {
        let name = &columns[*poor.first()?].name;
        return Some(format!(
            "`{name}` has fewer than two values here, so no l can be met"
        ));
    }
    for place in poor {
        let column = &mut columns[place];
        column.role = Role::Identifier;
        column.todo = Some(String::from(
            "fewer than two different values are here, so no l can be met and no release has the column; with the values that sites may have it is sensitive",
        ));
    }
    None
}

/// Words of columns that hold codes though their values may look like numbers.
const CODES: [&str; 8] = [
    "icd",
    "icd10",
    "plz",
    "postal",
    "postcode",
    "postleitzahl",
    "zip",
    "zipcode",
];

/// A file's name without its end, as the name of a study.
fn stem(file: &str) -> &str {
    let stem = file.split('.').next().unwrap_or_default().trim();
    match stem.is_empty() || stem.contains(['\n', '\r']) {
        true => "table",
        false => stem,
    }
}

/// What a draft that others see tells of the table.
fn told(columns: &[Column], least: u64, is_large: bool) -> Vec<String> {
    let mut told: Vec<String> = columns
        .iter()
        .map(|column| format!("it has `{}`: {}", column.name, column.tells))
        .collect();
    let size = match is_large {
        true => format!("it has {} records or more", thousands(MOST_CLUSTERED)),
        false => format!(
            "it has {} or more, and fewer than {}",
            count(least, "record", "records"),
            thousands(MOST_CLUSTERED)
        ),
    };
    told.push(size);
    told.push(String::from(
        "the name of its file, and in which columns values repeat, as far as the reasons for roles say so",
    ));
    told
}
