//! Ready hierarchies for the columns of a table: a folder of files in ARX's form, each named after its
//! column, such as `age.csv` or `adult_hierarchy_age.csv`.

use std::path::{Path, PathBuf};

use hedgerow_data::profile::{Kind, Profile};
use hedgerow_data::{Role, Taxonomy};

use super::form::{Form, Formed, is_sayable};
use super::refused::DraftRefused;
use crate::error::Error;
use crate::words::{count, one_line};

/// The hierarchies of a folder.
pub(super) struct Hierarchies {
    files: Vec<(String, PathBuf)>,
}

impl Hierarchies {
    /// The files of a folder, unread. One at least is named after one of these columns.
    pub(super) fn of(folder: &Path, columns: &[String]) -> Result<Self, DraftRefused> {
        let unreadable = |error: std::io::Error| DraftRefused::NoHierarchies {
            folder: folder.to_owned(),
            reason: error.to_string(),
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let is_csv = path
                .extension()
                .is_some_and(|end| end.eq_ignore_ascii_case("csv"));
            if let (true, Some(stem)) = (is_csv, path.file_stem()) {
                files.push((stem.to_string_lossy().to_lowercase(), path));
            }
        }
        files.sort();
        let fits_any =
            |(stem, _): &(String, PathBuf)| columns.iter().any(|column| fits(stem, column));
        if !files.iter().any(fits_any) {
            return Err(DraftRefused::NoHierarchies {
                folder: folder.to_owned(),
                reason: String::from("no file in it is named after a column"),
            });
        }
        Ok(Self { files })
    }

    /// The hierarchy of a column, if there is one.
    pub(super) fn find(&self, column: &str) -> Result<Option<(PathBuf, Taxonomy)>, Error> {
        let mut fitting = self.files.iter().filter(|(stem, _)| fits(stem, column));
        let Some((_, one)) = fitting.next() else {
            return Ok(None);
        };
        if let Some((_, other)) = fitting.next() {
            return Err(DraftRefused::TwoHierarchies {
                column: column.to_owned(),
                one: one.clone(),
                other: other.clone(),
            }
            .into());
        }
        let tree = Taxonomy::open(one, &one.display().to_string())?;
        Ok(Some((one.clone(), tree)))
    }
}

/// Whether a file of this name, in lower case and without its end, is a column's.
fn fits(stem: &str, column: &str) -> bool {
    let column = column.to_lowercase();
    let rest = ["hierarchy_", "hierarchy-"].iter().find_map(|mark| {
        let place = stem.find(mark)?;
        Some(&stem[place + mark.len()..])
    });
    stem == column || rest == Some(column.as_str())
}

/// The form of a column under its hierarchy. Values that the hierarchy lacks are put right below its
/// root, which a person has to look at.
pub(super) fn form(
    (file, tree): &(PathBuf, Taxonomy),
    column: &str,
    profile: &Profile,
    role: Role,
    least_records: Option<u64>,
) -> Result<Formed, DraftRefused> {
    let told = |value: &&hedgerow_data::profile::Value| {
        least_records.is_none_or(|least| value.records >= least)
    };
    let all = profile.values.iter().chain(&profile.missing);
    let lacking = all.filter(told).map(|value| value.text.as_str());
    let lacking: Vec<&str> = lacking.filter(|text| tree.value(text).is_none()).collect();
    if let Some(level) = lacking
        .iter()
        .find(|text| tree.find(text).is_some() || !is_sayable(text))
    {
        return Err(DraftRefused::Level {
            file: file.clone(),
            column: column.to_owned(),
            value: (*level).to_owned(),
        });
    }
    let name = file
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let mut formed = Formed {
        form: Form::Tree {
            tree: tree.clone(),
            ordered: false,
            missing: Vec::new(),
        },
        notes: vec![format!("levels of {}", name.unwrap_or_default())],
        todo: None,
        tells: String::from("the values of its hierarchy"),
    };
    if lacking.is_empty() {
        if let (Kind::Integers { .. }, Some(range), true) =
            (profile.kind, whole_range(tree), profile.missing.is_empty())
        {
            formed.form = Form::Numbers {
                digits: 0,
                format: None,
                range,
                step: 1,
                widths: Vec::new(),
                missing: Vec::new(),
                taxonomy: Some(tree.clone()),
            };
        }
        return Ok(formed);
    }
    let mut paths = tree.paths();
    paths.extend(lacking.iter().map(|text| vec![(*text).to_owned()]));
    let level = |_| DraftRefused::Level {
        file: file.clone(),
        column: column.to_owned(),
        value: lacking[0].to_owned(),
    };
    let root = tree.label(tree.root());
    let tree = Taxonomy::from_paths(root, &paths, "hierarchy").map_err(level)?;
    formed.form = Form::Tree {
        tree,
        ordered: false,
        missing: Vec::new(),
    };
    formed.notes.push(format!(
        "the hierarchy lacks {}, such as `{}`, put right below its root",
        count(
            lacking.len() as u64,
            "value of the table",
            "values of the table"
        ),
        one_line(lacking[0])
    ));
    if role == Role::Quasi {
        formed.todo = Some(String::from(
            "where the values belong that the hierarchy lacks",
        ));
    }
    Ok(formed)
}

