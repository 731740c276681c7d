//! One panel: axes with units, a legend, and its series as lines, bars or a histogram. What a paper
//! prints is a mark without a line, what was computed is dashed.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::scale::Scale;
use super::{Area, Failure, GRID, INK, MUTED, words};
use crate::frame::measured::{Kind, Panel, Series, Source};

/// Colours that people tell apart who see no red or no green.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(110, 90, 160),
    RGBColor(120, 120, 60),
];
/// What papers print, where it has no series of the same name to share a colour with.
const PAPER: RGBColor = RGBColor(179, 38, 30);

const LEGEND_LINE: i32 = 19;
/// About how many numbers stand at the axis upwards.
const UPWARDS: usize = 6;

/// Where the plot of a panel stands, and its axes.
struct Frame<'p> {
    panel: &'p Panel,
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
    x: Scale,
    y: Scale,
}

/// Draws a panel at a place of the figure.
pub(super) fn draw(
    area: &Area<'_>,
    panel: &Panel,
    (x, y): (i32, i32),
    (width, height): (i32, i32),
) -> Result<(), Failure> {
    words(area, &panel.title, (x + 16, y + 14), 15.0, INK, HPos::Left)?;
    let legend = legend(panel, width - 32);
    let rows = legend.last().map_or(0, |(_, (_, row))| row + 1);
    for (series, (across, row)) in &legend {
        let at = (x + 16 + across, y + 36 + LEGEND_LINE * row);
        let colour = colour(panel, *series);
        sample(area, panel, *series, at, colour)?;
        let name = &panel.series[*series].name;
        words(area, name, (at.0 + 30, at.1), 13.0, INK, HPos::Left)?;
    }
    let y_axis = y_scale(panel);
    let longest = y_axis.ticks(UPWARDS).into_iter();
    let longest = longest.map(|(_, label)| label.chars().count() as i32);
    // The axis's words stand to the left of its longest number.
    let numbers = 8 * longest.max().unwrap_or(0);
    let frame = Frame {
        panel,
        left: x + (numbers + 36).max(84),
        right: x + width - 22,
        top: y + 40 + LEGEND_LINE * rows,
        bottom: y + height - 58,
        x: x_scale(panel),
        y: y_axis,
    };
    frame.axes(area, x + 16)?;
    match &panel.kind {
        Kind::Lines => frame.lines(area),
        Kind::Bars(names) => frame.bars(area, names.len()),
        Kind::Histogram { width } => frame.histogram(area, *width as f64),
    }
}

/// The place of each series in the legend: across in pixels, and its row.
fn legend(panel: &Panel, width: i32) -> Vec<(usize, (i32, i32))> {
    let (mut across, mut row) = (0, 0);
    let place = |(place, series): (usize, &Series)| {
        let wide = 44 + 8 * series.name.chars().count() as i32;
        if across > 0 && across + wide > width {
            (across, row) = (0, row + 1);
        }
        let at = (across, row);
        across += wide;
        (place, at)
    };
    panel.series.iter().enumerate().map(place).collect()
}

fn x_scale(panel: &Panel) -> Scale {
    let points = panel.series.iter().flat_map(|series| &series.points);
    let points = points.map(|point| point.x);
    match &panel.kind {
        Kind::Lines => Scale::new(&panel.x, points),
        Kind::Bars(_) => Scale::new(&panel.x, [0.0, 1.0].into_iter()),
        Kind::Histogram { width } => {
            let half = *width as f64 / 2.0;
            Scale::new(&panel.x, points.flat_map(|x| [x - half, x + half]))
        }
    }
}

fn y_scale(panel: &Panel) -> Scale {
    let points = panel.series.iter().flat_map(|series| &series.points);
    let values = points.flat_map(|point| {
        let error = point.spread.unwrap_or(0.0);
        [point.y - error, point.y + error]
    });
    match &panel.kind {
        Kind::Lines => Scale::new(&panel.y, values),
        // Bars stand on zero; on a logarithmic axis on less than the least of them.
        Kind::Bars(_) | Kind::Histogram { .. } if panel.y.is_log => {
            let least = values
                .clone()
                .filter(|y| *y > 0.0)
                .fold(f64::INFINITY, f64::min);
            Scale::new(&panel.y, values.chain([least / 2.0]))
        }
        Kind::Bars(_) | Kind::Histogram { .. } => Scale::new(&panel.y.clone().from_zero(), values),
    }
}

