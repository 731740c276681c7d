//! A TOML file that people write: every key is known, every error names file and line.
//!
//! A [`Section`] is read key by key; [`Section::finish`] then refuses keys that nobody asked for
//! and suggests the nearest one. Used for `study.toml` here and for the parts of it that other
//! crates own.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use toml_edit::{Document as Toml, Item, TableLike, Value};

use crate::decimal::Decimal;
use crate::nearest::{nearest, quoted_list};

/// Why a TOML file was refused, and where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// The file cannot be read.
    #[error(
        "{file}: cannot be read: {reason}\nhint: see that it is there, and that this user may read it"
    )]
    Unreadable {
        /// The file.
        file: String,
        /// What the operating system said.
        reason: String,
    },
    /// The file is not TOML.
    #[error("{file}:{line}: not valid TOML: {reason}")]
    Syntax {
        /// The file.
        file: String,
        /// The line of the mistake, from 1.
        line: usize,
        /// What the parser expected.
        reason: String,
    },
    /// A key or value is missing, unknown or wrong.
    #[error("{file}:{line}: {message}")]
    Invalid {
        /// The file.
        file: String,
        /// The line of the mistake, from 1.
        line: usize,
        /// What was expected, what was found, and the next step.
        message: String,
    },
}

/// Text in quotes, as TOML writes it. Characters that would hide or turn around what a reader of the file
/// sees are written as escapes.
pub fn quoted(text: &str) -> String {
    if !text.chars().any(is_unseen) {
        return Value::from(text).to_string();
    }
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            _ if letter.is_control() || is_unseen(letter) => match u32::from(letter) {
                code @ 0..=0xFFFF => quoted.push_str(&format!("\\u{code:04X}")),
                code => quoted.push_str(&format!("\\U{code:08X}")),
            },
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a character has no look of its own: controls beyond ASCII, separators of lines, and what turns
/// the direction of text or takes no room.
fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{80}'..='\u{9F}'
            | '\u{AD}'
            | '\u{61C}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FEFF}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{E0000}'..='\u{E007F}'
    )
}

/// A parsed TOML file that remembers where everything stands.
#[derive(Debug, Clone)]
pub struct Document {
    file: PathBuf,
    toml: Toml<String>,
}

impl Document {
    /// Reads and parses a file.
    pub fn open(path: &Path) -> Result<Self, DocumentError> {
        let unreadable = |reason: String| DocumentError::Unreadable {
            file: path.display().to_string(),
            reason,
        };
        let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            unreadable(format!("line {line} is not valid UTF-8"))
        })?;
        Self::parse(text, path)
    }

    /// Parses text; `file` is the name that errors carry.
    pub fn parse(text: String, file: &Path) -> Result<Self, DocumentError> {
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        };
        let toml = Toml::parse(text.clone()).map_err(|error| DocumentError::Syntax {
            file: file.display().to_string(),
            line: error.span().map_or(1, |span| line_of(&text, span.start)),
            reason: error.message().to_owned(),
        })?;
        Ok(Self {
            file: file.to_owned(),
            toml,
        })
    }

    /// The file's name, as errors give it.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The text that was parsed.
    pub fn text(&self) -> &str {
        self.toml.raw()
    }

    /// The whole file as one section.
    pub fn root(&self) -> Section<'_> {
        Section::over(self, self.toml.as_table(), String::new(), Some(0..0))
    }

    /// A number of the file, exact as it stands there.
    fn decimal(&self, value: &Value) -> Option<Decimal> {
        if !value.is_float() && !value.is_integer() {
            return None;
        }
        let text = self.toml.raw().get(value.span()?)?.replace('_', "");
        Decimal::parse(text.strip_prefix('+').unwrap_or(&text))
    }

    fn line(&self, span: Option<Range<usize>>) -> usize {
        span.map_or(1, |span| line_of(self.toml.raw(), span.start))
    }

    fn invalid(&self, span: Option<Range<usize>>, message: impl Into<String>) -> DocumentError {
        DocumentError::Invalid {
            file: self.file.display().to_string(),
            line: self.line(span),
            message: message.into(),
        }
    }
}

