//! A comparison as a picture: a row for each choice, a panel for each measure.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::{Comparison, Measured, Row};
use crate::error::Error;
use crate::words::{count, percent, thousands};

const INK: RGBColor = RGBColor(31, 41, 51);
const GRID: RGBColor = RGBColor(201, 209, 217);
const FIRST: RGBColor = RGBColor(43, 108, 176);
const SECOND: RGBColor = RGBColor(138, 164, 192);
const MARK: RGBColor = RGBColor(192, 86, 33);

/// The width of the picture.
const WIDTH: u32 = 1_500;
/// Where the first panel begins: names of choices stand before it.
const NAMES: i32 = 270;
/// The width of a panel, with the numbers behind its bars.
const PANEL: i32 = 245;
/// The longest bar.
const BAR: f64 = 145.0;
/// The length of the scale of class sizes: the three numbers behind it take room.
const SCALE: f64 = 85.0;
/// The height of a row.
const ROW: i32 = 44;
/// Where the first row begins: titles stand above it.
const TOP: i32 = 96;
/// The room below the last row.
const BOTTOM: i32 = 40;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Failure = Box<dyn std::error::Error>;

/// A panel: its title, and of a choice the length of its bar and what is written behind it.
struct Panel {
    title: &'static str,
    value: fn(&Measured) -> Option<f64>,
    words: fn(&Measured) -> String,
}

const PANELS: [Panel; 4] = [
    Panel {
        title: "detail lost (NCP)",
        value: |measured| Some(measured.loss),
        words: |measured| percent(measured.loss),
    },
    Panel {
        title: "error of queries",
        value: |measured| measured.query_error.map(|error| error.mean),
        words: |measured| {
            let error = measured.query_error;
            error.map_or_else(|| String::from("-"), |error| percent(error.mean))
        },
    },
    Panel {
        title: "risk: average | highest",
        value: |measured| Some(measured.risk.highest),
        words: |measured| {
            let [average, highest] = [measured.risk.average, measured.risk.highest]
                .map(|risk| format!("{:.1}", risk * 100.0));
            format!("{average} | {highest} %")
        },
    },
    Panel {
        title: "time",
        value: |measured| Some(measured.seconds),
        words: |measured| format!("{:.1} s", measured.seconds),
    },
];

/// The place of class sizes among the panels: before the time.
const SIZES: i32 = 3;

/// The picture as a file of SVG.
pub(super) fn svg(comparison: &Comparison) -> Result<String, Error> {
    let rows: Vec<(usize, &Row, &Measured)> = comparison
        .choices
        .iter()
        .enumerate()
        .filter_map(|(place, row)| Some((place, row, row.measured()?)))
        .collect();
    let height = TOP + ROW * rows.len() as i32 + BOTTOM;
    // Between 136 and a few thousand.
    drawn(height as u32, |area| {
        area.fill(&WHITE)?;
        let head = format!(
            "{}: {}, {}",
            comparison.table,
            count(comparison.records, "record", "records"),
            comparison.requirement.join(", ")
        );
        text(area, &shortened(&head, 150), (20, 26), HPos::Left, 20)?;
        names(area, comparison, &rows)?;
        for (place, panel) in (0..).zip(&PANELS) {
            let place = if place < SIZES { place } else { place + 1 };
            bars(area, panel, NAMES + place * PANEL, &rows)?;
        }
        sizes(area, NAMES + SIZES * PANEL, &rows)
    })
}

/// Draws a file that stands alone.
fn drawn(
    height: u32,
    draw: impl FnOnce(&Area<'_>) -> Result<(), Failure>,
) -> Result<String, Error> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let done = draw(&area).and_then(|()| Ok(area.present()?));
        done.map_err(|error| Error::Plot(error.to_string()))?;
    }
    // Control characters are not allowed in XML; names may have them.
    svg.retain(|letter| !letter.is_control() || letter == '\n');
    Ok(svg)
}

/// The middle of a row.
fn middle(row: usize) -> i32 {
    TOP + ROW * row as i32 + ROW / 2
}