/// The colour of a series. What a paper prints has the colour of the measured series whose name its own
/// begins with or ends with.
fn colour(panel: &Panel, place: usize) -> RGBColor {
    let series = &panel.series[place];
    let is_named = |other: &&Series| {
        other.source == Source::Measured
            && (series.name.starts_with(&other.name) || series.name.ends_with(&other.name))
    };
    let own = |wanted: &Series| {
        let drawn = panel.series.iter().filter(|s| s.source != Source::Paper);
        let at = drawn.into_iter().position(|s| std::ptr::eq(s, wanted));
        COLOURS[at.unwrap_or(0) % COLOURS.len()]
    };
    match series.source {
        Source::Measured | Source::Computed => own(series),
        Source::Paper => panel.series.iter().find(is_named).map_or(PAPER, own),
    }
}

/// How a series looks, in the legend.
fn sample(
    area: &Area<'_>,
    panel: &Panel,
    place: usize,
    (x, y): (i32, i32),
    colour: RGBColor,
) -> Result<(), Failure> {
    let source = panel.series[place].source;
    match (&panel.kind, source) {
        (_, Source::Paper) => mark(area, (x + 12, y), Shape::Cross, colour, 0),
        (_, Source::Computed) => path(area, &[(x, y), (x + 24, y)], colour, true),
        (Kind::Lines, Source::Measured) => {
            path(area, &[(x, y), (x + 24, y)], colour, false)?;
            mark(area, (x + 12, y), Shape::of(place), colour, 0)
        }
        (_, Source::Measured) => {
            let corners = [(x + 5, y - 6), (x + 19, y + 6)];
            Ok(area.draw(&Rectangle::new(corners, colour.filled()))?)
        }
    }
}

