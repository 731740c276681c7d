//! Generalized cells: what a release writes in place of a value, and how it is read back.
//!
//! A cell is the exact set of codes it stands for: an interval of codes or an explicit set. Its text is
//! unique: a single value by its label, the whole domain as `*`, an interval that is a taxonomy node by
//! the node's label, other intervals as `[20-39]` (numbers) or `[a..b]`, sets as `{a|b|c}`. No range
//! has the missing value inside: a cell that covers the missing value and others is a node, a set or
//! `*`. A label that stands at two levels with different values means the lowest level; the higher one
//! is written as a range. Members are quoted where they could be misread.

use crate::domain::Domain;
use crate::nearest::{nearest, quoted_list, shorten};
use crate::taxonomy::ROOT;

/// A generalized value: the codes it covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cell {
    /// All codes from the first to the second, both included.
    Interval(u32, u32),
    /// Two or more codes, ascending.
    Set(Box<[u32]>),
}

/// Why a cell's text stands for no set of values.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellError {
    /// Neither a value, a node, an interval nor a set.
    #[error(
        "`{text}` is no value, interval or set of this attribute, and no node of its taxonomy{hint}"
    )]
    Unknown {
        /// The cell.
        text: String,
        /// The nearest labels, where some are near.
        hint: String,
    },
    /// An interval whose ends are the wrong way round.
    #[error("`{text}` runs backwards\nhint: write the lesser end first")]
    Backwards {
        /// The cell.
        text: String,
    },
    /// An interval with the missing value inside.
    #[error(
        "`{text}` has the missing value in a range\nhint: a missing value is in a set or in `*`"
    )]
    MissingInside {
        /// The cell.
        text: String,
    },
    /// A set that names a value twice.
    #[error("`{text}` names `{value}` twice")]
    Twice {
        /// The cell.
        text: String,
        /// The value.
        value: String,
    },
}

impl Cell {
    /// The cell of these codes as a set; a single code is an interval of one. Sorts `codes`.
    pub fn set(mut codes: Vec<u32>) -> Option<Self> {
        codes.sort_unstable();
        codes.dedup();
        match codes.as_slice() {
            [] => None,
            [one] => Some(Self::Interval(*one, *one)),
            _ => Some(Self::Set(codes.into())),
        }
    }

    /// How many codes the cell covers.
    pub fn count(&self) -> u32 {
        match self {
            Self::Interval(least, greatest) => greatest - least + 1,
            Self::Set(codes) => codes.len() as u32,
        }
    }

    /// The least and greatest code that the cell covers.
    pub fn bounds(&self) -> (u32, u32) {
        match self {
            Self::Interval(least, greatest) => (*least, *greatest),
            // A set holds two codes or more.
            Self::Set(codes) => (codes[0], codes[codes.len() - 1]),
        }
    }

    /// Whether the cell covers a code.
    pub fn contains(&self, code: u32) -> bool {
        match self {
            Self::Interval(least, greatest) => (*least..=*greatest).contains(&code),
            Self::Set(codes) => codes.binary_search(&code).is_ok(),
        }
    }

    /// How many codes the cell shares with an interval.
    pub fn overlap(&self, least: u32, greatest: u32) -> u32 {
        match self {
            Self::Interval(first, last) => {
                let (from, to) = ((*first).max(least), (*last).min(greatest));
                if from <= to { to - from + 1 } else { 0 }
            }
            Self::Set(codes) => {
                let from = codes.partition_point(|code| *code < least);
                let to = codes.partition_point(|code| *code <= greatest);
                (to - from) as u32
            }
        }
    }
}

impl Domain {
    /// The text of a cell, as a release writes it.
    pub fn write_cell(&self, cell: &Cell) -> String {
        match cell {
            Cell::Interval(least, greatest) if least == greatest => self.write_value(*least),
            Cell::Interval(least, greatest) => self.write_interval(*least, *greatest),
            Cell::Set(codes) => self.write_set(codes.iter().copied()),
        }
    }