/// The range, where a tree's values are all whole numbers of one, in their order.
fn whole_range(tree: &Taxonomy) -> Option<(i64, i64)> {
    let mut values = tree.values().map(|label| {
        let number: i64 = label.parse().ok()?;
        (number.to_string() == label).then_some(number)
    });
    let first = values.next()??;
    let mut last = first;
    for value in values {
        let value = value?;
        (value == last.checked_add(1)?).then_some(())?;
        last = value;
    }
    Some((first, last))
}

#[cfg(test)]
mod tests {
    use hedgerow_data::profile::Value;

    use super::*;

    fn profile(texts: &[&str]) -> Profile {
        let value = |text: &&str| Value {
            text: (*text).to_owned(),
            records: 1,
        };
        Profile::of_values(texts.iter().map(value).collect())
    }

    #[test]
    fn files_are_found_by_the_names_of_columns() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "adult_hierarchy_age.csv",
            "sex.csv",
            "x_hierarchy_salary-class.csv",
            "note.txt",
        ] {
            std::fs::write(folder.path().join(name), "1;*\n2;*\n").unwrap();
        }
        let columns = [String::from("age")];
        let all = Hierarchies::of(folder.path(), &columns).unwrap();
        for (column, is_there) in [
            ("age", true),
            ("Sex", true),
            ("salary-class", true),
            ("class", false),
            ("note", false),
        ] {
            assert_eq!(all.find(column).unwrap().is_some(), is_there, "{column}");
        }
        std::fs::write(folder.path().join("age.csv"), "1;*\n").unwrap();
        let all = Hierarchies::of(folder.path(), &columns).unwrap();
        assert!(
            all.find("age")
                .unwrap_err()
                .to_string()
                .contains("are both hierarchies of column `age`")
        );
        let nowhere = Hierarchies::of(&folder.path().join("none"), &columns)
            .err()
            .unwrap();
        assert!(nowhere.to_string().contains("--hierarchies names a folder"));
        let others = Hierarchies::of(folder.path(), &[String::from("town")])
            .err()
            .unwrap();
        let message = others.to_string();
        assert!(
            message.contains("no file in it is named after a column"),
            "{message}"
        );
    }

    #[test]
    fn values_that_a_hierarchy_lacks() {
        let tree = Taxonomy::from_rows("1;low;*\n2;low;*\n3;high;*\n", "t").unwrap();
        let file = (PathBuf::from("t.csv"), tree);
        let form = |texts: &[&str]| form(&file, "x", &profile(texts), Role::Quasi, None);
        let whole = form(&["1", "3"]).unwrap();
        assert!(matches!(whole.form, Form::Numbers { range: (1, 3), .. }));
        let more = form(&["1", "?"]).unwrap();
        assert!(more.todo.is_some());
        match more.form {
            Form::Tree { tree, .. } => assert_eq!(tree.value("?"), Some(3)),
            other => panic!("{other:?}"),
        }
        let error = form(&["low"]).err().unwrap();
        assert_eq!(
            error.to_string(),
            "t.csv: `low`, a value of column `x`, is a level above other values\nhint: add the row low;low;… with the levels above it"
        );
    }
}
