//! The tables of a report, read back from its HTML by code that knows nothing of how they are written.

use std::collections::BTreeMap;

/// A table of a page: its rows, each with the text of its cells.
pub(super) type Rows = Vec<Vec<String>>;

/// The rows of every table by its caption, heads left out; captions that stand twice are a mistake.
pub(super) fn tables(page: &str) -> BTreeMap<String, Rows> {
    let mut tables = BTreeMap::new();
    for table in page.split("<table>").skip(1) {
        let (table, _) = table.split_once("</table>").unwrap();
        let (_, caption) = table.split_once("<caption>").unwrap();
        let (caption, _) = caption.split_once("</caption>").unwrap();
        let (_, body) = table.split_once("<tbody>").unwrap();
        let rows = body.split("<tr>").skip(1).map(cells).collect();
        let before = tables.insert(text(caption), rows);
        assert!(before.is_none(), "{caption} stands twice");
    }
    tables
}

fn cells(row: &str) -> Vec<String> {
    let row = row.replace("<th", "<td").replace("</th>", "</td>");
    let cells = row.split("<td").skip(1);
    cells
        .map(|cell| {
            let (_, cell) = cell.split_once('>').unwrap();
            text(cell.split_once("</td>").unwrap().0)
        })
        .collect()
}

/// What a reader sees of some markup.
fn text(markup: &str) -> String {
    let mut seen = String::new();
    let mut is_tag = false;
    for letter in markup.chars() {
        match letter {
            '<' => is_tag = true,
            // A smaller line below is a word apart.
            '>' => {
                is_tag = false;
                seen.push(' ');
            }
            letter if !is_tag => seen.push(letter),
            _ => {}
        }
    }
    let seen = seen
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&");
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The whole number of a cell such as `~1,234 (5.00 %)` or `1,234 5.0 %`.
pub(super) fn whole(cell: &str) -> u64 {
    let digits = cell.trim_start_matches('~').replace(',', "");
    let number = digits.split_whitespace().next().unwrap();
    number.parse().unwrap_or_else(|_| panic!("{cell}"))
}

/// The share of a cell such as `1,234 (5.00 %)` or `5.0 %`, from 0 to 1.
pub(super) fn share(cell: &str) -> f64 {
    let cell = cell.replace(['(', ')', '%'], " ");
    let number = cell.split_whitespace().last().unwrap();
    number.parse::<f64>().unwrap() / 100.0
}
