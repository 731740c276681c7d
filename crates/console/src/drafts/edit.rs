//! Changes to the text of a study that leave all else as somebody wrote it: comments, order, other keys.

use hedgerow::data::Role;
use hedgerow::data::study::TaxonomyFiles;
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value};

use super::tree;

/// What a column's values are, as the page names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Decimal,
    Date,
    Truth,
    Values,
    Tree,
}

/// A column as a form has it: empty text where nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) role: String,
    pub(crate) kind: Option<Kind>,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) step: String,
    /// Widths of ranges, with commas between.
    pub(crate) widths: String,
    /// Texts that mean that there is no value, a line each.
    pub(crate) missing: String,
    pub(crate) is_ordered: bool,
    /// Values, a line each; or a taxonomy as text.
    pub(crate) values: String,
}

/// A column of a study's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ColumnOf {
    pub(crate) name: String,
    /// The comment above the column: why it has its role.
    pub(crate) reasons: Vec<String>,
    pub(crate) form: Form,
    /// The file of the taxonomy, where the column names one.
    pub(crate) taxonomy: Option<String>,
}

/// Keys that say what a column's values are.
const KEYS: [&str; 9] = [
    "type", "range", "format", "step", "widths", "values", "ordered", "taxonomy", "missing",
];
const AS_TEXT: &str =
    "\nhint: change the study’s text instead, at the end of the page of the draft";

impl Kind {
    pub(crate) const ALL: [(Self, &'static str, &'static str); 7] = [
        (Self::Text, "text", "any text (not published)"),
        (Self::Integer, "integer", "whole numbers from … to …"),
        (Self::Decimal, "decimal", "decimals from … to … in steps"),
        (Self::Date, "date", "days from … to …"),
        (Self::Truth, "boolean", "true and false"),
        (Self::Values, "values", "a list of values"),
        (Self::Tree, "tree", "a taxonomy: values under groups"),
    ];

    pub(crate) fn named(word: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|(_, name, _)| *name == word)
            .map(|(kind, ..)| kind)
    }

    pub(crate) fn name(self) -> &'static str {
        let mut all = Self::ALL.into_iter();
        all.find(|(kind, ..)| *kind == self)
            .map_or("text", |(_, name, _)| name)
    }

    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Text => &[],
            Self::Integer | Self::Decimal => &[
                "type", "range", "format", "step", "widths", "taxonomy", "missing",
            ],
            Self::Date => &["type", "range", "format", "missing"],
            Self::Truth => &["type", "missing"],
            Self::Values => &["values", "ordered", "missing"],
            Self::Tree => &["taxonomy", "ordered", "missing"],
        }
    }
}

/// The columns of a study's text.
pub(crate) fn columns(text: &str) -> Result<Vec<ColumnOf>, String> {
    let mut document = parsed(text)?;
    let tables = attributes(&mut document)?;
    Ok(tables.iter().map(column_of).collect())
}

/// The text with other roles, by the columns' places.
pub(crate) fn with_roles(text: &str, roles: &[(usize, String)]) -> Result<String, String> {
    let mut document = parsed(text)?;
    let tables = attributes(&mut document)?;
    for (place, role) in roles {
        let table = tables
            .get_mut(*place)
            .ok_or_else(|| format!("there is no column {}", place + 1))?;
        set_role(table, role)?;
    }
    Ok(document.to_string())
}