impl Frame<'_> {
    /// The place of a point; `None` where an axis cannot show it.
    fn at(&self, x: f64, y: f64) -> Option<(i32, i32)> {
        let across = self.x.place(x)? * f64::from(self.right - self.left);
        let up = self.y.place(y)? * f64::from(self.bottom - self.top);
        Some((
            self.left + across.round() as i32,
            self.bottom - up.round() as i32,
        ))
    }

    /// The height of a value that bars reach; the bottom where the axis cannot show it.
    fn height(&self, y: f64) -> i32 {
        let up = self.y.place(y).unwrap_or(0.0) * f64::from(self.bottom - self.top);
        self.bottom - up.round() as i32
    }

    /// The axes; `edge` is where the words of the one upwards stand.
    fn axes(&self, area: &Area<'_>, edge: i32) -> Result<(), Failure> {
        for (number, label) in self.y.ticks(UPWARDS) {
            let y = self.height(number);
            path(area, &[(self.left, y), (self.right, y)], GRID, false)?;
            words(area, &label, (self.left - 8, y), 13.0, INK, HPos::Right)?;
        }
        path(
            area,
            &[
                (self.left, self.top),
                (self.left, self.bottom),
                (self.right, self.bottom),
            ],
            INK,
            false,
        )?;
        let middle = (self.left + self.right) / 2;
        words(
            area,
            &self.panel.x.words(),
            (middle, self.bottom + 44),
            14.0,
            INK,
            HPos::Center,
        )?;
        let upwards = ("sans-serif", 14.0)
            .into_font()
            .transform(FontTransform::Rotate270)
            .color(&INK)
            .pos(Pos::new(HPos::Center, VPos::Center));
        let at = (edge, (self.top + self.bottom) / 2);
        area.draw(&Text::new(self.panel.y.words(), at, upwards))?;
        if let Kind::Bars(names) = &self.panel.kind {
            return self.names(area, names);
        }
        for (number, label) in self.x.ticks(8) {
            let Some(place) = self.x.place(number) else {
                continue;
            };
            let x = self.left + (place * f64::from(self.right - self.left)).round() as i32;
            path(area, &[(x, self.bottom), (x, self.bottom + 5)], INK, false)?;
            words(area, &label, (x, self.bottom + 18), 13.0, INK, HPos::Center)?;
        }
        Ok(())
    }

    /// The names below bars, in lines as wide as a bar's room.
    fn names(&self, area: &Area<'_>, names: &[String]) -> Result<(), Failure> {
        let room = (self.right - self.left) / names.len().max(1) as i32;
        let most = (room / 7).max(3) as usize;
        for (place, name) in names.iter().enumerate() {
            let x = self.left + room * place as i32 + room / 2;
            for (line, words_of_line) in wrapped(name, most).iter().take(2).enumerate() {
                let y = self.bottom + 14 + 15 * line as i32;
                words(area, words_of_line, (x, y), 13.0, INK, HPos::Center)?;
            }
        }
        Ok(())
    }

    fn lines(&self, area: &Area<'_>) -> Result<(), Failure> {
        for (place, series) in self.panel.series.iter().enumerate() {
            let colour = colour(self.panel, place);
            let points = || series.points.iter();
            let shown: Vec<(i32, i32)> = points().filter_map(|p| self.at(p.x, p.y)).collect();
            // A curve that a later one lies upon is drawn wide, so that it can be seen.
            let is_covered = self.panel.series[place + 1..]
                .iter()
                .any(|later| later.source == Source::Measured && later.points == series.points);
            let grow = if is_covered { 4 } else { 0 };
            match series.source {
                Source::Measured if is_covered && shown.len() > 1 => {
                    let style = colour.stroke_width(7);
                    area.draw(&PathElement::new(shown.clone(), style))?;
                }
                Source::Measured => path(area, &shown, colour, false)?,
                Source::Computed => path(area, &shown, colour, true)?,
                Source::Paper => {}
            }
            for point in points() {
                let Some((x, _)) = self.at(point.x, point.y) else {
                    continue;
                };
                if let Some(error) = point.spread.filter(|error| *error > 0.0) {
                    let ends = [
                        (x, self.height(point.y - error)),
                        (x, self.height(point.y + error)),
                    ];
                    path(area, &ends, colour, false)?;
                }
            }
            let shape = match series.source {
                Source::Measured => Some(Shape::of(place)),
                Source::Paper => Some(Shape::Cross),
                // The dashes are enough; a lone point needs a mark.
                Source::Computed if shown.len() == 1 => Some(Shape::of(place)),
                Source::Computed => None,
            };
            if let Some(shape) = shape {
                for at in shown {
                    mark(area, at, shape, colour, grow)?;
                }
            }
        }
        Ok(())
    }

    fn bars(&self, area: &Area<'_>, names: usize) -> Result<(), Failure> {
        let is_bar = |series: &&Series| series.source == Source::Measured;
        let bars = self.panel.series.iter().filter(is_bar).count().max(1) as f64;
        let room = f64::from(self.right - self.left) / names.max(1) as f64;
        let wide = room * 0.8 / bars;
        let mut bar = 0.0;
        for (place, series) in self.panel.series.iter().enumerate() {
            let colour = colour(self.panel, place);
            // A mark of the paper stands in the bar that has its colour.
            let over = match is_bar(&series) {
                true => bar,
                false => {
                    let drawn = self.panel.series.iter().enumerate();
                    let mut drawn = drawn.filter(|(_, series)| is_bar(series));
                    let same =
                        drawn.position(|(other, _)| colour == self::colour(self.panel, other));
                    same.map_or((bars - 1.0) / 2.0, |same| same as f64)
                }
            };
            for point in &series.points {
                let left = f64::from(self.left) + room * (point.x + 0.1) + wide * over;
                let (left, right) = (left.round() as i32, (left + wide - 1.0).round() as i32);
                let top = self.height(point.y);
                if is_bar(&series) {
                    let corners = [(left, top), (right.max(left + 1), self.bottom)];
                    area.draw(&Rectangle::new(corners, colour.filled()))?;
                } else if series.source == Source::Computed {
                    path(area, &[(left, top), (right, top)], INK, true)?;
                } else {
                    mark(area, ((left + right) / 2, top), Shape::Cross, colour, 0)?;
                }
            }
            bar += f64::from(u8::from(is_bar(&series)));
        }
        Ok(())
    }

    fn histogram(&self, area: &Area<'_>, width: f64) -> Result<(), Failure> {
        for (place, series) in self.panel.series.iter().enumerate() {
            let colour = colour(self.panel, place);
            for point in &series.points {
                let ends = [point.x - width / 2.0, point.x + width / 2.0].map(|x| {
                    let place = self.x.place(x).unwrap_or(0.0);
                    self.left + (place * f64::from(self.right - self.left)).round() as i32
                });
                let corners = [
                    (ends[0], self.height(point.y)),
                    (ends[1].max(ends[0] + 1), self.bottom),
                ];
                area.draw(&Rectangle::new(corners, colour.filled()))?;
                // An edge keeps bars apart that are as high.
                area.draw(&Rectangle::new(corners, WHITE.stroke_width(1)))?;
            }
        }
        Ok(())
    }
}

/// A text in lines of at most so many letters, cut at spaces, and at hyphens in a longer word; what is
/// longer still is shortened.
pub(super) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let cut = |word: &str| match word.chars().count() > most {
        true => word.replace('-', "- "),
        false => word.to_owned(),
    };
    let text: Vec<String> = text.split(' ').map(cut).collect();
    for word in text.join(" ").split(' ') {
        let word: String = match word.chars().count() > most {
            true => word.chars().take(most - 1).chain(['…']).collect(),
            false => word.to_owned(),
        };
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// How a point looks.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Circle,
    Square,
    Triangle,
    Diamond,
    /// What a paper prints.
    Cross,
}

