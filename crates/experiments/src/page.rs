//! The pages of a folder of figures: `index.html` to look at, `index.md` for a book. Both are made from
//! the records beside the figures alone.

use std::fmt::Write as _;

use hedgerow::words::count;

use crate::record::Record;

/// Figures are images, on white in any colours of the page.
const IMAGES: &str = "img { display: block; width: 100%; height: auto; background: #ffffff; border: 1px solid var(--line); }\n";

/// The page to look at; `damaged` says what is wrong with figures that are left out.
pub(crate) fn html(records: &[Record], damaged: &[String]) -> String {
    let mut page = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Figures of the papers, measured again</title>\n<style>\n",
    );
    page.push_str(hedgerow::REPORT_STYLE);
    page.push_str(IMAGES);
    page.push_str(
        "</style>\n</head>\n<body>\n<main>\n<h1>Figures of the papers, measured again</h1>\n",
    );
    let _ = writeln!(
        page,
        "<p class=\"under\">{}</p>",
        escaped(&summary(records))
    );
    for reason in damaged {
        let _ = writeln!(page, "<p>{}</p>", escaped(&left_out(reason)));
    }
    page.push_str("<div class=\"scroll\" role=\"region\" aria-label=\"All figures\" tabindex=\"0\">\n<table>\n<thead><tr><th scope=\"col\">figure</th><th scope=\"col\">shows</th><th scope=\"col\">verdict</th></tr></thead>\n<tbody>\n");
    for record in records {
        let _ = writeln!(
            page,
            "<tr><th scope=\"row\"><a href=\"#{0}\">{0}</a></th><td>{1}</td><td>{2}</td></tr>",
            escaped(&record.figure),
            escaped(&record.title),
            badge(record)
        );
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
    for record in records {
        section(&mut page, record);
    }
    let _ = writeln!(
        page,
        "<footer><p>Written by hedgerow {}. A claim holds where every check of its rule does; a difference is reported as it was found.</p></footer>\n</main>\n</body>\n</html>",
        env!("CARGO_PKG_VERSION")
    );
    page
}

fn section(page: &mut String, record: &Record) {
    let name = escaped(&record.figure);
    let _ = writeln!(
        page,
        "<section id=\"{name}\">\n<h2>{name}: {}</h2>\n<p>{} {}{}</p>",
        escaped(&record.title),
        badge(record),
        escaped(record.paper.name()),
        match record.settings.quick {
            true => ", quick size",
            false => "",
        },
    );
    let _ = writeln!(
        page,
        "<figure><img src=\"{name}.svg\" alt=\"{}\"><figcaption>Data: {}. <a href=\"{name}.csv\">Numbers</a></figcaption></figure>",
        escaped(&record.title),
        escaped(&record.data.join("; "))
    );
    let _ = writeln!(
        page,
        "<p><strong>Claim.</strong> {}</p>",
        escaped(&record.claim)
    );
    let _ = writeln!(
        page,
        "<p><strong>Measured.</strong> {}</p>",
        escaped(&record.measured)
    );
    page.push_str("<ul>\n");
    for check in &record.checks {
        let word = match (check.holds, check.must_hold) {
            (true, _) => "holds",
            (false, false) => "differs",
            (false, true) => "must hold and does not",
        };
        let _ = write!(page, "<li>{word}: {}", escaped(&check.words));
        if !check.reason.is_empty() {
            let _ = write!(page, ". Most likely because {}", escaped(&check.reason));
        }
        page.push_str("</li>\n");
    }
    page.push_str("</ul>\n</section>\n");
}

fn badge(record: &Record) -> String {
    let class = match (record.holds, record.is_broken()) {
        (true, _) => "good",
        (false, false) => "warn",
        (false, true) => "bad",
    };
    format!("<span class=\"badge {class}\">{}</span>", record.verdict())
}

/// The page for a book: a table of all figures, then each with its plot.
pub(crate) fn markdown(records: &[Record], damaged: &[String]) -> String {
    let mut page = format!("{}\n\n", summary(records));
    for reason in damaged {
        let _ = write!(page, "{}\n\n", prose(&left_out(reason)));
    }
    page.push_str(
        "| figure | shows | verdict | where it differs, most likely because |\n|---|---|---|---|\n",
    );
    for record in records {
        let _ = writeln!(
            page,
            "| [`{0}`](#{0}) | {1} | {2} | {3} |",
            record.figure,
            cell(&record.title),
            record.verdict(),
            cell(&record.reasons().join("; "))
        );
    }
    for record in records {
        let _ = write!(
            page,
            "\n## {0}\n\n{1} ({2}): **{3}**\n\n![{1}](experiments/{0}.svg)\n\n*Claim.* {4}\n\n*Measured.* {5}\n\n",
            record.figure,
            prose(&record.title),
            record.paper.name(),
            record.verdict(),
            prose(&record.claim),
            prose(&record.measured)
        );
        for check in &record.checks {
            let verdict = if check.holds { "holds" } else { "differs" };
            let _ = writeln!(page, "- {verdict}: {}", prose(&check.words));
        }
        for reason in record.reasons() {
            let _ = write!(page, "\nMost likely because {}.\n", prose(reason));
        }
        let _ = write!(page, "\nData: {}.\n", prose(&record.data.join("; ")));
    }
    page
}

/// How many hold, and what was measured with what.
fn summary(records: &[Record]) -> String {
    let hold = records.iter().filter(|record| record.holds).count();
    let mut text = format!(
        "{}: {hold} hold, {} differ.",
        count(records.len() as u64, "figure", "figures"),
        records.len() - hold
    );
    let mut with: Vec<String> = records
        .iter()
        .map(|record| {
            let settings = &record.settings;
            let size = if settings.quick { "quick" } else { "full" };
            format!(
                "{size} size on {}, seed {}, version {}",
                settings.data, settings.seed, settings.version
            )
        })
        .collect();
    with.sort();
    with.dedup();
    if !with.is_empty() {
        let _ = write!(text, " Measured at {}.", with.join("; "));
    }
    text
}

fn left_out(reason: &str) -> String {
    format!("A figure is left out, and measured again when it is asked for: {reason}.")
}

/// Text for a cell of a Markdown table.
fn cell(text: &str) -> String {
    prose(text).replace('|', "\\|")
}

/// Text of Markdown, in which nothing is markup.
fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '*' | '_' | '`' | '[' | ']' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            letter => out.push(letter),
        }
    }
    out
}