/// The text with another column at a place, and the taxonomy that it names, by its file.
pub(crate) fn with_column(
    text: &str,
    place: usize,
    form: &Form,
) -> Result<(String, Vec<(String, String)>), String> {
    let mut document = parsed(text)?;
    let tables = attributes(&mut document)?;
    let others = tables
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != place);
    let taken: Vec<String> = others
        .filter_map(|(_, table)| Some(table.get("taxonomy")?.as_str()?.to_owned()))
        .collect();
    let table = tables
        .get_mut(place)
        .ok_or_else(|| format!("there is no column {}", place + 1))?;
    set_role(table, &form.role)?;
    let kind = form
        .kind
        .ok_or("nothing says what the values are\nhint: choose one of the list")?;
    let was = kind_of(table);
    for key in KEYS {
        // A format says how the old kind of values is spelled.
        let is_other = key == "format" && was != kind;
        if !kind.keys().contains(&key) || is_other {
            table.remove(key);
        }
    }
    let mut files = Vec::new();
    match kind {
        Kind::Text => {}
        Kind::Truth => put(table, "type", Value::from("boolean")),
        Kind::Integer | Kind::Decimal => {
            put(table, "type", Value::from(kind.name()));
            let ends = [number(&form.from, "from")?, number(&form.to, "to")?];
            put(table, "range", ends.into_iter().collect::<Array>().into());
            maybe(table, "step", &form.step, |text| number(text, "step"))?;
            maybe(table, "widths", &form.widths, |text| {
                let widths = text.split(',').map(|width| number(width, "widths"));
                Ok(widths.collect::<Result<Array, String>>()?.into())
            })?;
            match form.values.trim().is_empty() {
                true => drop(table.remove("taxonomy")),
                false => files.push(taxonomy(table, form, &taken)?),
            }
        }
        Kind::Date => {
            put(table, "type", Value::from("date"));
            let ends = [form.from.trim(), form.to.trim()];
            put(table, "range", ends.into_iter().collect::<Array>().into());
        }
        Kind::Values => {
            let lines = form.values.lines().filter(|line| !line.trim().is_empty());
            if let Some(line) = lines.clone().find(|line| line.starts_with([' ', '\t'])) {
                return Err(format!(
                    "`{}` stands below another value, and a list has no levels\nhint: choose a taxonomy, or take the spaces before it away",
                    line.trim()
                ));
            }
            put(
                table,
                "values",
                lines.map(str::trim).collect::<Array>().into(),
            );
        }
        Kind::Tree => files.push(taxonomy(table, form, &taken)?),
    }
    if matches!(kind, Kind::Values | Kind::Tree) {
        match form.is_ordered {
            true => put(table, "ordered", Value::from(true)),
            false => drop(table.remove("ordered")),
        }
    }
    if kind != Kind::Text {
        let missing: Vec<&str> = form.missing.lines().map(str::trim).collect();
        match missing.as_slice() {
            [] | [""] => drop(table.remove("missing")),
            [one] => put(table, "missing", Value::from(*one)),
            several => put(
                table,
                "missing",
                several.iter().copied().collect::<Array>().into(),
            ),
        }
    }
    Ok((document.to_string(), files))
}

/// The text with other lines of `[algorithm]`.
pub(crate) fn with_algorithm(text: &str, lines: &str) -> Result<String, String> {
    let mut document = parsed(text)?;
    let mut lines = parsed(lines)?;
    let table = lines.remove("algorithm").ok_or("there is no [algorithm]")?;
    let (Item::Table(mut table), Some(Item::Table(old))) = (table, document.get("algorithm"))
    else {
        return Err(format!("[algorithm] is not a table of its own{AS_TEXT}"));
    };
    *table.decor_mut() = old.decor().clone();
    table.set_position(old.position());
    document.insert("algorithm", Item::Table(table));
    Ok(document.to_string())
}

/// The text with another name of the study, and with the sites of another text, if it has any.
pub(crate) fn with_sites(text: &str, name: &str, other: Option<&str>) -> Result<String, String> {
    let mut document = parsed(text)?;
    if let Some(study) = document.get_mut("study").and_then(Item::as_table_mut)
        && !name.is_empty()
    {
        put(study, "name", Value::from(name));
    }
    let other = other.map(parsed).transpose()?;
    let sites = other.as_ref().and_then(|other| other.get("site"));
    let Some(sites) = sites.and_then(Item::as_array_of_tables) else {
        return Ok(document.to_string());
    };
    // As text, so that comments go with the sites and they stand at the end.
    let mut alone = DocumentMut::new();
    let mut copied = ArrayOfTables::new();
    for site in sites.iter() {
        let mut site = site.clone();
        site.set_position(None);
        copied.push(site);
    }
    alone.insert("site", Item::ArrayOfTables(copied));
    Ok(format!("{document}\n{alone}"))
}

fn parsed(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>()
        .map_err(|error| error.message().to_owned())
}

fn attributes(document: &mut DocumentMut) -> Result<&mut ArrayOfTables, String> {
    let found = document
        .get_mut("attribute")
        .and_then(Item::as_array_of_tables_mut);
    found.ok_or_else(|| format!("the columns are not written as [[attribute]]{AS_TEXT}"))
}

fn set_role(table: &mut Table, role: &str) -> Result<(), String> {
    if !Role::NAMES.iter().any(|(name, _)| *name == role) {
        return Err(format!("`{role}` is no role"));
    }
    put(table, "role", Value::from(role));
    if role != Role::Other.name() {
        table.remove("publish_unique");
    }
    Ok(())
}

/// Sets a key, unless it says the same already.
fn put(table: &mut Table, key: &str, value: Value) {
    let said = |value: &Value| value.clone().decorated("", "").to_string();
    if table.get(key).and_then(Item::as_value).map(said) == Some(said(&value)) {
        return;
    }
    table.insert(key, Item::Value(value));
}

