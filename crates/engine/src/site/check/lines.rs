//! What to change in a site's file for a rule to accept a study, and in which lines: where the rule stands by
//! the parsed file, or else behind which `#` it waits.

use std::ops::RangeInclusive;
use std::path::Path;

use hedgerow_data::document::{Document, Section, quoted};
use hedgerow_node::accept::{Mend, Value, attack_of, bounds};

use super::{Change, SiteLine};
use crate::site::draft::is_closed;

/// The lines that accept what a rule lacks; none where the file's rules do not stand below `[accept]`.
pub(super) fn lines(text: &str, rule: &'static str, mend: &Mend) -> Vec<SiteLine> {
    let Some(document) = parsed(text) else {
        return Vec::new();
    };
    let root = document.root();
    let accept = match root.section("accept") {
        Ok(Some(accept)) if !accept.has_header() => return Vec::new(),
        Ok(accept) => accept,
        Err(_) => return Vec::new(),
    };
    if let Some(attack) = attack_of(rule) {
        let gate = accept.and_then(|accept| accept.section_if_table("gate").ok().flatten());
        return gate.map_or_else(Vec::new, |gate| limit(&gate, attack, mend));
    }
    let value = match mend {
        Mend::Set(value) => value,
        Mend::Choose(words) => {
            let lines = accept.and_then(|accept| accept.lines_of(rule));
            let text = format!("{rule}: {words}");
            return vec![site_line(Change::Choose, lines, text)];
        }
        Mend::Remove => {
            let removed = accept.and_then(|accept| removed(&accept, rule));
            return removed.into_iter().collect();
        }
    };
    let whole = whole(rule, value);
    let Some(accept) = accept else {
        return vec![site_line(Change::Add, None, whole)];
    };
    let mut changes = match value {
        Value::Words(words) if rule == "models" => bounds_without(&accept, words),
        _ => Vec::new(),
    };
    changes.extend(match (accept.lines_of(rule), value) {
        (None, _) => vec![waiting(text, &accept, rule, whole)],
        (Some(lines), Value::Bound(_)) => bound(&accept, rule, lines, whole),
        (Some(lines), Value::Words(_)) if rule == "models" => {
            vec![site_line(Change::Rewrite, Some(lines), whole)]
        }
        (Some(lines), Value::Words(words)) => listed(text, rule, lines, words),
    });
    changes
}

/// The line that accepts where a limit of `[accept.gate]` is stricter than the study's: a limit that is not
/// there refuses nothing.
fn limit(gate: &Section<'_>, attack: &'static str, mend: &Mend) -> Vec<SiteLine> {
    let lines = gate.lines_of(attack).filter(|_| gate.has_header());
    let line = lines.map(|lines| match mend {
        Mend::Set(Value::Bound(bound)) => {
            site_line(Change::Rewrite, Some(lines), format!("{attack} = {bound}"))
        }
        _ => site_line(Change::Remove, Some(lines), attack.to_owned()),
    });
    line.into_iter().collect()
}

fn parsed(text: &str) -> Option<Document> {
    Document::parse(text.to_owned(), Path::new("site.toml")).ok()
}

fn site_line(change: Change, lines: Option<RangeInclusive<usize>>, text: String) -> SiteLine {
    let last = lines.as_ref().map(|lines| *lines.end());
    let line = lines.map(|lines| *lines.start());
    SiteLine {
        change,
        line,
        last: last.filter(|last| Some(*last) != line),
        text,
    }
}

/// A rule as one line.
fn whole(rule: &str, value: &Value) -> String {
    match value {
        Value::Bound(bound) => format!("{rule} = {bound}"),
        Value::Words(words) => {
            let quotes: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            format!("{rule} = [{}]", quotes.join(", "))
        }
    }
}

