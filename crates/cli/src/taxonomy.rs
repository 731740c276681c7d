//! `hedgerow taxonomy`: make, check and print generalization trees.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use hedgerow::data::files::{FileError, OutputFile, format_of, read_text};
use hedgerow::data::taxonomy::{NodeId, integer_widths, prefixes};
use hedgerow::data::{Taxonomy, quoted_list};
use hedgerow::words::{count, one_line, thousands};
use serde_json::json;

use crate::error::{CliError, Usage};
use crate::output::Answer;
use crate::progress::Bar;

/// Make, check and print taxonomies.
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 sound and, with --cover, all values covered; 1 values not covered; 2 bad input.
Examples:
  hedgerow taxonomy --integers 0..120 --widths 5,10,20 --out age.csv
  hedgerow taxonomy --prefix 1 --values patients.csv --column zip --out zip.csv
  hedgerow taxonomy --pairs icd.csv --out icd-rows.csv
  hedgerow taxonomy zip.csv --cover patients.csv --column zip"
)]
pub(crate) struct Arguments {
    /// A row-per-leaf file (value;parent;…;*), or parent/child pairs with that header.
    #[arg(conflicts_with_all = ["integers", "prefix", "pairs"])]
    file: Option<PathBuf>,
    /// Integers of a range, e.g. 0..120, both ends included.
    #[arg(long, value_name = "LEAST..GREATEST", allow_hyphen_values = true, conflicts_with_all = ["prefix", "pairs"])]
    integers: Option<String>,
    /// Widths of the intervals above the integers, each a multiple of the one before.
    #[arg(long, value_delimiter = ',', requires = "integers")]
    widths: Vec<i64>,
    /// Step between the integers.
    #[arg(long, default_value_t = 1, requires = "integers")]
    step: i64,
    /// Codes grouped by prefix: characters removed at each level.
    #[arg(
        long,
        value_name = "CHARACTERS",
        requires = "values",
        conflicts_with = "pairs"
    )]
    prefix: Option<usize>,
    /// Where the codes are: a table (with --column), or a text file with one code a line.
    #[arg(long, value_name = "FILE")]
    values: Option<PathBuf>,
    /// A two-column file of parent;child.
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// The column of --values or --cover.
    #[arg(long)]
    column: Option<String>,
    /// Write the taxonomy as a row-per-leaf file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Say which values of this table's --column the taxonomy does not cover.
    #[arg(long, value_name = "TABLE", requires = "column")]
    cover: Option<PathBuf>,
    /// Print every node.
    #[arg(long)]
    full: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Answer, CliError> {
    let tree = make(arguments)?;
    let mut text = format!(
        "{}, {} nodes, height {}\n",
        count(u64::from(tree.leaf_count()), "value", "values"),
        thousands(u64::from(tree.node_count())),
        tree.height()
    );
    draw(&tree, arguments.full, &mut text);
    let mut value = json!({
        "values": tree.leaf_count(),
        "nodes": tree.node_count(),
        "height": tree.height(),
    });
    let mut holds = true;
    if let Some(table) = &arguments.cover {
        let missing = uncovered(
            &tree,
            table,
            arguments.column.as_deref().unwrap_or_default(),
        )?;
        holds = missing.is_empty();
        if holds {
            text.push_str(&format!("every value of {} is covered\n", table.display()));
        } else {
            let shown = quoted_list(missing.iter().take(20));
            let more = if missing.len() > 20 { ", …" } else { "" };
            text.push_str(&format!(
                "{} of {} not covered: {shown}{more}\n",
                count(missing.len() as u64, "value", "values"),
                table.display()
            ));
        }
        value["not_covered"] = json!(missing);
    }
    if let Some(path) = &arguments.out {
        write(path, &tree)?;
        text.push_str(&format!("written to {}\n", path.display()));
        value["written"] = json!(path);
    }
    Ok(Answer::new(text, &value, holds))
}