    /// The cell of a release's text.
    pub fn read_cell(&self, text: &str) -> Result<Cell, CellError> {
        if text == ROOT && self.size() > 0 {
            return Ok(Cell::Interval(0, self.size() - 1));
        }
        if let Some(tree) = self.taxonomy()
            && let Some(node) = tree.find(text)
        {
            let (least, greatest) = tree.interval(node);
            return Ok(Cell::Interval(least, greatest));
        }
        if let Some(code) = self.encode(text.as_bytes()) {
            return Ok(Cell::Interval(code, code));
        }
        let unknown = || self.unknown(text);
        if let Some(inner) = enclosed(text, '[', ']') {
            let (least, greatest) = match self.number_interval(inner) {
                Some(ends) => ends,
                None => {
                    let ends = members(inner, "..").ok_or_else(unknown)?;
                    let [least, greatest] = ends.as_slice() else {
                        return Err(unknown());
                    };
                    let code = |label: &str| self.encode(label.as_bytes()).ok_or_else(unknown);
                    (code(least)?, code(greatest)?)
                }
            };
            if least > greatest {
                return Err(CellError::Backwards {
                    text: shorten(text),
                });
            }
            if self.mixes_missing(least, greatest) {
                return Err(CellError::MissingInside {
                    text: shorten(text),
                });
            }
            return Ok(Cell::Interval(least, greatest));
        }
        if let Some(inner) = enclosed(text, '{', '}') {
            let mut codes = Vec::new();
            for label in members(inner, "|").ok_or_else(unknown)? {
                let code = self.encode(label.as_bytes()).ok_or_else(unknown)?;
                if codes.contains(&code) {
                    return Err(CellError::Twice {
                        text: shorten(text),
                        value: label,
                    });
                }
                codes.push(code);
            }
            return Cell::set(codes).ok_or_else(unknown);
        }
        Err(unknown())
    }

    fn write_value(&self, code: u32) -> String {
        let label = self.label(code);
        // A value spelled `*` would be read as the whole domain.
        if label == ROOT && self.size() > 1 {
            let member = self.member(code, true);
            return format!("[{member}..{member}]");
        }
        label.into_owned()
    }

    fn write_interval(&self, least: u32, greatest: u32) -> String {
        if least == 0 && greatest + 1 == self.size() {
            return ROOT.to_owned();
        }
        if let Some(tree) = self.taxonomy()
            && let Some(node) = tree.node_of_interval(least, greatest)
        {
            let label = tree.label(node);
            let read_back = tree.find(label).map(|node| tree.interval(node));
            if read_back == Some((least, greatest)) {
                return label.to_owned();
            }
        }
        if self.mixes_missing(least, greatest) {
            return self.write_set(least..=greatest);
        }
        if matches!(self, Self::Integer(_) | Self::Decimal(_)) {
            let text = format!("[{}-{}]", self.label(least), self.label(greatest));
            if !self.is_label(&text) {
                return text;
            }
        }
        let text = format!(
            "[{}..{}]",
            self.member(least, false),
            self.member(greatest, false)
        );
        if self.is_label(&text) {
            return format!(
                "[{}..{}]",
                self.member(least, true),
                self.member(greatest, true)
            );
        }
        text
    }

    fn write_set(&self, codes: impl Iterator<Item = u32> + Clone) -> String {
        let joined = |always_quote| {
            let members = codes.clone().map(|code| self.member(code, always_quote));
            format!("{{{}}}", members.collect::<Vec<_>>().join("|"))
        };
        let text = joined(false);
        if self.is_label(&text) {
            return joined(true);
        }
        text
    }

    fn is_label(&self, text: &str) -> bool {
        self.encode(text.as_bytes()).is_some()
            || self
                .taxonomy()
                .is_some_and(|tree| tree.find(text).is_some())
    }

    fn member(&self, code: u32, always_quote: bool) -> String {
        let label = self.label(code);
        let is_plain = !label.is_empty()
            && !label.contains(['"', '|', '[', ']', '{', '}'])
            && !label.contains("..")
            && !label.starts_with('.')
            && !label.ends_with('.');
        if is_plain && !always_quote {
            label.into_owned()
        } else {
            format!("\"{}\"", label.replace('"', "\"\""))
        }
    }