/// One table of a document, read key by key.
pub struct Section<'a> {
    document: &'a Document,
    table: &'a dyn TableLike,
    name: String,
    span: Option<Range<usize>>,
    asked: RefCell<Vec<&'static str>>,
    /// Keys that the section must not have.
    misplaced: RefCell<Vec<&'static str>>,
}

impl<'a> Section<'a> {
    fn over(
        document: &'a Document,
        table: &'a dyn TableLike,
        name: String,
        span: Option<Range<usize>>,
    ) -> Self {
        Self {
            document,
            table,
            name,
            span,
            asked: RefCell::default(),
            misplaced: RefCell::default(),
        }
    }

    /// Whether the key is there.
    pub fn has(&self, key: &'static str) -> bool {
        self.item(key).is_some()
    }

    /// Whether a key is there that others of its kind have and this section must not; no hint names it.
    pub fn has_misplaced(&self, key: &'static str) -> bool {
        self.misplaced.borrow_mut().push(key);
        self.has(key)
    }

    /// Whether the key is there and its value is text.
    pub fn is_string(&self, key: &'static str) -> bool {
        self.item(key).is_some_and(Item::is_str)
    }

    /// A value as text, if the key is there.
    pub fn string(&self, key: &'static str) -> Result<Option<String>, DocumentError> {
        self.get(key, "a string", |item| item.as_str().map(str::to_owned))
    }

    /// A value as text; the key must be there.
    pub fn required_string(&self, key: &'static str) -> Result<String, DocumentError> {
        self.string(key)?.ok_or_else(|| self.missing(key))
    }

    /// The section's `name`, which must be there, stand on one line and not be empty.
    pub fn required_name(&self) -> Result<String, DocumentError> {
        let name = self.required_string("name")?;
        if name.trim().is_empty() {
            return Err(self.wrong("name", format!("`{}` is empty", self.path("name"))));
        }
        if name.contains(['\n', '\r']) {
            let message = format!("`{}` has a line break", self.path("name"));
            return Err(self.wrong("name", message));
        }
        Ok(name)
    }

    /// One of several words, if the key is there.
    pub fn word<T: Copy>(
        &self,
        key: &'static str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, DocumentError> {
        let Some(found) = self.string(key)? else {
            return Ok(None);
        };
        match words.iter().find(|(word, _)| *word == found) {
            Some((_, value)) => Ok(Some(*value)),
            None => {
                let names = words.iter().map(|(word, _)| *word);
                let mut message = format!(
                    "`{}` is `{found}`, expected one of {}",
                    self.path(key),
                    quoted_list(names.clone())
                );
                if let Some(best) = nearest(&found, names, 1).first() {
                    message.push_str(&format!("\nhint: did you mean `{best}`?"));
                }
                Err(self.wrong(key, message))
            }
        }
    }

    /// A whole number, if the key is there.
    pub fn integer(&self, key: &'static str) -> Result<Option<i64>, DocumentError> {
        self.get(key, "a whole number", Item::as_integer)
    }

    /// A number with or without a fraction, if the key is there.
    pub fn number(&self, key: &'static str) -> Result<Option<f64>, DocumentError> {
        self.get(key, "a number", |item| {
            item.as_float()
                .or_else(|| item.as_integer().map(|number| number as f64))
        })
    }

    /// True or false, if the key is there.
    pub fn boolean(&self, key: &'static str) -> Result<Option<bool>, DocumentError> {
        self.get(key, "true or false", Item::as_bool)
    }

    /// A string or a list of strings, if the key is there.
    pub fn texts(&self, key: &'static str) -> Result<Option<Vec<String>>, DocumentError> {
        match self.is_string(key) {
            true => Ok(self.string(key)?.map(|text| vec![text])),
            false => self.get(key, "a string or a list of strings", |item| {
                let values = item.as_array()?.iter();
                values
                    .map(|value| value.as_str().map(str::to_owned))
                    .collect()
            }),
        }
    }