fn make(arguments: &Arguments) -> Result<Taxonomy, CliError> {
    if let Some(range) = &arguments.integers {
        let ends = range.split_once("..").and_then(|(least, greatest)| {
            Some((
                least.parse().ok()?,
                greatest.trim_start_matches('=').parse().ok()?,
            ))
        });
        let (least, greatest) = ends.ok_or_else(|| Usage::NoRange {
            range: range.clone(),
        })?;
        let step = arguments.step;
        if step < 1 {
            return Err(Usage::NoStep { step }.into());
        }
        return Ok(integer_widths(
            least,
            greatest,
            arguments.step,
            &arguments.widths,
        )?);
    }
    if let Some(step) = arguments.prefix {
        let path = arguments.values.as_deref().unwrap_or(Path::new(""));
        return Ok(prefixes(&values(path, arguments.column.as_deref())?, step)?);
    }
    if let Some(path) = &arguments.pairs {
        let text = read_file(path)?;
        return Ok(Taxonomy::from_pairs(&text, &path.display().to_string())?);
    }
    match &arguments.file {
        Some(path) => Ok(Taxonomy::from_bytes(
            &read_bytes(path)?,
            &path.display().to_string(),
        )?),
        None => Err(Usage::NoTaxonomy.into()),
    }
}

/// The distinct codes of a table's column, or of a text file's lines, sorted.
fn values(path: &Path, column: Option<&str>) -> Result<Vec<String>, CliError> {
    let mut values: Vec<String> = match column {
        Some(column) => distinct(path, column)?,
        None => {
            let text = read_file(path)?;
            text.lines()
                .map(str::to_owned)
                .filter(|line| !line.is_empty())
                .collect()
        }
    };
    values.sort_unstable();
    values.dedup();
    Ok(values)
}

fn uncovered(tree: &Taxonomy, path: &Path, column: &str) -> Result<Vec<String>, CliError> {
    let mut values = distinct(path, column)?;
    values.retain(|value| tree.value(value).is_none());
    Ok(values)
}

fn distinct(path: &Path, column: &str) -> Result<Vec<String>, CliError> {
    format_of(path)?;
    let table = read_text(path, &[column.to_owned()], &Bar::reading(path))?;
    let found = table.column(column).ok_or_else(|| Usage::NoColumn {
        table: path.to_owned(),
        column: column.to_owned(),
        names: table.names.clone(),
    })?;
    Ok(found
        .dictionary
        .iter()
        .map(|value| value.to_string())
        .collect())
}

fn read_file(path: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, CliError> {
    Ok(std::fs::read(path).map_err(|error| unreadable(path, &error))?)
}

fn unreadable(path: &Path, error: &std::io::Error) -> FileError {
    FileError::Unreadable {
        file: path.display().to_string(),
        reason: error.to_string(),
    }
}

fn write(path: &Path, tree: &Taxonomy) -> Result<(), CliError> {
    let mut file = OutputFile::create(path)?;
    file.write_all(tree.to_rows().as_bytes())
        .map_err(|error| FileError::Unwritable {
            file: path.display().to_string(),
            reason: error.to_string(),
        })?;
    Ok(file.finish()?)
}

/// Children shown of each node unless the whole tree is asked for.
const SHOWN: usize = 6;

/// The tree with its branches drawn.
fn draw(tree: &Taxonomy, is_full: bool, text: &mut String) {
    text.push_str(tree.label(tree.root()));
    text.push('\n');
    // Depth first: each entry is a line to be drawn below its parent's.
    let mut stack: Vec<(String, Entry)> = Vec::new();
    push_children(tree, tree.root(), "", is_full, &mut stack);
    while let Some((indent, entry)) = stack.pop() {
        match entry {
            Entry::More(more) => text.push_str(&format!("{indent}└─ … {} more\n", thousands(more))),
            Entry::Node(node, is_last) => {
                let branch = if is_last { "└─ " } else { "├─ " };
                let label = one_line(tree.label(node));
                text.push_str(&format!("{indent}{branch}{label}\n"));
                let below = format!("{indent}{}", if is_last { "   " } else { "│  " });
                push_children(tree, node, &below, is_full, &mut stack);
            }
        }
    }
}

enum Entry {
    Node(NodeId, bool),
    More(u64),
}

fn push_children(
    tree: &Taxonomy,
    node: NodeId,
    indent: &str,
    is_full: bool,
    stack: &mut Vec<(String, Entry)>,
) {
    let children: Vec<NodeId> = tree.children(node).collect();
    let is_cut = !is_full && children.len() > SHOWN;
    let shown = if is_cut { SHOWN - 1 } else { children.len() };
    let start = stack.len();
    for (place, child) in children.iter().take(shown).enumerate() {
        let is_last = !is_cut && place + 1 == shown;
        stack.push((indent.to_owned(), Entry::Node(*child, is_last)));
    }
    if is_cut {
        stack.push((
            indent.to_owned(),
            Entry::More((children.len() - shown) as u64),
        ));
    }
    stack[start..].reverse();
}
