//! A sketch as the text of `study.toml`, with the taxonomies that it names.

use hedgerow_data::document::quoted;
use hedgerow_data::study::TaxonomyFiles;
use hedgerow_data::{Decimal, Taxonomy};

use super::form::Form;
use super::{Column, Setting, Sketch};
use crate::words::one_line;

/// Comments are broken behind so many characters.
const WIDTH: usize = 100;

/// A study as text, and its taxonomies by the files that it names.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) taxonomies: Vec<(String, Taxonomy)>,
}

pub(super) fn write(sketch: &Sketch) -> Written {
    let mut text = String::new();
    for line in &sketch.head {
        comment(&mut text, line);
    }
    text.push_str("\n[study]\n");
    settings(&mut text, &sketch.study);
    let mut files = TaxonomyFiles::default();
    let mut taxonomies = Vec::new();
    for column in &sketch.columns {
        text.push('\n');
        for line in &column.comments {
            comment(&mut text, line);
        }
        if let Some(todo) = &column.todo {
            comment(&mut text, &format!("TODO {todo}"));
        }
        attribute(&mut text, column);
        match &column.form {
            Form::Tree { tree, .. }
            | Form::Numbers {
                taxonomy: Some(tree),
                ..
            } => {
                // There are names without end.
                let file = files.file(&column.name).unwrap_or_default();
                text.push_str(&format!("taxonomy = \"{file}\"\n"));
                taxonomies.push((file, tree.clone()));
            }
            _ => {}
        }
    }
    text.push('\n');
    if let Some(todo) = &sketch.require_todo {
        comment(&mut text, &format!("TODO {todo}"));
    }
    text.push_str("[require]\n");
    settings(&mut text, &sketch.require);
    text.push_str("\n[algorithm]\n");
    settings(&mut text, &sketch.algorithm);
    Written { text, taxonomies }
}

/// The keys of a column, without its taxonomy.
fn attribute(text: &mut String, column: &Column) {
    text.push_str(&format!(
        "[[attribute]]\nname = {}\nrole = \"{}\"\n",
        quoted(&column.name),
        column.role.name()
    ));
    let missing = match &column.form {
        Form::Text => &[][..],
        Form::Numbers {
            digits,
            format,
            range: (least, greatest),
            step,
            widths,
            missing,
            ..
        } => {
            let spelled = |units: i64| Decimal::of_units(units, *digits).to_string();
            let kind = if *digits == 0 { "integer" } else { "decimal" };
            let range = [*least, *greatest].map(spelled).join(", ");
            text.push_str(&format!("type = \"{kind}\"\nrange = [{range}]\n"));
            if let Some(format) = format {
                let example = format.example(*digits > 0);
                text.push_str(&format!("format = {}\n", quoted(&example)));
            }
            if *digits > 0 || *step != 1 {
                text.push_str(&format!("step = {}\n", spelled(*step)));
            }
            if !widths.is_empty() {
                let widths: Vec<String> = widths.iter().map(|width| spelled(*width)).collect();
                text.push_str(&format!("widths = [{}]\n", widths.join(", ")));
            }
            missing
        }
        Form::Days {
            range: (first, last),
            format,
            missing,
        } => {
            text.push_str(&format!(
                "type = \"date\"\nrange = [\"{first}\", \"{last}\"]\n"
            ));
            if let Some(format) = format {
                text.push_str(&format!("format = {}\n", quoted(format)));
            }
            missing
        }
        Form::Values { values, missing } => {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            text.push_str(&format!("values = [{}]\n", values.join(", ")));
            missing
        }
        Form::Truth { missing } => {
            text.push_str("type = \"boolean\"\n");
            missing
        }
        Form::Tree {
            ordered, missing, ..
        } => {
            if *ordered {
                text.push_str("ordered = true\n");
            }
            missing
        }
    };
    match missing {
        [] => {}
        [one] => text.push_str(&format!("missing = {}\n", quoted(one))),
        several => {
            let several: Vec<String> = several.iter().map(|text| quoted(text)).collect();
            text.push_str(&format!("missing = [{}]\n", several.join(", ")));
        }
    }
    settings(text, &column.more);
}

fn settings(text: &mut String, settings: &[Setting]) {
    for Setting {
        key,
        value,
        comment,
    } in settings
    {
        let line = format!("{key} = {value}");
        match comment {
            Some(comment) => text.push_str(&format!("{line:<35} # {comment}\n")),
            None => text.push_str(&format!("{line}\n")),
        }
    }
}

/// A comment, broken between words. Names and values in it come from a table, so it stays a comment
/// whatever they hold.
fn comment(text: &mut String, words: &str) {
    let words = one_line(words);
    let mut line = String::from("#");
    for word in words.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH && line != "#" {
            text.push_str(&line);
            text.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}