    /// A list of strings, if the key is there.
    pub fn strings(&self, key: &'static str) -> Result<Option<Vec<String>>, DocumentError> {
        self.get(key, "a list of strings", |item| {
            item.as_array()?
                .iter()
                .map(|value| value.as_str().map(str::to_owned))
                .collect()
        })
    }

    /// A list of days, quoted or not, if the key is there.
    pub fn dates(&self, key: &'static str) -> Result<Option<Vec<String>>, DocumentError> {
        self.get(key, "a list of days", |item| {
            item.as_array()?
                .iter()
                .map(|value| match value.as_datetime() {
                    Some(day) => Some(day.to_string()),
                    None => value.as_str().map(str::to_owned),
                })
                .collect()
        })
    }

    /// A list of whole numbers, if the key is there.
    pub fn integers(&self, key: &'static str) -> Result<Option<Vec<i64>>, DocumentError> {
        self.get(key, "a list of whole numbers", |item| {
            item.as_array()?
                .iter()
                .map(|value| value.as_integer())
                .collect()
        })
    }

    /// A number as the file spells it, underscores left out, if the key is there.
    pub fn decimal(&self, key: &'static str) -> Result<Option<Decimal>, DocumentError> {
        self.get(key, "a number such as 0.5", |item| {
            self.document.decimal(item.as_value()?)
        })
    }

    /// A list of numbers as the file spells them, if the key is there.
    pub fn decimals(&self, key: &'static str) -> Result<Option<Vec<Decimal>>, DocumentError> {
        self.get(key, "a list of numbers such as 0.5", |item| {
            let values = item.as_array()?.iter();
            values.map(|value| self.document.decimal(value)).collect()
        })
    }

    /// A table below this one, if the key is there.
    pub fn section(&self, key: &'static str) -> Result<Option<Section<'a>>, DocumentError> {
        let Some(item) = self.item(key) else {
            return Ok(None);
        };
        match item.as_table_like() {
            Some(table) => {
                let span = self.key_span(key).or_else(|| item.span());
                let name = self.path(key);
                Ok(Some(Section::over(self.document, table, name, span)))
            }
            None => Err(self.expected(key, "a table")),
        }
    }

    /// A table below this one, if the key is there and not a plain value.
    pub fn section_if_table(
        &self,
        key: &'static str,
    ) -> Result<Option<Section<'a>>, DocumentError> {
        match self.item(key) {
            Some(item) if item.is_table_like() => self.section(key),
            _ => Ok(None),
        }
    }