/// What accepts where a rule is not set: the line that waits behind a `#`, as it is or with another value, or
/// a new line.
fn waiting(text: &str, accept: &Section<'_>, rule: &'static str, whole: String) -> SiteLine {
    let taken = accept.taken_lines();
    let is_taken = |at: usize| taken.iter().any(|lines| lines.contains(&at));
    let below = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let own = below
        .skip(accept.line())
        .take_while(|(at, line)| is_taken(*at) || !line.trim_start().starts_with('['));
    let mut closed = own
        .filter(|(at, line)| !is_taken(*at) && is_closed(line))
        .filter_map(|(at, line)| Some((at, line.trim_start().strip_prefix('#')?)));
    let wanted = rule_of(&whole, rule);
    let Some((at, line)) = closed.find(|(_, line)| begins(line, rule)) else {
        return site_line(Change::Add, None, whole);
    };
    let is_wanted = wanted.is_some() && rule_of(line, rule) == wanted;
    let change = if is_wanted {
        Change::Uncomment
    } else {
        Change::Rewrite
    };
    site_line(change, Some(at..=at), whole)
}

/// Whether a line sets a rule, or begins to.
fn begins(line: &str, rule: &str) -> bool {
    let key = line.split_once('=').map(|(key, _)| key.trim());
    key.is_some_and(|key| key.trim_matches(['"', '\'']) == rule)
}

/// What a line sets a rule to, if the line is whole and says nothing else: words in any order, or a bound.
fn rule_of(line: &str, rule: &'static str) -> Option<(Vec<String>, String)> {
    let document = parsed(line)?;
    let root = document.root();
    let mut words = root.strings(rule).ok().flatten().unwrap_or_default();
    words.sort_unstable();
    let bound = match words.is_empty() {
        true => root.written(rule)?,
        false => String::new(),
    };
    root.finish().ok()?;
    Some((words, bound))
}

/// What accepts where a bound is set: the bound on one line, or the keys of its table.
fn bound(
    accept: &Section<'_>,
    rule: &'static str,
    lines: RangeInclusive<usize>,
    whole: String,
) -> Vec<SiteLine> {
    let table = accept.section_if_table(rule).ok().flatten();
    let has_lines = |table: &Section<'_>| !accept.is_inline(rule) && table.has("at_least");
    let Some(table) = table.filter(has_lines) else {
        return vec![site_line(Change::Rewrite, Some(lines), whole)];
    };
    let Some(document) = parsed(&whole) else {
        return Vec::new();
    };
    let root = document.root();
    let long = root.section_if_table(rule).ok().flatten();
    let number = long.as_ref().and_then(|long| long.written("at_least"));
    let kind = long.as_ref().and_then(|long| long.written("kind"));
    let said = [
        ("at_least", number.or_else(|| root.written(rule))),
        ("kind", kind.or_else(|| Some(quoted("distinct")))),
    ];
    let is_dotted = accept.is_dotted(rule);
    let changes = said.into_iter().filter_map(|(key, value)| {
        let (lines, value) = (table.lines_of(key)?, value?);
        if table.written(key).as_ref() == Some(&value) {
            return None;
        }
        let text = match is_dotted {
            true => format!("{rule}.{key} = {value}"),
            false => format!("{key} = {value}"),
        };
        Some(site_line(Change::Rewrite, Some(lines), text))
    });
    changes.collect()
}

/// The bounds of other models than these, which would be errors where only these are demanded.
fn bounds_without(accept: &Section<'_>, models: &[String]) -> Vec<SiteLine> {
    let others = bounds().filter(|(model, _)| !models.iter().any(|kept| kept == model));
    others
        .filter_map(|(_, rule)| removed(accept, rule))
        .collect()
}

/// A rule that is taken away, if it is set: all its lines, with those of its table.
fn removed(accept: &Section<'_>, rule: &'static str) -> Option<SiteLine> {
    let lines = accept.lines_of(rule)?;
    let table = accept.section_if_table(rule).ok().flatten();
    let below = table.map(|table| table.taken_lines()).unwrap_or_default();
    let ends = below.iter().map(|lines| *lines.end());
    let last = ends.max().unwrap_or(0).max(*lines.end());
    let lines = *lines.start()..=last;
    Some(site_line(Change::Remove, Some(lines), rule.to_owned()))
}