impl Shape {
    fn of(place: usize) -> Self {
        [Self::Circle, Self::Square, Self::Triangle, Self::Diamond][place % 4]
    }
}

/// Draws a point, larger by `grow` pixels to each side.
fn mark(
    area: &Area<'_>,
    (x, y): (i32, i32),
    shape: Shape,
    colour: RGBColor,
    grow: i32,
) -> Result<(), Failure> {
    let r = 4 + grow;
    let corners = match shape {
        Shape::Circle => return Ok(area.draw(&Circle::new((x, y), r, colour.filled()))?),
        Shape::Cross => {
            // A white edge keeps the cross apart from a bar of its colour.
            for (colour, wide) in [(WHITE, 7), (colour, 3)] {
                for ends in [
                    [(x - 6, y - 6), (x + 6, y + 6)],
                    [(x - 6, y + 6), (x + 6, y - 6)],
                ] {
                    area.draw(&PathElement::new(ends, colour.stroke_width(wide)))?;
                }
            }
            return Ok(());
        }
        Shape::Square => vec![
            (x - r, y - r),
            (x + r, y - r),
            (x + r, y + r),
            (x - r, y + r),
        ],
        Shape::Triangle => vec![(x, y - r - 1), (x + r + 1, y + r), (x - r - 1, y + r)],
        Shape::Diamond => vec![
            (x, y - r - 2),
            (x + r + 2, y),
            (x, y + r + 2),
            (x - r - 2, y),
        ],
    };
    Ok(area.draw(&Polygon::new(corners, colour.filled()))?)
}

fn path(
    area: &Area<'_>,
    points: &[(i32, i32)],
    colour: RGBColor,
    is_dashed: bool,
) -> Result<(), Failure> {
    if points.len() < 2 {
        return Ok(());
    }
    let wide = if colour == INK || colour == GRID || colour == MUTED {
        1
    } else {
        2
    };
    let style = colour.stroke_width(wide);
    match is_dashed {
        false => Ok(area.draw(&PathElement::new(points.to_vec(), style))?),
        true => dashes(points)
            .into_iter()
            .try_for_each(|dash| Ok(area.draw(&PathElement::new(dash, style))?)),
    }
}

/// The dashes of a path: six pixels, and four left out.
fn dashes(points: &[(i32, i32)]) -> Vec<[(i32, i32); 2]> {
    let (dash, whole) = (6.0, 10.0);
    let mut dashes = Vec::new();
    // How far into a dash and its gap the path is.
    let mut gone = 0.0;
    for ends in points.windows(2) {
        let [from, to] = [ends[0], ends[1]].map(|(x, y)| (f64::from(x), f64::from(y)));
        let long = (to.0 - from.0).hypot(to.1 - from.1);
        let at = |along: f64| {
            let share = along / long;
            let place = |a: f64, b: f64| (a + (b - a) * share).round() as i32;
            (place(from.0, to.0), place(from.1, to.1))
        };
        let mut along = 0.0;
        while along < long {
            let rest = if gone < dash {
                dash - gone
            } else {
                whole - gone
            };
            let next = (along + rest).min(long);
            if gone < dash {
                dashes.push([at(along), at(next)]);
            }
            gone = (gone + next - along) % whole;
            along = next;
        }
    }
    dashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_where_they_can_be() {
        assert_eq!(wrapped("vertical, printed", 12), ["vertical,", "printed"]);
        assert_eq!(wrapped("provider-aware", 12), ["provider-", "aware"]);
        assert_eq!(wrapped("provider-aware", 14), ["provider-aware"]);
        assert_eq!(wrapped("a b c", 3), ["a b", "c"]);
        assert_eq!(wrapped("clustering", 5), ["clus…"]);
        assert_eq!(wrapped("", 5), [""]);
    }

    #[test]
    fn dashes_cover_the_path_but_for_its_gaps() {
        assert_eq!(
            dashes(&[(0, 0), (20, 0)]),
            [[(0, 0), (6, 0)], [(10, 0), (16, 0)]]
        );
        // A dash goes on around a corner.
        assert_eq!(
            dashes(&[(0, 0), (3, 0), (3, 9)]),
            [[(0, 0), (3, 0)], [(3, 0), (3, 3)], [(3, 7), (3, 9)]]
        );
        assert!(dashes(&[(5, 5), (5, 5)]).is_empty());
    }
}