    /// The tables of `[[key]]`, in the order they are written.
    pub fn sections(&self, key: &'static str) -> Result<Vec<Section<'a>>, DocumentError> {
        let Some(item) = self.item(key) else {
            return Ok(Vec::new());
        };
        let Some(tables) = item.as_array_of_tables() else {
            let message = format!("expected `[[{key}]]` tables, one for each {key}");
            return Err(self.wrong(key, message));
        };
        Ok(tables
            .iter()
            .map(|table| Section::over(self.document, table, key.to_owned(), table.span()))
            .collect())
    }

    /// Refuses keys that nobody asked for, suggesting the nearest known one.
    pub fn finish(&self) -> Result<(), DocumentError> {
        match self.unknown().into_iter().next() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// An error for every key that nobody asked for, suggesting the nearest known one.
    pub fn unknown(&self) -> Vec<DocumentError> {
        let asked = self.asked.borrow();
        let misplaced = self.misplaced.borrow();
        let known = asked.iter().filter(|key| !misplaced.contains(key)).copied();
        let keys = self.table.iter().map(|(key, _)| key);
        let unknown = keys.filter(|key| !asked.contains(key)).map(|key| {
            let place = if self.name.is_empty() {
                String::from("at the top of the file")
            } else {
                format!("in `{}`", self.name)
            };
            let mut message = format!("unknown key `{key}` {place}");
            match nearest(key, known.clone(), 1).first() {
                Some(best) => message.push_str(&format!("\nhint: did you mean `{best}`?")),
                None => {
                    let known = quoted_list(known.clone());
                    message.push_str(&format!("\nhint: known keys are {known}"));
                }
            }
            self.wrong_dynamic(key, message)
        });
        unknown.collect()
    }

    /// An error about this key's value.
    pub fn wrong(&self, key: &'static str, message: impl Into<String>) -> DocumentError {
        self.wrong_dynamic(key, message)
    }

    /// An error about the section as a whole.
    pub fn wrong_section(&self, message: impl Into<String>) -> DocumentError {
        self.document.invalid(self.span.clone(), message)
    }

    /// An error that says a key is missing.
    pub fn missing(&self, key: &'static str) -> DocumentError {
        self.wrong_section(format!("`{}` is missing", self.path(key)))
    }

    /// Where the section begins, from line 1.
    pub fn line(&self) -> usize {
        self.document.line(self.span.clone())
    }

    /// The first and the last line of a key with its value, if the key is there: of a table with a header,
    /// the line of the header.
    pub fn lines_of(&self, key: &'static str) -> Option<RangeInclusive<usize>> {
        let item = self.item(key)?;
        Some(self.lines_between(key, item))
    }

    /// The lines of every key with its value, in the order they were written; tables with headers of their
    /// own apart.
    pub fn taken_lines(&self) -> Vec<RangeInclusive<usize>> {
        let mut taken = Vec::new();
        for (key, item) in self.table.iter() {
            match item.as_table() {
                None => taken.push(self.lines_between(key, item)),
                Some(table) if table.is_dotted() => {
                    let below = Section::over(self.document, table, self.path(key), None);
                    taken.extend(below.taken_lines());
                }
                Some(_) => {}
            }
        }
        taken
    }

    /// A key's value as the file spells it, if the key is there with a value.
    pub fn written(&self, key: &'static str) -> Option<String> {
        let span = self.item(key)?.as_value()?.span()?;
        self.document.text().get(span).map(str::to_owned)
    }

    /// Whether a key is a table of dotted keys, such as `l.at_least = 3`.
    pub fn is_dotted(&self, key: &'static str) -> bool {
        let table = self.item(key).and_then(Item::as_table);
        table.is_some_and(toml_edit::Table::is_dotted)
    }

    /// Whether a key is a table in braces.
    pub fn is_inline(&self, key: &'static str) -> bool {
        self.item(key).is_some_and(Item::is_inline_table)
    }

    /// Whether the section's keys stand below a header such as `[accept]`, each with a line of its own.
    pub fn has_header(&self) -> bool {
        let line = self.line();
        let header = self.document.text().lines().nth(line - 1).map(str::trim);
        let named = header.and_then(|header| header.strip_prefix('['));
        let named = named.and_then(|rest| rest.split_once(']'));
        named.is_some_and(|(name, _)| name.trim().trim_matches(['"', '\'']) == self.name)
    }

    fn lines_between(&self, key: &str, item: &Item) -> RangeInclusive<usize> {
        let line = |offset| line_of(self.document.toml.raw(), offset);
        let value = item.as_value().and_then(Value::span);
        let begins = self.key_span(key).or_else(|| item.span());
        let first = begins.map_or(1, |span| line(span.start));
        let last = value.map_or(first, |span| line(span.end.saturating_sub(1)));
        first..=last.max(first)
    }

    /// The dotted path of a key, as messages show it.
    pub fn path(&self, key: &str) -> String {
        if self.name.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.name)
        }
    }

