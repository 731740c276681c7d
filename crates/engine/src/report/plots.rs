//! The plot of a report, as SVG that takes its colours from the page.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::risk_curve::RiskCurve;
use crate::error::Error;

// Placeholders: each becomes a colour of the page, light or dark.
const INK: RGBColor = RGBColor(1, 1, 1);
const GRID: RGBColor = RGBColor(2, 2, 2);
const FIRST: RGBColor = RGBColor(3, 3, 3);
const COLOURS: [(&str, &str); 3] = [
    ("#010101", "currentColor"),
    ("#020202", "var(--line)"),
    ("#030303", "var(--first)"),
];

/// The width of a plot in its own units; the page scales the plot. Letters are large enough to be read where a
/// phone shows the plot at two thirds of its size.
const WIDTH: u32 = 560;
const LETTERS: i32 = 16;
/// Round risks that the axis names, as one in so many, from the greatest, and the room that a name takes.
const TICKS: [u64; 16] = [
    1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000,
];
const TICK_ROOM: i32 = 70;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Failure = Box<dyn std::error::Error>;

/// The share of records whose risk is at most so much, on a logarithmic scale of risks.
pub(super) fn risk_curve(curve: &RiskCurve) -> Result<String, Error> {
    let (Some(least), Some(greatest)) = (curve.steps.first(), curve.steps.last()) else {
        return Ok(String::new());
    };
    let title = "Risk curve";
    let description = format!(
        "All records have a risk between 1 in {} and 1 in {}; the table below has the numbers.",
        least.one_in, greatest.one_in
    );
    drawn("risk-curve", title, &description, 300, |area| {
        let risk = |one_in: u64| 1.0 / one_in as f64;
        // Some room on both sides, so that a curve with one step is seen to be one.
        let (from, to) = (
            risk(least.one_in) / 1.5,
            (risk(greatest.one_in) * 1.5).min(1.2),
        );
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .margin_right(24)
            .x_label_area_size(46)
            .y_label_area_size(54)
            .build_cartesian_2d((from..to).log_scale(), 0.0..1.0)?;
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(INK)
            .label_style(("sans-serif", LETTERS).into_font().color(&INK))
            .x_labels(0)
            .x_label_formatter(&|_| String::new())
            .y_labels(5)
            .y_label_formatter(&|share| format!("{:.0} %", share * 100.0))
            .draw()?;
        let mut at = (from, 0.0);
        let mut line = vec![at];
        for step in &curve.steps {
            line.push((risk(step.one_in), at.1));
            at = (risk(step.one_in), step.share);
            line.push(at);
        }
        line.push((to, at.1));
        let shade = line.iter().copied().chain([(to, 0.0)]);
        chart.draw_series([Polygon::new(shade.collect::<Vec<_>>(), GRID.filled())])?;
        chart.draw_series([PathElement::new(line, FIRST.stroke_width(3))])?;
        // As many round risks as have room; the greatest one always.
        let plotting = chart.plotting_area();
        let mut room = i32::MAX;
        let shown = TICKS
            .iter()
            .filter(|one_in| (from..=to).contains(&risk(**one_in)));
        for one_in in shown {
            let (x, y) = plotting.map_coordinate(&(risk(*one_in), 0.0));
            if room.saturating_sub(x) < TICK_ROOM {
                continue;
            }
            room = x;
            area.draw(&PathElement::new([(x, y), (x, y + 5)], INK))?;
            words(area, &format!("1 in {one_in}"), (x, y + 16), HPos::Center)?;
        }
        let (x, y) = (plotting.get_pixel_range().0, plotting.get_pixel_range().1);
        words(
            area,
            "risk at most",
            (i32::midpoint(x.start, x.end), y.end + 36),
            HPos::Center,
        )?;
        Ok(())
    })
}

fn words(area: &Area<'_>, text: &str, at: (i32, i32), side: HPos) -> Result<(), Failure> {
    let style = ("sans-serif", LETTERS).into_font().color(&INK);
    let style = style.pos(Pos::new(side, VPos::Center));
    Ok(area.draw(&Text::new(text.to_owned(), at, style))?)
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