/// What accepts where a list lacks words: the lines of the list in which they wait behind a `#`, and words to
/// add where none waits.
fn listed(
    text: &str,
    rule: &'static str,
    lines: RangeInclusive<usize>,
    words: &[String],
) -> Vec<SiteLine> {
    let inside = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let inside = inside.filter(|(at, line)| lines.contains(at) && is_closed(line));
    let mut missing: Vec<&String> = words.iter().collect();
    let mut open = Vec::new();
    for (at, line) in inside {
        let found = words_of(line);
        let is_wanted = |word: &String| missing.contains(&word);
        if found.is_empty() || !found.iter().all(is_wanted) {
            continue;
        }
        missing.retain(|word| !found.contains(word));
        let quotes: Vec<String> = found.iter().map(|word| quoted(word)).collect();
        open.push(site_line(
            Change::Uncomment,
            Some(at..=at),
            quotes.join(", "),
        ));
    }
    // A list whose commas are not where the lines need them is better written by hand.
    if !opens(text, rule, &open) {
        open.clear();
        missing = words.iter().collect();
    }
    let begins = *lines.start();
    let added = missing
        .into_iter()
        .map(|word| site_line(Change::Add, Some(begins..=begins), quoted(word)));
    open.into_iter().chain(added).collect()
}

/// The words that wait in a line of a list.
fn words_of(line: &str) -> Vec<String> {
    let Some(rest) = line.trim_start().strip_prefix('#') else {
        return Vec::new();
    };
    let document = parsed(&format!("words = [\n{rest}\n]\n"));
    let words = document.and_then(|document| document.root().strings("words").ok().flatten());
    words.unwrap_or_default()
}