fn names(
    area: &Area<'_>,
    comparison: &Comparison,
    rows: &[(usize, &Row, &Measured)],
) -> Result<(), Failure> {
    let recommended = comparison.recommended.as_ref().map(|found| found.row);
    for (at, (place, row, measured)) in rows.iter().enumerate() {
        let mut remarks = Vec::new();
        if recommended == Some(*place) {
            remarks.push("recommended");
        }
        if row.choice.own {
            remarks.push("the study's own");
        }
        if measured.stopped {
            remarks.push("ended early");
        }
        if !measured.holds {
            remarks.push("does not hold");
        }
        let y = middle(at);
        let name = shortened(&row.choice.words(), 32);
        if remarks.is_empty() {
            text(area, &name, (20, y), HPos::Left, 17)?;
        } else {
            text(area, &name, (20, y - 9), HPos::Left, 17)?;
            text(area, &remarks.join(", "), (20, y + 10), HPos::Left, 13)?;
        }
    }
    Ok(())
}

/// The bars of a panel, the longest as wide as the panel.
fn bars(
    area: &Area<'_>,
    panel: &Panel,
    left: i32,
    rows: &[(usize, &Row, &Measured)],
) -> Result<(), Failure> {
    text(area, panel.title, (left, TOP - 18), HPos::Left, 17)?;
    let values = rows
        .iter()
        .filter_map(|(.., measured)| (panel.value)(measured));
    let longest = values.fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    axis(area, left, rows.len())?;
    for (at, (.., measured)) in rows.iter().enumerate() {
        let value = (panel.value)(measured).unwrap_or(0.0);
        let length = (value / longest * BAR).round() as i32;
        let y = middle(at);
        let bar = Rectangle::new([(left, y - 11), (left + length, y + 11)], FIRST.filled());
        area.draw(&bar)?;
        if panel.title.starts_with("risk") {
            let average = (measured.risk.average / longest * BAR).round() as i32;
            let mark = [(left + average, y - 11), (left + average, y + 11)];
            area.draw(&PathElement::new(mark, MARK.stroke_width(3)))?;
        }
        let words = (panel.words)(measured);
        text(area, &words, (left + length + 6, y), HPos::Left, 15)?;
    }
    Ok(())
}

/// Smallest, median and largest class of each choice, on a scale of powers of ten.
fn sizes(area: &Area<'_>, left: i32, rows: &[(usize, &Row, &Measured)]) -> Result<(), Failure> {
    let title = "class sizes, log scale";
    text(area, title, (left, TOP - 18), HPos::Left, 17)?;
    let log = |size: u64| (size.max(1) as f64).log10();
    let least = rows.iter().map(|(.., measured)| measured.classes.smallest);
    let greatest = rows.iter().map(|(.., measured)| measured.classes.largest);
    let (least, greatest) = (
        least.min().map_or(0.0, log),
        greatest.max().map_or(1.0, log),
    );
    let span = (greatest - least).max(0.1);
    let at = |size: u64| left + 6 + ((log(size) - least) / span * SCALE).round() as i32;
    axis(area, left, rows.len())?;
    for (row, (.., measured)) in rows.iter().enumerate() {
        let (classes, y) = (&measured.classes, middle(row));
        let ends = [classes.smallest, classes.largest].map(|size| (at(size), y));
        area.draw(&PathElement::new(ends.to_vec(), SECOND.stroke_width(4)))?;
        for end in ends {
            area.draw(&Circle::new(end, 4, SECOND.filled()))?;
        }
        let median = at(classes.median);
        let mark = Rectangle::new([(median - 3, y - 10), (median + 3, y + 10)], FIRST.filled());
        area.draw(&mark)?;
        let words = [classes.smallest, classes.median, classes.largest].map(thousands);
        text(area, &words.join(" | "), (ends[1].0 + 9, y), HPos::Left, 13)?;
    }
    Ok(())
}

/// The line on which bars stand.
fn axis(area: &Area<'_>, left: i32, rows: usize) -> Result<(), Failure> {
    let ends = [(left, TOP - 4), (left, TOP + ROW * rows as i32 + 4)];
    Ok(area.draw(&PathElement::new(ends, GRID.stroke_width(1)))?)
}

fn text(
    area: &Area<'_>,
    words: &str,
    at: (i32, i32),
    side: HPos,
    size: i32,
) -> Result<(), Failure> {
    let style = ("sans-serif", size).into_font().color(&INK);
    let style = style.pos(Pos::new(side, VPos::Center));
    Ok(area.draw(&Text::new(words.to_owned(), at, style))?)
}

fn shortened(words: &str, longest: usize) -> String {
    match words.chars().count() > longest {
        true => words.chars().take(longest - 1).chain(['…']).collect(),
        false => words.to_owned(),
    }
}
