//! A bar chart for the terminal: how much of the detail is lost, a bar for each who publishes or each choice.

/// Characters of a bar that stands for a loss of everything, or of the longest bar.
const WIDTH: f64 = 40.0;
/// A character that is filled by so many eighths.
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// One line of a chart.
pub(crate) struct Bar {
    pub(crate) name: String,
    /// The share that is lost, where there is a release at all.
    pub(crate) loss: Option<f64>,
    /// What a reader should know beside the number.
    pub(crate) remark: String,
}

/// The chart, its longest bar as wide as the chart.
pub(crate) fn chart(bars: &[Bar]) -> String {
    let longest = bars.iter().filter_map(|bar| bar.loss).fold(0.0, f64::max);
    let name = bars.iter().map(|bar| bar.name.chars().count()).max();
    let name = name.unwrap_or(0);
    let mut text = String::new();
    for bar in bars {
        let line = match bar.loss {
            Some(loss) => {
                let number = format!("{:.1} %", loss * 100.0);
                let drawn = drawn(loss / longest.max(f64::MIN_POSITIVE));
                format!("  {:name$}  {number:>7}  {drawn} {}", bar.name, bar.remark)
            }
            None => format!("  {:name$}        -  {}", bar.name, bar.remark),
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A bar for a share of the longest.
fn drawn(share: f64) -> String {
    let eighths = (share.clamp(0.0, 1.0) * WIDTH * 8.0).round() as usize;
    let (whole, rest) = (eighths / 8, eighths % 8);
    format!("{}{}", "█".repeat(whole), EIGHTHS[rest])
}

#[cfg(test)]
mod tests {
    use super::{Bar, chart};

    #[test]
    fn bars_are_as_long_as_their_losses() {
        let bar = |name: &str, loss, remark: &str| Bar {
            name: String::from(name),
            loss,
            remark: String::from(remark),
        };
        let text = chart(&[
            bar("together", Some(0.05), ""),
            bar("north", Some(0.1), "87 classes"),
            bar("west", None, "its records fail k = 10"),
            bar("none", Some(0.0), ""),
        ]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("  together    5.0 %  {}", "█".repeat(20)));
        let long = "█".repeat(40);
        assert_eq!(lines[1], format!("  north      10.0 %  {long} 87 classes"));
        assert_eq!(lines[2], "  west            -  its records fail k = 10");
        assert_eq!(lines[3], "  none        0.0 %");
    }
}