/// Sets a key by a field, or takes it away where the field is empty.
fn maybe(
    table: &mut Table,
    key: &str,
    field: &str,
    value: impl FnOnce(&str) -> Result<Value, String>,
) -> Result<(), String> {
    match field.trim().is_empty() {
        true => drop(table.remove(key)),
        false => put(table, key, value(field)?),
    }
    Ok(())
}

fn number(text: &str, field: &str) -> Result<Value, String> {
    let text = text.trim();
    let wrong = || format!("`{text}` is no number, and `{field}` needs one");
    let value: Value = text.parse().map_err(|_| wrong())?;
    match value.is_integer() || value.is_float() {
        true => Ok(value),
        false => Err(wrong()),
    }
}

/// Names the taxonomy of a column, and makes its file.
fn taxonomy(table: &mut Table, form: &Form, taken: &[String]) -> Result<(String, String), String> {
    let tree = tree::read(&form.values)?;
    let own = table.get("taxonomy").and_then(Item::as_str);
    let name = match own.filter(|own| !taken.iter().any(|other| other == own)) {
        Some(own) => own.to_owned(),
        None => {
            let column = table.get("name").and_then(Item::as_str).unwrap_or("column");
            let mut files = TaxonomyFiles::default();
            // Each name is another one, so one of them is free.
            let mut names = std::iter::from_fn(|| files.file(column));
            let is_free =
                |name: &String| !taken.iter().any(|other| other.eq_ignore_ascii_case(name));
            names.find(is_free).unwrap_or_default()
        }
    };
    put(table, "taxonomy", Value::from(name.as_str()));
    Ok((name, tree.to_rows()))
}

fn kind_of(table: &Table) -> Kind {
    match table.get("type").and_then(Item::as_str) {
        Some("integer") => Kind::Integer,
        Some("decimal") => Kind::Decimal,
        Some("date") => Kind::Date,
        Some("boolean") => Kind::Truth,
        _ if table.contains_key("taxonomy") => Kind::Tree,
        _ if table.contains_key("values") => Kind::Values,
        _ => Kind::Text,
    }
}