    fn item(&self, key: &'static str) -> Option<&'a Item> {
        let mut asked = self.asked.borrow_mut();
        if !asked.contains(&key) {
            asked.push(key);
        }
        self.table.get(key).filter(|item| !item.is_none())
    }

    fn get<T>(
        &self,
        key: &'static str,
        kind: &str,
        read: impl FnOnce(&Item) -> Option<T>,
    ) -> Result<Option<T>, DocumentError> {
        match self.item(key) {
            None => Ok(None),
            Some(item) => match read(item) {
                Some(value) => Ok(Some(value)),
                None => Err(self.expected(key, kind)),
            },
        }
    }

    fn expected(&self, key: &'static str, kind: &str) -> DocumentError {
        let found = self
            .item(key)
            .map(|item| item.to_string().trim().to_owned())
            .unwrap_or_default();
        self.wrong(
            key,
            format!("`{}` is {found}, expected {kind}", self.path(key)),
        )
    }

    fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.table
            .get_key_value(key)
            .and_then(|(key, _)| key.span())
    }

    fn wrong_dynamic(&self, key: &str, message: impl Into<String>) -> DocumentError {
        let span = self
            .key_span(key)
            .or_else(|| self.table.get(key).and_then(Item::span))
            .or_else(|| self.span.clone());
        self.document.invalid(span, message)
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Document::parse(text.to_owned(), Path::new("study.toml")).unwrap()
    }

    #[test]
    fn unknown_key_names_line_and_nearest() {
        let document = document("[study]\nname = \"x\"\npartion = \"horizontal\"\n");
        let root = document.root();
        let study = root.section("study").unwrap().unwrap();
        study.string("name").unwrap();
        study.string("partition").unwrap();
        assert_eq!(
            study.finish().unwrap_err().to_string(),
            "study.toml:3: unknown key `partion` in `study`\nhint: did you mean `partition`?"
        );
    }

    #[test]
    fn wrong_type_names_what_was_found() {
        let document = document("[require]\nk = \"ten\"\n");
        let root = document.root();
        let require = root.section("require").unwrap().unwrap();
        assert_eq!(
            require.integer("k").unwrap_err().to_string(),
            "study.toml:2: `require.k` is \"ten\", expected a whole number"
        );
    }

    #[test]
    fn keys_and_values_know_their_lines() {
        let text =
            "a = 1\n[accept] # x\n\"k\" = [\n \"x\", # ]\n]\nl.least = 2\n[accept.m]\nn = 1\n";
        let document = document(text);
        let accept = document.root().section("accept").unwrap().unwrap();
        assert!(accept.has_header());
        assert_eq!(accept.line(), 2);
        assert_eq!(accept.lines_of("k"), Some(3..=5));
        assert_eq!(accept.lines_of("m"), Some(7..=7));
        assert_eq!(accept.lines_of("n"), None);
        assert_eq!(accept.taken_lines(), [3..=5, 6..=6]);
        assert!(!accept.section("l").unwrap().unwrap().has_header());
    }

    #[test]
    fn what_nobody_sees_is_written_as_an_escape() {
        for (text, written) in [
            ("plain \"é\"", None),
            ("a\u{202E}\"b\\\n", Some(r#""a\u202E\"b\\\u000A""#)),
            (
                "\u{85}\u{2028}\u{E0041}",
                Some(r#""\u0085\u2028\U000E0041""#),
            ),
        ] {
            let found = quoted(text);
            if let Some(written) = written {
                assert_eq!(found, written);
            }
            let document = document(&format!("a = {found}\n"));
            assert_eq!(document.root().string("a").unwrap().as_deref(), Some(text));
        }
    }

    #[test]
    fn syntax_error_has_a_line() {
        let error =
            Document::parse("a = 1\nb = = 2\n".to_owned(), Path::new("s.toml")).unwrap_err();
        assert!(
            error.to_string().starts_with("s.toml:2: not valid TOML"),
            "{error}"
        );
    }

    #[test]
    fn a_word_outside_its_list_is_refused() {
        let document = document("[study]\npartition = \"horizontl\"\n");
        let root = document.root();
        let study = root.section("study").unwrap().unwrap();
        let words = [("horizontal", 1), ("vertical", 2)];
        assert_eq!(
            study.word("partition", &words).unwrap_err().to_string(),
            "study.toml:2: `study.partition` is `horizontl`, expected one of `horizontal`, \
             `vertical`\nhint: did you mean `horizontal`?"
        );
    }
}
