//! HTML that cannot be nested wrongly, and in which all text is escaped.

/// The most columns of a table that fits on paper as it is.
const MOST_COLUMNS: usize = 7;

/// A piece of HTML that grows.
#[derive(Default)]
pub(super) struct Html(String);

/// A cell of a table.
pub(super) enum Cell {
    /// Words.
    Text(String),
    /// A sentence or more, which is given room where a page is narrow.
    Long(String),
    /// A number, set to the right.
    Number(String),
    /// A word with a colour: `good`, `bad`, `warn`.
    Badge(&'static str, String),
    /// A hash or key.
    Code(String),
    /// Words, and smaller ones below them.
    Noted(String, String),
    /// A number, and its share below.
    Share(String, String),
    /// Bars one below another: the colour of each, and its share of the longest that fits.
    Bars(Vec<(&'static str, f64)>),
}

impl Html {
    /// Text, escaped.
    pub(super) fn text(&mut self, text: &str) {
        for letter in text.chars() {
            match letter {
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '&' => self.0.push_str("&amp;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                // These characters are not allowed in HTML, whichever way they are written.
                letter if letter.is_control() && !letter.is_ascii_whitespace() => {
                    self.0.push('\u{fffd}');
                }
                // These turn the direction of what stands around them.
                '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}' => {
                    self.0.push_str(&format!("\\u{:04x}", u32::from(letter)));
                }
                letter => self.0.push(letter),
            }
        }
    }

    /// An element with what is inside it.
    pub(super) fn element(
        &mut self,
        name: &'static str,
        attributes: &[(&'static str, &str)],
        inside: impl FnOnce(&mut Self),
    ) {
        self.0.push('<');
        self.0.push_str(name);
        for (key, value) in attributes {
            self.0.push(' ');
            self.0.push_str(key);
            self.0.push_str("=\"");
            self.text(value);
            self.0.push('"');
        }
        self.0.push('>');
        inside(self);
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push_str(">\n");
    }

    /// An element with nothing but text.
    pub(super) fn put(&mut self, name: &'static str, text: &str) {
        self.element(name, &[], |html| html.text(text));
    }

    /// Markup that was made here and has no text of files unescaped.
    pub(super) fn markup(&mut self, markup: &str) {
        self.0.push_str(markup);
    }

    /// A section with its heading.
    pub(super) fn section(
        &mut self,
        id: &'static str,
        heading: &str,
        inside: impl FnOnce(&mut Self),
    ) {
        let label = format!("{id}-heading");
        let attributes = [("id", id), ("aria-labelledby", label.as_str())];
        self.element("section", &attributes, |html| {
            html.element("h2", &[("id", &label)], |html| html.text(heading));
            inside(html);
        });
    }

    /// A table whose first column names its rows.
    pub(super) fn table(&mut self, caption: &str, heads: &[&str], rows: Vec<Vec<Cell>>) {
        // Where columns are many, paper has room for smaller letters only.
        let class = match heads.len() > MOST_COLUMNS {
            true => "scroll wide",
            false => "scroll",
        };
        self.table_of(class, caption, heads, rows);
    }

    /// A table with bars, which make room for words and numbers.
    pub(super) fn chart(&mut self, caption: &str, heads: &[&str], rows: Vec<Vec<Cell>>) {
        self.table_of("scroll chart", caption, heads, rows);
    }

    fn table_of(
        &mut self,
        class: &'static str,
        caption: &str,
        heads: &[&str],
        rows: Vec<Vec<Cell>>,
    ) {
        // A wide table scrolls by itself; people without a mouse can reach it with the keyboard.
        let attributes = [
            ("class", class),
            ("role", "region"),
            ("aria-label", caption),
            ("tabindex", "0"),
        ];
        self.element("div", &attributes, |html| {
            html.element("table", &[], |html| {
                html.put("caption", caption);
                html.element("thead", &[], |html| {
                    html.element("tr", &[], |html| {
                        for head in heads {
                            html.element("th", &[("scope", "col")], |html| html.text(head));
                        }
                    });
                });
                html.element("tbody", &[], |html| {
                    for row in rows {
                        html.element("tr", &[], |html| {
                            row.into_iter().enumerate().for_each(|(place, cell)| {
                                html.cell(place == 0, cell);
                            });
                        });
                    }
                });
            });
        });
    }

    fn cell(&mut self, is_head: bool, cell: Cell) {
        let name = if is_head { "th" } else { "td" };
        let class = match cell {
            Cell::Number(_) | Cell::Share(..) => "number",
            Cell::Code(_) => "code",
            Cell::Long(_) => "words long",
            Cell::Bars(_) => "bars",
            _ => "words",
        };
        let attributes = [("class", class), ("scope", "row")];
        let attributes = if is_head {
            &attributes[..]
        } else {
            &attributes[..1]
        };
        self.element(name, attributes, |html| match cell {
            Cell::Text(text) | Cell::Long(text) | Cell::Number(text) => html.text(&text),
            Cell::Badge(kind, text) => {
                let class = format!("badge {kind}");
                html.element("span", &[("class", &class)], |html| html.text(&text));
            }
            Cell::Code(text) => html.put("code", &text),
            Cell::Noted(text, note) | Cell::Share(text, note) => {
                html.text(&text);
                if !note.is_empty() {
                    html.put("small", &note);
                }
            }
            Cell::Bars(bars) => {
                for (colour, share) in bars {
                    // What is not there has no bar; what is there has one that can be seen.
                    if share > 0.0 {
                        let class = format!("bar {colour}");
                        let width = format!("width:{:.2}%", share.min(1.0) * 100.0);
                        html.element("span", &[("class", &class), ("style", &width)], |_| {});
                    }
                }
            }
        });
    }

    /// The text of the page so far.
    pub(super) fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_text_opens_or_closes_anything(text in any::<String>()) {
            let mut html = Html::default();
            html.element("p", &[("title", &text)], |html| html.text(&text));
            let made = html.into_string();
            let inner = made.strip_prefix("<p title=\"").and_then(|rest| rest.strip_suffix("</p>\n"));
            let inner = inner.map(|inner| inner.replacen("\">", "", 1)).unwrap_or_default();
            let is_clean = !inner.contains(['<', '>', '"', '\'', '\0']);
            prop_assert!(is_clean, "{}", inner);
        }
    }
}