fn column_of(table: &Table) -> ColumnOf {
    let text = |key: &str| table.get(key).and_then(Item::as_str).map(str::to_owned);
    let said = |value: &Value| match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.clone().decorated("", "").to_string(),
    };
    let list = |key: &str| -> Vec<String> {
        match table.get(key).and_then(Item::as_value) {
            Some(Value::Array(array)) => array.iter().map(said).collect(),
            Some(value) => vec![said(value)],
            None => Vec::new(),
        }
    };
    let range = list("range");
    let end = |place: usize| range.get(place).cloned().unwrap_or_default();
    let comments = table.decor().prefix().and_then(|prefix| prefix.as_str());
    let comments = comments.unwrap_or_default().lines();
    let comments = comments.filter_map(|line| line.trim().strip_prefix('#'));
    ColumnOf {
        name: text("name").unwrap_or_default(),
        reasons: comments.map(|line| line.trim().to_owned()).collect(),
        taxonomy: text("taxonomy"),
        form: Form {
            role: text("role").unwrap_or_default(),
            kind: Some(kind_of(table)),
            from: end(0),
            to: end(1),
            step: list("step").concat(),
            widths: list("widths").join(", "),
            missing: list("missing").join("\n"),
            is_ordered: table.get("ordered").and_then(Item::as_bool) == Some(true),
            values: list("values").join("\n"),
        },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const STUDY: &str = "# ours\n[study]\nname = \"ward\"\npartition = \"horizontal\"\n\n# quasi: by its name\n[[attribute]]\nname = \"age\" # years\nrole = \"quasi\"\ntype = \"integer\"\nrange = [0, 99]\nwidths = [5, 10]\n\n[[attribute]]\nname = \"disease\"\nrole = \"sensitive\"\nvalues = [\"flu\", \"ulcer\"]\n\n[require]\nk = 3 # few\n\n[algorithm]\nname = \"mondrian\"\n";

    fn sound(text: &str) {
        hedgerow::Study::parse(text, ".").unwrap();
    }

    #[test]
    fn roles_change_and_all_else_stays() {
        let changed = with_roles(STUDY, &[(1, String::from("quasi"))]).unwrap();
        assert_eq!(changed, STUDY.replace("\"sensitive\"", "\"quasi\""));
        let same = with_roles(STUDY, &[(0, String::from("quasi"))]).unwrap();
        assert_eq!(same, STUDY);
        assert!(with_roles(STUDY, &[(7, String::from("quasi"))]).is_err());
        assert!(with_roles(STUDY, &[(0, String::from("king"))]).is_err());
    }

    #[test]
    fn a_column_that_nobody_changed_is_written_as_it_was() {
        for (place, column) in columns(STUDY).unwrap().iter().enumerate() {
            let (text, files) = with_column(STUDY, place, &column.form).unwrap();
            assert_eq!(text, STUDY);
            assert!(files.is_empty());
        }
        let age = &columns(STUDY).unwrap()[0];
        assert_eq!(age.reasons, ["quasi: by its name"]);
        assert_eq!(
            (&*age.form.from, &*age.form.to, &*age.form.widths),
            ("0", "99", "5, 10")
        );
    }

    #[test]
    fn a_column_gets_another_kind_of_values() {
        let form = |kind, from: &str, to: &str, values: &str| Form {
            role: String::from("quasi"),
            kind: Some(kind),
            from: from.to_owned(),
            to: to.to_owned(),
            values: values.to_owned(),
            ..Form::default()
        };
        let (text, _) = with_column(STUDY, 0, &form(Kind::Values, "", "", "young\nold\n")).unwrap();
        assert!(
            text.contains("values = [\"young\", \"old\"]") && !text.contains("range"),
            "{text}"
        );
        sound(&text);
        let (text, _) =
            with_column(STUDY, 1, &form(Kind::Date, "2026-01-01", "2026-12-31", "")).unwrap();
        sound(&text);
        let (text, _) = with_column(STUDY, 1, &form(Kind::Decimal, "0.5", "9.5", "")).unwrap();
        assert!(text.contains("range = [0.5, 9.5]"), "{text}");
        let (text, files) = with_column(
            STUDY,
            1,
            &form(Kind::Tree, "", "", "*\n  stomach\n    ulcer\n  flu\n"),
        )
        .unwrap();
        assert!(
            text.contains("taxonomy = \"taxonomies/disease.csv\""),
            "{text}"
        );
        assert_eq!(files[0].0, "taxonomies/disease.csv");
        assert!(files[0].1.contains("ulcer;stomach;*"), "{files:?}");
        for wrong in [
            form(Kind::Integer, "0", "[1, 2]", ""),
            form(Kind::Integer, "0]\nrole = \"other\"", "1", ""),
            form(Kind::Integer, "", "1", ""),
            form(Kind::Values, "", "", "*\n  a\n"),
            form(Kind::Tree, "", "", "*\n"),
            Form {
                kind: None,
                ..form(Kind::Text, "", "", "")
            },
        ] {
            assert!(with_column(STUDY, 0, &wrong).is_err(), "{wrong:?}");
        }
    }

    /// Whatever somebody types, the text stays one that says the same of all other columns.
    #[test]
    fn no_field_writes_another_key() {
        for evil in [
            "\"]\nrole = \"other\"\n",
            "]\n[[attribute]]\nname = \"x\"",
            "'''",
            "\\",
            "# x",
        ] {
            let form = Form {
                role: String::from("sensitive"),
                kind: Some(Kind::Values),
                values: format!("flu\n{evil}"),
                missing: evil.to_owned(),
                ..Form::default()
            };
            let (text, _) = with_column(STUDY, 1, &form).unwrap();
            let read = columns(&text).unwrap();
            assert_eq!(read.len(), 2, "{text}");
            assert_eq!(read[0], columns(STUDY).unwrap()[0]);
            assert_eq!(read[1].form.role, "sensitive");
        }
    }

    #[test]
    fn another_algorithm_and_the_sites_of_another_study_are_taken() {
        let text = with_algorithm(STUDY, "[algorithm]\nname = \"clustering\"\n").unwrap();
        assert_eq!(text, STUDY.replace("mondrian", "clustering"));
        let other = format!(
            "{STUDY}\n# theirs\n[[site]]\nname = \"north\"\n\n[[site]]\nname = \"south\"\n"
        );
        let text = with_sites(STUDY, "joint", Some(&other)).unwrap();
        assert!(
            text.contains("name = \"joint\"") && text.contains("# theirs"),
            "{text}"
        );
        let study = hedgerow::Study::parse(text, ".").unwrap();
        let names: Vec<&str> = study
            .declared()
            .sites
            .iter()
            .map(|site| &*site.name)
            .collect();
        assert_eq!(names, ["north", "south"]);
        assert_eq!(with_sites(STUDY, "", None).unwrap(), STUDY);
    }
}