    /// `20-39` as codes, for numbers: the second minus sign on is the second number's.
    fn number_interval(&self, inner: &str) -> Option<(u32, u32)> {
        if !matches!(self, Self::Integer(_) | Self::Decimal(_)) {
            return None;
        }
        let dash = 1 + inner.get(1..)?.find('-')?;
        let least = self.encode(&inner.as_bytes()[..dash])?;
        let greatest = self.encode(&inner.as_bytes()[dash + 1..])?;
        Some((least, greatest))
    }

    fn unknown(&self, text: &str) -> CellError {
        let near = match self.taxonomy() {
            Some(tree) => nearest(text, tree.labels(), 3),
            None => Vec::new(),
        };
        let hint = match (near.is_empty(), self) {
            (false, _) => format!("\nhint: nearest are {}", quoted_list(near)),
            (true, Self::Integer(_) | Self::Decimal(_)) => {
                format!(
                    "\nhint: the domain is {}, intervals are written [20-39]",
                    self.describe()
                )
            }
            (true, _) => format!("\nhint: the domain is {}", self.describe()),
        };
        CellError::Unknown {
            text: shorten(text),
            hint,
        }
    }
}

fn enclosed(text: &str, open: char, close: char) -> Option<&str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

/// Splits `a..b` or `a|b|c`, where members may be quoted; `None` if the quoting is broken.
fn members(text: &str, separator: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let member;
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut end = 0;
            loop {
                end += quoted[end..].find('"')?;
                if quoted[end + 1..].starts_with('"') {
                    end += 2;
                } else {
                    break;
                }
            }
            member = quoted[..end].replace("\"\"", "\"");
            rest = &quoted[end + 1..];
        } else {
            let end = rest.find(separator).unwrap_or(rest.len());
            member = rest[..end].to_owned();
            rest = &rest[end..];
        }
        found.push(member);
        if rest.is_empty() {
            return Some(found);
        }
        rest = rest.strip_prefix(separator)?;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::decimal::Decimal;
    use crate::taxonomy::{Taxonomy, integer_widths};

    fn category(rows: &str) -> Domain {
        Domain::category(Taxonomy::from_rows(rows, "t.csv").unwrap(), false)
    }

    #[test]
    fn cells_look_as_the_release_format_says() {
        let age = Domain::integer(-5, 99, 1).unwrap();
        assert_eq!(age.write_cell(&Cell::Interval(25, 44)), "[20-39]");
        assert_eq!(age.write_cell(&Cell::Interval(25, 25)), "20");
        assert_eq!(age.write_cell(&Cell::Interval(0, 4)), "[-5--1]");
        assert_eq!(age.write_cell(&Cell::Interval(0, 104)), "*");
        assert_eq!(age.read_cell("[-5--1]"), Ok(Cell::Interval(0, 4)));
        let disease = category("flu;lung;*\nasthma;lung;*\n\"a|b\";stomach;*\nulcer;stomach;*\n");
        assert_eq!(disease.write_cell(&Cell::Interval(2, 3)), "stomach");
        assert_eq!(
            disease.write_cell(&Cell::Interval(1, 2)),
            "[asthma..\"a|b\"]"
        );
        assert_eq!(
            disease.write_cell(&Cell::set(vec![3, 0]).unwrap()),
            "{flu|ulcer}"
        );
    }

    #[test]
    fn a_cell_that_is_no_node_is_refused_with_the_nearest() {
        let disease = category("flu;lung;*\nulcer;stomach;*\n");
        assert_eq!(
            disease.read_cell("stomac").unwrap_err().to_string(),
            "`stomac` is no value, interval or set of this attribute, and no node of its taxonomy\
             \nhint: nearest are `stomach`"
        );
        assert!(matches!(
            disease.read_cell("[ulcer..flu]"),
            Err(CellError::Backwards { .. })
        ));
        assert!(matches!(
            disease.read_cell("{flu|flu}"),
            Err(CellError::Twice { .. })
        ));
        for text in [
            "",
            "[",
            "[]",
            "{}",
            "[flu]",
            "[flu..]",
            "{\"flu}",
            "[\"flu\"x..ulcer]",
            "{|}",
        ] {
            assert!(disease.read_cell(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_missing_value_is_never_inside_a_range() {
        let age = Domain::integer(30, 39, 1)
            .unwrap()
            .with_missing("NA".into());
        assert_eq!(age.range(5, 10), (0, 10));
        assert_eq!((age.range(5, 9), age.range(10, 10)), ((5, 9), (10, 10)));
        assert_eq!(age.write_cell(&Cell::Interval(8, 10)), "{38|39|NA}");
        for text in ["[35..NA]", "[35-NA]", "[30..NA]"] {
            assert_eq!(
                age.read_cell(text).unwrap_err().to_string(),
                format!(
                    "`{text}` has the missing value in a range\nhint: a missing value is in a set or in `*`"
                )
            );
        }
        let grade = category("low;*\n\"\";*\nhigh;*\ntop;*\n");
        assert_eq!(grade.range(0, 2), (0, 3));
        assert_eq!(grade.range(2, 3), (2, 3));
        assert!(grade.read_cell("[low..high]").is_err());
    }

    #[test]
    fn a_repeated_label_means_its_lowest_level() {
        let domain = category("Other;Other;*\nUnknown;Other;*\nA;*\n");
        assert_eq!(domain.read_cell("Other"), Ok(Cell::Interval(0, 0)));
        assert_eq!(domain.write_cell(&Cell::Interval(0, 1)), "[Other..Unknown]");
    }

    /// Labels made to be misread: separators, quotes, brackets, stars, numbers.
    fn nasty_label() -> impl Strategy<Value = String> {
        "[ab|.\\[\\]{}\"*;, 1-]{0,6}".prop_filter("root", |label| label != "*")
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            labels in proptest::collection::btree_set(nasty_label(), 2..12),
            groups in 1..5usize, low in 0..100u32, high in 0..100u32,
            picks in proptest::collection::vec(0..100u32, 1..6),
        ) {
            let labels: Vec<String> = labels.into_iter().collect();
            let rows: Vec<Vec<String>> = labels.iter().enumerate()
                .map(|(i, label)| vec![label.clone(), format!("[{}..{}]", i % groups, i % groups), "*".into()])
                .collect();
            let mut writer = csv::WriterBuilder::new().delimiter(b';').from_writer(Vec::new());
            for row in &rows { writer.write_record(row).unwrap(); }
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let Ok(tree) = Taxonomy::from_rows(&text, "nasty") else { return Ok(()); };
            let size = tree.leaf_count();
            let parse = |text: &str| Decimal::parse(text).unwrap();
            let domains = [
                Domain::category(tree, true),
                Domain::integer(-3, size as i64 - 4, 1).unwrap(),
                Domain::integer(-3, (size as i64 - 1) * 2 - 3, 2).unwrap()
                    .with_taxonomy(integer_widths(-3, (size as i64 - 1) * 2 - 3, 2, &[4, 8]).unwrap()).unwrap(),
                Domain::integer(0, size as i64 - 2, 1).unwrap().with_missing("[0-1]".into()),
                Domain::decimal(parse("-0.3"), parse(&format!("{}.5", size)), parse("0.2")).unwrap().with_missing("[0.1-0.3]".into()),
                Domain::date(jiff::civil::date(2024, 2, 20), jiff::civil::date(2024, 2, 20)
                    .checked_add(jiff::Span::new().days(i64::from(size) - 1)).unwrap()).unwrap(),
            ];
            for domain in domains {
                let size = domain.size();
                let (low, high) = (low % size, high % size);
                let interval = Cell::Interval(low.min(high), low.max(high));
                let set = Cell::set(picks.iter().map(|pick| pick % size).collect()).unwrap();
                for cell in [interval, set] {
                    let text = domain.write_cell(&cell);
                    let again = domain.read_cell(&text);
                    let (least, greatest) = cell.bounds();
                    let is_range = cell != Cell::Interval(0, size - 1) && cell.count() == greatest - least + 1;
                    if is_range && again.as_ref() != Ok(&cell) {
                        // A missing value is never inside a range: the same values as a set.
                        prop_assert!(domain.mixes_missing(least, greatest), "{}", text);
                        prop_assert_eq!(again, Ok(Cell::set((least..=greatest).collect()).unwrap()), "{}", text);
                    } else {
                        prop_assert_eq!(again, Ok(cell), "{}", text);
                    }
                }
            }
        }
    }
}
