//! What was measured: panels with axes, and series of points in them.

use super::rule::Curve;
use crate::data::Dataset;

/// What a figure shows, and one sentence about it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    /// The plots of the figure, from left to right and from top to bottom.
    pub(crate) panels: Vec<Panel>,
    /// What was measured, in one sentence: sites, records, k, numbers.
    pub(crate) sentence: String,
    /// The data that the figure shows, with whom they are due to.
    pub(crate) data: Vec<String>,
    /// What the tables are called where a reason speaks of them: `Adult`, `the synthetic census`.
    tables: Vec<&'static str>,
}

impl Measured {
    /// A figure of these panels, measured on this data.
    pub(crate) fn new(sentence: impl Into<String>, panels: Vec<Panel>) -> Self {
        Self {
            panels,
            sentence: sentence.into(),
            data: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// Says which table the figure shows.
    pub(crate) fn on(mut self, dataset: &Dataset) -> Self {
        self.data.push(dataset.words());
        self.tables.push(dataset.called());
        self
    }

    /// What the tables that the figure shows are called, in a sentence.
    pub(crate) fn tables(&self) -> String {
        let mut tables = self.tables.clone();
        tables.dedup();
        tables.join(" and ")
    }

    /// Says what the figure shows where that is no table: `"random sets of 1,000 items"`.
    pub(crate) fn on_words(mut self, words: impl Into<String>) -> Self {
        self.data.push(words.into());
        self
    }

    /// A series by the titles of its panel and its own; without points where there is none, and a check
    /// of no points fails.
    pub(crate) fn curve(&self, panel: &str, series: &str) -> Curve {
        let panel_of = self.panels.iter().find(|found| found.title == panel);
        let found = panel_of.and_then(|panel| panel.series.iter().find(|s| s.name == series));
        Curve {
            name: series.to_owned(),
            points: found.map_or_else(Vec::new, |series| series.points.clone()),
        }
    }

    /// A series of the first panel.
    pub(crate) fn first(&self, series: &str) -> Curve {
        let title = self.panels.first().map_or("", |panel| &panel.title);
        self.curve(title, series)
    }
}

/// An axis.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    /// What stands along the axis.
    pub(crate) label: String,
    /// The unit, empty where numbers have none.
    pub(crate) unit: &'static str,
    pub(crate) is_log: bool,
    /// Whether the axis begins at zero; a logarithmic axis does not.
    pub(crate) from_zero: bool,
}

impl Axis {
    /// A linear axis.
    pub(crate) fn new(label: impl Into<String>, unit: &'static str) -> Self {
        Self {
            label: label.into(),
            unit,
            is_log: false,
            from_zero: false,
        }
    }

    /// The axis on a logarithmic scale.
    pub(crate) fn log(mut self) -> Self {
        self.is_log = true;
        self
    }

    /// The axis from zero.
    #[allow(
        clippy::wrong_self_convention,
        reason = "it says where the axis begins, and converts nothing"
    )]
    pub(crate) fn from_zero(mut self) -> Self {
        self.from_zero = true;
        self
    }

    /// Label and unit.
    pub(crate) fn words(&self) -> String {
        match self.unit {
            "" => self.label.clone(),
            unit => format!("{} ({unit})", self.label),
        }
    }
}

/// How the points of a panel are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Lines with marks.
    Lines,
    /// Bars, side by side, above these names; a point's x is the place of its name, from 0.
    Bars(Vec<String>),
    /// Bars that touch, each at its number x, `width` wide.
    Histogram {
        /// What a bar covers of the axis.
        width: u64,
    },
}

/// One plot.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    /// What the plot shows; names it in the CSV file and in rules.
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) kind: Kind,
    pub(crate) series: Vec<Series>,
}

impl Panel {
    /// A plot of lines.
    pub(crate) fn lines(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            kind: Kind::Lines,
            series: Vec::new(),
        }
    }

    /// A plot of bars above names.
    pub(crate) fn bars(title: impl Into<String>, x: Axis, y: Axis, names: Vec<String>) -> Self {
        Self {
            kind: Kind::Bars(names),
            ..Self::lines(title, x, y)
        }
    }

    /// A histogram whose bars cover so much of the axis each.
    pub(crate) fn histogram(title: impl Into<String>, x: Axis, y: Axis, width: u64) -> Self {
        Self {
            kind: Kind::Histogram { width },
            ..Self::lines(title, x, y)
        }
    }

    /// With more series.
    pub(crate) fn with_all(mut self, series: impl IntoIterator<Item = Series>) -> Self {
        self.series.extend(series);
        self
    }

    /// With one more series.
    pub(crate) fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }
}

/// What the points of a series are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Measured here.
    Measured,
    /// Printed in the paper.
    Paper,
    /// Computed: a bound or an expectation.
    Computed,
}

impl Source {
    /// The word in the CSV file.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Paper => "paper",
            Self::Computed => "computed",
        }
    }
}

/// A point; `spread` is a standard error where there is one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) spread: Option<f64>,
}

/// Points that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<Point>,
    pub(crate) source: Source,
}

impl Series {
    /// What was measured.
    pub(crate) fn new(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        let points = points.into_iter();
        Self {
            name: name.into(),
            points: points.map(|(x, y)| Point { x, y, spread: None }).collect(),
            source: Source::Measured,
        }
    }

    /// What was measured, each with its standard error: x, y, error.
    pub(crate) fn with_errors(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64, f64)>,
    ) -> Self {
        let points = points.into_iter();
        Self {
            points: points
                .map(|(x, y, error)| Point {
                    x,
                    y,
                    spread: Some(error),
                })
                .collect(),
            ..Self::new(name, [])
        }
    }

    /// Numbers that the paper prints, drawn as marks without a line.
    pub(crate) fn paper(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Self {
            source: Source::Paper,
            ..Self::new(name, points)
        }
    }

    /// A bound or an expectation, drawn dashed.
    pub(crate) fn computed(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        Self {
            source: Source::Computed,
            ..Self::new(name, points)
        }
    }
}
