//! The plots of a report, as SVG that takes its colours from the page.

use hedgerow_privacy::utility::AttributeUtility;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::facts::Sizes;
use crate::error::Error;
use crate::words::{percent, thousands};

// Placeholders: each becomes a colour of the page, light or dark.
const INK: RGBColor = RGBColor(1, 1, 1);
const GRID: RGBColor = RGBColor(2, 2, 2);
const FIRST: RGBColor = RGBColor(3, 3, 3);
const SECOND: RGBColor = RGBColor(4, 4, 4);
const MARK: RGBColor = RGBColor(5, 5, 5);
const COLOURS: [(&str, &str); 5] = [
    ("#010101", "currentColor"),
    ("#020202", "var(--line)"),
    ("#030303", "var(--first)"),
    ("#040404", "var(--second)"),
    ("#050505", "var(--mark)"),
];

/// The width of a plot in its own units; the page scales the plot.
const WIDTH: u32 = 760;
/// The longest name that is drawn in full.
const LONGEST_NAME: usize = 24;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Failure = Box<dyn std::error::Error>;

/// How many classes have which size; a line stands at the k that is required.
pub(super) fn class_sizes(sizes: &Sizes, k: Option<u64>) -> Result<String, Error> {
    let title = "Histogram of class sizes";
    let description = format!(
        "The smallest class has {} records, the largest {}; the table below has the numbers.",
        sizes.smallest, sizes.largest
    );
    drawn("sizes", title, &description, 300, |area| {
        let from = k.unwrap_or(sizes.smallest).min(sizes.smallest) as f64 - 1.0;
        let to = sizes.bars.last().map_or(1, |bar| bar.to) as f64 + 1.0;
        let highest = sizes.bars.iter().map(|bar| bar.classes).max().unwrap_or(1) as f64;
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .x_label_area_size(48)
            .y_label_area_size(70)
            .build_cartesian_2d(from..to, 0.0..highest * 1.12)?;
        let whole = |number: &f64| match number.fract() == 0.0 && *number >= 0.0 {
            true => thousands(*number as u64),
            false => String::new(),
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .y_max_light_lines(0)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(("sans-serif", 17).into_font().color(&INK))
            .axis_desc_style(("sans-serif", 17).into_font().color(&INK))
            .x_labels(10)
            .y_labels(5)
            .x_label_formatter(&whole)
            .y_label_formatter(&whole)
            .x_desc("records in the class")
            .y_desc("classes")
            .draw()?;
        let bars = sizes.bars.iter().filter(|bar| bar.classes > 0);
        chart.draw_series(bars.map(|bar| {
            // A bar covers its whole numbers, and a gap of a tenth keeps it from the next.
            let gap = 0.05 * (bar.to - bar.from + 1) as f64;
            let (left, right) = (bar.from as f64 - 0.5 + gap, bar.to as f64 + 0.5 - gap);
            Rectangle::new([(left, 0.0), (right, bar.classes as f64)], FIRST.filled())
        }))?;
        if let Some(k) = k {
            let at = k as f64 - 0.5;
            let ends = [(at, 0.0), (at, highest * 1.12)];
            chart.draw_series([PathElement::new(ends, MARK.stroke_width(2))])?;
            let (x, y) = chart.plotting_area().map_coordinate(&ends[1]);
            words(
                area,
                &format!("required: {k} or more"),
                (x + 6, y + 10),
                HPos::Left,
            )?;
        }
        Ok(())
    })
}

/// What each attribute lost, as two bars: NCP and LM.
pub(super) fn losses(attributes: &[AttributeUtility]) -> Result<String, Error> {
    let title = "Loss of each quasi-identifier";
    let description = "For each quasi-identifier a bar for NCP and one for LM, from 0 (nothing lost) to 100 percent; the table below has the numbers.";
    // A plot shows no more attributes than fit on a page; the table has all of them.
    let shown = &attributes[..attributes.len().min(40)];
    let height = 60 + 44 * shown.len() as u32;
    drawn("losses", title, description, height, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .margin_right(70)
            .x_label_area_size(30)
            .y_label_area_size(190)
            .build_cartesian_2d(0.0..1.0, 0.0..shown.len() as f64)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .x_max_light_lines(0)
            .bold_line_style(GRID)
            .axis_style(INK)
            .label_style(("sans-serif", 17).into_font().color(&INK))
            .x_labels(6)
            .y_labels(0)
            .x_label_formatter(&|share| format!("{:.0} %", share * 100.0))
            .draw()?;
        for (place, attribute) in shown.iter().enumerate() {
            // The first attribute stands on top.
            let top = (shown.len() - place) as f64;
            let bar = |loss: f64, from: f64, colour: RGBColor| {
                Rectangle::new(
                    [(0.0, top - from), (loss, top - from - 0.3)],
                    colour.filled(),
                )
            };
            chart.draw_series([
                bar(attribute.ncp, 0.18, FIRST),
                bar(attribute.lm, 0.52, SECOND),
            ])?;
            let plotting = chart.plotting_area();
            let (x, y) = plotting.map_coordinate(&(0.0, top - 0.5));
            words(area, &shortened(&attribute.name), (x - 10, y), HPos::Right)?;
            for (loss, middle) in [(attribute.ncp, 0.33), (attribute.lm, 0.67)] {
                let (x, y) = plotting.map_coordinate(&(loss, top - middle));
                words(area, &percent(loss), (x + 6, y), HPos::Left)?;
            }
        }
        Ok(())
    })
}

fn words(area: &Area<'_>, text: &str, at: (i32, i32), side: HPos) -> Result<(), Failure> {
    let style = ("sans-serif", 17).into_font().color(&INK);
    let style = style.pos(Pos::new(side, VPos::Center));
    Ok(area.draw(&Text::new(text.to_owned(), at, style))?)
}

fn shortened(name: &str) -> String {
    match name.chars().count() > LONGEST_NAME {
        true => name.chars().take(LONGEST_NAME - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

/// Draws, and makes the drawing part of the page: its colours, its size, and words for those who
/// do not see it.
fn drawn(
    id: &str,
    title: &str,
    description: &str,
    height: u32,
    draw: impl FnOnce(&Area<'_>) -> Result<(), Failure>,
) -> Result<String, Error> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        let done = draw(&area).and_then(|()| Ok(area.present()?));
        done.map_err(|error| Error::Plot(error.to_string()))?;
    }
    // Control characters are not allowed in HTML; names may have them.
    svg.retain(|letter| !letter.is_control() || letter == '\n');
    for (placeholder, colour) in COLOURS {
        for property in ["fill", "stroke"] {
            svg = svg.replace(
                &format!("{property}=\"{placeholder}\""),
                &format!("{property}=\"{colour}\""),
            );
        }
    }
    let inside = svg.split_once('>').map_or("", |(_, inside)| inside);
    Ok(format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n<title id=\"{id}-title\">{title}</title>\n<desc id=\"{id}-desc\">{description}</desc>{inside}"
    ))
}
