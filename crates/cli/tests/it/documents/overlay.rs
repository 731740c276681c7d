//! A part of a study or of a site's file, laid over a whole one: what a page shows is a few keys, and what
//! is read is a file.

/// A table of a file: its header, empty at the top of the file, and its lines.
struct Table<'a> {
    header: &'a str,
    lines: Vec<&'a str>,
}

impl<'a> Table<'a> {
    fn all(text: &'a str) -> Vec<Self> {
        let mut tables = vec![Self {
            header: "",
            lines: Vec::new(),
        }];
        for line in text.lines() {
            if line.starts_with('[') {
                tables.push(Self {
                    header: line.split('#').next().unwrap_or(line).trim_end(),
                    lines: Vec::new(),
                });
            } else if let Some(table) = tables.last_mut() {
                table.lines.push(line);
            }
        }
        tables
    }

    /// The table of the file that this one is, or is below: `source` of `[source.postgres]`.
    fn stem(&self) -> &'a str {
        let name = self.header.trim_matches(['[', ']']);
        name.split('.').next().unwrap_or(name)
    }

    /// The value of a key, as it is written.
    fn value(&self, key: &str) -> Option<&'a str> {
        self.lines.iter().find_map(|line| {
            let (found, value) = line.split_once('=')?;
            let value = value.split('#').next().unwrap_or(value);
            (found.trim() == key).then_some(value.trim())
        })
    }

    /// Takes the keys of another table, in place of its own of the same name.
    fn amend(&mut self, other: &Table<'a>) {
        let key = |line: &str| line.split_once('=').map(|(key, _)| key.trim().to_owned());
        let is_kept = |line: &&str| key(line).is_none_or(|key| other.value(&key).is_none());
        self.lines.retain(is_kept);
        self.lines.extend(&other.lines);
    }
}

/// The file with a part laid over. Keys at the top and of `[study]` take the place of single keys, a
/// `[[table]]` that of the one with the same name, if there is one, and any other table that of the
/// whole table.
pub(super) fn lay_over(whole: &str, part: &str) -> String {
    let mut tables = Table::all(whole);
    for table in Table::all(part) {
        let is_list = table.header.starts_with("[[");
        let name = table.value("name");
        let same = tables.iter_mut().find(|other| {
            other.header == table.header && (!is_list || other.value("name") == name)
        });
        match same {
            Some(same) if ["", "[study]"].contains(&table.header) => same.amend(&table),
            Some(same) if is_list => same.lines = table.lines,
            _ if is_list => tables.push(table),
            _ => {
                tables
                    .retain(|other| other.stem() != table.stem() || other.header.starts_with("[["));
                tables.push(table);
            }
        }
    }
    let written = |table: &Table<'_>| format!("{}\n{}\n", table.header, table.lines.join("\n"));
    tables.iter().map(written).collect()
}

#[test]
fn a_part_takes_the_place_of_what_it_says_again() {
    let whole = "a = 1\nb = 2\n[study]\nname = \"s\"\n[[site]]\nname = \"x\"\nkey = 1\n[source]\nfile = \"f\"\n";
    let part = "b = 3\n[study]\nparent = \"p\"\n[[site]]\nname = \"x\"\n[[site]]\nname = \"y\"\n[source.postgres]\nhost = \"h\"";
    let expected = "\na = 1\nb = 3\n[study]\nname = \"s\"\nparent = \"p\"\n[[site]]\nname = \"x\"\n[[site]]\nname = \"y\"\n[source.postgres]\nhost = \"h\"\n";
    assert_eq!(lay_over(whole, part), expected);
}
