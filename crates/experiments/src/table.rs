//! The numbers of a figure as CSV: one line for each point.

use crate::error::Error;
use crate::frame::measured::{Kind, Measured};

/// The columns.
pub(crate) const HEAD: [&str; 9] = [
    "figure", "panel", "series", "source", "x", "x_axis", "y", "y_axis", "error",
];

/// The numbers of a figure.
pub(crate) fn csv(figure: &str, measured: &Measured) -> Result<String, Error> {
    let refused = |error: csv::Error| Error::Plot {
        figure: figure.to_owned(),
        reason: error.to_string(),
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEAD).map_err(refused)?;
    for panel in &measured.panels {
        for series in &panel.series {
            for point in &series.points {
                let x = match &panel.kind {
                    Kind::Bars(names) => names.get(point.x as usize).cloned(),
                    Kind::Lines | Kind::Histogram { .. } => Some(point.x.to_string()),
                };
                writer
                    .write_record([
                        figure,
                        &panel.title,
                        &series.name,
                        series.source.name(),
                        &x.unwrap_or_default(),
                        &panel.x.words(),
                        &point.y.to_string(),
                        &panel.y.words(),
                        &point
                            .spread
                            .map_or_else(String::new, |error| error.to_string()),
                    ])
                    .map_err(refused)?;
            }
        }
    }
    let bytes = writer.into_inner().map_err(|error| Error::Plot {
        figure: figure.to_owned(),
        reason: error.to_string(),
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
