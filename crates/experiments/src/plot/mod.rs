//! A figure as SVG: its panels in a grid, the verdict above them, the data that they show below.

mod panel;
mod scale;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::error::Error;
use crate::frame::measured::{Kind, Measured, Panel};
use crate::record::Record;

pub(crate) const INK: RGBColor = RGBColor(27, 36, 32);
pub(crate) const MUTED: RGBColor = RGBColor(76, 90, 83);
pub(crate) const GRID: RGBColor = RGBColor(222, 229, 225);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Failure = Box<dyn std::error::Error>;

/// What stands above and below the panels.
const ABOVE: i32 = 58;
const LINE: i32 = 20;

/// Draws a figure.
pub(crate) fn svg(record: &Record, measured: &Measured) -> Result<String, Error> {
    // Names of many bars need the whole width.
    let is_wide = |panel: &Panel| matches!(&panel.kind, Kind::Bars(names) if names.len() > 6);
    let is_wide = measured.panels.iter().any(is_wide);
    let columns = if measured.panels.len() > 1 && !is_wide {
        2
    } else {
        1
    };
    let rows = measured.panels.len().div_ceil(columns).max(1);
    let (width, height) = if columns == 1 { (820, 460) } else { (580, 420) };
    let whole = width * columns as i32;
    let notes = notes(record, whole);
    let below = 14 + LINE * notes.len() as i32;
    let size = (whole as u32, (ABOVE + height * rows as i32 + below) as u32);
    let mut svg = String::new();
    let drawn = (|| -> Result<(), Failure> {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        let title = format!(
            "{} ({}): {}",
            record.figure,
            record.paper.name(),
            record.title
        );
        words(&area, &title, (16, 22), 19.0, INK, HPos::Left)?;
        let verdict = format!(
            "{}{}",
            record.verdict(),
            if record.settings.quick {
                ", quick size"
            } else {
                ""
            }
        );
        words(&area, &verdict, (16, 44), 15.0, MUTED, HPos::Left)?;
        for (place, panel) in measured.panels.iter().enumerate() {
            let x = (place % columns) as i32 * width;
            let y = ABOVE + (place / columns) as i32 * height;
            panel::draw(&area, panel, (x, y), (width, height))?;
        }
        let from = ABOVE + height * rows as i32 + 10;
        for (line, note) in notes.iter().enumerate() {
            let y = from + LINE * line as i32;
            words(&area, note, (16, y), 13.0, MUTED, HPos::Left)?;
        }
        area.present()?;
        Ok(())
    })();
    drawn.map_err(|error| Error::Plot {
        figure: record.figure.clone(),
        reason: error.to_string(),
    })?;
    Ok(described(&svg, record))
}

/// The data that are shown, in lines as wide as the figure.
fn notes(record: &Record, width: i32) -> Vec<String> {
    let text = format!("Data: {}.", record.data.join("; "));
    panel::wrapped(&text, (width - 32) as usize / 7)
}

/// The drawing with words for those who do not see it.
fn described(svg: &str, record: &Record) -> String {
    let text = format!("{}. {}", record.title, record.measured);
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    match svg.split_once('>') {
        Some((head, rest)) => format!("{head} role=\"img\">\n<title>{escaped}</title>{rest}"),
        None => svg.to_owned(),
    }
}

/// Writes words; `side` says which side of them is at the place.
fn words(
    area: &Area<'_>,
    text: &str,
    at: (i32, i32),
    size: f64,
    colour: RGBColor,
    side: HPos,
) -> Result<(), Failure> {
    let style = ("sans-serif", size).into_font().color(&colour);
    let style = style.pos(Pos::new(side, VPos::Center));
    Ok(area.draw(&Text::new(text.to_owned(), at, style))?)
}