/// Whether the file with these lines open is sound, and has one word more in the list for each word of them.
fn opens(text: &str, rule: &'static str, open: &[SiteLine]) -> bool {
    let number = |text: &str| {
        let document = parsed(text)?;
        let accept = document.root().section("accept").ok().flatten()?;
        Some(accept.strings(rule).ok().flatten()?.len())
    };
    let is_open = |at: usize| open.iter().any(|line| line.line == Some(at));
    let opened = text.lines().enumerate().map(|(at, line)| {
        let line = match is_open(at + 1) {
            true => line.replacen('#', "", 1),
            false => line.to_owned(),
        };
        line + "\n"
    });
    let opened: String = opened.collect();
    let words = text.lines().enumerate();
    let words = words.filter(|(at, _)| is_open(at + 1));
    let words: usize = words.map(|(_, line)| words_of(line).len()).sum();
    number(&opened).is_some_and(|now| number(text).is_some_and(|before| now == before + words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &[&str]) -> Mend {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Mend::Set(Value::Words(words))
    }

    fn bound(bound: &str) -> Mend {
        Mend::Set(Value::Bound(bound.to_owned()))
    }

    /// Every change as one line of text.
    fn told(file: &str, rule: &'static str, mend: &Mend) -> Vec<String> {
        let lines = lines(file, rule, mend).into_iter();
        let told = lines.map(|found| {
            let SiteLine {
                change,
                line,
                last,
                text,
            } = found;
            let line = line.map_or_else(String::new, |line| line.to_string());
            let last = last.map_or_else(String::new, |last| format!("-{last}"));
            format!("{change:?} {line}{last}: {text}")
        });
        told.collect()
    }

    #[test]
    fn lines_are_found_where_they_wait_and_nowhere_else() {
        let file = "site = \"north\"
[accept]
# The study has k = 10, and in the words of its author, wrapped here:
# models = [] #
#minimum_k = 10
columns = [
  # A column.
  #\"age\",
  # \"sex\",
  \"zip\",
]
#models = [\"l\", \"k\"] # both
[accept.query]
#minimum_l = 3
#columns = [\"age\"]
";
        assert_eq!(
            told(file, "minimum_k", &bound("10")),
            ["Uncomment 5: minimum_k = 10"]
        );
        // A line that says something else is not opened as it is.
        assert_eq!(
            told(file, "minimum_k", &bound("20")),
            ["Rewrite 5: minimum_k = 20"]
        );
        assert_eq!(
            told(file, "models", &set(&["k", "l"])),
            ["Uncomment 12: models = [\"k\", \"l\"]"]
        );
        assert_eq!(
            told(file, "models", &set(&["k"])),
            ["Rewrite 12: models = [\"k\"]"]
        );
        // The same key below another table is another rule.
        assert_eq!(
            told(file, "minimum_l", &bound("3")),
            ["Add : minimum_l = 3"]
        );
        assert_eq!(
            told(file, "columns", &set(&["age", "sex"])),
            ["Uncomment 8: \"age\"", "Add 6: \"sex\""]
        );
        assert_eq!(
            told(file, "maximum_records", &Mend::Choose("more".to_owned())),
            ["Choose : maximum_records: more"]
        );
    }

    #[test]
    fn a_rule_that_is_set_is_written_anew_where_it_stands() {
        let file = "[accept]
#minimum_k = 10
\"minimum_k\" = 20
#columns = [\"age\", \"zip\"]
columns = [
  \"age\"]
  #\"zip\",
security = [
  \"published\"
  #\"hardened\"
]
models = [\"k\",
  \"l\", \"t\"]
maximum_t = 0.2
[accept.minimum_l]
kind = \"entropy\"
at_least = 4
";
        assert_eq!(
            told(file, "minimum_k", &bound("10")),
            ["Rewrite 3: minimum_k = 10"]
        );
        assert_eq!(told(file, "columns", &set(&["zip"])), ["Add 5: \"zip\""]);
        // Without a comma before it the word cannot be opened.
        assert_eq!(
            told(file, "security", &set(&["hardened"])),
            ["Add 8: \"hardened\""]
        );
        assert_eq!(
            told(file, "models", &set(&["k", "l"])),
            [
                "Remove 14: maximum_t",
                "Rewrite 12-13: models = [\"k\", \"l\"]"
            ]
        );
        assert_eq!(
            told(file, "minimum_l", &bound("3")),
            [
                "Rewrite 17: at_least = 3",
                "Rewrite 16: kind = \"distinct\""
            ]
        );
        assert_eq!(
            told(
                file,
                "minimum_l",
                &bound("{ at_least = 3, kind = \"entropy\" }")
            ),
            ["Rewrite 17: at_least = 3"]
        );
        // Rules that stand elsewhere are not guessed at.
        assert!(told("accept = { minimum_k = 3 }\n", "minimum_k", &bound("2")).is_empty());
        assert_eq!(
            told(
                "a = 1\n#[accept]\n#minimum_k = 2\n",
                "minimum_k",
                &bound("2")
            ),
            ["Add : minimum_k = 2"]
        );
    }

    #[test]
    fn a_limit_of_the_gate_is_written_anew_or_taken_away() {
        let file = "[accept]\nminimum_k = 3\n[accept.gate]\ncertain = 0.01\nskew = 0.1\n";
        assert_eq!(
            told(file, "gate.certain", &bound("0.05")),
            ["Rewrite 4: certain = 0.05"]
        );
        assert_eq!(told(file, "gate.skew", &Mend::Remove), ["Remove 5: skew"]);
        assert!(told(file, "gate.other", &Mend::Remove).is_empty());
        let inline = "[accept]\ngate = { certain = 0.01 }\n";
        assert!(told(inline, "gate.certain", &Mend::Remove).is_empty());
    }

    #[test]
    fn a_list_that_is_closed_as_a_whole_is_written_on_one_line() {
        let file = "[accept]\n#disclosures = [\n#  \"a\",\n#]\n";
        assert_eq!(
            told(file, "disclosures", &set(&["a", "b"])),
            ["Rewrite 2: disclosures = [\"a\", \"b\"]"]
        );
    }
}
