//! Where in a site's file a rule stands that would accept a study: the line behind whose `#` it waits, or
//! that says something else.

use hedgerow_data::document::quoted;
use hedgerow_node::accept::Value;

use super::{Change, SiteLine};

/// The lines that accept what a rule lacks.
pub(super) fn lines(text: &str, rule: &str, lacks: &Value) -> Vec<SiteLine> {
    let table = Table::of(text);
    let (words, whole) = match lacks {
        Value::Bound(bound) => (None, format!("{rule} = {bound}")),
        Value::Words(words) => {
            let quotes: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            let whole = format!("{rule} = [{}]", quotes.join(", "));
            (Some(quotes), whole)
        }
    };
    if let Some(line) = table.find(|line| closed(line).is_some_and(|line| sets(line, rule))) {
        return vec![SiteLine {
            change: Change::Uncomment,
            line: Some(line),
            text: whole,
        }];
    }
    let Some(open) = table.find(|line| sets(line.trim_start(), rule)) else {
        return vec![SiteLine {
            change: Change::Add,
            line: None,
            text: whole,
        }];
    };
    // What a study must require is a list that is written anew.
    let Some(words) = words.filter(|_| rule != "models") else {
        return vec![SiteLine {
            change: Change::Rewrite,
            line: Some(open),
            text: whole,
        }];
    };
    let in_list = |word: &String| {
        let waits = |line: &str| closed(line).is_some_and(|line| is_word(line, word));
        table.find_in_list(open, waits)
    };
    let line = |word: String| match in_list(&word) {
        Some(line) => SiteLine {
            change: Change::Uncomment,
            line: Some(line),
            text: word,
        },
        None => SiteLine {
            change: Change::Add,
            line: Some(open),
            text: word,
        },
    };
    words.into_iter().map(line).collect()
}

/// The lines of `[accept]`, with their numbers.
struct Table<'t>(Vec<(usize, &'t str)>);

impl<'t> Table<'t> {
    fn of(text: &'t str) -> Self {
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let below = lines.skip_while(|(_, line)| !line.trim_start().starts_with("[accept]"));
        let table = below.skip(1);
        let is_header = |line: &str| line.trim_start().starts_with('[');
        Self(table.take_while(|(_, line)| !is_header(line)).collect())
    }

    fn find(&self, is_meant: impl Fn(&str) -> bool) -> Option<usize> {
        let mut lines = self.0.iter();
        let found = lines.find(|(_, line)| is_meant(line));
        found.map(|(at, _)| *at)
    }

    /// A line of the list that begins at a line.
    fn find_in_list(&self, from: usize, is_meant: impl Fn(&str) -> bool) -> Option<usize> {
        let list = self.0.iter().skip_while(|(at, _)| *at <= from);
        let mut list = list.take_while(|(_, line)| !line.trim_start().starts_with(']'));
        list.find(|(_, line)| is_meant(line)).map(|(at, _)| *at)
    }
}

/// What waits behind a `#`.
fn closed(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?;
    Some(rest.trim_start())
}

/// Whether a line sets a rule.
fn sets(line: &str, rule: &str) -> bool {
    let rest = line.strip_prefix(rule);
    rest.is_some_and(|rest| rest.trim_start().starts_with('='))
}

/// Whether a line of a list is this word in its quotation marks.
fn is_word(line: &str, word: &str) -> bool {
    let rest = line.strip_prefix(word).map(str::trim_start);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(',') || rest.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "site = \"north\"
[accept]
# The study has k = 10.
#minimum_k = 10
models = [\"k\"]
columns = [
  # A column.
  #\"age\",
  \"zip\",
]
  # disclosures = []
[accept.query]
#minimum_l = 3
#columns = [\"age\"]
";

    fn words(words: &[&str]) -> Value {
        Value::Words(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn lines_are_found_where_they_wait_and_nowhere_else() {
        let told = |rule: &str, lacks: &Value| {
            let lines = lines(FILE, rule, lacks).into_iter();
            lines
                .map(|line| (line.change, line.line, line.text))
                .collect::<Vec<_>>()
        };
        let bound = |bound: &str| Value::Bound(bound.to_owned());
        let one = |change, line, text: &str| vec![(change, line, text.to_owned())];
        assert_eq!(
            told("minimum_k", &bound("10")),
            one(Change::Uncomment, Some(4), "minimum_k = 10")
        );
        // The same key below another table is another rule.
        assert_eq!(
            told("minimum_l", &bound("3")),
            one(Change::Add, None, "minimum_l = 3")
        );
        assert_eq!(
            told("models", &words(&["k", "l"])),
            one(Change::Rewrite, Some(5), "models = [\"k\", \"l\"]")
        );
        let columns = told("columns", &words(&["age", "sex"]));
        assert_eq!(
            columns[0],
            (Change::Uncomment, Some(8), String::from("\"age\""))
        );
        assert_eq!(columns[1], (Change::Add, Some(6), String::from("\"sex\"")));
        assert_eq!(
            told("disclosures", &words(&["a"])),
            one(Change::Uncomment, Some(11), "disclosures = [\"a\"]")
        );
    }
}
